"""How results with a page are shown."""

from __future__ import annotations

import abc

from .conversions import converted


class HasPage(abc.ABC):
    """What has a page for a browser, which `to_html` returns."""

    @abc.abstractmethod
    def to_html(self) -> str:
        """The page as text."""

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
