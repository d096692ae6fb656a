"""`spikeweave.read` and `spikeweave.write`."""

import copy
import datetime
import errno
import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spikeweave
from spikeweave import SpikeSequence

FORMATS = ["tsv", "csv", "tsv.gz", "npz", "nwb"]

trains = st.lists(
    st.lists(st.integers(0, 10**9), min_size=1, max_size=20, unique=True), min_size=1, max_size=4
)


@pytest.mark.parametrize("extension", FORMATS)
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(given_trains=trains)
def test_what_was_written_is_read_again(extension, tmp_path, given_trains):
    if extension == "nwb":
        pytest.importorskip("pynwb")
    spikes = SpikeSequence.of([[us * 1e-6 for us in train] for train in given_trains])
    path = tmp_path / f"spikes.{extension}"

    spikeweave.write(path, spikes, overwrite=True)
    back = spikeweave.read(path)

    assert back.times_us.tolist() == spikes.times_us.tolist()
    assert back.unit_names == spikes.unit_names
    assert sorted(zip(back.times_us, back.units, strict=True)) == sorted(
        zip(spikes.times_us, spikes.units, strict=True)
    )
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_file_that_exists_is_kept(tmp_path):
    path = tmp_path / "spikes.tsv"
    path.write_text("mine")

    with pytest.raises(FileExistsError, match="spikes.tsv"):
        spikeweave.write(path, [[0.1]])

    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("absent.tsv", None, "absent.tsv"),
        ("bad.tsv", "time_s\tunit\n0.1\tA\noops\tA\n", "line 3"),
        ("negative.tsv", "time_s\tunit\n-0.1\tA\n", "line 2"),
        ("broken.nwb", "\x89HDF\r\n\x1a\nrubbish", "broken.nwb"),
        ("broken.npz", "PK\x03\x04rubbish", "broken.npz"),
    ],
)
def test_a_bad_file_is_named(tmp_path, name, content, says):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content.encode("latin-1"))

    with pytest.raises(OSError, match=says):
        spikeweave.read(path)


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"format": "word"}, ValueError, "format"),
        ({"format": 3}, TypeError, "format"),
        ({"time_unit": "weeks"}, (ValueError, OSError), "weeks"),
        ({"allow_negative": "yes"}, TypeError, "allow_negative"),
    ],
)
def test_bad_arguments_are_named(tmp_path, arguments, kind, says):
    path = tmp_path / "spikes.tsv"
    path.write_text("time_s\tunit\n0.1\tA\n")

    with pytest.raises(kind, match=says):
        spikeweave.read(path, **arguments)


def test_an_extension_without_a_writer_is_refused(tmp_path):
    with pytest.raises(ValueError, match="docx"):
        spikeweave.write(tmp_path / "spikes.docx", [[0.1]])
    assert not list(tmp_path.iterdir())


def test_what_a_file_says_against_itself_is_said(tmp_path):
    path = tmp_path / "spikes.tsv"
    path.write_text("time_s\tunit\n0.1\tA\n0.1\tA\n0.2\tB\n")

    with pytest.warns(UserWarning, match="1 spike is listed twice"):
        spikes = spikeweave.read(path)

    assert len(spikes) == 2


@pytest.mark.parametrize(
    "call",
    [
        spikeweave.read,
        spikeweave.read_recording,
        spikeweave.sort_features,
        spikeweave.sort,
        spikeweave.episodes,
        lambda path: spikeweave.write(path / "spikes.tsv", [[0.1]]),
        lambda path: spikeweave.write(path / "spikes.nwb", [[0.1]]),
    ],
)
def test_a_file_that_is_not_there_is_an_error_of_its_own(tmp_path, call):
    with pytest.raises(FileNotFoundError, match="absent") as error:
        call(tmp_path / "absent")

    assert error.value.errno == errno.ENOENT


def test_a_file_that_may_not_be_read_is_an_error_of_its_own(tmp_path, monkeypatch):
    path = tmp_path / "spikes.tsv"
    path.write_text("0.1\tA\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root can read all files

    with pytest.raises(PermissionError, match=r"spikes\.tsv") as error:
        spikeweave.read(path)

    assert error.value.errno == errno.EACCES


def test_units_that_repeat_another_are_left_out(tmp_path):
    times = np.cumsum(np.random.default_rng(0).uniform(0.02, 0.2, 300))
    spikes = SpikeSequence.of({"a": times, "b": times[60:] + 5e-5, "c": times + 0.004})
    path = tmp_path / "spikes.tsv"
    spikeweave.write(path, spikes)

    with pytest.warns(UserWarning, match="Unit b has 240 of its 240 spikes"):
        assert spikeweave.read(path).unit_names == ["a", "b", "c"]
    with pytest.warns(UserWarning, match="Unit b with 240 spikes was left out"):
        kept = spikeweave.read(path, drop_duplicates_of_units=True)
    with pytest.warns(UserWarning, match="Unit b with 240 spikes was left out"):
        assert spikes.drop_duplicates_of_units() == spikes.select(["a", "c"])

    assert kept.unit_names == ["a", "c"]
    assert kept.check() == []
    with pytest.raises(TypeError, match="drop_duplicates_of_units' .spikeweave.read has it"):
        spikeweave.episodes(path, drop_duplicates_of_units=True)


def test_artefacts_and_units_are_left_out_on_request(tmp_path):
    times = np.arange(1, 100) / 10
    spikes = SpikeSequence.of({"a": times, "b": times[:9] + 0.05}, t_start=0, t_stop=10)
    path = tmp_path / "spikes.npz"
    spikeweave.write(path, SpikeSequence.of({"a": times, "b": times[:9] + 2e-5}))

    with pytest.warns(UserWarning, match="18 spikes of 9 moments were left out"):
        assert len(spikeweave.read(path, drop_synchronous=2)) == 90
    with pytest.warns(
        UserWarning, match=r"Unit a with 99 spikes was left out: it fires at 9\.9 Hz"
    ):
        assert spikes.clean(max_rate=9.8).unit_names == ["b"]
    with pytest.warns(UserWarning, match="Unit b with 9 spikes was left out: its signal-to-noise"):
        assert spikes.clean(min_snr=3, snr=[np.nan, 2]).unit_names == ["a"]
    assert spikes.clean(max_rate=9.9, drop_synchronous=2) == spikes
    with pytest.raises(ValueError, match="min_snr"):
        spikes.clean(min_snr=3)
    with pytest.raises(OSError, match="has no signal-to-noise ratios"):
        spikeweave.read(path, min_snr=2)


def test_groups_of_units_are_one(tmp_path):
    spikes = SpikeSequence.of({"a": [0.1, 0.4], "b": [0.1001, 0.2], "c": [0.3]})
    path = tmp_path / "groups.tsv"
    path.write_text("a\tleft\nb\tleft\n")
    spikeweave.write(tmp_path / "spikes.npz", spikes)

    with pytest.warns(UserWarning, match="1 spikes of groups are not counted"):
        grouped = spikes.grouped({"a": "left", "b": "left"}, "1ms")
    assert grouped.unit_names == ["c", "left"]
    assert [train.tolist() for train in grouped.trains()] == [[0.3], [0.1, 0.2, 0.4]]
    with pytest.warns(UserWarning, match="1 spike of a group is not counted"):
        read = spikeweave.read(tmp_path / "spikes.npz", groups=path, group_window="1ms")
    assert read == grouped
    with pytest.raises(ValueError, match="no unit is named"):
        spikes.grouped({"x": "left"})


def test_groups_go_on_without_units_that_were_left_out(tmp_path):
    times = np.arange(100) / 10
    spikes = SpikeSequence.of({"a": times, "b": [0.05, 1.05], "c": [2.05]}, t_start=0, t_stop=10)
    path = tmp_path / "spikes.npz"
    spikeweave.write(path, spikes)
    groups = tmp_path / "groups.tsv"
    groups.write_text("a\tleft\nb\tleft\n")

    with pytest.warns(UserWarning, match="The group left is without unit a, which was left out"):
        assert spikeweave.read(path, max_rate=5, groups=groups).unit_names == ["c", "left"]
    groups.write_text("x\tleft\n")
    with pytest.raises(ValueError, match="no unit is named 'x'"):
        spikeweave.read(path, max_rate=5, groups=groups)


def test_groups_in_nwb_go_on_without_units_that_were_left_out(tmp_path):
    pytest.importorskip("pynwb")
    times = np.arange(100) / 10
    path = tmp_path / "spikes.nwb"
    spikeweave.write(path, {"a": times, "b": [0.05, 1.05], "c": [2.05, 9.95]})
    groups = tmp_path / "groups.tsv"
    groups.write_text("a\tleft\nb\tleft\n")

    with pytest.warns(UserWarning, match="The group left is without unit a, which was left out"):
        assert spikeweave.read(path, max_rate=5, groups=groups).unit_names == ["c", "left"]


def test_stimulus_markers_are_kept_beside_the_spikes(tmp_path):
    path = tmp_path / "culture.spk.txt"
    path.write_text("0.5 12\n1.0 60\n1.01 7\n3.0 60\n3.02 12\n")

    with pytest.warns(UserWarning, match="2 stimulus markers are not mined"):
        spikes = spikeweave.read(path)

    assert spikes.unit_names == ["7", "12"]
    assert spikes.stimulus_times.tolist() == [1, 3]
    assert spikes.stimulus_times.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        spikes.stimulus_times[0] = 2
    assert spikeweave.epochs_around(spikes.stimulus_times, 0, "100ms").tolist() == [
        [1, 1.1],
        [3, 3.1],
    ]
    for same in (
        pickle.loads(pickle.dumps(spikes)),
        copy.deepcopy(spikes),
        SpikeSequence(spikes),
        SpikeSequence.of(spikes, unit_names=["x", "y"]),
        spikes.select(["7"]),
        spikes.grouped({"7": "left"}),
        spikes.drop_duplicates_of_units(),
        spikes.clean(drop_synchronous=2),
    ):
        assert same.stimulus_times.tolist() == [1, 3]
    assert spikes.select(t_start=2, t_stop=3.02).stimulus_times.tolist() == [3]
    assert SpikeSequence.of([[0.1]]).stimulus_times.shape == (0,)


def test_signal_to_noise_ratios_are_those_of_the_table_of_units(tmp_path):
    pynwb = pytest.importorskip("pynwb")
    path = tmp_path / "units.nwb"
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    nwb = pynwb.NWBFile("x", "y", start)
    nwb.add_unit_column("unit_name", "name")
    nwb.add_unit_column("snr", "ratio")
    for name, snr in (("n10", 2.0), ("n9", 4.0)):
        nwb.add_unit(spike_times=[0.5, 1.0, 2.5], unit_name=name, snr=snr)
    with pynwb.NWBHDF5IO(path, "w") as io:
        io.write(nwb)

    with pytest.warns(UserWarning, match="Unit n10 with 3 spikes was left out"):
        assert spikeweave.read(path, min_snr=2.5).unit_names == ["n9"]


def phy_folder(path, groups):
    """A Phy folder of as many units as there are groups, some of which may be None."""
    path.mkdir()
    (path / "params.py").write_text("sample_rate = 1000.\n")
    clusters = np.repeat(np.arange(len(groups)), 3).astype(np.int32)
    np.save(path / "spike_times.npy", np.arange(len(clusters)))
    np.save(path / "spike_clusters.npy", clusters)
    rows = [f"{unit}\t{group}\n" for unit, group in enumerate(groups) if group]
    (path / "cluster_group.tsv").write_text("cluster_id\tgroup\n" + "".join(rows))
    return path


def test_units_are_read_by_their_labels(tmp_path):
    path = phy_folder(tmp_path / "phy", ["good", "mua", "noise", None])

    with pytest.warns(UserWarning, match="Of 4 units, the one labelled good is used; labels all"):
        assert spikeweave.read(path).unit_names == ["0"]
    with pytest.warns(UserWarning, match="the 2 labelled mua or good are used"):
        assert spikeweave.read(path, labels=["mua", "good"]).unit_names == ["0", "1"]
    with pytest.warns(UserWarning, match="labelled unsorted is used"):
        assert spikeweave.read(path, labels="unsorted").unit_names == ["3"]
    assert len(spikeweave.read(path, labels="all").unit_names) == 4
    with pytest.raises(ValueError, match="no unit is labelled muo; there are 1 good, 1 mua"):
        spikeweave.read(path, labels="good,muo")
    plain = tmp_path / "plain.tsv"
    plain.write_text("0.1\ta\n")
    with pytest.raises(OSError, match="no labels of units, which labels needs"):
        spikeweave.read(plain, labels="good")
    assert spikeweave.read(plain, labels="all").unit_names == ["a"]


def test_labels_of_nwb_are_its_column_quality(tmp_path):
    pynwb = pytest.importorskip("pynwb")
    path = tmp_path / "units.nwb"
    nwb = pynwb.NWBFile("x", "y", datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc))
    nwb.add_unit_column("unit_name", "name")
    nwb.add_unit_column("quality", "label")
    nwb.add_unit_column("snr", "ratio")
    for name, label, snr in (("n10", "good", 2), ("n9", "noise", 9), ("n2", "good", 8)):
        nwb.add_unit(spike_times=[0.5, 1.0], unit_name=name, quality=label, snr=float(snr))
    with pynwb.NWBHDF5IO(path, "w") as io:
        io.write(nwb)

    with pytest.warns(UserWarning, match="Of 3 units, the 2 labelled good are used"):
        assert spikeweave.read(path).unit_names == ["n10", "n2"]
    with pytest.warns(UserWarning, match="Unit n10 with 2 spikes was left out"):
        assert spikeweave.read(path, min_snr=5).unit_names == ["n2"]
    assert spikeweave.read(path, labels="all").unit_names == ["n10", "n9", "n2"]
    with pytest.raises(ValueError, match="no unit is labelled mua"):
        spikeweave.read(path, labels="mua")


def test_a_real_culture_is_read(shared_data):
    spikes = spikeweave.read(shared_data / "wagenaar2006" / "2-1-20.spk.txt")

    assert len(spikes.unit_names) > 50
    assert len(spikes) > 10_000


def test_pairs_that_may_not_be_two_neurons_stay_with_the_spikes(tmp_path):
    path = tmp_path / "units.npz"
    np.savez(
        path,
        t=[0.1, 0.2, 0.3, 0.4],
        index=[1, 2, 3, 1],
        keys=[1, 2, 3],
        possibly_one_neuron_with=["2", "1", ""],
        cross_talk_with=["", "3", "2"],
    )
    pairs = [("1", "2", "possibly-one-neuron"), ("2", "3", "cross-talk")]

    spikes = spikeweave.read(path)
    assert spikes.doubtful_pairs == pairs
    for made in (
        spikes.select(["1", "2"]),
        spikes.select(t_stop=0.3),
        pickle.loads(pickle.dumps(spikes)),
        SpikeSequence.of(spikes, t_start=0, t_stop=1),
    ):
        assert made.doubtful_pairs == pairs
    spikeweave.write(tmp_path / "again.npz", spikes)
    assert spikeweave.read(tmp_path / "again.npz").doubtful_pairs == pairs
