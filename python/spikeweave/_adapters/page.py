"""The page of a result of episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.circuit import Circuit
from .._values.conversions import converts
from .._values.episodes import EpisodeResult
from .page_parts import LISTED, call_of, digits, document_of, intervals_ms, spikes_in


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


def _episodes(found: EpisodeResult, order: NDArray[np.int64], most: int | None) -> dict[str, Any]:
    maximal = _maximal(found)
    listed = order[:most].tolist()
    parts = [found._parts(i) for i in listed]
    columns = {
        "total": len(found),
        "units": [units.tolist() for units, _ in parts],
        "delays_ms": [intervals_ms(delays) for _, delays in parts],
        "count": found.counts[listed].tolist(),
    }
    for name in ("expected", "p", "q", "strength"):
        columns[name] = digits(getattr(found, name)[listed])
    columns["significant"] = (found.q[listed] < found.parameters["alpha"]).tolist()
    columns["maximal"] = [maximal[i] for i in listed]
    for name, key in (("mean", "mean_count"), *((n, n) for n in ("p", "q", "tail_p", "tail_q"))):
        if found.by_surrogates is not None:
            columns[f"surrogate_{name}"] = digits(found.by_surrogates[key][listed])
    if found.search is not None:
        columns["search_count"] = found.search["counts"][listed].tolist()
        for name in ("expected", "p", "q"):
            columns[f"search_{name}"] = digits(found.search[name][listed])
    return columns


def _with_interval(circuit: Circuit, name: str) -> list[list[float | None]]:
    """A figure of each edge with the ends of its confidence interval."""
    columns = (digits(getattr(circuit, name + end)) for end in ("", "_low", "_high"))
    return [list(row) for row in zip(*columns, strict=True)]


def _edges(found: EpisodeResult) -> list[dict[str, Any]]:
    circuit = found.circuit
    columns = {
        "from": circuit.source.tolist(),
        "to": circuit.target.tolist(),
        "sign": circuit.sign,
        "delay_ms": intervals_ms(circuit.delay),
        "best_delay_ms": intervals_ms(circuit.best_delay),
        "count": circuit.count.tolist(),
        **{name: digits(getattr(circuit, name)) for name in ("expected", "p", "q", "strength")},
        **{name: _with_interval(circuit, name) for name in ("gain", "transmission")},
        "kind": circuit.kind,
        **{name: digits(getattr(circuit, name)) for name in ("asymmetry", "synchronous_expected")},
        "synchronous": circuit.synchronous.tolist(),
        "cut": circuit.cut,
    }
    edges = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    delays = (circuit.mean_delay, circuit.mean_delay_low, circuit.mean_delay_high)
    estimates = 1e3 * np.stack(delays, axis=1)
    for edge, via, estimate in zip(edges, circuit.via, estimates, strict=True):
        if via is not None:
            edge["via"] = via
        if not np.isnan(estimate).any():
            edge["mean_delay_ms"] = digits(estimate)
    return edges


def _replication(found: EpisodeResult) -> dict[str, Any]:
    """How much of what the search found in other spikes is in these."""
    search = found.search
    assert search is not None
    spikes = found.spikes
    span = (spikes.t_start, spikes.t_stop)
    told: dict[str, Any] = {
        "searched_s": search["seconds"],
        "tested_s": float(np.diff(span if spikes.epochs is None else spikes.epochs).sum().round(6)),
        "tested": len(found),
        **{name: search[name] for name in ("significant", "replicated")},
    }
    if "untested" in search:
        alpha = found.parameters["alpha"]
        told["missing_units"] = search["missing_units"]
        told["untested"] = len(search["untested"])
        told["untested_significant"] = sum(one.q < alpha for one in search["untested"])
    return told


def _circuit(found: EpisodeResult, chains: list[int]) -> dict[str, Any]:
    told: dict[str, Any] = {"summary": found.summary, "chains": chains}
    if found.pairs is not None:
        names = ("tested", "possible", "untested_units")
        told["pairs"] = {name: getattr(found.pairs, name) for name in names}
    return told


def _run(found: EpisodeResult, chains: list[int]) -> dict[str, Any]:
    asked = found.parameters
    run: dict[str, Any] = {
        "spikeweave": found.version,
        "command": call_of("episodes(spikes", asked),
        "parameters": asked,
        "input": {"warnings": found.warnings},
        "search": {
            "strategy": asked["strategy"],
            "threshold": found.threshold,
            "ties": asked["ties"],
            "levels": found.levels,
        },
        "significance": {"test": asked["test"], "alpha": asked["alpha"]},
        "circuit": _circuit(found, chains),
        "seed": asked["seed"],
        "seconds": found.seconds,
    }
    if found.search is not None:
        run["confirm" if "untested" in found.search else "hold_out"] = _replication(found)
    if found.by_surrogates is not None:
        run["surrogates"] = {
            "number": asked["surrogates"],
            "method": asked["surrogate_method"],
            "dither_ms": round(1e6 * asked["dither"]) / 1000,
        }
    return run


def _document(found: EpisodeResult, most: int | None) -> str:
    """The data of the page, with its episodes in the order of the command's tables."""
    order = np.lexsort((-found.counts, found.p, found.q, -found.sizes))
    number = np.argsort(order) + 1
    spikes = found.spikes
    content = {
        "run": _run(found, number[found.chains].tolist()),
        "units": spikes.unit_names,
        "spikes": spikes_in(spikes),
        "episodes": _episodes(found, order, most),
        "edges": _edges(found),
    }
    return document_of("episodes", content)


@converts(EpisodeResult, "html")
def episodes_to_html(found: EpisodeResult) -> str:
    """The page of a result."""
    return _core.page_of(_document(found, LISTED))


@converts(EpisodeResult, "page data")
def page_data_of_episodes(found: EpisodeResult) -> str:
    """The data of the page, with all episodes, to be compared with others."""
    return _document(found, None)
