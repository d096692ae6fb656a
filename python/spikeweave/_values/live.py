"""The results of a running recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .episode_rows import EpisodeRows
from .tables import counted, html_result, html_table, short, short_span

_SHOWN = 10


@dataclass(frozen=True)
class Detection:
    """An occurrence of an armed episode or pattern.

    Attributes
    ----------
    episode : int or None
        Index among the armed episodes; None of a pattern.
    units : tuple of str
        The names of its units, in the order of firing.
    times : tuple of float
        The time of each spike in seconds; those up to ``fire_at`` if it is detected before its end.
    begin : float
        The time of its first spike in seconds; of a pattern, the left edge of its first bin.
    pattern : int or None
        Index among the armed patterns.
    suppressed : str or None
        Why programs must not act on it: ``"hold-off"``, ``"rate"``, ``"mute"`` or ``"unchecked"``.
    """

    episode: int | None
    units: tuple[str, ...]
    times: tuple[float, ...]
    begin: float
    pattern: int | None = None
    suppressed: str | None = None

    @property
    def is_trigger(self) -> bool:
        """Whether programs may act on it."""
        return self.suppressed is None


@dataclass(frozen=True, repr=False, eq=False)
class Window(EpisodeRows):
    """The frequent episodes in a window of time, as flat arrays; also a sequence of `Episode`.

    ``window[3]`` is an `Episode`; a slice, an array of indices or a mask, such as
    ``window[window.counts > 20]``, selects part of the table. The episodes are those that
    `episodes` finds in the spikes of the window.

    Attributes
    ----------
    number : int
        Window ``k`` begins at ``k`` times the hop.
    begin, end : float
        The window in seconds. A spike at `end` is in the next one.
    spike_count : int
        Its number of spikes.
    has_gap : bool
        Whether messages were lost that may have had spikes of it.
    epoch : int
        How often the clock was set before it, of a run of `live`.
    complete_to_size : int or None
        None, or the size up to which the episodes are complete, if the search ended early because
        its time or the memory was used up.
    unit_names : list of str
        The units so far.
    offsets : ndarray of int64, shape (episodes + 1,)
        Episode ``i`` has ``units[offsets[i]:offsets[i + 1]]``.
    units : ndarray of uint32
        Indices into `unit_names`.
    delays : ndarray of float64, shape (steps, 2)
        ``(low, high]`` in seconds of each step, those of episode ``i`` from ``offsets[i] - i`` on.
    counts : ndarray of int64, shape (episodes,)
        The largest number of occurrences that do not overlap; at least `threshold`.
    threshold : int
        Minimum count of a frequent episode.
    """

    number: int
    begin: float
    end: float
    spike_count: int
    unit_names: list[str]
    complete_to_size: int | None
    has_gap: bool = False
    epoch: int = 0

    @property
    def _names(self) -> list[str]:
        return self.unit_names

    def __repr__(self) -> str:
        gap = ", with a gap" if self.has_gap else ""
        if self.complete_to_size is not None:
            gap += f", complete up to size {self.complete_to_size}"
        return (
            f"<Window {self.number}: {short_span(self.begin, self.end)}, "
            f"{counted(self.spike_count, 'spike')}, {counted(len(self), 'frequent episode')} "
            f"(count >= {self.threshold:,}){gap}>"
        )

    def _repr_html_(self) -> str:
        # The longest are last.
        rows: list[Sequence[object]] = [
            (one, short(one.count or 0)) for one in self[: -_SHOWN - 1 : -1]
        ]
        return html_table(repr(self).strip("<>"), ["episode", "count"], rows)


@dataclass(frozen=True)
class Skipped:
    """A window that was not mined, because its time was over or too many waited.

    Attributes
    ----------
    number, begin, end, spike_count, has_gap, epoch
        As of `Window`.
    """

    number: int
    begin: float
    end: float
    spike_count: int
    has_gap: bool
    epoch: int


@dataclass(frozen=True)
class Counts:
    """The counts of the armed episodes in a window of time (``track_every``).

    Attributes
    ----------
    begin, end : float
        The window in seconds, without its end.
    counts : tuple of int
        The largest number of occurrences of each episode that do not overlap.
    """

    begin: float
    end: float
    counts: tuple[int, ...]

    @property
    def summary(self) -> str:
        """The occurrences of all armed episodes in a sentence."""
        what = (
            "1 armed episode" if len(self.counts) == 1 else f"{len(self.counts):,} armed episodes"
        )
        times = "occurrence" if sum(self.counts) == 1 else "occurrences"
        return f"{sum(self.counts):,} {times} of {what} from {self.begin:g} s to {self.end:g} s."


@dataclass(frozen=True)
class Chance:
    """The rate at which armed episodes and patterns occur by chance, if units fire independently
    (``rates_from``).

    Attributes
    ----------
    begin, end : float
        The interval in seconds in which the rates of the units were measured.
    per_minute : tuple of float
        Expected detections a minute of each armed episode, then of each pattern.
    """

    begin: float
    end: float
    per_minute: tuple[float, ...]


@dataclass(frozen=True)
class Arming:
    """An episode was armed or disarmed (``arm="auto"``), or was not, although the rule asks for it.

    Attributes
    ----------
    change : str
        ``"armed"``, ``"disarmed"``, or the option by which it was not armed, ``"max-armed"`` or
        ``"max-false-alarms"``, which is reported once. episode : int or None
        Its index in detections, which it keeps; None if it was not armed.
    units : tuple of str
        The names of its units, in the order of firing.
    delays : tuple of (float, float)
        ``(low, high]`` in seconds of each step.
    begin : float
        The time in seconds from which on it counts.
    window : int
        The number of the window that decided it.
    epoch : int
        The epoch of this window.
    is_late : bool
        Whether spikes had been analysed for which it should have counted.
    per_minute : float or None
        Expected detections a minute if units fire independently; None if it was disarmed.
    """

    change: str
    episode: int | None
    units: tuple[str, ...]
    delays: tuple[tuple[float, float], ...]
    begin: float
    window: int
    epoch: int
    is_late: bool
    per_minute: float | None


@dataclass(frozen=True)
class Alarm:
    """Something was lost. It is reported at the first loss, and whenever the losses have doubled.

    If a destination, ``to``, fails, a separate alarm reports it in the same way, and so does one
    with ``behind_s`` if samples wait for sorting: from 1 s on, and whenever that time has doubled.

    Attributes
    ----------
    missing, unreadable : int
        Messages so far that did not arrive, or could not be read.
    late : int
        Spikes so far that arrived too late and were left out.
    to : str or None
        The destination that has failed, as it was given; None if something of the source was lost.
    undelivered : int
        Results so far that this destination did not accept.
    reason : str or None
        Its last fault.
    behind_s : float or None
        How long samples wait, in seconds; None if something was lost.
    """

    missing: int
    unreadable: int
    late: int
    to: str | None = None
    undelivered: int = 0
    reason: str | None = None
    behind_s: float | None = None


@dataclass(frozen=True)
class Epoch:
    """The clock was set, so nothing continues. The times that follow may start anywhere.

    Attributes
    ----------
    number : int
        1 for the first epoch that begins while the recording is analysed.
    """

    number: int


@dataclass(frozen=True)
class Stats:
    """The totals of arrivals, losses and results: the last event of a run.

    Attributes
    ----------
    units, spikes : int
        Those that were analysed.
    late : int
        Spikes that arrived too late and were left out.
    duplicates : int
        Second spikes of a unit at a time, which were left out.
    missing, unreadable : int
        Messages that did not arrive, or could not be read.
    epochs : int
        The number of times that the clock was set.
    detections, triggers : int
        The number of detections, and of those of them that were not suppressed.
    windows, incomplete, skipped : int
        The number of windows that were mined, of those of them whose search ended early, and of
        those that were not mined.
    untested : int
        Windows that could not be tested in time, so that nothing in them was armed.
    undelivered : int
        Results that a destination, ``to``, did not accept.
    warnings : list of str
        Warnings about a file that was played, about destinations, and about units of armed
        episodes and patterns that have not fired.
    summary : str
        The run in a sentence, as the command ends with it.
    """

    units: int
    spikes: int
    late: int
    duplicates: int
    missing: int
    unreadable: int
    epochs: int
    detections: int
    triggers: int
    windows: int
    incomplete: int
    skipped: int
    untested: int
    undelivered: int
    warnings: list[str] = field(default_factory=list)
    summary: str = ""

    def _repr_html_(self) -> str:
        return html_result(self.summary, self.warnings, [], [], 0)

    @property
    def has_losses(self) -> bool:
        """Whether something that was sent is not in the results, or was not delivered."""
        return self.late + self.missing + self.unreadable + self.skipped + self.undelivered > 0


Event = Detection | Window | Skipped | Counts | Chance | Arming | Alarm | Epoch | Stats
