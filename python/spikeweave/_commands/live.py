"""Detection and mining while a recording runs."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from .. import _core
from .._adapters.arrays import from_labels
from .._adapters.files import check_readable, is_hdf5, is_path, read
from .._adapters.given_spikes import unit_names_of
from .._values.arguments import given
from .._values.episode_rows import named
from .._values.live import (
    Alarm,
    Arming,
    Chance,
    Counts,
    Detection,
    Epoch,
    Event,
    Skipped,
    Stats,
    Window,
)
from .._values.spikes import SpikeSequence
from .._values.tables import html_result
from .._values.types import FilePath, Time
from .described import described

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .._values.options import LiveOptions

#: Times and units, and the time up to which all spikes have arrived.
Block = tuple[ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, Time]

_KINDS = (Detection, Skipped, Counts, Chance, Arming, Alarm, Epoch, Stats)
_EVENTS = {kind.__name__: kind for kind in _KINDS}
_READING = (
    "format",
    "time_unit",
    "allow_negative",
    "labels",
    "drop_duplicates_of_units",
    "drop_synchronous",
    "synchrony_window",
    "max_rate",
    "min_snr",
    "groups",
    "group_window",
)


class LiveRun(Iterator[Event]):
    """A run of `live`: an iterator over its events, and a context manager.

    The analysis has its own thread. It continues while the loop does something else, until 1,024
    events wait.

    Attributes
    ----------
    stats : Stats or None
        The totals, once the run has ended.
    """

    def __init__(self, core: Any, blocks: Iterator[Block], unit_names: list[str] | None) -> None:
        self._core = core
        self._blocks = blocks
        self._unit_names = unit_names
        self._count = 0
        self._taking = threading.RLock()  # a block is for one thread that iterates
        self.stats: Stats | None = None

    def __next__(self) -> Event:
        with self._taking:
            while (found := self._core.next()) is None:
                self._give_block()
        kind, *fields = found
        if kind == "Window":
            table, names, has_gap, epoch = fields
            return Window(**table, unit_names=names, has_gap=has_gap, epoch=epoch)
        if kind == "Stats":
            self.stats = Stats(*fields)
            for warning in self.stats.warnings:
                warnings.warn(warning, stacklevel=2)
            return self.stats
        return _EVENTS[kind](*fields)

    @property
    def summary(self) -> str:
        """The run in a sentence, as the command ends with it."""
        return "The run has not ended." if self.stats is None else self.stats.summary

    def _repr_html_(self) -> str:
        told = [] if self.stats is None else self.stats.warnings
        return html_result(self.summary, told, [], [], 0)

    def _give_block(self) -> None:
        try:
            block = next(self._blocks)
        except StopIteration:
            self._core.end()
            return
        where = f"source: block {self._count}"
        self._count += 1
        try:
            times, units, *until = block
        except (TypeError, ValueError):
            raise TypeError(f"{where}: expected (times, units), found {block!r}") from None
        if len(until) > 1:
            raise TypeError(f"{where}: expected (times, units), found {len(block)} parts")
        spikes = from_labels(times, units, self._unit_names)
        self._core.add(spikes.times, spikes.units, spikes.names, until[0] if until else None)

    def close(self) -> None:
        """Ends the run, and drops the events that have not been taken. The files that it writes
        have the results of all spikes that have arrived. Leaving a ``with`` block does the same."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


@described(_core.live_options)
def live(
    source: SpikeSequence | FilePath | Iterable[Block],
    *,
    unit_names: Sequence[str] | None = None,
    **options: Unpack[LiveOptions],
) -> LiveRun:
    """Detects given episodes, and mines windows, in spikes as they arrive.

    Detections are the occurrences that `episodes` counts, and tables of windows are those of
    `episodes` in the same spikes, as by ``spikeweave live`` on the command line. Events of each
    kind are in the order of the recording's time. Detections do not wait for windows, which another
    thread mines, each within a bounded time (``window_budget``); with ``speed="max"``, all windows
    are mined to their end before the analysis continues. The run ends with the source, with its
    ``with`` block, which Ctrl-C leaves as well, or when nothing refers to it any longer.

    Parameters
    ----------
    source
        One of

        - a `SpikeSequence`, or the path of a file or folder that `read` reads: it is played as if
          it was recorded now;
        - the path of a recording: the spikes of units are found in its samples, which are played
          likewise. The units are learned in the first samples (``learn``), or are those that
          `sort` saved (``templates``);
        - an iterable of blocks ``(times, units)``, such as a generator that asks an amplifier or a
          sorter: arrays of times in seconds and of names or numbers of units. Units may appear at
          any time. The detections of a block arrive before the next block is requested, and with
          ``speed="max"`` its windows, too. A block may have a third part, a time before which all
          spikes have arrived, which completes windows in silence; a block can be empty;
        - other sources of the command: a recorded session, a file ``.jsonl`` or ``.ndjson``, a
          named pipe, ``"-"`` or an address, such as ``"open-ephys-zmq://localhost:5556"``. This
          needs a build with streams, which the wheel is not.
    unit_names
        The names of all units, whose indices blocks then have in place of names.
    {options}

    Returns
    -------
    LiveRun
        An iterator over `Detection` and `Window`; `Skipped` and `Alarm`, which report losses, an
        `Alarm` also of a destination that fails (``to``); `Epoch`, `Counts`, `Chance` and `Arming`;
        and at the end one `Stats`. Errors of the source arrive in the loop.

    {raises}
    OSError
        If a file cannot be read or written.

    Warns
    -----
    UserWarning
        At the end, as listed in `Stats.warnings`.

    References
    ----------
    As of `episodes`; D. Ciliberti, F. Kloosterman, Journal of Neural Engineering 14 (2017), for
    closed loops.

    Examples
    --------
    >>> import spikeweave
    >>> spikes = spikeweave.simulate.sym26(length="20s", seed=1).spikes
    >>> found = spikeweave.episodes(spikes, delays="4-6ms", min_count=50)
    >>> armed = found[found.chains]
    >>> detections = 0
    >>> with spikeweave.live(spikes, speed="max", episodes=armed, windows=False) as run:
    ...     for event in run:
    ...         if isinstance(event, spikeweave.Detection):
    ...             detections += 1
    >>> detections == sum(one.count for one in armed)
    True
    """
    arguments: dict[str, Any] = dict(options)
    names = None if unit_names is None else unit_names_of("unit_names", unit_names)
    armed = []
    episodes = arguments.get("episodes")
    if episodes is not None and not is_path(episodes):
        del arguments["episodes"]
        armed = [(one.units, one.delays) for one in named(episodes, names)]
    feed: Any
    blocks: Iterator[Block] = iter(())
    if isinstance(source, (str, os.PathLike)):
        feed = _opened(os.fspath(source), arguments)
    elif isinstance(source, SpikeSequence):
        feed = source._core
    elif isinstance(source, Iterable):
        feed, blocks = None, iter(source)
    else:
        raise TypeError(
            "source: expected spikes, a path, an address or blocks (times, units), "
            f"found {type(source)}"
        )
    if names is not None and feed is not None:
        raise ValueError("unit_names: only blocks of spikes are given without names")
    return LiveRun(_core.LiveFeed(feed, armed, arguments), blocks, names)


def _opened(source: str, arguments: dict[str, Any]) -> Any:
    """The source in the form for the library. It reads no NWB in this package."""
    if source == "-" or "://" in source:
        return source
    path = Path(source)
    check_readable(path)
    # Opening a pipe would consume its first bytes.
    if "templates" in arguments or not path.is_file() or not is_hdf5(path):
        return source
    reading = {name: arguments.pop(name) for name in _READING if name in arguments}
    return read(source, **given(**reading), progress=False)._core
