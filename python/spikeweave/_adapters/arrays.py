"""Spikes as arrays: pairs, compressed rows, mappings and lists of trains."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.arrays import array
from .._values.spike_arrays import SpikeArrays, joined
from .neo import from_neo, is_train


def is_32_bit(times: Any) -> bool:
    """Whether these are real numbers of 32 bits."""
    return getattr(times, "dtype", None) == np.float32


def is_mapping(spikes: Any) -> bool:
    """A mapping from names to trains, or to ``times`` and ``units`` or ``offsets``."""
    return isinstance(spikes, Mapping)


def is_pair(spikes: Any) -> bool:
    """``(times, units)`` or ``(times, offsets)``; two neo trains are a list of trains."""
    return isinstance(spikes, tuple) and len(spikes) == 2 and not is_train(spikes[0])


def is_iterable(spikes: Any) -> bool:
    """A list of trains; a text is iterable, but not of trains."""
    return isinstance(spikes, Iterable) and not isinstance(spikes, (str, bytes))


def from_trains(spikes: Iterable[Any], unit_names: Sequence[str] | None) -> SpikeArrays:
    """A list of arrays, or of `neo.SpikeTrain`."""
    if isinstance(spikes, np.ndarray) and spikes.ndim != 1:
        raise TypeError(f"spikes: found one array of shape {spikes.shape}, expected (times, units)")
    trains = list(spikes)
    if trains and all(is_train(train) for train in trains):
        return from_neo(trains)
    numbers = [array(f"spikes: train {i}", train, np.float64) for i, train in enumerate(trains)]
    names = [str(i) for i in range(len(trains))]
    return joined(numbers, names, are_32_bit=any(map(is_32_bit, trains)))


def from_mapping(spikes: Mapping, unit_names: Sequence[str] | None) -> SpikeArrays:
    """The methods by which `is_mapping` recognises a mapping."""
    if set(spikes) == {"times", "units"}:
        return from_labels(spikes["times"], spikes["units"], unit_names)
    if set(spikes) == {"times", "offsets"}:
        return _from_rows(spikes["times"], spikes["offsets"])
    trains = [array(f"spikes: {name!r}", train, np.float64) for name, train in spikes.items()]
    names = [str(name) for name in spikes]
    return joined(trains, names, are_32_bit=any(map(is_32_bit, spikes.values())))


def from_pair(pair: tuple[Any, Any], unit_names: Sequence[str] | None) -> SpikeArrays:
    """The parts by which `is_pair` recognises a pair."""
    first, second = pair
    if np.ndim(first) == 1 and np.ndim(second) == 1 and len(first) != len(second):
        offsets = np.asarray(second)
        if offsets.dtype.kind in "iu" and len(offsets) and offsets[0] == 0:
            return _from_rows(first, offsets)
        raise ValueError(
            f"spikes: found {len(first)} times and {len(second)} units, expected equal numbers"
        )
    found = from_labels(first, second, unit_names)
    if unit_names is None and _could_be_trains(first, second):
        warnings.warn(
            "A pair is (times, units), and each unit of this one has a single spike; two trains "
            "are a list, [train, train].",
            stacklevel=3,
        )
    return found


def _could_be_trains(times: Any, units: Any) -> bool:
    """Whether both rise as the times of a train do: then each label occurs once."""

    def rises(values: Any) -> bool:
        values = np.asarray(values)
        return values.dtype.kind in "iuf" and bool(np.all(np.diff(values.astype(float)) > 0))

    return len(times) > 1 and rises(times) and rises(units)


def from_labels(times: Any, units: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    """Times, and the number or label of the unit of each."""
    coarse = is_32_bit(times)
    times = array("spikes: times", times, np.float64)
    if hasattr(units, "rescale") or isinstance(units, np.ma.MaskedArray):
        raise TypeError(f"spikes: units: expected labels, found {type(units).__name__}")
    labels = np.asarray(units)
    if labels.shape != times.shape:
        raise ValueError(
            f"spikes: found {times.shape} times and {labels.shape} units, expected equal numbers"
        )
    if labels.dtype.kind == "f":
        if not np.array_equal(labels, np.floor(labels)):
            raise ValueError("spikes: units: expected whole numbers or labels, found fractions")
        labels = labels.astype(np.int64)
    if unit_names is None:
        return SpikeArrays(times, *_numbered(labels), None, None, are_32_bit=coarse)
    if labels.dtype.kind not in "iu":
        raise TypeError("spikes: units: expected indices into unit_names, found labels")
    if len(labels) and not 0 <= labels.min() <= labels.max() < len(unit_names):
        raise ValueError(
            f"spikes: units: expected indices from 0 to {len(unit_names) - 1}, "
            f"found {labels.min()} to {labels.max()}"
        )
    names = [str(n) for n in unit_names]
    return SpikeArrays(times, labels.astype(np.uint32), names, None, None, are_32_bit=coarse)


def _numbered(labels: NDArray[Any]) -> tuple[NDArray[np.uint32], list[str]]:
    """Labels as indices, and the label of each index: numbers by size, texts naturally."""
    if labels.dtype.kind in "iu":
        found, index = np.unique(labels, return_inverse=True)
        return index.astype(np.uint32), [str(label) for label in found]
    texts, index = np.unique([str(label) for label in labels], return_inverse=True)
    order = np.asarray(_core.natural_order(texts.tolist()), dtype=np.int64)
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order))
    return rank[index], texts[order].tolist()


def _from_rows(times: Any, offsets: Any) -> SpikeArrays:
    coarse = is_32_bit(times)
    times = array("spikes: times", times, np.float64)
    offsets = np.asarray(offsets)
    rises = offsets.dtype.kind in "iu" and offsets.ndim == 1 and len(offsets) > 0
    if not (
        rises and offsets[0] == 0 and offsets[-1] == len(times) and np.all(np.diff(offsets) >= 0)
    ):
        raise ValueError(f"spikes: offsets: expected whole numbers rising from 0 to {len(times)}")
    units = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint32), np.diff(offsets))
    names = [str(i) for i in range(len(offsets) - 1)]
    return SpikeArrays(times, units, names, None, None, are_32_bit=coarse)
