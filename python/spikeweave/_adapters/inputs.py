"""Spikes as others have them, recognised by what they can do: none of them has to be installed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.arrays import array, numbers
from .._values.spikes import SpikeSequence

_EPOCH_COLUMNS = (("start", "end"), ("start_time", "stop_time"))
_TIME_COLUMNS = ("time", "times", "time_s")
_UNIT_COLUMNS = ("unit", "units")


class SpikeArrays(NamedTuple):
    """What the library makes a sequence of."""

    times: NDArray[np.float64]  # seconds, in any order
    units: NDArray[np.uint32]  # indices into names
    names: list[str]
    t_start: float | None
    t_stop: float | None


def arrays_of(spikes: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    """`SpikeSequence.of` says what is accepted."""
    found = _recognise(spikes, unit_names)
    if unit_names is None:
        return found
    names = [str(name) for name in unit_names]
    if len(names) < len(found.names):
        raise ValueError(f"unit_names: found {len(names)}, expected {len(found.names)}")
    return found._replace(names=names)


def _recognise(spikes: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    if isinstance(spikes, SpikeSequence):
        stated = spikes._core.has_recorded_span
        return SpikeArrays(
            spikes.times,
            spikes.units,
            spikes.unit_names,
            spikes.t_start if stated else None,
            spikes.t_stop if stated else None,
        )
    if hasattr(spikes, "to_sparse_bool_array"):
        return _from_binned(spikes)
    if hasattr(spikes, "get_unit_spike_train") and hasattr(spikes, "get_sampling_frequency"):
        return _from_spikeinterface(spikes)
    if hasattr(spikes, "time_support") and hasattr(spikes, "keys"):
        return _from_pynapple(spikes)
    if hasattr(spikes, "spiketrains"):
        return _from_segment(spikes)
    if is_table(spikes):
        return _from_table(spikes, unit_names)
    if isinstance(spikes, Mapping):
        return _from_mapping(spikes, unit_names)
    if isinstance(spikes, tuple) and len(spikes) == 2 and not _is_neo(spikes[0]):
        return _from_pair(*spikes, unit_names)
    if _is_neo(spikes):
        raise TypeError("spikes: found one neo.SpikeTrain, expected a list of them")
    if isinstance(spikes, np.ndarray) and spikes.ndim != 1:
        raise TypeError(f"spikes: found one array of shape {spikes.shape}, expected (times, units)")
    if isinstance(spikes, (str, bytes)) or not isinstance(spikes, Iterable):
        raise TypeError(f"spikes: found {type(spikes)}, expected what SpikeSequence.of lists")
    return _from_trains(list(spikes))


def is_table(value: Any) -> bool:
    """Whether it has columns with names, as a data frame has."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__")


def epochs_of(epochs: Any) -> Any:
    """Begins and ends, of which `spade` says what is accepted, as a list of pairs."""
    if epochs is None:
        return None
    if is_table(epochs):
        for begin, end in _EPOCH_COLUMNS:
            if begin in epochs.columns and end in epochs.columns:
                return _pairs(epochs[begin], epochs[end])
        raise TypeError(
            "epochs: expected a table with columns start and end, or start_time and stop_time, "
            f"found {[str(name) for name in epochs.columns]}"
        )
    if hasattr(epochs, "start") and hasattr(epochs, "end"):
        return _pairs(epochs.start, epochs.end)
    if hasattr(epochs, "durations") and hasattr(epochs, "times"):
        return _pairs(epochs.times, epochs.times + epochs.durations)
    return epochs


def _pairs(begins: Any, ends: Any) -> list[tuple[float, float]]:
    columns = (np.atleast_1d(numbers("epochs", ends_)).tolist() for ends_ in (begins, ends))
    return list(zip(*columns, strict=True))


def _is_neo(train: Any) -> bool:
    return hasattr(train, "rescale") and hasattr(train, "t_stop")


def _joined(
    trains: Sequence[NDArray[np.float64]],
    names: Sequence[str],
    t_start: float | None = None,
    t_stop: float | None = None,
) -> SpikeArrays:
    sizes = [len(train) for train in trains]
    times = np.concatenate(trains) if trains else np.empty(0)
    units = np.repeat(np.arange(len(trains), dtype=np.uint32), sizes)
    return SpikeArrays(times, units, list(names), t_start, t_stop)


def _from_trains(trains: list[Any]) -> SpikeArrays:
    if trains and all(_is_neo(train) for train in trains):
        return _from_neo(trains)
    numbers = [array(f"spikes: train {i}", train, np.float64) for i, train in enumerate(trains)]
    return _joined(numbers, [str(i) for i in range(len(trains))])


def _from_neo(trains: list[Any]) -> SpikeArrays:
    def seconds(what: str, quantity: Any) -> Any:
        try:
            return np.asarray(quantity.rescale("s").magnitude, dtype=np.float64)
        except ValueError as error:
            raise ValueError(f"spikes: {what} is no time: {error}") from None

    times = [seconds(f"train {i}", train) for i, train in enumerate(trains)]
    names = [train.name for train in trains]
    if None in names or "" in names or len(set(names)) < len(names):
        names = [str(i) for i in range(len(trains))]
    return _joined(
        times,
        names,
        min(float(seconds("t_start", train.t_start)) for train in trains),
        max(float(seconds("t_stop", train.t_stop)) for train in trains),
    )


def _from_binned(binned: Any) -> SpikeArrays:
    matrix = binned.to_sparse_bool_array().tocsr()
    counted = int(binned.sparse_matrix.sum())
    shared = counted - matrix.count_nonzero()
    if shared:
        warnings.warn(
            f"{shared} of {counted} spikes share a bin with another of their unit, and count once.",
            stacklevel=5,
        )
    start = float(binned.t_start.rescale("s"))
    bin_size = float(binned.bin_size.rescale("s"))
    trains = [
        start + bin_size * np.sort(matrix.indices[begin:end])
        for begin, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]
    names = [str(i) for i in range(len(trains))]
    return _joined(trains, names, start, start + bin_size * matrix.shape[1])


def _from_spikeinterface(sorting: Any) -> SpikeArrays:
    if sorting.get_num_segments() != 1:
        raise ValueError(
            f"spikes: the sorting has {sorting.get_num_segments()} segments, expected 1 "
            "(sorting.select_segments takes one out)"
        )
    # SpikeInterface's own times: they count from where a recording that is registered begins.
    trains = [
        np.asarray(
            sorting.get_unit_spike_train(unit, segment_index=0, return_times=True), dtype=float
        )
        for unit in sorting.unit_ids
    ]
    names = [str(unit) for unit in sorting.unit_ids]
    if not sorting.has_recording():
        return _joined(trains, names)
    ends = np.asarray([0, sorting.get_num_samples(segment_index=0) - 1])
    first, last = (float(time) for time in sorting.sample_index_to_time(ends, segment_index=0))
    return _joined(trains, names, first, last + 1 / float(sorting.get_sampling_frequency()))


def _from_segment(segment: Any) -> SpikeArrays:
    trains = list(segment.spiketrains)
    if not trains:
        raise ValueError("spikes: found a neo Segment without spike trains")
    return _from_neo(trains)


def _from_table(table: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    found = {str(name): name for name in table.columns}
    times = [found[name] for name in _TIME_COLUMNS if name in found]
    units = [found[name] for name in _UNIT_COLUMNS if name in found]
    if len(times) != 1 or len(units) != 1:
        raise TypeError(
            "spikes: expected a table with a column time and a column unit, "
            f"found columns {list(found)}"
        )
    return _from_labels(np.asarray(table[times[0]]), np.asarray(table[units[0]]), unit_names)


def _from_pynapple(group: Any) -> SpikeArrays:
    support = group.time_support
    if len(support) > 1:
        warnings.warn(
            f"The time support of the group has {len(support)} epochs with gaps between them; "
            "the recorded span is all from the first to the last "
            "(spade(..., epochs=group.time_support) mines the epochs alone).",
            stacklevel=5,
        )
    trains = [np.asarray(group[key].index, dtype=np.float64) for key in group]
    names = [str(key) for key in group]
    if "unit_name" in getattr(group, "metadata_columns", ()):
        given = [str(name) for name in group["unit_name"]]
        names = given if len(set(given)) == len(given) else names
    bounds = (
        (float(np.min(support.start)), float(np.max(support.end))) if len(support) else (None, None)
    )
    return _joined(trains, names, *bounds)


def _from_mapping(spikes: Mapping, unit_names: Sequence[str] | None) -> SpikeArrays:
    if set(spikes) == {"times", "units"}:
        return _from_labels(spikes["times"], spikes["units"], unit_names)
    if set(spikes) == {"times", "offsets"}:
        return _from_rows(spikes["times"], spikes["offsets"])
    trains = [array(f"spikes: {name!r}", train, np.float64) for name, train in spikes.items()]
    return _joined(trains, [str(name) for name in spikes])


def _from_pair(first: Any, second: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    if np.ndim(first) == 1 and np.ndim(second) == 1 and len(first) != len(second):
        offsets = np.asarray(second)
        if offsets.dtype.kind in "iu" and len(offsets) and offsets[0] == 0:
            return _from_rows(first, offsets)
        raise ValueError(
            f"spikes: found {len(first)} times and {len(second)} units, expected as many"
        )
    found = _from_labels(first, second, unit_names)
    if unit_names is None and _could_be_trains(first, second):
        warnings.warn(
            "A pair is (times, units), and each unit of this one has a single spike; two trains "
            "are a list, [train, train].",
            stacklevel=5,
        )
    return found


def _could_be_trains(times: Any, units: Any) -> bool:
    """Whether both rise as the times of a train do: then each label occurs once."""

    def rises(values: Any) -> bool:
        values = np.asarray(values)
        return values.dtype.kind in "iuf" and bool(np.all(np.diff(values.astype(float)) > 0))

    return len(times) > 1 and rises(times) and rises(units)


def _from_labels(times: Any, units: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    times = array("spikes: times", times, np.float64)
    if hasattr(units, "rescale") or isinstance(units, np.ma.MaskedArray):
        raise TypeError(f"spikes: units: expected labels, found {type(units).__name__}")
    labels = np.asarray(units)
    if labels.shape != times.shape:
        raise ValueError(
            f"spikes: found {times.shape} times and {labels.shape} units, expected as many"
        )
    if labels.dtype.kind == "f":
        if not np.array_equal(labels, np.floor(labels)):
            raise ValueError("spikes: units: expected whole numbers or labels, found fractions")
        labels = labels.astype(np.int64)
    if unit_names is None:
        return SpikeArrays(times, *_numbered(labels), None, None)
    if labels.dtype.kind not in "iu":
        raise TypeError("spikes: units: expected indices into unit_names, found labels")
    if len(labels) and not 0 <= labels.min() <= labels.max() < len(unit_names):
        raise ValueError(
            f"spikes: units: expected indices from 0 to {len(unit_names) - 1}, "
            f"found {labels.min()} to {labels.max()}"
        )
    return SpikeArrays(times, labels.astype(np.uint32), [str(n) for n in unit_names], None, None)


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
    times = array("spikes: times", times, np.float64)
    offsets = np.asarray(offsets)
    rises = offsets.dtype.kind in "iu" and offsets.ndim == 1 and len(offsets) > 0
    if not (
        rises and offsets[0] == 0 and offsets[-1] == len(times) and np.all(np.diff(offsets) >= 0)
    ):
        raise ValueError(f"spikes: offsets: expected whole numbers rising from 0 to {len(times)}")
    units = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint32), np.diff(offsets))
    return SpikeArrays(times, units, [str(i) for i in range(len(offsets) - 1)], None, None)
