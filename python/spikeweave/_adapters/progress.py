"""Progress of a call: the function that receives it, or bars by tqdm."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .notebook import in_notebook

Progress = Callable[[str, int, int], Any] | bool | None


class _Bar:
    """Progress on a terminal, a bar a task."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._task = ""

    def __call__(self, task: str, done: int, total: int) -> None:
        if task != self._task:
            self.close()
            self._bar = self._tqdm(total=total or None, desc=task, leave=False)
            self._task = task
        self._bar.total = total or None
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def check_progress(progress: object) -> None:
    """TypeError unless `reporting` accepts it."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress: expected True, False or a function, found {progress!r}")


def _is_watched() -> bool:
    """Whether somebody sees a bar: on a terminal, or in a notebook."""
    return sys.stderr.isatty() or in_notebook()


@contextmanager
def reporting(progress: Progress) -> Iterator[Callable[[str, int, int], Any] | None]:
    """The function to call with (task, done, total): None where nothing should be shown."""
    if callable(progress):
        yield progress
        return
    check_progress(progress)
    if progress is False or (progress is None and not _is_watched()):
        yield None
        return
    try:
        with warnings.catch_warnings():
            # It draws its bars as text where there is no ipywidgets, and warns of that.
            warnings.filterwarnings("ignore", message="IProgress not found")
            from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise ImportError("progress=True draws its bars with tqdm: pip install tqdm") from None
        yield None
        return
    bar = _Bar(tqdm)
    try:
        yield bar
    finally:
        bar.close()
