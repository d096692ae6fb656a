"""Results in the folders that the command and `save` write."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._values.assemblies import Assembly, AssemblyResult
from .._values.bursts import BurstResult
from .._values.circuit import Circuit
from .._values.compare import ComparedPattern, ConditionComparison, PatternComparison
from .._values.episode_rows import Episode, of_table
from .._values.episode_windows import WindowedEpisodeResult
from .._values.episodes import EpisodeResult
from .._values.page import Document
from .._values.pair_tests import PairTests
from .._values.replay import ReplayResult
from .._values.sort import SortResult
from .._values.spade import PatternResult
from .._values.track import TrackResult
from .documents import floats_of, recorded_of, spikes_of
from .saved_sorting import sorting_of, tracking_of

_TESTS = ("expected", "p", "q")
#: In seconds; pairs with a longer delay are slow.
_LONGEST_SYNAPTIC = 0.0085


def load(
    folder: str | os.PathLike[str],
) -> (
    EpisodeResult
    | PatternResult
    | AssemblyResult
    | BurstResult
    | ReplayResult
    | ConditionComparison
    | PatternComparison
    | SortResult
    | TrackResult
    | WindowedEpisodeResult
):
    """Reads a result that `save` or the command has written.

    Parameters
    ----------
    folder
        A folder of ``episodes``, ``windows``, ``spade``, ``sort``, ``track``, ``assemblies``,
        ``bursts``, ``replay`` or ``compare``.

    Returns
    -------
    EpisodeResult, WindowedEpisodeResult, PatternResult, SortResult, TrackResult, AssemblyResult,
    BurstResult, ReplayResult, ConditionComparison or PatternComparison
        With the rows in the order of the tables in the folder. Of windows, a single one has
        neither `levels` nor a page, and the changes are in ``change_points.tsv``. Waveforms of a
        sorting are NaN on channels that the folder leaves out, those of noise on all.

    Raises
    ------
    OSError
        If the folder is not such a result, or its ``result.json`` is damaged or of another version.

    Examples
    --------
    >>> import tempfile
    >>> import spikeweave
    >>> found = spikeweave.episodes(
    ...     spikeweave.simulate.sym26(seed=1).spikes, delays="4-6ms", min_count=200
    ... )
    >>> folder = tempfile.mkdtemp() + "/found"
    >>> found.save(folder)
    >>> spikeweave.load(folder).summary == found.summary
    True
    """
    text = _core.read_result(Path(folder))
    document = json.loads(text)
    reader = _readers[document["kind"]]
    try:
        return reader(document, Document(text, Path(folder)))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        file = Path(folder) / "result.json"
        raise OSError(f"'{file}': it is damaged: {type(error).__name__}: {error}") from error


def _figures(table: dict[str, Any], names: Iterable[str], prefix: str = "") -> dict[str, Any]:
    return {name: floats_of(table[prefix + name]) for name in names}


def _seconds(milliseconds: list[Any]) -> NDArray[np.float64]:
    """Whole microseconds in seconds."""
    return np.rint(1e3 * np.array(milliseconds, np.float64).reshape(-1, 2)) / 1e6


def _flat_episodes(table: dict[str, Any]) -> dict[str, Any]:
    units = table["units"]
    steps = [step for delays in table["delays_ms"] for step in delays]
    return {
        "offsets": np.cumsum([0, *map(len, units)], dtype=np.int64),
        "units": np.array([unit for one in units for unit in one], np.uint32),
        "delays": _seconds(steps),
    }


def _circuit_columns(table: dict[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for column, values in table.items():
        name = {"from": "source", "to": "target"}.get(column, column.removesuffix("_ms"))
        if column in ("from", "to"):
            columns[name] = np.array(values, np.uint32)
        elif column in ("delay_ms", "best_delay_ms"):
            columns[name] = _seconds(values)
        elif column in ("count", "synchronous"):
            columns[name] = np.array(values, np.int64)
        elif name == "via":
            columns[name] = [units[0] if units else None for units in values]
        elif column.endswith("_ms"):
            columns[name] = floats_of(values) / 1e3
        elif column != "total":
            is_text = any(isinstance(value, str) for value in values)
            columns[name] = (
                values if is_text or name in ("sign", "kind", "cut") else floats_of(values)
            )
    return columns


def _pairs(document: dict[str, Any]) -> PairTests | None:
    if "pairs" not in document:
        return None
    table, run = document["pairs"], document["run"]["circuit"]["pairs"]
    return PairTests(
        unit_names=document["unit_names"],
        source=np.array(table["from"], np.uint32),
        target=np.array(table["to"], np.uint32),
        sign=table["sign"],
        slow=_seconds(table["delay_ms"])[:, 1] > _LONGEST_SYNAPTIC,
        delay=_seconds(table["delay_ms"]),
        count=np.array(table["count"], np.int64),
        **_figures(table, _TESTS),
        kind=[None if kind == "-" else kind for kind in table["kind"]],
        **{name: run[name] for name in ("tested", "possible", "untested_units", "listed_below")},
    )


def _searched(document: dict[str, Any]) -> dict[str, Any] | None:
    table, run = document["episodes"], document["run"]
    record = run.get("hold_out") or run.get("confirm")
    if record is None:
        return None
    search = {
        "counts": np.array(table["search_count"], np.int64),
        **_figures(table, (*_TESTS, "strength"), "search_"),
        "seconds": record["searched_s"],
        **{name: record[name] for name in ("significant", "replicated")},
    }
    if "untested" not in document:
        return search
    untested = document["untested"]
    rows = zip(
        untested["units"],
        untested["delays_ms"],
        untested["search_count"],
        *(untested[f"search_{name}"] for name in (*_TESTS, "strength")),
        strict=True,
    )
    search["missing_units"] = record["missing_units"]
    search["untested"] = [
        Episode(tuple(units), tuple(map(tuple, _seconds(delays).tolist())), *figures)
        for units, delays, *figures in rows
    ]
    return search


def _episodes(document: dict[str, Any], report: Document) -> EpisodeResult:
    table, run = document["episodes"], document["run"]
    by = None
    if "surrogate_p" in table:
        names = {"mean_count": "mean", **{name: name for name in ("p", "q", "tail_p", "tail_q")}}
        by = {name: floats_of(table[f"surrogate_{of}"]) for name, of in names.items()}
    return EpisodeResult(
        spikes=spikes_of(document),
        **_flat_episodes(table),
        counts=np.array(table["count"], np.int64),
        **_figures(table, (*_TESTS, "strength")),
        by_surrogates=by,
        search=_searched(document),
        circuit=Circuit._of(document["unit_names"], _circuit_columns(document["circuit"])),
        pairs=_pairs(document),
        chains=np.array(run["circuit"]["chains"], np.int64) - 1,
        levels=run["search"]["levels"],
        threshold=run["search"]["threshold"],
        _report=report,
        **recorded_of(
            run,
            _core.episodes_arguments if "delays" in run["parameters"] else _core.count_arguments,
        ),
    )


def _signatures(table: dict[str, Any], bin_ms: float, by: str | None) -> dict[str, Any]:
    order = np.argsort(table[by]) if by else np.arange(len(table["size"]))
    out: dict[str, Any] = {
        name: np.array(table[name], np.int64)[order]
        for name in ("size", "count", "patterns", "reached")
        if name in table and None not in table[name]
    }
    out["duration"] = np.rint(floats_of([ms or 0 for ms in table["duration_ms"]]) / bin_ms).astype(
        np.int64
    )[order]
    for name in ("p", "q"):
        if name in table and None not in table[name]:
            out[name] = floats_of(table[name])[order]
    if "q" in out:
        for name in ("tested", "significant"):
            out[name] = np.array(table[name], np.bool_)[order]
        out["reason"] = [table["reason"][i] for i in order]
    return out


def _patterns(document: dict[str, Any], report: Document) -> PatternResult:
    table, run, starts = document["patterns"], document["run"], document["occurrences"]
    bin_ms = run["windows"]["bin_ms"]
    flat = {name: [v for one in table[name] for v in one] for name in ("units", "lags_ms")}
    optional: dict[str, Any] = {
        name: floats_of(table[column])
        for name, column in (
            ("p", "p"),
            ("q", "q"),
            ("intensional_stability", "stability_intensional"),
            ("extensional_stability", "stability_extensional"),
        )
        if column in table
    }
    if "spectrum_entries" in document:
        optional["pvalue_spectrum"] = _signatures(document["spectrum_entries"], bin_ms, None)
    record = run.get("hold_out") or run.get("confirm")
    if record is not None:
        counts = [-1 if count is None else count for count in table["replication_count"]]
        optional["replication"] = {
            "counts": np.array(counts, np.int64),
            **_figures(table, _TESTS, "replication_"),
            "seconds": record["tested_s"],
            "searched_seconds": record["searched_s"],
            **{name: record[name] for name in ("tested", "replicated")},
            "missing_units": record.get("missing_units", []),
        }
    return PatternResult(
        spikes=spikes_of(document),
        offsets=np.cumsum([0, *map(len, table["units"])], dtype=np.int64),
        units=np.array(flat["units"], np.uint32),
        lag_bins=np.rint(np.array(flat["lags_ms"], np.float64) / bin_ms).astype(np.int64),
        counts=np.array(table["count"], np.int64),
        occurrence_offsets=np.cumsum([0, *map(len, starts["bins"])], dtype=np.int64),
        windows=np.array([bin for one in starts["bins"] for bin in one], np.int64),
        times=np.array([time for one in starts.get("times_s", []) for time in one], np.float64),
        signatures=_signatures(document["signatures"], bin_ms, "signature"),
        funnel=run["funnel"],
        input={
            "origin": run["windows"]["origin_s"],
            "spikes": run["input"]["spikes"],
            "clipped": run["input"]["spikes_in_a_taken_bin"],
            "outside": run["input"]["spikes_in_no_bin"],
            "bins": run["windows"]["bins"],
            "windows": run["windows"]["windows"],
        },
        _report=report,
        **optional,
        **recorded_of(run, _core.spade_arguments),
    )


def _assemblies(document: dict[str, Any], report: Document) -> AssemblyResult:
    table, active, steps = (document[name] for name in ("assemblies", "activations", "search"))
    names = document["unit_names"]
    whose = np.array(active["assembly"], np.int64)
    begins, counts = floats_of(active["begin_s"]), np.array(active["count"], np.int64)
    return AssemblyResult(
        spikes=spikes_of(document),
        assemblies=[
            Assembly(
                units=tuple(names[unit] for unit in table["units"][i]),
                lags=np.array(table["lags_ms"][i]) / 1e3,
                bin=table["bin_ms"][i] / 1e3,
                p=floats_of(table["p_by_size"][i]),
                p_corrected=table["p_corrected"][i],
                counts=np.array(table["count_by_size"][i], np.int64),
                times=begins[whose == i + 1],
                time_counts=counts[whose == i + 1],
            )
            for i in range(len(table["units"]))
        ],
        steps={
            "bin": np.array(steps["bin_ms"]) / 1e3,
            **{name: np.array(steps[name]) for name in ("size", "tests", "significant", "kept")},
        },
        _report=report,
        **recorded_of(document["run"], _core.assemblies_arguments),
    )


def _bursts(document: dict[str, Any], report: Document) -> BurstResult:
    names = document["unit_names"]

    def columns(table: str, whole: Iterable[str], figures: dict[str, str]) -> dict[str, Any]:
        rows = document[table]
        return {name: np.array(rows[name], np.int64) for name in whole} | {
            name: floats_of(rows[column]) for name, column in figures.items()
        }

    units = columns(
        "units",
        ("spikes", "bursts"),
        {
            **{name: name for name in ("bursts_per_minute", "share_in_bursts")},
            **{name: name for name in ("interval_variation", "spike_variation")},
            "rate": "rate_hz",
            "mean_duration": "mean_duration_s",
            "mean_rate": "mean_rate_hz",
            "mean_interval": "mean_interval_s",
            "longest_interval": "longest_interval_ms",
        },
    )
    units["longest_interval"] = np.rint(1e3 * units["longest_interval"]) / 1e6
    span = {"begin": "begin_s", "end": "end_s", "interval": "interval_s"}
    return BurstResult(
        spikes=spikes_of(document),
        units={"unit": list(names), **units},
        network=columns(
            "network_bursts", ("participating", "spikes"), {**span, "peak_rate": "peak_rate_hz"}
        ),
        bursts={
            "unit": [names[unit] for unit in document["bursts"]["unit"]],
            **columns("bursts", ("spikes",), {**span, "rate": "rate_hz"}),
            "network": np.array(
                [(number or 0) - 1 for number in document["bursts"]["network_burst"]], np.int64
            ),
        },
        units_of_network=document["run"]["bursts"]["units_of_network"],
        _report=report,
        **recorded_of(document["run"], _core.bursts_arguments),
    )


def _replay(document: dict[str, Any], report: Document) -> ReplayResult:
    table, events = document["replay"], document["events"]
    names, run = document["unit_names"], document["run"]
    chain = np.array(table["chain"], np.int64) - 1
    rows = of_table(_flat_episodes(table), names)
    whole: dict[str, Any] = {
        name: np.array(table[name], np.int64)
        for name in ("count", "events_scored", "events_significant")
    }
    figures = ("scale", *_TESTS, "z", "events_expected", "events_p", "events_q")
    return ReplayResult(
        spikes=spikes_of(document),
        chains=[one for i, one in enumerate(rows) if i == 0 or chain[i] != chain[i - 1]],
        chain=chain,
        direction=table["direction"],
        **whole,
        **_figures(table, figures),
        event_times=np.array(run["replay"]["events_s"], np.float64).reshape(-1, 2),
        events={
            "event": np.array(events["event"], np.int64) - 1,
            "chain": np.array(events["chain"], np.int64) - 1,
            "active": np.array(events["active"], np.int64),
            **_figures(events, ("tau", "p_forward", "p_reverse")),
        },
        _report=report,
        **recorded_of(run, _core.replay_arguments),
    )


def _comparison(
    document: dict[str, Any], report: Document
) -> ConditionComparison | PatternComparison:
    table, run, names = document["differences"], document["run"], document["unit_names"]
    columns: dict[str, Any] = {"change": table["change"]}
    for name, values in table.items():
        if name.startswith(("count_", "first_spikes_", "found_")):
            columns[name] = np.array(values, np.int64)
        elif name.startswith(("expected_", "removed_", "rate_", "excess_")):
            columns[name.removesuffix("_hz")] = floats_of(values)
    sides = [run["input"][side] for side in ("a", "b")]
    common: dict[str, Any] = {
        "columns": columns,
        "unit_names": names,
        "samples": run["comparison"]["samples"],
        "conditions": tuple(
            {
                "name": one["name"],
                "recordings": one["recordings"],
                "samples": one["samples"],
                "observed": one["observed_s"],
                "spikes": one["spikes"],
            }
            for one in sides
        ),
        **{
            name: run["comparison"][name] for name in ("labellings", "all_labellings", "smallest_p")
        },
        "_report": report,
    }
    if "lags_ms" not in table:
        common |= recorded_of(run, _core.compare_arguments)
        return ConditionComparison(findings=of_table(_flat_episodes(table), names), **common)
    common |= recorded_of(run, _core.compare_patterns_arguments)
    findings = [
        ComparedPattern(tuple(names[unit] for unit in units), tuple(lag / 1e3 for lag in lags))
        for units, lags in zip(table["units"], table["lags_ms"], strict=True)
    ]
    return PatternComparison(findings=findings, **common)


def _windows(document: dict[str, Any], report: Document) -> WindowedEpisodeResult:
    table, run = document["windows"], document["run"]
    episodes, circuits = document["window_episodes"], document["window_circuits"]
    place = {number: i for i, number in enumerate(table["window"])}

    def part(of: dict[str, Any], number: int) -> dict[str, Any]:
        kept = np.flatnonzero(np.array(of["window"]) == number).tolist()
        return {
            name: [values[i] for i in kept]
            for name, values in of.items()
            if name not in ("total", "window")
        }

    def window(i: int) -> dict[str, Any]:
        rows = part(episodes, table["window"][i])
        stability = {
            name.removeprefix("stability_"): table[name][i]
            for name in ("common", "jaccard", "jaccard_expected", "stability", "stability_p")
        }
        since = table["since"][i]
        return {
            "number": table["window"][i],
            "begin": table["begin_s"][i],
            "end": table["end_s"][i],
            "spike_count": table["spikes"][i],
            "threshold": table["threshold"][i],
            "levels": [],
            **_flat_episodes(rows),
            "counts": np.array(rows["count"], np.int64),
            **_figures(rows, (*_TESTS, "strength")),
            "circuit": {
                **_circuit_columns(part(circuits, table["window"][i])),
                "chains": np.flatnonzero(rows["chain"]),
            },
            "stability": None if since is None else {**stability, "since": place[since]},
            "report": _OneWindow(report._text, report._folder),
        }

    return WindowedEpisodeResult(
        spikes=spikes_of(document),
        _windows=[window(i) for i in range(len(table["window"]))],
        _report=report,
        **recorded_of(run, _core.windows_arguments),
    )


class _OneWindow(Document):
    """A window of a result that was read."""

    def document(self, command: str, warnings: list[str]) -> str:
        """Refuses: the folder has none."""
        raise ValueError(f"'{self._folder}' has no page of a single window, only of all")


_readers: dict[str, Callable[[dict[str, Any], Document], Any]] = {
    "episodes": _episodes,
    "windows": _windows,
    "sort": sorting_of,
    "track": tracking_of,
    "spade": _patterns,
    "assemblies": _assemblies,
    "bursts": _bursts,
    "replay": _replay,
    "compare": _comparison,
}
