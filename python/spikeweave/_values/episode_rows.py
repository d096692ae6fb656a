"""Serial episodes, one and many."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .conversions import converted
from .indexing import Several, Single, chosen, ragged

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Self


def _delay_text(low: float, high: float) -> str:
    return f"{low * 1e3:g}-{high * 1e3:g}ms"


@dataclass(frozen=True)
class Episode:
    """A chain of units with a delay interval on each step.

    Attributes
    ----------
    units : tuple of str
        Names, in the order of firing.
    delays : tuple of (float, float)
        ``(low, high)`` of each step in seconds; a delay ``d`` fits if ``low < d <= high``.
    count : int or None
        The largest number of occurrences that do not overlap.
    expected, p, q, strength : float
        As in `EpisodeResult`; NaN if not tested.
    """

    units: tuple[str, ...]
    delays: tuple[tuple[float, float], ...]
    count: int | None = None
    expected: float = float("nan")
    p: float = float("nan")
    q: float = float("nan")
    strength: float = float("nan")

    @property
    def size(self) -> int:
        """Its number of units."""
        return len(self.units)

    def __str__(self) -> str:
        steps = (
            f" →{_delay_text(*delay)}→ {unit}"
            for delay, unit in zip(self.delays, self.units[1:], strict=True)
        )
        return self.units[0] + "".join(steps)


@dataclass(frozen=True, repr=False, eq=False)
class EpisodeRows(Sequence[Episode]):
    """Frequent episodes as flat arrays; also a sequence of `Episode`."""

    offsets: NDArray[np.int64]
    units: NDArray[np.uint32]
    delays: NDArray[np.float64]
    counts: NDArray[np.int64]
    threshold: int

    @property
    @abstractmethod
    def _names(self) -> list[str]:
        """The names that `units` are indices into."""

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[Episode]:
        return (self._episode(i) for i in range(len(self)))

    @overload
    def __getitem__(self, index: Single) -> Episode: ...
    @overload
    def __getitem__(self, index: Several) -> Self: ...
    def __getitem__(self, index: Single | Several) -> Episode | Self:
        some = chosen(index, len(self))
        if some is not None:
            return self._only(some)
        return self._episode(range(len(self))[index])  # type: ignore[index]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Units of each episode: shape (episodes,)."""
        return np.diff(self.offsets)

    def _parts(self, i: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        begin, end = self.offsets[i], self.offsets[i + 1]
        return self.units[begin:end], self.delays[begin - i : end - i - 1]

    def _episode(self, i: int) -> Episode:
        names = self._names
        units, delays = self._parts(i)
        return Episode(
            tuple(names[unit] for unit in units),
            tuple((float(low), float(high)) for low, high in delays),
            int(self.counts[i]),
        )

    def _only(self, some: NDArray[np.int64]) -> Self:
        offsets, nodes = ragged(self.offsets, some)
        # An episode has one delay fewer than units.
        _, steps = ragged(self.offsets - np.arange(len(self) + 1), some)
        return replace(
            self,
            offsets=offsets,
            units=self.units[nodes],
            delays=self.delays[steps],
            counts=self.counts[some],
        )

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per episode: ``size``, ``units`` and ``delays_ms``
        as tuples, ``count``."""
        return converted(self._columns(), "dataframe")

    def _columns(self) -> dict[str, Any]:
        episodes = list(self)
        return {
            "size": self.sizes,
            "units": [one.units for one in episodes],
            "delays": [one.delays for one in episodes],
            "count": self.counts,
        }


def of_table(table: dict[str, Any], names: Sequence[str]) -> list[Episode]:
    """The episodes of flat arrays, without their counts."""
    offsets, units, delays = table["offsets"], table["units"], table["delays"]
    return [
        Episode(
            tuple(names[unit] for unit in units[begin:end]),
            tuple((float(low), float(high)) for low, high in delays[begin - i : end - i - 1]),
        )
        for i, (begin, end) in enumerate(pairwise(offsets))
    ]


def named(episodes: Iterable[Any], names: Sequence[str] | None) -> list[Episode]:
    """Given episodes, each an `Episode` or ``(units, delays)``, with the names of their units.

    Without `names`, which are those of all units, units have to be given by their names.
    """
    known = None if names is None else set(names)
    return [_named(number, one, names, known) for number, one in enumerate(episodes)]


def _named(number: int, one: Any, names: Sequence[str] | None, known: set[str] | None) -> Episode:
    where = f"episodes: number {number}:"
    try:
        units, delays = (one.units, one.delays) if isinstance(one, Episode) else one
        units = list(units)
        delays = tuple((_core.seconds(low), _core.seconds(high)) for low, high in delays)
    except (TypeError, ValueError):
        raise TypeError(f"{where} expected (units, delays), found {one!r}") from None
    if len(delays) != len(units) - 1:
        raise ValueError(
            f"{where} found {len(delays)} delays, expected {len(units) - 1} for {len(units)} units"
        )
    for place, unit in enumerate(units):
        if not isinstance(unit, str):
            if names is None:
                raise TypeError(f"{where} expected the name of a unit, found {unit!r}")
            if not 0 <= int(unit) < len(names):
                raise ValueError(f"{where} there is no unit {unit!r}")
            units[place] = names[int(unit)]
        elif known is not None and unit not in known:
            raise ValueError(f"{where} there is no unit {unit!r}")
    return Episode(tuple(units), delays)


def flat(
    episodes: Sequence[Episode], names: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64]]:
    """Episodes as `EpisodeRows` has them: offsets, units and delays."""
    index = {name: i for i, name in enumerate(names)}
    return (
        np.cumsum([0, *(one.size for one in episodes)], dtype=np.int64),
        np.array([index[unit] for one in episodes for unit in one.units], dtype=np.uint32),
        np.array([step for one in episodes for step in one.delays]).reshape(-1, 2),
    )
