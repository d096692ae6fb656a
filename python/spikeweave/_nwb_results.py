"""Results in NWB, without an extension: core tables in the processing module ``ecephys``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ._nwb import add_table, add_units, new_file, save
from ._spikes import SpikeSequence

if TYPE_CHECKING:
    from ._episodes import EpisodeResult
    from ._spade import PatternResult


def _file_for(target: Any, spikes: SpikeSequence) -> Any:
    if isinstance(target, (str, os.PathLike)):
        return new_file(spikes)
    if target.units is None:
        add_units(target, spikes)
    elif len(target.units) != len(spikes.unit_names):
        raise ValueError(
            f"target: its table has {len(target.units)} units, expected {len(spikes.unit_names)}"
        )
    return target


def _save_if_path(target: Any, nwbfile: Any) -> Any:
    if isinstance(target, (str, os.PathLike)):
        save(target, nwbfile)
    return nwbfile


def episodes_to_nwb(result: EpisodeResult, target: Any) -> Any:
    """`EpisodeResult.to_nwb`."""
    nwbfile = _file_for(target, result.spikes)
    ends = result.offsets[1:]
    step_ends = ends - np.arange(1, len(ends) + 1)
    add_table(
        nwbfile,
        "episodes",
        f"Frequent serial episodes, counted without overlap, by spikeweave {result.version}",
        [
            ("units", "units in the order of firing", result.units.astype(np.int64), ends, True),
            ("delay_low", "of each step, seconds, not included", result.delays[:, 0], step_ends),
            ("delay_high", "of each step, seconds, included", result.delays[:, 1], step_ends),
            ("count", "occurrences without overlap", result.counts.astype(np.int64)),
            ("expected", "mean count by chance", result.expected),
            ("p_value", "probability of the count by chance", result.p),
            ("q_value", "corrected for all candidates of the size", result.q),
            ("strength", "probability that a step is taken", result.strength),
        ],
    )
    return _save_if_path(target, nwbfile)


def patterns_to_nwb(result: PatternResult, target: Any) -> Any:
    """`PatternResult.to_nwb`."""
    nwbfile = _file_for(target, result.spikes)
    ends = result.offsets[1:]
    columns: list[tuple] = [
        ("units", "units in time order", result.units.astype(np.int64), ends, True),
        ("lags", "from the first spike, seconds", result.lags, ends),
        ("times", "of the first spikes, seconds", result.times, result.occurrence_offsets[1:]),
        ("count", "occurrences", result.counts.astype(np.int64)),
    ]
    if result.p is not None:
        columns.append(("p_value", "of the signature", result.p))
        columns.append(("q_value", "corrected for all that were tested", result.q))
    add_table(
        nwbfile,
        "spade_patterns",
        f"Spatio-temporal spike patterns by spikeweave {result.version}",
        columns,
    )
    return _save_if_path(target, nwbfile)
