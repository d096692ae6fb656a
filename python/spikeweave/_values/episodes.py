"""Frequent serial episodes, as found in spikes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .circuit import Circuit
from .conversions import FindingsToNwb, converted
from .episode_rows import Episode, EpisodeRows
from .page import HasReport, Selection
from .pair_tests import PairTests
from .spikes import SpikeSequence
from .tables import counted, short, short_p

if TYPE_CHECKING:
    import pandas


def _rows(search: dict[str, Any], some: NDArray[np.int64]) -> dict[str, Any]:
    return {
        name: value[some] if isinstance(value, np.ndarray) else value
        for name, value in search.items()
    }


@dataclass(frozen=True, repr=False, eq=False)
class EpisodeResult(HasReport, FindingsToNwb, EpisodeRows):
    """The result of `episodes`, as flat arrays; also a sequence of `Episode`.

    ``found[3]`` is an `Episode`; a slice, an array of indices or a mask, such as
    ``found[found.q < 0.01]``, selects part of the result.

    Attributes
    ----------
    spikes : SpikeSequence
        The spikes that were mined: those of the epochs, if there are any; or those in which the
        episodes were tested, with `hold_out` or `confirm`.
    offsets : ndarray of int64, shape (episodes + 1,)
        Episode ``i`` has ``units[offsets[i]:offsets[i + 1]]``.
    units : ndarray of uint32
        Indices into `spikes.unit_names`.
    delays : ndarray of float64, shape (steps, 2)
        ``(low, high]`` in seconds of each step, those of episode ``i`` from ``offsets[i] - i`` on.
    counts : ndarray of int64, shape (episodes,)
        The largest number of occurrences that do not overlap; at least `threshold`.
    expected : ndarray of float64, shape (episodes,)
        Mean count under the null of `test`, or over the surrogates. Where a step of a longer
        episode is likely by chance, it is estimated from that step.
    p, q : ndarray of float64, shape (episodes,)
        Probability of the count under the same null, and corrected for all candidates of the size;
        with surrogates `q` is the larger of ``tail_q`` and their rank ``p``.
    strength : ndarray of float64, shape (episodes,)
        Probability of each step that would give this count on average, in [0, 1].
    by_surrogates : dict or None
        For runs with surrogates: arrays ``mean_count``, ``p``, ``q`` (by rank), ``tail_p``,
        ``tail_q`` (by a renewal model with their mean).
    search : dict or None
        For runs with `hold_out`: the results of the search in its part of the time, while all other
        figures refer to the held-out time. Arrays ``counts``, ``expected``, ``p``, ``q``,
        ``strength``; ``seconds`` of its part; the number of episodes that were ``significant``
        there, and of those ``replicated`` in the held-out time. With `confirm`, the figures of the
        recording that was searched, while all other figures refer to the confirming one; and the
        list ``missing_units`` of names that this one lacks, and the list ``untested`` of each
        `Episode` with a ``p`` below alpha and such a unit, with its figures of the search.
    circuit : Circuit
        The significant delays between pairs of units, excitatory and inhibitory.
    pairs : PairTests or None
        The tests of all pairs of units that the circuit was built from. None if it was built from
        the episodes of two units, because `surrogates` or another `test` than jitter decide; and
        for windows.
    chains : ndarray of int64
        Indices of the episodes that are significant chains along the circuit, longest first.
    levels : list of dict
        For each level of the search: size, candidates, frequent, seconds.
    threshold : int
        Minimum count of a frequent episode.
    parameters : dict
        The arguments of `episodes` with their resolved values, among these the threshold as
        ``min_count`` and the strategy and device that ran: ``episodes(found.spikes,
        **found.parameters)`` repeats the run.
    warnings : list of str
        Warnings of the run.
    seconds : float
        Time taken by the library.
    version : str
        Version of the library.
    """

    spikes: SpikeSequence
    expected: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    strength: NDArray[np.float64]
    by_surrogates: dict[str, NDArray[np.float64]] | None
    search: dict[str, Any] | None
    circuit: Circuit
    chains: NDArray[np.int64]
    levels: list[dict[str, Any]]
    seconds: float
    pairs: PairTests | None = None

    @cached_property
    def _names(self) -> list[str]:
        return self.spikes.unit_names

    def _episode(self, i: int) -> Episode:
        return replace(
            super()._episode(i),
            expected=float(self.expected[i]),
            p=float(self.p[i]),
            q=float(self.q[i]),
            strength=float(self.strength[i]),
        )

    def _called(self) -> str:
        return "episodes(spikes" if "delays" in self.parameters else "count(spikes, episodes"

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """The number of each episode in the command's tables."""
        if isinstance(self._report, Selection):
            return self._report.numbers
        order = np.lexsort((-self.counts, self.p, self.q, -self.sizes))
        return np.argsort(order) + 1

    def _only(self, some: NDArray[np.int64]) -> EpisodeResult:
        place = {int(index): new for new, index in reversed(list(enumerate(some)))}
        by = self.by_surrogates
        return replace(
            super()._only(some),
            expected=self.expected[some],
            p=self.p[some],
            q=self.q[some],
            strength=self.strength[some],
            by_surrogates=None if by is None else {name: by[name][some] for name in by},
            search=None if self.search is None else _rows(self.search, some),
            _report=Selection(self._report, ("episodes",), "episode", self._numbers[some]),
            chains=np.array([place[i] for i in self.chains.tolist() if i in place], np.int64),
        )

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Whether each episode of two units or more has a `q` below alpha: shape (episodes,)."""
        return (self.sizes > 1) & (self.q < self.parameters["alpha"])

    @property
    def maximal(self) -> NDArray[np.bool_]:
        """Whether each episode is part of no other one here: shape (episodes,)."""
        kept = np.zeros(len(self), np.bool_)
        kept[_core.maximal_episodes((self.offsets, self.units, self.delays))] = True
        return kept

    def occurrences(self, index: int) -> NDArray[np.float64]:
        """When an episode occurs.

        If several occurrences end at the same spike, the one that starts latest is returned.

        Parameters
        ----------
        index
            Index of the episode.

        Returns
        -------
        ndarray of float64, shape (count, size)
            The time of each spike of each occurrence, seconds.
        """
        i = range(len(self))[index]
        units, delays = self._parts(i)
        offsets = np.array([0, len(units)], dtype=np.int64)
        episode = (offsets, np.ascontiguousarray(units), np.ascontiguousarray(delays))
        return _core.find_occurrences(self.spikes._core, episode, self.parameters["ties"])

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per episode, in the order of ``episodes.tsv``:
        ``episode`` (its number there), ``size``, ``units`` and ``delays_ms`` as tuples, ``count``,
        ``expected``, ``p``, ``q``, ``strength``, and whether it is ``significant``, ``maximal`` and
        a ``chain``. The index is that of the episode in this sequence."""
        return super().to_dataframe().sort_values("episode")

    def _columns(self) -> dict[str, Any]:
        names = ("expected", "p", "q", "strength", "significant", "maximal")
        chain = np.isin(np.arange(len(self)), self.chains)
        return (
            {"episode": self._numbers}
            | super()._columns()
            | {name: getattr(self, name) for name in names}
            | {"chain": chain}
        )

    def to_elephant(self, indices: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """Patterns in the format of Elephant's SPADE, which Viziphant draws.

        Lags are the middle of each delay interval.

        Parameters
        ----------
        indices
            Which episodes; by default those of two units or more.

        Returns
        -------
        list of dict
            With keys ``itemset``, ``windows_ids``, ``neurons``, ``lags``, ``times``,
            ``signature``, ``pvalue``; lags and times are quantities.
        """
        return converted(self, "elephant", indices)

    def to_networkx(self) -> Any:
        """The circuit as a `networkx.MultiDiGraph`; see `Circuit.to_networkx`."""
        return self.circuit.to_networkx()

    def __repr__(self) -> str:
        longest = f" of up to {counted(int(self.sizes.max()), 'unit')}" if len(self) else ""
        return (
            f"<EpisodeResult: {counted(len(self), 'frequent episode')}{longest} "
            f"(count >= {self.threshold:,}), {counted(len(self.circuit), 'significant delay')}, "
            f"{counted(len(self.chains), 'chain')}>"
        )

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        edges = [edge for edge in self.circuit if edge.kind == "direct"]
        edges.sort(key=lambda edge: -abs(edge.transmission))
        best: list[Any] = [*(self._episode(int(i)) for i in self.chains[:most]), *edges]
        rows = [(one, short(one.count), short(one.expected), short_p(one.q)) for one in best[:most]]
        headers = ["chain or connection", "count", "expected", "q"]
        return headers, rows, len(self.chains) + len(edges)
