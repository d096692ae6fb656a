"""Pages that show a result in a browser. docs/formats.md describes their data."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.conversions import converts
from .._values.episodes import EpisodeResult

#: As many episodes as a page of the command lists.
_LISTED = 10_000


def _varints(values: NDArray[Any]) -> str:
    """Numbers of seven bits a byte, the lowest first (LEB128), in base64."""
    values = values.astype(np.uint64)
    shifts = np.arange(0, 64, 7, dtype=np.uint64)
    groups = (values[:, None] >> shifts) & np.uint64(127)
    more = (values[:, None] >> shifts) > np.uint64(127)
    used = np.concatenate([np.ones((len(values), 1), bool), more[:, :-1]], axis=1)
    return base64.b64encode((groups | (more * np.uint64(128))).astype(np.uint8)[used]).decode()


def _digits(values: Any) -> list[float | None]:
    """Six digits, as in the tables of the command; null if not finite."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]


def _ms(intervals: NDArray[np.float64]) -> list[list[float]]:
    return [[round(1e6 * end) / 1000 for end in interval] for interval in intervals]


def _spikes(found: EpisodeResult) -> dict[str, Any]:
    times = found.spikes.times_us
    begin = round(1e6 * found.spikes.t_start)
    return {
        "number": len(times),
        "begin_us": begin,
        "end_us": round(1e6 * found.spikes.t_stop),
        "steps_us": _varints(np.diff(times, prepend=begin)),
        "units": _varints(found.spikes.units),
    }


def _maximal(found: EpisodeResult) -> list[bool]:
    """Whether an episode is part of no other one as a run of steps."""
    runs = []
    for i in range(len(found)):
        units, delays = found._parts(i)
        runs.append((tuple(units.tolist()), tuple(map(tuple, delays.tolist()))))
    parts = {
        (units[first:last], delays[first : last - 1])
        for units, delays in runs
        for first in range(len(units))
        for last in range(first + 1, len(units) + 1)
        if last - first < len(units)
    }
    return [run not in parts for run in runs]


def _episodes(found: EpisodeResult, order: NDArray[np.int64]) -> dict[str, Any]:
    maximal = _maximal(found)
    listed = order[:_LISTED].tolist()
    parts = [found._parts(i) for i in listed]
    columns = {
        "total": len(found),
        "units": [units.tolist() for units, _ in parts],
        "delays_ms": [_ms(delays) for _, delays in parts],
        "count": found.counts[listed].tolist(),
    }
    for name in ("expected", "p", "q", "strength"):
        columns[name] = _digits(getattr(found, name)[listed])
    columns["significant"] = (found.q[listed] < found.parameters["alpha"]).tolist()
    columns["maximal"] = [maximal[i] for i in listed]
    for name, key in (("mean", "mean_count"), *((n, n) for n in ("p", "q", "tail_p", "tail_q"))):
        if found.by_surrogates is not None:
            columns[f"surrogate_{name}"] = _digits(found.by_surrogates[key][listed])
    return columns


def _edges(found: EpisodeResult) -> list[dict[str, Any]]:
    circuit = found.circuit
    columns = {
        "from": circuit.source.tolist(),
        "to": circuit.target.tolist(),
        "delay_ms": _ms(circuit.delay),
        "best_delay_ms": _ms(circuit.best_delay),
        "count": circuit.count.tolist(),
        **{name: _digits(getattr(circuit, name)) for name in ("expected", "p", "q", "strength")},
        "kind": circuit.kind,
    }
    edges = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    for edge, via in zip(edges, circuit.via, strict=True):
        if via is not None:
            edge["via"] = via
    return edges


def _run(found: EpisodeResult, chains: list[int]) -> dict[str, Any]:
    asked = found.parameters
    given = ", ".join(f"{name}={value!r}" for name, value in asked.items() if value is not None)
    run: dict[str, Any] = {
        "spikeweave": found.version,
        "command": f"spikeweave.episodes(spikes, {given})",
        "parameters": asked,
        "input": {"warnings": found.warnings},
        "search": {
            "strategy": asked["strategy"],
            "threshold": found.threshold,
            "ties": asked["ties"],
            "levels": found.levels,
        },
        "significance": {"test": asked["test"], "alpha": asked["alpha"]},
        "circuit": {"chains": chains},
        "seed": asked["seed"],
        "seconds": found.seconds,
    }
    if found.by_surrogates is not None:
        run["surrogates"] = {
            "number": asked["surrogates"],
            "method": asked["surrogate_method"],
            "dither_ms": round(1e6 * asked["dither"]) / 1000,
        }
    return run


@converts(EpisodeResult, "html")
def episodes_to_html(found: EpisodeResult) -> str:
    """The page of a result, with its episodes in the order of the command's tables."""
    order = np.lexsort((-found.counts, found.p, found.q, -found.sizes))
    number = np.argsort(order) + 1
    data = {
        "format": "spikeweave page",
        "version": 1,
        "kind": "episodes",
        "run": _run(found, number[found.chains].tolist()),
        "units": found.spikes.unit_names,
        "spikes": _spikes(found),
        "episodes": _episodes(found, order),
        "edges": _edges(found),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    return _core.page_of(text)
