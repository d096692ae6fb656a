"""Files of spikes."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import _core
from .._values.arguments import given
from .._values.spikes import SpikeSequence
from .._values.types import SpikeFormat, SpikesLike, Time
from .hdf5 import read_hdf5
from .neo_files import is_by_neo, read_by_neo
from .nwb import write_units
from .progress import Progress, reporting

_OF_HDF5 = ("nwb", "kwik", "eglen")
_HDF5_MARK = b"\x89HDF\r\n\x1a\n"


def read(
    path: str | os.PathLike[str],
    *,
    format: SpikeFormat = "auto",
    time_unit: str | None = None,
    allow_negative: bool = False,
    labels: str | Sequence[str] | None = None,
    only_units: str | Sequence[str] | None = None,
    drop_duplicates_of_units: bool = False,
    drop_synchronous: int | None = None,
    synchrony_window: Time = 3.4e-05,
    max_rate: float | None = None,
    min_snr: float | None = None,
    groups: str | os.PathLike[str] | None = None,
    group_window: Time = 0.0,
    layout: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> SpikeSequence:
    """Reads spikes.

    Delimited text (also gzip), ``.npy``, ``.npz`` (also pynapple's), Phy folders, KlustaKwik's
    ``.res`` with ``.clu``, MEABench ``.spike``, Wagenaar's ``.spk.txt``, folders of ALF and of
    spikes of Open Ephys, NWB 2 with a table of units (by pynwb, which has to be installed), and
    ``.kwik``, the cultures of Eglen et al. 2014 and spikes of Multi Channel DataManager (``.h5``;
    by h5py). docs/formats.md has each byte by byte. Files of Blackrock (``.nev``), Neuralynx
    (``.nse``, ``.ntt``, or a folder of them, which have one clock), Open Ephys (``.spikes``),
    Plexon (``.plx``) and NeuroExplorer (``.nex``) are read by neo, which has to be installed.

    Parameters
    ----------
    path
        A file, or a folder of Phy, ALF, Open Ephys or Neuralynx.
    format
        Format of the file: ``"text"``, ``"wagenaar"``, ``"meabench"``, ``"npy"``, ``"npz"``,
        ``"phy"``, ``"klustakwik"``, ``"nwb"``, ``"alf"``, ``"open-ephys"``, ``"kwik"`` or
        ``"eglen"``, or ``"neo"`` for whatever neo reads; ``"auto"`` detects it from the ending of
        the name, then from the content. The command also reads ``"session"``, what `spikeweave
        live` recorded.
    time_unit
        Unit of the times in text and npy files: ``"s"``, ``"ms"``, ``"us"``, ``"ns"`` or
        ``"samples:RATE"``.
        By default as stated in the file, else seconds.
    allow_negative
        Accept times before zero; otherwise they are an error, because they are usually mistakes.
    labels
        Use only units with these labels, such as ``["good", "mua"]`` or ``"good,mua"``; ``"all"``
        uses every unit. By default, if units are labelled good or mua, those labelled good, with a
        warning; else all but noise. Phy folders (``cluster_group.tsv``, else those of the sorter),
        NWB files (columns ``quality``, ``label`` and the like), ``.kwik``, files with unit codes of
        an acquisition system (``unsorted``, ``sorted``, ``noise``) and what `sort` writes have
        labels. Units without one are ``unsorted``.
    only_units
        Use only these units, such as ``["3", "17"]`` or ``"3,17"``, except those that other
        options leave out; also groups, and wells of a plate, such as ``"B1"`` for ``"B1_11"``.
    drop_duplicates_of_units
        Leave out units that repeat the spikes of another, with a warning for each
        (`SpikeSequence.drop_duplicates_of_units`).
    drop_synchronous
        Leave out moments at which at least this many units fire, with a warning
        (`SpikeSequence.clean`).
    synchrony_window
        Spikes no further apart than this are of one moment. The default is a sample at 30 kHz.
    max_rate
        Leave out units with a higher mean rate in hertz, with a warning. The rate is that of the
        spikes that remain in the whole time of the file, whichever epochs are searched later.
    min_snr
        Leave out units with a lower signal-to-noise ratio, which the file must have: a column
        ``snr`` in a ``cluster_*.tsv`` of a Phy folder, or of the table of units of an NWB file.
    groups
        Take units as one: a file with a unit and its group on each line (`SpikeSequence.grouped`).
        A group keeps its other units if some are left out, with a warning.
    group_window
        Do not count a spike that is no later than this after the last counted one of its group.
    layout
        Where the units are: a file with a unit, x and y in micrometres on each line. By default as
        the file states, or the names of electrodes of an array (`SpikeSequence.positions`).
    progress
        True, False, or a function of (task, done, total). By default a bar on a terminal.

    Returns
    -------
    SpikeSequence
        Its `SpikeSequence.stimulus_times` are the stimulus markers of the file.

    Raises
    ------
    FileNotFoundError, PermissionError
        If the file is missing or may not be read.
    OSError
        Naming the file, the line or record, what was found and what was expected.

    Warns
    -----
    UserWarning
        If there are likely data problems or spikes are dropped.

    Examples
    --------
    >>> import spikeweave, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "spikes.tsv"
    >>> _ = file.write_text("time_s\\tunit\\n0.5\\tA\\n0.25\\tB\\n")
    >>> spikeweave.read(file)
    <SpikeSequence: 2 spikes of 2 units, 0.25 s to 0.5 s>
    """
    path = Path(path)
    check_readable(path)
    listed = _listed(path, format)
    if listed is not None and time_unit is not None:
        raise ValueError(f"time_unit: '{path.name}' states the unit of its times itself")
    with reporting(progress) as callback:
        how = given(
            time_unit=time_unit,
            allow_negative=allow_negative,
            labels=_joined(labels),
            only_units=_joined(only_units),
            drop_duplicates_of_units=drop_duplicates_of_units,
            drop_synchronous=drop_synchronous,
            synchrony_window=synchrony_window,
            max_rate=max_rate,
            min_snr=min_snr,
            groups=None if groups is None else str(groups),
            group_window=group_window,
            layout=None if layout is None else str(layout),
            progress=callback,
        )
        if listed is None:
            file = _core.read_spikes(str(path), {"format": format, **how})
        else:
            file = _core.take_units(str(path), listed, how)
    for warning in file["warnings"]:
        warnings.warn(f"{path}: {warning}", stacklevel=2)
    return SpikeSequence._from_core(file["spikes"], file["stimulus"], file["spikes"].places)


def _listed(path: Path, format: SpikeFormat) -> dict[str, Any] | None:
    """The units of a file that other packages read, in the form for ``_core.take_units``."""
    if format == "neo" or (format == "auto" and is_by_neo(path)):
        return read_by_neo(path)
    if format in _OF_HDF5 or (format == "auto" and is_hdf5(path)):
        return read_hdf5(path)
    return None


def _joined(names: str | Sequence[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)


def write(
    path: str | os.PathLike[str],
    spikes: SpikesLike,
    *,
    overwrite: bool = False,
    progress: Progress = None,
) -> None:
    """Writes spikes to a file, atomically.

    Parameters
    ----------
    path
        The extension selects the format: ``.tsv``, ``.txt`` or ``.csv`` (also with ``.gz``),
        ``.npz``, or ``.nwb``, also as ``.h5`` (by pynwb, which has to be installed).
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    overwrite
        Replace an existing file.
    progress
        As in `read`.

    Raises
    ------
    FileExistsError
        If the file exists and may not be replaced.
    FileNotFoundError
        If its folder does not exist.
    OSError
        If it cannot be written.
    ValueError
        If the extension is not supported for writing.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise FileExistsError(f"'{path}' exists (overwrite=True replaces it)")
    os.stat(path.parent)
    sequence = SpikeSequence.of(spikes)
    if path.suffix in (".nwb", ".h5"):
        write_units(path, sequence)
        return
    with reporting(progress) as callback:
        _core.write_spikes(str(path), sequence._core, callback)


def is_path(value: object) -> bool:
    """Whether it is the path of a file."""
    return isinstance(value, (str, os.PathLike))


def check_readable(path: Path) -> None:
    """FileNotFoundError, PermissionError or another OSError of the system for a path that cannot be
    read. Opens nothing, since a pipe can be opened once."""
    os.stat(path)
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def is_hdf5(path: os.PathLike[str]) -> bool:
    """Whether a file begins as HDF5 does."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_HDF5_MARK)) == _HDF5_MARK
    except OSError:
        return False
