"""Results as tables in a notebook, and numbers of things in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def short(number: float) -> str:
    """Three digits, or all before the point: "12,853", "0.0285", "2.6e-27"; "–" is not known."""
    if number != number:
        return "–"
    digits = f"{number:.3g}"
    return f"{number:,.0f}" if "e+" in digits or abs(number) >= 1000 else digits


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
    """Returns "no spike", "1 spike" or "2 spikes"."""
    return f"{number or 'no'} {noun}{'s' if number > 1 else ''}"
