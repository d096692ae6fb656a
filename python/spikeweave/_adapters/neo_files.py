"""Files of acquisition systems, which neo and SpikeInterface read."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .._values.recording import Recording
from . import maxwell, neuralynx, plexon
from .hdf5 import listed
from .pauses import choose_part, parts_of
from .spikeinterface import from_recording

#: The class of ``neo.rawio`` for files of spikes that spikeweave does not read itself.
SPIKES_BY_NEO = {
    ".nev": "BlackrockRawIO",
    ".nse": "NeuralynxRawIO",
    ".ntt": "NeuralynxRawIO",
    ".plx": "PlexonRawIO",
    ".nex": "NeuroExplorerRawIO",
    ".spikes": "OpenEphysRawIO",
}
#: The function of ``spikeinterface.extractors`` for recordings that spikeweave does not read.
RECORDINGS_BY_SPIKEINTERFACE = {
    **{f".ns{i}": "read_blackrock" for i in range(1, 7)},
    ".rhd": "read_intan",
    ".rhs": "read_intan",
    ".ncs": "read_neuralynx",
    ".brw": "read_biocam",
    ".raw.h5": "read_maxwell",
    ".plx": "read_plexon",
    ".rec": "read_spikegadgets",
}
_OF_FOLDERS = {"NeuralynxRawIO", "read_neuralynx"}
#: Streams with the signals of electrodes, beside those of other inputs.
_OF_ELECTRODES = {"RHD2000 amplifier channel", "RHS2000 amplifier channel", "trodes"}


def is_by_neo(path: Path) -> bool:
    """Whether only neo reads the spikes of a file of this name, or of a folder of such files."""
    return _named(path, SPIKES_BY_NEO) is not None or bool(_files_of_neuralynx(path))


def _files_of_neuralynx(folder: Path) -> list[str]:
    """The names of the files of spikes in a folder of Neuralynx, which have one clock."""
    if not folder.is_dir() or (folder / "params.py").exists():  # Phy's, beside the recording
        return []
    names = (path.name for path in folder.iterdir())
    return sorted(name for name in names if name.lower().endswith((".nse", ".ntt")))


def is_by_spikeinterface(path: Path) -> bool:
    """Whether only SpikeInterface reads a recording of this name."""
    return _named(path, RECORDINGS_BY_SPIKEINTERFACE) is not None


def _named(path: Path, readers: dict[str, str]) -> str | None:
    """The reader for the ending of the file's name."""
    name = path.name.lower()
    return next((reader for ending, reader in readers.items() if name.endswith(ending)), None)


def read_by_neo(path: Path) -> dict[str, Any]:
    """The units of a file that neo reads, by neo's names, in the form for ``_core.take_units``."""
    rawio = _load_rawio(path)
    try:
        reader = _reader_of(path, rawio)
        reader.parse_header()
        trains, span = _trains_of(reader)
    except Exception as error:  # of whatever kind a damaged file makes neo raise
        raise OSError(f"'{path}' is not a file that neo reads: {error}") from error
    if not trains:
        raise OSError(f"'{path}': found no units, expected some")
    labels = _labels_of(list(trains), type(reader).__name__)
    return {
        **listed(list(trains.values())),
        "names": list(trains),
        "columns": {"label": labels} if labels else {},
        "observed_s": list(span),
    }


def _labels_of(names: list[str], reader: str) -> list[str]:
    """Labels by the codes of units, with which the names end (``ch1#0``); empty without codes."""
    codes = [re.search(r"#(\d+)$", name) for name in names]
    if not all(codes):
        return []
    known = {0: "unsorted", 255: "noise"} if reader == "BlackrockRawIO" else {0: "unsorted"}
    return [known.get(int(code[1]), "sorted") for code in codes if code]


def _load_rawio(path: Path) -> Any:
    try:
        import neo.rawio
    except ImportError:
        raise ImportError(
            f"'{path.name}' is read by neo: pip install 'spikeweave[elephant]'"
        ) from None
    return neo.rawio


def _reader_of(path: Path, rawio: Any) -> Any:
    name = _named(path, SPIKES_BY_NEO) or ("NeuralynxRawIO" if _files_of_neuralynx(path) else None)
    reader = rawio.get_rawio(path) if name is None else getattr(rawio, name)
    if reader is None:
        raise ValueError("it knows no reader for this name, or several")
    if reader.__name__ == "NeuralynxRawIO":
        # The clock of the system, which the files of all electrodes share: without it, each would
        # begin at its own first spike.
        folder, names = (path.parent, [path.name]) if path.is_file() else (path, None)
        return reader(
            str(folder),
            include_filenames=names or _files_of_neuralynx(folder),
            keep_original_times=True,
        )
    if path.is_file() and reader.rawmode == "one-dir":
        return reader(str(path.parent))
    return reader(str(path))


def _trains_of(reader: Any) -> tuple[dict[str, np.ndarray], tuple[float, float]]:
    """The trains in seconds, and the span. Pauses divide a file into segments."""
    if reader.block_count() != 1:
        raise ValueError(f"found {reader.block_count()} blocks, expected 1")
    segments = range(reader.segment_count(0))
    try:
        begins = [float(reader.segment_t_start(0, segment)) for segment in segments]
        ends = [float(reader.segment_t_stop(0, segment)) for segment in segments]
    except LookupError:
        raise ValueError(
            "neo does not know when it begins; beside files of Open Ephys, their .continuous do"
        ) from None
    for segment in segments[1:]:
        if begins[segment] < ends[segment - 1]:
            raise ValueError(
                f"its clock was reset: segment {segment + 1} begins at {begins[segment]:g} s, and "
                f"the one before it ends at {ends[segment - 1]:g} s"
            )
    names = [str(name) for name in reader.header["spike_channels"]["name"]]
    if len(set(names)) < len(names):
        names = [str(name) for name in reader.header["spike_channels"]["id"]]
    trains = {}
    for index, name in enumerate(names):
        parts = [
            reader.rescale_spike_timestamp(
                reader.get_spike_timestamps(
                    block_index=0, seg_index=segment, spike_channel_index=index
                ),
                dtype="float64",
            )
            for segment in segments
        ]
        trains[name] = np.concatenate(parts) if parts else np.empty(0)
    firsts = [float(train.min()) for train in trains.values() if len(train)]
    lasts = [float(train.max()) for train in trains.values() if len(train)]
    return trains, (min([*begins, *firsts]), max([*ends, *lasts]))


def open_by_spikeinterface(path: Path, stream: str | None, segment: int | None) -> Recording:
    """A recording of a file that SpikeInterface reads."""
    name = _named(path, RECORDINGS_BY_SPIKEINTERFACE)
    if name is None:
        known = ", ".join(RECORDINGS_BY_SPIKEINTERFACE)
        raise OSError(f"'{path}': expected a name that ends in one of {known}")
    try:
        from spikeinterface import extractors
    except ImportError:
        raise ImportError(
            f"'{path.name}' is read by SpikeInterface: pip install 'spikeweave[spikeinterface]'"
        ) from None
    try:
        recording = _extracted(path, name, getattr(extractors, name), stream)
        if name == "read_plexon":
            plexon.correct(recording, path)
        part = choose_part(parts_of(recording, name), segment, path)
        again = (open_by_spikeinterface, (path, stream, segment))
        found = from_recording(part.recording, part.begin, again)
    except Exception as error:  # of whatever kind a damaged file makes SpikeInterface raise
        streams = [] if stream is not None else _streams_in(error)
        electrodes = [one for one in streams if one in _OF_ELECTRODES]
        if streams and not electrodes:
            raise OSError(f"'{path}' has several streams; `stream` is one of {streams}") from None
        if not electrodes:
            raise OSError(f"'{path}' cannot be read by SpikeInterface: {error}") from error
    else:
        warning = name == "read_neuralynx" and neuralynx.warning_of_gaps(path, found.sample_rate)
        if warning:
            warnings.warn(warning, stacklevel=4)
        return found
    return open_by_spikeinterface(path, electrodes[0], segment)


def _extracted(path: Path, name: str, read: Any, stream: str | None) -> Any:
    """The recording read by this function of SpikeInterface; its parts if samples are missing."""
    how: dict[str, Any] = {}
    place = path.parent if name in _OF_FOLDERS else path
    if name == "read_maxwell":
        how["install_maxwell_plugin"] = False  # native code from a server
        stream, how["rec_name"] = maxwell.well_and_recording(path, stream)
    if stream is not None:
        how["stream_name"] = stream
    if name == "read_blackrock" and "gap_tolerance_ms" in inspect.signature(read).parameters:
        how["gap_tolerance_ms"] = 0.0  # every gap ends a segment
    try:
        return read(place, **how)
    except Exception as error:
        if name == "read_intan" and "imestamps are not continuous" in str(error):
            return read(place, **how, ignore_integrity_checks=True)
        if name == "read_intan" and isinstance(error, KeyError):
            raise ValueError(
                f"the file with the samples of {error} (such as amplifier.dat) is missing beside it"
            ) from error
        raise


def _streams_in(error: Exception) -> list[str]:
    """The names in SpikeInterface's refusal to choose one of several streams."""
    found = re.search(r"`stream_names`: (\[.*\])", str(error))
    return [] if found is None else ast.literal_eval(found[1])
