"""Spike trains of neo, recognised by their methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .._values.conversions import converts
from .._values.spike_arrays import SpikeArrays, joined
from .._values.spikes import SpikeSequence


def is_train(train: Any) -> bool:
    """Whether it is a `neo.SpikeTrain`."""
    return hasattr(train, "rescale") and hasattr(train, "t_stop")


def refuse_train(train: Any, unit_names: Sequence[str] | None) -> NoReturn:
    """One train, where a list of them is expected."""
    raise TypeError("spikes: found one neo.SpikeTrain, expected a list of them")


def is_segment(spikes: Any) -> bool:
    """Whether it is a neo ``Segment``."""
    return hasattr(spikes, "spiketrains")


def from_segment(segment: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    """The spike trains of a neo ``Segment``."""
    trains = list(segment.spiketrains)
    if not trains:
        raise ValueError("spikes: found a neo Segment without spike trains")
    return from_neo(trains)


def from_neo(trains: list[Any]) -> SpikeArrays:
    """Spikes of a list of `neo.SpikeTrain`."""

    def seconds(what: str, quantity: Any) -> Any:
        try:
            return np.asarray(quantity.rescale("s").magnitude, dtype=np.float64)
        except ValueError as error:
            raise ValueError(f"spikes: {what} is not a time: {error}") from None

    times = [seconds(f"train {i}", train) for i, train in enumerate(trains)]
    names = [train.name for train in trains]
    if None in names or "" in names or len(set(names)) < len(names):
        names = [str(i) for i in range(len(trains))]
    return joined(
        times,
        names,
        min(float(seconds("t_start", train.t_start)) for train in trains),
        max(float(seconds("t_stop", train.t_stop)) for train in trains),
        are_32_bit=any(train.dtype == np.float32 for train in trains),
    )


@converts(SpikeSequence, "neo")
def to_neo(spikes: SpikeSequence, t_start: float, t_stop: float) -> list[Any]:
    """A `neo.SpikeTrain` for each unit, from `t_start` to `t_stop` in seconds."""
    import neo

    return [
        neo.SpikeTrain(train, units="s", t_start=t_start, t_stop=t_stop, name=name)
        for name, train in zip(spikes.unit_names, spikes.trains(), strict=True)
    ]
