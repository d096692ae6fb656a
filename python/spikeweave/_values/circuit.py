"""The graph of significant delays between units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .conversions import converted
from .tables import html_table

if TYPE_CHECKING:
    import pandas

_SHOWN = 10


@dataclass(frozen=True, repr=False, eq=False)
class Circuit:
    """The significant delays between pairs of units.

    Attributes
    ----------
    unit_names : list of str
    source, target : ndarray of uint32, shape (edges,)
        Indices into `unit_names`.
    delay : ndarray of float64, shape (edges, 2)
        ``(low, high]`` in seconds: the best interval, widened by adjacent significant ones.
    best_delay : ndarray of float64, shape (edges, 2)
        The best single interval, to which counts and probabilities refer.
    count : ndarray of int64, shape (edges,)
    expected, p, q, strength : ndarray of float64, shape (edges,)
        As in `EpisodeResult`.
    kind : list of str
        ``"direct"``, ``"indirect"`` (explained by a path over one other unit),
        ``"common-input"`` (by a unit that drives both ends at different delays),
        ``"shared-spikes"`` (one unit repeats spikes of the other), ``"synchronous"`` (most of it
        is within 0.5 ms, too fast for a synapse) or ``"dead-time"`` (most synchronous spikes are
        missing, as after the dead time of a detector). The last three are no connections.
    via : list of (int or None)
        The unit that explains an indirect edge or one by common input.
    mean_delay, mean_delay_low, mean_delay_high : ndarray of float64, shape (edges,)
        Mean delay in seconds of the pairs of spikes in `delay` beyond chance, and its 95 %
        confidence interval; NaN if there are no more pairs than beside `delay`.
    asymmetry : ndarray of float64, shape (edges,)
        In [-1, 1]: 1 if the target only follows, 0 if the correlogram is symmetric.
    cut : list of str
        The ends of `delay` at which the peak goes on: ``"no"``, ``"low"``, ``"high"`` or
        ``"both"``. If one is cut, search with further delays.
    synchronous : ndarray of int64, shape (edges,)
    synchronous_expected : ndarray of float64, shape (edges,)
        Pairs of spikes at most 0.5 ms apart, and how many lags of 0.5 to 5 ms, or those behind
        `delay` if it is among these, lead one to expect.
    """

    unit_names: list[str]
    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    delay: NDArray[np.float64]
    best_delay: NDArray[np.float64]
    count: NDArray[np.int64]
    expected: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    strength: NDArray[np.float64]
    kind: list[str]
    via: list[int | None]
    mean_delay: NDArray[np.float64]
    mean_delay_low: NDArray[np.float64]
    mean_delay_high: NDArray[np.float64]
    asymmetry: NDArray[np.float64]
    cut: list[str]
    synchronous: NDArray[np.int64]
    synchronous_expected: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.source)

    def _names(self, units: NDArray[np.uint32]) -> list[str]:
        return [self.unit_names[unit] for unit in units]

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per edge; units by their names, times in seconds."""
        return converted(self._columns(), "dataframe")

    def _columns(self) -> dict[str, Any]:
        return {
            "source": self._names(self.source),
            "target": self._names(self.target),
            "delay_low": self.delay[:, 0],
            "delay_high": self.delay[:, 1],
            "count": self.count,
            "expected": self.expected,
            "p": self.p,
            "q": self.q,
            "strength": self.strength,
            "kind": self.kind,
            "via": [None if unit is None else self.unit_names[unit] for unit in self.via],
            "mean_delay": self.mean_delay,
            "mean_delay_low": self.mean_delay_low,
            "mean_delay_high": self.mean_delay_high,
            "asymmetry": self.asymmetry,
            "cut": self.cut,
            "synchronous": self.synchronous,
            "synchronous_expected": self.synchronous_expected,
        }

    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph`: a node per unit, by name, and an edge per significant delay.

        Edges have ``delay_low`` and ``delay_high`` in seconds, ``count``, ``expected``, ``p``,
        ``q``, ``strength``, ``kind``, their timing as in the attributes and, where a unit explains
        them, ``via``.
        """
        return converted(self, "networkx")

    def __repr__(self) -> str:
        direct = sum(kind == "direct" for kind in self.kind)
        return (
            f"<Circuit: {len(self)} significant delays between {len(self.unit_names)} units, "
            f"{direct} of them direct>"
        )

    def _repr_html_(self) -> str:
        order = np.argsort(-self.strength, kind="stable")[:_SHOWN]
        rows = [
            (
                self.unit_names[self.source[i]],
                self.unit_names[self.target[i]],
                f"({self.delay[i, 0] * 1e3:g},{self.delay[i, 1] * 1e3:g}]",
                self.count[i],
                f"{self.strength[i]:.2f}",
                f"{self.q[i]:.2g}",
                self.kind[i],
            )
            for i in order
        ]
        headers = ["from", "to", "delay (ms)", "count", "strength", "q", "kind"]
        return html_table(repr(self).strip("<>"), headers, rows)
