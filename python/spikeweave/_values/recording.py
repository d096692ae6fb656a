"""Voltages of many channels over time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .arguments import given
from .channels import COUNT_UV, as_counts, channel_list
from .conversions import converter_of, recording_forms
from .spikes import SpikeSequence
from .tables import short
from .types import BaseRecording, Quantity

#: The forms of a recording that `sort` accepts; `Recording.of` describes them.
RecordingLike = Union[
    "Recording", "HasRecording", str, os.PathLike[str], NDArray[Any], BaseRecording
]


class HasRecording(Protocol):
    """A simulation with a recording."""

    @property
    def recording(self) -> Recording: ...


class Recording:
    """Samples of many channels, read in pieces from their source.

    Make one with `read_recording`, `Recording.of` or `simulate.recording`. A pickle or a copy of
    one that was read from a file opens the file again; others include their samples.
    """

    __slots__ = ("_again", "_core", "_times")

    def __init__(
        self,
        core: Any,
        *,
        times: NDArray[np.float64] | None = None,
        again: tuple[Callable[..., Recording], tuple[Any, ...]] | None = None,
    ) -> None:
        self._core = core
        # The times of all samples, in seconds, where they are not even.
        self._times = times
        # The function that makes it again, and its arguments; None where its samples have to be
        # pickled.
        self._again = again

    @classmethod
    def of(
        cls,
        recording: RecordingLike,
        *,
        sample_rate: float | Quantity | None = None,
        gain: ArrayLike | None = None,
        positions: ArrayLike | None = None,
        shanks: ArrayLike | None = None,
        channel_names: Sequence[str] | None = None,
    ) -> Recording:
        """Converts recordings of other packages.

        Parameters
        ----------
        recording
            A `Recording`, or a simulation with one; the path of one, which `read_recording` opens;
            a SpikeInterface ``BaseRecording`` of one segment, read as it is needed, with its
            preprocessing and its times; or an array of shape (frames, channels). Integers are
            counts, int16 at most; floating-point numbers are microvolts, which are rounded to 0.05
            and may reach 1,638.
        sample_rate
            In Hz; needed with an array.
        gain
            Microvolts per count, one number or one per channel, with an array of integers; 1 by
            default.
        positions : array of shape (channels, 2)
            Positions of the contacts in micrometres; for an array, by default a line with a spacing
            of 20 um.
        shanks
            Shank of each channel; contacts of different shanks are never neighbours.
        channel_names
            Name of each channel; by default 0, 1, …

        Returns
        -------
        Recording

        Raises
        ------
        TypeError, ValueError
            Naming the argument, what was found and what was expected.
        """
        held = getattr(recording, "recording", None)
        if isinstance(held, cls):
            recording = held
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
        convert = converter_of(recording, recording_forms)
        if convert is not None:
            return convert(recording)
        if hasattr(recording, "rescale") or not isinstance(recording, np.ndarray):
            raise TypeError(
                "recording: expected a form that Recording.of lists, "
                f"found {type(recording).__name__}"
            )
        if recording.ndim != 2 or 0 in recording.shape:
            raise ValueError(
                f"recording: expected an array of frames and channels, found {recording.shape}"
            )
        if sample_rate is None:
            raise TypeError("sample_rate: expected a number in Hz, since an array does not have it")
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
        return _of_array(recording, channels, rate, positions is not None)

    @property
    def frames(self) -> int:
        """Samples of each channel."""
        return self._core.frames

    @property
    def sample_rate(self) -> float:
        """Samples a second."""
        return self._core.sample_rate

    @property
    def t_start(self) -> float:
        """Time of its first sample in seconds, by the clock of its file; 0 if it has none."""
        return self._core.t_start

    @property
    def channels(self) -> list[dict[str, Any]]:
        """For each channel ``name``, ``gain_uv``, ``offset_uv``, ``x_um``, ``y_um``, ``shank``."""
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

    def check(self) -> list[str]:
        """What the samples show of faults of the rig as whole sentences: channels that are dead,
        noisy, at their limit or copies of others, blanked times, spikes that point the other way,
        unsigned samples. Empty for a clean recording. Reads up to 64 pieces of a quarter of a
        second."""
        return self._core.check()

    def _in_its_time(self, spikes: SpikeSequence) -> SpikeSequence:
        """Spikes whose times are as if samples were even, in the times of the samples."""
        if self._times is None:
            return spikes
        start, stop = self._time_of(self._times, np.array([spikes.t_start, spikes.t_stop]))
        moved = SpikeSequence.of(
            (self._time_of(self._times, spikes.times), spikes.units),
            unit_names=spikes.unit_names,
            t_start=start,
            t_stop=stop,
        )
        return SpikeSequence._from_core(moved._core.with_doubtful_pairs(spikes.doubtful_pairs))

    def _time_of(
        self, times: NDArray[np.float64], as_if_even: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        at = (as_if_even - self.t_start) * self.sample_rate
        sample = np.clip(np.floor(at).astype(np.int64), 0, max(len(times) - 2, 0))
        following = np.minimum(sample + 1, len(times) - 1)
        step = times[following] - times[sample]
        return times[sample] + (at - sample) * step

    def __reduce__(self) -> tuple[Any, ...]:
        if self._again is not None:
            return self._again
        samples = self.samples(0, self.frames)
        has_positions, t_start = self._core.has_positions, self.t_start
        return _of_array, (samples, self.channels, self.sample_rate, has_positions, t_start)

    def __repr__(self) -> str:
        length = short(self.frames / self.sample_rate, 4)
        rate = short(self.sample_rate, 4)
        return f"<Recording: {len(self.channels):,} channels, {length} s at {rate} Hz>"


def _of_array(
    samples: NDArray[Any],
    channels: list[dict[str, Any]],
    sample_rate: float,
    has_positions: bool,
    t_start: float = 0.0,
) -> Recording:
    get = as_counts(samples.dtype, lambda begin, end: samples[begin:end])
    return Recording(
        _core.recording_of(get, len(samples), channels, sample_rate, has_positions, t_start),
        again=(_of_array, (samples, channels, sample_rate, has_positions, t_start)),
    )


def _hertz(sample_rate: Any) -> float:
    try:
        if hasattr(sample_rate, "rescale"):
            sample_rate = sample_rate.rescale("Hz").magnitude
        if isinstance(sample_rate, (str, bytes)):
            raise TypeError
        return float(sample_rate)
    except (TypeError, ValueError):
        raise TypeError(f"sample_rate: expected a number in Hz, found {sample_rate!r}") from None
