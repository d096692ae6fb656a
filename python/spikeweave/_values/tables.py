"""Results as tables in a notebook, and numbers of things in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


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
