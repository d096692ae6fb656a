"""`replay`: chains at other speeds and in reverse."""

import copy
import pickle

import numpy as np
import pytest

import spikeweave

CHAIN = (list("abcd"), [(0.04, 0.06)] * 3)
EVENTS = [(e - 0.05, e + 0.1) for e in range(1, 41)]


@pytest.fixture(scope="module")
def trains():
    trains = {unit: [e + i * 0.005 for e in range(1, 41)] for i, unit in enumerate("abcd")}
    return {**trains, "other": [0, 42]}


@pytest.fixture(scope="module")
def found(trains):
    return spikeweave.replay([CHAIN], trains, events=EVENTS, seed=1, surrogates=99)


def test_finds_a_compressed_chain(found):
    assert found.direction == ["forward", "reverse"]
    assert found.chain.tolist() == [0, 0]
    assert found.count[0] == 40
    assert 0.08 < found.scale[0] < 0.13
    assert found.q[0] <= 0.02
    assert found.q[1] > 0.05
    assert found.events_significant.tolist() == [40, 0]
    assert found.events["tau"].tolist() == [1] * 40
    assert np.allclose(found.event_times, EVENTS)
    assert len(found) == 2
    assert "1 chain in 40 events" in repr(found)


def test_finds_it_in_reverse(trains):
    backwards = {unit: [42 - t for t in times] for unit, times in trains.items()}
    found = spikeweave.replay(
        [CHAIN], backwards, events=[(e - 0.1, e + 0.05) for e in range(2, 42)]
    )
    assert found.events_significant.tolist() == [0, 40]


def test_events_are_found_if_none_are_given(trains):
    found = spikeweave.replay([CHAIN], trains, seed=1, surrogates=9)
    assert len(found.event_times) == 40


def test_is_a_table(found):
    table = found.to_dataframe()
    assert table["units"].tolist() == [tuple("abcd")] * 2
    assert table["events_scored"].tolist() == [40, 40]


def test_can_be_copied(found):
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert np.array_equal(other.p, found.p)


def test_refuses_what_it_cannot_test(trains):
    with pytest.raises(ValueError, match="there is no unit 'x'"):
        spikeweave.replay([(["a", "x"], [(0.1, 0.2)])], trains)
    with pytest.raises(ValueError, match="no event was found"):
        spikeweave.replay([CHAIN], trains, event_threshold=90)
    with pytest.raises(ValueError, match="events"):
        spikeweave.replay([CHAIN], trains, events=[(2, 3), (1, 2)])
    with pytest.raises(ValueError, match="no chain"):
        spikeweave.replay([], trains)
