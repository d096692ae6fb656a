"""Spikes as arrays, from which the library makes a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class SpikeArrays(NamedTuple):
    """The input from which the library makes a sequence."""

    times: NDArray[np.float64]  # seconds, in any order
    units: NDArray[np.uint32]  # indices into names
    names: list[str]
    t_start: float | None
    t_stop: float | None
    trial_column: str = ""  # a column of the input that numbers trials
    are_32_bit: bool = False  # whether the input has times of 32 bits

    def with_names(self, unit_names: Sequence[Any]) -> SpikeArrays:
        """The same spikes; there may be more names than units so far, not fewer."""
        names = [str(name) for name in unit_names]
        if len(names) < len(self.names):
            raise ValueError(f"unit_names: found {len(names)}, expected {len(self.names)}")
        return self._replace(names=names)


def joined(
    trains: Sequence[NDArray[np.float64]],
    names: Sequence[str],
    t_start: float | None = None,
    t_stop: float | None = None,
    *,
    are_32_bit: bool = False,
) -> SpikeArrays:
    """The spikes of trains, one train a unit."""
    sizes = [len(train) for train in trains]
    times = np.concatenate(trains) if trains else np.empty(0)
    units = np.repeat(np.arange(len(trains), dtype=np.uint32), sizes)
    return SpikeArrays(times, units, list(names), t_start, t_stop, are_32_bit=are_32_bit)
