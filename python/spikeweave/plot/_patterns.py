"""The p-value spectrum of SPADE, and the number of patterns after each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._values.spade import PatternResult
from ._arguments import expect
from ._axes import BLACK, COLOURS, axes, legend, whole_numbers

# Distance between a bar and its label, in points.
_PADDING = 3


def spectrum(found: PatternResult, *, duration: int | None = None, ax: Any = None) -> Any:
    """Draw the p-value spectrum: the share of surrogates that reach each signature, as a map of
    occurrences, to the right, and spikes, downwards as on the page, with the signatures found.

    Cells that no surrogate reached are white. Diamonds are significant signatures, circles
    are others that were found.

    Parameters
    ----------
    found
        The result of `spikeweave.spade` with surrogates.
    duration
        The duration to show, in bins, for spectrum ``"3d#"``. By default a cell shows the largest
        p of all durations.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `found` is not a `PatternResult`.
    ValueError
        If nothing was tested, or signatures have no duration.

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> made = spikeweave.simulate.patterns(units=30, seed=1)
    >>> found = spikeweave.spade(made.spikes, surrogates=200, seed=1)
    >>> ax = spikeweave.plot.spectrum(found)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Occurrences', 'Spikes')
    """
    expect(found, PatternResult)
    if found.pvalue_spectrum is None:
        raise ValueError("found: expected patterns that were tested, found none with surrogates")
    if duration is not None and found.parameters["spectrum"] != "3d#":
        raise ValueError(f"duration: found {duration}, expected None for spectrum '#'")
    ax = axes(ax)
    reached = _of_duration(found.pvalue_spectrum, duration)
    signatures = _of_duration(found.signatures, duration)
    _map(ax, reached, found.parameters["surrogates"])
    significant = signatures["significant"]
    alpha = found.parameters["alpha"]
    for mask, marker, face, label in (
        (~significant, "o", "white", f"q ≥ {alpha:g}"),
        (significant, "D", COLOURS[0], f"q < {alpha:g}"),
    ):
        ax.scatter(
            signatures["count"][mask],
            signatures["size"][mask],
            s=18,
            marker=marker,
            facecolors=face,
            edgecolors=BLACK,
            linewidths=0.6,
            label=label,
            zorder=3,
        )
    ax.set_xlabel("Occurrences")
    ax.set_ylabel("Spikes")
    ax.yaxis.set_inverted(True)
    whole_numbers(ax.xaxis, ax.yaxis)
    legend(ax, title="signatures found", frameon=False)
    return ax


def funnel(found: PatternResult, *, ax: Any = None) -> Any:
    """Draw the number of patterns after each step, one bar per step, the first on top.

    Parameters
    ----------
    found
        The result of `spikeweave.spade`.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `found` is not a `PatternResult`.

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> made = spikeweave.simulate.patterns(units=30, seed=1)
    >>> found = spikeweave.spade(made.spikes, surrogates=200, reduce=(0, 0, 0), seed=1)
    >>> ax = spikeweave.plot.funnel(found)
    >>> [bar.get_width() for bar in ax.patches] == [step["left"] for step in found.funnel]
    True
    """
    expect(found, PatternResult)
    ax = axes(ax)
    left = [step["left"] for step in found.funnel]
    bars = ax.barh(np.arange(len(left)), left, color=COLOURS[1])
    labels = [f"{one:,}" for one in left]
    ax.bar_label(bars, labels, padding=_PADDING)
    ax.set_yticks(np.arange(len(left)), [step["step"] for step in found.funnel])
    ax.invert_yaxis()
    ax.set_xscale("symlog", linthresh=1)
    ax.set_xlim(0, _limit_with_room(ax, max([1, *left]), max(map(len, labels), default=0)))
    ax.set_xlabel("Patterns left")
    return ax


def _limit_with_room(ax: Any, largest: int, characters: int) -> float:
    """Return the end of a logarithmic axis such that a label of this length fits behind the
    longest bar."""
    width = ax.bbox.width * 72 / ax.figure.dpi
    size = ax.xaxis.get_ticklabels()[0].get_fontsize() if ax.xaxis.get_ticklabels() else 10
    label = min(0.5, (0.65 * size * characters + 2 * _PADDING) / width)
    # The axis from 0 to 1 is as long as a power of ten.
    decades = 1 + np.log10(largest)
    return float(largest * 10 ** (decades * label / (1 - label)))


def _of_duration(columns: dict[str, Any], duration: int | None) -> dict[str, NDArray[Any]]:
    names = ["size", "count", "duration", "p", "significant"]
    wanted = {name: np.asarray(columns[name]) for name in names if name in columns}
    if duration is None:
        return wanted
    chosen = wanted["duration"] == duration
    return {name: column[chosen] for name, column in wanted.items()}


def _map(ax: Any, reached: dict[str, NDArray[Any]], surrogates: int) -> None:
    from matplotlib.colors import LogNorm

    if not len(reached["size"]):
        return
    size = reached["size"].astype(np.int64)
    count = reached["count"].astype(np.int64)
    cells = np.zeros((size.max() - size.min() + 1, count.max() - count.min() + 1))
    np.maximum.at(cells, (size - size.min(), count - count.min()), reached["p"])
    drawn = ax.pcolormesh(
        np.arange(count.min(), count.max() + 2) - 0.5,
        np.arange(size.min(), size.max() + 2) - 0.5,
        np.ma.masked_equal(cells, 0),
        cmap="cividis_r",
        norm=LogNorm(1 / max(surrogates, 2), 1),
    )
    # An inset does not make other axes smaller.
    beside = ax.inset_axes((1.03, 0, 0.05, 1))
    ax.figure.colorbar(drawn, cax=beside, label="Share of surrogates")
