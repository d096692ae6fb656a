"""Spike sorting by a masked mixture of Gaussians."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._adapters.files import check_readable
from .._adapters.progress import Progress, reporting
from .._values.arguments import given
from .._values.arrays import array, numbers
from .._values.recording import Recording, RecordingLike
from .._values.sort import SortResult
from .._values.spikes import SpikeSequence
from .._values.types import FilePath, Quantity
from .described import described

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import SortFeaturesOptions, SortOptions


@described(_core.sort_options)
def sort(
    recording: RecordingLike,
    *,
    sample_rate: float | Quantity | None = None,
    gain: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    shanks: ArrayLike | None = None,
    progress: Progress = None,
    **options: Unpack[SortOptions],
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
    {options}

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
    source = Recording.of(recording, **description)
    with reporting(progress) as callback:
        found = _core.sort_recording(source._core, {**options, "progress": callback})
    return _result(found, description, source.sample_rate, source)


@described(_core.sort_features_options)
def sort_features(
    features: ArrayLike | FilePath,
    masks: ArrayLike | None = None,
    *,
    samples: ArrayLike | None = None,
    progress: Progress = None,
    **options: Unpack[SortFeaturesOptions],
) -> SortResult:
    """Finds units among spikes by their features: a masked mixture of Gaussians.

    Parameters
    ----------
    features : array of shape (spikes, features), or path
        Finite numbers, grouped by channel. Or a file: KlustaKwik's ``.fet.N``, klusta's ``.kwik``
        or ``.kwx``, a folder of Phy, or an ``.npz`` with the array ``features``.
    masks : array of shape (spikes, features)
        In [0, 1]: how clearly each feature differs from noise. By default those of the file, or
        computed by `mask`.
    samples : array of int64, shape (spikes,)
        Time of each spike.
    {options}

    Returns
    -------
    SortResult

    {raises}
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import spikeweave
    >>> made = spikeweave.simulate.features(spikes=2000, units=4, channels=8, seed=1)
    >>> spikeweave.sort_features(made.features, made.masks).unit_count
    4
    """
    if masks is not None and options.get("mask") is not None:
        raise ValueError("mask: says how masks are made, and masks are given")
    rows = None if masks is None else _matrix("masks", masks)
    frames = None if samples is None else array("samples", samples, np.int64)
    with reporting(progress) as callback:
        call = {**options, "progress": callback}
        if isinstance(features, (str, os.PathLike)):
            check_readable(Path(features))
            found = _core.sort_features(features, rows, frames, call)
        else:
            values = _matrix("features", features)
            _check_rows("masks", rows, values.shape)
            _check_rows("samples", frames, values.shape[:1])
            found = _core.sort_features(values, rows, frames, call)
    return _result(found, {}, found["parameters"]["sample_rate"], None)


def _check_rows(name: str, given: NDArray[Any] | None, shape: tuple[int, ...]) -> None:
    if given is not None and given.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, found {given.shape}")


def _matrix(name: str, values: Any) -> NDArray[np.float64]:
    out = np.ascontiguousarray(numbers(name, values), dtype=np.float64)
    if out.ndim != 2:
        raise ValueError(f"{name}: expected shape (spikes, features), found {out.shape}")
    return out


def _columns(table: dict[str, Any] | None) -> dict[str, NDArray[Any]] | None:
    return table and {name: np.asarray(values) for name, values in table.items()}


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
        units=_columns(found["units"]) or {},
        waveforms=found.get("waveforms"),
        waveform_peak=found.get("waveform_peak"),
        noise=found.get("noise"),
        motion=found.get("motion"),
        merges=_columns(found.get("merges")),
        sample_rate=sample_rate,
        channel_positions=None if source is None else source.positions,
        iterations=search["iterations"],
        score=search["score"],
        stopped=search["stopped"],
        same_time=same_time,
        parameters={**description, **found["parameters"]},
        warnings=told,
        _data=found["data"],
        _report=found["report"],
    )
