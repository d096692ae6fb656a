"""The ElectricalSeries of NWB files, by pynwb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.channels import COUNT_UV, as_counts, channel_list
from .nwb import load_pynwb


def open_series(path: Path, name: str | None) -> tuple[Any, NDArray[np.float64] | None]:
    """A recording that reads the series as it is needed, and the times of its samples in seconds if
    the file has them; the file stays open as long."""
    pynwb = load_pynwb()
    try:
        io = pynwb.NWBHDF5IO(str(path), "r")
        nwbfile = io.read()
    except Exception as error:
        raise OSError(f"'{path}' is not an NWB file that pynwb reads: {error}") from error
    found = {
        key: series
        for key, series in nwbfile.acquisition.items()
        if isinstance(series, pynwb.ecephys.ElectricalSeries)
    }
    if not found or (name is not None and name not in found):
        io.close()
        raise OSError(
            f"'{path}': found {sorted(found) or 'no'} ElectricalSeries in acquisition, "
            f"expected {name or 'one'}"
        )
    if name is None and len(found) > 1:
        io.close()
        raise OSError(f"'{path}' has several streams: {sorted(found)}, expected stream=NAME")
    series = found[name] if name is not None else next(iter(found.values()))
    try:
        return _recording_of(series, io)
    except ValueError as error:
        io.close()
        raise OSError(f"'{path}': {error}") from None


def _recording_of(series: Any, io: Any) -> tuple[Any, NDArray[np.float64] | None]:
    data = series.data
    count = data.shape[1]
    electrodes = series.electrodes.to_dataframe()
    if len(electrodes) != count:
        raise ValueError(
            f"'{series.name}': found {len(electrodes)} electrodes, expected {count}, one a column "
            "of data"
        )
    positions = None
    for pair in (("rel_x", "rel_y"), ("x", "y")):
        if set(pair) <= set(electrodes.columns):
            positions = electrodes[list(pair)].to_numpy(dtype=float)
            break
    shanks = None
    if "group_name" in electrodes.columns:
        shanks = np.unique(electrodes["group_name"].astype(str), return_inverse=True)[1]
    factor = 1.0 if series.channel_conversion is None else np.asarray(series.channel_conversion[:])
    microvolts = 1e6
    is_float = data.dtype.kind == "f"
    scale = series.conversion * factor * microvolts
    rate, begin, times = _clock_of(series)

    def get(begin: int, end: int) -> NDArray[Any]:
        # Held here so that the file stays open.
        assert io is not None
        samples = np.asarray(data[begin:end])
        return samples * scale if is_float else samples

    channels = channel_list(
        count,
        COUNT_UV if is_float else scale,
        0.0 if is_float else series.offset * microvolts,
        positions,
        shanks,
        None,
    )
    core = _core.recording_of(
        as_counts(data.dtype, get), data.shape[0], channels, rate, positions is not None, begin
    )
    return core, times


def _clock_of(series: Any) -> tuple[float, float, NDArray[np.float64] | None]:
    """The rate, the time of the first sample, and the times of all if they need not be even; the
    rate is then that without gaps."""
    if series.rate is not None:
        return float(series.rate), float(series.starting_time or 0.0), None
    stamps = np.asarray(series.timestamps, dtype=np.float64)
    steps = np.diff(stamps)
    if len(steps) == 0 or not np.all(steps > 0):
        raise ValueError(f"'{series.name}': expected timestamps that increase")
    rate = 1 / float(np.mean(steps[steps < 1.5 * np.median(steps)]))
    return rate, float(stamps[0]), stamps
