"""Files of laboratories: what the package says of them, and that its errors name them."""

import warnings

import numpy as np
import pytest

import spikeweave

RATE = 30000.0
DRAW = np.random.default_rng(4)
SAMPLES = np.sort(DRAW.choice(10 * int(RATE), 600, replace=False)).astype(np.int64)
CLUSTERS = DRAW.integers(3, size=600).astype(np.int32)
TRAINS = [SAMPLES[cluster == CLUSTERS] / RATE for cluster in range(3)]


def said_of(call, *arguments, **more):
    """The result of a call, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call(*arguments, **more)
    return found, [str(one.message) for one in caught if one.category is UserWarning]


def write_units(path, trains, ids=None, dtype="f8", **columns):
    """The table of units of an NWB file, as pynwb reads it."""
    h5py = pytest.importorskip("h5py")
    spikeweave.write(path, spikeweave.SpikeSequence.of(TRAINS[: len(trains)]), overwrite=True)
    with h5py.File(path, "a") as file:
        units = file["units"]
        for name in ("obs_intervals", "obs_intervals_index", "unit_name"):
            if name in units:
                del units[name]
        for name, values in (
            ("spike_times", np.concatenate(trains).astype(dtype)),
            ("spike_times_index", np.cumsum([len(train) for train in trains], dtype="u4")),
            ("id", np.arange(len(trains)) if ids is None else np.asarray(ids)),
        ):
            attributes = dict(units[name].attrs)
            del units[name]
            units[name] = values
            units[name].attrs.update(attributes)
        units["spike_times_index"].attrs["target"] = units["spike_times"].ref
        for name, values in columns.items():
            units[name] = values
            units[name].attrs.update(dict(units["id"].attrs))
            units[name].attrs["neurodata_type"] = "VectorData"
            units[name].attrs["description"] = name
        units.attrs["colnames"] = np.array(["spike_times", *columns], dtype=h5py.string_dtype())
    return path


def test_trials_are_noticed_in_every_file_and_array(tmp_path):
    trials = [np.concatenate([np.sort(DRAW.uniform(0, 2, 20)) for _ in range(20)]) for _ in "abc"]
    says = "The times of 3 units begin again, up to 19 times each"
    _, said = said_of(spikeweave.read, write_units(tmp_path / "a.nwb", trials))
    assert any(says in one and "a.nwb" in one for one in said), said
    for spikes in (trials, dict(zip("abc", trials, strict=True))):
        _, said = said_of(spikeweave.SpikeSequence.of, spikes)
        assert any(says in one for one in said), said
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"trial": [0, 0, 1], "time": [0.1, 0.5, 0.2], "unit": ["a", "a", "a"]})
    _, said = said_of(spikeweave.SpikeSequence.of, table)
    assert any("The column trial is not used" in one for one in said), said
    _, said = said_of(spikeweave.SpikeSequence.of, TRAINS)
    assert not said


def test_times_of_32_bits_are_noticed(tmp_path):
    late = [(train + 40000).astype(np.float32) for train in TRAINS]
    path = write_units(tmp_path / "a.nwb", late, dtype="f4")
    inputs = (
        lambda: spikeweave.read(path),
        lambda: spikeweave.SpikeSequence.of(late),
        lambda: spikeweave.SpikeSequence.of((late[0], np.zeros(len(late[0]), int))),
        lambda: spikeweave.SpikeSequence.of({"a": late[0]}),
    )
    for read in inputs:
        _, said = said_of(read)
        assert any("numbers of 32 bits" in one for one in said), said
    _, said = said_of(spikeweave.SpikeSequence.of, [train.astype(np.float32) for train in TRAINS])
    assert not said


def test_nwb_is_checked_as_text_is(tmp_path):
    path = tmp_path / "ms.nwb"
    _, said = said_of(spikeweave.read, write_units(path, [10000 * train for train in TRAINS]))
    assert any("milliseconds" in one for one in said), said
    found, said = said_of(
        spikeweave.read, write_units(tmp_path / "ids.nwb", [*TRAINS], ids=[0, 1, 0])
    )
    assert found.unit_names == ["0", "1", "2"]
    assert any("ids of the units repeat" in one for one in said), said


def test_errors_about_nwb_name_the_file(tmp_path):
    bad = [np.array([0.5, np.nan]), TRAINS[1]]
    for trains in (bad, [np.array([-0.5]), TRAINS[1]]):
        path = write_units(tmp_path / "bad.nwb", trains)
        with pytest.raises(OSError, match=r"bad\.nwb', unit 0, spike"):
            spikeweave.read(path)
    labels = np.array(["mua", "mua", "noise"], "S5")
    path = write_units(tmp_path / "labels.nwb", TRAINS, quality=labels)
    with pytest.raises(ValueError, match=r"labels: '.*labels\.nwb': no unit is labelled good"):
        spikeweave.read(path)
    found, _ = said_of(spikeweave.read, path, labels="mua")
    assert found.unit_names == ["0", "1"]


def test_only_the_units_that_are_used_are_compared(tmp_path):
    copy = np.sort(np.concatenate((TRAINS[0], DRAW.uniform(0, 10, 400))))
    path = tmp_path / "pair.npz"
    spikeweave.write(path, {"good": TRAINS[0], "mua": copy})
    found, said = said_of(spikeweave.read, path, only_units=["good"], drop_duplicates_of_units=True)
    assert (found.unit_names, said) == (["good"], [])
    found, _ = said_of(spikeweave.read, path, drop_duplicates_of_units=True)
    assert found.unit_names == ["mua"]


def test_a_table_with_a_row_for_each_unit_is_read():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"spike_times": TRAINS, "quality": ["good"] * 3}, index=[4, 7, 9])
    found = spikeweave.SpikeSequence.of(table)
    assert found.unit_names == ["4", "7", "9"]
    assert [len(train) for train in found.trains()] == [len(train) for train in TRAINS]
    table["unit_name"] = ["x", "y", "z"]
    assert spikeweave.SpikeSequence.of(table).unit_names == ["x", "y", "z"]
    with pytest.raises(TypeError, match="an array for each unit"):
        spikeweave.SpikeSequence.of(pandas.DataFrame({"spike_times": [0.1, 0.2]}))


def test_a_sorting_of_several_segments_is_refused_with_the_call_that_helps():
    si = pytest.importorskip("spikeinterface")
    samples, labels = [SAMPLES[:9], SAMPLES[:9]], [CLUSTERS[:9], CLUSTERS[:9]]
    sorting = si.NumpySorting.from_samples_and_labels(samples, labels, RATE)
    with pytest.raises(ValueError, match=r"spikeinterface\.select_segment_sorting\(sorting, "):
        spikeweave.SpikeSequence.of(sorting)
    one = si.select_segment_sorting(sorting, [0])
    assert len(spikeweave.SpikeSequence.of(one)) == 9


def test_a_spike_after_the_end_of_the_recording_is_kept_with_a_warning():
    si = pytest.importorskip("spikeinterface")
    recording = si.generate_recording(num_channels=1, durations=[1.0], sampling_frequency=RATE)
    sorting = si.NumpySorting.from_samples_and_labels(
        [np.array([100, 40000])], [np.array([3, 7])], RATE
    )
    sorting.register_recording(recording, check_spike_frames=False)
    found, said = said_of(spikeweave.SpikeSequence.of, sorting)
    assert len(found) == 2
    assert any("such as unit 7" in one and "remove_excess_spikes" in one for one in said), said


def test_a_culture_has_the_places_of_its_electrodes(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "culture.h5"
    with h5py.File(path, "w") as file:
        file["spikes"] = np.concatenate(TRAINS)
        file["sCount"] = [len(train) for train in TRAINS]
        file["names"] = np.array(["A1_12", "A1_11", "B1_11"], dtype="S8")
        file["epos"] = np.array([[0.0, 200.0, 400.0], [1.0, 2.0, 3.0]])
        file["recordingtime"] = [0.0, 11.0]
    found, said = said_of(spikeweave.read, path)
    assert found.unit_names == ["A1_12", "A1_11", "B1_11"]
    assert found.positions.tolist() == [[0, 1], [200, 2], [400, 3]]
    assert (found.t_start, found.t_stop) == (0, 11)
    assert any("2 wells of a plate" in one for one in said), said
    well, said = said_of(spikeweave.read, path, only_units="A1")
    assert (well.unit_names, said) == (["A1_12", "A1_11"], [])
    assert well.positions.tolist() == well.select(["A1_11", "A1_12"]).positions.tolist()
    assert found.select(["B1_11"]).positions.tolist() == [[400, 3]]
    with h5py.File(path, "a") as file:
        file["sCount"][0] = 700
    with pytest.raises(OSError, match=r"culture\.h5"):
        spikeweave.read(path)


def test_clusters_are_no_electrodes(tmp_path):
    (tmp_path / "params.py").write_text("sample_rate = 30000.0\n", encoding="utf-8")
    np.save(tmp_path / "spike_times.npy", SAMPLES)
    np.save(tmp_path / "spike_clusters.npy", np.arange(600) % 62)
    found, said = said_of(spikeweave.read, tmp_path)
    assert (said, found.check(), found.select(found.unit_names).check()) == ([], [], [])
    assert spikeweave.SpikeSequence.of((SAMPLES / RATE, np.arange(600) % 62)).check()


# Real files, as neo and pynwb read them.


def rawio_trains(reader, segments=1):
    reader.parse_header()
    return {
        str(name): np.concatenate(
            [
                reader.rescale_spike_timestamp(
                    reader.get_spike_timestamps(0, segment, index), dtype="float64"
                )
                for segment in range(segments)
            ]
        )
        for index, name in enumerate(reader.header["spike_channels"]["name"])
    }


def assert_trains(found, expected):
    assert sorted(found.unit_names) == sorted(expected)
    for name, train in zip(found.unit_names, found.trains(), strict=True):
        np.testing.assert_allclose(train, np.unique(np.rint(1e6 * expected[name])) / 1e6, atol=1e-6)


def test_real_files_are_read_as_neo_reads_them(shared_data):
    rawio = pytest.importorskip("neo.rawio")
    labs = shared_data / "labs"
    if not labs.is_dir():
        pytest.skip(f"there is no {labs}")
    of_blackrock = {"blackrock_3_0/file_spec_3_0": 1, "segment/PauseCorrect/pause_correct": 2}
    for name, segments in of_blackrock.items():
        path = labs / "blackrock" / f"{name}.nev"
        expected = rawio_trains(rawio.BlackrockRawIO(str(path)), segments)
        found, _ = said_of(spikeweave.read, path, labels="all")
        assert_trains(found, expected)
        unsorted, _ = said_of(spikeweave.read, path, labels="unsorted")
        assert unsorted.unit_names == [one for one in found.unit_names if one.endswith("#0")]
        used, _ = said_of(spikeweave.read, path)
        assert used.unit_names == [one for one in found.unit_names if not one.endswith("#255")]
    folder = labs / "neuralynx/Cheetah_v5.5.1/original_data"
    files = sorted(path.name for path in folder.glob("*.nse"))
    reader = rawio.NeuralynxRawIO(str(folder), include_filenames=files, keep_original_times=True)
    assert_trains(said_of(spikeweave.read, folder, labels="all")[0], rawio_trains(reader))
    spikes = labs / "openephys/OpenEphys_SampleData_1/STp106.0n0.spikes"
    with pytest.raises(OSError, match=r"STp106\.0n0\.spikes.*\.continuous"):
        spikeweave.read(spikes)


def test_real_files_of_hdf5_are_read_as_their_libraries_read_them(shared_data):
    h5py = pytest.importorskip("h5py")
    pynwb = pytest.importorskip("pynwb")
    for path in sorted((shared_data / "cultures").glob("*.h5")):
        found, _ = said_of(spikeweave.read, path)
        with h5py.File(path) as file:
            names = [name.decode() for name in file["names"][:]]
            counts = dict(zip(names, file["sCount"][:].tolist(), strict=True))
            places = dict(zip(names, file["epos"][:].T.tolist(), strict=True))
        assert dict(zip(found.unit_names, found.counts.tolist(), strict=True)) == counts
        assert dict(zip(found.unit_names, found.positions.tolist(), strict=True)) == places
    kwik = shared_data / "labs/kwik/neo.kwik"
    found, _ = said_of(spikeweave.read, kwik, labels="all")
    with h5py.File(kwik) as file:
        total = sum(len(group["spikes/time_samples"]) for group in file["channel_groups"].values())
    assert len(found) == total
    nwb = shared_data / "labs/nwb/ecephys_tutorial_v2.5.0.nwb"
    with pynwb.NWBHDF5IO(str(nwb), "r") as io:
        units = io.read().units
        expected = {str(units.id[i]): units["spike_times"][i] for i in range(len(units))}
    assert_trains(said_of(spikeweave.read, nwb, labels="all")[0], expected)


def test_positions_come_from_the_names_of_electrodes_or_a_layout(tmp_path):
    names = [f"{column}{row}" for column in range(2, 8) for row in range(1, 9)]
    spikes = tmp_path / "spikes.tsv"
    lines = (f"{0.1 + 0.001 * i:.3f}\t{name}\n" for i, name in enumerate(names))
    spikes.write_text("time_s\tunit\n" + "".join(lines))
    found = spikeweave.read(spikes)
    places = dict(zip(found.unit_names, found.positions.tolist(), strict=True))
    assert places["32"] == [places["22"][0] + 200, places["22"][1]]
    assert places["23"] == [places["22"][0], places["22"][1] - 200]

    layout = tmp_path / "layout.txt"
    layout.write_text("21 1.5 -2\n")
    placed = spikeweave.read(spikes, layout=layout)
    assert placed.positions[placed.unit_names.index("21")].tolist() == [1.5, -2]
    assert np.isnan(placed.positions[placed.unit_names.index("22")]).all()
    layout.write_text("21 1.5\n")
    with pytest.raises(OSError, match="layout.txt', line 1: found '21 1.5', expected a unit, x"):
        spikeweave.read(spikes, layout=layout)
