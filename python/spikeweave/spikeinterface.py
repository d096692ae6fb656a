"""Sorting within SpikeInterface, which has to be installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._adapters.spikeinterface import load_spikeinterface, result_to_sorting
from ._commands.sort import sort, sort_features
from ._values.sort import SortResult

if TYPE_CHECKING:
    from spikeinterface import BaseRecording, NumpySorting, SortingAnalyzer

__all__ = ["numpy_sorting", "run_sorter", "sort_analyzer"]


def numpy_sorting(result: SortResult) -> NumpySorting:
    """The units of a result as a SpikeInterface sorting, in samples of the recording.

    Parameters
    ----------
    result
        With samples and a sample rate.

    Returns
    -------
    spikeinterface.NumpySorting
        Units 1, 2, …; properties have what `SortResult.units` has.

    Raises
    ------
    TypeError
        If it is not a `SortResult`.
    ValueError
        Without times.
    ImportError
        Without SpikeInterface.
    """
    if not isinstance(result, SortResult):
        raise TypeError(f"result: expected a SortResult, found {type(result)}")
    return result_to_sorting(result)


def run_sorter(recording: BaseRecording, **parameters: Any) -> NumpySorting:
    """Sorts a recording of SpikeInterface.

    It is read as it is needed, with whatever preprocessing it has; spikeweave filters it by itself.

    Parameters
    ----------
    recording
        A recording with one segment.
    **parameters
        Those of `spikeweave.sort`.

    Returns
    -------
    spikeinterface.NumpySorting

    Raises
    ------
    TypeError, ValueError
        As `spikeweave.sort`.
    ImportError
        Without SpikeInterface, before anything is sorted.

    Examples
    --------
    >>> import spikeweave.spikeinterface
    >>> from spikeinterface import generate_ground_truth_recording
    >>> recording, truth = generate_ground_truth_recording(
    ...     durations=[10.0], num_channels=8, num_units=4, seed=2
    ... )
    >>> sorting = spikeweave.spikeinterface.run_sorter(recording)
    >>> sorting.get_sampling_frequency() == recording.get_sampling_frequency()
    True
    """
    load_spikeinterface()
    return numpy_sorting(sort(recording, **parameters))


def sort_analyzer(analyzer: SortingAnalyzer, **parameters: Any) -> NumpySorting:
    """Re-sorts the principal components of a SortingAnalyzer.

    Parameters
    ----------
    analyzer
        With the extensions ``random_spikes`` (``method="all"``) and ``principal_components`` by
        channel (``mode="by_channel_local"`` or ``"by_channel_global"``). Features of channels
        outside of a unit's sparsity have mask 0.
    **parameters
        Those of `spikeweave.sort_features`.

    Returns
    -------
    spikeinterface.NumpySorting

    Raises
    ------
    TypeError
        If it is not a SortingAnalyzer.
    ValueError
        Without these extensions, with some of the spikes only, or with components of all channels
        together.
    ImportError
        Without SpikeInterface.
    """
    if not isinstance(analyzer, load_spikeinterface().SortingAnalyzer):
        raise TypeError(f"analyzer: expected a SortingAnalyzer, found {type(analyzer)}")
    extension = analyzer.get_extension("principal_components")
    if extension is None:
        raise ValueError("analyzer: expected the extension principal_components, which is missing")
    if extension.params["mode"] == "concatenated":
        raise ValueError("analyzer: expected components by channel, found mode 'concatenated'")
    if analyzer.get_num_segments() != 1:
        raise ValueError(f"analyzer: expected 1 segment, found {analyzer.get_num_segments()}")
    spikes = analyzer.get_extension("random_spikes").get_random_spikes()
    every = analyzer.sorting.count_total_num_spikes()
    if len(spikes) != every:
        raise ValueError(
            f"analyzer: found components of {len(spikes)} of {every} spikes, expected those of "
            "all: random_spikes needs method='all'"
        )
    # (spikes, components, channels); NaN or 0 outside of a unit's sparsity
    projections, chosen = extension.get_some_projections(
        channel_ids=analyzer.channel_ids, unit_ids=analyzer.unit_ids
    )
    values = np.transpose(projections, (0, 2, 1)).astype(np.float64)
    inside = np.ones(values.shape[:2], dtype=bool)
    if analyzer.sparsity is not None:
        inside = analyzer.sparsity.mask[chosen]
    width = values.shape[2]
    features = np.nan_to_num(values).reshape(len(values), -1)
    masks = np.repeat(inside, width, axis=1).astype(np.float64)
    result = sort_features(
        features,
        masks,
        samples=spikes["sample_index"],
        sample_rate=analyzer.sampling_frequency,
        features_per_channel=width,
        **parameters,
    )
    return numpy_sorting(result)
