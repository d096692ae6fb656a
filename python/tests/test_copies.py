"""Pickles and copies of all results."""

import copy
import pickle

import numpy as np
import pytest

import spikeweave


@pytest.fixture(scope="module")
def made():
    return spikeweave.simulate.recording(channels=8, units=3, length="5s", low_peak=150, seed=1)


COPIES = {"pickle": lambda one: pickle.loads(pickle.dumps(one)), "deepcopy": copy.deepcopy}


def same_recording(one, other):
    assert (one.frames, one.sample_rate, one.channels) == (
        other.frames,
        other.sample_rate,
        other.channels,
    )
    assert np.array_equal(one.samples(0, one.frames), other.samples(0, other.frames))
    assert one._core.has_positions == other._core.has_positions
    assert one.t_start == other.t_start


@pytest.mark.parametrize("how", COPIES)
def test_simulated_recordings(made, how):
    again = COPIES[how](made)

    same_recording(again.recording, made.recording)
    assert again.spikes == made.spikes


@pytest.mark.parametrize("how", COPIES)
def test_recordings_of_arrays(how):
    samples = np.random.default_rng(1).normal(scale=10, size=(500, 3))
    recording = spikeweave.Recording.of(samples, sample_rate=1000, channel_names=["x", "y", "z"])

    same_recording(COPIES[how](recording), recording)


@pytest.mark.parametrize("how", COPIES)
def test_recordings_of_files(tmp_path, made, how):
    made.recording.samples(0, 1000).tofile(tmp_path / "samples.dat")
    recording = spikeweave.read_recording(
        tmp_path / "samples.dat", sample_rate=3e4, channels=8, gain=0.2
    )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spikeweave.Recording, "samples", None)  # samples must not be copied
        again = COPIES[how](recording)

    same_recording(again, recording)


@pytest.mark.parametrize("how", COPIES)
def test_recordings_of_spikeinterface(how):
    core = pytest.importorskip("spikeinterface.core")
    lazy = core.generate_recording(num_channels=3, durations=[1.0], seed=1)
    lazy.shift_times(5)
    recording = spikeweave.Recording.of(lazy)

    again = COPIES[how](recording)

    assert again.t_start == 5
    same_recording(again, recording)


@pytest.mark.parametrize("how", COPIES)
def test_sortings(tmp_path, made, how):
    found = spikeweave.sort(made.recording)

    again = COPIES[how](found)

    assert np.array_equal(again.labels, found.labels)
    assert again.spikes == found.spikes
    assert again.parameters == found.parameters
    found.to_phy(tmp_path / "found")
    again.to_phy(tmp_path / "again")
    files = sorted(file.name for file in (tmp_path / "found").iterdir())
    assert files == sorted(file.name for file in (tmp_path / "again").iterdir())
    for file in files:
        one, other = ((tmp_path / name / file).read_bytes() for name in ("found", "again"))
        assert one == other, file


def test_sortings_without_times_or_waveforms():
    data = spikeweave.simulate.features(spikes=300, units=2, channels=4, seed=1)
    found = spikeweave.sort_features(data.features)

    again = COPIES["pickle"](found)

    assert again.spikes is None
    assert np.array_equal(again.units["spikes"], found.units["spikes"])
    with pytest.raises(ValueError, match="times of these spikes"):
        again.to_elephant()


def test_patterns():
    spikes = spikeweave.simulate.patterns(units=10, length=2, seed=1).spikes
    found = spikeweave.spade(spikes, min_occ=5)

    again = COPIES["deepcopy"](found)

    assert [str(one) for one in again] == [str(one) for one in found]
