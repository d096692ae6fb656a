"""The sorter for SpikeInterface's ``run_sorter`` and launchers, which has to be installed.

Importing this module adds ``"spikeweave"`` to SpikeInterface's table of sorters in this process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._adapters.spikeinterface import load_spikeinterface, result_to_sorting
from ._commands.sort import sort

load_spikeinterface()

from spikeinterface import BaseRecording, BaseSorting, load  # noqa: E402
from spikeinterface.preprocessing.basepreprocessor import (  # noqa: E402
    BasePreprocessor,
    BasePreprocessorSegment,
)
from spikeinterface.sorters import sorterlist  # noqa: E402
from spikeinterface.sorters.basesorter import BaseSorter  # noqa: E402

__all__ = ["RecordingForLaunchers", "SpikeweaveSorter", "for_launchers"]

_RESULT = "sorting"


class SpikeweaveSorter(BaseSorter):
    """The class that SpikeInterface calls to sort with ``spikeweave.sort``, whose options are its
    parameters.

    A folder of the sorter has the units, with their properties, in ``sorter_output/sorting``.
    """

    sorter_name = "spikeweave"
    sorter_description = (
        "Detection by a flood fill over neighbouring channels, clusters of single channels, and "
        "template matching that resolves overlapping spikes; the result does not depend on the "
        "number of threads or GPUs."
    )
    installation_mesg = "pip install spikeweave"
    gpu_capability = "nvidia-optional"
    handle_multi_segment = False

    @classmethod
    def is_installed(cls) -> bool:
        return True

    @classmethod
    def get_sorter_version(cls) -> str:
        return str(_core.version())

    @classmethod
    def _dynamic_params(cls) -> tuple[dict[str, Any], dict[str, str]]:
        options = _core.sort_options()
        return (
            {option["name"]: option["default"] for option in options},
            {option["name"]: option["help"] for option in options},
        )

    @classmethod
    def _check_apply_filter_in_params(cls, params: dict[str, Any]) -> bool:
        return True

    @classmethod
    def _setup_recording(cls, *args: Any) -> None:
        """The recording is read as it is needed."""

    @classmethod
    def _run_from_folder(
        cls, sorter_output_folder: Path, params: dict[str, Any], verbose: bool
    ) -> None:
        defaults = cls.default_params()
        chosen = {name: value for name, value in params.items() if value != defaults[name]}
        recording = cls.load_recording_from_folder(sorter_output_folder.parent)
        result = sort(recording, progress=verbose, **chosen)
        result_to_sorting(result).save(folder=sorter_output_folder / _RESULT)

    @classmethod
    def _get_result_from_folder(cls, sorter_output_folder: Path) -> BaseSorting:
        return load(sorter_output_folder / _RESULT)


class RecordingForLaunchers(BasePreprocessor):
    """A recording as it is, but a process that loads it imports this module first."""

    def __init__(self, recording: BaseRecording | dict[str, Any]) -> None:
        self._source = load(recording) if isinstance(recording, dict) else recording
        super().__init__(self._source)
        for segment in self._source._recording_segments:
            self.add_recording_segment(_SameTraces(segment))
        # Scripts for Slurm contain the arguments as text, which a recording does not have.
        self._kwargs = {"recording": self._source.to_dict(recursive=True)}

    def check_serializability(self, type: str) -> bool:
        return bool(self._source.check_serializability(type))


class _SameTraces(BasePreprocessorSegment):
    def get_traces(
        self, start_frame: int, end_frame: int, channel_indices: Any
    ) -> NDArray[np.generic]:
        traces: NDArray[np.generic] = self.parent_recording_segment.get_traces(
            start_frame, end_frame, channel_indices
        )
        return traces


def for_launchers(recording: BaseRecording) -> RecordingForLaunchers:
    """A recording that other processes can sort with ``"spikeweave"``.

    SpikeInterface's table of sorters cannot be extended for good, and the processes that its
    launchers start (``joblib``, ``processpoolexecutor``, ``dask``, ``slurm``) have the original
    one. They load the recording before they look up the sorter, and loading this one adds it.

    Parameters
    ----------
    recording
        A recording of SpikeInterface.

    Returns
    -------
    RecordingForLaunchers
        With the same traces, probe and properties.

    Examples
    --------
    >>> from spikeinterface import generate_ground_truth_recording
    >>> from spikeinterface.sorters import run_sorter_jobs
    >>> from spikeweave.spikeinterface_sorter import for_launchers
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> recording, truth = generate_ground_truth_recording(
    ...     durations=[10.0], num_channels=8, num_units=4, seed=2
    ... )
    >>> saved = recording.save(folder=f"{folder}/recording", verbose=False)
    >>> jobs = [{
    ...     "sorter_name": "spikeweave",
    ...     "recording": for_launchers(saved),
    ...     "folder": f"{folder}/sorted",
    ... }]
    >>> sortings = run_sorter_jobs(jobs, engine="loop", return_output=True)
    >>> len(sortings[0].unit_ids) > 0
    True
    """
    return RecordingForLaunchers(recording)


if SpikeweaveSorter.sorter_name not in sorterlist.sorter_dict:
    sorterlist.sorter_full_list.append(SpikeweaveSorter)
    sorterlist.sorter_dict[SpikeweaveSorter.sorter_name] = SpikeweaveSorter
