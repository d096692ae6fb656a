"""Several results in one page."""

from __future__ import annotations

from .page import HasPage


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
