"""Spikes that the library holds, and functions that leave out some of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import given
from .arrays import seconds
from .types import Time


class HeldSpikes:
    """The part of `SpikeSequence` that makes others of it by leaving spikes out."""

    _core: Any
    _arrays: dict[str, NDArray[Any]]
    _stimulus: NDArray[np.float64]
    _places: NDArray[np.float64] | None

    @classmethod
    def _from_core(
        cls, core: Any, stimulus: ArrayLike = (), places: ArrayLike | None = None
    ) -> Self:
        self = cls.__new__(cls)
        self._core = core
        self._arrays = {}
        self._places = None
        if places is not None and len(np.asarray(places)):
            self._places = np.array(places, dtype=np.float64)
            self._places.flags.writeable = False
        self._stimulus = np.array(stimulus, dtype=np.float64)
        self._stimulus.flags.writeable = False
        return self

    @property
    def stimulus_times(self) -> NDArray[np.float64]:
        """Times of the stimulus markers of the file in seconds, ascending: shape (markers,),
        read-only. A marker is no spike and no unit; recordings of 60-electrode arrays have them as
        channel 60. Empty if the file that `read` read has none. In the command they are the events
        ``stimulus``, as in ``--around stimulus:-100ms..400ms``.

        Examples
        --------
        >>> import spikeweave, tempfile, pathlib, warnings
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "array.spk.txt"
        >>> _ = file.write_text("0.5 12\\n1.0 60\\n1.01 7\\n3.0 60\\n3.02 12\\n")
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     spikes = spikeweave.read(file)
        >>> spikes.unit_names, spikes.stimulus_times
        (['7', '12'], array([1., 3.]))
        >>> spikeweave.epochs_around(spikes.stimulus_times, start=0, stop="400ms").tolist()
        [[1.0, 1.4], [3.0, 3.4]]
        """
        return self._stimulus

    def check(self) -> list[str]:
        """Likely data problems as whole sentences: double spikes, units that repeat another,
        milliseconds read as seconds, artefacts. Empty for clean data."""
        return self._core.check()

    def drop_duplicates_of_units(self) -> Self:
        """Leaves out units that repeat the spikes of another.

        If a sorter counts one neuron as two, most spikes of one unit are within 0.3 ms of
        another's, always at the same lag. The unit with fewer spikes of such a pair is left out;
        units that are synchronous for another reason stay (docs/algorithms/shared-spikes.md).

        Returns
        -------
        SpikeSequence

        Warns
        -----
        UserWarning
            For each unit that is left out.

        Examples
        --------
        >>> import spikeweave, numpy as np, warnings
        >>> times = np.cumsum(np.random.default_rng(0).uniform(0.01, 0.1, 100))
        >>> spikes = spikeweave.SpikeSequence.of({"A": times, "B": times[:80], "C": times + 0.005})
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     spikes.drop_duplicates_of_units().unit_names
        ['A', 'C']
        """
        core, left_out = self._core.drop_duplicates_of_units()
        for text in left_out:
            warnings.warn(text, stacklevel=2)
        return self._kept(core)

    def _kept(self, core: Any) -> Self:
        """The same with a part of its spikes or units."""
        core.are_clusters = self._core.are_clusters
        if self._places is None:
            return self._from_core(core, self._stimulus)
        row = {name: i for i, name in enumerate(self._core.unit_names)}
        kept = self._places[[row[name] for name in core.unit_names]]
        return self._from_core(core, self._stimulus, kept)

    def clean(
        self,
        *,
        drop_synchronous: int | None = None,
        synchrony_window: Time | None = None,
        max_rate: float | None = None,
        min_snr: float | None = None,
        snr: ArrayLike | None = None,
    ) -> Self:
        """Leaves out what published analyses with SPADE leave out before they search (Stella et
        al. 2022, doi:10.1523/ENEURO.0505-21.2022).

        Parameters
        ----------
        drop_synchronous
            Leave out all spikes of moments at which at least this many units fire, at least 2:
            artefacts of the array.
        synchrony_window
            A spike no later than this after the one before it is of the same moment, so that a
            moment may last longer than the window. By default 34 us, a sample at 30 kHz.
        max_rate
            Leave out units with a higher mean rate in hertz: of the spikes that remain, in the
            recorded span or, if the spikes have `epochs`, in these.
        min_snr
            Leave out units with a lower value in `snr`; units for which it is NaN are kept.
        snr
            The signal-to-noise ratio of each unit.

        Returns
        -------
        SpikeSequence

        Raises
        ------
        ValueError
            If a value is out of range, or `min_snr` is given and `snr` has not one value a unit.

        Warns
        -----
        UserWarning
            For units and spikes that are left out.

        Examples
        --------
        >>> import spikeweave, numpy as np, warnings
        >>> times = np.arange(1, 100) / 10
        >>> spikes = spikeweave.SpikeSequence.of(
        ...     {"A": times, "B": times[:3] + 2e-5}, t_start=0, t_stop=10
        ... )
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     spikes.clean(drop_synchronous=2)
        <SpikeSequence: 96 spikes of 2 units, 0 s to 10 s>
        """
        core, left_out = self._core.clean(
            given(
                drop_synchronous=drop_synchronous,
                synchrony_window=synchrony_window,
                max_rate=max_rate,
                min_snr=min_snr,
            ),
            np.asarray([] if snr is None else snr, float),
        )
        for text in left_out:
            warnings.warn(text, stacklevel=2)
        return self._kept(core)

    def grouped(self, groups: Mapping[str, str], group_window: Time | None = None) -> Self:
        """Combines units into one: clumps of neurons, channels of an electrode, wells of a plate.

        Parameters
        ----------
        groups
            The group of each unit that is in one, by name. Units that are in none stay as they are.
        group_window
            A spike no later than this after the last counted one of its group is not counted. By
            default 0: spikes of a group at the same microsecond count once.

        Returns
        -------
        SpikeSequence
            Each group is a unit.

        Raises
        ------
        ValueError
            If a unit does not exist, a group is called like a unit that is in none, or the window
            is negative.

        Warns
        -----
        UserWarning
            If spikes are not counted.

        Examples
        --------
        >>> import spikeweave
        >>> spikes = spikeweave.SpikeSequence.of({"A": [0.1, 0.4], "B": [0.2], "C": [0.3]})
        >>> spikes.grouped({"A": "left", "B": "left"}).unit_names
        ['C', 'left']
        """
        window = 0.0 if group_window is None else seconds("group_window", group_window)
        core, merged = self._core.grouped(dict(groups), window)
        if merged:
            warnings.warn(
                f"{merged} spikes of groups are not counted, because the group had just fired.",
                stacklevel=2,
            )
        return self._from_core(core, self._stimulus)
