"""The test of signatures against the p-value spectrum, and the filter that follows from it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spikeweave import _core

from ._concepts import distinct_signatures, signatures, taken
from ._names import CORRECTIONS, SPECTRA, check_choice


def _entries_of(pv_spec: Any, spectrum: str) -> npt.NDArray[np.float64]:
    width = 3 if spectrum == "#" else 4
    entries = np.asarray(pv_spec, dtype=float)
    if entries.size and (entries.ndim != 2 or entries.shape[1] != width):
        raise ValueError(
            f"pv_spec: expected entries of {width} numbers, found shape {entries.shape}"
        )
    return entries.reshape(-1, width)


def _mask_pvalue_spectrum(
    pv_spec: Any, concepts: Sequence[Any], spectrum: str, winlen: int
) -> npt.NDArray[np.bool_]:
    """Return which entries of a p-value spectrum are tested.

    These are the entries whose signature some concept has and whose p is not 1; of consecutive
    entries with the same size and duration, only the last. As in Elephant, a spectrum of one entry
    is not tested.
    """
    entries = _entries_of(pv_spec, spectrum)
    rows, _, _ = distinct_signatures(concepts, winlen, spectrum)
    found = set(map(tuple, rows.tolist()))
    known = np.array([tuple(row) in found for row in entries[:, :-1].tolist()], dtype=bool)
    mask = known & ~np.isclose(entries[:, -1], 1)
    if len(mask) < 2:
        return np.zeros(len(mask), dtype=bool)
    group = entries[:, [0, 2]] if spectrum == "3d#" else entries[:, [0]]
    followed = mask[1:] & (group[1:] == group[:-1]).all(axis=1)
    mask[:-1] &= ~followed
    return mask


def _rejected(pvalues: npt.NDArray[np.float64], alpha: float, corr: str) -> list[bool]:
    if len(pvalues) == 0:
        return []
    if corr in ("", "no"):
        return (pvalues <= alpha).tolist()
    if alpha <= 0:
        return [False] * len(pvalues)
    return _core.elephant_rejected(np.ascontiguousarray(pvalues), corr, alpha)


def test_signature_significance(
    pv_spec: Any,
    concepts: Sequence[Any],
    alpha: float,
    winlen: int,
    corr: str = "fdr_bh",  # noqa: PT028 - not a test of pytest's
    report: str = "spectrum",  # noqa: PT028
    spectrum: str = "#",  # noqa: PT028
) -> list[tuple[Any, ...]]:
    """Test the signatures of concepts against a p-value spectrum.

    Parameters
    ----------
    pv_spec : list
        Entries (size, occurrences, p) or, with '3d#', (size, occurrences, duration, p).
    concepts : list of tuple
        As returned by `concepts_mining`.
    alpha : float
        Level of significance; with 1, nothing is tested and the result is empty.
    winlen : int
        Number of bins in a window.
    corr : str
        Correction for multiple testing: 'bonferroni', 'sidak', 'holm-sidak', 'holm',
        'simes-hochberg', 'hommel', 'fdr_bh', 'fdr_by', 'fdr_tsbh', 'fdr_tsbky', or none: '', 'no'.
    report : {'spectrum', 'significant', 'non_significant'}
        All entries with a bool, or the signatures of those that are, or are not, significant.
    spectrum : {'#', '3d#'}
        The parts of a signature.

    Returns
    -------
    list of tuple
        In the order of `pv_spec`. Signatures that were not tested count as not significant.

    Raises
    ------
    ValueError
        For other names of `corr`, `report` or `spectrum`.

    Examples
    --------
    >>> from spikeweave.elephant import test_signature_significance
    >>> concepts = [((0, 5), (2, 9, 17)), ((0, 5, 11), (2, 9, 17, 30))]
    >>> entries = [(2, 3, 0.3), (3, 4, 0.01)]
    >>> found = test_signature_significance(entries, concepts, alpha=0.05, winlen=5)
    >>> [(int(size), int(count), bool(test)) for size, count, test in found]
    [(2, 3, False), (3, 4, True)]
    """
    if alpha == 1:
        return []
    check_choice("spectrum", spectrum, SPECTRA)
    check_choice("report", report, ("spectrum", "significant", "non_significant"))
    check_choice("corr", corr, CORRECTIONS)
    entries = _entries_of(pv_spec, spectrum)
    mask = _mask_pvalue_spectrum(entries, concepts, spectrum, winlen)
    significant = np.zeros(len(entries), dtype=bool)
    significant[mask] = _rejected(entries[mask, -1], alpha, corr)
    rows = [tuple(row) for row in entries[:, :-1]]
    if report == "spectrum":
        return [(*row, test) for row, test in zip(rows, significant, strict=True)]
    wanted = report == "significant"
    return [row for row, test in zip(rows, significant, strict=True) if test == wanted]


test_signature_significance.__test__ = False  # type: ignore[attr-defined]


def warn_of_untested(
    pv_spec: Any, concepts: Sequence[Any], spectrum: str, winlen: int, n_surr: int, method: str
) -> None:
    """Warn the caller of `spade` if signatures that no surrogate reached are kept untested."""
    reached = set(map(tuple, _entries_of(pv_spec, spectrum)[:, :-1].tolist()))
    rows, _, _ = distinct_signatures(concepts, winlen, spectrum)
    untested = sum(tuple(row) not in reached for row in rows.tolist())
    if untested == 0:
        return
    false_patterns = (
        ", and surrogates by dither_spikes give false patterns if units are regular"
        if method == "dither_spikes"
        else ""
    )
    warnings.warn(
        f"{untested:,} of {len(rows):,} signatures are kept without a test, as in Elephant, because"
        f" none of {n_surr:,} surrogates reached them{false_patterns}.",
        UserWarning,
        stacklevel=4,
    )


def _pattern_spectrum_filter(concept: Any, ns_signatures: Any, spectrum: str, winlen: int) -> bool:
    """Return whether the signature of a concept is not in the list."""
    return tuple(signatures([concept], winlen, spectrum)[0].tolist()) not in ns_signatures


def significant_concepts(
    concepts: Sequence[Any], ns_signatures: Sequence[Any], spectrum: str, winlen: int
) -> Sequence[Any]:
    """Return the concepts whose signatures are not in the list."""
    dropped = set(map(tuple, ns_signatures))
    rows, which, _ = distinct_signatures(concepts, winlen, spectrum)
    keeps = np.array([tuple(row) not in dropped for row in rows.tolist()], dtype=bool)
    kept = np.flatnonzero(keeps[which])
    return taken(concepts, kept)
