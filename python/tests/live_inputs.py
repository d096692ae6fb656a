"""The common parts of the tests of `live`, `Detector` and `SlidingWindow`."""

import itertools

import numpy as np
from hypothesis import strategies as st

import spikeweave
from spikeweave import (
    Detection,
)

NAMES = ["a", "b", "c"]
ARMED = [(["a", "b"], [(0.0, 0.004)]), (["a", "b", "c"], [("1ms", "6ms"), (0.001, 0.006)])]
MINING = {"delays": "1-4ms", "min_count": 1, "max_size": 2, "threads": 1}

spike_lists = st.lists(
    st.tuples(st.integers(0, 120), st.integers(0, 2)), max_size=60, unique=True
).map(sorted)
cuts = st.lists(st.integers(0, 60), max_size=6)


def events_of(*arguments, **options):
    with spikeweave.live(*arguments, **options) as run:
        return list(run)


def of_kind(kind, events):
    return [event for event in events if isinstance(event, kind)]


def sequence_of(spikes, t_stop=None):
    times = np.array([ms for ms, _ in spikes], dtype=float) * 1e-3
    units = np.array([unit for _, unit in spikes], dtype=int)
    return spikeweave.SpikeSequence.of((times, units), unit_names=NAMES, t_start=0, t_stop=t_stop)


def pieces_of(sequence, at):
    ends = [0, *sorted(min(cut, len(sequence)) for cut in at), len(sequence)]
    for begin, end in itertools.pairwise(ends):
        yield sequence.times[begin:end], sequence.units[begin:end]


def occurrences_of(sequence, armed, ties="time"):
    """Return the detections of batch analysis, by the end of the occurrence, then by episode."""
    found = []
    for number, (units, delays) in enumerate(armed):
        flat = spikeweave._values.episode_rows.flat(
            spikeweave._values.episode_rows.named([(units, delays)], NAMES), NAMES
        )
        rows = spikeweave._core.find_occurrences(sequence._core, flat, ties)
        found += [Detection(number, tuple(units), tuple(row), row[0]) for row in rows.tolist()]
    return sorted(found, key=lambda one: (one.times[-1], one.episode))


def table_of(window):
    return [(one.units, one.delays, one.count) for one in window]


def table_of_slice(sequence, begin, end):
    inside = (sequence.times_us >= round(begin * 1e6)) & (sequence.times_us < round(end * 1e6))
    part = spikeweave.SpikeSequence.of(
        (sequence.times[inside], sequence.units[inside]), unit_names=sequence.unit_names
    )
    return [(one.units, one.delays, one.count) for one in spikeweave.episodes(part, **MINING)]
