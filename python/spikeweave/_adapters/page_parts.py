"""What the pages of all kinds of results have. docs/formats.md describes their data."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._values.spikes import SpikeSequence

#: As many rows as a page of the command lists.
LISTED = 10_000


def varints(values: NDArray[Any]) -> str:
    """Numbers of seven bits a byte, the lowest first (LEB128), in base64."""
    values = values.astype(np.uint64)
    shifts = np.arange(0, 64, 7, dtype=np.uint64)
    groups = (values[:, None] >> shifts) & np.uint64(127)
    more = (values[:, None] >> shifts) > np.uint64(127)
    used = np.concatenate([np.ones((len(values), 1), bool), more[:, :-1]], axis=1)
    return base64.b64encode((groups | (more * np.uint64(128))).astype(np.uint8)[used]).decode()


def digits(values: Any) -> list[float | None]:
    """Six digits, as in the tables of the command; null if not finite."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]


def spikes_of(
    times: NDArray[np.int64],
    units: NDArray[np.uint32],
    begin: int,
    end: int,
    epochs: NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """Spikes in their order, all times in microseconds, and the epochs that they are of."""
    spikes = {
        "number": len(times),
        "begin_us": begin,
        "end_us": end,
        "steps_us": varints(np.diff(times, prepend=begin)),
        "units": varints(units),
    }
    if epochs is not None:
        spikes["epochs_us"] = np.rint(1e6 * epochs).astype(np.int64).tolist()
    return spikes


def spikes_in(sequence: SpikeSequence) -> dict[str, Any]:
    """Those of a sequence, with its span."""
    begin, end = round(1e6 * sequence.t_start), round(1e6 * sequence.t_stop)
    return spikes_of(sequence.times_us, sequence.units, begin, end, sequence.epochs)


def milliseconds(seconds: Any) -> list[float]:
    """Times that are whole microseconds."""
    return [round(1e6 * time) / 1000 for time in seconds]


def intervals_ms(intervals: NDArray[np.float64]) -> list[list[float]]:
    """Delay intervals [number, 2] in seconds."""
    return [milliseconds(interval) for interval in intervals]


def call_of(name: str, asked: dict[str, Any]) -> str:
    """The call that repeats a run."""
    given = ", ".join(f"{one}={value!r}" for one, value in asked.items() if value is not None)
    return f"spikeweave.{name}, {given})"


def document_of(kind: str, data: dict[str, Any]) -> str:
    """The data of a page, as it has them."""
    document = {"format": "spikeweave page", "version": 1, "kind": kind, **data}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str)
