"""The result of `track`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .conversions import converted
from .page import HasReport
from .tables import short

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class TrackResult(HasReport):
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
    seconds : float
    warnings : list of str
    version : str
        Version of the library.
    """

    neurons: dict[str, list[Any]]
    matches: dict[str, list[Any]]
    relations: dict[str, list[Any]]
    sessions: dict[str, list[Any]]
    seconds: float

    def _called(self) -> str:
        return "track(folders"

    def __len__(self) -> int:
        return max(self.neurons["neuron"], default=0)

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with a row for each unit of each session."""
        return converted(self.neurons, "dataframe")

    def __repr__(self) -> str:
        return f"<TrackResult: {self.summary}>"

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        headers = ["session", "other_session", "moved_um", "matched", "expected_false"]
        rows = list(zip(*(self.relations[name] for name in headers), strict=True))
        shown = [(*row[:2], *(short(x) for x in row[2:])) for row in rows[:most]]
        return headers, shown, len(rows)
