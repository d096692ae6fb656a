"""Bursts of units and of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._adapters.progress import Progress, reporting
from .._values.bursts import BurstResult
from .._values.spikes import SpikeSequence
from .._values.types import SpikesLike
from .described import described, run_of, with_epochs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import BurstsOptions


@described(_core.bursts_options)
def bursts(
    spikes: SpikesLike,
    *,
    progress: Progress = None,
    **options: Unpack[BurstsOptions],
) -> BurstResult:
    """Finds the bursts of units and of the network.

    Bursts of a unit are found by fixed intervals between its spikes (MaxInterval), or by an
    interval that is estimated for each unit (logISI); bursts of the network are times in which
    many units burst, as by ``spikeweave bursts`` on the command line.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    {options}

    Returns
    -------
    BurstResult

    {raises}

    Warns
    -----
    UserWarning
        As listed in `BurstResult.warnings`.

    References
    ----------
    E. Cotterill, P. Charlesworth, C. W. Thomas, O. Paulsen, S. J. Eglen, J. Neurophysiol. 116:306
    (2016); V. Pasquale, S. Martinoia, M. Chiappalone, J. Comput. Neurosci. 29:213 (2010).

    Examples
    --------
    >>> import spikeweave
    >>> trains = {unit: [0.02 * i + 10 * k for k in range(6) for i in range(5)] for unit in "abcd"}
    >>> found = spikeweave.bursts(trains)
    >>> found.units["bursts"].tolist()
    [6, 6, 6, 6]
    >>> found.network["begin"].tolist()
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    """
    sequence = SpikeSequence.of(spikes)
    names = sequence.unit_names
    with reporting(progress) as callback:
        found = _core.find_bursts(sequence._core, {**with_epochs(options), "progress": callback})
    whose = found["bursts"].pop("unit")
    return BurstResult(
        units={"unit": list(names), **found["units"]},
        network=found["network"],
        bursts={"unit": [names[unit] for unit in whose], **found["bursts"]},
        units_of_network=found["units_of_network"],
        **run_of(found, sequence),
    )
