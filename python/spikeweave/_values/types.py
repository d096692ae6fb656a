"""The types of arguments, for type checkers: other packages' objects by their methods."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from .spikes import SpikeSequence


class Quantity(Protocol):
    """A number with a unit, of the package ``quantities``; also a `neo.SpikeTrain`."""

    def rescale(self, units: Any) -> Any: ...


class TsGroup(Protocol):
    """Pynapple's."""

    @property
    def time_support(self) -> Any: ...


class IntervalSet(Protocol):
    """Pynapple's."""

    @property
    def start(self) -> Any: ...
    @property
    def end(self) -> Any: ...


class BinnedSpikeTrain(Protocol):
    """Elephant's."""

    def to_sparse_bool_array(self) -> Any: ...


class Segment(Protocol):
    """Neo's."""

    @property
    def spiketrains(self) -> Any: ...


class BaseSorting(Protocol):
    """SpikeInterface's."""

    def get_unit_spike_train(self, unit_id: Any) -> Any: ...


class BaseRecording(Protocol):
    """SpikeInterface's."""

    def get_traces(self, segment_index: Any = None) -> Any: ...


class HasSpikes(Protocol):
    """A result or simulation with spikes."""

    @property
    def spikes(self) -> SpikeSequence: ...


class Table(Protocol):
    """A data frame of pandas."""

    @property
    def columns(self) -> Any: ...


#: Seconds, a text such as ``"5ms"``, or a quantity.
Time = float | str | timedelta | Quantity

#: Micrometres, or a text such as ``"20um"``.
Length = float | str

#: A time, several, or a text that lists them.
Times = Time | Sequence[Time]

#: A whole number of bins, or a time of so many.
Bins = int | str | timedelta | Quantity

#: The forms of spikes that every function accepts; `SpikeSequence.of` describes them.
SpikesLike = Union[
    "SpikeSequence",
    HasSpikes,
    str,
    os.PathLike[str],
    tuple[ArrayLike, ArrayLike],
    Mapping[Any, ArrayLike],
    Sequence[ArrayLike],
    Sequence[Quantity],
    NDArray[np.object_],
    BinnedSpikeTrain,
    TsGroup,
    Segment,
    BaseSorting,
    Table,
]

Interval = str | tuple[Time, Time] | Sequence[Time] | NDArray[Any]
#: One delay interval or several.
Delays = Interval | Sequence[Interval] | Quantity
#: Begins and ends.
Epochs = ArrayLike | Sequence[Sequence[Time]] | Quantity | IntervalSet | Table

#: A number, "auto", or a mapping from sizes to numbers.
MinOcc = int | Literal["auto"] | Mapping[int, int]
#: Mappings from the names of thresholds to numbers.
Rules = Sequence[Mapping[str, int]]
#: A number of subsets, or (delta, epsilon).
Stability = int | tuple[float, float]
Pair = Sequence[float]
Triple = str | Sequence[int]

#: The path of a file.
FilePath = str | os.PathLike[str]

#: A file of episodes, the folder of a result, or episodes: each an `Episode`, or (units, delays).
Armed = FilePath | Sequence[Any]

#: A file or an address, or several.
Destinations = FilePath | Sequence[FilePath]

#: Names of units.
Units = Sequence[str]

Numbers = Sequence[int]
#: A file that holds clusters, or the label of each spike.
StartClusters = FilePath | ArrayLike
#: A number, or as much as possible.
FloatOrMax = float | Literal["max"]
#: A whole number that the library can choose.
IntOrAuto = int | Literal["auto"]

SpikeFormat = Literal[
    "auto",
    "text",
    "wagenaar",
    "meabench",
    "npy",
    "npz",
    "phy",
    "klustakwik",
    "nwb",
    "session",
    "alf",
    "open-ephys",
    "kwik",
    "eglen",
    "neo",
]
RecordingFormat = Literal[
    "auto", "raw", "binary", "spikeglx", "open-ephys", "nwb", "spikeinterface"
]
