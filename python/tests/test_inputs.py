"""Accepted and refused kinds of spike data: dtypes, strides, order, units, invalid values."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import spikeweave
from spikeweave import SpikeSequence

MICROSECOND = 1e-6

seconds = st.integers(-(10**9), 10**12).map(lambda us: us * MICROSECOND)
trains = st.lists(st.lists(seconds, max_size=30, unique=True), min_size=1, max_size=6)


def expected_events(trains_):
    """Return (microsecond, unit) pairs, computed in plain Python."""
    return sorted({(round(t * 1e6), u) for u, train in enumerate(trains_) for t in train})


def events(spikes):
    return list(zip(spikes.times_us.tolist(), spikes.units.tolist(), strict=True))


@given(trains)
def test_a_list_of_trains_keeps_every_spike(given_trains):
    spikes = SpikeSequence.of(given_trains)

    assert events(spikes) == expected_events(given_trains)
    assert spikes.unit_names == [str(i) for i in range(len(given_trains))]


@given(trains)
def test_all_shapes_of_input_are_the_same_spikes(given_trains):
    arrays = [np.sort(np.array(train, dtype=float)) for train in given_trains]
    times = np.concatenate(arrays)
    units = np.repeat(np.arange(len(arrays)), [len(train) for train in arrays])
    offsets = np.concatenate([[0], np.cumsum([len(train) for train in arrays])])
    names = [str(i) for i in range(len(arrays))]

    whole = SpikeSequence.of(arrays)

    assert SpikeSequence.of((times, units), unit_names=names) == whole
    assert SpikeSequence.of({"times": times, "offsets": offsets}) == whole
    assert SpikeSequence.of({"times": times, "units": units}, unit_names=names) == whole
    assert SpikeSequence.of(dict(zip(names, arrays, strict=True))) == whole
    back = whole.trains()
    assert all(np.allclose(a, b, atol=MICROSECOND) for a, b in zip(arrays, back, strict=True))


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64, np.int16, np.int32, np.int64, np.uint8]),
        st.integers(0, 40),
        elements=st.integers(0, 100),
    ),
    st.sampled_from(["as it is", "every second", "backwards", "column", "big endian"]),
)
def test_neither_dtype_nor_strides_change_what_is_read(numbers, layout):
    laid_out = {
        "as it is": lambda: numbers,
        "every second": lambda: np.repeat(numbers, 2)[::2],
        "backwards": lambda: numbers[::-1][::-1],
        "column": lambda: np.stack([numbers, numbers], axis=1)[:, 1],
        "big endian": lambda: numbers.astype(numbers.dtype.newbyteorder(">")),
    }[layout]()
    distinct = sorted({int(number) for number in numbers})

    with np.errstate(all="raise"):
        spikes = _without_warnings([laid_out])

    assert spikes.times.tolist() == [float(number) for number in distinct]


@given(trains, st.randoms())
def test_order_does_not_matter(given_trains, random):
    pairs = [(t, u) for u, train in enumerate(given_trains) for t in train]
    random.shuffle(pairs)
    times = np.array([t for t, _ in pairs])
    units = np.array([u for _, u in pairs], dtype=int)
    names = [str(i) for i in range(len(given_trains))]

    assert SpikeSequence.of((times, units), unit_names=names) == SpikeSequence.of(given_trains)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=60))
def test_spikes_that_stand_twice_are_counted(milliseconds):
    twice = len(milliseconds) - len(set(milliseconds))
    train = [ms * 1e-3 for ms in milliseconds]

    if twice:
        with pytest.warns(UserWarning, match=rf"^{twice} spikes? (is|are) listed twice"):
            spikes = SpikeSequence.of([train])
    else:
        spikes = SpikeSequence.of([train])

    assert len(spikes) == len(set(milliseconds))


@pytest.mark.parametrize("nonsense", [np.nan, np.inf, -np.inf, 1e300])
def test_times_that_are_none_name_the_argument(nonsense):
    with pytest.raises(ValueError, match="^spikes: time 1"):
        SpikeSequence.of([[0.5, nonsense]])


@pytest.mark.parametrize(
    ("spikes", "kind", "says"),
    [
        (7, TypeError, "spikes"),
        (None, TypeError, "spikes"),
        (b"bytes", TypeError, "spikes"),
        ([["a", "b"]], TypeError, "spikes: train 0"),
        ([[[0.1]]], ValueError, "spikes: train 0"),
        (np.zeros((2, 3)), TypeError, "spikes"),
        (([0.1, 0.2], [1.5, 2]), ValueError, "spikes: units"),
        (([0.1, 0.2], [1, 2, 3]), ValueError, "spikes"),
        ({"times": [0.1], "offsets": [0, 2]}, ValueError, "spikes: offsets"),
        ({"times": [0.1], "offsets": [1, 1]}, ValueError, "spikes: offsets"),
    ],
)
def test_what_is_no_spikes_is_refused(spikes, kind, says):
    with pytest.raises(kind, match=says):
        SpikeSequence.of(spikes)


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        ({"t_start": 0.2}, "t_start"),
        ({"t_stop": 0.2}, "t_stop"),
        ({"t_start": 3, "t_stop": 1}, "t_start"),
        ({"t_start": "5"}, "t_start"),
        ({"t_start": float("nan")}, "t_start"),
    ],
)
def test_a_span_that_does_not_hold_the_spikes_is_refused(bounds, says):
    with pytest.raises(ValueError, match=says):
        SpikeSequence.of([[0.1, 0.5]], **bounds)


@pytest.mark.parametrize("names", [["a"], ["a", "a"]])
def test_names_that_do_not_tell_units_apart_are_refused(names):
    with pytest.raises(ValueError, match="name|unit"):
        SpikeSequence.of([[0.1], [0.2]], unit_names=names)


def test_nothing_is_a_sequence_too():
    spikes = SpikeSequence.of([[], []])

    assert len(spikes) == 0
    assert spikes.unit_names == ["0", "1"]
    assert len(spikeweave.episodes(spikes, min_count=1)) == 0


@pytest.mark.parametrize(
    ("given_trains", "span"),
    [([], {}), ([[], []], {}), ([[0.1]], {}), ([[], []], {"t_start": 0, "t_stop": 1})],
    ids=["no unit", "no spike", "one spike", "a silent second"],
)
@pytest.mark.parametrize("find", [spikeweave.episodes, spikeweave.spade])
@pytest.mark.parametrize("surrogates", [0, 200])
def test_nothing_is_found_in_nothing(given_trains, span, find, surrogates):
    spikes = SpikeSequence.of(given_trains, **span)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = find(spikes, surrogates=surrogates)

    assert len(found) == 0
    assert found.to_dataframe().empty
    assert " 0 " not in repr(found)


def test_many_spikes_are_taken():
    count = 3_000_000
    times = np.arange(count) * 1e-4
    spikes = SpikeSequence.of((times, np.arange(count) % 100))

    assert len(spikes) == count
    assert spikes.counts.tolist() == [count // 100] * 100


def test_labels_are_names():
    spikes = SpikeSequence.of(([0.1, 0.2, 0.3], ["b", "a", "b"]))

    assert spikes.unit_names == ["a", "b"]
    assert spikes.units.tolist() == [1, 0, 1]


def _without_warnings(spikes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SpikeSequence.of(spikes)
