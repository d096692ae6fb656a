"""Files of Multi Channel DataManager (HDF5): ``/Data/Recording_N/TYPEStream/Stream_N``.

Their maker describes them in the documentation of McsPyDataTools. SpikeInterface also reads their
samples, but with the factor of the first channel for all, and a wrong offset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.channels import as_counts, channel_list
from .._values.recording import Recording
from .nwb import text_of
from .pauses import Part, choose_part

#: Times and sampling intervals are of this many seconds.
_TICK_S = 1e-6


def is_mcs(file: Any) -> bool:
    """Whether an open file of HDF5 is of this kind."""
    return "Data" in file and any(name.startswith("Recording_") for name in file["Data"])


def read_spikes(file: Any) -> dict[str, Any]:
    """The units of the spikes that were detected while or after it was recorded, in the form for
    ``_core.take_units``.

    Time stamps of spikes are used, or where there are none the times of their cutouts.
    """
    recordings = _numbered(file["Data"], "Recording")
    if len(recordings) != 1:
        raise ValueError(
            f"it has {len(recordings)} recordings ({', '.join(recordings)}), expected 1: export "
            "each into a file of its own"
        )
    recording = next(iter(recordings.values()))
    streams = _streams(recording, "TimeStampStream", "NeuralSpike")
    entities: Callable[[Any], Iterator[tuple[str, int, Any, float]]] = _stamped
    if not streams:
        streams, entities = _streams(recording, "SegmentStream", "Spike"), _cut_out
    if not streams:
        raise ValueError(
            "it has no detected spikes (a TimeStampStream of NeuralSpike, or a SegmentStream of "
            "Spike)" + ("; spikeweave.sort finds them in it" if "AnalogStream" in recording else "")
        )
    units: dict[str, NDArray[np.float64]] = {}
    for name, stream in streams.items():
        found = list(entities(stream))
        labels = [label for label, _, _, _ in found]
        for label, number, data, unit_s in found:
            unit = label if labels.count(label) == 1 and label else f"{label}#{number}"
            times = _list(data, f"{stream.name}, entity {number}") * unit_s
            units[unit if len(streams) == 1 else f"{name}/{unit}"] = times
    times_s = np.concatenate([np.empty(0), *units.values()])
    out: dict[str, Any] = {
        "times_s": times_s,
        "ends": np.cumsum([len(train) for train in units.values()], dtype=np.uint64),
        "are_32_bit": False,
        "names": list(units),
        "columns": {},
    }
    end = _end_of(recording)
    if end is not None and len(times_s):
        out["observed_s"] = [min(0.0, float(times_s.min())), max(end, float(times_s.max()))]
    return out


def open_mcs(path: Path, stream: str | None, segment: int | None) -> Recording:
    """The samples of a stream of electrodes, read as they are needed."""
    import h5py

    file = h5py.File(path)
    try:
        group = _chosen_stream(file, stream)
        part = choose_part(_parts_of(group), segment, path)
        core = _recording_of(group, part)
    except Exception as error:  # of whatever kind a damaged file makes h5py raise
        file.close()
        raise OSError(f"'{path}' cannot be read: {error}") from error
    return Recording(core, again=(open_mcs, (path, stream, segment)))


def _numbered(group: Any, kind: str) -> dict[str, Any]:
    """The groups KIND_N, in the order of their numbers."""
    numbers = {int(name[len(kind) + 1 :]) for name in group if re.fullmatch(f"{kind}_[0-9]+", name)}
    return {f"{kind}_{number}": group[f"{kind}_{number}"] for number in sorted(numbers)}


def _streams(recording: Any, kind: str, subtype: str) -> dict[str, Any]:
    found = _numbered(recording[kind], "Stream") if kind in recording else {}
    return {
        name: stream
        for name, stream in found.items()
        if text_of(stream.attrs.get("DataSubType", subtype)).strip() == subtype
    }


def _stamped(stream: Any) -> Iterator[tuple[str, int, Any, float]]:
    """The label, number, times, and their unit in seconds, of each entity of a TimeStampStream."""
    for info in stream["InfoTimeStamp"][...]:
        number, unit = int(info["TimeStampEntityID"]), _text(info["Unit"])
        exponent = int(info["Exponent"])
        if unit != "s" or not -12 <= exponent <= 3:
            raise ValueError(
                f"{stream.name}/InfoTimeStamp, entity {number}: found times in 1e{exponent} "
                f"{unit!r}, expected powers of ten of s"
            )
        label = _text(info["Label"]) or _text(info["SourceChannelLabels"])
        # An entity without spikes has no list.
        yield label, number, stream.get(f"TimeStampEntity_{number}"), 10.0**exponent


def _cut_out(stream: Any) -> Iterator[tuple[str, int, Any, float]]:
    """The same of a SegmentStream."""
    channels = {
        int(info["ChannelID"]): _text(info["Label"]) for info in stream["SourceInfoChannel"][...]
    }
    for info in stream["InfoSegment"][...]:
        number = int(info["SegmentID"])
        sources = [int(one) for one in _text(info["SourceChannelIDs"]).split(",")]
        label = _text(info["Label"]) or ",".join(channels.get(one, str(one)) for one in sources)
        yield label, number, stream.get(f"SegmentData_ts_{number}"), _TICK_S


def _list(data: Any, what: str) -> NDArray[np.float64]:
    """The numbers of a list, which these files store as a row."""
    if data is None:
        return np.empty(0)
    if data.dtype.kind not in "iu" or (data.ndim > 0 and data.size not in (0, max(data.shape))):
        raise ValueError(
            f"{what}: found {data.dtype} of shape {data.shape}, expected a row of whole numbers"
        )
    return np.asarray(data[...], dtype=np.float64).ravel()


def _end_of(recording: Any) -> float | None:
    """The length in seconds; None if it does not begin at 0, or does not state where it begins."""
    begin, length = (recording.attrs.get(name) for name in ("TimeStamp", "Duration"))
    if begin is None or length is None or int(np.ravel(begin)[0]) != 0:
        return None
    return float(np.ravel(length)[0]) * _TICK_S


def _text(value: Any) -> str:
    return text_of(value).strip()


def _chosen_stream(file: Any, wanted: str | None) -> Any:
    recordings = _numbered(file["Data"], "Recording")
    found = {
        name if len(recordings) == 1 else f"{recording}/{name}": stream
        for recording, group in recordings.items()
        for name, stream in _streams(group, "AnalogStream", "Electrode").items()
    }
    if not found:
        raise ValueError("it has no samples of electrodes (an AnalogStream of Electrode)")
    if wanted is None and len(found) == 1:
        return next(iter(found.values()))
    if wanted in found:
        return found[wanted]
    listed = [f"{name} ({_text(stream.attrs.get('Label', ''))})" for name, stream in found.items()]
    raise ValueError(
        f"it has several streams; `stream` is one of {', '.join(listed)}"
        + ("" if wanted is None else f", found '{wanted}'")
    )


def _parts_of(stream: Any) -> list[Part]:
    """The parts between gaps; frames of each are its `recording`."""
    ticks = np.unique(stream["InfoChannel"]["Tick"])
    if len(ticks) != 1 or ticks[0] <= 0:
        raise ValueError(f"{stream.name}/InfoChannel: found ticks {ticks.tolist()}, expected one")
    rows = np.asarray(stream["ChannelDataTimeStamps"][...], dtype=np.int64)
    count = stream["ChannelData"].shape[1]
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ValueError(
            f"{stream.name}/ChannelDataTimeStamps: found shape {rows.shape}, expected rows of 3"
        )
    for _, first, last in rows:
        if not 0 <= first <= last < count:
            raise ValueError(
                f"{stream.name}/ChannelDataTimeStamps: found samples {first} to {last} of {count}"
            )
    step = float(ticks[0]) * _TICK_S
    return [
        Part((int(first), int(last) + 1), begin * _TICK_S, (last - first + 1) * step)
        for begin, first, last in rows.tolist()
    ]


def _recording_of(stream: Any, part: Part) -> Any:
    data, info = stream["ChannelData"], stream["InfoChannel"][...]
    rows = info["RowIndex"].astype(int)
    if data.dtype.kind not in "iu" or sorted(rows) != list(range(data.shape[0])):
        raise ValueError(
            f"{stream.name}: found {data.dtype} of {data.shape[0]} rows for channels in rows "
            f"{sorted(rows.tolist())}, expected whole numbers and a row for each channel"
        )
    units = {_text(unit) for unit in info["Unit"]}
    if units != {"V"}:
        raise ValueError(f"{stream.name}/InfoChannel: found units {sorted(units)}, expected V")
    gain = info["ConversionFactor"] * 10.0 ** (info["Exponent"].astype(float) + 6)
    zero = info["ADZero"].astype(np.int64)
    names = [_text(label) for label in info["Label"]]
    if len(set(names)) < len(names):
        names = [str(number) for number in info["ChannelID"]]
    first, end = part.recording

    def get(begin: int, stop: int) -> NDArray[Any]:
        samples = data[:, first + begin : first + stop].T
        return samples[:, rows].astype(np.int64) - zero

    return _core.recording_of(
        as_counts(np.dtype(np.int64), get),
        end - first,
        channel_list(len(rows), gain, 0.0, None, None, names),
        1e6 / float(info["Tick"][0]),
        False,
        part.begin,
    )
