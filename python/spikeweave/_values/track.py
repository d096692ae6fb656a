"""The result of `track`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .conversions import converted
from .tables import html_result, short

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class TrackResult:
    """The units of several sorted recordings that are one neuron.

    Attributes
    ----------
    neurons : dict of list
        A row for each unit of each session: ``neuron`` (numbered from 1), ``session``, ``unit``,
        ``spikes``, ``sessions`` (the number of sessions that have the neuron) and ``probability``,
        the least one of a match between two of them.
    matches : dict of list
        Pairs of units of two sessions with a probability of at least 0.01: ``session``, ``unit``,
        ``other_session``, ``other_unit``, ``probability``, ``similarity``, ``distance_um``,
        ``amplitude_ratio``, ``autocorrelogram_overlap`` (None if unknown) and ``accepted``.
    relations : dict of list
        A row for each two sessions: ``session``, ``other_session``, ``moved_um``, ``matched`` and
        ``expected_false``.
    sessions : dict of list
        ``session``, ``spikes_file``, ``units``, ``kept``, ``new``, and ``checked``, ``missed`` and
        ``wrong`` of the units that were looked for in the other half of the same session.
    parameters : dict
        All options with their values.
    summary : str
        The result in a sentence.
    warnings : list of str
    """

    neurons: dict[str, list[Any]]
    matches: dict[str, list[Any]]
    relations: dict[str, list[Any]]
    sessions: dict[str, list[Any]]
    parameters: dict[str, Any]
    summary: str
    warnings: list[str]
    _write: Callable[[str, bool], None] = field(repr=False)

    def __len__(self) -> int:
        return max(self.neurons["neuron"], default=0)

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the folder that ``spikeweave track -o FOLDER`` writes, with the spikes of each
        session, whose units are named by neuron.

        Raises
        ------
        OSError
            If the folder exists and may not be replaced, or cannot be written.
        """
        self._write(os.fspath(folder), overwrite)

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with a row for each unit of each session."""
        return converted(self.neurons, "dataframe")

    def __repr__(self) -> str:
        return f"<TrackResult: {self.summary}>"

    def _repr_html_(self) -> str:
        columns = ("session", "other_session", "moved_um", "matched", "expected_false")
        rows = list(zip(*(self.relations[name] for name in columns), strict=True))
        shown = [(*row[:2], *(short(x) for x in row[2:])) for row in rows]
        return html_result(self.summary, self.warnings, columns, shown, len(rows))
