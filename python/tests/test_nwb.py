"""NWB files, written by pynwb."""

import warnings

import pytest

import synfire

pytest.importorskip("pynwb")


def test_writing_warns_of_nothing_and_leaves_nothing_beside(tmp_path):
    spikes = synfire.SpikeSequence.of({"A": [0.1, 0.25], "B": [0.2]}, t_start=0, t_stop=2)

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        synfire.write(tmp_path / "spikes.nwb", spikes)

    assert [file.name for file in tmp_path.iterdir()] == ["spikes.nwb"]
