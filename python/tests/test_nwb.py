"""NWB files, written by pynwb."""

import warnings
from datetime import datetime, timezone

import numpy as np
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
    nwbfile = pynwb.NWBFile("test", "test", datetime(2020, 1, 1, tzinfo=timezone.utc))
    nwbfile.add_unit_column("unit_name", "of each probe")
    for name, times in (("u1", [0.1, 0.2]), ("u1", [0.3]), ("u2", [0.4, 0.5, 0.6])):
        nwbfile.add_unit(spike_times=times, unit_name=name)
    with pynwb.NWBHDF5IO(str(tmp_path / "probes.nwb"), "w") as io:
        io.write(nwbfile)

    with pytest.warns(UserWarning, match="unit_name has names that repeat"):
        spikes = spikeweave.read(tmp_path / "probes.nwb")

    assert len(spikes) == 6
    assert spikes.unit_names == ["0", "1", "2"]


def test_units_are_where_their_electrodes_are(tmp_path):
    nwbfile = pynwb.NWBFile("test", "test", datetime(2020, 1, 1, tzinfo=timezone.utc))
    group = nwbfile.create_electrode_group("a", "a", "here", nwbfile.create_device("probe"))
    for i in range(4):
        nwbfile.add_electrode(group=group, location="here", rel_x=100.0 * i, rel_y=-5.0 * i)
    for electrodes in ([1], [0, 2], [], [3]):
        nwbfile.add_unit(spike_times=[0.1, 0.2], electrodes=electrodes)
    with pynwb.NWBHDF5IO(str(tmp_path / "probe.nwb"), "w") as io:
        io.write(nwbfile)

    places = spikeweave.read(tmp_path / "probe.nwb").positions

    assert places[[0, 1, 3]].tolist() == [[100, -5], [100, -5], [300, -15]]
    assert np.isnan(places[2]).all()


def test_an_hdf5_file_of_spikes_is_nwb(tmp_path):
    spikeweave.write(tmp_path / "spikes.h5", [[0.1]])
    assert spikeweave.read(tmp_path / "spikes.h5")["0"].tolist() == [0.1]


def test_options_of_other_formats_are_refused(tmp_path):
    spikeweave.write(tmp_path / "spikes.nwb", [[0.1]])

    with pytest.raises(ValueError, match="time_unit"):
        spikeweave.read(tmp_path / "spikes.nwb", time_unit="ms")
    with pytest.raises(ValueError, match="gain"):
        spikeweave.read_recording(tmp_path / "spikes.nwb", gain=2.0)


def write_series(path, count, **times):
    """A recording of one channel. `times`: as pynwb takes them."""
    from pynwb.ecephys import ElectricalSeries

    nwbfile = pynwb.NWBFile("test", "test", datetime(2020, 1, 1, tzinfo=timezone.utc))
    group = nwbfile.create_electrode_group("a", "a", "somewhere", nwbfile.create_device("probe"))
    nwbfile.add_electrode(group=group, location="somewhere")
    rows = nwbfile.create_electrode_table_region([0], "all")
    data = np.arange(count, dtype=np.int16)[:, None]
    nwbfile.add_acquisition(ElectricalSeries(name="raw", data=data, electrodes=rows, **times))
    with pynwb.NWBHDF5IO(str(path), "w") as io:
        io.write(nwbfile)


def test_times_of_samples_need_not_be_even(tmp_path):
    stamps = 5 + np.arange(3000) / 30000 + np.where(np.arange(3000) >= 1000, 2.0, 0.0)
    write_series(tmp_path / "gap.nwb", 3000, timestamps=stamps.round(6))

    found = spikeweave.read_recording(tmp_path / "gap.nwb")

    assert found.sample_rate == pytest.approx(30000, rel=1e-4)
    assert found.t_start == 5
    spikes = spikeweave.SpikeSequence.of({"a": 5 + np.array([900, 2000]) / found.sample_rate})
    assert found._in_its_time(spikes).times == pytest.approx([5.03, 7 + 2 / 30], abs=2e-5)
    write_series(tmp_path / "reset.nwb", 3, timestamps=[0.0, 0.1, 0.05])
    with pytest.raises(OSError, match=r"reset\.nwb.*'raw': expected timestamps that increase"):
        spikeweave.read_recording(tmp_path / "reset.nwb")


def test_a_recording_begins_when_the_file_says(tmp_path):
    write_series(tmp_path / "late.nwb", 3000, rate=30000.0, starting_time=12.5)

    assert spikeweave.read_recording(tmp_path / "late.nwb").t_start == 12.5


@pytest.fixture(scope="module")
def found():
    spikes = spikeweave.simulate.sym26(length="5s", seed=1).spikes
    return spikeweave.episodes(spikes, delays="4-6ms", max_size=2)


@pytest.fixture(scope="module")
def patterns():
    spikes = spikeweave.simulate.patterns(units=8, length=2, seed=1).spikes
    return spikeweave.spade(spikes, min_occ=5)


@pytest.fixture(scope="module")
def units():
    made = spikeweave.simulate.features(spikes=300, units=2, channels=4, seed=1)
    return spikeweave.sort_features(made.features, samples=made.samples, sample_rate=3e4)


@pytest.fixture
def raw_file(tmp_path):
    """Write a file with data of another program."""
    path = tmp_path / "mydata.nwb"
    nwbfile = new_file()
    nwbfile.add_acquisition(
        pynwb.TimeSeries(name="raw", data=np.arange(1000.0), unit="V", rate=1000.0)
    )
    save(path, nwbfile)
    return path


def new_file(units=()):
    nwbfile = pynwb.NWBFile("test", "test", datetime(2020, 1, 1, tzinfo=timezone.utc))
    if units:
        nwbfile.add_unit_column("unit_name", "names")
    for name in units:
        nwbfile.add_unit(spike_times=[0.1], unit_name=name)
    return nwbfile


def save(path, nwbfile):
    with pynwb.NWBHDF5IO(str(path), "w") as io:
        io.write(nwbfile)


@pytest.mark.parametrize("result", ["found", "patterns", "units", "spikes"])
def test_a_file_that_exists_is_kept_unless_asked_otherwise(request, raw_file, result):
    one = request.getfixturevalue("found").spikes if result == "spikes" else None
    one = one or request.getfixturevalue(result)
    before = raw_file.read_bytes()

    with pytest.raises(FileExistsError, match=r"mydata\.nwb.*overwrite=True.*append=True"):
        one.to_nwb(raw_file)
    assert raw_file.read_bytes() == before

    one.to_nwb(raw_file, append=True)
    with pynwb.NWBHDF5IO(str(raw_file), "r") as io:
        nwbfile = io.read()
        assert nwbfile.acquisition["raw"].data.shape == (1000,)
        assert len(nwbfile.units) > 0
    with pytest.raises(ValueError, match="already|table"):
        one.to_nwb(raw_file, append=True)

    one.to_nwb(raw_file, overwrite=True)
    with pynwb.NWBHDF5IO(str(raw_file), "r") as io:
        assert not io.read().acquisition
    assert [file.name for file in raw_file.parent.iterdir()] == ["mydata.nwb"]


def test_what_cannot_be_appended_changes_nothing(found, raw_file):
    with pytest.raises(FileNotFoundError, match="absent"):
        found.to_nwb(raw_file.with_name("absent.nwb"), append=True)
    with pytest.raises(ValueError, match="one of them"):
        found.to_nwb(raw_file, append=True, overwrite=True)
    with pytest.raises(TypeError, match="append: is for paths"):
        found.to_nwb(new_file(), append=True)
    (raw_file.parent / "text.nwb").write_text("no NWB")
    with pytest.raises(OSError, match=r"text\.nwb' is not an NWB file"):
        found.to_nwb(raw_file.parent / "text.nwb", append=True)
    assert sorted(file.name for file in raw_file.parent.iterdir()) == ["mydata.nwb", "text.nwb"]


def test_rows_of_units_are_found_by_their_names():
    spikes = spikeweave.SpikeSequence(
        {"a": [0.105, 0.205, 0.305, 0.405], "b": [0.1, 0.2, 0.3, 0.4]}
    )
    found = spikeweave.episodes(spikes, delays="4-6ms", min_count=3)
    assert [one.units for one in found if one.size == 2] == [("b", "a")]
    nwbfile = new_file(["b", "x", "a"])

    found.to_nwb(nwbfile)

    table = nwbfile.processing["ecephys"]["episodes"]
    rows = table["units"].target.data[-2:]
    assert [nwbfile.units["unit_name"][row] for row in rows] == ["b", "a"]


def test_units_that_a_file_lacks_are_an_error(patterns):
    names = patterns.spikes.unit_names
    nwbfile = new_file([*names[1:], "another"])

    with pytest.raises(ValueError, match=f"no unit '{names[0]}'; it has {names[1]}"):
        patterns.to_nwb(nwbfile)
    assert not nwbfile.processing


def test_ids_are_names_where_there_are_no_names(tmp_path):
    nwbfile = pynwb.NWBFile("test", "test", datetime(2020, 1, 1, tzinfo=timezone.utc))
    for number, times in ((7, [0.105, 0.205, 0.305]), (3, [0.1, 0.2, 0.3])):
        nwbfile.add_unit(spike_times=times, id=number)
    save(tmp_path / "ids.nwb", nwbfile)
    found = spikeweave.episodes(
        spikeweave.read(tmp_path / "ids.nwb"), delays="4-6ms", min_count=3, max_size=2
    )

    found.to_nwb(nwbfile)

    table = nwbfile.processing["ecephys"]["episodes"]
    assert table["units"].target.data[-2:].tolist() == [1, 0]
