"""Differences between two conditions."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._values.compare import ConditionComparison, PatternComparison
from ._arguments import expect
from ._axes import BLACK, COLOURS, GREY, axes, name_decades

_MOST_FINDINGS = 30


def differences(
    found: ConditionComparison | PatternComparison,
    what: Literal["excess", "rate"] = "excess",
    *,
    ax: Any = None,
) -> Any:
    """Draw the estimated differences with their 95 % intervals, those with the smallest q on top.

    What changed is in colour: blue is more in b, orange is less. At most 30 findings are drawn, and
    the picture states how many there are.

    Parameters
    ----------
    found
        The result of `compare`, `compare_patterns` or those in epochs.
    what
        The excess of b less that of a, or the rate in b by that in a, on a logarithmic axis.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected.

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> a = spikeweave.simulate.sym26(seed=1).spikes
    >>> b = spikeweave.simulate.sym26(seed=2, probability=0.4).spikes
    >>> found = spikeweave.compare(a, b, delays="4-6ms", max_size=2, min_count=200)
    >>> ax = spikeweave.plot.differences(found, "rate")
    >>> ax.get_xlabel()
    'Rate in b / rate in a'
    """
    expect(found, ConditionComparison, PatternComparison)
    if what not in ("excess", "rate"):
        raise ValueError(f"what: expected 'excess' or 'rate', found {what!r}")
    ax = axes(ax)
    is_ratio = what == "rate"
    columns = found.columns
    name = "rate_ratio" if is_ratio else "excess_difference"
    value, low, high = (
        np.asarray(columns[name + end], np.float64) for end in ("", "_low", "_high")
    )
    known = np.isfinite(value) & ((value > 0) | (not is_ratio))
    order = np.argsort(np.fmin(columns["rate_q"], columns["excess_q"]), kind="stable")
    order = order[known[order]]
    shown = order[:_MOST_FINDINGS]
    seen = ("rate", "excess") if is_ratio else ("excess",)
    for row, i in enumerate(shown):
        changed = columns["change"][i] in seen
        colour = COLOURS[1 if found._direction(i) == "up" else 0] if changed else GREY
        ax.plot([low[i], high[i]], [row, row], color=colour, linewidth=1.5)
        ax.plot([value[i]], [row], color=colour, marker="o", markersize=5)
    if is_ratio:
        ax.set_xscale("log")
        if len(shown):
            name_decades(ax.xaxis)
    ax.axvline(1 if is_ratio else 0, color=BLACK, linewidth=0.8, linestyle="--", zorder=0)
    ax.set_yticks(np.arange(len(shown)), [str(found.findings[i]) for i in shown])
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    a, b = found._names
    ax.set_xlabel(f"Rate in {b} / rate in {a}" if is_ratio else f"Excess in {b} less that in {a}")
    if len(order) > len(shown):
        ax.set_title(f"{len(shown)} of {len(order)} findings", fontsize="medium")
    return ax
