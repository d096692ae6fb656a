"""How results with a page are shown."""

from __future__ import annotations

from .conversions import converted


class HasPage:
    """What has a page for a browser, which `to_html` returns."""

    def to_html(self) -> str:
        """A page that shows the result in a browser, as ``spikeweave report`` makes it.

        The page needs no other file and no network.

        Returns
        -------
        str
            To be written to a file: ``Path("page.html").write_text(found.to_html(), "utf-8")``.
        """
        return converted(self, "html")

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
