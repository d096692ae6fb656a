"""Several results in one page."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import Any

from .page import HasPage
from .tables import html_result


class Report(HasPage):
    """Several results in one page, made by `report`.

    Attributes
    ----------
    names : tuple of str
        What the page calls the results.
    """

    def __init__(self, names: tuple[str, ...], page: str) -> None:
        self.names = names
        self._page = page

    @cached_property
    def _run(self) -> dict[str, Any]:
        """The record of the comparison, which is in the page."""
        data = re.search(r'id="data">(.*?)</script>', self._page, re.DOTALL)
        return dict(json.loads(data[1])["run"]) if data else {}

    @property
    def summary(self) -> str:
        """The changes in a sentence, with which the page begins."""
        return str(self._run["summary"])

    @property
    def warnings(self) -> list[str]:
        """The warnings of all results."""
        return list(self._run.get("input", {}).get("warnings", []))

    def _repr_html_(self) -> str:
        return html_result(self.summary, self.warnings, [], [], 0)

    def to_html(self) -> str:
        """The page, as ``spikeweave report A B`` makes it of folders.

        Returns
        -------
        str
            To be written to a file: ``Path("page.html").write_text(both.to_html(), "utf-8")``.
        """
        return self._page

    def __repr__(self) -> str:
        return f"<Report: {', '.join(self.names)}>"
