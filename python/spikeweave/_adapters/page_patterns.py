"""The page of a result of SPADE."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.conversions import converts
from .._values.spade import PatternResult
from .page_parts import LISTED, call_of, digits, document_of, spikes_of

#: Fields of each size in the map of the spectrum.
_FIELDS = 380


def _us(seconds: float) -> int:
    return round(1e6 * seconds)


def _plain(number: float) -> float | int:
    """Whole numbers without a decimal point, as the command writes them."""
    return int(number) if number == int(number) else number


def _segments(asked: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Of each epoch its beginning among the joined ones, and its beginning and end."""
    out, begin = [], 0
    for first, last in asked["epochs"] or ():
        out.append((begin, _us(first), _us(last)))
        begin += _us(last) - _us(first) + _us(asked["separation"])
    return out


def _binned(
    found: PatternResult, segments: list[tuple[int, int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], int, int]:
    """The spikes that were mined, and the beginning and the end of what was."""
    spikes, asked = found.spikes, found.parameters
    times, units = spikes.times_us, spikes.units
    begin, end = _us(spikes.t_start), _us(spikes.t_stop)
    if segments:
        begin, end = segments[0][1], segments[-1][2]
        kept = np.zeros(len(times), bool)
        for _, first, last in segments:
            kept[slice(*np.searchsorted(times, (first, last)))] = True
    else:
        if asked["t_start"] is not None:
            begin = _us(asked["t_start"])
        if asked["t_stop"] is not None:
            end = _us(asked["t_stop"])
        kept = (times >= begin) & (times <= end)
    return times[kept], units[kept], begin, end


def _patterns(found: PatternResult) -> dict[str, Any]:
    """The patterns in the order of the command's tables."""
    p = np.zeros(len(found)) if found.p is None else found.p
    order = np.lexsort((-found.counts.astype(np.int64), -found.sizes, p))[:LISTED]
    bin_ms = _us(found.parameters["bin"]) / 1000
    items = [slice(found.offsets[i], found.offsets[i + 1]) for i in order]
    lags = [[_plain(round(lag * bin_ms, 3)) for lag in found.lag_bins[one]] for one in items]
    columns: dict[str, Any] = {
        "total": len(found),
        "units": [found.units[one].tolist() for one in items],
        "lags_ms": lags,
        "pattern": list(range(1, len(order) + 1)),
        "count": found.counts[order].tolist(),
        "duration_ms": [max(one) for one in lags],
    }
    if found.p is not None and found.q is not None:
        columns["p"], columns["q"] = digits(found.p[order]), digits(found.q[order])
        # Only significant patterns are left.
        columns["significant"] = [True] * len(order)
    for name, values in (
        ("stability_intensional", found.intensional_stability),
        ("stability_extensional", found.extensional_stability),
    ):
        if values is not None:
            columns[name] = digits(values[order])
    return columns


def _signatures(found: PatternResult) -> dict[str, Any]:
    """The significant signatures first, because there may be more than a page lists."""
    table = {name: np.asarray(values) for name, values in found.signatures.items()}
    rows = len(table["size"])
    bin_ms = _us(found.parameters["bin"]) / 1000
    bins = table.pop("duration")
    listed = np.arange(rows)
    if "significant" in table:
        listed = np.argsort(~table["significant"], kind="stable")
    listed = listed[:LISTED]
    columns: dict[str, Any] = {"total": rows, "signature": (listed + 1).tolist()}
    columns |= {name: values[listed].tolist() for name, values in table.items()}
    columns["duration_ms"] = [
        _plain(round(one * bin_ms, 3)) if found.parameters["spectrum"] == "3d#" else None
        for one in bins[listed]
    ]
    if "p" in columns:
        columns["p"], columns["q"] = digits(columns["p"]), digits(columns["q"])
        columns["reason"] = [why or None for why in columns["reason"]]
    else:
        columns |= {name: [None] * len(listed) for name in ("reached", "p", "q", "significant")}
        columns["tested"] = [False] * len(listed)
        columns["reason"] = ["no surrogates"] * len(listed)
    return columns


def _spectrum(found: PatternResult) -> dict[str, Any] | None:
    """The spectrum as a map has it: for each size the largest p of some counts, and of all
    durations."""
    table = found.pvalue_spectrum
    if table is None:
        return None
    counts = np.concatenate([table["count"], found.signatures["count"]])
    low, high = (int(counts.min()), int(counts.max())) if len(counts) else (2**32 - 1, 0)
    width = max(high - low, 0) // _FIELDS + 1
    fields: dict[tuple[int, int], float] = {}
    starts = low + (np.asarray(table["count"], np.int64) - low) // width * width
    for *at, p in zip(table["size"].tolist(), starts.tolist(), table["p"].tolist(), strict=True):
        fields[at[0], at[1]] = max(p, fields.get((at[0], at[1]), 0))
    order = sorted(fields)
    return {
        "low": low,
        "high": high,
        "counts_of_a_field": width,
        "size": [size for size, _ in order],
        "count": [count for _, count in order],
        "p": digits([fields[at] for at in order]),
    }


def _funnel(found: PatternResult) -> dict[str, Any]:
    columns = {name: [one[name] for one in found.funnel] for name in ("step", "removed", "left")}
    columns["why"] = [one["why"] or None for one in found.funnel]
    columns["before"] = [one["removed"] + one["left"] for one in found.funnel]
    return columns


def _run(found: PatternResult) -> dict[str, Any]:
    asked = found.parameters
    run: dict[str, Any] = {
        "spikeweave": found.version,
        "command": call_of("spade(spikes", asked),
        "parameters": asked,
        "input": {"warnings": found.warnings},
        "windows": {
            "bin_ms": _plain(_us(asked["bin"]) / 1000),
            "window_bins": asked["window"],
            "windows": found.input["windows"],
        },
        "search": {"strategy": asked["strategy"], "rules": asked["rules"]},
        "seed": asked["seed"],
        "seconds": found.seconds,
    }
    if found.p is not None:
        run["significance"] = {
            "spectrum": asked["spectrum"],
            "alpha": asked["alpha"],
            "correction": asked["correction"],
            "surrogates": asked["surrogates"],
            "surrogate_method": asked["surrogate_method"],
        }
    return run


@converts(PatternResult, "page data")
def page_data_of_patterns(found: PatternResult) -> str:
    """The data of the page, with its patterns in the order of the command's tables."""
    segments = _segments(found.parameters)
    return document_of(
        "spade",
        {
            "run": _run(found),
            "units": found.spikes.unit_names,
            "spikes": spikes_of(*_binned(found, segments)),
            "windows": {
                "bin_us": _us(found.parameters["bin"]),
                "length": found.parameters["window"],
                "origin_us": _us(found.input["origin"]),
                "bins": found.input["bins"],
                "segments_us": [[begin, original] for begin, original, _ in segments],
            },
            "patterns": _patterns(found),
            "signatures": _signatures(found),
            "spectrum": _spectrum(found),
            "funnel": _funnel(found),
        },
    )


@converts(PatternResult, "html")
def patterns_to_html(found: PatternResult) -> str:
    """The page of a result."""
    return _core.page_of(page_data_of_patterns(found))
