"""Concepts, Elephant's word for patterns with their occurrences, stored as arrays."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ._names import check_winlen

_CHUNK = 4096
# A larger table of numbers as objects would need more memory than it saves.
_MOST_SHARED = 1 << 22


class _Numbers:
    """NumPy scalars of array elements; equal numbers are the same object."""

    def __init__(self, most: int) -> None:
        self._shared = None
        if most < _MOST_SHARED:
            self._shared = np.empty(most + 1, dtype=object)
            self._shared[:] = list(np.arange(most + 1, dtype=np.int64))

    def of(self, values: np.ndarray) -> list[np.int64]:
        if self._shared is None:
            return list(values.astype(np.int64))
        return self._shared[values].tolist()


def _signed(values: np.ndarray) -> npt.NDArray[np.int64]:
    return values.view(np.int64) if values.dtype == np.uint64 else values.astype(np.int64)


class _Patterns:
    """The table shared by views."""

    def __init__(self, arrays: dict[str, np.ndarray], winlen: int) -> None:
        self.items = arrays["items"]
        self.item_offsets = _signed(arrays["item_offsets"])
        self.counts = arrays["counts"]
        self.occurrences = arrays["occurrences"]
        self.occurrence_offsets = _signed(arrays["occurrence_offsets"])
        # One rank per item, or None if the items of each pattern are in Elephant's order, not in
        # time order.
        self.ranks = arrays.get("ranks")
        self.winlen = winlen
        self._item_numbers: _Numbers | None = None
        self._bin_numbers: _Numbers | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_item_numbers": None, "_bin_numbers": None}

    def item_numbers(self) -> _Numbers:
        if self._item_numbers is None:
            self._item_numbers = _Numbers(int(self.items.max(initial=0)))
        return self._item_numbers

    def bin_numbers(self) -> _Numbers:
        if self._bin_numbers is None:
            self._bin_numbers = _Numbers(int(self.occurrences.max(initial=0)))
        return self._bin_numbers


def _gather(values: np.ndarray, offsets: np.ndarray, which: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the elements of rows of a ragged array, and the offset of each row in them."""
    lengths = offsets[which + 1] - offsets[which]
    begins = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(begins[-1]) + np.repeat(offsets[which] - begins[:-1], lengths)
    return values[places], begins


class ConceptList(Sequence):
    """A list of concepts that makes each one on demand.

    Each element is a tuple of the items of the pattern and the windows in which it occurs, both
    tuples of `numpy.int64`. The list is equal to the ``list`` of its elements; slices are
    lists of the same kind that share the arrays. It is immutable; ``list(concepts)`` is not.
    """

    def __init__(self, patterns: _Patterns, which: npt.NDArray[np.int64]) -> None:
        self._patterns = patterns
        self._which = which

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], winlen: int) -> ConceptList:
        """Wrap the result of the extension."""
        return cls(_Patterns(arrays, winlen), _signed(arrays["order"]))

    def __len__(self) -> int:
        return len(self._which)

    @overload
    def __getitem__(self, index: int) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> ConceptList: ...

    def __getitem__(self, index: int | slice) -> tuple[Any, ...] | ConceptList:
        if isinstance(index, slice):
            return ConceptList(self._patterns, self._which[index])
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError("list index out of range")
        return next(self._make(self._which[[place]]))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for begin in range(0, len(self), _CHUNK):
            yield from self._make(self._which[begin : begin + _CHUNK])

    def _make(self, which: np.ndarray) -> Iterator[tuple[Any, ...]]:
        p = self._patterns
        items, item_begins = _gather(p.items, p.item_offsets, which)
        if p.ranks is not None:
            rows = np.repeat(np.arange(len(which)), np.diff(item_begins))
            items = items[np.lexsort((-p.ranks[items].astype(np.int64), rows))]
        bins, bin_begins = _gather(p.occurrences, p.occurrence_offsets, which)
        intents = p.item_numbers().of(items)
        extents = p.bin_numbers().of(bins)
        ends = zip(
            itertools.pairwise(item_begins.tolist()),
            itertools.pairwise(bin_begins.tolist()),
            strict=True,
        )
        for (i, j), (k, m) in ends:
            yield tuple(intents[i:j]), tuple(extents[k:m])

    def take(self, which: npt.ArrayLike) -> ConceptList:
        """Return the concepts with these indices."""
        return ConceptList(self._patterns, self._which[np.asarray(which, dtype=np.int64)])

    def flat(self) -> Flat:
        """Return all concepts as arrays."""
        p = self._patterns
        return Flat(
            *_gather(p.items, p.item_offsets, self._which),
            *_gather(p.occurrences, p.occurrence_offsets, self._which),
        )

    def signatures(self, winlen: int, spectrum: str) -> npt.NDArray[np.int64]:
        """Return rows of size, count and, with "3d#", duration."""
        p = self._patterns
        ends = p.item_offsets[self._which + 1]
        columns = [ends - p.item_offsets[self._which], p.counts[self._which].astype(np.int64)]
        if spectrum == "3d#":
            in_time_order = winlen == p.winlen and p.ranks is not None
            columns.append(
                p.items[ends - 1].astype(np.int64) % winlen
                if in_time_order
                else self.flat().durations(winlen)
            )
        return np.column_stack(columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, ConceptList)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        if not isinstance(other, (list, ConceptList)):
            return NotImplemented
        return [*self, *other]

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        if not isinstance(other, list):
            return NotImplemented
        return [*other, *self]

    def copy(self) -> list[Any]:
        """Return a Python list."""
        return list(self)

    def __repr__(self) -> str:
        most = 3
        shown = ", ".join(map(repr, self[:most]))
        more = f", ... {len(self):,} in all" if len(self) > most else ""
        return f"[{shown}{more}]"


@dataclass(frozen=True)
class Flat:
    """Concepts as arrays: concept i has ``items[item_begins[i]:item_begins[i + 1]]``."""

    items: np.ndarray
    item_begins: np.ndarray
    windows: np.ndarray
    window_begins: np.ndarray

    def durations(self, winlen: int) -> npt.NDArray[np.int64]:
        """Return the largest lag of each concept."""
        if len(self.item_begins) == 1:
            return np.zeros(0, dtype=np.int64)
        lags = self.items.astype(np.int64) % winlen
        return np.maximum.reduceat(lags, self.item_begins[:-1])


def _flat_column(rows: list[Any], what: str) -> tuple[np.ndarray, np.ndarray]:
    lengths = [len(row) for row in rows]
    begins = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    values = np.array(list(itertools.chain.from_iterable(rows)))
    if values.size == 0:
        return values.astype(np.int64), begins
    if values.dtype.kind not in "iu":
        raise TypeError(f"concepts: expected whole numbers as {what}, found {values.dtype}")
    if values.min() < 0 or values.max() >= 1 << 31:
        bad = values[(values < 0) | (values >= 1 << 31)][0]
        raise ValueError(f"concepts: expected {what} from 0 to 2147483647, found {bad}")
    return values.astype(np.int64), begins


def flatten(concepts: Iterable[Any]) -> Flat:
    """Return concepts of any kind as arrays.

    Raises
    ------
    ValueError
        For a concept without spikes, and for negative numbers.
    """
    if isinstance(concepts, ConceptList):
        return concepts.flat()
    rows = list(concepts)
    for i, row in enumerate(rows):
        if len(row) < 2 or len(row[0]) == 0:
            raise ValueError(
                f"concepts: expected (spikes, windows) with spikes, found {row!r} at {i}"
            )
    return Flat(
        *_flat_column([row[0] for row in rows], "spikes"),
        *_flat_column([row[1] for row in rows], "windows"),
    )


def signatures(concepts: Sequence[Any], winlen: int, spectrum: str) -> npt.NDArray[np.int64]:
    """Return rows of size, count and, with "3d#", duration."""
    if spectrum == "3d#":
        check_winlen(winlen)
    if isinstance(concepts, ConceptList):
        return concepts.signatures(winlen, spectrum)
    rows = list(concepts)
    if spectrum == "#":
        pairs = [(len(row[0]), len(row[1])) for row in rows]
        return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    flat = flatten(rows)
    return np.column_stack(
        (np.diff(flat.item_begins), np.diff(flat.window_begins), flat.durations(winlen))
    )


def distinct_signatures(
    concepts: Sequence[Any], winlen: int, spectrum: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ascending distinct signatures, the index of each concept's, and their counts."""
    rows = signatures(concepts, winlen, spectrum)
    if len(rows) == 0:
        none = np.zeros(0, dtype=np.int64)
        return rows, none, none
    codes = np.ravel_multi_index(tuple(rows.T), tuple(rows.max(axis=0) + 1))
    _, first, which, numbers = np.unique(
        codes, return_index=True, return_inverse=True, return_counts=True
    )
    return rows[first], which, numbers


def taken(concepts: Sequence[Any], which: np.ndarray) -> Sequence[Any]:
    """Return the concepts at these places."""
    if isinstance(concepts, ConceptList):
        return concepts.take(which)
    return [concepts[i] for i in which.tolist()]
