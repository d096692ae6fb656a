"""Epochs as other packages have them, recognised by their methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.arrays import numbers
from .pandas import is_table

_EPOCH_COLUMNS = (("start", "end"), ("start_time", "stop_time"))


def epochs_of(epochs: Any) -> Any:
    """Begins and ends, in the forms that `spade` documents, as a list of pairs."""
    if epochs is None:
        return None
    if is_table(epochs):
        for begin, end in _EPOCH_COLUMNS:
            if begin in epochs.columns and end in epochs.columns:
                return _pairs(epochs[begin], epochs[end])
        raise TypeError(
            "epochs: expected a table with columns start and end, or start_time and stop_time, "
            f"found {[str(name) for name in epochs.columns]}"
        )
    if hasattr(epochs, "start") and hasattr(epochs, "end"):
        return _pairs(epochs.start, epochs.end)
    if hasattr(epochs, "durations") and hasattr(epochs, "times"):
        return _pairs(epochs.times, epochs.times + epochs.durations)
    return epochs


def _pairs(begins: Any, ends: Any) -> list[tuple[float, float]]:
    columns = (np.atleast_1d(numbers("epochs", ends_)).tolist() for ends_ in (begins, ends))
    return list(zip(*columns, strict=True))
