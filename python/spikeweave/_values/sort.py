"""Units found in a recording."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .conversions import UnitsToNwb, converted
from .page import HasReport
from .spikes import SpikeSequence
from .tables import counted, short

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class SortResult(HasReport, UnitsToNwb):
    """The result of `sort` and `sort_features`.

    Attributes
    ----------
    labels : ndarray of uint32, shape (spikes,)
        Label of each spike; 0 means noise, units are 1 to `unit_count`.
    samples : ndarray of int64, shape (spikes,), or None
        Time of each spike, in samples since the first of the recording, if known.
    spikes : SpikeSequence or None
        The spikes of the units in time order, units named "1", "2", …; None without times.
    units : dict of arrays, shape (unit_count,) each
        ``spikes``, ``peak_channel``, ``rate`` (Hz), ``l_ratio``, ``isolation_distance``,
        ``refractory_violations``, ``contamination`` (fractions), ``snr``, ``presence_ratio``,
        ``firing_range`` (Hz), ``amplitude_median`` (microvolts), ``amplitude_cv``,
        ``amplitude_cutoff`` and ``separation``; NaN if unknown. ``quality_features`` is the number
        of features behind ``l_ratio`` and ``isolation_distance``. ``label`` is ``"good"``,
        ``"mua"`` or ``"noise"``, and ``reason`` states the reason. ``possibly_one_neuron_with`` and
        ``cross_talk_with`` name the units with which it may not be two neurons
        (`SpikeSequence.doubtful_pairs`). With ``templates``, ``origin`` is ``"templates"`` for
        units of these and ``"new"`` for those that were found beside them; otherwise it is empty.
    waveforms : ndarray of float32, shape (unit_count + 1, frames, channels), or None
        Mean waveform of noise and of each unit in the unit of the filtered traces (microvolts);
        recordings only.
    waveform_peak : int or None
        The frame of the peak in these.
    noise : ndarray of float64, shape (channels,), or None
        Standard deviation of each channel's noise.
    motion : dict of arrays of float64, or None
        The estimated motion of the tissue along the probe: ``time`` (s) of each bin, ``depth`` (um)
        of each window, and ``displacement`` (um), shape (times, depths); None if none was
        estimated. It was undone unless ``drift`` is ``"none"`` in `parameters`.
    merges : dict of arrays, or None
        The outcome for the clusters before the units were final, a row for each decision, in
        order: ``cluster``, its number; ``decision``, which is ``"split"``, ``"merged"``,
        ``"dropped"`` or ``"kept"``; ``other``, the cluster that it was merged with or that was
        split off, or its unit if it was kept, 0 if there is none; ``spikes`` at that time; the
        figures ``distance``, ``similarity``, ``difference``, ``coincidences`` and
        ``expected_coincidences``, NaN if they were not asked; and ``reason``. None unless spikes
        were found by templates. With ``merge="none"`` clusters are neither split nor merged.
    sample_rate : float or None
        In Hz, if known.
    channel_positions : ndarray of float64, shape (channels, 2), or None
        In micrometres.
    iterations : dict of arrays
        Progress of the search: ``clusters``, ``changed``, ``deleted``, ``splits``, ``score``.
    score : float or None
        Score of the last iteration; lower is better. None if there were no iterations of all
        spikes.
    stopped : str
        Why the search ended, such as ``"converged"``; ``"by-channel"`` if the spikes of each
        channel were clustered alone, for their templates.
    same_time : int
        Number of spikes at the same microsecond as another of their unit, omitted from `spikes`.
    parameters : dict
        The arguments of the call with their resolved values: the same data with ``**parameters``
        give the same again.
    warnings : list of str
        Warnings of the run.
    version : str
        Version of the library.
    """

    labels: NDArray[np.uint32]
    samples: NDArray[np.int64] | None
    spikes: SpikeSequence | None
    units: dict[str, NDArray[Any]]
    waveforms: NDArray[np.float32] | None
    waveform_peak: int | None
    noise: NDArray[np.float64] | None
    motion: dict[str, NDArray[np.float64]] | None
    merges: dict[str, NDArray[Any]] | None
    sample_rate: float | None
    channel_positions: NDArray[np.float64] | None
    iterations: dict[str, NDArray[Any]]
    score: float | None
    stopped: str
    same_time: int
    _data: Any

    def _called(self) -> str:
        return "sort(recording" if self.waveforms is not None else "sort_features(features"

    @property
    def unit_count(self) -> int:
        """Units found."""
        return len(self.units["spikes"])

    def __len__(self) -> int:
        return self.unit_count

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per unit, indexed by label."""
        return converted({"unit": np.arange(1, self.unit_count + 1), **self.units}, "dataframe")

    def to_spikeinterface(self) -> Any:
        """A SpikeInterface ``NumpySorting`` of the units, in samples of the recording."""
        return converted(self, "spikeinterface")

    def to_elephant(self) -> list[Any]:
        """The units as a list of `neo.SpikeTrain` in seconds, which Elephant's functions accept."""
        return self._timed().to_neo()

    def to_phy(self, folder: str | os.PathLike[str]) -> None:
        """Writes a new folder that Phy's template view opens.

        Raises
        ------
        FileExistsError
            If it exists.
        OSError
            If it cannot be written.
        ValueError
            Without times, or if the folder that was loaded has none for Phy.
        """
        if Path(folder).exists():
            raise FileExistsError(f"'{folder}' exists")
        if isinstance(self._data, Path):  # of a result that was loaded
            if not self._data.exists():
                raise ValueError(f"'{self._data.parent}' has no folder for Phy")
            shutil.copytree(self._data, folder)
            return
        _core.write_phy(self._data, str(Path(folder)))

    def _timed(self) -> SpikeSequence:
        if self.spikes is None:
            raise ValueError(
                "the times of these spikes are not known: sort_features takes samples and "
                "sample_rate"
            )
        return self.spikes

    def __repr__(self) -> str:
        noise = int(np.count_nonzero(self.labels == 0))
        units, spikes = counted(self.unit_count, "unit"), counted(len(self.labels), "spike")
        return f"<SortResult: {units}, {spikes}, {noise:,} noise>"

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        names = ["spikes", "peak_channel", "rate", "refractory_violations", "contamination", "snr"]
        order = np.argsort(-self.units["spikes"].astype(np.int64), kind="stable")[:most]
        rows = [
            (i + 1, *(short(self.units[name][i]) for name in names), self.units["label"][i])
            for i in order
        ]
        return ["unit", *names, "label"], rows, self.unit_count
