"""Files of recordings."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from .. import _core
from .._values.arguments import given
from .._values.recording import Recording
from .._values.types import RecordingFormat
from .files import check_readable, is_hdf5
from .hdf5 import is_mcs_file
from .mcs import open_mcs
from .neo_files import is_by_spikeinterface, open_by_spikeinterface
from .nwb_recording import open_series

#: The start of messages from the library's own readers.
_NO_POSITIONS = "No positions of the channels were found: they are put on a line, 20 um apart."


def read_recording(
    path: str | os.PathLike[str],
    *,
    format: RecordingFormat = "auto",
    sample_rate: float | None = None,
    channels: int | None = None,
    gain: float | None = None,
    header_bytes: int | None = None,
    probe: str | os.PathLike[str] | None = None,
    stream: str | None = None,
    segment: int | None = None,
) -> Recording:
    """Opens a recording; only its description is read.

    Parameters
    ----------
    path
        SpikeGLX ``.bin``, an Open Ephys folder, SpikeInterface's binary folder, NWB 2 with an
        ElectricalSeries (by pynwb, which has to be installed), or raw int16 samples. Files of
        Blackrock (``.ns1`` to ``.ns6``), Intan (``.rhd``, ``.rhs``), Neuralynx (a ``.ncs`` stands
        for its folder), Plexon (``.plx``), 3Brain (``.brw``), MaxWell (``.raw.h5``) and
        SpikeGadgets (``.rec``) are read by SpikeInterface, which has to be installed, and those of
        Multi Channel DataManager (``.h5``) by h5py.
    format
        ``"spikeglx"``, ``"open-ephys"``, ``"binary"``, ``"nwb"``, ``"raw"`` or
        ``"spikeinterface"``; ``"auto"`` detects it from the ending of the
        name, then from the content.
    sample_rate, channels, gain, header_bytes
        For raw samples: sample rate in Hz, number of channels, microvolts per count, position of
        the first sample in the file. With a rate or a number of channels, a file is read as raw
        samples.
    probe
        Channel positions: a probeinterface file (JSON), used instead of those in the recording.
        Channels without a contact are left out, with a warning.
    stream
        Stream to read if there are several; of Intan and SpikeGadgets the electrodes by default.
        For MaxWell the well, and, if it was recorded several times, the recording:
        ``"well000/rec0001"``; for Multi Channel DataManager ``"Stream_0"``, likewise.
    segment
        Part to read, counted from 0, of a recording of an acquisition system that was paused or has
        gaps. `Recording.t_start` is where it begins.

    Returns
    -------
    Recording

    Raises
    ------
    FileNotFoundError, PermissionError
        If the file is missing or may not be read.
    OSError
        Naming the file, what was found and what was expected.
    ValueError
        If options do not fit the format.

    Warns
    -----
    UserWarning
        If the recording has likely problems.
    """
    options = given(
        sample_rate=sample_rate,
        channels=channels,
        gain=gain,
        header_bytes=header_bytes,
        probe=None if probe is None else str(probe),
    )
    found = _opened(str(path), format, stream, segment, options)
    said = list(found._core.warnings)
    if not found._core.has_positions and _NO_POSITIONS not in said:
        said.append(_NO_POSITIONS)
    for warning in said:
        warnings.warn(f"{path}: {warning}", stacklevel=2)
    return found


def _opened(
    path: str, format: str, stream: str | None, segment: int | None, options: dict[str, Any]
) -> Recording:
    check_readable(Path(path))
    again = (_opened, (path, format, stream, segment, options))
    by_spikeinterface = (
        format == "auto"
        and not options.keys() & {"sample_rate", "channels"}
        and Path(path).is_file()
        and is_by_spikeinterface(Path(path))
    )
    by_pynwb = format == "nwb" or (
        format == "auto" and Path(path).is_file() and is_hdf5(Path(path))
    )
    if not (format == "spikeinterface" or by_spikeinterface or by_pynwb):
        if segment not in (None, 0):
            raise ValueError(f"segment: '{Path(path).name}' has one segment, found {segment}")
        how = {**options, **given(format=format, stream=stream)}
        return Recording(_core.read_recording(path, how), again=again)
    refused = options.keys() - {"probe"}
    if refused:
        raise ValueError(f"{sorted(refused)[0]}: '{Path(path).name}' states this itself")
    if format == "spikeinterface" or by_spikeinterface:
        found = open_by_spikeinterface(Path(path), stream, segment)
    elif format == "auto" and is_mcs_file(Path(path)):
        found = open_mcs(Path(path), stream, segment)
    elif segment not in (None, 0):
        raise ValueError(f"segment: '{Path(path).name}' has one segment, found {segment}")
    else:
        core, times = open_series(Path(path), stream)
        found = Recording(core, times=times)
    core = found._core.with_probe(options["probe"]) if "probe" in options else found._core
    return Recording(core, times=found._times, again=again)
