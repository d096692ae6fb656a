"""Statistics of sizes, occurrences, lags and units of results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._values.episodes import EpisodeResult
from .._values.spade import PatternResult
from ._arguments import chosen_indices, expect
from ._axes import COLOURS, axes, name_units, whole_numbers

_MOST_BARS = 50

Found = EpisodeResult | PatternResult


def sizes(found: Found, *, indices: Iterable[int] | None = None, ax: Any = None) -> Any:
    """Draw the number of episodes or patterns of each size.

    Parameters
    ----------
    found
        An `EpisodeResult` or `PatternResult`.
    indices
        Indices into `found`. By default all; for an `EpisodeResult` those of two or more units.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> sym26 = spikeweave.simulate.sym26(length="10s", seed=1)
    >>> ax = spikeweave.plot.sizes(spikeweave.episodes(sym26.spikes, delays="4-6ms"))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Size (units)', 'Episodes')
    """
    chosen = _chosen(found, indices)
    ax = axes(ax)
    _bars(ax, found.sizes[chosen])
    ax.set_xlabel("Size (units)" if isinstance(found, EpisodeResult) else "Size (spikes)")
    ax.set_ylabel(_what(found))
    return ax


def occurrences(found: Found, *, indices: Iterable[int] | None = None, ax: Any = None) -> Any:
    """Draw a histogram of the occurrences of episodes or patterns.

    Parameters
    ----------
    found, indices, ax
        As in `sizes`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> made = spikeweave.simulate.patterns(units=30, seed=1)
    >>> ax = spikeweave.plot.occurrences(spikeweave.spade(made.spikes, min_occ=8))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Occurrences', 'Patterns')
    """
    chosen = _chosen(found, indices)
    ax = axes(ax)
    _bars(ax, found.counts[chosen].astype(np.int64))
    ax.set_xlabel("Occurrences")
    ax.set_ylabel(_what(found))
    return ax


def lags(found: Found, *, indices: Iterable[int] | None = None, ax: Any = None) -> Any:
    """Draw the lags of all spikes of patterns from the first one, one bar per bin, or the number of
    steps of episodes with each delay interval, as a bar from its lower to its upper end.

    Parameters
    ----------
    found, indices, ax
        As in `sizes`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> sym26 = spikeweave.simulate.sym26(length="10s", seed=1)
    >>> ax = spikeweave.plot.lags(spikeweave.episodes(sym26.spikes))
    >>> ax.get_xlabel()
    'Delay of a step (ms)'
    """
    chosen = _chosen(found, indices)
    ax = axes(ax)
    if isinstance(found, EpisodeResult):
        # An episode has one delay less than units.
        offsets = found.offsets - np.arange(len(found) + 1)
        steps = [_part(found.delays, offsets, i) for i in chosen]
        intervals, number = np.unique(_joined(steps, (0, 2)), axis=0, return_counts=True)
        low, high = intervals.T * 1e3
        ax.bar(low, number, high - low, align="edge", color=COLOURS[1], edgecolor="white")
        ax.set_xlabel("Delay of a step (ms)")
        ax.set_ylabel("Steps")
        return ax
    whole_numbers(ax.yaxis)
    bins = _joined([_part(found.lag_bins, found.offsets, i)[1:] for i in chosen], (0,))
    values, number = np.unique(bins, return_counts=True)
    width = found.parameters["bin"] * 1e3
    ax.bar(values * width, number, 0.9 * width, color=COLOURS[1])
    ax.set_xlabel("Lag from the first spike (ms)")
    ax.set_ylabel("Spikes of patterns")
    return ax


def participation(found: Found, *, indices: Iterable[int] | None = None, ax: Any = None) -> Any:
    """Draw the number of episodes or patterns of each unit.

    Parameters
    ----------
    found, indices, ax
        As in `sizes`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> made = spikeweave.simulate.patterns(units=30, seed=1)
    >>> ax = spikeweave.plot.participation(spikeweave.spade(made.spikes, min_occ=8))
    >>> len(ax.patches)
    30
    """
    chosen = _chosen(found, indices)
    ax = axes(ax)
    names = found.spikes.unit_names
    units = _joined([np.unique(_part(found.units, found.offsets, i)) for i in chosen], (0,))
    number = np.bincount(units.astype(np.int64), minlength=len(names))
    whole_numbers(ax.yaxis)
    ax.bar(np.arange(len(names)), number, 1 if len(names) > 100 else 0.9, color=COLOURS[1])
    name_units(ax.xaxis, names)
    ax.tick_params("x", rotation=90)
    ax.set_xlim(-0.6, max(len(names), 1) - 0.4)
    ax.set_xlabel("Unit")
    ax.set_ylabel(_what(found))
    return ax


def _chosen(found: Any, indices: Iterable[int] | None) -> NDArray[np.int64]:
    expect(found, EpisodeResult, PatternResult)
    if indices is not None:
        return np.array(chosen_indices("indices", indices, len(found)), dtype=np.int64)
    if isinstance(found, EpisodeResult):
        return np.flatnonzero(found.sizes > 1)
    return np.arange(len(found))


def _what(found: Found) -> str:
    return "Episodes" if isinstance(found, EpisodeResult) else "Patterns"


def _part(values: NDArray[Any], offsets: NDArray[np.int64], i: int) -> NDArray[Any]:
    return values[offsets[i] : offsets[i + 1]]


def _joined(parts: list[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(shape)


def _bars(ax: Any, values: NDArray[np.int64]) -> None:
    """Draw one bar per number, or one for several numbers if there are many."""
    whole_numbers(ax.xaxis, ax.yaxis)
    if not len(values):
        return
    low, high = int(values.min()), int(values.max())
    step = -(-(high - low + 1) // _MOST_BARS)
    edges = np.arange(low, high + step + 1, step)
    number = np.histogram(values, edges)[0]
    ax.bar(edges[:-1] - 0.5, number, step * 0.95, align="edge", color=COLOURS[1])
