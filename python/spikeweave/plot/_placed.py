"""Episodes and patterns of any origin as the spikes of their occurrences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._values.episodes import EpisodeResult
from .._values.spade import Pattern, PatternResult
from .._values.tables import pattern_text
from ..simulate import PlantedPattern
from ._arguments import chosen_indices

_LONGEST_LABEL = 5
# Edges of bins and times of spikes are computed differently, so they may differ by rounding.
_ROUNDING = 1e-6


class Placed(NamedTuple):
    """The spikes of all occurrences."""

    label: str
    units: NDArray[np.int64]  # shape (size,), indices into the names
    times: NDArray[np.float64]  # seconds, shape (occurrences, size)


def usual(found: Any, most: int) -> tuple[Sequence[int] | None, int]:
    """Return which of `found` are drawn by default, at most `most`, and how many there are.

    For an `EpisodeResult` these are its chains, the longest first; for a `PatternResult` the
    patterns with most spikes, then with most occurrences; for a list the first elements.
    """
    if isinstance(found, EpisodeResult):
        return found.chains[:most].tolist(), len(found.chains)
    if isinstance(found, PatternResult):
        order = np.lexsort((-found.counts, -found.sizes))
        return sorted(order[:most].tolist()), len(found)
    if isinstance(found, Sequence) and not isinstance(found, (str, bytes)):
        return range(min(most, len(found))), len(found)
    return None, 0


def placed(
    found: Any, indices: Iterable[int] | None, names: Sequence[str], argument: str = "indices"
) -> list[Placed]:
    """Convert the input of `raster`; units become indices into `names`. Errors name `argument`."""
    if found is None:
        return []
    if isinstance(found, EpisodeResult):
        chains = found.chains if indices is None else indices
        return [_of_episode(found, i, names) for i in chosen_indices(argument, chains, len(found))]
    if isinstance(found, PatternResult):
        every = range(len(found)) if indices is None else indices
        trains = found.spikes.trains()
        return [
            _of_result(found, trains, i, names) for i in chosen_indices(argument, every, len(found))
        ]
    if isinstance(found, (Mapping, Pattern, PlantedPattern)):
        found = [found]
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise TypeError(f"found: expected episodes or patterns, found {type(found)}")
    patterns = list(found)
    which = range(len(patterns)) if indices is None else indices
    return [
        _of_pattern(i, patterns[i], names) for i in chosen_indices(argument, which, len(patterns))
    ]


def _of_episode(found: EpisodeResult, index: int, names: Sequence[str]) -> Placed:
    episode = found[index]
    return Placed(
        _shortened(episode.units, "→"), _rows(episode.units, names), found.occurrences(index)
    )


def _of_result(
    found: PatternResult, trains: list[NDArray[np.float64]], index: int, names: Sequence[str]
) -> Placed:
    """Convert a result. If only the bin of a spike is known, use the unit's first spike in it."""
    one = _of_pattern(index, found[index], names)
    width = found.parameters["bin"]
    begin, end = found.offsets[index], found.offsets[index + 1]
    for item, unit in enumerate(found.units[begin:end]):
        edges = one.times[:, item]
        spikes = np.append(trains[unit], np.inf)
        first = spikes[np.searchsorted(spikes, edges - _ROUNDING)]
        one.times[:, item] = np.where(first < edges + width + _ROUNDING, first, edges)
    return one


def _of_pattern(number: int, pattern: Any, names: Sequence[str]) -> Placed:
    units: Any
    if isinstance(pattern, Pattern):
        units, lags, times = _rows(pattern.units, names), pattern.lags, pattern.times
    elif isinstance(pattern, PlantedPattern):
        units, lags, times = pattern.units, pattern.lags, pattern.times
    elif isinstance(pattern, Mapping) and {"neurons", "lags", "times"} <= set(pattern):
        units = pattern["neurons"]
        lags = np.concatenate([[0.0], _seconds(number, "lags", pattern)])
        times = _seconds(number, "times", pattern)
    else:
        raise TypeError(
            f"found: number {number}: expected a pattern such as Elephant's, found {type(pattern)}"
        )
    rows = np.asarray(units, dtype=np.int64)
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(names):
        raise ValueError(
            f"found: number {number}: expected units from 0 to {len(names) - 1}, "
            f"found {rows.min()} to {rows.max()}"
        )
    starts = np.asarray(times, dtype=np.float64)
    label = _with_lags([names[row] for row in rows], np.asarray(lags, np.float64))
    return Placed(label, rows, starts[:, None] + lags)


def _rows(units: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    row = {name: i for i, name in enumerate(names)}
    unknown = [unit for unit in units if unit not in row]
    if unknown:
        raise ValueError(f"found: unit {unknown[0]!r} is not among those of spikes")
    return np.array([row[unit] for unit in units], dtype=np.int64)


def _seconds(number: int, key: str, pattern: Mapping[str, Any]) -> NDArray[np.float64]:
    if not hasattr(pattern[key], "rescale"):
        raise TypeError(
            f"found: number {number}: expected {key} as quantities of time, "
            f"found {type(pattern[key])}"
        )
    return np.asarray(pattern[key].rescale("s").magnitude, dtype=np.float64)


def _with_lags(units: Sequence[str], lags: NDArray[np.float64]) -> str:
    """The units with their lags from the first spike."""
    if len(units) <= _LONGEST_LABEL:
        return pattern_text(units, lags)
    return f"{pattern_text(units[:2], lags[:2])} … {units[-1]} ({len(units)})"


def _shortened(units: Sequence[str], joint: str) -> str:
    if len(units) <= _LONGEST_LABEL:
        return joint.join(units)
    return f"{joint.join(units[:2])}{joint}…{joint}{units[-1]} ({len(units)})"
