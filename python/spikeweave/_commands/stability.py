"""The similarity of two circuits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.circuit import Circuit
from .described import described

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import CircuitStabilityOptions


def _pairs(circuit: Circuit, numbers: dict[str, int]) -> NDArray[np.uint32]:
    names = circuit.unit_names
    ends = zip(circuit.source, circuit.target, circuit.kind, strict=True)
    rows = [
        (numbers[names[source]], numbers[names[target]])
        for source, target, kind in ends
        if kind == "direct"
    ]
    return np.array(rows, np.uint32).reshape(-1, 2)


@described(_core.circuit_stability_options)
def circuit_stability(
    before: Circuit, after: Circuit, **options: Unpack[CircuitStabilityOptions]
) -> dict[str, float]:
    """The similarity of two circuits beyond the roles of their units.

    Compared are the pairs of units with a direct edge, whatever its delay, as by ``spikeweave
    report --as series``. The similarity that the roles explain is the mean over circuits in which
    each unit keeps its numbers of incoming and outgoing edges of the circuit before.

    Parameters
    ----------
    before, after
        Circuits of results of `episodes`, such as of two days. Units are the same if they have the
        same name.
    {options}

    Returns
    -------
    dict
        ``before``, ``after``, ``common``: numbers of pairs; ``jaccard``, the share of common ones
        in all; ``jaccard_expected``, its mean by chance; ``stability``, (``jaccard`` -
        ``jaccard_expected``) / (1 - ``jaccard_expected``): 1 if both are the same, 0 if they have
        in common what chance explains, NaN if that is not known; and ``p`` of so many common ones
        or more by chance.

    {raises}

    References
    ----------
    L. Hubert and P. Arabie, Journal of Classification 2:193 (1985), for the correction for chance;
    S. Maslov and K. Sneppen, Science 296:910 (2002), for the random circuits.

    Examples
    --------
    >>> import spikeweave
    >>> days = [spikeweave.simulate.sym26(length="30s", seed=day).spikes for day in (1, 2)]
    >>> found = [spikeweave.episodes(day, delays="4-6ms", min_count=50) for day in days]
    >>> both = spikeweave.circuit_stability(found[0].circuit, found[1].circuit)
    >>> both["common"], round(both["stability"], 2)
    (10, 1.0)
    """
    for name, one in (("before", before), ("after", after)):
        if not isinstance(one, Circuit):
            raise TypeError(f"{name}: expected a Circuit, found {type(one)}")
    names = dict.fromkeys([*before.unit_names, *after.unit_names])
    numbers = {name: number for number, name in enumerate(names)}
    return _core.circuit_stability(_pairs(before, numbers), _pairs(after, numbers), {**options})
