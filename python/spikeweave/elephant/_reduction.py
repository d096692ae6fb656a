"""Pattern set reduction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from spikeweave import _core

from ._concepts import ConceptList, Flat, flatten, taken
from ._names import SPECTRA, check_choice, check_winlen, whole_number
from ._settings import running


def _in_time_order(flat: Flat, winlen: int) -> np.ndarray:
    rows = np.repeat(np.arange(len(flat.item_begins) - 1), np.diff(flat.item_begins))
    items = flat.items[np.lexsort((flat.items, flat.items % winlen, rows))]
    _check_different(items, rows, "spikes")
    return items.astype(np.uint32)


def _ascending(flat: Flat) -> np.ndarray:
    rows = np.repeat(np.arange(len(flat.window_begins) - 1), np.diff(flat.window_begins))
    windows = flat.windows[np.lexsort((flat.windows, rows))]
    _check_different(windows, rows, "windows")
    return windows.astype(np.uint32)


def _check_different(values: np.ndarray, rows: np.ndarray, what: str) -> None:
    twice = np.flatnonzero((values[1:] == values[:-1]) & (rows[1:] == rows[:-1]))
    if len(twice):
        raise ValueError(
            f"concepts: expected different {what}, found {values[twice[0]]} twice in"
            f" concept {rows[twice[0]]}"
        )


def _signature_rows(ns_signatures: Iterable[Any], spectrum: str) -> np.ndarray:
    """Return rows (size, occurrences, duration) of integers; other rows are no signatures."""
    width = 2 if spectrum == "#" else 3
    rows = np.array([tuple(row) for row in ns_signatures], dtype=float).reshape(-1, width)
    whole = ((rows == np.floor(rows)) & (rows >= 0) & (rows < 1 << 32)).all(axis=1)
    out = np.zeros((np.count_nonzero(whole), 3), dtype=np.uint32)
    out[:, :width] = rows[whole]
    return out


def pattern_set_reduction(
    concepts: Iterable[Any],
    ns_signatures: Iterable[Any],
    winlen: int,
    spectrum: str,
    h_subset_filtering: int = 0,
    k_superset_filtering: int = 0,
    l_covered_spikes: int = 0,
    min_spikes: int = 2,
    min_occ: int = 2,
) -> Sequence[Any]:
    """Remove concepts that others explain.

    Parameters
    ----------
    concepts : list of tuple
        Tuples (spikes, windows, ...). Their order decides ties.
    ns_signatures : list of tuple
        Signatures that are not significant.
    winlen : int
        Number of bins in a window.
    spectrum : {'#', '3d#'}
        The parts of a signature.
    h_subset_filtering : int
        Added to the occurrences that a subset has beyond its superset.
    k_superset_filtering : int
        Added to the spikes that a superset has beyond its subset.
    l_covered_spikes : int
        If each rejects the other, the one with more (spikes - l) * occurrences is kept.
    min_spikes, min_occ : int
        Smallest numbers of spikes or occurrences beyond the other concept; at least 1.

    Returns
    -------
    list
        The concepts that remain, the same objects in the same order.

    Raises
    ------
    ValueError
        For negative or repeated numbers in a concept, and parameters out of range.

    Notes
    -----
    As in Elephant, spikes are compared by their numbers after a shift, so a spike that leaves the
    window is mistaken for one of the neighbouring neuron.

    Examples
    --------
    >>> from spikeweave.elephant import pattern_set_reduction
    >>> whole = ((0, 6, 12), (2, 9, 17))
    >>> part = ((0, 6), (2, 9, 17, 30))
    >>> pattern_set_reduction([whole, part], [], winlen=5, spectrum="#")
    [((0, 6, 12), (2, 9, 17))]
    """
    check_choice("spectrum", spectrum, SPECTRA)
    check_winlen(winlen)
    if not isinstance(concepts, (list, tuple, ConceptList)):
        concepts = list(concepts)
    if len(concepts) == 0:
        return []
    flat = flatten(concepts)
    hkl = (
        whole_number("h_subset_filtering", h_subset_filtering),
        whole_number("k_superset_filtering", k_superset_filtering),
        whole_number("l_covered_spikes", l_covered_spikes),
    )
    arguments = {
        "winlen": winlen,
        "spectrum": spectrum,
        "min_spikes": min_spikes,
        "min_occ": min_occ,
    }
    with running() as call:
        kept = _core.elephant_reduce(
            (
                flat.item_begins.astype(np.uint64),
                _in_time_order(flat, winlen),
                flat.window_begins.astype(np.uint64),
                _ascending(flat),
            ),
            _signature_rows(ns_signatures, spectrum),
            hkl,
            {**arguments, **call},
        )
    return taken(concepts, kept)
