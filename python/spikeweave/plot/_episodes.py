"""Counts of episodes, and counts expected by chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.episodes import EpisodeResult
from ._arguments import expect
from ._axes import COLOURS, GREY, axes, legend, name_decades


def counts(found: EpisodeResult, *, ax: Any = None) -> Any:
    """Draw counts against expected counts of episodes of two or more units, on logarithmic axes.

    For a run with surrogates, the expected count is their mean count. Significant episodes are in
    colour. An episode with an expected count of 0 cannot be shown on a logarithmic axis and is
    drawn as a triangle at the left edge.

    Parameters
    ----------
    found
        The result of `spikeweave.episodes`.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `found` is not an `EpisodeResult`.

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> sym26 = spikeweave.simulate.sym26(length="10s", seed=1)
    >>> ax = spikeweave.plot.counts(spikeweave.episodes(sym26.spikes, delays="4-6ms"))
    >>> ax.get_xscale(), ax.get_yscale()
    ('log', 'log')
    """
    expect(found, EpisodeResult)
    ax = axes(ax)
    alpha = found.parameters["alpha"]
    chosen = found.sizes > 1
    significant = found.q < alpha
    none = found.expected <= 0
    for mask, colour, label in (
        (chosen & ~significant, GREY, f"q ≥ {alpha:g}"),
        (chosen & significant, COLOURS[0], f"q < {alpha:g}"),
    ):
        dots = mask & ~none
        ax.scatter(
            found.expected[dots], found.counts[dots], s=12, color=colour, alpha=0.6, label=label
        )
        edge = mask & none
        if edge.any():
            ax.scatter(
                np.zeros(edge.sum()),
                found.counts[edge],
                s=20,
                marker="<",
                color=colour,
                label=f"{label}, expected 0",
                transform=ax.get_yaxis_transform(),
                clip_on=False,
            )
    ax.set_xscale("log")
    ax.set_yscale("log")
    name_decades(ax.xaxis, ax.yaxis)
    limits = ax.get_xlim(), ax.get_ylim()
    ax.axline((1, 1), (10, 10), color=GREY, linewidth=0.8, linestyle="--", label="as expected")
    ax.axhline(found.threshold, color=GREY, linewidth=0.8, linestyle=":", label="threshold")
    if (chosen & ~none).any():
        ax.set(xlim=limits[0], ylim=limits[1])
    by = "Expected count" if found.by_surrogates is None else "Mean count of surrogates"
    ax.set_xlabel(by)
    ax.set_ylabel("Count")
    legend(ax, frameon=False)
    return ax
