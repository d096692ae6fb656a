"""Spatio-temporal spike patterns, as found in spikes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from .conversions import FindingsToNwb, converted
from .indexing import Several, Single, chosen, ragged
from .page import HasReport, Selection
from .spikes import SpikeSequence
from .tables import counted, pattern_text, short

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Pattern:
    """A spike pattern that repeats.

    Attributes
    ----------
    units : tuple of str
        Names, in the order of firing.
    lags : ndarray of float64, shape (size,)
        Seconds from the first spike; the first is 0.
    times : ndarray of float64, shape (count,)
        Times of the first spikes: left edges of their bins, in seconds.
    p, q : float
        Those of its signature; NaN if not tested.
    """

    units: tuple[str, ...]
    lags: NDArray[np.float64]
    times: NDArray[np.float64]
    p: float = float("nan")
    q: float = float("nan")

    @property
    def size(self) -> int:
        """Its number of spikes."""
        return len(self.units)

    @property
    def count(self) -> int:
        """Its number of occurrences."""
        return len(self.times)

    def __str__(self) -> str:
        return pattern_text(self.units, self.lags)


@dataclass(frozen=True, repr=False, eq=False)
class PatternResult(HasReport, FindingsToNwb, Sequence[Pattern]):
    """The result of `spade`, as flat arrays; also a sequence of `Pattern`.

    ``found[3]`` is a `Pattern`; a slice, an array of indices or a mask, such as
    ``found[found.sizes > 3]``, selects part of the result.

    Attributes
    ----------
    spikes : SpikeSequence
        The spikes that were mined.
    offsets : ndarray of int64, shape (patterns + 1,)
        Pattern ``i`` has ``units[offsets[i]:offsets[i + 1]]`` and as many `lag_bins`.
    units : ndarray of uint32
        Indices into `spikes.unit_names`, in time order.
    lag_bins : ndarray of int64
        Bins from the first spike, which has 0.
    counts : ndarray of int64, shape (patterns,)
        Occurrences.
    occurrence_offsets : ndarray of int64, shape (patterns + 1,)
        Pattern ``i`` has ``times[occurrence_offsets[i]:occurrence_offsets[i + 1]]``.
    windows : ndarray of int64
        The bin in which each occurrence starts.
    times : ndarray of float64
        Left edge of that bin in seconds of the recording.
    p, q : ndarray of float64, shape (patterns,), or None
        p of the pattern's signature, and corrected for all signatures tested; None without
        surrogates.
    intensional_stability, extensional_stability : ndarray of float64, or None
        If requested.
    signatures : dict of arrays
        All signatures found: ``size``, ``count``, ``duration`` (bins; 0 with spectrum "#"),
        ``patterns``; with surrogates also ``reached`` (surrogates with a pattern that large, that
        frequent), ``p``, ``q``, ``tested``, ``significant`` and ``reason``.
    pvalue_spectrum : dict of arrays, or None
        ``size``, ``count``, ``duration``, ``reached``, ``p`` = reached / surrogates, as published.
    replication : dict, or None
        For runs with `hold_out` or `confirm`: the patterns in what was held out, or in the other
        recording, while all other figures are of the search. Arrays ``counts``, ``expected`` (mean
        over the surrogates), ``p``, ``q``, which are -1 and NaN for patterns with a unit that is
        missing there; ``seconds``, and the ``searched_seconds`` of the search; with `hold_out`,
        ``searched_epochs``, the beginning and the end of each; the numbers of patterns that were
        ``tested`` and ``replicated``; the list ``missing_units`` of names.
    funnel : list of dict
        Number of patterns removed by each step and left after it: ``step``, ``removed``, ``left``,
        ``why``.
    parameters : dict
        The arguments of `spade` with their resolved values, the thresholds as ``rules``:
        ``spade(found.spikes, **found.parameters)`` repeats the run.
    input : dict
        Input of the search: ``origin`` (left edge of the first bin, seconds),
        ``time_origin_note`` (where bins and trials begin, and why), ``trials``, ``spikes``,
        ``clipped`` (spikes that share a bin with another of their unit), ``outside`` (in no bin),
        ``bins``, ``windows``.
    warnings : list of str
        Warnings of the run.
    seconds : float
        Time taken by the library.
    version : str
        Version of the library.
    """

    spikes: SpikeSequence
    offsets: NDArray[np.int64]
    units: NDArray[np.uint32]
    lag_bins: NDArray[np.int64]
    counts: NDArray[np.int64]
    occurrence_offsets: NDArray[np.int64]
    windows: NDArray[np.int64]
    times: NDArray[np.float64]
    signatures: dict[str, Any]
    funnel: list[dict[str, Any]]
    input: dict[str, Any]
    seconds: float
    p: NDArray[np.float64] | None = None
    q: NDArray[np.float64] | None = None
    intensional_stability: NDArray[np.float64] | None = None
    extensional_stability: NDArray[np.float64] | None = None
    pvalue_spectrum: dict[str, Any] | None = None
    replication: dict[str, Any] | None = None

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def _names(self) -> list[str]:
        return self.spikes.unit_names

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Spikes of each pattern: shape (patterns,)."""
        return np.diff(self.offsets)

    @property
    def lags(self) -> NDArray[np.float64]:
        """`lag_bins` in seconds."""
        return self.lag_bins * self.parameters["bin"]

    @overload
    def __getitem__(self, index: Single) -> Pattern: ...
    @overload
    def __getitem__(self, index: Several) -> PatternResult: ...
    def __getitem__(self, index: Single | Several) -> Pattern | PatternResult:
        some = chosen(index, len(self))
        if some is not None:
            return self._only(some)
        i = range(len(self))[index]  # type: ignore[index]
        names = self._names
        items = slice(self.offsets[i], self.offsets[i + 1])
        starts = slice(self.occurrence_offsets[i], self.occurrence_offsets[i + 1])
        return Pattern(
            tuple(names[unit] for unit in self.units[items]),
            self.lag_bins[items] * self.parameters["bin"],
            self.times[starts],
            float("nan") if self.p is None else float(self.p[i]),
            float("nan") if self.q is None else float(self.q[i]),
        )

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Whether each pattern is significant: all that were tested, because others are left out,
        and none without surrogates."""
        return np.full(len(self), self.q is not None)

    def __iter__(self) -> Iterator[Pattern]:
        return (self[i] for i in range(len(self)))

    def _called(self) -> str:
        return "spade(spikes"

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """The number of each pattern in the command's tables."""
        if isinstance(self._report, Selection):
            return self._report.numbers
        p = np.zeros(len(self)) if self.p is None else self.p
        order = np.lexsort((-self.counts.astype(np.int64), -self.sizes, p))
        return np.argsort(order) + 1

    def _only(self, some: NDArray[np.int64]) -> PatternResult:
        offsets, items = ragged(self.offsets, some)
        occurrence_offsets, starts = ragged(self.occurrence_offsets, some)
        if not len(self.windows):  # nor times: occurrences were not asked for
            starts = np.empty(0, dtype=np.int64)

        def part(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
            return None if values is None else values[some]

        other = self.replication
        return replace(
            self,
            replication=None
            if other is None
            else other | {name: part(other[name]) for name in ("counts", "expected", "p", "q")},
            _report=Selection(
                self._report, ("patterns", "occurrences"), "pattern", self._numbers[some]
            ),
            offsets=offsets,
            units=self.units[items],
            lag_bins=self.lag_bins[items],
            counts=self.counts[some],
            occurrence_offsets=occurrence_offsets,
            windows=self.windows[starts],
            times=self.times[starts],
            p=part(self.p),
            q=part(self.q),
            intensional_stability=part(self.intensional_stability),
            extensional_stability=part(self.extensional_stability),
        )

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per pattern: ``size``, ``units`` (names) and
        ``lags`` (seconds) as tuples, ``count``, ``times`` (arrays of seconds), ``significant``,
        and where known ``p``, ``q`` and stabilities."""
        patterns = list(self)
        columns: dict[str, Any] = {
            "size": self.sizes,
            "units": [one.units for one in patterns],
            "lags": [tuple(one.lags.tolist()) for one in patterns],
            "count": self.counts,
            "times": [one.times for one in patterns],
            "significant": self.significant,
        }
        for name in ("p", "q", "intensional_stability", "extensional_stability"):
            if getattr(self, name) is not None:
                columns[name] = getattr(self, name)
        return converted(columns, "dataframe")

    def to_elephant(self) -> list[dict[str, Any]]:
        """Patterns in the format of Elephant's SPADE, which Viziphant draws.

        Returns
        -------
        list of dict
            With keys ``itemset``, ``windows_ids``, ``neurons``, ``lags``, ``times``,
            ``signature``, ``pvalue`` (-1 if not tested); lags and times are quantities.
        """
        return converted(self, "elephant")

    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph`: an edge from each spike of a pattern to its next, with
        ``pattern`` (its index), ``delay`` in seconds and ``count``."""
        return converted(self, "networkx")

    def __repr__(self) -> str:
        tested = self.parameters["surrogates"]
        found = counted(len(self), "pattern")
        sizes = f" of up to {counted(int(self.sizes.max()), 'spike')}" if len(self) else ""
        how = f"{found} significant against {tested} surrogates" if tested else f"{found}"
        return f"<PatternResult: {how}{sizes}{'' if tested else ', not tested'}>"

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        order = np.lexsort((-self.counts.astype(np.int64), -self.sizes))[:most]
        best = [self[int(i)] for i in order]
        rows = [(one, one.size, short(one.count), short(one.p), short(one.q)) for one in best]
        return ["pattern", "spikes", "occurrences", "p", "q"], rows, len(self)
