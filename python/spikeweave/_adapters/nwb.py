"""NWB by pynwb, the library that defines it: the extension itself contains no HDF5."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from .._values.conversions import converts
from .._values.sort import SortResult
from .._values.spikes import SpikeSequence

_UNKNOWN_START = datetime(1970, 1, 1, tzinfo=timezone.utc)
_RESOLUTION = 1e-6
# Columns whose names differ between `units.tsv` and this table.
_OTHER_NAMES = {"rate_hz": "rate", "label": "quality", "reason": "label_reason"}
_NAME_COLUMN = "name of the unit as spikeweave knows it"


def load_pynwb() -> Any:
    try:
        import pynwb
    except ImportError:
        raise ImportError("NWB is read and written by pynwb: pip install pynwb") from None
    return pynwb


def read_units(path: Path) -> dict[str, Any]:
    """The table of units, in the form for ``_core.take_units``."""
    pynwb = load_pynwb()
    try:
        with pynwb.NWBHDF5IO(str(path), "r") as io:
            units = io.read().units
            found = None
            if units is not None and "spike_times" in units.colnames:
                found = _listed(units)
    except Exception as error:
        raise OSError(f"'{path}' is not an NWB file that pynwb reads: {error}") from error
    if found is None:
        raise OSError(f"'{path}': found no table of units with spike_times, expected one")
    return found


def _listed(units: Any) -> dict[str, Any]:
    ends = units["spike_times"]
    times = ends.target
    found: dict[str, Any] = {
        "times_s": np.ascontiguousarray(times.data[:], dtype=np.float64),
        "ends": np.ascontiguousarray(ends.data[:], dtype=np.uint64),
        "are_32_bit": getattr(times.data, "dtype", None) == np.float32,
        "ids": [str(number) for number in units.id[:]],
        "columns": {name: _texts(units, name) for name in _core.text_columns()},
    }
    if names := _texts(units, "unit_name"):
        found["names"] = names
    if "snr" in units.colnames:
        found["snr"] = [float(ratio) for ratio in units["snr"][:]]
    if "electrodes" in units.colnames:
        found["places"] = _places(units)
    if "obs_intervals" in units.colnames and len(units) > 0:
        found["observed_s"] = np.ravel(units.obs_intervals.data[:]).astype(float).tolist()
    return found


def _places(units: Any) -> list[tuple[float, float]]:
    """The mean position of the electrodes of each unit; not a number if it is not known."""
    ends = units["electrodes"]
    table = ends.target.table
    pair = next(
        (two for two in (("rel_x", "rel_y"), ("x", "y")) if {*two} <= {*table.colnames}), None
    )
    if pair is None:
        return []
    x, y = (np.asarray(table[name].data[:], dtype=float) for name in pair)
    parts = np.split(
        np.asarray(ends.target.data[:], dtype=int), np.asarray(ends.data[:], dtype=int)[:-1]
    )
    return [(x[part].mean(), y[part].mean()) if part.size else (np.nan, np.nan) for part in parts]


def _texts(units: Any, name: str) -> list[str]:
    """A column with a text for each unit; empty if it is not there or something else."""
    if name not in units.colnames:
        return []
    texts = units[name][:]
    if not all(isinstance(text, (str, bytes)) for text in texts):
        return []
    return [text_of(text) for text in texts]


def text_of(text: str | bytes) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)


def unit_names(units: Any) -> list[str]:
    """The names of the rows of a table of units: its column ``unit_name``, else its ids."""
    names = _texts(units, "unit_name")
    # Those of several probes may repeat; ids do not.
    if names and len(set(names)) == len(names):
        return names
    return [str(number) for number in units.id[:]]


def new_file() -> Any:
    """A `pynwb.NWBFile` without content."""
    import uuid

    return load_pynwb().NWBFile(
        session_description="Spikes. The start of the session is not known: 1970-01-01 is written "
        "instead, and times are seconds since then.",
        identifier=str(uuid.uuid4()),
        session_start_time=_UNKNOWN_START,
    )


def add_units(nwbfile: Any, spikes: SpikeSequence) -> None:
    """The table of units, as the command writes it."""
    nwbfile.add_unit_column("unit_name", _NAME_COLUMN)
    span = [[spikes.t_start, spikes.t_stop]]
    for name, train in zip(spikes.unit_names, spikes.trains(), strict=True):
        nwbfile.add_unit(spike_times=train, obs_intervals=span, unit_name=name)
    if spikes.unit_names:
        nwbfile.units.resolution = _RESOLUTION


def _aside(path: Path) -> Path:
    import uuid

    return path.with_name(f".{uuid.uuid4().hex}.{path.name}")


def save(path: Path, nwbfile: Any) -> None:
    """Writes aside and renames."""
    aside = _aside(path)
    try:
        with load_pynwb().NWBHDF5IO(str(aside), "w") as io:
            io.write(nwbfile)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def open_target(target: Any, overwrite: bool, append: bool) -> Iterator[Any]:
    """The `pynwb.NWBFile` to add to: `target` itself, or that of a path.

    The file at a path is written at the end of the context, whole or not at all: an error leaves an
    existing file unchanged.
    """
    if not isinstance(target, (str, os.PathLike)):
        if overwrite or append:
            name = "overwrite" if overwrite else "append"
            raise TypeError(f"{name}: is for paths, and target is a {type(target).__name__}")
        yield target
        return
    path = Path(target)
    if overwrite and append:
        raise ValueError("overwrite, append: expected one of them")
    if append:
        with _open_copy(path) as nwbfile:
            yield nwbfile
        return
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"'{path}' exists (overwrite=True replaces it, append=True adds to it)"
        )
    nwbfile = new_file()
    yield nwbfile
    save(path, nwbfile)


@contextmanager
def _open_copy(path: Path) -> Iterator[Any]:
    import shutil

    aside = _aside(path)
    pynwb = load_pynwb()
    try:
        shutil.copy2(path, aside)
        try:
            io = pynwb.NWBHDF5IO(str(aside), "a")
            nwbfile = io.read()
        except Exception as error:
            raise OSError(f"'{path}' is not an NWB file that pynwb reads: {error}") from error
        with io:
            yield nwbfile
            io.write(nwbfile)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@converts(SpikeSequence, "nwb")
def spikes_to_nwb(spikes: SpikeSequence, target: Any, overwrite: bool, append: bool) -> Any:
    """`SpikeSequence.to_nwb`."""
    return _units_to_nwb(spikes, {}, target, overwrite, append)


@converts(SortResult, "nwb")
def units_to_nwb(result: SortResult, target: Any, overwrite: bool, append: bool) -> Any:
    """`SortResult.to_nwb`."""
    columns = {_OTHER_NAMES.get(name, name): values for name, values in result.units.items()}
    del columns["spikes"]
    return _units_to_nwb(result._timed(), columns, target, overwrite, append)


def _explanations() -> dict[str, str]:
    """The columns of units, without the marks of code that pages and help texts have."""
    tables = {(command, file): columns for command, file, columns in _core.result_tables()}
    units = tables["sort", "units.tsv"]
    return {_OTHER_NAMES.get(name, name): text.replace("`", "") for name, text in units}


def _units_to_nwb(
    spikes: SpikeSequence,
    columns: dict[str, Any],
    target: Any,
    overwrite: bool,
    append: bool,
) -> Any:
    """Spikes as the table of units of a file or a path, with more columns."""
    with open_target(target, overwrite, append) as nwbfile:
        if nwbfile.units is not None:
            raise ValueError("target: expected a file without units, found a table of them")
        add_units(nwbfile, spikes)
        help_of = _explanations() if columns else {}
        for name, values in columns.items():
            nwbfile.add_unit_column(name, help_of.get(name, name), data=np.asarray(values))
    return nwbfile


def write_units(path: Path, spikes: SpikeSequence) -> None:
    """A file with the table of units alone."""
    nwbfile = new_file()
    add_units(nwbfile, spikes)
    save(path, nwbfile)


def add_table(nwbfile: Any, name: str, description: str, columns: Iterable[tuple]) -> Any:
    """A `DynamicTable` in the processing module ``ecephys``.

    Columns are (name, description, values), ragged ones (name, description, values, ends), and a
    fifth part True means that values are rows of the table of units.
    """
    from hdmf.common import DynamicTable, DynamicTableRegion, VectorData, VectorIndex

    if "ecephys" not in nwbfile.processing:
        nwbfile.create_processing_module("ecephys", "what was derived from the spikes")
    parts = []
    for column, text, values, *rest in columns:
        if len(rest) == 2 and rest[1]:
            data = DynamicTableRegion(
                name=column, description=text, data=values, table=nwbfile.units
            )
        else:
            data = VectorData(name=column, description=text, data=values)
        parts.append(data)
        if rest:
            parts.append(VectorIndex(name=f"{column}_index", data=rest[0], target=data))
    table = DynamicTable(name=name, description=description, columns=parts)
    nwbfile.processing["ecephys"].add(table)
    return table
