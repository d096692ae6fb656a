"""Groups of spike trains of pynapple, recognised by their methods."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._values.conversions import converts
from .._values.spike_arrays import SpikeArrays, joined
from .._values.spikes import SpikeSequence


def is_group(spikes: Any) -> bool:
    """Whether it is a ``TsGroup``."""
    return hasattr(spikes, "time_support") and hasattr(spikes, "keys")


def from_group(group: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    """Spikes of a ``TsGroup``, in the span of its whole time support."""
    support = group.time_support
    if len(support) > 1:
        warnings.warn(
            f"The time support of the group has {len(support)} epochs with gaps between them; "
            "the recorded span is all from the first to the last "
            "(spade(..., epochs=group.time_support) mines the epochs alone).",
            stacklevel=3,
        )
    trains = [np.asarray(group[key].index, dtype=np.float64) for key in group]
    names = [str(key) for key in group]
    if "unit_name" in getattr(group, "metadata_columns", ()):
        given = [str(name) for name in group["unit_name"]]
        names = given if len(set(given)) == len(given) else names
    bounds = (
        (float(np.min(support.start)), float(np.max(support.end))) if len(support) else (None, None)
    )
    return joined(trains, names, *bounds)


@converts(SpikeSequence, "pynapple")
def to_pynapple(spikes: SpikeSequence) -> Any:
    """A ``TsGroup`` whose keys are the indices of the units."""
    try:
        import pynapple
    except ImportError:
        raise ImportError("to_pynapple() makes a pynapple TsGroup: pip install pynapple") from None
    # Without a length there is no support that could hold the spikes.
    support = (
        pynapple.IntervalSet(spikes.t_start, spikes.t_stop)
        if spikes.t_start < spikes.t_stop
        else None
    )
    return pynapple.TsGroup(
        {i: pynapple.Ts(train, time_support=support) for i, train in enumerate(spikes.trains())},
        time_support=support,
        metadata={"unit_name": np.asarray(spikes.unit_names)},
    )
