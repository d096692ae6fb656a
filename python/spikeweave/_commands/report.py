"""Several results of one kind in one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from .. import _core
from .._values.episodes import EpisodeResult
from .._values.report import Report
from .._values.sort import SortResult
from .._values.spade import PatternResult

Result = EpisodeResult | PatternResult | SortResult


def _named(results: object) -> dict[str, Result]:
    """The results by their names, which are numbers from 1 unless they are given."""
    if isinstance(results, (Mapping, Sequence)) and not isinstance(results, Result):
        named = (
            {str(name): one for name, one in results.items()}
            if isinstance(results, Mapping)
            else {str(i): one for i, one in enumerate(results, start=1)}
        )
        others = [one for one in named.values() if not isinstance(one, Result)]
        if not others:
            return named
        raise TypeError(
            f"results: expected results of episodes, spade or sort, found {type(others[0])}"
        )
    raise TypeError(f"results: expected a list or a mapping of results, found {type(results)}")


def report(
    results: Mapping[str, Result] | Sequence[Result],
    *,
    view: Literal["side-by-side", "series"] | None = None,
    alpha: float | None = None,
) -> Report:
    """Shows results of one kind in one page, as ``spikeweave report A B`` does with folders.

    Units of episodes and patterns are the same if they have the same name. All edges and chains of
    all circuits are compared, or all patterns; where one was not found it is counted in the spikes.
    Changes are tested by the rates: docs/report.md describes the test and its assumptions. Units of
    two sortings are compared by the agreement of their spikes.

    Parameters
    ----------
    results
        Two or more results of `episodes` with the same `delays` and `ties`, or of `spade` with the
        same `bin`; or two of `sort`, of one recording. A mapping has their names, such as
        ``{"control": before, "drug": after}``.
    view
        By default ``"side-by-side"``, which compares all with the first one. ``"series"`` compares
        each with the one before it, and shows episodes one after another. Not for sortings.
    alpha
        Level at which a rate differs between two results. Default: 0.05.

    Returns
    -------
    Report
        `Report.show` shows the page, `Report.to_html` returns it.

    Raises
    ------
    TypeError
        If these are not results.
    ValueError
        If there are fewer than two, they cannot be compared, or an argument is out of range.

    Examples
    --------
    >>> import spikeweave
    >>> days = [spikeweave.simulate.sym26(length="30s", seed=day).spikes for day in (1, 2)]
    >>> found = [spikeweave.episodes(day, delays="4-6ms", min_count=50) for day in days]
    >>> page = spikeweave.report(found, view="series").to_html()
    >>> page.startswith("<!doctype html>")
    True
    """
    if view not in (None, "side-by-side", "series"):
        raise ValueError(f"view: expected 'side-by-side' or 'series', found {view!r}")
    named = _named(results)
    if len(named) < 2:
        raise ValueError("a comparison is of two results or more")
    documents = [_core.ResultDocument(name, one._document()) for name, one in named.items()]
    return Report(tuple(named), _core.page_of_results(documents, {"as": view, "alpha": alpha}))
