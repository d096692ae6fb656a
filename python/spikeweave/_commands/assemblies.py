"""Cell assemblies at several time scales."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._adapters.progress import Progress, reporting
from .._values.assemblies import Assembly, AssemblyResult
from .._values.spikes import SpikeSequence
from .._values.types import SpikesLike
from .described import described, run_of, with_epochs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import AssembliesOptions


@described(_core.assemblies_options)
def assemblies(
    spikes: SpikesLike,
    *,
    progress: Progress = None,
    **options: Unpack[AssembliesOptions],
) -> AssemblyResult:
    """Finds cell assemblies at several time scales, by CAD (Russo and Durstewitz 2017).

    Pairs of units whose joint count at their best lag exceeds that at a reference lag are joined,
    and further units in the same way, until none is significant, as by ``spikeweave assemblies`` on
    the command line.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    {options}

    Returns
    -------
    AssemblyResult

    {raises}

    Warns
    -----
    UserWarning
        As listed in `AssemblyResult.warnings`.

    References
    ----------
    E. Russo, D. Durstewitz, eLife 6:e19428 (2017).

    Examples
    --------
    >>> import numpy as np
    >>> import spikeweave
    >>> random = np.random.default_rng(1)
    >>> trains = {unit: list(random.uniform(0, 100, 600)) for unit in "abcd"}
    >>> for moment in random.uniform(0, 99, 300):  # c follows a 20 ms later, and b 40 ms later
    ...     for unit, delay in (("a", 0), ("c", 0.02), ("b", 0.04)):
    ...         trains[unit].append(moment + delay)
    >>> found = spikeweave.assemblies(trains, bins=["10ms"])
    >>> first = found.assemblies[0]
    >>> lags = dict(zip(first.units, first.lags, strict=True))
    >>> [round(float(lags[unit] - lags["a"]), 3) for unit in "acb"]
    [0.0, 0.02, 0.04]
    """
    sequence = SpikeSequence.of(spikes)
    names = sequence.unit_names
    with reporting(progress) as callback:
        found = _core.find_assemblies(
            sequence._core, {**with_epochs(options), "progress": callback}
        )
    return AssemblyResult(
        assemblies=[
            Assembly(
                **{
                    **one,
                    "units": tuple(names[unit] for unit in one["units"]),
                    "lags": one["lags"] * one["bin"],
                }
            )
            for one in found["assemblies"]
        ],
        steps=found["steps"],
        **run_of(found, sequence),
    )
