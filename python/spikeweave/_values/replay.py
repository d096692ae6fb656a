"""The result of `replay`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .conversions import converted
from .episode_rows import Episode
from .page import HasReport
from .spikes import SpikeSequence
from .tables import counted, short, short_p

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class ReplayResult(HasReport):
    """Tests of chains for replay: two for each chain, forward and reverse.

    Attributes
    ----------
    spikes : SpikeSequence
        The spikes in which chains were searched for: those of the epochs, if there are any.
    chains : list of Episode
    chain : ndarray of int64, shape (tests,)
        Indices into `chains`.
    direction : list of str
        ``"forward"`` or ``"reverse"``.
    scale : ndarray of float64, shape (tests,)
        The factor of all delays at which the count stands out most.
    count : ndarray of int64, shape (tests,)
        Occurrences at that scale, without overlap.
    expected, z : ndarray of float64, shape (tests,)
        Mean of the shuffles at that scale, and how many standard deviations the count is above.
    p, q : ndarray of float64, shape (tests,)
        The share of shuffles that stand out as much at their own best scale; corrected for chains
        and directions.
    events_scored, events_significant : ndarray of int64, shape (tests,)
        Events in which at least three units of the chain fire, and those of them whose order is
        significant.
    events_expected, events_p, events_q : ndarray of float64, shape (tests,)
        The number of significant events that chance would give, the probability of as many, and
        the same corrected for chains and directions.
    event_times : ndarray of float64, shape (events, 2)
        Begin and end, seconds.
    events : dict
        Columns ``event``, ``chain``, ``active``, ``tau``, ``p_forward`` and ``p_reverse``: a row
        for each event and chain of which it has at least three units.
    parameters : dict
        All options with their values.
    seconds : float
    warnings : list of str
    version : str
        Version of the library.
    """

    spikes: SpikeSequence
    chains: list[Episode]
    chain: NDArray[np.int64]
    direction: list[str]
    scale: NDArray[np.float64]
    count: NDArray[np.int64]
    expected: NDArray[np.float64]
    z: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    events_scored: NDArray[np.int64]
    events_significant: NDArray[np.int64]
    events_expected: NDArray[np.float64]
    events_p: NDArray[np.float64]
    events_q: NDArray[np.float64]
    event_times: NDArray[np.float64]
    events: dict[str, NDArray[Any]]
    seconds: float

    def _called(self) -> str:
        return "replay(chains, spikes"

    def __len__(self) -> int:
        return len(self.chain)

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per test."""
        columns: dict[str, Any] = {
            "units": [self.chains[i].units for i in self.chain],
            "delays": [self.chains[i].delays for i in self.chain],
        }
        for name in (
            "direction", "scale", "count", "expected", "z", "p", "q", "events_scored",
            "events_significant", "events_expected", "events_p", "events_q",
        ):  # fmt: skip
            columns[name] = getattr(self, name)
        return converted(columns, "dataframe")

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        rows = [
            (
                self.chains[self.chain[i]],
                self.direction[i],
                short(self.scale[i]),
                short(self.count[i]),
                short(self.expected[i]),
                short_p(self.q[i]),
            )
            for i in np.lexsort((self.p, self.q))[:most]
        ]
        return ["chain", "direction", "scale", "count", "expected", "q"], rows, len(self)

    def __repr__(self) -> str:
        return (
            f"<ReplayResult: {counted(len(self.chains), 'chain')} in "
            f"{counted(len(self.event_times), 'event')}>"
        )
