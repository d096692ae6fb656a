"""The truth that simulations report."""

import numpy as np
import pytest

from spikeweave import simulate


def test_recordings_say_how_their_units_move():
    made = simulate.recording(
        channels=2, units=1, length="1s", drift=8, drift_shape="jump", drift_start="0.25s"
    )

    assert made.motion_time.tolist() == [0, 0.25, 0.25, 1]
    assert made.motion_um.tolist() == [0, 0, 8, 8]
    assert len(simulate.recording(channels=2, units=1, length="100ms").motion_um) == 0


def test_recordings_say_what_their_units_are():
    made = simulate.recording(
        channels=4, units=9, length="200ms", difficulty="realistic", similar=1, bursting=1
    )
    easy = simulate.recording(channels=4, units=2, length="200ms")

    kinds = {"broad", "narrow", "early-peak", "triphasic", "positive"}
    assert len(made.waveform) == 9
    assert set(made.waveform) <= kinds
    assert made.like[0] == -1
    assert all(made.like[1:] < np.arange(1, 9))
    assert made.bursting.all()
    assert (easy.waveform, easy.bursting.any(), easy.like.max()) == (["broad"] * 2, False, -1)


def test_networks_say_what_their_synapses_are():
    made = simulate.network(
        neurons=30, units=20, length="2s", epsp=2, epsp_low_delay=0.001, ipsp_probability=0, seed=1
    )

    assert made.spikes.unit_names == [f"n{unit}" for unit in range(20)]
    assert len(made.source) == len(made.target) == len(made.delay) > 0
    assert (made.weight_mv > 0).all()
    assert (made.source != made.target).all()
    assert ((made.delay >= 0.001) & (made.delay <= 0.005)).all()
    with pytest.raises(ValueError, match="31 units cannot be recorded from 30 neurons"):
        simulate.network(neurons=30, units=31)


def test_recordings_take_the_spikes_of_a_file(tmp_path):
    file = tmp_path / "spikes.csv"
    file.write_text("time_s,unit\n0.5,a\n0.7,b\n1.25,a\n")

    made = simulate.recording(channels=2, units=9, length="1h", spikes=file)

    assert made.spikes.unit_names == ["a", "b"]
    assert made.spikes.times.tolist() == pytest.approx([0, 0.2, 0.75])
    with pytest.raises(OSError, match="absent"):
        simulate.recording(spikes=tmp_path / "absent.csv")
