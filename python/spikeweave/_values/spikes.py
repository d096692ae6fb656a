"""Spikes of many units in time order, and conversion from other forms."""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .arrays import seconds
from .conversions import UnitsToNwb, converted, converter_of, spike_forms
from .held_spikes import HeldSpikes
from .spike_arrays import SpikeArrays
from .tables import counted, html_table, short, short_span
from .types import SpikesLike, Time

if TYPE_CHECKING:
    import pandas

_SHOWN = 8


class SpikeSequence(HeldSpikes, UnitsToNwb):
    """All spikes of a recording in time order.

    Times are stored as whole microseconds, so that rounding affects no delay, and returned in
    seconds (float64). No unit has two spikes at the same microsecond. The object does not change.

    ``SpikeSequence(...)`` converts any input that `SpikeSequence.of` lists; every function of the
    package does this with its input. `read` and the functions of `simulate` also return one.

    Parameters
    ----------
    spikes, unit_names, t_start, t_stop
        As in `SpikeSequence.of`.

    Examples
    --------
    >>> import spikeweave
    >>> spikes = spikeweave.SpikeSequence.of([[0.01, 0.31], [0.015]], t_start=0, t_stop=1)
    >>> spikes
    <SpikeSequence: 3 spikes of 2 units, 0 s to 1 s>
    >>> spikes.times, spikes.units
    (array([0.01 , 0.015, 0.31 ]), array([0, 1, 0], dtype=uint32))
    """

    __slots__ = ("_arrays", "_core", "_places", "_stimulus")
    _arrays: dict[str, NDArray[Any]]
    _core: Any
    _places: NDArray[np.float64] | None
    _stimulus: NDArray[np.float64]

    def __init__(
        self,
        spikes: SpikesLike,
        *,
        unit_names: Sequence[str] | None = None,
        t_start: Time | None = None,
        t_stop: Time | None = None,
    ) -> None:
        made = SpikeSequence.of(spikes, unit_names=unit_names, t_start=t_start, t_stop=t_stop)
        self._core = made._core
        self._arrays = {}
        self._places = made._places
        self._stimulus = made._stimulus

    @classmethod
    def of(
        cls,
        spikes: SpikesLike,
        *,
        unit_names: Sequence[str] | None = None,
        t_start: Time | None = None,
        t_stop: Time | None = None,
    ) -> SpikeSequence:
        """Converts spikes of other packages.

        Parameters
        ----------
        spikes
            One of

            - a `SpikeSequence`, a result or simulation with one, or the path of a file for `read`;
            - ``(times, units)``: two arrays of the same length, in any order. Units are numbers or
              labels; without `unit_names` a unit is what occurs among them;
            - ``(times, offsets)``: the trains one after another (compressed rows), where unit ``i``
              has ``times[offsets[i]:offsets[i + 1]]``; also as ``{"times": ..., "offsets": ...}``,
              which is required if there are as many offsets as times;
            - a list of arrays, one train of times each; a mapping from names to such arrays;
            - a pandas ``DataFrame`` with a column ``time`` (or ``times``, ``time_s``) and a column
              ``unit`` (or ``units``), one row per spike; or with a column ``spike_times``, one row
              per unit, as ``units.to_dataframe()`` of pynwb makes it;
            - a list of `neo.SpikeTrain` or a neo ``SpikeTrainList``, in any units of time, or the
              neo ``Segment`` that has them;
            - an Elephant ``BinnedSpikeTrain``: a spike is placed at the left edge of its bin;
            - a pynapple ``TsGroup``; its span is that of its whole time support;
            - a SpikeInterface ``BaseSorting`` of one segment, in the time of SpikeInterface: where
              a recording is registered, its start or its time vector counts.

            Times are in seconds unless they have their own unit.
        unit_names
            One name per unit, all different; by default the names in the input, in natural order if
            they are labels of spikes ("n2" before "n10"), else 0, 1, …
        t_start, t_stop : float, str or quantity
            The recorded span in seconds, which contains all spikes. By default as stated in the
            input, else from the first spike to the last.

        Returns
        -------
        SpikeSequence

        Raises
        ------
        TypeError
            If it is none of these.
        ValueError
            If times are not finite or lie outside the span, units have no name, names repeat, or
            quantities are not times.

        Warns
        -----
        UserWarning
            If spikes are listed twice: same unit, same microsecond. One of them is kept. If the
            support of a ``TsGroup`` has gaps. If the times of units begin again, as those of trials
            do, or are 32-bit numbers that are too coarse for them. If every unit of a pair
            ``(times, units)`` has one spike, as if the pair were two trains.
        """
        found: Any = spikes
        held = getattr(spikes, "spikes", None)
        if isinstance(held, SpikeSequence):
            found = held
        elif not isinstance(spikes, SpikeSequence):
            convert = converter_of(spikes, spike_forms)
            if convert is None:
                raise TypeError(
                    f"spikes: found {type(spikes)}, expected a form that SpikeSequence.of lists"
                )
            found = convert(spikes, unit_names)
        if isinstance(found, cls) and unit_names is None and t_start is None and t_stop is None:
            return found
        arrays = found._as_arrays() if isinstance(found, SpikeSequence) else found
        if unit_names is not None:
            arrays = arrays.with_names(unit_names)
        core, duplicates, trials = _core.make_spikes(
            arrays.times,
            arrays.units,
            arrays.names,
            arrays.t_start if t_start is None else t_start,
            arrays.t_stop if t_stop is None else t_stop,
            arrays.trial_column,
        )
        if duplicates:
            warnings.warn(duplicates_text(duplicates), stacklevel=2)
        if trials:
            warnings.warn(trials, stacklevel=2)
        if arrays.are_32_bit and len(core):
            coarse = _core.warning_of_32_bits(core.times[-1])
            if coarse:
                warnings.warn(coarse, stacklevel=2)
        if not isinstance(found, SpikeSequence):
            return cls._from_core(core)
        if found.epochs is not None:
            core = core.with_epochs(np.ravel(found.epochs))
        if unit_names is None and found.doubtful_pairs:
            core = core.with_doubtful_pairs(found.doubtful_pairs)
        core.are_clusters = found._core.are_clusters
        return cls._from_core(core, found.stimulus_times, found._places)

    def _as_arrays(self) -> SpikeArrays:
        stated = self._core.has_recorded_span
        return SpikeArrays(
            self.times,
            self.units,
            self.unit_names,
            self.t_start if stated else None,
            self.t_stop if stated else None,
        )

    def _array(self, name: str) -> NDArray[Any]:
        # Made once, and read-only: a change to it would change nothing here.
        if name not in self._arrays:
            made = getattr(self._core, name)
            made.flags.writeable = False
            self._arrays[name] = made
        return self._arrays[name]

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of all spikes in seconds, ascending: shape (spikes,), read-only."""
        return self._array("times")

    @property
    def times_us(self) -> NDArray[np.int64]:
        """The same in microseconds, as they are kept."""
        return self._array("times_us")

    @property
    def units(self) -> NDArray[np.uint32]:
        """The unit of each spike, an index into `unit_names`: shape (spikes,), read-only."""
        return self._array("units")

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
    def epochs(self) -> NDArray[np.float64] | None:
        """The epochs of the recording that the spikes are of: shape (epochs, 2), begin and end in
        seconds; None if they are of the whole recorded span. `EpisodeResult.spikes` has them."""
        epochs = self._array("epochs")
        return epochs if len(epochs) else None

    @property
    def positions(self) -> NDArray[np.float64] | None:
        """The position of each unit or its electrode, as `read` found it in the file, a layout or
        the names of the units: shape (units, 2), x and y in micrometres, read-only; NaN where it is
        not known, and None if none is."""
        return self._places

    @property
    def doubtful_pairs(self) -> list[tuple[str, str, str]]:
        """Pairs of units that may not be two neurons, as `sort` or the file that `read` read says:
        two names, and ``"possibly-one-neuron"`` (both may have spikes of the same neuron) or
        ``"cross-talk"`` (one may have what sorting left of the other's spikes). `episodes` takes no
        edge between them for a connection."""
        return self._core.doubtful_pairs

    @property
    def counts(self) -> NDArray[np.int64]:
        """Spikes of each unit: shape (units,)."""
        return np.bincount(self.units, minlength=len(self.unit_names))

    @property
    def rates(self) -> NDArray[np.float64]:
        """Mean rate of each unit in the span, or in the epochs, in hertz: shape (units,)."""
        spans = [(self.t_start, self.t_stop)] if self.epochs is None else self.epochs
        return self.counts / (np.sum(np.diff(spans)) or np.nan)

    def __getitem__(self, unit: str) -> NDArray[np.float64]:
        """The times of a unit by its name, in seconds, ascending."""
        if not isinstance(unit, str):
            raise TypeError(f"expected the name of a unit, found {unit!r}")
        return self.times[self.units == self._indices([unit]).pop()]

    def trains(self) -> list[NDArray[np.float64]]:
        """The times of each unit, in seconds, ascending."""
        times, offsets = self._core.trains()
        return [times[begin:end] for begin, end in itertools.pairwise(offsets)]

    def select(
        self,
        units: Iterable[str | int] | str | None = None,
        *,
        t_start: Time | None = None,
        t_stop: Time | None = None,
    ) -> SpikeSequence:
        """Selects units, or a part of the recording.

        Parameters
        ----------
        units
            A name, or several names or indices into `unit_names`; by default all. They keep the
            order that they have here.
        t_start, t_stop
            The part to keep, both ends included, which becomes the recorded span; by default the
            span there is.

        Returns
        -------
        SpikeSequence

        Raises
        ------
        TypeError, ValueError
            If a unit does not exist, or the part is outside the recorded span.

        Examples
        --------
        >>> import spikeweave
        >>> spikes = spikeweave.SpikeSequence.of({"A": [0.1, 0.4], "B": [0.2], "C": [0.3]})
        >>> spikes.select(["C", "A"], t_start=0.2).unit_names
        ['A', 'C']
        >>> spikes.select(["C", "A"], t_start=0.2).times
        array([0.3, 0.4])
        """
        every = range(len(self.unit_names))
        chosen = list(every) if units is None else sorted(self._indices(units))
        begin = self.t_start if t_start is None else seconds("t_start", t_start)
        end = self.t_stop if t_stop is None else seconds("t_stop", t_stop)
        if not self.t_start <= begin <= end <= self.t_stop:
            raise ValueError(
                f"t_start, t_stop: expected a part of {self.t_start:g} s to {self.t_stop:g} s, "
                f"found {begin:g} s to {end:g} s"
            )
        new = np.full(len(every), len(every), dtype=np.uint32)
        new[chosen] = np.arange(len(chosen))
        kept = new[self.units] < len(every)
        kept &= self.times_us >= round(begin * 1e6)
        kept &= self.times_us <= round(end * 1e6)
        stated = self._core.has_recorded_span
        return _again(
            self.times[kept],
            new[self.units[kept]],
            [self.unit_names[unit] for unit in chosen],
            begin if stated or t_start is not None else None,
            end if stated or t_stop is not None else None,
            None if self.epochs is None else _cut(self.epochs, begin, end),
            self._stimulus[(self._stimulus >= begin) & (self._stimulus <= end)]
            if t_start is not None or t_stop is not None
            else self._stimulus,
            None if self._places is None else self._places[chosen],
            self._core.are_clusters,
            self.doubtful_pairs,
        )

    def _indices(self, units: Iterable[str | int] | str) -> set[int]:
        if isinstance(units, str):
            units = [units]
        if isinstance(units, bytes) or not isinstance(units, Iterable):
            raise TypeError(f"units: expected a list of names or indices, found {units!r}")
        names = self.unit_names
        row = {name: i for i, name in enumerate(names)}
        found = set()
        for unit in units:
            if isinstance(unit, (bool, np.bool_)):
                raise TypeError(f"units: expected names or indices, found {unit!r}")
            index = row.get(unit) if isinstance(unit, str) else operator.index(unit)
            if index is None or not 0 <= index < len(names):
                raise ValueError(f"units: there is no unit {unit!r} among the {len(names)} units")
            found.add(index)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        # Whole microseconds are returned unchanged: below 285 years a double holds them exactly.
        span = (self.t_start, self.t_stop) if self._core.has_recorded_span else (None, None)
        arrays = (self.times, self.units, self.unit_names, *span, self.epochs)
        more = (self._core.are_clusters, self.doubtful_pairs)
        return _again, (*arrays, self._stimulus, self._places, *more)

    def to_neo(self, t_start: Time | None = None, t_stop: Time | None = None) -> list[Any]:
        """The same as a list of `neo.SpikeTrain` in seconds, named after the units.

        Parameters
        ----------
        t_start, t_stop
            ``t_start`` and ``t_stop`` of the trains, which contain all spikes; by default the
            recorded span. If a file does not state it, that is from the first spike to the last,
            and Elephant's bins begin at the first spike. With ``t_start=0`` they begin at 0.

        Returns
        -------
        list of neo.SpikeTrain

        Raises
        ------
        ValueError
            If spikes are before `t_start` or after `t_stop`.

        Examples
        --------
        >>> import spikeweave
        >>> spikes = spikeweave.SpikeSequence.of({"A": [0.1, 0.4], "B": [0.2]})
        >>> [float(train.t_start) for train in spikes.to_neo(t_start=0)]
        [0.0, 0.0]
        """
        begin = self.t_start if t_start is None else seconds("t_start", t_start)
        end = self.t_stop if t_stop is None else seconds("t_stop", t_stop)
        times = self.times
        first, last = (times[0], times[-1]) if len(times) else (begin, end)
        if not begin <= first or not last <= end or not begin <= end:
            raise ValueError(
                f"t_start, t_stop: expected a span that contains the spikes, {first:g} s to "
                f"{last:g} s, found {begin:g} s to {end:g} s"
            )
        return converted(self, "neo", begin, end)

    def to_pynapple(self) -> Any:
        """The same as a pynapple ``TsGroup``: keys are 0, 1, …, the metadata ``unit_name`` has the
        names, and the time support is the recorded span."""
        return converted(self, "pynapple")

    def to_spikeinterface(self, sampling_frequency: float) -> Any:
        """The same as a SpikeInterface ``NumpySorting``.

        Parameters
        ----------
        sampling_frequency
            In Hz. Each spike becomes the nearest sample; time 0 is sample 0.

        Returns
        -------
        spikeinterface.NumpySorting

        Raises
        ------
        ValueError
            If there are spikes before time 0.
        """
        return converted(self, "spikeinterface", sampling_frequency)

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per spike: ``time`` in seconds, ``unit`` by its name."""
        names = np.asarray(self.unit_names, dtype=object)
        return converted({"time": self.times, "unit": names[self.units]}, "dataframe")

    def __len__(self) -> int:
        return len(self._core)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpikeSequence) and self._core.same_as(other._core)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        spikes, units = counted(len(self), "spike"), counted(len(self.unit_names), "unit")
        return f"<SpikeSequence: {spikes} of {units}, {short_span(self.t_start, self.t_stop)}>"

    def _repr_html_(self) -> str:
        shown = (self.unit_names[:_SHOWN], self.counts[:_SHOWN], self.rates[:_SHOWN])
        rows = [(name, short(count), short(rate)) for name, count, rate in zip(*shown, strict=True)]
        if len(self.unit_names) > _SHOWN:
            rows.append(("…", "", ""))
        return html_table(repr(self).strip("<>"), ["unit", "spikes", "rate (Hz)"], rows)


def _again(
    times: NDArray[np.float64],
    units: NDArray[np.uint32],
    names: list[str],
    t_start: float | None,
    t_stop: float | None,
    epochs: NDArray[np.float64] | None = None,
    stimulus: NDArray[np.float64] | tuple[()] = (),
    places: NDArray[np.float64] | None = None,
    are_clusters: bool = False,
    doubtful_pairs: Sequence[tuple[str, str, str]] = (),
) -> SpikeSequence:
    """A sequence from its parts, for pickles and copies."""
    core, _, _ = _core.make_spikes(times, units, names, t_start, t_stop)
    if epochs is not None:
        core = core.with_epochs(np.ravel(epochs))
    if doubtful_pairs:
        core = core.with_doubtful_pairs(list(doubtful_pairs))
    core.are_clusters = are_clusters
    return SpikeSequence._from_core(core, stimulus, places)


def _cut(epochs: NDArray[np.float64], begin: float, end: float) -> NDArray[np.float64]:
    """The parts of epochs from `begin` to `end`, which is included."""
    cut = np.clip(epochs, begin, end + 1e-6)
    return cut[cut[:, 0] < cut[:, 1]]


def duplicates_text(count: int) -> str:
    """The warning about spikes that an input lists more than once."""
    spikes, were = ("1 spike is", "was") if count == 1 else (f"{count} spikes are", "were")
    return f"{spikes} listed twice (same unit, same microsecond) and {were} counted once."
