"""What results of all kinds have in their documents."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.spikes import SpikeSequence


def numbers_of(text: str) -> NDArray[np.int64]:
    """Numbers in base64 of LEB128."""
    coded = np.frombuffer(base64.b64decode(text), np.uint8)
    last = np.flatnonzero(coded < 128)
    first = np.concatenate([[0], last[:-1] + 1])[: len(last)].astype(np.int64)
    place = np.arange(len(coded)) - np.repeat(first, last - first + 1)
    values = (coded & 127).astype(np.uint64) << (7 * place).astype(np.uint64)
    return np.add.reduceat(values, first).astype(np.int64) if len(first) else np.empty(0, np.int64)


def spikes_of(document: dict[str, Any]) -> SpikeSequence:
    coded = document["spikes"]
    times = np.cumsum(numbers_of(coded["steps_us"])) + coded["begin_us"]
    epochs = coded.get("epochs_us")
    core, _, _ = _core.make_spikes(
        times / 1e6,
        numbers_of(coded["units"]).astype(np.uint32),
        document["unit_names"],
        coded["begin_us"] / 1e6,
        coded["end_us"] / 1e6,
    )
    return SpikeSequence._from_core(
        core if epochs is None else core.with_epochs(np.ravel(epochs) / 1e6)
    )


def recorded_of(run: dict[str, Any], resolve: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """The facts that results of all kinds take from the record of their run."""
    asked = {
        name: value if isinstance(value, (bool, str)) else json.dumps(value)
        for name, value in run["parameters"].items()
        if value is not None
    }
    return {
        "parameters": resolve(asked),
        "seconds": run["seconds"],
        "warnings": run["input"]["warnings"],
        "version": run["spikeweave"],
    }


def floats_of(values: list[Any]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)
