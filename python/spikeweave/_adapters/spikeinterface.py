"""Sortings and recordings of SpikeInterface, recognised by their methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.channels import COUNT_UV, as_counts, channel_list
from .._values.conversions import converts
from .._values.recording import Recording
from .._values.sort import SortResult
from .._values.spike_arrays import SpikeArrays, joined
from .._values.spikes import SpikeSequence

#: The count of 0 V where counts have no sign, as in files of Intan.
MIDDLE = 2**15


def load_spikeinterface() -> Any:
    """The package, or an ImportError with how to install it."""
    try:
        import spikeinterface
    except ImportError:
        raise ImportError(
            "spikeweave.spikeinterface works with SpikeInterface: "
            "pip install 'spikeweave[spikeinterface]'"
        ) from None
    return spikeinterface


def is_sorting(spikes: Any) -> bool:
    """Whether it is a ``BaseSorting``."""
    return hasattr(spikes, "get_unit_spike_train") and hasattr(spikes, "get_sampling_frequency")


def from_sorting(sorting: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    """Spikes of a ``BaseSorting`` of one segment."""
    if sorting.get_num_segments() != 1:
        raise ValueError(
            f"spikes: the sorting has {sorting.get_num_segments()} segments, expected 1 "
            "(spikeinterface.select_segment_sorting(sorting, [0]) takes one out)"
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
        return joined(trains, names)
    ends = np.asarray([0, sorting.get_num_samples(segment_index=0) - 1])
    first, last = (float(time) for time in sorting.sample_index_to_time(ends, segment_index=0))
    end = last + 1 / float(sorting.get_sampling_frequency())
    return joined(trains, names, first, max(end, _last_spike(trains, names, end)))


def _last_spike(trains: list[NDArray[np.float64]], names: list[str], end: float) -> float:
    """The time of the last spike; a warning if it is after the end of the recording."""
    late = {name: train[train > end] for name, train in zip(names, trains, strict=True)}
    late = {name: train for name, train in late.items() if len(train)}
    if late:
        first = next(iter(late))
        warnings.warn(
            f"{sum(map(len, late.values()))} spikes of {len(late)} units, such as unit {first}, "
            f"are after the end of the recording that is registered, {end:g} s, and are kept "
            "(spikeinterface.curation.remove_excess_spikes leaves them out).",
            stacklevel=5,
        )
    return max((float(train.max()) for train in late.values()), default=end)


@converts(SpikeSequence, "spikeinterface")
def to_sorting(spikes: SpikeSequence, sampling_frequency: float) -> Any:
    """A ``NumpySorting`` whose samples are the nearest to the times."""
    try:
        from spikeinterface import NumpySorting
    except ImportError:
        raise ImportError(
            "to_spikeinterface() makes a SpikeInterface sorting: pip install spikeinterface"
        ) from None
    if len(spikes) and spikes.times_us[0] < 0:
        raise ValueError(
            f"spikes: expected none before time 0, which would be before the first sample, "
            f"found {spikes.times[0]:g} s"
        )
    samples = np.rint(spikes.times * float(sampling_frequency)).astype(np.int64)
    return NumpySorting.from_samples_and_labels(
        [samples],
        [np.asarray(spikes.unit_names)[spikes.units]],
        float(sampling_frequency),
        unit_ids=np.asarray(spikes.unit_names),
    )


@converts(SortResult, "spikeinterface")
def result_to_sorting(result: SortResult) -> Any:
    """A ``NumpySorting`` of the units, in samples of the recording."""
    si = load_spikeinterface()
    if result.samples is None or result.sample_rate is None:
        raise ValueError("the samples of these spikes are not known")
    kept = result.labels > 0
    sorting = si.NumpySorting.from_samples_and_labels(
        [result.samples[kept]],
        [result.labels[kept].astype(np.int64)],
        result.sample_rate,
        unit_ids=np.arange(1, result.unit_count + 1),
    )
    for name, values in result.units.items():
        if name != "spikes":
            sorting.set_property(name, values)
    sorting.annotate(spikeweave_version=result.version, spikeweave_parameters=result.parameters)
    return sorting


def is_recording(recording: Any) -> bool:
    """Whether it is a ``BaseRecording``."""
    return hasattr(recording, "get_traces") and hasattr(recording, "get_sampling_frequency")


def _times_of(recording: Any) -> NDArray[np.float64] | float:
    if recording.has_time_vector(segment_index=0):
        return np.asarray(recording.get_times(segment_index=0), dtype=np.float64)
    return float(recording.get_start_time(segment_index=0) or 0.0)


def from_recording(
    recording: Any,
    known_times: NDArray[np.float64] | float | None = None,
    again: tuple[Callable[..., Recording], tuple[Any, ...]] | None = None,
) -> Recording:
    """A ``BaseRecording`` of one segment, read as it is needed.

    `known_times`: those of a recording that was pickled, which SpikeInterface leaves behind.
    `again`: what opens the file of the recording once more, if it is not SpikeInterface alone.
    """
    if recording.get_num_segments() != 1:
        raise ValueError(
            f"recording: it has {recording.get_num_segments()} segments, expected 1 "
            "(recording.select_segments([0]) takes the first)"
        )
    times = known_times if known_times is not None else _times_of(recording)
    count = recording.get_num_channels()
    dtype = np.dtype(recording.get_dtype())
    try:
        positions = np.asarray(recording.get_channel_locations())[:, :2]
    except Exception:  # without a probe, whatever kind of exception reports it
        positions = None
    gains = recording.get_channel_gains() if dtype.kind != "f" else None
    offsets = recording.get_channel_offsets() if dtype.kind != "f" else None
    scaled = dtype.kind == "f" and recording.has_scaleable_traces()
    is_from_middle = (
        gains is not None and offsets is not None and bool(np.allclose(offsets, -MIDDLE * gains))
    )
    if is_from_middle:
        # The same microvolts: SpikeInterface may have subtracted the middle from the counts.
        offsets = 0.0
    is_unsigned = is_from_middle and dtype == np.uint16
    channels = channel_list(
        count,
        COUNT_UV if dtype.kind == "f" else 1.0 if gains is None else gains,
        0.0 if offsets is None else offsets,
        positions,
        recording.get_property("group"),
        [str(name) for name in recording.get_channel_ids()],
    )

    def get(begin: int, end: int) -> NDArray[Any]:
        traces = recording.get_traces(
            segment_index=0, start_frame=begin, end_frame=end, return_in_uV=scaled
        )
        return (traces ^ np.uint16(MIDDLE)).view(np.int16) if is_unsigned else traces

    core = _core.recording_of(
        as_counts(np.dtype(np.int16) if is_unsigned else dtype, get),
        recording.get_num_samples(),
        channels,
        float(recording.get_sampling_frequency()),
        positions is not None,
        float(np.ravel(times)[0]),
    )
    uneven = None if isinstance(times, float) else times
    return Recording(core, times=uneven, again=again or (from_recording, (recording, times)))
