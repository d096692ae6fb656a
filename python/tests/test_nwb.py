"""NWB files, written and read by pynwb."""

import warnings

import pytest
import synfire

pytest.importorskip("pynwb")


def test_spikes_are_read_as_they_were_written(tmp_path):
    spikes = synfire.SpikeSequence.of({"A": [0.1, 0.25], "B": [0.2]}, t_start=0, t_stop=2)

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        synfire.write(tmp_path / "spikes.nwb", spikes)
        read = synfire.read(tmp_path / "spikes.nwb")

    assert read == spikes
    assert (read.t_start, read.t_stop) == (0, 2)
    assert [file.name for file in tmp_path.iterdir()] == ["spikes.nwb"]
