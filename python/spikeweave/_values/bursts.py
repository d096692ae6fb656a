"""The result of `bursts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .conversions import converted
from .page import HasReport
from .spikes import SpikeSequence
from .tables import counted, short

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class BurstResult(HasReport):
    """Bursts of units and of the network. Times are in seconds, and unknown values NaN.

    Attributes
    ----------
    spikes : SpikeSequence
        The spikes that were analysed: those of the epochs, if there are any.
    units : dict
        A row for each unit: ``unit``, ``spikes``, ``rate``, ``bursts``, ``bursts_per_minute``,
        ``share_in_bursts`` (of its spikes), ``mean_duration``, ``mean_rate`` (within bursts),
        ``mean_interval`` (between bursts), ``interval_variation`` and ``spike_variation`` (standard
        deviation by mean of the intervals between bursts and between spikes), and
        ``longest_interval`` (in its bursts).
    network : dict
        A row for each network burst: ``begin``, ``end``, ``participating`` (number of units),
        ``spikes``, ``peak_rate`` and ``interval`` (since the one before).
    bursts : dict
        A row for each burst of a unit, by its beginning: ``unit``, ``begin``, ``end``, ``spikes``,
        ``rate``, ``interval`` (since the unit's burst before) and ``network``, the index of the
        network burst that it takes part in, or -1.
    units_of_network : int
        The number of units that have to burst at the same time in a network burst.
    parameters : dict
        All options with their values.
    seconds : float
    warnings : list of str
    version : str
        Version of the library.
    """

    spikes: SpikeSequence
    units: dict[str, Any]
    network: dict[str, Any]
    bursts: dict[str, Any]
    units_of_network: int
    seconds: float

    def _called(self) -> str:
        return "bursts(spikes"

    def __len__(self) -> int:
        return len(self.bursts["unit"])

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with a row for each unit."""
        return converted(self.units, "dataframe")

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        columns = ("bursts", "bursts_per_minute", "share_in_bursts", "mean_duration")
        order = np.argsort(-self.units["bursts"], kind="stable")[:most]
        rows = [
            (self.units["unit"][u], *(short(float(self.units[name][u])) for name in columns))
            for u in order
        ]
        headers = ["unit", "bursts", "per minute", "share of spikes", "mean duration (s)"]
        return headers, rows, len(self.units["unit"])

    def __repr__(self) -> str:
        return (
            f"<BurstResult: {counted(len(self), 'burst')}, "
            f"{len(self.network['begin']) or 'none'} of the network>"
        )
