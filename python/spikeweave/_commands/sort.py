"""Spike sorting by a masked mixture of Gaussians."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._adapters.files import check_readable
from .._adapters.progress import Progress, reporting
from .._values.arguments import given, options_in
from .._values.arrays import array, numbers
from .._values.recording import Recording, RecordingLike
from .._values.sort import SortResult
from .._values.spikes import SpikeSequence
from .._values.types import (
    Deletions,
    MaskRule,
    Precision,
    Quantity,
    Reference,
    Sign,
    SortStrategy,
    SplitStart,
    StopRule,
    Time,
)


def sort(
    recording: RecordingLike,
    *,
    sample_rate: float | Quantity | None = None,
    gain: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    shanks: ArrayLike | None = None,
    low_corner: float = 300.0,
    high_corner: float = 6000.0,
    filter_order: int = 3,
    reference: Reference = "auto",
    whiten: bool = False,
    weak: float = 2.0,
    strong: float = 4.5,
    sign: Sign = "negative",
    before: Time = 0.0005,
    after: Time = 0.0008,
    neighbours: float | None = None,
    features_per_channel: int = 3,
    starting_clusters: int | Literal["auto"] = 500,
    max_clusters: int = 1000,
    max_iterations: int = 1000,
    stop: StopRule = "klustakwik2",
    points_for_cluster_mask: float = 50.0,
    exact_variances: bool = False,
    prior_point: float = 1.0,
    noise_point: float = 1.0,
    penalty_k: float = 0.0,
    penalty_k_log_n: float = 1.0,
    deletions: Deletions = "one",
    splits: bool = True,
    split_first: int = 20,
    split_every: int = 40,
    split_start: SplitStart = "principal",
    refractory: Time = 0.0015,
    strategy: SortStrategy = "automatic",
    precision: Precision = "full",
    seed: int = 0,
    threads: int = 0,
    device: str = "automatic",
    progress: Progress = None,
) -> SortResult:
    """Finds units in a recording.

    Band pass, detection of spikes by a flood fill over neighbouring channels, principal components
    on each channel with masks, and a masked mixture of Gaussians, as by ``spikeweave sort`` on the
    command line.

    Parameters
    ----------
    recording
        A recording in any form that `Recording.of` accepts.
    sample_rate, gain, positions, shanks
        For arrays; see `Recording.of`.
    low_corner, high_corner, filter_order
        Corners of the band pass in Hz, and its order.
    reference
        Common reference subtracted from all channels: ``"median"`` or ``"none"``; ``"auto"``: the
        median for 64 channels or more.
    whiten
        Decorrelate the noise of the channels.
    weak, strong
        A spike is a connected set of samples beyond `weak`, at least one beyond `strong`, both in
        standard deviations of its channel's noise.
    sign
        ``"negative"``, ``"positive"`` or ``"both"``.
    before, after
        The part of the waveform before and after the peak that features are computed from.
    neighbours
        How far apart neighbouring channels are at most, in micrometres; by default 1.5 times the
        distance that half of the channels have to their nearest one.
    features_per_channel
        Principal components.
    starting_clusters
        Number of clusters at the start; ``"auto"`` depends on the number of spikes.
    max_clusters, max_iterations
        Limits of the search.
    stop
        ``"klustakwik2"``: when nothing changes; ``"seed"``: early.
    points_for_cluster_mask
        Smallest sum of masks for which a feature gets covariances in a cluster.
    exact_variances
        Use the cluster's own variances for its other features, not those of the noise.
    prior_point, noise_point, penalty_k, penalty_k_log_n
        As in klustakwik2.
    deletions
        Clusters deleted per iteration: ``"one"``, ``"all"`` or ``"none"``.
    splits, split_first, split_every, split_start
        Whether clusters are split, after how many iterations first and again, and into which
        halves: ``"principal"`` or ``"random"``.
    refractory
        Refractory period for the quality measures of units.
    strategy
        ``"automatic"``, ``"reference"``, ``"cpu"`` or ``"cuda"``.
    precision
        On a GPU ``"full"`` or ``"fast"``.
    seed
        Random seed for random halves.
    threads, progress
        As in `episodes`.
    device
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"automatic"``: the first GPU if there is one.

    Returns
    -------
    SortResult

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected; ValueError also if there is no
        spike.
    OSError
        If a file cannot be read.
    DeviceError
        If a GPU is missing or has too little memory.

    References
    ----------
    C. Rossant et al., Nature Neuroscience 19:634 (2016), doi:10.1038/nn.4268; S. N. Kadir,
    D. F. M. Goodman, K. D. Harris, Neural Computation 26:2379 (2014), doi:10.1162/NECO_a_00661.

    Examples
    --------
    >>> import spikeweave
    >>> made = spikeweave.simulate.recording(
    ...     units=3, length="20s", low_peak=150, low_rate=8, seed=4
    ... )
    >>> found = spikeweave.sort(made.recording)
    >>> int((found.units["spikes"] > 100).sum())
    3
    """
    description = given(sample_rate=sample_rate, gain=gain, positions=positions, shanks=shanks)
    options = options_in(locals(), "recording", "description", *description, "progress")
    source = Recording.of(recording, **description)
    with reporting(progress) as callback:
        found = _core.sort_recording(source._core, {**options, **given(progress=callback)})
    return _result(found, description, source.sample_rate, source)


def sort_features(
    features: ArrayLike | str | os.PathLike[str],
    masks: ArrayLike | None = None,
    *,
    samples: ArrayLike | None = None,
    sample_rate: float | None = None,
    mask: MaskRule | None = None,
    features_per_channel: int | None = None,
    starting_clusters: int | Literal["auto"] = 500,
    max_clusters: int = 1000,
    max_iterations: int = 1000,
    stop: StopRule = "klustakwik2",
    points_for_cluster_mask: float = 50.0,
    exact_variances: bool = False,
    prior_point: float = 1.0,
    noise_point: float = 1.0,
    penalty_k: float = 0.0,
    penalty_k_log_n: float = 1.0,
    deletions: Deletions = "one",
    splits: bool = True,
    split_first: int = 20,
    split_every: int = 40,
    split_start: SplitStart = "principal",
    refractory: Time = 0.0015,
    strategy: SortStrategy = "automatic",
    precision: Precision = "full",
    seed: int = 0,
    threads: int = 0,
    device: str = "automatic",
    progress: Progress = None,
) -> SortResult:
    """Finds units among spikes by their features: a masked mixture of Gaussians.

    Parameters
    ----------
    features : array of shape (spikes, features), or path
        Finite numbers, grouped by channel. Or a file:
        KlustaKwik's ``.fet.N``, a folder of Phy, or an ``.npz`` with the array ``features``.
    masks : array of shape (spikes, features)
        In [0, 1]: how clearly each feature differs from noise. By default those of the file, or
        computed by `mask`.
    samples : array of int64, shape (spikes,)
        Time of each spike.
    sample_rate
        In Hz, for times.
    mask
        Rule to compute masks: ``"mad"`` (used if there are none), ``"seed"`` or ``"all"``: 1
        everywhere.
    features_per_channel
        For the masks; by default as stated in the file, else 3.
    starting_clusters, max_clusters, max_iterations, stop, points_for_cluster_mask, \
exact_variances, prior_point, noise_point, penalty_k, penalty_k_log_n, deletions, splits, \
split_first, split_every, split_start, refractory, strategy, precision, seed, threads, device, \
progress
        As in `sort`.

    Returns
    -------
    SortResult

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import spikeweave
    >>> made = spikeweave.simulate.features(spikes=2000, units=4, channels=8, seed=1)
    >>> spikeweave.sort_features(made.features, made.masks).unit_count
    4
    """
    options = options_in(locals(), "features", "masks", "samples", "progress")
    if isinstance(features, (str, os.PathLike)):
        check_readable(Path(features))
        file = _core.read_features(
            str(Path(features)), given(features_per_channel=features_per_channel)
        )
        for warning in file["warnings"]:
            warnings.warn(f"{features}: {warning}", stacklevel=2)
        features = file["features"]
        masks = file["masks"] if masks is None and mask is None else masks
        samples = file["samples"] if samples is None else samples
        features_per_channel = features_per_channel or file["features_per_channel"] or None
        sample_rate = sample_rate or file["sample_rate"] or None
    if masks is not None and mask is not None:
        raise ValueError("mask: says how masks are made, and masks are given")
    values = _matrix("features", features)
    rows = None if masks is None else _matrix("masks", masks)
    if rows is not None and rows.shape != values.shape:
        raise ValueError(f"masks: expected shape {values.shape}, found {rows.shape}")
    frames = None if samples is None else array("samples", samples, np.int64)
    if frames is not None and len(frames) != len(values):
        raise ValueError(f"samples: expected {len(values)}, found {len(frames)}")
    options |= given(sample_rate=sample_rate, features_per_channel=features_per_channel)
    with reporting(progress) as callback:
        found = _core.sort_features(values, rows, frames, {**options, **given(progress=callback)})
    return _result(found, {}, sample_rate, None)


def _matrix(name: str, values: Any) -> NDArray[np.float64]:
    out = np.ascontiguousarray(numbers(name, values), dtype=np.float64)
    if out.ndim != 2:
        raise ValueError(f"{name}: expected shape (spikes, features), found {out.shape}")
    return out


def _result(
    found: dict[str, Any],
    description: dict[str, Any],
    sample_rate: float | None,
    source: Recording | None,
) -> SortResult:
    same_time = found.get("duplicates", 0)
    told = list(found["warnings"])
    if same_time:
        told.append(
            f"{same_time} spikes came at the microsecond of another of their unit: `spikes` has "
            "them once."
        )
    for warning in told:
        warnings.warn(warning, stacklevel=3)
    spikes = SpikeSequence._from_core(found["spikes"]) if "spikes" in found else None
    search = found["search"]
    return SortResult(
        labels=found["labels"],
        samples=found["samples"],
        spikes=spikes if spikes is None or source is None else source._in_its_time(spikes),
        units=found["units"],
        waveforms=found.get("waveforms"),
        waveform_peak=found.get("waveform_peak"),
        noise=found.get("noise"),
        sample_rate=sample_rate,
        channel_positions=None if source is None else source.positions,
        iterations=search["iterations"],
        score=search["score"],
        stopped=search["stopped"],
        same_time=same_time,
        parameters={**description, **found["parameters"]},
        warnings=told,
        _data=found["data"],
    )
