"""Results as tables in a notebook, and numbers of things in words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def short(number: float, digits: int = 3) -> str:
    """A number as on the pages: "12,853", "0.0285", "2.61·10⁻²⁷"; "–" is not known."""
    if not math.isfinite(number):
        return "–"
    rounded = float(number) if float(number).is_integer() else float(f"{number:.{digits}g}")
    if rounded == 0 or 1e-3 <= abs(rounded) < 1e9:
        return f"{rounded:,.12g}"
    mantissa, exponent = f"{rounded:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}·10{str(int(exponent)).translate(_RAISED)}"


def short_span(begin: float, end: float) -> str:
    """A span of a recording: "0 s to 59.99 s"."""
    return f"{short(begin, 4)} s to {short(end, 4)} s"


def pattern_text(units: Sequence[str], lags: Iterable[float]) -> str:
    """Spikes with lags in seconds, in the order of these: "n12 →5ms→ n7 + n3"."""
    at = [1e3 * float(lag) for lag in lags]
    order = sorted(range(len(units)), key=lambda i: at[i])
    text = units[order[0]]
    for before, now in itertools.pairwise(order):
        step = round(at[now] - at[before], 3)
        text += f" →{step:g}ms→ {units[now]}" if step else f" + {units[now]}"
    return text


def short_p(p: float) -> str:
    """A probability of a test; one that hardly any number can hold is not 0."""
    return "< 10⁻³⁰⁰" if p < 1e-300 else short(p)


def html_result(
    summary: str,
    warnings: Sequence[str],
    headers: Sequence[str],
    rows: Sequence[Sequence[Any]],
    total: int,
) -> str:
    """A result as Jupyter shows it: its sentence, its warnings, and the first rows of `total`."""
    said = "".join(f"<li>{escape(warning)}</li>" for warning in warnings)
    more = f"the first {len(rows)} of {total:,}" if total > len(rows) else ""
    return (
        f"<p><b>{escape(summary)}</b></p>"
        + (f"<ul>{said}</ul>" if said else "")
        + (html_table(more, headers, rows) if rows else "")
    )


def html_table(caption: str, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as Jupyter shows it."""
    head = "".join(f"<th>{escape(header)}</th>" for header in headers)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def counted(number: int, noun: str) -> str:
    """Returns "no spike", "1 spike" or "2,000 spikes"."""
    return f"{f'{number:,}' if number else 'no'} {noun}{'s' if number > 1 else ''}"
