"""Epochs as other packages have them, recognised by their methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.arrays import numbers
from .pandas import is_table

_EPOCH_COLUMNS = (("start", "end"), ("start_time", "stop_time"))
_LABEL_COLUMNS = ("condition", "label", "stimulus", "trial_type")


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
    return [pair[:2] for pair in epochs] if _are_labelled(epochs) else epochs


def labels_of(epochs: Any) -> list[tuple[Any, str]]:
    """The begin and the label of each epoch; nothing if they have no labels."""
    if epochs is None:
        return []
    if _are_labelled(epochs):
        labels = [one[2] for one in epochs]
    else:
        # The labels of pynapple's intervals are in a table beside them, those of neo in an array.
        tables: list[Any] = [getattr(epochs, "metadata", None), epochs]
        columns = [
            table[name]
            for name in _LABEL_COLUMNS
            for table in tables
            if is_table(table) and name in table.columns
        ]
        labels = list(columns[0] if columns else getattr(epochs, "labels", ()))
    texts = [str(label) for label in labels]
    for text in texts:
        if not text.isprintable():
            raise ValueError(f"epochs: found the label {text!r}, expected printable text")
    if not any(texts):
        return []
    return [(pair[0], text) for pair, text in zip(epochs_of(epochs), texts, strict=True)]


def _are_labelled(epochs: Any) -> bool:
    """Whether they are a list of begins, ends and labels."""
    return isinstance(epochs, (list, tuple)) and all(
        isinstance(one, (list, tuple)) and len(one) == 3 and isinstance(one[2], str)
        for one in epochs
    )


def _pairs(begins: Any, ends: Any) -> list[tuple[float, float]]:
    columns = (np.atleast_1d(numbers("epochs", ends_)).tolist() for ends_ in (begins, ends))
    return list(zip(*columns, strict=True))
