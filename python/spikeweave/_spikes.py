"""Spikes of many units in time order, and what can be taken for them."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._call import given
from ._tables import data_frame, html_table

#: What every function that takes spikes accepts; `SpikeSequence.of` says what each is.
SpikesLike = Union["SpikeSequence", str, os.PathLike[str], tuple, Mapping, Sequence, Any]

_SHOWN = 8


class SpikeSequence:
    """All spikes of a recording in time order.

    Times are whole microseconds inside, so that no delay is misjudged by rounding, and seconds
    (float64) outside. No unit has two spikes at the same microsecond. The object does not change.

    Make one with `SpikeSequence.of`, which every function of the package does by itself with what
    it is given, with `read`, or with a function of `simulate`.

    Examples
    --------
    >>> import spikeweave
    >>> spikes = spikeweave.SpikeSequence.of([[0.01, 0.31], [0.015]], t_start=0, t_stop=1)
    >>> spikes
    <SpikeSequence: 3 spikes of 2 units, 0 s to 1 s>
    >>> spikes.times, spikes.units
    (array([0.01 , 0.015, 0.31 ]), array([0, 1, 0], dtype=uint32))
    """

    __slots__ = ("_core",)

    def __init__(self, core: Any) -> None:
        self._core = core

    @classmethod
    def of(
        cls,
        spikes: SpikesLike,
        *,
        unit_names: Sequence[str] | None = None,
        t_start: Any = None,
        t_stop: Any = None,
    ) -> SpikeSequence:
        """Takes spikes as neighbouring tools have them.

        Parameters
        ----------
        spikes
            One of

            - a `SpikeSequence`, or the path of a file that `read` reads;
            - ``(times, units)``: two arrays of the same length, in any order. Units are numbers or
              labels; without `unit_names` a unit is what occurs among them;
            - ``(times, offsets)``: the trains one after another (compressed rows), where unit ``i``
              has ``times[offsets[i]:offsets[i + 1]]``; also as ``{"times": ..., "offsets": ...}``,
              which is the way for as many offsets as times;
            - a list of arrays, a train of times each; a mapping from names to such arrays;
            - a list of `neo.SpikeTrain` or a neo ``SpikeTrainList``, in any units of time;
            - an Elephant ``BinnedSpikeTrain``: a spike stands at the left edge of its bin;
            - a pynapple ``TsGroup``;
            - a SpikeInterface ``BaseSorting`` of one segment.

            Times are in seconds, but for those that have a unit of their own.
        unit_names
            One name a unit, all different; by default what the input calls its units, else 0, 1, …
        t_start, t_stop : float, str or quantity
            The recorded span in seconds, which holds all spikes. By default what the input says,
            else from the first spike to the last.

        Returns
        -------
        SpikeSequence

        Raises
        ------
        TypeError
            If it is none of these.
        ValueError
            For times that are not finite or lie outside of the span, units without a name, names
            that repeat, quantities that are no times.

        Warns
        -----
        UserWarning
            If spikes stand there twice: same unit, same microsecond. One of them is kept.
        """
        from ._inputs import arrays_of

        if isinstance(spikes, (str, os.PathLike)):
            from ._files import read

            spikes = read(spikes)
        if isinstance(spikes, cls) and unit_names is None and t_start is None and t_stop is None:
            return spikes
        times, units, names, start, stop = arrays_of(spikes, unit_names)
        core, duplicates = _core.make_spikes(
            times,
            units,
            names,
            given(
                t_start=start if t_start is None else t_start,
                t_stop=stop if t_stop is None else t_stop,
            ),
        )
        if duplicates:
            warnings.warn(f"{duplicates} spikes stood twice and were dropped.", stacklevel=2)
        return cls(core)

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of all spikes in seconds, ascending: shape (spikes,)."""
        return self._core.times

    @property
    def times_us(self) -> NDArray[np.int64]:
        """The same in microseconds, as they are kept."""
        return self._core.times_us

    @property
    def units(self) -> NDArray[np.uint32]:
        """The unit of each spike, an index into `unit_names`: shape (spikes,)."""
        return self._core.units

    @property
    def unit_names(self) -> list[str]:
        """One name a unit, all different."""
        return self._core.unit_names

    @property
    def t_start(self) -> float:
        """Begin of the recorded span, seconds."""
        return self._core.t_start

    @property
    def t_stop(self) -> float:
        """End of the recorded span, seconds."""
        return self._core.t_stop

    @property
    def counts(self) -> NDArray[np.int64]:
        """Spikes of each unit: shape (units,)."""
        return np.bincount(self.units, minlength=len(self.unit_names))

    def trains(self) -> list[NDArray[np.float64]]:
        """The times of each unit, in seconds, ascending."""
        times, offsets = self._core.trains()
        return [times[begin:end] for begin, end in itertools.pairwise(offsets)]

    def __reduce__(self) -> tuple[Any, ...]:
        # Whole microseconds come back as they are: below 285 years a double holds them exactly.
        span = (self.t_start, self.t_stop) if self._core.states_span else (None, None)
        return _again, (self.times, self.units, self.unit_names, *span)

    def check(self) -> list[str]:
        """What a careful colleague would say: double spikes, milliseconds taken for seconds,
        artefacts. Whole sentences; empty for clean data."""
        return self._core.check()

    def to_neo(self) -> list[Any]:
        """The same as a list of `neo.SpikeTrain` in seconds, named after the units."""
        import neo

        return [
            neo.SpikeTrain(train, units="s", t_start=self.t_start, t_stop=self.t_stop, name=name)
            for name, train in zip(self.unit_names, self.trains(), strict=True)
        ]

    def to_dataframe(self) -> Any:
        """A pandas data frame with a row a spike: ``time`` in seconds, ``unit`` by its name."""
        names = np.asarray(self.unit_names, dtype=object)
        return data_frame({"time": self.times, "unit": names[self.units]})

    def __len__(self) -> int:
        return len(self._core)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpikeSequence) and self._core.same_as(other._core)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<SpikeSequence: {len(self)} spikes of {len(self.unit_names)} units, "
            f"{self.t_start:g} s to {self.t_stop:g} s>"
        )

    def _repr_html_(self) -> str:
        length = self.t_stop - self.t_start
        rows = [
            (name, count, f"{count / length:.3g}" if length > 0 else "")
            for name, count in zip(self.unit_names[:_SHOWN], self.counts[:_SHOWN], strict=True)
        ]
        if len(self.unit_names) > _SHOWN:
            rows.append(("…", "", ""))
        return html_table(repr(self).strip("<>"), ["unit", "spikes", "rate (Hz)"], rows)


def _again(
    times: NDArray[np.float64],
    units: NDArray[np.uint32],
    names: list[str],
    t_start: float | None,
    t_stop: float | None,
) -> SpikeSequence:
    """A sequence from its parts, for pickles and copies."""
    core, _ = _core.make_spikes(times, units, names, given(t_start=t_start, t_stop=t_stop))
    return SpikeSequence(core)


def array(name: str, values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """A contiguous array of one dimension. TypeError or ValueError with the argument's name.

    Quantities of time and `timedelta64` become seconds; whole numbers are asked for by an integer
    `dtype`.
    """
    out = numbers(name, values)
    if out.ndim != 1:
        raise ValueError(f"{name}: expected an array of one dimension, found shape {out.shape}")
    is_whole = out.dtype.kind != "f" or np.array_equal(out, np.floor(out))  # NaN is not
    if np.issubdtype(dtype, np.integer) and not is_whole:
        raise ValueError(f"{name}: expected whole numbers, found fractions")
    return np.ascontiguousarray(out, dtype=dtype)


def numbers(name: str, values: Any) -> NDArray[Any]:
    """Values as an array of real numbers; times with a unit as seconds."""
    if hasattr(values, "rescale"):
        try:
            values = values.rescale("s").magnitude
        except ValueError as error:
            raise ValueError(f"{name}: expected times, found {error}") from None
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name}: expected an array, found {values!r}")
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected an array, found a masked one (compressed() unmasks it)")
    if isinstance(values, (list, tuple)) and any(hasattr(one, "rescale") for one in values):
        values = [_seconds(name, one) for one in values]
    try:
        out = np.asarray(values)
        if out.dtype.kind == "m":
            out = out / np.timedelta64(1, "s")
        if out.dtype == object:
            out = out.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected an array of numbers, found {type(values)}") from None
    if out.size == 0 and out.dtype.kind not in "iufb":
        out = out.astype(np.float64)
    if out.dtype.kind not in "iuf":
        raise TypeError(f"{name}: expected an array of numbers, found {out.dtype}")
    return out


def _seconds(name: str, value: Any) -> float:
    try:
        return float(_core.seconds(value))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None
