"""Parts that pictures share: axes, colours and the names on an axis of units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: M. Okabe and K. Ito, "Color universal design" (2008), without black and the yellow that is hard
#: to see on white.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
BLACK = "#000000"
GREY = "#8C8C8C"
#: Of inhibition, as in the pages.
RED = "#B3261E"

_MOST_NAMES = 30
_STEPS = [factor * 10**power for power in range(9) for factor in (1, 2, 5)]


def axes(ax: Any) -> Any:
    """Return `ax`, or new axes if it is None."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def name_units(axis: Any, names: Sequence[str]) -> None:
    """Label the rows or columns with unit names, evenly thinned if there are many."""
    step = next(step for step in _STEPS if step * _MOST_NAMES >= len(names))
    shown = range(0, len(names), step)
    axis.set_ticks(list(shown), [names[i] for i in shown])


def whole_numbers(*axes_of: Any) -> None:
    """Put no ticks between whole numbers."""
    from matplotlib.ticker import MaxNLocator

    for axis in axes_of:
        axis.set_major_locator(
            MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1)
        )


def name_decades(*axes_of: Any) -> None:
    """Label logarithmic axes, also between powers of ten if there are few of these."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    for axis in axes_of:
        low, high = axis.get_view_interval()
        axis.set_minor_formatter(NullFormatter())
        if high < 200 * low:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(ScalarFormatter())


def row_points(ax: Any, rows: int) -> float:
    """Return the length of a spike's mark in points, such that rows do not touch."""
    points = ax.bbox.height * 72 / ax.figure.dpi
    return float(np.clip(0.8 * points / max(rows, 1), 1, 10))


def legend(ax: Any, **how: Any) -> None:
    """Draw a legend if anything has a label."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        ax.legend(handles, labels, **how)
