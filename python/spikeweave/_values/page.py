"""Display and saving of results."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .conversions import converted
from .tables import html_result

_SHOWN = 10


class Document:
    """A result of which only the document is known, as that of a pickle or of a folder."""

    def __init__(self, text: str, folder: Path | None = None) -> None:
        self._text = text
        self._folder = folder

    def summary(self, warnings: list[str]) -> str:
        """The result in a sentence."""
        return str(json.loads(self._text)["run"]["summary"])

    def document(self, command: str, warnings: list[str]) -> str:
        """The text of ``result.json``."""
        return self._text

    def save(self, folder: str, command: str, warnings: list[str], overwrite: bool) -> None:
        """Refuses to write a folder."""
        where = f"the folder '{self._folder}' holds its files" if self._folder else "save it first"
        raise ValueError(f"save: only the result itself can be saved, not a copy of it: {where}")


def selected(document: str, tables: Iterable[str], key: str, numbers: NDArray[np.int64]) -> str:
    """A document whose tables have only the rows with these numbers."""
    out = json.loads(document)
    for table in (out[name] for name in tables if name in out):
        kept = np.flatnonzero(np.isin(table[key], numbers)).tolist()
        for name, values in table.items():
            table[name] = [values[i] for i in kept] if isinstance(values, list) else len(kept)
    return json.dumps(out, ensure_ascii=False, separators=(",", ":"))


class HasPage:
    """Something with a page for a browser."""

    def to_html(self) -> str:
        """The page."""
        raise NotImplementedError

    def show(self, *, height: int = 700) -> None:
        """Shows the page of `to_html`: below the cell of a notebook, elsewhere in a browser.

        In a notebook the page is a frame that can reach neither the notebook nor other frames. The
        notebook holds the whole page, so its file grows by it: a megabyte for some 200,000 spikes.
        Elsewhere the page is a new file in the folder of temporary files.

        Parameters
        ----------
        height
            Of the frame, in pixels.

        Raises
        ------
        ValueError
            If the height is not above 0.
        RuntimeError
            If there is neither a notebook nor a browser.
        """
        converted(self, "shown page", height)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class HasReport(HasPage):
    """A result, with a page for a browser and a folder."""

    parameters: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    version: str = field(default_factory=_core.version)
    _report: Any

    def _called(self) -> str:
        """The function that was called, and what it needs."""
        raise NotImplementedError

    @property
    def summary(self) -> str:
        """The result in a sentence, as the command and the page begin with it.

        A second sentence has the number of `warnings`, if there are any.
        """
        return str(self._report.summary(self.warnings))

    def _call(self) -> str:
        """The call that repeats the run."""
        given = (
            f"{name}={value!r}" for name, value in self.parameters.items() if value is not None
        )
        return f"spikeweave.{self._called()}, {', '.join(given)})"

    def _document(self) -> str:
        return self._report.document(self._call(), self.warnings)

    def _copied(self) -> Document:
        """The state of a copy, in place of the report."""
        return Document(self._document())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_report": self._copied()}

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        """A table of what was found: headings, the first rows of it, and how many there are."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_result(self.summary, self.warnings, *self._rows(_SHOWN))

    def to_html(self) -> str:
        """A page that shows the result in a browser, as ``spikeweave report`` makes it.

        The page needs no other file and no network. Its tables have the order of the command's.

        Returns
        -------
        str
            To be written to a file: ``Path("page.html").write_text(found.to_html(), "utf-8")``.
        """
        return _core.page_of_results([_core.ResultDocument("", self._document())], {})

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the folder that the command writes with ``--output``.

        `load` reads it again, and so do ``spikeweave report`` and ``spikeweave table``.

        Parameters
        ----------
        folder
            To write. It is complete or absent.
        overwrite
            Whether a folder of that name that holds a result is replaced.

        Raises
        ------
        OSError
            If it exists, holds files that are not of a result, or cannot be written.
        ValueError
            For a part of a result, or a copy from a pickle.
        """
        self._report.save(str(Path(folder)), self._call(), self.warnings, overwrite)


class Selection:
    """The rows of a result that were selected, in place of its report."""

    def __init__(
        self, whole: Any, tables: tuple[str, ...], key: str, numbers: NDArray[np.int64]
    ) -> None:
        self._whole: Any = whole._whole if isinstance(whole, Selection) else whole
        self._tables = tables
        self._key = key
        self.numbers = numbers

    def summary(self, warnings: list[str]) -> str:
        """That of the whole result."""
        return str(self._whole.summary(warnings))

    def document(self, command: str, warnings: list[str]) -> str:
        """The document with the selected rows."""
        text = self._whole.document(command, warnings)
        return selected(text, self._tables, self._key, self.numbers)

    def save(self, folder: str, command: str, warnings: list[str], overwrite: bool) -> None:
        """Refuses to write a folder."""
        raise ValueError("save: only a whole result can be saved, not a part of it")
