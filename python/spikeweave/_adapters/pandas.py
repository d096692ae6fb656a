"""Data frames of pandas: any table of columns with names is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._values.conversions import converts
from .._values.spike_arrays import SpikeArrays
from .arrays import from_labels

if TYPE_CHECKING:
    import pandas

_TIME_COLUMNS = ("time", "times", "time_s")
_UNIT_COLUMNS = ("unit", "units")


def is_table(value: Any) -> bool:
    """Whether it has columns with names, as a data frame has."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__")


def from_table(table: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    """Spikes of a table with one row each."""
    found = {str(name): name for name in table.columns}
    times = [found[name] for name in _TIME_COLUMNS if name in found]
    units = [found[name] for name in _UNIT_COLUMNS if name in found]
    if len(times) != 1 or len(units) != 1:
        raise TypeError(
            "spikes: expected a table with a column time and a column unit, "
            f"found columns {list(found)}"
        )
    return from_labels(np.asarray(table[times[0]]), np.asarray(table[units[0]]), unit_names)


@converts(dict, "dataframe")
def data_frame(columns: dict[str, Any]) -> pandas.DataFrame:
    """The columns as a pandas data frame."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_dataframe() makes a pandas data frame: pip install pandas") from None
    return pandas.DataFrame(columns)
