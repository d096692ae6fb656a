"""Frequent episodes in windows of spikes that arrive in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from .. import _core
from .._adapters.given_spikes import ordered_spikes, unit_names_of
from .._values.arrays import seconds
from .._values.live import Window
from .._values.types import Time
from .described import described

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import SlidingWindowOptions


@described(_core.sliding_window_options)
class SlidingWindow:
    """Finds frequent episodes in windows of time, in spikes that arrive in pieces.

    Window ``k`` has the spikes from ``k * hop`` to ``k * hop + window`` without the end, and its
    table is that of `episodes` in these spikes, however they are cut into pieces. The first window
    is the last one that begins at the first spike or before. A window is complete when a spike at
    its end or later has arrived, or after a call of `advance` (docs/algorithms/live.md).

    Iterating mines the windows that are complete and have not been mined; after more spikes it can
    be iterated again.

    Parameters
    ----------
    units
        The names of the units that spikes have, all different.
    {options}

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected.

    References
    ----------
    Y. Cao, D. Patnaik, S. Ponce, J. Archuleta, P. Butler, W. Feng, N. Ramakrishnan, "Parallel
    Mining of Neuronal Spike Streams on Graphics Processing Units", Int. J. Parallel Programming
    40 (2012).

    Examples
    --------
    >>> import spikeweave
    >>> windows = spikeweave.SlidingWindow(
    ...     ["A", "B"], window="1s", delays="4-6ms", min_count=2, max_size=2
    ... )
    >>> windows.add([0.1, 0.105, 0.2, 0.205, 1.1], [0, 1, 0, 1, 0])
    >>> for window in windows:
    ...     print(window)
    ...     print(window[-1], window[-1].count)
    <Window 0: 0 s to 1 s, 4 spikes, 3 frequent episodes (count >= 2)>
    A →4-6ms→ B 2
    """

    def __init__(self, units: Sequence[str], **options: Unpack[SlidingWindowOptions]) -> None:
        self._names = unit_names_of("units", units)
        self._core: Any = _core.SlidingWindow(self._names, dict(options))

    @property
    def unit_names(self) -> list[str]:
        """The names of the units that spikes have."""
        return list(self._names)

    @property
    def duplicates(self) -> int:
        """The number of spikes dropped because their unit had one at the same microsecond."""
        return self._core.duplicates

    def add(self, times: ArrayLike, units: ArrayLike) -> None:
        """Processes spikes, whose times are not before those of earlier calls.

        Parameters
        ----------
        times : array of float, shape (spikes,)
            In seconds; they never decrease.
        units : array of int, shape (spikes,)
            Indices into `unit_names`.

        Raises
        ------
        TypeError, ValueError
            If a time is not finite, earlier than one before it or than a time given to `advance`,
            or a unit does not exist. No spike is then taken.
        """
        spikes = ordered_spikes(times, units, self._names)
        self._core.add(spikes.times, spikes.units)

    def advance(self, time: Time) -> None:
        """Declares that all spikes before a time have arrived. An earlier time than before changes
        nothing.

        Parameters
        ----------
        time
            In seconds.
        """
        self._core.advance(seconds("time", time))

    def __iter__(self) -> Iterator[Window]:
        while (found := self._core.next()) is not None:
            yield Window(**found, unit_names=self.unit_names)

    def flush(self) -> None:
        """Ends the epoch: forgets the spikes and the windows that are not complete, and also those
        that were not mined. The times that follow may start anywhere."""
        self._core.flush()
