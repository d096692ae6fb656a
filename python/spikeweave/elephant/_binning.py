"""Spike trains in bins, by Elephant's arithmetic in the units of the first train."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import neo
import numpy as np
import numpy.typing as npt
import quantities as pq

from spikeweave import _core

_MOST_BINS = 1 << 31


@dataclass(frozen=True)
class Binned:
    """Unit i fires in ``bins[offsets[i]:offsets[i + 1]]``, ascending, each bin once."""

    offsets: npt.NDArray[np.uint64]
    bins: npt.NDArray[np.uint32]
    n_bins: int

    @property
    def n_units(self) -> int:
        return len(self.offsets) - 1

    def arrays(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], int]:
        """Return the arrays for the extension."""
        return self.offsets, self.bins, self.n_bins

    def relation(self, winlen: int) -> npt.NDArray[np.bool_]:
        """Return Elephant's `rel_matrix`: a row for each bin, a column for each item."""
        starts, offsets, items = self.windows(winlen)
        cells = np.zeros((self.n_bins, self.n_units * winlen), dtype=bool)
        cells[np.repeat(starts, np.diff(offsets).astype(np.intp)), items] = True
        return cells

    def windows(self, winlen: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the start bins of the windows, offsets into their items, and the items."""
        return _core.elephant_windows(self.arrays(), winlen)


def from_pairs(units: npt.ArrayLike, bins: npt.ArrayLike, n_units: int, n_bins: int) -> Binned:
    """Bin spikes given as pairs of unit and bin, in any order."""
    keys = np.asarray(units, dtype=np.int64) * n_bins + np.asarray(bins, dtype=np.int64)
    # Marking all cells is faster than sorting, unless spikes are rare.
    if n_units * n_bins < 64 * len(keys):
        cells = np.zeros(n_units * n_bins, dtype=bool)
        cells[keys] = True
        keys = np.flatnonzero(cells)
    else:
        keys = np.unique(keys)
    offsets = np.searchsorted(keys, np.arange(n_units + 1) * n_bins).astype(np.uint64)
    return Binned(offsets, (keys % max(n_bins, 1)).astype(np.uint32), n_bins)


def relation_of(rel_matrix: Any) -> Any:
    """Return a `rel_matrix` in the form of the extension."""
    cells = np.asarray(rel_matrix, dtype=bool)
    if cells.ndim != 2:
        raise ValueError(f"rel_matrix: expected two dimensions, found {cells.ndim}")
    return _core.ElephantRelation(np.ascontiguousarray(cells))


def number_in(units: pq.Quantity, name: str, value: Any) -> float:
    """Return a quantity as a number in these units."""
    if not isinstance(value, pq.Quantity):
        raise TypeError(f"{name}: expected a quantity of time, found {value!r}")
    if value.size != 1:
        raise ValueError(f"{name}: expected one quantity of time, found {value!r}")
    return value.rescale(units).item()


def _check_countable(n_bins: int) -> None:
    if n_bins >= _MOST_BINS:
        raise ValueError(f"bin_size: expected fewer than {_MOST_BINS} bins, found {n_bins}")


def _check_alike(spiketrains: Sequence[neo.SpikeTrain]) -> None:
    first = spiketrains[0]
    for i, train in enumerate(spiketrains):
        if not isinstance(train, neo.SpikeTrain):
            raise TypeError(
                f"spiketrains: expected neo.SpikeTrain, found {type(train).__name__} at {i}"
            )
        if train.dimensionality != first.dimensionality:
            raise ValueError(
                f"spiketrains: expected the same units, found {train.dimensionality}"
                f" at {i} and {first.dimensionality} at 0"
            )
        for name in ("t_start", "t_stop"):
            if getattr(train, name).item() != getattr(first, name).item():
                raise ValueError(
                    f"spiketrains: expected the same {name}, found"
                    f" {getattr(train, name)} at {i} and {getattr(first, name)} at 0"
                )


@dataclass(frozen=True)
class Trains:
    """All spikes of compatible trains, and the bins of ``BinnedSpikeTrain(tolerance=None)``.

    Times are numbers in the trains' units.
    """

    times: npt.NDArray[np.float64]
    units: npt.NDArray[np.intp]
    n_units: int
    start: float
    stop: float
    width: float
    n_bins: int

    @classmethod
    def of(cls, spiketrains: Sequence[neo.SpikeTrain], bin_size: Any) -> Trains:
        """Extract the spikes of spike trains."""
        if len(spiketrains) == 0:
            raise ValueError("spiketrains: expected at least one, found none")
        _check_alike(spiketrains)
        first = spiketrains[0]
        width = number_in(first.units, "bin_size", bin_size)
        start, stop = (edge.rescale(first.units).item() for edge in (first.t_start, first.t_stop))
        if width == 0 or np.isnan(width):
            raise ValueError(f"bin_size: expected more than 0, found {bin_size}")
        if start >= stop:
            raise ValueError(
                f"spiketrains: expected t_start below t_stop, found {first.t_start}"
                f" and {first.t_stop}"
            )
        n_bins = int((stop - start) / width)
        _check_countable(n_bins)
        if n_bins <= 0:
            raise TypeError(
                f"bin_size: expected at least one bin from t_start to t_stop, found {n_bins}"
            )
        times = np.concatenate([train.magnitude for train in spiketrains])
        if np.isnan(times).any():
            raise ValueError("spiketrains: expected times, found nan")
        units = np.repeat(np.arange(len(spiketrains)), [len(train) for train in spiketrains])
        return cls(times, units, len(spiketrains), start, stop, width, n_bins)

    def binned(self) -> Binned:
        """Bin the spikes; one after the last bin is left out with a warning."""
        inside = (self.times >= self.start) & (self.times <= self.stop)
        bins = ((self.times[inside] - self.start) * (1 / self.width)).astype(np.int64)
        fits = bins < self.n_bins
        if not fits.all():
            warnings.warn(
                f"Binning discarded {np.count_nonzero(~fits)} last spike(s) of the input"
                " spiketrain",
                UserWarning,
                stacklevel=4,
            )
        return from_pairs(self.units[inside][fits], bins[fits], self.n_units, self.n_bins)


def bin_trains(spiketrains: Sequence[neo.SpikeTrain], bin_size: Any) -> Binned:
    """Bin spike trains as Elephant does."""
    return Trains.of(spiketrains, bin_size).binned()


def as_binned(spiketrains: Any, bin_size: Any) -> Binned:
    """Bin the input of `concepts_mining`: trains, or binned trains of Elephant."""
    if hasattr(spiketrains, "to_sparse_bool_array"):
        cells = spiketrains.to_sparse_bool_array().tocoo()
        _check_countable(cells.shape[1])
        return from_pairs(cells.row, cells.col, *cells.shape)
    trains = list(spiketrains) if hasattr(spiketrains, "__iter__") else None
    if trains is None or not all(isinstance(train, neo.SpikeTrain) for train in trains):
        raise TypeError(
            "spiketrains: expected neo.SpikeTrain objects or a BinnedSpikeTrain, found"
            f" {type(spiketrains).__name__}"
        )
    return bin_trains(trains, bin_size)
