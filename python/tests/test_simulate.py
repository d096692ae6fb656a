"""What simulations say of their truth."""

import numpy as np

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

    kinds = {"broad", "narrow", "early_peak", "triphasic", "positive"}
    assert len(made.waveform) == 9
    assert set(made.waveform) <= kinds
    assert made.like[0] == -1
    assert all(made.like[1:] < np.arange(1, 9))
    assert made.bursting.all()
    assert (easy.waveform, easy.bursting.any(), easy.like.max()) == (["broad"] * 2, False, -1)
