"""Surrogates drawn from NumPy's global state in the order in which Elephant draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import neo
import numpy as np
import quantities as pq

from ._binning import Binned, Trains, bin_trains, from_pairs, number_in


def elephant_generators() -> ModuleType | None:
    """Return `elephant.spike_train_surrogates`, or None if Elephant is not installed."""
    try:
        from elephant import spike_train_surrogates
    except ImportError:
        return None
    return spike_train_surrogates


def is_plain_dithering(method: str, kwargs: dict[str, Any]) -> bool:
    """Return whether the default method is requested, which does not need Elephant."""
    return (
        method == "dither_spikes"
        and kwargs.keys() <= {"edges", "decimals", "refractory_period"}
        and not (kwargs.get("decimals") or kwargs.get("refractory_period"))
    )


def _dithered(
    spiketrains: Sequence[neo.SpikeTrain],
    bin_size: pq.Quantity,
    dither: pq.Quantity,
    edges: bool = True,
    **_: Any,
) -> Callable[[], Binned]:
    """Dither all trains at once like Elephant's uniform dithering, with its arithmetic.

    Train by train it draws the same random numbers from the state in the same order.
    """
    trains = Trains.of(spiketrains, bin_size)
    most = number_in(spiketrains[0].units, "dither", dither)

    def make() -> Binned:
        times = trains.times + 2 * most * np.random.random_sample(len(trains.times)) - most
        if edges:
            kept = (trains.start < times) & (times < trains.stop)
            return replace(trains, times=times[kept], units=trains.units[kept]).binned()
        return replace(trains, times=np.clip(times, trains.start, trains.stop)).binned()

    return make


def _shuffled_bins(
    made: ModuleType,
    trains: Sequence[neo.SpikeTrain],
    bin_size: pq.Quantity,
    dither: pq.Quantity,
    kwargs: dict[str, Any],
) -> Callable[[], Binned]:
    from elephant.conversion import BinnedSpikeTrain

    binned = [BinnedSpikeTrain(train, bin_size=bin_size, tolerance=None) for train in trains]
    displacement = int(dither.rescale(pq.ms).magnitude / bin_size.rescale(pq.ms).magnitude)

    def make() -> Binned:
        rows = [
            made.bin_shuffling(one, max_displacement=displacement, **kwargs)[0].to_bool_array()[0]
            for one in binned
        ]
        units, bins = np.nonzero(np.array(rows))
        return from_pairs(units, bins, len(rows), len(rows[0]))

    return make


def _one_by_one(
    made: ModuleType,
    trains: Sequence[neo.SpikeTrain],
    bin_size: pq.Quantity,
    dither: pq.Quantity,
    method: str,
    kwargs: dict[str, Any],
) -> Callable[[], Binned]:
    """Make a surrogate of each train, then bin them."""
    if method in ("joint_isi_dithering", "isi_dithering"):
        joint = [
            made.JointISI(train, dither=dither, isi_dithering=method == "isi_dithering", **kwargs)
            for train in trains
        ]
        return lambda: bin_trains([one.dithering()[0] for one in joint], bin_size)
    if method == "dither_spikes_with_refractory_period":
        return lambda: bin_trains(
            [
                made.dither_spikes(
                    train, dither=dither, n_surrogates=1, refractory_period=bin_size, **kwargs
                )[0]
                for train in trains
            ],
            bin_size,
        )
    return lambda: bin_trains(
        [
            made.surrogates(train, n_surrogates=1, method=method, dt=dither, **kwargs)[0]
            for train in trains
        ],
        bin_size,
    )


def elephant_surrogates(
    made: ModuleType | None,
    trains: Sequence[neo.SpikeTrain],
    bin_size: pq.Quantity,
    dither: pq.Quantity,
    method: str,
    number: int,
    kwargs: dict[str, Any],
) -> Iterator[Binned]:
    """Yield binned surrogates of all trains together; without `made`, only plain dithering."""
    if made is None or is_plain_dithering(method, kwargs):
        make = _dithered(trains, bin_size, dither, **kwargs)
    elif method == "bin_shuffling":
        make = _shuffled_bins(made, trains, bin_size, dither, kwargs)
    else:
        make = _one_by_one(made, trains, bin_size, dither, method, kwargs)
    for _ in range(number):
        yield make()


# Elephant's keywords for each method, and their names in the extension.
_JOINT = {
    "truncation_limit": "truncation_limit",
    "n_bins": "n_bins",
    "sigma": "sigma",
    "alternate": "alternate",
    "use_sqrt": "use_sqrt",
    "method": "steps",
    "cutoff": "cutoff",
    "refractory_period": "isi_refractory_period",
}
_KEYWORDS = {
    "dither_spikes": {"edges": "edges", "refractory_period": "refractory_period"},
    "dither_spikes_with_refractory_period": {},
    "dither_spike_train": {"edges": "edges"},
    "bin_shuffling": {"sliding": "sliding"},
    "trial_shifting": {"trial_length": "trial_length", "trial_separation": "trial_separation"},
    "joint_isi_dithering": _JOINT,
    "isi_dithering": _JOINT,
}


def own_arguments(
    bin_size: pq.Quantity, dither: pq.Quantity, method: str, kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of spikeweave's own generators.

    Raises
    ------
    TypeError
        For keywords that they do not accept.
    """
    known = _KEYWORDS.get(method, {})
    unknown = sorted(set(kwargs) - set(known))
    if unknown:
        raise TypeError(
            f"surr_kwargs: expected {', '.join(known) or 'none'} for {method}, found"
            f" {', '.join(unknown)}"
        )
    width_us = number_in(pq.us, "bin_size", bin_size)
    if abs(width_us - round(width_us)) > 1e-6:
        raise ValueError(
            "bin_size: expected whole microseconds, which are the clock of spikeweave's own"
            f" surrogates, found {bin_size}"
        )
    given = {known[name]: value for name, value in kwargs.items()}
    if given.get("steps") not in (None, "window", "fast"):
        raise ValueError(f"method: expected 'window' or 'fast', found {given['steps']!r}")
    if method == "dither_spikes" and given.get("refractory_period") is not None:
        method = "dither_spikes_with_refractory_period"
    return {"method": method, "dither": dither, "bin_size": bin_size, **given}
