"""Calls warn about doubtful data, and results keep the warnings."""

import warnings

import numpy as np
import pytest

import spikeweave
from spikeweave import SpikeSequence

CALLS = {
    "episodes": (spikeweave.episodes, {"min_count": 10, "max_size": 2}),
    "spade": (spikeweave.spade, {"min_occ": 10, "max_spikes": 2}),
}


def warnings_of(name, spikes, **options):
    """Return the warnings of the result, which must equal those that were raised, each once."""
    call, usual = CALLS[name]
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        found = call(spikes, **usual, **options)
    assert [str(one.message) for one in raised] == found.warnings
    assert len(set(found.warnings)) == len(found.warnings)
    return found.warnings


@pytest.fixture(scope="module")
def calm():
    """Make two units of 10 Hz for 20 s."""
    random = np.random.default_rng(1)
    return SpikeSequence.of([np.sort(random.uniform(0, 20, 200)) for _ in range(2)])


@pytest.mark.parametrize("name", CALLS)
def test_what_is_right_warns_of_nothing(calm, name):
    assert warnings_of(name, calm, **({} if name == "episodes" else {"bin": "1ms"})) == []


@pytest.mark.parametrize("name", CALLS)
def test_few_surrogates_cannot_make_anything_significant(calm, name):
    said = warnings_of(name, calm, surrogates=50)

    assert any("With 50 surrogates nothing can be significant" in one for one in said), said


@pytest.mark.parametrize("name", CALLS)
def test_milliseconds_taken_for_seconds(name):
    spikes = SpikeSequence.of([np.arange(10.0, 4000, 70), np.arange(30.0, 4000, 90)])

    said = warnings_of(name, spikes)

    assert any("may be milliseconds or samples taken for seconds" in one for one in said), said


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("episodes", {"delays": [(4, 6)]}, "The longest delay is 6 s long"),
        ("spade", {"bin": 5}, "A bin is 5 s long"),
        ("spade", {"surrogates": 100, "dither": 15}, "The dither is 15 s long"),
    ],
)
def test_milliseconds_given_for_seconds(calm, name, options, says):
    said = warnings_of(name, calm, **options)

    assert any(f"{says}: were milliseconds given for seconds?" in one for one in said), said


def test_rates_that_change_together():
    """Tests that assume constant rates warn; the default test is valid for any rates."""
    random = np.random.default_rng(2)
    bursts = np.arange(0, 60, 2.0)[:, None]
    trains = [np.sort((bursts + random.uniform(0, 0.3, (30, 12))).ravel()) for _ in range(3)]
    spikes = SpikeSequence.of(trains)

    said = warnings_of("episodes", spikes, test="exact")

    assert any("rates" in one and "together" in one for one in said), said
    assert not any("together" in one for one in warnings_of("episodes", spikes, test="jitter"))


def test_advice_can_be_typed():
    bursts = spikeweave.simulate.culture(length="60s", seed=1).spikes
    (told,) = warnings_of("episodes", bursts, test="exact")
    assert told.endswith('Use test="jitter", the default, or surrogates=200.')


def test_the_folder_of_a_result_is_no_recording(calm, tmp_path):
    spikeweave.episodes(calm, min_count=10, max_size=2).save(tmp_path / "found")
    with pytest.raises(OSError, match=r"it is a result, which .* spikeweave\.load reads in Python"):
        spikeweave.read(tmp_path / "found")
