"""Detection of given episodes in spikes that arrive in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._adapters.given_spikes import ordered_spikes, unit_names_of
from .._values.episode_rows import Episode, flat, named
from .._values.live import Detection
from .described import described

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import DetectorOptions

# Between two parts of an array Ctrl-C is noticed.
_AT_ONCE = 1 << 19


@described(_core.detector_options)
class Detector:
    """Detects given episodes in spikes that arrive in pieces.

    The detections are those that `EpisodeResult.occurrences` lists in the same spikes, with the
    same times, however the spikes are cut into pieces (docs/algorithms/live.md).

    Parameters
    ----------
    episodes
        Each an `Episode`, or ``(units, delays)``: names of units, or their indices, and for each
        step ``(low, high]`` in seconds. Part of a result will do: ``found[found.chains]``.
    units
        The names of the units that spikes have, all different.
    fire_at
        The spike of an episode at which it is detected, counted from 1. None: its last one.
    {options}

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected.

    References
    ----------
    Y. Cao, D. Patnaik, S. Ponce, J. Archuleta, P. Butler, W. Feng, N. Ramakrishnan, "Parallel
    Mining of Neuronal Spike Streams on Graphics Processing Units", Int. J. Parallel Programming
    40 (2012), for occurrences without overlap.

    Examples
    --------
    >>> import spikeweave
    >>> detector = spikeweave.Detector([(["A", "B"], [("4ms", "6ms")])], units=["A", "B"])
    >>> [one.times for one in detector.add([0.100, 0.105, 0.200], [0, 1, 0])]
    [(0.1, 0.105)]
    >>> [one.times for one in detector.add([0.205], [1])]
    [(0.2, 0.205)]
    >>> detector.counts
    array([2])
    """

    def __init__(
        self,
        episodes: Sequence[Any],
        *,
        units: Sequence[str],
        fire_at: int | None = None,
        **options: Unpack[DetectorOptions],
    ) -> None:
        self._names = unit_names_of("units", units)
        self._armed = named(episodes, self._names)
        self._core = _core.Detector(
            flat(self._armed, self._names), len(self._names), fire_at, dict(options)
        )

    @property
    def armed(self) -> list[Episode]:
        """The episodes to detect."""
        return list(self._armed)

    @property
    def unit_names(self) -> list[str]:
        """The names of the units that spikes have."""
        return list(self._names)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of detections of each episode: shape (episodes,)."""
        return self._counts()[:, 0]

    @property
    def completed(self) -> NDArray[np.int64]:
        """The number of complete occurrences of each episode, also if it is detected before its end
        (``fire_at``): shape (episodes,)."""
        return self._counts()[:, 1]

    def _counts(self) -> NDArray[np.int64]:
        return np.array(self._core.counts(), dtype=np.int64).reshape(-1, 2)

    @property
    def duplicates(self) -> int:
        """The number of spikes dropped because their unit had one at the same microsecond."""
        return self._core.duplicates

    def add(self, times: ArrayLike, units: ArrayLike) -> list[Detection]:
        """Processes spikes, whose times are not before those of earlier calls.

        Parameters
        ----------
        times : array of float, shape (spikes,)
            In seconds; they never decrease.
        units : array of int, shape (spikes,)
            Indices into `unit_names`.

        Returns
        -------
        list of Detection
            The occurrences that are detected at these spikes, by time.

        Raises
        ------
        TypeError, ValueError
            If a time is not finite or earlier than one before it, or a unit does not exist. No
            spike is then taken.
        """
        spikes = ordered_spikes(times, units, self._names)
        found = []
        for begin in range(0, len(spikes.times), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            for episode, of_spikes in self._core.add(spikes.times[part], spikes.units[part]):
                units_of = self._armed[episode].units
                found.append(Detection(episode, units_of, tuple(of_spikes), of_spikes[0]))
        return found

    def flush(self) -> None:
        """Ends the epoch: nothing continues in the spikes that follow, whose times may start
        anywhere. Counts go on."""
        self._core.flush()

    def __repr__(self) -> str:
        return (
            f"<Detector: {len(self._armed)} episodes of {len(self._names)} units, "
            f"{int(self.counts.sum()):,} detections>"
        )
