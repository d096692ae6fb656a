"""Voltages of many channels over time."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._call import given
from ._files import is_hdf5

#: What `sort` takes for a recording; `Recording.of` says what each is.
RecordingLike = Union["Recording", str, os.PathLike[str], NDArray, Any]

# Voltages that come as floating-point numbers are sorted in counts of this many microvolts.
COUNT_UV = 0.05


class Recording:
    """Samples of many channels, read piece by piece from where they lie.

    Make one with `read_recording`, `Recording.of` or `simulate.recording`.
    """

    __slots__ = ("_core",)

    def __init__(self, core: Any) -> None:
        self._core = core

    @classmethod
    def of(
        cls,
        recording: RecordingLike,
        *,
        sample_rate: float | None = None,
        gain: ArrayLike | None = None,
        positions: ArrayLike | None = None,
        shanks: ArrayLike | None = None,
        channel_names: Sequence[str] | None = None,
    ) -> Recording:
        """Takes a recording as neighbouring tools have it.

        Parameters
        ----------
        recording
            A `Recording`; the path of one, which `read_recording` opens; a SpikeInterface
            ``BaseRecording`` of one segment, read as it is needed, with its preprocessing; or an
            array of shape (frames, channels). Integers are counts, int16 at most; floating-point
            numbers are microvolts, which are rounded to 0.05 and may reach 1,638.
        sample_rate
            In Hz; needed with an array.
        gain
            Microvolts of a count, one number or one a channel, with an array of integers; 1 by
            default.
        positions : array of shape (channels, 2)
            Where contacts lie, in micrometres; with an array a line 20 um apart by default.
        shanks
            Of each channel; contacts of different shanks are never neighbours.
        channel_names
            Of each channel; by default 0, 1, …

        Returns
        -------
        Recording

        Raises
        ------
        TypeError, ValueError
            Naming the argument, what was found and what was expected.
        """
        extras = given(
            sample_rate=sample_rate,
            gain=gain,
            positions=positions,
            shanks=shanks,
            channel_names=channel_names,
        )
        if (isinstance(recording, cls) or not isinstance(recording, np.ndarray)) and extras:
            raise TypeError(f"{next(iter(extras))}: is for arrays only")
        if isinstance(recording, cls):
            return recording
        if isinstance(recording, (str, os.PathLike)):
            return read_recording(recording)
        if hasattr(recording, "get_traces") and hasattr(recording, "get_sampling_frequency"):
            return cls(_of_spikeinterface(recording))
        if hasattr(recording, "rescale") or not isinstance(recording, np.ndarray):
            raise TypeError(
                f"recording: expected what Recording.of lists, found {type(recording).__name__}"
            )
        if recording.ndim != 2 or 0 in recording.shape:
            raise ValueError(
                f"recording: expected an array of frames and channels, found {recording.shape}"
            )
        if sample_rate is None:
            raise TypeError("sample_rate: expected a number in Hz, since an array does not say it")
        rate = _hertz(sample_rate)
        if recording.dtype.kind == "f" and gain is not None:
            raise ValueError("gain: is for integers; floating-point numbers are microvolts")
        channels = channel_list(
            recording.shape[1],
            COUNT_UV if recording.dtype.kind == "f" else 1.0 if gain is None else gain,
            0.0,
            positions,
            shanks,
            channel_names,
        )
        get = as_counts(recording.dtype, lambda begin, end: recording[begin:end])
        return cls(_core.recording_of(get, len(recording), channels, rate, positions is not None))

    @property
    def frames(self) -> int:
        """Samples of each channel."""
        return self._core.frames

    @property
    def sample_rate(self) -> float:
        """Samples a second."""
        return self._core.sample_rate

    @property
    def channels(self) -> list[dict[str, Any]]:
        """Of each channel ``name``, ``gain_uv``, ``offset_uv``, ``x_um``, ``y_um``, ``shank``."""
        return self._core.channels

    @property
    def positions(self) -> NDArray[np.float64]:
        """Where contacts lie, in micrometres: shape (channels, 2)."""
        return np.array([(one["x_um"], one["y_um"]) for one in self.channels])

    def samples(self, begin: int, end: int) -> NDArray[np.int16]:
        """Counts of frames ``begin`` to ``end`` (not included): shape (frames, channels)."""
        return self._core.read(begin, end)

    def microvolts(self, begin: int, end: int) -> NDArray[np.float64]:
        """The same in microvolts."""
        gain = np.array([one["gain_uv"] for one in self.channels])
        offset = np.array([one["offset_uv"] for one in self.channels])
        return self.samples(begin, end) * gain + offset

    def __repr__(self) -> str:
        return (
            f"<Recording: {len(self.channels)} channels, {self.frames / self.sample_rate:g} s at "
            f"{self.sample_rate:g} Hz>"
        )


def read_recording(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    sample_rate: float | None = None,
    channels: int | None = None,
    gain: float | None = None,
    header_bytes: int | None = None,
    probe: str | os.PathLike[str] | None = None,
    stream: str | None = None,
) -> Recording:
    """Opens a recording; nothing is read but what describes it.

    Parameters
    ----------
    path
        SpikeGLX ``.bin``, an Open Ephys folder, SpikeInterface's binary folder, NWB 2 with an
        ElectricalSeries (by pynwb, which has to be installed), or raw int16 samples.
    format
        ``"spikeglx"``, ``"open_ephys"``, ``"binary"``, ``"nwb"`` or ``"raw"``; by default it is
        found by content.
    sample_rate, channels, gain, header_bytes
        Of raw samples, which do not say themselves: Hz, channels of a frame, microvolts of a
        count, where the first sample stands.
    probe
        Where channels lie: a file of probeinterface (JSON), in place of what the recording says.
    stream
        Which of several streams.

    Returns
    -------
    Recording

    Raises
    ------
    OSError
        Naming the file, what was found and what was expected.
    ValueError
        For options that do not fit the format.

    Warns
    -----
    UserWarning
        For what a careful colleague would say about it.
    """
    path = Path(path)
    if format == "nwb" or (format is None and path.is_file() and is_hdf5(path)):
        from ._nwb_recording import open_series

        of_others = given(
            sample_rate=sample_rate,
            channels=channels,
            gain=gain,
            header_bytes=header_bytes,
            probe=probe,
        )
        if of_others:
            raise ValueError(f"{next(iter(of_others))}: an NWB file says this itself")
        return Recording(open_series(path, stream))
    core = _core.read_recording(
        str(path),
        given(
            format=format,
            sample_rate=sample_rate,
            channels=channels,
            gain=gain,
            header_bytes=header_bytes,
            probe=None if probe is None else str(probe),
            stream=stream,
        ),
    )
    for warning in core.warnings:
        warnings.warn(f"{path}: {warning}", stacklevel=2)
    return Recording(core)


def _hertz(sample_rate: Any) -> float:
    try:
        if hasattr(sample_rate, "rescale"):
            sample_rate = sample_rate.rescale("Hz").magnitude
        if isinstance(sample_rate, (str, bytes)):
            raise TypeError
        return float(sample_rate)
    except (TypeError, ValueError):
        raise TypeError(f"sample_rate: expected a number in Hz, found {sample_rate!r}") from None


def _per_channel(name: str, values: ArrayLike, count: int, dtype: Any) -> NDArray[Any]:
    try:
        return np.broadcast_to(np.asarray(values, dtype=dtype), (count,))
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected one value, or {count}, one a channel") from None


def channel_list(
    count: int,
    gain: ArrayLike,
    offset: ArrayLike,
    positions: ArrayLike | None,
    shanks: ArrayLike | None,
    names: Sequence[str] | None,
) -> list[dict[str, Any]]:
    gains = _per_channel("gain", gain, count, float)
    offsets = _per_channel("offset", offset, count, float)
    shank = _per_channel("shanks", 0 if shanks is None else shanks, count, int)
    places = (
        np.column_stack([np.zeros(count), 20.0 * np.arange(count)])
        if positions is None
        else np.asarray(positions, dtype=float)
    )
    if places.shape != (count, 2):
        raise ValueError(f"positions: expected shape ({count}, 2), found {places.shape}")
    names = [str(i) for i in range(count)] if names is None else [str(name) for name in names]
    if len(names) != count:
        raise ValueError(f"channel_names: expected {count}, found {len(names)}")
    return [
        {
            "name": names[i],
            "gain_uv": float(gains[i]),
            "offset_uv": float(offsets[i]),
            "x_um": float(places[i, 0]),
            "y_um": float(places[i, 1]),
            "shank": int(shank[i]),
        }
        for i in range(count)
    ]


def as_counts(
    dtype: np.dtype, get: Callable[[int, int], NDArray[Any]]
) -> Callable[[int, int], NDArray[np.int16]]:
    """What gives frames as int16, of what gives them as they are."""
    limits = np.iinfo(np.int16)

    def checked(samples: NDArray[Any], what: str) -> NDArray[np.int16]:
        if len(samples) and not (
            limits.min <= samples.min() and samples.max() <= limits.max
        ):  # False for NaN, too
            raise ValueError(
                f"recording: expected {what}, found {samples.min()} to {samples.max()}"
            )
        return np.ascontiguousarray(samples, dtype=np.int16)

    if dtype == np.int16:
        return lambda begin, end: np.ascontiguousarray(get(begin, end))
    if dtype.kind in "iu":
        return lambda begin, end: checked(get(begin, end), "counts that int16 holds")
    if dtype.kind == "f":
        return lambda begin, end: checked(
            np.round(np.asarray(get(begin, end), dtype=np.float64) / COUNT_UV),
            f"microvolts within {limits.max * COUNT_UV:.0f}, in counts of {COUNT_UV}",
        )
    raise TypeError(f"recording: expected numbers, found {dtype}")


def _of_spikeinterface(recording: Any) -> Any:
    if recording.get_num_segments() != 1:
        raise ValueError(
            f"recording: it has {recording.get_num_segments()} segments, expected 1 "
            "(recording.select_segments takes one out)"
        )
    starts = (
        float(recording.get_times(segment_index=0)[0])
        if recording.has_time_vector()
        else (recording.get_start_time(segment_index=0) or 0.0)
    )
    if starts:
        warnings.warn(
            f"The recording begins at {starts:g} s; times are counted from its first sample.",
            stacklevel=4,
        )
    count = recording.get_num_channels()
    dtype = np.dtype(recording.get_dtype())
    try:
        positions = np.asarray(recording.get_channel_locations())[:, :2]
    except Exception:  # without a probe, whatever kind of exception says so
        positions = None
    gains = recording.get_channel_gains() if dtype.kind != "f" else None
    offsets = recording.get_channel_offsets() if dtype.kind != "f" else None
    scaled = dtype.kind == "f" and recording.has_scaleable_traces()
    channels = channel_list(
        count,
        COUNT_UV if dtype.kind == "f" else 1.0 if gains is None else gains,
        0.0 if offsets is None else offsets,
        positions,
        recording.get_property("group"),
        [str(name) for name in recording.get_channel_ids()],
    )

    def get(begin: int, end: int) -> NDArray[Any]:
        return recording.get_traces(
            segment_index=0, start_frame=begin, end_frame=end, return_in_uV=scaled
        )

    return _core.recording_of(
        as_counts(dtype, get),
        recording.get_num_samples(),
        channels,
        float(recording.get_sampling_frequency()),
        positions is not None,
    )
