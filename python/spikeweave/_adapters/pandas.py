"""Data frames of pandas: any table of columns with names is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._values.conversions import converts
from .._values.spike_arrays import SpikeArrays
from .arrays import from_labels, from_mapping

if TYPE_CHECKING:
    import pandas

_TIME_COLUMNS = ("time", "times", "time_s")
_UNIT_COLUMNS = ("unit", "units")
# Data frames have these in milliseconds, as the files of results have them.
_DELAYS = (
    "delays", "delay_low", "delay_high", "best_delay_low", "best_delay_high",
    "mean_delay", "mean_delay_low", "mean_delay_high", "lags", "bin",
)  # fmt: skip
_TRIALS = re.compile(
    r"(trial|sweep|epoch|segment|session|repetition|rep|repeat|block|recording|run|presentation)s?"
    r"(_(id|number|num|no|nr|index|idx|n))?",
    re.IGNORECASE,
)


def is_table(value: Any) -> bool:
    """Whether it has columns with names, as a data frame has."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__")


def from_table(table: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    """Spikes of a table with one row each."""
    found = {str(name): name for name in table.columns}
    if "spike_times" in found and not any(name in found for name in _TIME_COLUMNS):
        return _from_rows_of_units(table, found, unit_names)
    times = [found[name] for name in _TIME_COLUMNS if name in found]
    units = [found[name] for name in _UNIT_COLUMNS if name in found]
    if len(times) != 1 or len(units) != 1:
        raise TypeError(
            "spikes: expected a table with a column time and a column unit, "
            f"found columns {list(found)}"
        )
    spikes = from_labels(np.asarray(table[times[0]]), np.asarray(table[units[0]]), unit_names)
    trials = [name for name in found if _TRIALS.fullmatch(name)]
    return spikes._replace(trial_column=trials[0] if trials else "")


def _from_rows_of_units(
    table: Any, columns: dict[str, Any], unit_names: Sequence[str] | None
) -> SpikeArrays:
    """A row for each unit, with its train in the column ``spike_times``, as NWB has them. Units are
    called as in the column ``unit_name``, else as their rows."""
    choices = [table[columns["unit_name"]]] if "unit_name" in columns else []
    for choice in (*choices, table.index, range(len(table.index))):
        names = [str(name) for name in choice]
        if len(set(names)) == len(names):
            break
    trains = list(table[columns["spike_times"]])
    for name, train in zip(names, trains, strict=True):
        if np.ndim(train) != 1:
            raise TypeError(
                f"spikes: spike_times: expected an array for each unit, found {train!r} of unit "
                f"{name} (a table with one row per spike has columns time and unit)"
            )
    return from_mapping(dict(zip(names, trains, strict=True)), unit_names)


@converts(dict, "dataframe")
def data_frame(columns: dict[str, Any]) -> pandas.DataFrame:
    """The columns as a pandas data frame; delays, lags and bins in milliseconds, with ``_ms``."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_dataframe() makes a pandas data frame: pip install pandas") from None
    shown = {
        f"{name}_ms" if name in _DELAYS else name: _milliseconds(values)
        if name in _DELAYS
        else values
        for name, values in columns.items()
    }
    return pandas.DataFrame(shown)


def _milliseconds(values: Any) -> Any:
    """Seconds as milliseconds, without digits below a nanosecond; tuples stay tuples."""
    if isinstance(values, (list, tuple)):
        return type(values)(map(_milliseconds, values))
    if isinstance(values, np.ndarray):
        return np.round(values * 1e3, 6)
    return round(values * 1e3, 6)
