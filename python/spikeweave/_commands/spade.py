"""Spatio-temporal spike patterns: SPADE."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .. import _core
from .._adapters.progress import Progress, reporting
from .._values.spade import PatternResult
from .._values.spikes import SpikeSequence
from .._values.types import SpikesLike
from .described import described, run_of, with_epochs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import SpadeOptions


@described(_core.spade_options)
def spade(
    spikes: SpikesLike,
    *,
    confirm: SpikesLike | None = None,
    progress: Progress = None,
    **options: Unpack[SpadeOptions],
) -> PatternResult:
    """Finds spatio-temporal spike patterns (SPADE) and tests them by surrogates.

    Closed patterns of spikes at fixed lags in a sliding window, tested by their signatures against
    surrogates, and reduced to those that no other explains, as by ``spikeweave spade`` on the
    command line. `spikeweave.elephant` offers this under the functions of `elephant.spade`.

    Times are in seconds, texts such as ``"5ms"``, or quantities; `window` may also be a time that
    is a whole number of bins. `epochs` are pairs of a beginning and an end, a pynapple
    ``IntervalSet``, a neo ``Epoch``, or a table with columns ``start`` and ``end``, or
    ``start_time`` and ``stop_time``. `min_occ` by size is a mapping such as ``{2: 88, 3: 25}``, and
    a rule is a mapping with ``min_occ``, ``min_spikes``, ``max_spikes`` and ``min_neu``. `reduce`
    is ``(h, k, l)``, `stability` a number of subsets or ``(delta, epsilon)``, and
    `stability_threshold` is ``(intensional, extensional)``. The same seed gives the same result on
    any number of threads.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts. An Elephant ``BinnedSpikeTrain`` is
        mined in its own bins, which `bin` must then agree with.
    {options}
    confirm
        Another recording of the same units, which are those of the same name. The patterns that are
        left are counted there, and each is tested against surrogates of it, corrected for these
        patterns only: `PatternResult.replication`.
    progress
        True, False, or a function of (task, done, total). By default a bar on a terminal and in a
        notebook. Unless it is False, the expected cost of a long search is printed first.

    Returns
    -------
    PatternResult

    {raises}

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
    n0 →5ms→ n1 →5ms→ n2 →5ms→ n3 →5ms→ n4
    """
    given = with_epochs(options)
    sequence = SpikeSequence.of(spikes)
    if hasattr(spikes, "bin_size"):
        own = _core.seconds(spikes.bin_size)
        exact = float(spikes.bin_size.rescale("us"))
        if abs(exact - own * 1e6) > 1e-6 * exact:
            raise ValueError(
                f"spikes: expected bins of whole microseconds, found {exact} us "
                "(spikeweave.elephant mines any; or give the trains and bin=)"
            )
        bin = given.get("bin")
        if bin is not None and _core.seconds(bin) != own:
            raise ValueError(f"bin: expected {own:g} s, as the trains are binned, found {bin}")
        given["bin"] = own
    with reporting(progress) as callback:
        found = _core.spade(
            sequence._core,
            {
                **given,
                "progress": callback,
                "estimate": None if progress is False else _print_estimate,
            },
            None if confirm is None else SpikeSequence.of(confirm)._core,
        )
    return PatternResult(
        **found["table"],
        signatures=found["signatures"],
        funnel=found["funnel"],
        input=found["input"],
        pvalue_spectrum=found.get("pvalue_spectrum"),
        replication=found.get("replication"),
        **run_of(found, sequence),
    )


def _print_estimate(text: str) -> None:
    print(f"spikeweave: {text}", file=sys.stderr)
