"""Notebooks, and pages that are shown in them or in a browser."""

from __future__ import annotations

import html
import os
import sys
from pathlib import Path

from .._values.conversions import converts
from .._values.page import HasPage


def in_notebook() -> bool:
    """Whether this runs in a notebook, whose shell has a kernel, unlike that of a terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def frame_of(page: str, height: int) -> str:
    """The page as an element of another page, from which it is separated by `sandbox`."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads"'
        f' title="spikeweave" style="width:100%;height:{height}px;border:0"></iframe>'
    )


@converts(HasPage, "shown page")
def show_page(found: HasPage, height: int) -> None:
    """Shows the page of a result below the cell of a notebook, elsewhere in a browser."""
    if not height > 0:
        raise ValueError(f"height: expected pixels above 0, found {height!r}")
    page = found.to_html()
    if in_notebook():
        from IPython.display import display

        display({"text/html": frame_of(page, height)}, raw=True)
        return
    import tempfile  # with the next one, a tenth of the time of `import spikeweave`
    import webbrowser

    descriptor, name = tempfile.mkstemp(prefix="spikeweave-", suffix=".html")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(page)
    if not webbrowser.open(Path(name).as_uri()):
        raise RuntimeError(f"there is no browser to show '{name}'")
