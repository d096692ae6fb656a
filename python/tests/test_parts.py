"""Parts of spikes and of results."""

import numpy as np
import pytest

import spikeweave
from spikeweave import SpikeSequence

SPIKES = {"n1": [0.1, 0.5], "n2": [0.2, 0.6], "n10": [0.3]}


def test_units_keep_their_order():
    spikes = SpikeSequence(SPIKES, t_start=0, t_stop=1)

    for units in (["n10", "n1"], [2, 0], np.array([0, 2]), ("n1", 2)):
        some = spikes.select(units)
        assert some == SpikeSequence({"n1": [0.1, 0.5], "n10": [0.3]}, t_start=0, t_stop=1)
    assert spikes.select("n10") == spikes.select(["n10"])
    assert spikes.select() == spikes
    assert spikes.select([]).unit_names == []


def test_both_ends_of_a_part_are_in_it():
    spikes = SpikeSequence(SPIKES)

    some = spikes.select(t_start="200ms", t_stop=0.5)

    assert some.times.tolist() == [0.2, 0.3, 0.5]
    assert (some.t_start, some.t_stop) == (0.2, 0.5)
    assert some.unit_names == spikes.unit_names
    assert spikes.select(["n2"]).t_start == 0.2  # the recorded span is unknown


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"units": ["n3"]}, ValueError, "units: there is no unit 'n3'"),
        ({"units": [3]}, ValueError, "units: there is no unit 3"),
        ({"units": [-1]}, ValueError, "units: there is no unit -1"),
        ({"units": "n4"}, ValueError, "units: there is no unit 'n4'"),
        ({"units": [True]}, TypeError, "units: expected names or indices"),
        ({"units": [0.5]}, TypeError, "float"),
        ({"t_start": 0.05}, ValueError, "t_start, t_stop: expected a part of 0.1 s to 0.6 s"),
        ({"t_start": 0.4, "t_stop": 0.2}, ValueError, "t_start, t_stop"),
        ({"t_stop": "soon"}, ValueError, "t_stop"),
    ],
)
def test_parts_that_are_not_there_are_named(arguments, kind, says):
    with pytest.raises(kind, match=says):
        SpikeSequence(SPIKES).select(**arguments)


def test_arrays_of_spikes_cannot_be_changed_and_are_made_once():
    spikes = SpikeSequence(SPIKES)

    assert spikes.times is spikes.times
    for name in ("times", "times_us", "units"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(spikes, name)[0] = 5


@pytest.fixture(scope="module")
def found():
    spikes = spikeweave.simulate.sym26(length="5s", seed=1).spikes
    return spikeweave.episodes(spikes, delays=["4-6ms", "9-11ms"], surrogates=120, max_size=3)


@pytest.fixture(scope="module")
def patterns():
    spikes = spikeweave.simulate.patterns(units=12, patterns=(5, 3), seed=1).spikes
    return spikeweave.spade(spikes, min_occ=5, stability=10)


@pytest.mark.parametrize("result", ["found", "patterns"])
def test_masks_indices_and_slices_give_results(request, result):
    whole = request.getfixturevalue(result)
    every = [str(one) for one in whole]
    mask = whole.sizes > 2
    assert 3 < mask.sum() < len(whole)

    for index in (
        mask,
        mask.tolist(),
        np.flatnonzero(mask),
        slice(2, None, 3),
        [0, -1, 3],
        [],
        np.array([1], dtype=np.uint8),
    ):
        part = whole[index]
        chosen = np.arange(len(whole))[index if len(np.atleast_1d(index)) else []]
        assert type(part) is type(whole)
        assert [str(one) for one in part] == [every[i] for i in chosen]
        assert part.counts.tolist() == whole.counts[chosen].tolist()
        assert len(part.to_elephant()) == len(chosen) or result == "found"


def test_occurrences_and_chains_go_with_their_episodes(found):
    first = found.chains[0]

    part = found[np.arange(len(found))[::-1]]

    assert str(part[part.chains[0]]) == str(found[first])
    assert np.array_equal(part.occurrences(part.chains[0]), found.occurrences(first))
    assert part.by_surrogates["p"].tolist() == found.by_surrogates["p"][::-1].tolist()
    assert len(found[found.sizes == 1].chains) == 0


def test_times_and_stabilities_go_with_their_patterns(patterns):
    part = patterns[[3, 1]]

    assert part[0].times.tolist() == patterns[3].times.tolist()
    assert part[1].times.tolist() == patterns[1].times.tolist()
    stabilities = patterns.intensional_stability
    assert part.intensional_stability.tolist() == stabilities[[3, 1]].tolist()


@pytest.mark.parametrize(
    ("index", "kind"),
    [
        (10**6, IndexError),
        ([10**6], IndexError),
        (np.ones(2, dtype=bool), IndexError),
        ("first", TypeError),
        ([0.5], TypeError),
        (0.5, TypeError),
        (np.zeros((2, 2), dtype=int), TypeError),
    ],
)
def test_bad_indices_are_refused(found, index, kind):
    with pytest.raises(kind):
        found[index]


def test_differences_of_counts_may_be_negative(found, patterns):
    edges = found.circuit.count
    for counts in (found.counts, edges, patterns.counts, patterns.lag_bins):
        assert counts.dtype == np.int64
    both = [(["n0"], []), (["n4", "n5"], [(0.004, 0.006)])]
    counted = spikeweave.count_episodes(found.spikes, both)
    assert counted[1] - counted[0] < 0


def test_a_single_number_of_numpy_is_an_index(found):
    assert str(found[np.int64(3)]) == str(found[3])
    assert str(found[np.array(3)]) == str(found[3])
