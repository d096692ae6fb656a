"""`spikeweave.sort`, `sort_features`, recordings, and SpikeInterface."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spikeweave
from spikeweave import Recording


@pytest.fixture(scope="module")
def made():
    return spikeweave.simulate.recording(
        channels=16, units=5, length="20s", low_rate=6, high_rate=15, low_peak=120, seed=2
    )


@pytest.fixture(scope="module")
def found(made):
    return spikeweave.sort(made.recording)


def shares_found(result, truth, tolerance=0.0005):
    """Return, for each true unit, the largest share of its spikes in one unit."""
    shares = []
    for train in truth.trains():
        hits = [
            np.count_nonzero(np.min(np.abs(train[:, None] - unit), axis=1) < tolerance)
            for unit in result.spikes.trains()
        ]
        shares.append(max(hits) / len(train))
    return shares


def test_a_simulation_is_sorted_as_its_recording(made, found):
    assert Recording.of(made) is made.recording
    assert np.array_equal(spikeweave.sort(made).labels, found.labels)


def test_units_are_the_true_ones(made, found):
    assert found.unit_count >= 5
    assert min(shares_found(found, made.spikes)) > 0.8
    assert len(found.labels) == len(found.samples)
    assert found.units["spikes"].sum() == np.count_nonzero(found.labels)
    assert len(found.spikes) + found.same_time == found.units["spikes"].sum()


def test_saved_templates_find_the_same_units(made, found, tmp_path):
    rig = tmp_path / "rig.templates"
    saving = spikeweave.sort(made.recording, save_templates=rig)
    assert np.array_equal(saving.samples, found.samples)  # saving changes nothing

    again = spikeweave.sort(made.recording, templates=rig)
    assert again.unit_count == found.unit_count
    assert min(shares_found(again, made.spikes)) > 0.8
    for before, now in zip(found.spikes.trains(), again.spikes.trains(), strict=True):
        near = np.min(np.abs(before[:, None] - now), axis=1) < 0.0005
        assert near.mean() > 0.9
    other = spikeweave.sort(made.recording, templates=rig, threads=1)
    assert np.array_equal(other.samples, again.samples)
    with pytest.raises(OSError, match=r"none\.templates"):
        spikeweave.sort(made.recording, templates=tmp_path / "none.templates")


def test_units_have_labels_and_reasons(made, found):
    assert set(found.units["label"]) <= {"good", "mua", "noise"}
    assert all(found.units["reason"])
    good = found.spikes.select(np.flatnonzero(found.units["label"] == "good").tolist())
    assert len(good.unit_names) >= 4
    truth = made.spikes.trains()
    for unit in good.trains():
        near = max(
            np.count_nonzero(np.min(np.abs(unit[:, None] - train), axis=1) < 0.0005)
            for train in truth
        )
        assert near > 0.8 * len(unit)
    assert (found.units["presence_ratio"] > 0.8).all()
    assert (found.units["amplitude_median"] > 50).all()
    assert "good" in found._repr_html_()


def test_phy_and_nwb_keep_the_labels(found, tmp_path):
    found.to_phy(tmp_path / "phy")
    groups = (tmp_path / "phy" / "cluster_group.tsv").read_text("utf-8").splitlines()
    numbered = [f"{unit}\t{label}" for unit, label in enumerate(found.units["label"], 1)]
    assert groups == ["cluster_id\tgroup", *numbered]
    pytest.importorskip("pynwb")
    nwb = found.to_nwb(tmp_path / "units.nwb")
    assert list(nwb.units["quality"][:]) == found.units["label"].tolist()
    assert "l_ratio" in nwb.units["isolation_distance"].description
    assert not any("`" in column.description for column in nwb.units.columns)
    everything = spikeweave.read(tmp_path / "units.nwb", labels="all")
    assert everything.unit_names == found.spikes.unit_names


def test_waveforms_are_largest_where_the_unit_is(made, found):
    nearest = set(made.channel.tolist())
    clear = np.flatnonzero(found.units["spikes"] > 100)

    assert len(clear) >= 5
    for unit in clear:
        assert found.units["peak_channel"][unit] in nearest
        assert found.waveforms[unit + 1][found.waveform_peak].min() < -50


def test_decisions_say_what_became_of_every_cluster(found):
    merges = found.merges

    assert list(merges) == [
        "cluster",
        "decision",
        "other",
        "spikes",
        "distance",
        "similarity",
        "difference",
        "coincidences",
        "expected_coincidences",
        "reason",
    ]
    kept = merges["decision"] == "kept"
    assert merges["other"][kept].tolist() == list(range(1, found.unit_count + 1))
    assert merges["spikes"][kept].tolist() == found.units["spikes"].tolist()
    assert np.isnan(merges["distance"][kept]).all()
    split = merges["decision"] == "split"
    assert (merges["distance"][split] >= 4).all()
    assert all(merges["reason"])
    assert merges["cluster"][~split].size == np.unique(merges["cluster"][~split]).size


def test_clusters_are_left_alone_if_asked(made, found):
    alone = spikeweave.sort(made.recording, merge="none")

    assert alone.parameters["merge"] == "none"
    assert set(alone.merges["decision"]) <= {"kept", "dropped"}
    assert set(found.merges["decision"]) & {"split", "merged"}
    assert alone.unit_count > found.unit_count
    assert spikeweave.sort(made.recording, stages="cluster").merges is None


@pytest.mark.parametrize("how", ["array", "int32", "function", "threads"])
def test_however_samples_come_the_answer_is_the_same(made, found, how):
    samples = made.recording.samples(0, made.recording.frames)
    channels = made.recording.channels
    about = {
        "sample_rate": made.recording.sample_rate,
        "gain": [one["gain_uv"] for one in channels],
        "positions": made.recording.positions,
    }
    if how == "threads":
        again = spikeweave.sort(made.recording, threads=3)
    elif how == "int32":
        again = spikeweave.sort(samples.astype(np.int32), **about)
    elif how == "function":
        again = spikeweave.sort(np.asfortranarray(samples), **about)
    else:
        again = spikeweave.sort(samples, **about)

    assert np.array_equal(again.labels, found.labels)
    assert np.array_equal(again.samples, found.samples)


def test_microvolts_are_nearly_the_same(made, found):
    volts = made.recording.microvolts(0, made.recording.frames)

    again = spikeweave.sort(
        volts, sample_rate=made.recording.sample_rate, positions=made.recording.positions
    )

    assert abs(len(again.labels) - len(found.labels)) < 0.01 * len(found.labels)
    assert min(shares_found(again, made.spikes)) > 0.8


def test_spikeinterface_sorts_its_own_recordings(made):
    core = pytest.importorskip("spikeinterface.core")
    import spikeweave.spikeinterface

    recording = core.NumpyRecording(
        [made.recording.samples(0, made.recording.frames)], made.recording.sample_rate
    )
    recording.set_channel_gains(0.195)
    recording.set_channel_offsets(0.0)
    recording.set_dummy_probe_from_locations(made.recording.positions)

    sorting = spikeweave.spikeinterface.run_sorter(recording)

    direct = spikeweave.sort(made.recording)
    assert list(sorting.unit_ids) == list(range(1, direct.unit_count + 1))
    for unit in sorting.unit_ids:
        assert np.array_equal(
            sorting.get_unit_spike_train(unit), direct.samples[direct.labels == unit]
        )
    assert sorting.get_property("snr").tolist() == direct.units["snr"].tolist()


def test_components_of_an_analyzer_are_clustered():
    si = pytest.importorskip("spikeinterface")
    import spikeweave.spikeinterface

    recording, truth = si.generate_ground_truth_recording(
        durations=[20.0], num_channels=8, num_units=4, seed=3
    )
    analyzer = si.create_sorting_analyzer(truth, recording, sparse=True, verbose=False)
    analyzer.compute(
        {
            "random_spikes": {"method": "all"},
            "waveforms": {},
            "templates": {},
            "principal_components": {"n_components": 3, "mode": "by_channel_local"},
        },
        verbose=False,
    )

    sorting = spikeweave.spikeinterface.sort_analyzer(analyzer)

    vector = truth.to_spike_vector()
    assert sorting.count_total_num_spikes() <= len(vector)
    samples = np.sort(np.concatenate([sorting.get_unit_spike_train(u) for u in sorting.unit_ids]))
    assert np.isin(samples, vector["sample_index"]).all()
    best = []
    for unit in truth.unit_ids:
        train = truth.get_unit_spike_train(unit)
        best.append(
            max(np.isin(train, sorting.get_unit_spike_train(u)).mean() for u in sorting.unit_ids)
        )
    assert np.median(best) > 0.7


def test_a_sorting_goes_on_to_other_tools(found, tmp_path):
    core = pytest.importorskip("spikeinterface.core")
    pynwb = pytest.importorskip("pynwb")

    assert core.NumpySorting.from_sorting(found.to_spikeinterface()).get_num_units() == len(found)
    assert len(found.to_elephant()) == len(found)
    assert found.to_dataframe()["snr"].tolist() == found.units["snr"].tolist()
    found.to_phy(tmp_path / "phy")
    assert np.array_equal(np.load(tmp_path / "phy" / "spike_clusters.npy").ravel(), found.labels)
    with pytest.raises(OSError, match="phy"):
        found.to_phy(tmp_path / "phy")
    found.to_nwb(tmp_path / "units.nwb")
    with pynwb.NWBHDF5IO(str(tmp_path / "units.nwb"), "r") as io:
        assert io.read().units["snr"][:].tolist() == found.units["snr"].tolist()


def test_a_recording_of_nwb(made, found, tmp_path):
    pynwb = pytest.importorskip("pynwb")
    from datetime import datetime, timezone

    nwbfile = pynwb.NWBFile("test", "test", datetime(2020, 1, 1, tzinfo=timezone.utc))
    device = nwbfile.create_device("probe")
    group = nwbfile.create_electrode_group("shank", "one", "somewhere", device)
    for x, y in made.recording.positions:
        nwbfile.add_electrode(location="somewhere", group=group, rel_x=x, rel_y=y)
    nwbfile.add_acquisition(
        pynwb.ecephys.ElectricalSeries(
            name="ElectricalSeries",
            data=made.recording.samples(0, made.recording.frames),
            electrodes=nwbfile.create_electrode_table_region(list(range(16)), "all"),
            rate=made.recording.sample_rate,
            conversion=0.195e-6,
        )
    )
    with pynwb.NWBHDF5IO(str(tmp_path / "raw.nwb"), "w") as io:
        io.write(nwbfile)

    again = spikeweave.sort(tmp_path / "raw.nwb")

    assert np.array_equal(again.labels, found.labels)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_order_of_spikes_only_permutes_labels(seed):
    data = spikeweave.simulate.features(spikes=400, units=3, channels=6, seed=4)
    order = np.random.default_rng(seed).permutation(len(data.truth))
    start = spikeweave.sort_features(data.features, data.masks, splits=False)
    again = spikeweave.sort_features(data.features[order], data.masks[order], splits=False)

    pairs = set(zip(start.labels[order].tolist(), again.labels.tolist(), strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_features_are_sorted_into_their_units():
    data = spikeweave.simulate.features(spikes=3000, units=6, channels=12, of_no_unit=0, seed=1)

    result = spikeweave.sort_features(
        data.features, data.masks, samples=data.samples, sample_rate=data.sample_rate
    )

    assert result.unit_count == 6
    for unit in range(1, 7):
        labels = np.bincount(result.labels[data.truth == unit])
        assert labels.max() / labels.sum() > 0.95
    assert len(result.spikes) > 0


def test_units_with_the_same_spikes_are_named():
    data = spikeweave.simulate.features(spikes=1000, units=2, channels=8, of_no_unit=0, seed=1)
    samples = np.zeros(len(data.truth), np.int64)
    times = np.cumsum(np.random.default_rng(0).integers(600, 6000, len(samples)))
    for unit in (1, 2):
        rows = data.truth == unit
        samples[rows] = times[: np.count_nonzero(rows)] + unit
    order = np.argsort(samples, kind="stable")

    with pytest.warns(UserWarning, match="one neuron may have been counted as two"):
        spikeweave.sort_features(
            data.features[order], data.masks[order], samples=samples[order], sample_rate=30_000
        )


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"features": np.zeros(3)}, ValueError, "features"),
        ({"features": "nowhere.npz"}, OSError, "nowhere"),
        ({"features": [["a"]]}, TypeError, "features"),
        ({"features": [[np.nan, 1.0, 2.0]]}, ValueError, "spike 0"),
        ({"features": np.ones((4, 3)), "masks": np.ones((4, 2))}, ValueError, "masks"),
        ({"features": np.ones((4, 3)), "masks": np.full((4, 3), 2.0)}, ValueError, "mask"),
        ({"features": np.ones((4, 3)), "samples": [1, 2]}, ValueError, "samples"),
        ({"features": np.ones((4, 3)), "stop": "now"}, ValueError, "stop"),
        ({"features": np.ones((4, 3)), "deletions": "some"}, ValueError, "deletions"),
        ({"features": np.ones((4, 3)), "starting_clusters": "many"}, TypeError, "starting"),
        ({"features": np.ones((0, 3))}, ValueError, "spikes"),
        ({"features": np.ones((3, 0))}, ValueError, "features"),
        (
            {"features": np.ones((4, 3)), "masks": np.ones((4, 3)), "features_per_channel": 0},
            ValueError,
            "features_per_channel",
        ),
        (
            {"features": np.ones((4, 3)), "masks": np.ones((4, 3)), "features_per_channel": 2},
            ValueError,
            "features_per_channel",
        ),
        (
            {"features": np.ones((4, 3)), "masks": np.ones((4, 3)), "mask": "all"},
            ValueError,
            "mask",
        ),
        ({"features": np.ones((4, 3)), "samples": [0.1, 0.2, 0.3, 0.4]}, ValueError, "samples"),
        ({"features": np.ones((4, 3)), "sample_rate": float("nan")}, ValueError, "sample_rate"),
    ],
)
def test_bad_features_are_named(arguments, kind, says):
    with pytest.raises(kind, match=says):
        spikeweave.sort_features(**arguments)


@pytest.mark.parametrize(
    ("recording", "arguments", "kind", "says"),
    [
        (np.zeros((10, 2), np.int16), {}, TypeError, "sample_rate"),
        (np.zeros(10, np.int16), {"sample_rate": 1e4}, ValueError, "recording"),
        (np.full((90, 2), 70_000), {"sample_rate": 1e4}, ValueError, "int16"),
        (np.full((90, 2), np.nan), {"sample_rate": 1e4}, ValueError, "microvolts"),
        (np.zeros((90, 2), np.int16), {"sample_rate": -1.0}, ValueError, "samples a second"),
        (
            np.zeros((90, 2), np.int16),
            {"sample_rate": 2e4, "positions": [[0, 0]]},
            ValueError,
            "positions",
        ),
        (np.zeros((90, 2), np.int16), {"sample_rate": 2e4, "gain": [1, 2, 3]}, ValueError, "gain"),
        (np.zeros((90, 2), "U1"), {"sample_rate": 2e4}, TypeError, "numbers"),
        (17, {}, TypeError, "recording"),
        (np.zeros((90, 2)), {"sample_rate": 2e4, "gain": 5.0}, ValueError, "gain"),
        (np.zeros((90, 2), np.int16), {"sample_rate": "20kHz"}, TypeError, "sample_rate"),
        ("nowhere.bin", {}, OSError, "nowhere"),
        (np.zeros((30_000, 2), np.int16), {"sample_rate": 3e4}, ValueError, "recording"),
    ],
)
def test_bad_recordings_are_named(recording, arguments, kind, says):
    with pytest.raises(kind, match=says):
        spikeweave.sort(recording, **arguments)


def test_components_of_a_folder_of_phy_are_its_own(made, tmp_path):
    five = spikeweave.sort(made.recording, features_per_channel=5)
    five.to_phy(tmp_path / "phy")

    again = spikeweave.sort_features(tmp_path / "phy")

    assert again.units["peak_channel"].max() < len(made.recording.channels)


def test_a_recording_is_read_in_parts(made):
    recording = made.recording

    assert np.array_equal(recording.samples(100, 200), recording.samples(0, 300)[100:200])
    assert recording.samples(5, 5).shape == (0, 16)
    with pytest.raises(ValueError, match="frames"):
        recording.samples(0, recording.frames + 1)
    assert Recording.of(recording) is recording


def test_features_of_a_real_recording(shared_data):
    path = shared_data / "sorting" / "klusta32.npz"
    if not path.exists():
        pytest.skip(f"there is no {path}")

    result = spikeweave.sort_features(path, starting_clusters=50, stop="seed")

    assert len(result.labels) == len(np.load(path)["features"])
    assert result.unit_count > 5
