"""`concepts_mining`, and the private functions behind it in Elephant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import quantities as pq

from spikeweave import _core

from ._binning import Binned, as_binned, from_pairs, relation_of
from ._concepts import ConceptList, distinct_signatures
from ._deprecated import takes_binsize
from ._names import REPORTS, check_choice, check_winlen
from ._settings import running


def _or_empty(rows: np.ndarray, report: str) -> np.ndarray:
    """Return rows of a spectrum, or Elephant's array if there are none."""
    if len(rows) == 0:
        return np.zeros((0, 3 if report == "#" else 4))
    return rows.astype(np.int64)  # NumPy has two distinct types with this name


def mine(binned: Binned, winlen: int, report: str, **rule: Any) -> ConceptList | np.ndarray:
    """Return the concepts of binned spikes, or their spectrum."""
    given = {"winlen": winlen, **rule}
    with running() as call:
        if report == "a":
            found = _core.elephant_mine(binned.arrays(), {**given, **call})
            return ConceptList.from_arrays(found, winlen)
        found = _core.elephant_count(binned.arrays(), {**given, "spectrum": report, **call})
        if report == "#":
            del found["duration"]
        return _or_empty(np.column_stack(list(found.values())), report)


@takes_binsize
def concepts_mining(
    spiketrains: Any,
    bin_size: pq.Quantity,
    winlen: int,
    min_spikes: int = 2,
    min_occ: int = 2,
    max_spikes: int | None = None,
    max_occ: int | None = None,
    min_neu: int = 1,
    report: str = "a",
) -> tuple[ConceptList | np.ndarray, np.ndarray]:
    """Find the patterns of spike trains: closed sets of spikes that recur in windows.

    Parameters
    ----------
    spiketrains : list of neo.SpikeTrain, neo SpikeTrainList or elephant BinnedSpikeTrain
        All trains have the same units, t_start and t_stop.
    bin_size : quantities.Quantity
        Width of the bins. A binned spike train keeps its own.
    winlen : int
        Number of bins in a window: no pattern is longer.
    min_spikes, min_occ, min_neu : int
        Smallest numbers of spikes, occurrences and different neurons of a pattern.
    max_spikes, max_occ : int or None
        Largest numbers of spikes and occurrences; no bound if None.
    report : {'a', '#', '3d#'}
        The patterns, or the number of patterns with each signature: rows of size, occurrences,
        (duration in bins,) number of patterns.

    Returns
    -------
    mining_results : ConceptList or numpy.ndarray
        A sequence of tuples (spikes, windows) of `numpy.int64`, which are made on demand; a spike
        is ``neuron * winlen + bin``, a window the bin in which it begins. It equals Elephant's
        list, including the order. Or the spectrum.
    rel_matrix : numpy.ndarray
        A dense array of bool, like Elephant's, that is True if a window (row) contains a spike
        (column).

    Raises
    ------
    TypeError
        For other input, a `bin_size` without unit, or parameters that are not whole numbers.
    ValueError
        For trains with different units or spans, and parameters out of range.

    Notes
    -----
    Patterns are closed among all sets of spikes, and `max_occ` is a bound, as documented. With
    `max_spikes`, Elephant 1.2.1 also lists sets that a larger one explains; it ignores `max_occ`.

    Examples
    --------
    >>> import neo, numpy as np, quantities as pq
    >>> from spikeweave.elephant import concepts_mining
    >>> trains = [neo.SpikeTrain(np.arange(10, 1000, 100) + lag, units="ms", t_stop=1000)
    ...           for lag in (0, 7)]
    >>> concepts, rel_matrix = concepts_mining(trains, bin_size=1 * pq.ms, winlen=10)
    >>> len(concepts), [int(item) for item in concepts[0][0]], rel_matrix.shape
    (1, [0, 17], (1000, 20))
    >>> concepts_mining(trains, 1 * pq.ms, 10, report="3d#")[0]
    array([[ 2, 10,  7,  1]])
    """
    check_choice("report", report, REPORTS)
    binned = as_binned(spiketrains, bin_size)
    found = mine(
        binned,
        winlen,
        report,
        min_spikes=min_spikes,
        min_occ=min_occ,
        max_spikes=max_spikes,
        max_occ=max_occ,
        min_neu=min_neu,
    )
    return found, binned.relation(winlen)


def _build_context(binary_matrix: Any, winlen: int) -> tuple[list[Any], list[Any], np.ndarray]:
    """Return (window, item) pairs, the items of each window, and `rel_matrix`.

    `binary_matrix` is a SciPy COO matrix of neurons × bins, which is not changed.
    """
    binned = from_pairs(binary_matrix.row, binary_matrix.col, *binary_matrix.shape)
    starts, offsets, items = binned.windows(winlen)
    all_items = list(items.astype(np.int64))
    windows = np.repeat(starts.astype(binary_matrix.col.dtype), np.diff(offsets).astype(np.intp))
    context = list(zip(list(windows), all_items, strict=True))
    begins = offsets.tolist()
    transactions = [all_items[i:j] for i, j in pairwise(begins)]
    return context, transactions, binned.relation(winlen)


def _as_transactions(transactions: Iterable[Iterable[Any]]) -> list[np.ndarray]:
    """Return the items of each window, ascending and without duplicates."""
    out = []
    for number, transaction in enumerate(transactions):
        items = np.asarray(list(transaction))
        if items.size and items.dtype.kind not in "iu":
            raise TypeError(
                f"transactions: expected whole numbers, found {items.dtype} in transaction {number}"
            )
        items = np.unique(items.astype(np.int64))
        if items.size and not 0 <= items[0] <= items[-1] < 1 << 31:
            raise ValueError(
                "transactions: expected items from 0 to 2147483647, found"
                f" {items[0]} to {items[-1]} in transaction {number}"
            )
        out.append(items)
    return out


def _mine_transactions(windows: list[np.ndarray], winlen: int, **rule: Any) -> dict[str, Any]:
    """Mine given windows, which are numbered by `occurrences`."""
    check_winlen(winlen)
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *windows])
    # Units are renumbered from 0 in their order, because their numbers may be large.
    units, dense = np.unique(flat // winlen, return_inverse=True)
    offsets = np.cumsum([0, *map(len, windows)]).astype(np.uint64)
    dense_items = (dense * winlen + flat % winlen).astype(np.uint32)
    with running() as call:
        found = _core.elephant_mine_windows(
            offsets, dense_items, len(units), {"winlen": winlen, **rule, **call}
        )
    items = found["items"].astype(np.int64)
    rows = np.repeat(np.arange(len(found["counts"])), np.diff(found["item_offsets"].astype(int)))
    items = items[np.lexsort((-found.pop("ranks")[items].astype(np.int64), rows))]
    found["items"] = units[items // winlen] * winlen + items % winlen
    return found


def _without_window_subsets(found: ConceptList, winlen: int) -> ConceptList:
    """Apply Elephant's filter for the side effect of moving windows, using only the concepts."""
    if winlen == 1 or len(found) == 0:
        return found
    flat = found.flat()
    kept = _core.elephant_without_window_subsets(
        flat.item_begins.astype(np.uint64),
        flat.items.astype(np.uint32),
        np.diff(flat.window_begins).astype(np.uint32),
        winlen,
    )
    return found.take(kept)


def _with_extents(concepts: ConceptList, rel_matrix: np.ndarray) -> list[tuple[Any, Any]]:
    intents = [intent for intent, _ in concepts]
    items = np.array([item for intent in intents for item in intent], dtype=np.uint32)
    offsets = np.cumsum([0, *map(len, intents)]).astype(np.uint64)
    begins, rows = relation_of(rel_matrix).extents(offsets, items)
    numbers = list(rows.astype(np.int64))
    return [
        (intent, tuple(numbers[i:j]))
        for intent, (i, j) in zip(intents, pairwise(begins.tolist()), strict=True)
    ]


def _report(concepts: Sequence[Any], winlen: int, report: str) -> np.ndarray:
    rows, _, numbers = distinct_signatures(concepts, winlen, report)
    return _or_empty(np.column_stack((rows, numbers)), report)


def _fpgrowth(
    transactions: Iterable[Iterable[Any]],
    min_c: int = 2,
    min_z: int = 2,
    max_z: int | None = None,
    max_c: int | None = None,
    rel_matrix: np.ndarray | None = None,
    winlen: int = 1,
    min_neu: int = 1,
    target: str = "c",
    report: str = "a",
) -> list[Any] | np.ndarray:
    """Mine windows given as lists of items.

    As in Elephant, report 'a' is empty without a `rel_matrix` to read the windows from, and windows
    that are all equal yield one concept, whatever its thresholds. `target` is ignored.

    Raises
    ------
    ValueError
        For negative items and parameters out of range. Repeated items count once.
    """
    windows = _as_transactions(transactions)
    check_choice("report", report, REPORTS)
    check_winlen(winlen)
    if min_neu < 1:
        raise ValueError(f"min_neu: expected an integer >= 1, found {min_neu}")
    identical = all(np.array_equal(window, windows[0]) for window in windows)
    if identical and sum(map(len, windows)) > 0:
        found = ConceptList.from_arrays(_one_concept(windows), winlen)
    else:
        found = ConceptList.from_arrays(
            _mine_transactions(
                windows,
                winlen,
                min_spikes=min_z,
                min_occ=min_c,
                max_spikes=max_z,
                max_occ=max_c,
                min_neu=min_neu,
            ),
            winlen,
        )
    found = _without_window_subsets(found, winlen)
    if report != "a":
        return _report(found, winlen, report)
    return [] if rel_matrix is None else _with_extents(found, rel_matrix)


def _one_concept(windows: list[np.ndarray]) -> dict[str, np.ndarray]:
    number = len(windows)
    return {
        "items": windows[0],
        "item_offsets": np.array([0, len(windows[0])]),
        "counts": np.array([number]),
        "occurrences": np.arange(number),
        "occurrence_offsets": np.array([0, number]),
        "order": np.array([0]),
    }


def _fast_fca(
    context: Iterable[tuple[Any, Any]],
    min_c: int = 2,
    min_z: int = 2,
    max_z: int | None = None,
    max_c: int | None = None,
    report: str = "a",
    winlen: int = 1,
    min_neu: int = 1,
) -> list[Any] | np.ndarray:
    """Mine windows given as (window, item) pairs.

    The result is that of `_fpgrowth`. Elephant's own `_fast_fca` lists some concepts twice, or
    loses them, and this does not.
    """
    check_choice("report", report, REPORTS)
    if min_neu < 1:
        raise ValueError(f"min_neu: expected an integer >= 1, found {min_neu}")
    pairs = np.array(list(context), dtype=np.int64).reshape(-1, 2)
    windows, rows = np.unique(pairs[:, 0], return_inverse=True)
    order = np.argsort(rows, kind="stable")
    cuts = np.searchsorted(rows[order], np.arange(1, len(windows)))
    transactions = _as_transactions(np.split(pairs[order, 1], cuts) if len(pairs) else [])
    arrays = _mine_transactions(
        transactions,
        winlen,
        min_spikes=min_z,
        min_occ=min_c,
        max_spikes=max_z,
        max_occ=max_c,
        min_neu=min_neu,
    )
    found = _without_window_subsets(ConceptList.from_arrays(arrays, winlen), winlen)
    if report != "a":
        return _report(found, winlen, report)
    return [(intent, tuple(windows[list(extent)])) for intent, extent in found]


def _fim_fpgrowth(
    tracts: Iterable[Iterable[Any]],
    target: str = "c",
    supp: float = 10,
    zmin: int = 1,
    zmax: int = 0,
    report: str = "a",
    algo: str = "s",
    winlen: int = 20,
    max_c: int | None = None,
    min_neu: int = 1,
    verbose: int = 1,
    threads: int = 0,
) -> list[tuple[Any, int]]:
    """Return the list of Elephant's compiled miner: (items, support), by ascending support.

    `target`, `report`, `algo` and `verbose` are ignored, as in Elephant.
    """
    windows = _as_transactions(tracts)
    arrays = _mine_transactions(
        windows,
        winlen,
        min_spikes=zmin,
        min_occ=int(abs(supp)),
        max_spikes=zmax or None,
        max_occ=max_c,
        min_neu=min_neu,
    )
    concepts = ConceptList.from_arrays(arrays, winlen)
    return [(intent, len(extent)) for intent, extent in concepts]


fim = SimpleNamespace(fpgrowth=_fim_fpgrowth)
