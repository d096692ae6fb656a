"""Results as tables: in a notebook, and as data frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


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


def data_frame(columns: dict[str, Any]) -> pandas.DataFrame:
    """The columns as a pandas data frame."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_dataframe() makes a pandas data frame: pip install pandas") from None
    return pandas.DataFrame(columns)
