"""Pauses and gaps of recordings that SpikeInterface reads: the parts between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Part(NamedTuple):
    """Samples without a gap: frames of a segment of a SpikeInterface recording."""

    recording: Any
    #: In seconds, by the clock of the recording system.
    begin: float
    length: float


def parts_of(recording: Any, reader: str) -> list[Part]:
    """The parts of a recording; `reader` is SpikeInterface's function for it.

    Neo makes a segment of each part where pauses are in the file's own order; in other files, the
    numbers of samples show them.
    """
    rate = float(recording.get_sampling_frequency())
    # Times of Neuralynx count from the first sample by neo, and by the system's clock in all files.
    clock = float(recording.neo_reader.global_t_start) if reader == "read_neuralynx" else 0.0
    if recording.get_num_segments() > 1:
        segments = [
            recording.select_segments([index]) for index in range(recording.get_num_segments())
        ]
        return [
            Part(one, clock + float(one.get_start_time(0) or 0.0), one.get_num_samples(0) / rate)
            for one in segments
        ]
    numbers = _NUMBERS[reader](recording) if reader in _NUMBERS else None
    if numbers is None or len(numbers) == 0:
        begin = clock + float(recording.get_start_time(0) or 0.0)
        return [Part(recording, begin, recording.get_num_samples(0) / rate)]
    begins = [0, *(_ends_of_parts(numbers) + 1)]
    ends = [*begins[1:], recording.get_num_samples(0)]
    return [
        Part(
            recording.frame_slice(start_frame=int(begin), end_frame=int(end)),
            int(numbers[begin]) / rate,
            float(end - begin) / rate,
        )
        for begin, end in zip(begins, ends, strict=True)
    ]


def choose_part(parts: list[Part], segment: int | None, path: Path) -> Part:
    """The part that `segment` names, or the only one.

    Raises
    ------
    ValueError
        Listing the parts if the choice is not unique.
    """
    if segment is None and len(parts) == 1:
        return parts[0]
    if segment is not None and 0 <= segment < len(parts):
        return parts[segment]
    most = 10
    listed = "; ".join(
        f"{index}: {part.length:.6g} s from {part.begin:.6g} s"
        for index, part in enumerate(parts[:most])
    )
    more = f"; and {len(parts) - most} more" if len(parts) > most else ""
    if segment is None:
        raise ValueError(
            f"it was paused or has gaps, and consists of {len(parts)} parts: name one with "
            f"`segment` ({listed}{more})"
        )
    raise ValueError(f"it has no segment {segment}, but {listed}{more}")


def _ends_of_parts(numbers: Any) -> NDArray[np.int64]:
    """The last sample of each part but the last, by the numbers of all samples."""
    count = len(numbers)
    if count == 0 or int(numbers[count - 1]) - int(numbers[0]) == count - 1:
        return np.empty(0, np.int64)  # not read: there is one for each sample of hours
    block = 2**20
    found = [
        begin
        + np.flatnonzero(np.diff(np.asarray(numbers[begin : begin + block + 1], np.int64)) != 1)
        for begin in range(0, count - 1, block)
    ]
    return np.concatenate(found)


def _numbers_of_intan(recording: Any) -> Any:
    return recording.neo_reader.get_intan_timestamps()


def _numbers_of_spikegadgets(recording: Any) -> Any:
    reader = recording.neo_reader
    packets = reader._raw_memmap
    at = reader._timestamp_byte
    return np.ndarray(len(packets), "<u4", buffer=packets, offset=at, strides=(packets.strides[0],))


def _numbers_of_maxwell(recording: Any) -> Any:
    reader = recording.neo_reader
    name = f"wells/{recording.stream_id}/{reader.rec_name}/groups/routed/frame_nos"
    return reader.h5_file.get(name)


_NUMBERS = {
    "read_intan": _numbers_of_intan,
    "read_spikegadgets": _numbers_of_spikegadgets,
    "read_maxwell": _numbers_of_maxwell,
}
