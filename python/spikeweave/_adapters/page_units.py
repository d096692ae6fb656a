"""The page of a sorting."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import _core
from .._values.conversions import converts
from .._values.sort import SortResult
from .page_parts import call_of, digits

#: The figures of a unit that a page has.
_QUALITY = (
    "l_ratio",
    "isolation_distance",
    "refractory_violations",
    "contamination",
    "snr",
    "presence_ratio",
    "firing_range",
    "amplitude_median",
    "amplitude_cv",
    "amplitude_cutoff",
    "separation",
)


def _quality(found: SortResult) -> dict[str, Any]:
    """The units that have spikes."""
    there = np.flatnonzero(found.units["spikes"] > 0)
    columns: dict[str, Any] = {
        "unit": (there + 1).tolist(),
        "spikes": found.units["spikes"][there].tolist(),
        "peak_channel": found.units["peak_channel"][there].tolist(),
    }
    columns["rate_hz"] = digits(found.units["rate"][there])
    for name in _QUALITY:
        columns[name] = digits(found.units[name][there])
    for name in ("label", "reason"):
        columns[name] = found.units[name][there].tolist()
    return columns


def _motion(found: SortResult) -> dict[str, Any] | None:
    if found.motion is None:
        return None
    times, depths = (found.motion[name] for name in ("time", "depth"))
    return {
        "time_s": digits(np.repeat(times, len(depths))),
        "depth_um": digits(np.tile(depths, len(times))),
        "displacement_um": [round(moved, 2) for moved in found.motion["displacement"].ravel()],
    }


def _merges(found: SortResult) -> dict[str, Any] | None:
    if found.merges is None:
        return None
    columns = {}
    for name, values in found.merges.items():
        columns[name] = digits(values) if values.dtype.kind == "f" else values.tolist()
    columns["other"] = [other or None for other in columns["other"]]
    return columns


def _run(found: SortResult) -> dict[str, Any]:
    asked = found.parameters
    name = "sort(recording" if found.waveforms is not None else "sort_features(features"
    return {
        "spikeweave": found.version,
        "command": call_of(name, asked),
        "parameters": asked,
        "input": {"warnings": found.warnings},
        "sorting": {
            "strategy": asked["strategy"],
            "stopped": found.stopped,
            "iterations": len(found.iterations["clusters"]),
            "noise_spikes": int(np.count_nonzero(found.labels == 0)),
            "score": found.score,
        },
        "seed": asked["seed"],
    }


@converts(SortResult, "page data")
def page_data_of_units(found: SortResult) -> str:
    """The data of the page, to which the library adds spikes and waveforms."""
    tables = {
        "run": _run(found),
        "quality": _quality(found),
        "motion": _motion(found),
        "merges": _merges(found),
    }
    return _core.sort_page_data(found._data, json.dumps(tables, default=str))


@converts(SortResult, "html")
def units_to_html(found: SortResult) -> str:
    """The page of a sorting."""
    return _core.page_of(page_data_of_units(found))
