"""NWB files, written by pynwb."""

import warnings

import pytest

import spikeweave

pynwb = pytest.importorskip("pynwb")


def test_writing_warns_of_nothing_and_leaves_nothing_beside(tmp_path):
    spikes = spikeweave.SpikeSequence.of({"A": [0.1, 0.25], "B": [0.2]}, t_start=0, t_stop=2)

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        spikeweave.write(tmp_path / "spikes.nwb", spikes)

    assert [file.name for file in tmp_path.iterdir()] == ["spikes.nwb"]


def test_units_that_share_a_name_keep_their_spikes(tmp_path):
    from datetime import datetime, timezone

    nwbfile = pynwb.NWBFile("test", "test", datetime(2020, 1, 1, tzinfo=timezone.utc))
    nwbfile.add_unit_column("unit_name", "of each probe")
    for name, times in (("u1", [0.1, 0.2]), ("u1", [0.3]), ("u2", [0.4, 0.5, 0.6])):
        nwbfile.add_unit(spike_times=times, unit_name=name)
    with pynwb.NWBHDF5IO(str(tmp_path / "probes.nwb"), "w") as io:
        io.write(nwbfile)

    spikes = spikeweave.read(tmp_path / "probes.nwb")

    assert len(spikes) == 6
    assert spikes.unit_names == ["0", "1", "2"]


def test_options_of_other_formats_are_refused(tmp_path):
    spikeweave.write(tmp_path / "spikes.nwb", [[0.1]])

    with pytest.raises(ValueError, match="time_unit"):
        spikeweave.read(tmp_path / "spikes.nwb", time_unit="ms")
    with pytest.raises(ValueError, match="gain"):
        spikeweave.read_recording(tmp_path / "spikes.nwb", gain=2.0)
