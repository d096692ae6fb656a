"""Spikes that are given in pieces, in the order of their times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._values.spike_arrays import SpikeArrays
from .arrays import from_labels


def unit_names_of(name: str, names: Iterable[Any]) -> list[str]:
    """The names of units, all different."""
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise TypeError(f"{name}: expected a list of names, found {names!r}")
    found = [str(one) for one in names]
    if len(set(found)) < len(found):
        raise ValueError(f"{name}: expected names that are all different, found {found}")
    return found


def ordered_spikes(times: ArrayLike, units: ArrayLike, names: Sequence[str]) -> SpikeArrays:
    """Spikes of units that are given by their indices; ValueError unless times never decrease."""
    spikes = from_labels(times, units, names)
    falls = np.flatnonzero(~(spikes.times[1:] >= spikes.times[:-1]))
    if len(falls):
        at = int(falls[0])
        raise ValueError(
            f"spikes: times: expected that they never decrease, found {spikes.times[at + 1]:g} s "
            f"after {spikes.times[at]:g} s"
        )
    return spikes
