"""Spatio-temporal spike patterns: SPADE."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Literal

from .. import _core
from .._adapters.epochs import epochs_of
from .._adapters.progress import Progress, reporting
from .._values.arguments import given, options_in
from .._values.spade import PatternResult
from .._values.spikes import SpikeSequence
from .._values.types import (
    Bins,
    Compat,
    Edges,
    Epochs,
    SpadeCorrection,
    SpadeStrategy,
    Spectrum,
    SpikesLike,
    Steps,
    SurrogateMethod,
    Time,
)


def spade(
    spikes: SpikesLike,
    *,
    bin: Time | None = None,
    window: Bins = 20,
    t_start: Time | None = None,
    t_stop: Time | None = None,
    epochs: Epochs | None = None,
    separation: Time | None = None,
    min_occ: int | Literal["auto"] | Mapping[int, int] | None = "auto",
    min_spikes: int | None = None,
    max_spikes: int | None = None,
    min_neu: int | None = None,
    rules: Sequence[Mapping[str, int]] | None = None,
    max_occ: int | None = None,
    keep_window_subsets: bool = False,
    strategy: SpadeStrategy = "automatic",
    surrogates: int = 0,
    surrogate_method: SurrogateMethod | None = None,
    dither: Time = 0.015,
    refractory: Time | None = None,
    edges: Edges = "drop",
    sliding: bool = False,
    trial_length: Time | None = None,
    trial_separation: Time = 0.0,
    isi_truncation: Time = 0.1,
    isi_bins: int = 100,
    isi_sigma: Time = 0.002,
    isi_alternate: bool = True,
    isi_sqrt: bool = False,
    isi_cutoff: bool = True,
    isi_refractory: Time = 0.004,
    isi_steps: Steps = "window",
    spectrum: Spectrum = "#",
    alpha: float = 0.01,
    correction: SpadeCorrection = "fdr_bh",
    reduce: Sequence[int] | None = None,
    stability: int | tuple[float, float] | None = None,
    stability_threshold: tuple[float, float] | None = None,
    compat: Compat = "none",
    seed: int = 0,
    threads: int = 0,
    device: Literal["cpu", "automatic"] = "automatic",
    progress: Progress = None,
) -> PatternResult:
    """Finds spatio-temporal spike patterns (SPADE) and tests them by surrogates.

    Closed patterns of spikes at fixed lags in a sliding window, tested by their signatures against
    surrogates, and reduced to those that no other explains, as by ``spikeweave spade`` on the
    command line. `spikeweave.elephant` offers this under the functions of `elephant.spade`.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts. An Elephant ``BinnedSpikeTrain`` is
        mined in its own bins.
    bin
        Width of a bin; by default 5 ms, for binned trains their bin. Times are in seconds, texts
        such as ``"5ms"``, or quantities.
    window
        Longest pattern: a number of bins, or a text or quantity of time that is a whole number of
        bins.
    t_start, t_stop
        Earlier or later spikes are ignored.
    epochs : array of shape (epochs, 2)
        Beginning and end of each in seconds: only these are mined, one after another, and each is a
        trial. Also a pynapple ``IntervalSet``, a neo ``Epoch``, or a table with columns ``start``
        and ``end``, or ``start_time`` and ``stop_time``.
    separation
        Gap between two epochs; two windows by default.
    min_occ
        Minimum number of occurrences; a mapping from sizes to numbers holds for each size up to
        the next; ``"auto"`` estimates them from the rates (Stella et al. 2022).
    min_spikes, max_spikes
        Minimum and maximum number of spikes; 2 and unlimited by default.
    min_neu
        Minimum number of different units; 1 by default, with ``"auto"`` the number of spikes.
    rules
        Instead of these: mappings with ``min_occ``, ``min_spikes``, ``max_spikes``, ``min_neu``;
        a pattern is reported if it meets one of them.
    max_occ
        Patterns that occur more often are omitted; unlimited by default.
    keep_window_subsets
        Keep patterns that are part of a longer pattern that begins earlier.
    strategy
        ``"automatic"``, ``"first-bin"`` or ``"fp-growth"``; the result is the same.
    surrogates
        Number of surrogates; 0: nothing is tested.
    surrogate_method
        A method of docs/algorithms/surrogates.md. By default ``"trial_shifting"`` if there are
        trials, else ``"dither_spikes_with_refractory_period"``.
    dither
        How far surrogates may move spikes.
    refractory, edges, sliding, trial_length, trial_separation
        Options of single methods: dead time, by default one bin; ``"drop"`` or ``"clamp"``; sliding
        blocks of bin shuffling; length of trials and the gap between them.
    isi_truncation, isi_bins, isi_sigma, isi_alternate, isi_sqrt, isi_cutoff, isi_refractory, \
isi_steps
        Options of the interval-based methods, with Elephant's defaults.
    spectrum
        ``"#"``: signatures are (size, count); ``"3d#"``: with the duration.
    alpha
        Significance level.
    correction
        Multiple-testing correction over the signatures, named as in statsmodels.
    reduce
        ``(h, k, l)`` of the pattern set reduction; by default nothing is reduced.
    stability
        Number of subsets, or ``(delta, epsilon)``, used to compute stabilities.
    stability_threshold
        Keep patterns with at least one stability (intensional, extensional) above this.
    compat
        ``"elephant"`` or ``"elephant-ms"`` (trains in milliseconds) reproduces Elephant where it
        deviates from the correct result.
    seed
        Random seed of surrogates and stabilities.
    threads, progress
        As in `episodes`.
    device
        ``"cpu"`` or ``"automatic"``: patterns are mined on the CPU.

    Returns
    -------
    PatternResult

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected.

    Warns
    -----
    UserWarning
        As listed in `PatternResult.warnings`: spikes that share a bin or lie in none, too few
        surrogates.

    References
    ----------
    E. Torre et al., Front. Comput. Neurosci. 7:132 (2013), doi:10.3389/fncom.2013.00132;
    P. Quaglio et al., Front. Comput. Neurosci. 11:41 (2017), doi:10.3389/fncom.2017.00041;
    A. Stella et al., BioSystems 185:104022 (2019), doi:10.1016/j.biosystems.2019.104022;
    A. Stella et al., eNeuro 9(3) (2022), doi:10.1523/ENEURO.0505-21.2022.

    Examples
    --------
    >>> import spikeweave
    >>> made = spikeweave.simulate.patterns(units=30, patterns=(5,), seed=1)
    >>> found = spikeweave.spade(made.spikes, surrogates=200, reduce=(0, 0, 0), seed=1)
    >>> print(found[0])
    n0 n1+5ms n2+10ms n3+15ms n4+20ms
    """
    options = options_in(locals() | {"epochs": epochs_of(epochs)}, "spikes", "progress")
    sequence = SpikeSequence.of(spikes)
    if hasattr(spikes, "bin_size"):
        own = _core.seconds(spikes.bin_size)
        exact = float(spikes.bin_size.rescale("us"))
        if abs(exact - own * 1e6) > 1e-6 * exact:
            raise ValueError(
                f"spikes: expected bins of whole microseconds, found {exact} us "
                "(spikeweave.elephant mines any; or give the trains and bin=)"
            )
        if bin is not None and _core.seconds(bin) != own:
            raise ValueError(f"bin: expected {own:g} s, as the trains are binned, found {bin}")
        options["bin"] = own
    with reporting(progress) as callback:
        found = _core.spade(
            sequence._core,
            {**options, **given(progress=callback)},
        )
    for warning in found["warnings"][found["told"] :]:
        warnings.warn(warning, stacklevel=2)
    signatures = found["signatures"]
    for name in ("tested", "significant"):
        if name in signatures:
            signatures[name] = signatures[name].astype(bool)
    return PatternResult(
        spikes=sequence,
        **found["table"],
        signatures=signatures,
        funnel=found["funnel"],
        parameters=found["parameters"],
        input=found["input"],
        seconds=found["seconds"],
        warnings=found["warnings"],
        pvalue_spectrum=found.get("pvalue_spectrum"),
    )
