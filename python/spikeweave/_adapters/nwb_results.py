"""Results in NWB, without an extension: core tables in the processing module ``ecephys``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._values.conversions import converts
from .._values.episodes import EpisodeResult
from .._values.spade import PatternResult
from .._values.spikes import SpikeSequence
from .nwb import add_table, add_units, open_target, unit_names

_SHOWN = 8


def _rows_of_units(nwbfile: Any, spikes: SpikeSequence) -> NDArray[np.int64]:
    """Which row of the file's table of units each unit of the result is, by its name.

    A file without units gets those of the result.
    """
    if nwbfile.units is None:
        add_units(nwbfile, spikes)
        return np.arange(len(spikes.unit_names))
    names = unit_names(nwbfile.units)
    row = {name: i for i, name in enumerate(names)}
    for name in spikes.unit_names:
        if name not in row:
            raise ValueError(
                f"target: its table of units has no unit {name!r}; it has {_listed(names)}"
            )
    return np.array([row[name] for name in spikes.unit_names], dtype=np.int64)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


@converts(EpisodeResult, "nwb")
def episodes_to_nwb(result: EpisodeResult, target: Any, overwrite: bool, append: bool) -> Any:
    """`EpisodeResult.to_nwb`."""
    with open_target(target, overwrite, append) as nwbfile:
        _add_episodes(nwbfile, result)
    return nwbfile


def _add_episodes(nwbfile: Any, result: EpisodeResult) -> None:
    units = _rows_of_units(nwbfile, result.spikes)[result.units]
    ends = result.offsets[1:]
    step_ends = ends - np.arange(1, len(ends) + 1)
    add_table(
        nwbfile,
        "episodes",
        f"Frequent serial episodes, counted without overlap, by spikeweave {result.version}",
        [
            ("units", "units in the order of firing", units, ends, True),
            ("delay_low", "of each step, seconds, not included", result.delays[:, 0], step_ends),
            ("delay_high", "of each step, seconds, included", result.delays[:, 1], step_ends),
            ("count", "occurrences without overlap", result.counts.astype(np.int64)),
            ("expected", "mean count by chance", result.expected),
            ("p_value", "probability of the count by chance", result.p),
            ("q_value", "corrected for all candidates of the size", result.q),
            ("strength", "probability that a step is taken", result.strength),
        ],
    )


@converts(PatternResult, "nwb")
def patterns_to_nwb(result: PatternResult, target: Any, overwrite: bool, append: bool) -> Any:
    """`PatternResult.to_nwb`."""
    with open_target(target, overwrite, append) as nwbfile:
        _add_patterns(nwbfile, result)
    return nwbfile


def _add_patterns(nwbfile: Any, result: PatternResult) -> None:
    units = _rows_of_units(nwbfile, result.spikes)[result.units]
    ends = result.offsets[1:]
    columns: list[tuple] = [
        ("units", "units in time order", units, ends, True),
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
