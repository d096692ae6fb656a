"""A sorting in the folder that `sort` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.page import Document
from .._values.sort import SortResult
from .._values.track import TrackResult
from .documents import floats_of, recorded_of, spikes_of


def _table(table: dict[str, Any] | None) -> dict[str, NDArray[Any]] | None:
    """The columns of a table: text, whole numbers, and figures that may be unknown."""

    def column(values: list[Any]) -> NDArray[Any]:
        is_figure = any(value is None or isinstance(value, float) for value in values)
        return floats_of(values) if is_figure else np.array(values)

    return table and {name: column(values) for name, values in table.items() if name != "total"}


def _whole(values: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers, of which unknown ones are 0."""
    return np.nan_to_num(values).astype(np.int64)


def _iterations(file: Path) -> dict[str, NDArray[Any]]:
    head, *lines = file.read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(head.split("\t"))}
    whole = ("clusters", "changed", "deleted", "splits")
    return {
        **{name: np.array(columns[name], np.int64) for name in whole},
        "score": np.array(columns["score"], np.float64),
    }


def _mean_waveforms(folder: Path, channels: int) -> tuple[NDArray[np.float32] | None, int | None]:
    """Those of the channels of each unit; NaN elsewhere, and of noise."""
    with np.load(folder / "waveforms.npz") as file:
        known, where = file["mean_waveforms"], file["unit_channels"]
        peak = int(file["waveform_peak"][0])
    if not known.size:  # features were sorted
        return None, None
    means = np.full((len(known) + 1, known.shape[1], channels), np.nan, np.float32)
    for unit, (values, own) in enumerate(zip(known, where, strict=True), start=1):
        means[unit][:, own] = values
    return means, peak


def _motion(table: dict[str, Any]) -> dict[str, NDArray[np.float64]]:
    time, depth = (np.unique(table[name]) for name in ("time_s", "depth_um"))
    order = np.lexsort((table["depth_um"], table["time_s"]))
    moved = np.array(table["displacement_um"])[order]
    return {"time": time, "depth": depth, "displacement": moved.reshape(len(time), len(depth))}


def sorting_of(document: dict[str, Any], report: Document) -> SortResult:
    folder = report._folder or Path()
    run, table, channels = document["run"], document["units"], document["channels"]
    with np.load(folder / "sorting.npz") as file:
        assigned = dict(file)
    left_out = ("unit", "clu_label", "unmasked_features", "peak_feature")
    units = {
        name.removesuffix("_hz"): values
        for name, values in (_table(table) or {}).items()
        if name not in left_out
    }
    means, peak = _mean_waveforms(folder, len(channels["x_um"]))
    positions = np.column_stack([channels["x_um"], channels["y_um"]])
    motion, merges = document["motion"], _table(document["merges"])
    recorded = recorded_of(
        run, _core.sort_features_arguments if means is None else _core.sort_arguments
    )
    del recorded["seconds"]
    return SortResult(
        labels=assigned["labels"],
        samples=assigned.get("samples"),
        spikes=spikes_of(document) if (folder / "spikes.npz").exists() else None,
        units=units,
        waveforms=means,
        waveform_peak=peak,
        noise=None,
        motion=motion and _motion(motion),
        merges=None if merges is None else merges | {"other": _whole(merges["other"])},
        sample_rate=run["input"]["sample_rate_hz"] or None,
        channel_positions=positions if len(positions) else None,
        iterations=_iterations(folder / "iterations.tsv"),
        score=run["sorting"]["score"],
        stopped=run["sorting"]["stopped"],
        same_time=run["input"]["duplicates_dropped"],
        _data=folder / "phy",
        _report=report,
        **recorded,
    )


def tracking_of(
    document: dict[str, Any], report: Any, asked: dict[str, Any] | None = None
) -> TrackResult:
    """The result of `track` whose document this is."""

    def columns(table: str) -> dict[str, list[Any]]:
        return {name: rows for name, rows in document[table].items() if name != "total"}

    return TrackResult(
        neurons=columns("neurons"),
        matches=columns("matches"),
        relations=columns("relations"),
        sessions=columns("sessions"),
        _report=report,
        **recorded_of(document["run"], lambda _: (asked or {}) | document["run"]["parameters"]),
    )
