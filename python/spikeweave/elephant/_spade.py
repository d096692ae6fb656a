"""The whole analysis."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import neo
import quantities as pq

from ._binning import as_binned
from ._checks import check_input
from ._deprecated import takes_binsize
from ._mining import mine
from ._patterns import concept_output_to_patterns
from ._reduction import pattern_set_reduction
from ._significance import significant_concepts, test_signature_significance, warn_of_untested
from ._spectrum import pvalue_spectrum
from ._stability import approximate_stability, stable_concepts


@contextmanager
def _timed(what: str) -> Iterator[None]:
    """Prints how long something took, as Elephant does."""
    began = time.time()
    yield
    print(f"Time for {what}: {time.time() - began}")


def _only_stable(concepts: Any, binned: Any, winlen: int, options: Mapping[str, Any]) -> Any:
    """The stable concepts if there are thresholds, otherwise all, with their stability."""
    stability = dict(options)
    thresholds = stability.pop("stability_thresh", None)
    with _timed("stability computation"):
        concepts = approximate_stability(concepts, binned.relation(winlen), **stability)
    return concepts if thresholds is None else stable_concepts(concepts, thresholds)


def _not_significant(
    pv_spec: Any, concepts: Any, alpha: float | None, winlen: int, corr: str, spectrum: str
) -> list[Any]:
    """The signatures that are not significant: none without `alpha` or entries of a spectrum."""
    if alpha is None or len(pv_spec) == 0:
        return []
    return test_signature_significance(
        pv_spec, concepts, alpha, winlen, corr, "non_significant", spectrum
    )


@takes_binsize
def spade(
    spiketrains: Sequence[neo.SpikeTrain],
    bin_size: pq.Quantity,
    winlen: int,
    min_spikes: int = 2,
    min_occ: int = 2,
    max_spikes: int | None = None,
    max_occ: int | None = None,
    min_neu: int = 1,
    approx_stab_pars: dict[str, Any] | None = None,
    n_surr: int = 0,
    dither: pq.Quantity = 15 * pq.ms,
    spectrum: str = "#",
    alpha: float | None = None,
    stat_corr: str = "fdr_bh",
    surr_method: str = "dither_spikes",
    psr_param: Sequence[int] | None = None,
    output_format: str = "patterns",
    **surr_kwargs: Any,
) -> dict[str, Any]:
    """Find significant spatio-temporal spike patterns (SPADE).

    Mines the patterns, optionally keeps the stable ones, tests their signatures against surrogates,
    and removes patterns that others explain.

    Parameters
    ----------
    spiketrains : list of neo.SpikeTrain or neo SpikeTrainList
        All trains have the same units, t_start and t_stop.
    bin_size : quantities.Quantity
        Width of the bins.
    winlen : int
        Number of bins in a window: no pattern is longer.
    min_spikes, min_occ, max_spikes, max_occ, min_neu : int
        Bounds of the patterns; see `concepts_mining`.
    approx_stab_pars : dict or None
        Arguments of `approximate_stability`, and 'stability_thresh': two thresholds, of which a
        pattern must exceed one. The dict is not changed.
    n_surr : int
        Number of surrogates; with 0, nothing is tested.
    dither : quantities.Quantity
        Largest distance by which surrogates move spikes.
    spectrum : {'#', '3d#'}
        Signatures of size and occurrences, or also of duration.
    alpha : float or None
        Level of significance; all patterns are kept if None.
    stat_corr : str
        See `test_signature_significance`.
    surr_method : str
        See `pvalue_spectrum`, which also takes `surr_kwargs`.
    psr_param : list of int or None
        h, k and l of `pattern_set_reduction`.
    output_format : {'patterns', 'concepts'}
        Dictionaries (`concept_output_to_patterns`) or tuples (`concepts_mining`).

    Returns
    -------
    dict
        'patterns'; with surrogates also 'pvalue_spectrum' and 'non_sgnf_sgnt', the signatures that
        are not significant.

    Raises
    ------
    TypeError, ValueError
        For arguments of the wrong kind, or out of range.

    Notes
    -----
    Torre et al. 2013, doi:10.3389/fncom.2013.00132; Quaglio et al. 2017,
    doi:10.3389/fncom.2017.00041; Stella et al. 2019, doi:10.1016/j.biosystems.2019.104022.
    As in Elephant, the time of each step is printed. A warning states how many signatures are kept
    without a test because no surrogate reached them.

    Examples
    --------
    >>> import neo, numpy as np, quantities as pq
    >>> from spikeweave.elephant import spade
    >>> trains = [neo.SpikeTrain(np.arange(10, 1000, 100) + lag, units="ms", t_stop=1000)
    ...           for lag in (0, 7)]
    >>> found = spade(trains, bin_size=1 * pq.ms, winlen=10)  # doctest: +ELLIPSIS
    Time for data mining: ...
    >>> found["patterns"][0]["signature"], found["patterns"][0]["lags"]
    ((2, 10), array([7.]) * ms)
    """
    mining: dict[str, Any] = {"min_spikes": min_spikes, "min_occ": min_occ, "min_neu": min_neu}
    bounds: dict[str, Any] = {"max_spikes": max_spikes, "max_occ": max_occ}
    computes_stability = check_input(
        spiketrains,
        bin_size,
        dither,
        whole={"winlen": winlen, **mining, "n_surr": n_surr},
        whole_or_none=bounds,
        approx_stab_pars=approx_stab_pars,
        alpha=alpha,
        spectrum=spectrum,
        stat_corr=stat_corr,
        surr_method=surr_method,
        psr_param=psr_param,
        output_format=output_format,
    )
    with _timed("data mining"):
        # `concepts_mining` is not used, because its dense matrix can be larger than everything
        # else.
        binned = as_binned(spiketrains, bin_size)
        concepts: Any = mine(binned, winlen, "a", **mining, **bounds)
    if approx_stab_pars is not None and computes_stability:
        concepts = _only_stable(concepts, binned, winlen, approx_stab_pars)

    output: dict[str, Any] = {}
    pv_spec = None
    not_significant: list[Any] = []
    if n_surr > 0:
        with _timed("pvalue spectrum computation"):
            pv_spec = pvalue_spectrum(
                spiketrains,
                bin_size,
                winlen,
                dither=dither,
                n_surr=n_surr,
                spectrum=spectrum,
                surr_method=surr_method,
                **mining,
                **bounds,
                **surr_kwargs,
            )
        output["pvalue_spectrum"] = pv_spec
        if alpha not in (None, 1):
            warn_of_untested(pv_spec, concepts, spectrum, winlen, n_surr, surr_method)
        not_significant = _not_significant(pv_spec, concepts, alpha, winlen, stat_corr, spectrum)
        output["non_sgnf_sgnt"] = not_significant
    if not_significant:
        concepts = significant_concepts(concepts, not_significant, spectrum, winlen)
    if psr_param is not None:
        h, k, covered = psr_param
        concepts = pattern_set_reduction(
            concepts, not_significant, winlen, spectrum, h, k, covered, min_spikes, min_occ
        )
    if output_format == "patterns":
        concepts = concept_output_to_patterns(
            concepts, winlen, bin_size, pv_spec, spectrum, spiketrains[0].t_start
        )
    output["patterns"] = concepts
    return output
