"""Files of Multi Channel DataManager, written here as their maker describes them."""

import pickle

import numpy as np
import pytest

import spikeweave

h5py = pytest.importorskip("h5py")

TICK_US = 40
TEXT = h5py.string_dtype("ascii")
CHANNEL = np.dtype(
    [
        ("ChannelID", "i4"), ("RowIndex", "i4"), ("GroupID", "i4"), ("Label", TEXT),
        ("RawDataType", TEXT), ("Unit", TEXT), ("Exponent", "i4"), ("ADZero", "i4"),
        ("Tick", "i8"), ("ConversionFactor", "i8"), ("ADCBits", "i4"),
        ("HighPassFilterType", TEXT), ("HighPassFilterCutOffFrequency", TEXT),
        ("HighPassFilterOrder", "i4"), ("LowPassFilterType", TEXT),
        ("LowPassFilterCutOffFrequency", TEXT), ("LowPassFilterOrder", "i4"),
    ]
)  # fmt: skip
STAMPED = np.dtype(
    [
        ("TimeStampEntityID", "i4"), ("GroupID", "i4"), ("Label", TEXT), ("Unit", TEXT),
        ("Exponent", "i4"), ("SourceChannelIDs", TEXT), ("SourceChannelLabels", TEXT),
    ]
)  # fmt: skip
CUT_OUT = np.dtype(
    [
        ("SegmentID", "i4"), ("GroupID", "i4"), ("Label", TEXT), ("PreInterval", "i8"),
        ("PostInterval", "i8"), ("SegmentType", TEXT), ("SourceChannelIDs", TEXT),
    ]
)  # fmt: skip


def add_recording(file, number=0):
    file.attrs["McsHdf5ProtocolType"] = "RawData"
    file.attrs["McsHdf5ProtocolVersion"] = 3
    recording = file.require_group("Data").create_group(f"Recording_{number}")
    recording.attrs["TimeStamp"], recording.attrs["Duration"] = np.int64(0), np.int64(20_000_000)
    return recording


def add_stream(recording, kind, number, subtype, label):
    stream = recording.require_group(f"{kind}Stream").create_group(f"Stream_{number}")
    stream.attrs["DataSubType"], stream.attrs["Label"] = subtype, label
    stream.attrs["StreamType"], stream.attrs["StreamInfoVersion"] = kind, 1
    return stream


def channels_of(labels, **fields):
    rows = np.zeros(len(labels), CHANNEL)
    rows["ChannelID"] = rows["RowIndex"] = np.arange(len(labels))
    for name in CHANNEL.names:
        if CHANNEL[name] == TEXT:
            rows[name] = [""] * len(labels)
    rows["Label"], rows["Unit"], rows["Tick"] = [f"{one}   \r\n" for one in labels], "V", TICK_US
    rows["Exponent"], rows["ConversionFactor"] = -12, 59605
    for name, values in fields.items():
        rows[name] = values
    return rows


def add_samples(recording, samples, parts=None, number=0, subtype="Electrode", **fields):
    """`parts`: (time of the first sample in us, first, last)."""
    stream = add_stream(recording, "Analog", number, subtype, "Filter (1) Filter Data")
    stream["ChannelData"] = samples
    stream["ChannelDataTimeStamps"] = np.array(parts or [(0, 0, samples.shape[1] - 1)], "i8")
    stream["InfoChannel"] = channels_of([f"E{row}" for row in range(len(samples))], **fields)
    return stream


def add_stamps(recording, trains, unit="s", exponent=-6, number=0, subtype="NeuralSpike"):
    """`trains`: (label of the channel, times in the unit)."""
    stream = add_stream(recording, "TimeStamp", number, subtype, "Spike Detector (1)")
    rows = np.zeros(len(trains), STAMPED)
    for entity, (label, times) in enumerate(trains):
        rows[entity] = (entity, 0, "", unit, exponent, str(entity), f"{label}      \r\n")
        if len(times):
            stream[f"TimeStampEntity_{entity}"] = np.array([times], "i8")
    stream["InfoTimeStamp"] = rows
    return stream


def add_cutouts(recording, trains, subtype="Spike"):
    stream = add_stream(recording, "Segment", 0, subtype, "Spike Detector (1) Spike Data")
    rows = np.zeros(len(trains), CUT_OUT)
    for entity, (_, times) in enumerate(trains):
        rows[entity] = (entity, 0, "", 1000, 2000, "Cutout", str(entity))
        stream[f"SegmentData_{entity}"] = np.zeros((2, len(times)), "i4")
        stream[f"SegmentData_ts_{entity}"] = np.array([times], "i8")
    stream["InfoSegment"] = rows
    stream["SourceInfoChannel"] = channels_of([label for label, _ in trains])


TRAINS = [("E1", [944_000, 954_001, 17_686_000]), ("E2", []), ("E10", [30_000])]
SECONDS = {"E1": [0.944, 0.954001, 17.686], "E2": [], "E10": [0.03]}


def trains_of(spikes):
    return {
        name: train.tolist() for name, train in zip(spikes.unit_names, spikes.trains(), strict=True)
    }


@pytest.mark.parametrize("kind", ["stamps", "milliseconds", "cutouts", "both"])
def test_spikes_are_read_with_their_channels_and_times(tmp_path, kind):
    with h5py.File(tmp_path / "culture.h5", "w") as file:
        recording = add_recording(file)
        if kind == "milliseconds":
            add_stamps(recording, [(name, [t // 1000 for t in train]) for name, train in TRAINS],
                       exponent=-3)  # fmt: skip
        if kind in ("stamps", "both"):
            add_stamps(recording, TRAINS)
        if kind in ("cutouts", "both"):
            add_cutouts(recording, TRAINS)
        add_stamps(recording, [("T", [5])], number=1, subtype="Trigger")

    found = spikeweave.read(tmp_path / "culture.h5")

    expected = dict(SECONDS, E1=[0.944, 0.954, 17.686]) if kind == "milliseconds" else SECONDS
    assert trains_of(found) == expected
    assert (found.t_start, found.t_stop) == (0, 20)


def test_spikes_of_several_streams_and_units_of_one_channel_are_told_apart(tmp_path):
    with h5py.File(tmp_path / "culture.h5", "w") as file:
        recording = add_recording(file)
        add_stamps(recording, [("E1", [10_000]), ("E1", [20_000])])
        add_stamps(recording, [("E1", [30_000])], number=1)

    assert trains_of(spikeweave.read(tmp_path / "culture.h5")) == {
        "Stream_0/E1#0": [0.01],
        "Stream_0/E1#1": [0.02],
        "Stream_1/E1": [0.03],
    }


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda at: add_stamps(at, TRAINS, unit="V"), r"found times in 1e-6 'V', expected powers"),
        (lambda at: add_stamps(at, TRAINS, exponent=40), r"entity 0: found times in 1e40 's'"),
        (lambda at: at.file.create_group("Data/Recording_1"), r"2 recordings \(Recording_0, Reco"),
        (lambda at: add_samples(at, np.zeros((1, 5), "i2")), r"no detected spikes .*sort finds"),
        (lambda at: add_cutouts(at, TRAINS, subtype="Average"), r"it has no detected spikes"),
        (
            lambda at: add_stamps(at, TRAINS[1:]).create_dataset(
                "TimeStampEntity_0", data=np.zeros((2, 2), "i8")
            ),
            r"Stream_0, entity 0: found int64 of shape \(2, 2\), expected a row of whole numbers",
        ),
    ],
)
def test_what_is_wrong_with_spikes_is_said(tmp_path, change, says):
    with h5py.File(tmp_path / "culture.h5", "w") as file:
        change(add_recording(file))

    with pytest.raises(OSError, match=rf"culture\.h5.*{says}"):
        spikeweave.read(tmp_path / "culture.h5")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["i2", "i4"])
def test_samples_are_those_of_the_file_in_microvolts(tmp_path, dtype):
    samples = np.random.default_rng(1).integers(-900, 900, (3, 400)).astype(dtype)
    fields = {"RowIndex": [2, 0, 1], "ADZero": [0, 10, -5], "ConversionFactor": [100, 200, 300]}
    with h5py.File(tmp_path / "culture.h5", "w") as file:
        recording = add_recording(file)
        add_samples(recording, samples, [(2_000_000, 0, 399)], Exponent=-9, **fields)
        add_samples(recording, samples, number=1, subtype="Auxiliary")

    found = spikeweave.read_recording(tmp_path / "culture.h5")

    expected = [
        (samples[row].astype(int) - zero) * factor * 1e-9 * 1e6
        for row, zero, factor in zip(*fields.values(), strict=True)
    ]
    np.testing.assert_allclose(found.microvolts(0, 400), np.transpose(expected), atol=1e-9)
    assert (found.frames, found.sample_rate, found.t_start) == (400, 1e6 / TICK_US, 2)
    assert [one["name"] for one in found.channels] == ["E0", "E1", "E2"]
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.samples(7, 30), found.samples(7, 30))


@pytest.mark.filterwarnings("ignore")
def test_streams_and_parts_are_chosen(tmp_path):
    samples = np.arange(60, dtype="i4").reshape(1, 60)
    with h5py.File(tmp_path / "culture.h5", "w") as file:
        recording = add_recording(file)
        add_samples(recording, samples, [(0, 0, 19), (1_000_000, 20, 59)])
        add_samples(recording, samples, number=1)

    path = tmp_path / "culture.h5"
    with pytest.raises(OSError, match=r"`stream` is one of Stream_0 \(Filter \(1\) Filter Data\),"):
        spikeweave.read_recording(path)
    with pytest.raises(
        OSError, match=r"name one with `segment` \(0: 0\.0008 s from 0 s; 1: 0\.0016 s fr"
    ):
        spikeweave.read_recording(path, stream="Stream_0")
    found = spikeweave.read_recording(path, stream="Stream_0", segment=1)
    assert found.samples(0, 40)[:, 0].tolist() == list(range(20, 60))
    assert found.t_start == 1
    with pytest.raises(ValueError, match=r"^gain: 'culture\.h5' states this itself"):
        spikeweave.read_recording(path, stream="Stream_1", gain=2.0)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"Unit": "g"}, r"found units \['g'\], expected V"),
        ({"Tick": [40, 50]}, r"found ticks \[40, 50\], expected one"),
        ({"RowIndex": [0, 0]}, r"for channels in rows \[0, 0\]"),
        ({"parts": [(0, 0, 9)]}, r"found samples 0 to 9 of 9"),
    ],
)
def test_what_is_wrong_with_samples_is_said(tmp_path, fields, says):
    with h5py.File(tmp_path / "culture.h5", "w") as file:
        add_samples(add_recording(file), np.zeros((2, 9), "i2"), **fields)

    with pytest.raises(OSError, match=rf"culture\.h5.*{says}"):
        spikeweave.read_recording(tmp_path / "culture.h5")
