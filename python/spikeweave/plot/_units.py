"""Waveforms of sorted units, and correlograms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._commands.episodes import correlogram as count_pairs
from .._values.sort import SortResult
from .._values.spikes import SpikeSequence
from .._values.types import SpikesLike, Time
from ._arguments import chosen_indices, expect, seconds
from ._axes import BLACK, COLOURS, GREY, axes, legend

# Channels on which the waveform is at least this share of the largest one, and at most so many.
_LEAST_SHARE = 0.1
_MOST_CHANNELS = 16
_GAP = 0.85  # the share of the distance between channels that a waveform takes


def waveforms(found: SortResult, units: int | Iterable[int], *, ax: Any = None) -> Any:
    """Draw the mean waveforms of units where their channels are, those with the largest amplitudes.

    Parameters
    ----------
    found
        The result of `spikeweave.sort`.
    units
        The number of a unit, from 1, or several to compare.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, IndexError
        Naming the argument, what was found and what was expected.
    ValueError
        If features were sorted, which have no waveforms.

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> made = spikeweave.simulate.recording(length="10s", units=2, channels=8, seed=1)
    >>> found = spikeweave.sort(made.recording)
    >>> ax = spikeweave.plot.waveforms(found, 1)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Position (µm)', 'Depth (µm)')
    """
    expect(found, SortResult)
    if found.waveforms is None:
        raise ValueError("found: expected units of a recording, found features without waveforms")
    given = list(units) if isinstance(units, Iterable) else [units]
    numbers = [chosen + 1 for chosen in _of_units(given, found.unit_count)]
    means = np.nan_to_num(found.waveforms[numbers])  # a folder lacks those of far channels
    heights = np.ptp(means, axis=1).max(axis=0)
    order = np.argsort(-heights, kind="stable")[:_MOST_CHANNELS]
    shown = np.sort(order[heights[order] >= _LEAST_SHARE * heights.max()])
    positions = found.channel_positions
    places = (
        np.column_stack([np.zeros(len(heights)), -np.arange(len(heights))])
        if positions is None
        else positions
    )[shown]
    wide, high = (_spacing(places[:, axis]) for axis in (0, 1))
    frames = means.shape[1]
    x = (np.arange(frames) / max(frames - 1, 1) - 0.5) * wide * _GAP
    scale = _GAP * high / max(float(heights.max()), 1e-12)
    ax = axes(ax)
    for i, number in enumerate(numbers):
        for k, channel in enumerate(shown):
            ax.plot(
                places[k, 0] + x,
                places[k, 1] + scale * means[i, :, channel],
                color=COLOURS[(i + 1) % len(COLOURS)],
                linewidth=1.2,
                label=f"unit {number}" if k == 0 else None,
            )
    for place, channel in zip(places, shown, strict=True):
        ax.annotate(
            str(channel),
            (place[0] + x[0], place[1]),
            textcoords="offset points",
            xytext=(0, 4),
            fontsize="x-small",
            color=GREY,
        )
    ax.set_xlabel("Position (µm)" if positions is not None else f"{frames} frames")
    ax.set_ylabel("Depth (µm)" if positions is not None else "Channel")
    if positions is None:
        ax.set_xticks([])
        ax.set_yticks(-shown, [str(channel) for channel in shown])
    peak = float(np.abs(means).max())
    legend(
        ax,
        title=f"at most {peak:.3g} µV",
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=4,
        frameon=False,
    )
    return ax


def correlogram(
    spikes: SpikesLike,
    source: str | int,
    target: str | int | None = None,
    *,
    bin: Time = "1ms",
    reach: Time = "50ms",
    ax: Any = None,
) -> Any:
    """Draw the counts of `spikeweave.correlogram`, and what independent units at constant rates
    would have as a dashed line.

    Parameters
    ----------
    spikes
        Any input of `SpikeSequence.of`.
    source, target : str or int
        Names of units, or their indices; without `target`, the autocorrelogram of `source`.
    bin, reach : float, str or quantity
        As in `spikeweave.correlogram`.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> sym26 = spikeweave.simulate.sym26(length="10s", seed=1)
    >>> ax = spikeweave.plot.correlogram(sym26.spikes, "n0", "n1")
    >>> ax.get_xlabel(), len(ax.patches)
    ('Lag of n1 after n0 (ms)', 100)
    """
    sequence = SpikeSequence.of(spikes)
    target = source if target is None else target
    counts, edges = count_pairs(sequence, source, target, bin=bin, reach=reach)
    (first,), (second,) = sequence._indices([source]), sequence._indices([target])
    names = sequence.unit_names
    ax = axes(ax)
    milliseconds: NDArray[np.float64] = edges * 1e3
    ax.bar(milliseconds[:-1], counts, np.diff(milliseconds), align="edge", color=COLOURS[1])
    number = np.count_nonzero(sequence.units == first)
    chance = number * sequence.rates[second] * seconds("bin", bin)
    ax.axhline(chance, color=BLACK, linewidth=0.8, linestyle="--")
    ax.set_xlim(milliseconds[0], milliseconds[-1])
    what = f"other spikes of {names[first]}" if first == second else f"{names[second]}"
    after = "" if first == second else f" after {names[first]}"
    ax.set_xlabel(f"Lag of {what}{after} (ms)")
    ax.set_ylabel("Pairs of spikes")
    return ax


def _of_units(numbers: list[Any], count: int) -> list[int]:
    """Indices of units that are numbered from 1."""
    for number in numbers:
        if isinstance(number, (int, np.integer)) and number < 1:
            raise IndexError(f"units: found {number}, expected 1 to {count}")
    chosen_indices("units", numbers, count + 1)
    return [int(number) - 1 for number in numbers]


def _spacing(coordinates: NDArray[np.float64]) -> float:
    """The least distance between two rows or columns; one alone has that of a usual probe."""
    steps = np.diff(np.unique(np.round(coordinates, 3)))
    return float(steps.min()) if len(steps) else 20.0
