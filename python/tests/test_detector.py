"""`Detector` and `SlidingWindow`: what they find is what batch analysis finds."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spikeweave
from spikeweave import (
    Detector,
    SlidingWindow,
    Window,
)

sys.path.insert(0, str(Path(__file__).parent))
from live_inputs import (
    ARMED,
    MINING,
    NAMES,
    cuts,
    occurrences_of,
    pieces_of,
    sequence_of,
    spike_lists,
    table_of,
    table_of_slice,
)


@settings(max_examples=60, deadline=None)
@given(spike_lists, cuts, st.sampled_from(["time", "order"]))
def test_a_detector_finds_the_occurrences(spikes, at, ties):
    sequence = sequence_of(spikes)
    detector = Detector(ARMED, units=NAMES, ties=ties)

    found = [one for piece in pieces_of(sequence, at) for one in detector.add(*piece)]

    expected = occurrences_of(sequence, ARMED, ties)
    assert sorted(found, key=lambda one: (one.times[-1], one.episode)) == expected
    assert detector.counts.tolist() == [
        sum(one.episode == number for one in expected) for number in range(len(ARMED))
    ]


def test_a_detector_finds_the_chains_of_a_result(sym26):
    found = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=200)
    chains = found[found.chains]
    detector = Detector(chains, units=sym26.spikes.unit_names)

    detections = detector.add(sym26.spikes.times, sym26.spikes.units)

    assert detector.counts.tolist() == chains.counts.tolist()
    for number in range(len(chains)):
        times = [one.times for one in detections if one.episode == number]
        assert np.array_equal(times, chains.occurrences(number))
    assert [one.units for one in detector.armed] == [one.units for one in chains]
    assert "762 detections" in repr(detector)


def test_a_detector_fires_before_the_end():
    spikes = [0.001, 0.003, 0.006, 0.101, 0.103], [0, 1, 2, 0, 1]
    chain = (["a", "b", "c"], [("1ms", "6ms"), ("1ms", "6ms")])
    early = Detector([chain], units=NAMES, fire_at=2)

    found = early.add(*spikes)

    assert [one.times for one in found] == [(0.001, 0.003), (0.101, 0.103)]
    assert found[0].units == ("a", "b", "c")
    assert found[0].is_trigger
    assert (early.counts.tolist(), early.completed.tolist()) == ([2], [1])
    assert [one.times for one in Detector([chain], units=NAMES).add(*spikes)] == [
        (0.001, 0.003, 0.006)
    ]


def test_nothing_continues_after_a_flush():
    detector = Detector(ARMED, units=NAMES)

    assert detector.add([5.0], [0]) == []
    detector.flush()

    assert detector.add([0.001], [1]) == []
    assert detector.add([1.0, 1.0, 1.002], [0, 0, 1])[0].times == (1.0, 1.002)
    assert detector.duplicates == 1
    assert detector.counts.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("times", "units", "kind", "says"),
    [
        ([0.2, 0.1], [0, 1], ValueError, "times: expected that they never decrease"),
        ([0.001], [0], ValueError, "earlier than"),
        ([np.nan], [0], ValueError, "times: "),
        ([0.2, np.inf], [0, 1], ValueError, "times: "),
        ([0.2], [3], ValueError, "units: expected indices from 0 to 2"),
        ([0.2], ["a"], TypeError, "units: expected indices"),
        ([0.2], [0, 1], ValueError, "1,.* times and .2,.* units"),
        ("0.2", [0], TypeError, "times: expected an array"),
    ],
)
@pytest.mark.parametrize("kind_of", [Detector, SlidingWindow])
def test_spikes_that_cannot_be_are_refused_as_a_whole(kind_of, times, units, kind, says):
    if kind_of is Detector:
        taker = Detector(ARMED, units=NAMES)
    else:
        taker = SlidingWindow(NAMES, window="1s", **MINING)
    taker.add([0.1], [0])

    with pytest.raises(kind, match=says):
        taker.add(times, units)

    taker.add([0.1, 0.102, 1.5], [0, 1, 2])
    assert taker.duplicates == 1
    if kind_of is Detector:
        assert taker.counts.tolist() == [1, 0]
    else:
        assert [window.spike_count for window in taker] == [2]


@pytest.mark.parametrize(
    ("make", "kind", "says"),
    [
        (lambda: Detector([(["a", "x"], [(0, 1)])], units=NAMES), ValueError, "no unit 'x'"),
        (lambda: Detector([(["a", "b"], [])], units=NAMES), ValueError, "expected 1 for 2"),
        (lambda: Detector([(["a", "b"], [(1, 0)])], units=NAMES), ValueError, "delay"),
        (lambda: Detector([5], units=NAMES), TypeError, "episodes: number 0"),
        (lambda: Detector(ARMED, units=NAMES, fire_at=4), ValueError, "fire_at|spike"),
        (lambda: Detector(ARMED, units=NAMES, fire_at=-1), ValueError, "fire_at"),
        (lambda: Detector(ARMED, units="abc"), TypeError, "units: expected a list"),
        (lambda: Detector(ARMED, units=["a", "a"]), ValueError, "units: .* different"),
        (lambda: Detector(ARMED, units=NAMES, ties="never"), ValueError, "ties"),
        (lambda: Detector(ARMED, units=NAMES, nonsense=1), TypeError, "nonsense"),
        (lambda: SlidingWindow(NAMES, window=-1), ValueError, "window"),
        (lambda: SlidingWindow(NAMES, window="growing"), ValueError, "hop"),
        (lambda: SlidingWindow(NAMES, delays="5-1ms"), ValueError, "delay"),
        (lambda: SlidingWindow(["a", "a"]), ValueError, "units: .* different"),
    ],
)
def test_bad_arguments_are_named(make, kind, says):
    with pytest.raises(kind, match=says):
        make()


@settings(max_examples=40, deadline=None)
@given(spike_lists, cuts, st.sampled_from(["growing", "30ms", 0.02]))
def test_windows_have_the_tables_of_their_spikes(spikes, at, window):
    sequence = sequence_of(spikes)
    windows = SlidingWindow(NAMES, window=window, hop=0.02, **MINING)
    found = []
    for piece in pieces_of(sequence, at):
        windows.add(*piece)
        found += list(windows)
    windows.advance(0.2)
    found += list(windows)
    assert list(windows) == []

    assert len(found) >= (3 if spikes else 0)
    for one in found:
        assert table_of(one) == table_of_slice(sequence, one.begin, one.end)
        inside = (sequence.times >= one.begin) & (sequence.times < one.end)
        assert one.spike_count == inside.sum()
    numbers = [one.number for one in found]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True


def test_a_window_is_a_sequence_of_episodes(sym26):
    windows = SlidingWindow(sym26.spikes.unit_names, window="20s", delays="4-6ms", min_count=60)
    windows.add(sym26.spikes.times, sym26.spikes.units)

    first, second = windows

    assert (first.number, first.begin, first.end) == (0, 0, 20)
    assert second.begin == 20
    assert len(first) == len(list(first)) == len(first.counts)
    assert first[-1] == list(first)[-1]
    longest = first[first.sizes == first.sizes.max()]
    assert isinstance(longest, Window)
    assert (longest.counts >= longest.threshold).all()
    assert "20 s" in repr(first)
    assert "<table>" in first._repr_html_()
    pandas = pytest.importorskip("pandas")
    frame = first.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["size", "units", "delays_ms", "count"]
    windows.flush()
    assert list(windows) == []
