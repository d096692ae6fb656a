"""Spikes over time, with episodes or patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._values.spikes import SpikeSequence
from .._values.types import SpikesLike
from ._arguments import seconds
from ._axes import BLACK, COLOURS, GREY, axes, name_units, row_points
from ._placed import Placed, placed, usual

# Number of patterns shown without `indices`; so many fit into the legend.
_MOST_MARKED = 12
# Labels up to this length fit side by side in three columns.
_LONG_LABEL = 18
# Rings around one spike; more would hide its neighbours.
_MOST_RINGS = 3
# More lines than this are drawn as pixels, even if the rest of the picture is drawn as lines.
_MOST_LINES = 20_000


def raster(
    spikes: SpikesLike,
    found: Any = None,
    *,
    indices: Iterable[int] | None = None,
    t_start: Any = None,
    t_stop: Any = None,
    ax: Any = None,
) -> Any:
    """Draw spikes as marks over time, one row per unit, with rings around those of `found`.

    A ring is at the time of the occurrence plus the spike's lag; for a `PatternResult`, at the
    unit's first spike in that bin. Where many are side by side, rings are smaller. A spike of
    several patterns has concentric rings for the first three of them.

    Parameters
    ----------
    spikes
        Any input of `SpikeSequence.of`.
    found
        What to mark: an `EpisodeResult`, a `PatternResult`, patterns of one, planted patterns of
        `simulate`, or patterns from Elephant's SPADE.
    indices
        Indices into `found`. By default at most 12 are drawn, and the picture states how many there
        are: the chains of an `EpisodeResult`, the patterns with most spikes of a `PatternResult`,
        or the first elements of a list.
    t_start, t_stop : float, str or quantity
        The part to draw: seconds, texts such as ``"500ms"`` or quantities; by default the whole
        recording.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError, IndexError
        Naming the argument, what was found and what was expected.

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> made = spikeweave.simulate.patterns(units=20, seed=1)
    >>> ax = spikeweave.plot.raster(made.spikes, made.patterns)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Time (s)', 'Unit')
    """
    from matplotlib.lines import Line2D

    sequence = SpikeSequence.of(spikes)
    names = sequence.unit_names
    every = 0
    if indices is None:
        indices, every = usual(found, _MOST_MARKED)
    marked = placed(found, indices, names)
    begin = sequence.t_start if t_start is None else seconds("t_start", t_start)
    end = sequence.t_stop if t_stop is None else seconds("t_stop", t_stop)
    if not begin <= end:
        raise ValueError(f"t_start: found {begin} s, expected at most t_stop = {end} s")
    ax = axes(ax)
    inside = _inside(sequence.times_us, begin, end)
    length = row_points(ax, len(names))
    _marks(ax, sequence.times[inside], sequence.units[inside], length, BLACK)
    _rings(ax, marked, begin, end)
    if begin < end:
        ax.set_xlim(begin, end)
    ax.set_ylim(-0.6, max(len(names), 1) - 0.4)
    ax.set_xlabel("Time (s)")
    ax.set_ylabel("Unit")
    name_units(ax.yaxis, names)
    if 0 < len(marked) <= _MOST_MARKED:
        # Spikes without a ring in this part of the recording keep their space.
        rings = [
            Line2D(
                [],
                [],
                linestyle="none",
                marker="o",
                markerfacecolor="none",
                color=COLOURS[i % len(COLOURS)],
                label=one.label,
            )
            for i, one in enumerate(marked)
        ]
        left_out = every > len(marked)
        are_long = max(len(one.label) for one in marked) > _LONG_LABEL
        ax.legend(
            handles=rings,
            title=f"{len(marked)} of {every} are marked" if left_out else None,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=2 if are_long else 3,
            fontsize="small" if are_long else None,
            frameon=False,
        )
    return ax


def aligned(
    spikes: SpikesLike,
    found: Any,
    index: int = 0,
    *,
    before: Any = 0.02,
    after: Any = 0.02,
    ax: Any = None,
) -> Any:
    """Draw all occurrences of one episode or pattern, aligned by the first spike.

    Each of its units has a band, and each occurrence has a row in every band, the earliest at the
    bottom. Spikes of the occurrence are in colour, other spikes of the unit in grey.

    Parameters
    ----------
    spikes
        Any input of `SpikeSequence.of`.
    found
        As in `raster`.
    index
        Index into `found`.
    before, after : float, str or quantity
        Time to show before the first and after the last spike: seconds, texts such as
        ``"20ms"`` or quantities.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError, IndexError
        Naming what was found and what was expected.

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> made = spikeweave.simulate.patterns(units=20, seed=1)
    >>> ax = spikeweave.plot.aligned(made.spikes, made.patterns)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['n0', 'n1', 'n2', 'n3', 'n4']
    """
    sequence = SpikeSequence.of(spikes)
    names = sequence.unit_names
    if found is None:
        raise TypeError("found: expected episodes or patterns, found None")
    one = placed(found, [index], names, "index")[0]
    before, after = seconds("before", before), seconds("after", after)
    ax = axes(ax)
    rows = len(one.times)
    lags = one.times - one.times[:, :1]
    last = float(lags.max()) if lags.size else 0.0
    length = row_points(ax, rows * len(one.units))
    trains = sequence.trains()
    for band, unit in enumerate(one.units):
        x, y = _around(trains[unit], one.times[:, 0], -before, last + after)
        _marks(ax, x * 1e3, y + band * rows, length, GREY)
        at = np.arange(rows) + band * rows
        _marks(ax, lags[:, band] * 1e3, at, length, COLOURS[band % len(COLOURS)], 2)
        if band:
            ax.axhline(band * rows - 0.5, color=GREY, linewidth=0.5)
    ax.set_xlim(-before * 1e3, (last + after) * 1e3)
    ax.set_ylim(-0.6, max(rows * len(one.units), 1) - 0.4)
    ax.set_yticks(
        (np.arange(len(one.units)) + 0.5) * rows - 0.5, [names[unit] for unit in one.units]
    )
    ax.set_xlabel("Time from the first spike (ms)")
    ax.set_ylabel(f"Unit ({rows} occurrences each)")
    return ax


def _marks(
    ax: Any, x: NDArray[Any], y: NDArray[Any], length: float, colour: str, width: float = 0.6
) -> None:
    ax.plot(
        x,
        y,
        linestyle="none",
        marker="|",
        markersize=length,
        markeredgewidth=width,
        color=colour,
        rasterized=len(x) > _MOST_LINES,
    )


def _rings(ax: Any, marked: Sequence[Placed], begin: float, end: float) -> None:
    rings: Counter[tuple[int, int]] = Counter()
    width = _ring_width(ax, marked, begin, end)
    for number, one in enumerate(marked):
        times = one.times.ravel()
        rows = np.tile(one.units, len(one.times))
        times_us = np.rint(times * 1e6).astype(np.int64)
        inside = _inside(times_us, begin, end)
        times, rows = times[inside], rows[inside]
        spikes = list(zip(rows.tolist(), times_us[inside].tolist(), strict=True))
        around = np.array([rings[spike] for spike in spikes], dtype=np.float64)
        rings.update(spikes)
        free = around < _MOST_RINGS
        times, rows, widths = times[free], rows[free], width * (1 + 0.6 * around[free])
        ax.scatter(
            times,
            rows,
            s=widths**2,
            facecolors="none",
            edgecolors=COLOURS[number % len(COLOURS)],
            linewidths=min(1.2, 0.3 * width),
            label=one.label,
            zorder=3,
        )


def _ring_width(ax: Any, marked: Sequence[Placed], begin: float, end: float) -> float:
    """Return the width of a ring in points, such that most rings of a row are side by side."""
    in_row: Counter[int] = Counter()
    for one in marked:
        shown = ((one.times >= begin) & (one.times <= end)).sum(axis=0)
        in_row.update(dict(zip(list(one.units), shown.tolist(), strict=True)))
    points = ax.bbox.width * 72 / ax.figure.dpi
    return float(np.clip(points / max([1, *in_row.values()]), 2, 5))


def _inside(times_us: NDArray[np.int64], begin: float, end: float) -> NDArray[np.bool_]:
    return (times_us >= np.rint(begin * 1e6)) & (times_us <= np.rint(end * 1e6))


def _around(
    train: NDArray[np.float64], starts: NDArray[np.float64], low: float, high: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return spikes around each start: the time after it, and the index of the start."""
    first = np.searchsorted(train, starts + low, "left")
    last = np.searchsorted(train, starts + high, "right")
    parts = [train[a:b] - start for a, b, start in zip(first, last, starts, strict=True)]
    which = np.repeat(np.arange(len(starts), dtype=np.float64), last - first)
    return np.concatenate(parts) if parts else np.empty(0), which
