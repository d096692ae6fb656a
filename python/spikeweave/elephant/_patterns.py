"""Concepts as dictionaries for users."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import quantities as pq

from ._checks import check_quantity
from ._names import SPECTRA, check_choice, check_winlen


def concept_output_to_patterns(
    concepts: Iterable[Any],
    winlen: int,
    bin_size: pq.Quantity,
    pv_spec: Iterable[Any] | None = None,
    spectrum: str = "#",
    t_start: pq.Quantity = 0 * pq.ms,
) -> list[dict[str, Any]]:
    """Describe concepts by neurons, lags and times.

    Parameters
    ----------
    concepts : list of tuple
        Tuples (spikes, windows, ...).
    winlen : int
        Number of bins in a window.
    bin_size : quantities.Quantity
        Width of a bin.
    pv_spec : list or None
        The p-value spectrum.
    spectrum : {'#', '3d#'}
        The parts of a signature.
    t_start : quantities.Quantity
        Left edge of the first bin.

    Returns
    -------
    list of dict
        'itemset' and 'windows_ids' as in the concept; 'neurons', a list in the order of firing;
        'lags' (Quantity) from the first spike to each of the others; 'times' (Quantity) of the
        occurrences; 'signature', (size, occurrences) or (size, occurrences, duration); 'pvalue': -1
        without a spectrum, 0.0 for a signature that it does not list.

    Examples
    --------
    >>> import quantities as pq
    >>> from spikeweave.elephant import concept_output_to_patterns
    >>> pattern, = concept_output_to_patterns([((0, 7), (1, 9))], winlen=5, bin_size=2 * pq.ms)
    >>> pattern["lags"], pattern["times"], pattern["signature"]
    (array([4.]) * ms, array([ 2., 18.]) * ms, (2, 2))
    """
    check_choice("spectrum", spectrum, SPECTRA)
    check_winlen(winlen)
    check_quantity("bin_size", bin_size)
    check_quantity("t_start", t_start)
    pvalues = None
    if pv_spec is not None:
        pvalues = {tuple(entry[:-1]): entry[-1] for entry in pv_spec}
    units = bin_size.units
    width = bin_size.magnitude
    start = t_start.rescale(units).magnitude
    patterns = []
    for concept in concepts:
        itemset, windows = concept[:2]
        items = np.array(itemset)
        lags = items % winlen
        # Like Elephant's, this sort is not stable, so that simultaneous spikes have the same order.
        order = np.argsort(lags)
        lags = lags[order]
        signature: tuple[Any, ...] = (len(items), len(windows))
        if spectrum == "3d#":
            signature += (lags[-1],)
        patterns.append(
            {
                "itemset": itemset,
                "windows_ids": windows,
                "neurons": list(items[order] // winlen),
                "lags": pq.Quantity(lags[1:] * width, units),
                "times": pq.Quantity(np.array(sorted(windows)) * width + start, units),
                "signature": signature,
                "pvalue": -1 if pvalues is None else pvalues.get(signature, 0.0),
            }
        )
    return patterns
