"""The result of `assemblies`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .conversions import converted
from .page import HasReport
from .spikes import SpikeSequence
from .tables import counted, pattern_text, short, short_p

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class Assembly:
    """Units that fire together, each with its lag, more often than chance.

    Attributes
    ----------
    units : tuple of str
        In the order in which they were joined.
    lags : ndarray of float64, shape (units,)
        Of each unit after the first one, seconds.
    bin : float
        Width of the bins, seconds.
    p : ndarray of float64, shape (units - 1,)
        Of joining each unit after the first one; not corrected.
    p_corrected : float
        The last one times the number of tests by which alpha was divided.
    counts : ndarray of int64, shape (units - 1,)
        Activations of the first two units, the first three, and so on.
    times : ndarray of float64
        Where the bins of the first unit begin in which the assembly is active, seconds.
    time_counts : ndarray of int64
        How often it is active in each.
    """

    units: tuple[str, ...]
    lags: NDArray[np.float64]
    bin: float
    p: NDArray[np.float64]
    p_corrected: float
    counts: NDArray[np.int64]
    times: NDArray[np.float64]
    time_counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.units)

    def __str__(self) -> str:
        return pattern_text(self.units, self.lags)

    def __repr__(self) -> str:
        return (
            f"<Assembly: {self} in bins of {1000 * self.bin:g} ms, "
            f"{counted(int(self.counts[-1]), 'activation')}>"
        )


@dataclass(frozen=True, repr=False, eq=False)
class AssemblyResult(HasReport):
    """Cell assemblies, those with the smallest p first.

    Attributes
    ----------
    spikes : SpikeSequence
        The spikes that were searched: those of the epochs, if there are any.
    assemblies : list of Assembly
    steps : dict
        Columns ``bin`` (seconds), ``size``, ``tests``, ``significant`` and ``kept`` (different sets
        of units): a row for each size at each bin width.
    parameters : dict
        All options with their values.
    seconds : float
    warnings : list of str
    version : str
        Version of the library.
    """

    spikes: SpikeSequence
    assemblies: list[Assembly]
    steps: dict[str, NDArray[Any]]
    seconds: float

    def _called(self) -> str:
        return "assemblies(spikes"

    def __len__(self) -> int:
        return len(self.assemblies)

    def __iter__(self) -> Iterator[Assembly]:
        return iter(self.assemblies)

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per assembly."""
        columns: dict[str, Any] = {
            "units": [one.units for one in self],
            "lags": [tuple(one.lags.tolist()) for one in self],
            "bin": np.array([one.bin for one in self], dtype=np.float64),
            "count": np.array([one.counts[-1] for one in self], dtype=np.int64),
            "p": np.array([one.p[-1] for one in self], dtype=np.float64),
            "p_corrected": np.array([one.p_corrected for one in self], dtype=np.float64),
        }
        return converted(columns, "dataframe")

    def __getitem__(self, index: int) -> Assembly:
        return self.assemblies[index]

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        rows = [
            (
                one,
                f"{one.bin * 1e3:g} ms",
                short(int(one.counts[-1])),
                short_p(one.p_corrected),
            )
            for one in self.assemblies[:most]
        ]
        return ["assembly", "bin", "count", "corrected p"], rows, len(self)

    def __repr__(self) -> str:
        noun = "assembly" if len(self) == 1 else "assemblies"
        return f"<AssemblyResult: {len(self) or 'no'} {noun}>"
