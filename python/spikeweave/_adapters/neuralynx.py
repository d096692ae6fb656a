"""Gaps in recordings of Neuralynx (``.ncs``) that neo joins."""

from __future__ import annotations

from pathlib import Path

import numpy as np

_HEADER_BYTES = 16384
_RECORD = np.dtype(
    [
        ("stamp", "<u8"),
        ("channel", "<u4"),
        ("rate", "<u4"),
        ("valid", "<u4"),
        ("samples", "<i2", 512),
    ]
)
#: Neo begins a new segment at a gap that is longer than this part of a record.
_JOINED = 0.25 * 512


def warning_of_gaps(path: Path, rate: float) -> str | None:
    """The warning about gaps of a sample or more that are within segments, by a file's records."""
    count = (path.stat().st_size - _HEADER_BYTES) // _RECORD.itemsize
    if count < 2:
        return None
    records = np.memmap(path, _RECORD, "r", offset=_HEADER_BYTES, shape=(count,))
    stamps = records["stamp"].astype(np.int64)
    missing = np.diff(stamps) * (rate / 1e6) - records["valid"][:-1]
    gaps = np.flatnonzero((np.abs(missing) >= 1) & (np.abs(missing) <= _JOINED))
    if len(gaps) == 0:
        return None
    first = (stamps[gaps[0] + 1] - stamps[0]) / 1e6
    return (
        f"'{path.name}' has {len(gaps)} gaps of at most {_JOINED:.0f} samples, {first:.6g} s after "
        f"its beginning and later, of {np.sum(missing[gaps]) / rate:.3g} s in all. Times count the "
        "samples that are there, so that later spikes are too early by them."
    )
