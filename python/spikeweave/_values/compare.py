"""The differences between two conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from .conversions import converted
from .episode_rows import Episode
from .page import HasReport
from .tables import pattern_text, short, short_p

if TYPE_CHECKING:
    import pandas


_Finding = TypeVar("_Finding")


class ComparedPattern(NamedTuple):
    """A pattern of SPADE that was compared: its units, and their lags in seconds."""

    units: tuple[str, ...]
    lags: tuple[float, ...]

    def __str__(self) -> str:
        return pattern_text(self.units, self.lags)


@dataclass(frozen=True, repr=False, eq=False)
class _Comparison(HasReport, Sequence[_Finding], Generic[_Finding]):
    """The common parts of comparisons of two conditions."""

    findings: list[_Finding]
    columns: dict[str, Any]
    unit_names: list[str]
    samples: str
    conditions: tuple[dict[str, Any], dict[str, Any]]
    labellings: int
    all_labellings: bool
    smallest_p: float
    seconds: float

    @property
    def sample_counts(self) -> tuple[int, int]:
        """The number of samples of each condition."""
        a, b = self.conditions
        return a["samples"], b["samples"]

    @property
    def _names(self) -> tuple[str, str]:
        a, b = self.conditions
        return a["name"], b["name"]

    def _direction(self, i: int) -> str:
        """The direction of the change of a finding from a to b, if it is significant."""
        change = self.columns["change"][i]
        if change == "none":
            return "same"
        return "up" if self.columns[f"{change}_b"][i] > self.columns[f"{change}_a"][i] else "down"

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __iter__(self) -> Iterator[_Finding]:
        return iter(self.findings)

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        q = np.minimum(self.columns["rate_q"], self.columns["excess_q"])
        changed = [i for i in np.argsort(q, kind="stable") if self.columns["change"][i] != "none"]
        rows = [
            (
                self.findings[i],
                self.columns["change"][i],
                self._direction(i),
                *(short(self.columns[name][i]) for name in ("count_a", "count_b")),
                short_p(q[i]),
            )
            for i in changed[:most]
        ]
        counts = [f"count in {name}" for name in self._names]
        headers = ["finding", "change", "direction", *counts, "q"]
        return headers, rows, len(changed)

    def __repr__(self) -> str:
        changed = sum(change != "none" for change in self.columns["change"])
        return f"<{type(self).__name__}: {changed:,} of {len(self):,} findings changed>"

    def _table(self, *names: str) -> pandas.DataFrame:
        own = {name: [getattr(one, name) for one in self.findings] for name in names}
        return converted(own | self.columns, "dataframe")


class ConditionComparison(_Comparison[Episode]):
    """The result of `compare` or `compare_epochs`: a sequence of the findings.

    Attributes
    ----------
    findings : list of Episode
        The direct edges and chains that were compared, pairs first.
    columns : dict
        What was compared, an array or a list for each name, with an element for each finding:
        ``change`` ("excess", "rate", "none"), ``found_a``, ``found_b``, ``count_a``, ``count_b``,
        ``expected_a``, ``expected_b``, ``first_spikes_a``, ``first_spikes_b``, ``removed_a``,
        ``removed_b``; ``rate_a``, ``rate_b``, ``rate_ratio``, ``rate_ratio_low``,
        ``rate_ratio_high``, ``rate_p``, ``rate_q``; ``excess_a``, ``excess_b``,
        ``excess_difference``, ``excess_difference_low``, ``excess_difference_high``, ``excess_p``,
        ``excess_q``. NaN stands for unknown values. The excess is (count - expected) / removed,
        where *removed* is how many true occurrences the rotation behind *expected* would remove if
        each spike of the first unit had one; with recordings as samples, it is the mean of theirs.
    unit_names : list of str
        The units that all recordings have.
    samples : str
        What was permuted: "blocks", "epochs" or "recordings".
    conditions : tuple of dict
        Of each condition: its ``name``, that of its file or else "a" or "b", ``recordings``,
        ``samples``, ``observed`` (seconds) and ``spikes``.
    labellings : int
        How many labellings of the samples were compared with the given one.
    all_labellings : bool
        Whether these are all that there are.
    smallest_p : float
        No p can be below this.
    parameters : dict
        The options with their resolved values.
    warnings : list of str
        Warnings of the comparison.
    seconds : float
        Time taken by the library.
    """

    def _called(self) -> str:
        return "compare_epochs(spikes, a, b" if self.samples == "epochs" else "compare(a, b"

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per finding: ``units`` and ``delays_ms`` as tuples, and
        the `columns`."""
        return self._table("units", "delays")

    def to_networkx(self) -> Any:
        """The circuit of the pairs that were compared, with what changed, as a
        `networkx.MultiDiGraph`: a node per unit, by name, and an edge per finding of two units.

        ``spikeweave compare`` writes the same graph as ``differences.graphml``. Edges have
        ``delay_low`` and ``delay_high`` in seconds, ``change``, and ``direction``, that of the
        change from a to b: ``"up"``, ``"down"`` or ``"same"``. Among `columns` they have
        ``rate_ratio``, ``rate_q``, ``excess_a``, ``excess_b`` and ``excess_q``.
        """
        return converted(self, "networkx")


class PatternComparison(_Comparison[ComparedPattern]):
    """The result of `compare_patterns` or `compare_patterns_in_epochs`: a sequence of the patterns.

    It has the attributes of `ConditionComparison`; these differ.

    Attributes
    ----------
    findings : list of ComparedPattern
        The patterns that were compared: their ``units``, and their ``lags`` in seconds.
    columns : dict
        As in `ConditionComparison`, without ``found_a``, ``found_b``, ``removed_a`` and
        ``removed_b``. ``first_spikes_a`` and ``first_spikes_b`` are the bins in which the first
        unit fires, by which the excess is divided.
    """

    def _called(self) -> str:
        if self.samples == "epochs":
            return "compare_patterns_in_epochs(spikes, a, b, patterns"
        return "compare_patterns(a, b, patterns"

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per pattern: ``units`` and ``lags_ms`` as tuples, and
        the `columns`."""
        return self._table("units", "lags")
