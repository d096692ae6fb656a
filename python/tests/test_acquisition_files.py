"""Files that neo and SpikeInterface read, written here as the makers of the systems say."""

import pickle
import re
import struct

import numpy as np
import pytest

import spikeweave

RATE = 30000


def blackrock_header(channels, rate):
    """The header of a NEV file of version 2.3 (Blackrock, LB-0023)."""
    basic = np.zeros(
        1,
        dtype=[
            ("type", "S8"),
            ("version", "u1", 2),
            ("flags", "<u2"),
            ("header_bytes", "<u4"),
            ("packet_bytes", "<u4"),
            ("stamps_hz", "<u4"),
            ("samples_hz", "<u4"),
            ("time", "<u2", 8),
            ("program", "S32"),
            ("comment", "S256"),
            ("extended", "<u4"),
        ],
    )
    extended = np.zeros(
        len(channels),
        dtype=[
            ("id", "S8"),
            ("electrode", "<u2"),
            ("connector", "u1"),
            ("pin", "u1"),
            ("digitization", "<u2"),
            ("energy", "<u2"),
            ("high", "<i2"),
            ("low", "<i2"),
            ("sorted", "u1"),
            ("bytes", "u1"),
            ("width", "<u2"),
            ("rest", "S8"),
        ],
    )
    extended["id"] = b"NEUEVWAV"
    extended["electrode"] = channels
    extended["digitization"] = 250
    extended["bytes"] = 2
    extended["width"] = 48
    basic[0] = (
        b"NEURALEV", (2, 3), 1, basic.itemsize + extended.nbytes, 8 + 96, rate, rate,
        (2026, 11, 4, 26, 12, 0, 0, 0), b"test", b"", len(channels),
    )  # fmt: skip
    return basic.tobytes() + extended.tobytes()


def write_nev(path, spikes, rate=RATE):
    """Writes (sample, channel, unit) as packets of spikes."""
    packets = np.zeros(
        len(spikes),
        dtype=[
            ("stamp", "<u4"),
            ("channel", "<u2"),
            ("unit", "u1"),
            ("reserved", "u1"),
            ("waveform", "<i2", 48),
        ],
    )
    for row, (sample, channel, unit) in zip(packets, spikes, strict=True):
        row["stamp"], row["channel"], row["unit"] = sample, channel, unit
    channels = sorted({channel for _, channel, _ in spikes})
    path.write_bytes(blackrock_header(channels, rate) + packets.tobytes())


def write_ns5(path, samples, later=(), version=(2, 3)):
    """Writes samples (frames, channels) as version 2.3 of NSx, and what was recorded after pauses:
    (ticks, samples). Version 3.0 has packets of one sample with a time in nanoseconds."""
    channels = samples.shape[1]
    parts = [(0, samples), *later]
    basic = np.zeros(
        1,
        dtype=[
            ("type", "S8"),
            ("version", "u1", 2),
            ("header_bytes", "<u4"),
            ("label", "S16"),
            ("comment", "S256"),
            ("period", "<u4"),
            ("stamps_hz", "<u4"),
            ("time", "<u2", 8),
            ("channels", "<u4"),
        ],
    )
    extended = np.zeros(
        channels,
        dtype=[
            ("type", "S2"),
            ("electrode", "<u2"),
            ("label", "S16"),
            ("connector", "u1"),
            ("pin", "u1"),
            ("min_digital", "<i2"),
            ("max_digital", "<i2"),
            ("min_analog", "<i2"),
            ("max_analog", "<i2"),
            ("units", "S16"),
            ("filters", "S20"),
        ],
    )
    extended["type"] = b"CC"
    extended["electrode"] = np.arange(1, channels + 1)
    extended["label"] = [f"elec{i}".encode() for i in range(1, channels + 1)]
    extended["min_digital"], extended["max_digital"] = -32764, 32764
    extended["min_analog"], extended["max_analog"] = -8191, 8191
    extended["units"] = b"uV"
    basic[0] = (
        b"NEURALCD" if version == (2, 3) else b"BRSMPGRP", version,
        basic.itemsize + extended.nbytes, b"30 kS/s", b"", 1,
        RATE if version == (2, 3) else 1_000_000_000,
        (2026, 11, 4, 26, 12, 0, 0, 0), channels,
    )  # fmt: skip
    data = b""
    for ticks, part in parts:
        if version == (2, 3):
            data += b"\x01" + np.asarray([ticks, len(part)], "<u4").tobytes()
            data += part.astype("<i2").tobytes()
            continue
        packets = np.zeros(
            len(part),
            [("one", "u1"), ("stamp", "<u8"), ("count", "<u4"), ("samples", "<i2", channels)],
        )
        packets["one"], packets["count"], packets["samples"] = 1, 1, part
        packets["stamp"] = (ticks + np.arange(len(part))) * 1_000_000_000 // RATE
        data += packets.tobytes()
    path.write_bytes(basic.tobytes() + extended.tobytes() + data)


def write_nse(path, stamps_us, cells):
    """Writes the records of Neuralynx's single electrodes."""
    header = (
        "######## Neuralynx Data File Header\r\n"
        "-FileType Spike\r\n-FileVersion 3.4\r\n-RecordSize 112\r\n"
        '-ApplicationName Cheetah "5.7.4"\r\n'
        "-TimeCreated 2026/11/26 12:00:00\r\n-TimeClosed 2026/11/26 12:10:00\r\n"
        f"-AcqEntName {path.stem}\r\n-SamplingFrequency 32000\r\n"
        "-ADBitVolts 0.000000036621\r\n-NumADChannels 1\r\n-ADChannel 0\r\n"
    )
    records = np.zeros(
        len(stamps_us),
        dtype=[
            ("stamp", "<u8"),
            ("entity", "<u4"),
            ("cell", "<u4"),
            ("features", "<i4", 8),
            ("samples", "<i2", 32),
        ],
    )
    records["stamp"], records["cell"] = stamps_us, cells
    path.write_bytes(header.encode("latin-1").ljust(16384, b"\0") + records.tobytes())


@pytest.mark.filterwarnings("ignore")
def test_spikes_of_blackrock(tmp_path):
    pytest.importorskip("neo.rawio")
    random = np.random.default_rng(1)
    samples = np.sort(random.choice(10 * RATE, 300, replace=False))
    spikes = [(s, 1 + s % 3, s % 2) for s in samples.tolist()]
    write_nev(tmp_path / "day.nev", spikes)

    found = spikeweave.read(tmp_path / "day.nev")

    assert found.unit_names == ["ch1#0", "ch1#1", "ch2#0", "ch2#1", "ch3#0", "ch3#1"]
    for name, train in zip(found.unit_names, found.trains(), strict=True):
        channel, unit = int(name[2]), int(name[4])
        wanted = [s / RATE for s, c, u in spikes if (c, u) == (channel, unit)]
        np.testing.assert_allclose(train, np.round(wanted, 6), rtol=0, atol=1e-9)
    by_path = spikeweave.episodes(tmp_path / "day.nev", max_size=2, min_count=2)
    by_spikes = spikeweave.episodes(found, max_size=2, min_count=2)
    assert len(by_path) > 0
    assert by_path.counts.tolist() == by_spikes.counts.tolist()


@pytest.mark.filterwarnings("ignore")
def test_a_clock_that_was_reset_is_refused(tmp_path):
    """Times after the reset would lie on top of those before it."""
    pytest.importorskip("neo.rawio")
    stamps = [RATE, 2 * RATE, 3 * RATE, RATE // 10, 2 * RATE]
    write_nev(tmp_path / "reset.nev", [(stamp, 1, 0) for stamp in stamps])

    with pytest.raises(OSError, match=r"reset\.nev.*clock was reset: segment 2"):
        spikeweave.read(tmp_path / "reset.nev")


@pytest.mark.filterwarnings("ignore")
def test_spikes_of_neuralynx(tmp_path):
    """Times are those of the system, and not from the first record."""
    pytest.importorskip("neo.rawio")
    write_nse(tmp_path / "SE1.nse", [5000, 6000, 7500, 9000], [0, 2, 2, 0])

    found = spikeweave.read(tmp_path / "SE1.nse")

    assert [train.tolist() for train in found.trains()] == [[0.005, 0.009], [0.006, 0.0075]]
    assert found.unit_names == ["chSE1#0#0", "chSE1#0#2"]


@pytest.mark.filterwarnings("ignore")
def test_files_of_neuralynx_have_one_clock(tmp_path):
    pytest.importorskip("neo.rawio")
    write_nse(tmp_path / "SE1.nse", [26_122_760_712, 26_122_791_399], [0, 0])
    write_nse(tmp_path / "SE2.nse", [26_123_010_712, 26_124_188_772], [0, 0])

    one, other, both = (spikeweave.read(tmp_path / name) for name in ("SE1.nse", "SE2.nse", ""))

    assert one.times.tolist() == [26122.760712, 26122.791399]
    assert other.times.tolist() == [26123.010712, 26124.188772]
    assert both.unit_names == ["chSE1#0#0", "chSE2#0#0"]
    assert [train[0] for train in both.trains()] == [26122.760712, 26123.010712]


@pytest.mark.filterwarnings("ignore")
def test_spikes_of_neuroexplorer(tmp_path):
    pytest.importorskip("neo.rawio")
    units = {"sig001a": [400, 1200], "sig002a": [800, 1600, 2000]}
    head = struct.pack("<4si256sdiii", b"NEX1", 104, b"", 40000, 0, 4000, len(units)).ljust(
        544, b"\0"
    )
    at = 544 + 208 * len(units)
    data = b""
    for name, ticks in units.items():
        head += struct.pack("<ii64sIi", 0, 100, name.encode(), at + len(data), len(ticks)).ljust(
            208, b"\0"
        )
        data += np.array(ticks, "<i4").tobytes()
    (tmp_path / "day.nex").write_bytes(head + data)

    found = spikeweave.read(tmp_path / "day.nex")

    assert found.unit_names == ["sig001a", "sig002a"]
    assert [train.tolist() for train in found.trains()] == [[0.01, 0.03], [0.02, 0.04, 0.05]]


@pytest.mark.filterwarnings("ignore")
def test_recordings_of_blackrock(tmp_path):
    pytest.importorskip("spikeinterface")
    samples = np.random.default_rng(2).normal(0, 100, (RATE, 4)).astype(np.int16)
    write_ns5(tmp_path / "day.ns5", samples)
    (tmp_path / "bad.rhd").write_bytes(bytes(1000))
    with pytest.raises(OSError, match=r"bad\.rhd"):
        spikeweave.read_recording(tmp_path / "bad.rhd")
    (tmp_path / "raw.ns5").write_bytes(samples.tobytes())
    raw = spikeweave.read_recording(tmp_path / "raw.ns5", sample_rate=RATE, channels=4, gain=1)
    assert raw.frames == RATE

    found = spikeweave.read_recording(tmp_path / "day.ns5")

    assert (found.frames, found.sample_rate) == (RATE, RATE)
    assert [one["gain_uv"] for one in found.channels] == pytest.approx([8191 / 32764] * 4)
    np.testing.assert_array_equal(found.samples(0, len(samples)), samples)


@pytest.mark.filterwarnings("ignore")
def test_a_recording_of_blackrock_takes_a_probe(tmp_path):
    pytest.importorskip("spikeinterface")
    probeinterface = pytest.importorskip("probeinterface")
    write_ns5(tmp_path / "day.ns5", np.zeros((RATE, 4), np.int16))
    probe = probeinterface.generate_linear_probe(4, ypitch=30)
    probe.set_device_channel_indices(np.arange(4))
    probeinterface.write_probeinterface(tmp_path / "probe.json", probe)

    found = spikeweave.read_recording(tmp_path / "day.ns5", probe=tmp_path / "probe.json")
    assert [y for _, y in found.positions.tolist()] == [0, 30, 60, 90]
    assert pickle.loads(pickle.dumps(found)).positions.tolist() == found.positions.tolist()
    with pytest.raises(ValueError, match=r"^gain: 'day\.ns5' states this itself"):
        spikeweave.read_recording(tmp_path / "day.ns5", gain=0.2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("version", [(2, 3), (3, 0)])
def test_a_paused_recording_of_blackrock_is_read_part_by_part(tmp_path, version):
    pytest.importorskip("spikeinterface")
    samples = np.random.default_rng(2).normal(0, 100, (RATE // 2, 2)).astype(np.int16)
    path = tmp_path / "day.ns5"
    write_ns5(path, samples[:6000], [(2 * RATE, samples[6000:])], version)

    with pytest.raises(
        OSError,
        match=r"day\.ns5.*consists of 2 parts: name one with `segment` "
        r"\(0: 0\.2 s from 0 s; 1: 0\.3 s from 2 s\)",
    ):
        spikeweave.read_recording(path)
    with pytest.raises(OSError, match=r"day\.ns5.*it has no segment 2, but 0: "):
        spikeweave.read_recording(path, segment=2)
    parts = [spikeweave.read_recording(path, segment=segment) for segment in (0, 1)]

    np.testing.assert_array_equal(parts[0].samples(0, 6000), samples[:6000])
    np.testing.assert_array_equal(parts[1].samples(0, 9000), samples[6000:])
    assert [part.t_start for part in parts] == [0, 2]
    again = pickle.loads(pickle.dumps(parts[1]))
    assert (again.frames, again.t_start) == (9000, 2)


def test_a_segment_is_of_files_that_have_some(tmp_path):
    np.arange(100, dtype=np.int16).tofile(tmp_path / "a.bin")
    how = {"sample_rate": RATE, "channels": 2, "gain": 1.0}
    with pytest.warns(UserWarning, match="positions"):
        assert spikeweave.read_recording(tmp_path / "a.bin", segment=0, **how).frames == 50
    with pytest.raises(ValueError, match=r"segment: 'a\.bin' has one segment, found 1"):
        spikeweave.read_recording(tmp_path / "a.bin", segment=1, **how)


def test_a_file_is_named_with_what_reads_it(tmp_path):
    (tmp_path / "day.pl2").write_bytes(bytes(1000))
    (tmp_path / "SE1.nse").write_bytes(b"######## Neuralynx".ljust(17000, b"\0"))
    (tmp_path / "CSC1.ncs").write_bytes(b"######## Neuralynx".ljust(17000, b"\0"))
    (tmp_path / "day.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(1000, b"\0"))
    how = {"sample_rate": RATE, "channels": 1}
    for name, says in (
        ("day.pl2", "only with Plexon's library for Windows: write it as .plx"),
        ("SE1.nse", "spikes of Neuralynx, which the Python package reads: spikeweave.read$"),
        ("CSC1.ncs", "samples of Neuralynx, which the Python package reads: .*read_recording$"),
        ("day.mat", "is a file of MATLAB"),
    ):
        with pytest.raises(OSError, match=f"{name}.*{says}"):
            spikeweave.read_recording(tmp_path / name, **how)
    for name in ("day.pl2", "SE1.nse", "day.mat"):
        with pytest.raises(OSError, match=name):
            spikeweave.read_recording(tmp_path / name)
    for name in ("day.pl2", "CSC1.ncs", "day.mat"):
        with pytest.raises(OSError, match=name):
            spikeweave.read(tmp_path / name)


@pytest.mark.filterwarnings("ignore")
def test_functions_that_messages_name_are_those_of_spikeinterface(tmp_path):
    extractors = pytest.importorskip("spikeinterface.extractors")
    for name, begins in (
        ("a.smr", b""), ("a.smrx", b""), ("a.abf", b"ABF2"), ("a.mcd", b"MCSSTRM "),
        ("a.continuous", b"header.format = 'Open Ephys"), ("a.tev", b""), ("a.mpx", b""),
        ("a.cbin", b""), ("a.mda", b""), ("a.edf", b"0       "), ("a.bdf", b"\xffBIOSEMI"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(begins.ljust(1000, b"\0"))
        with pytest.raises(OSError, match=r"spikeinterface\.extractors\.\w+") as error:
            spikeweave.read_recording(tmp_path / name)
        function = re.search(r"spikeinterface\.extractors\.(\w+)", str(error.value))[1]
        assert hasattr(extractors, function), function


def write_maxwell(path, samples, channels, lsb_v=6.3e-6, places=(("well000", "rec0000"),)):
    """The layout of version 20190530, as neo reads it, without MaxWell's compression."""
    h5py = pytest.importorskip("h5py")
    mapping = np.zeros(
        len(channels), [("channel", "i4"), ("electrode", "i4"), ("x", "f8"), ("y", "f8")]
    )
    mapping["channel"] = channels
    mapping["electrode"] = np.arange(100, 100 + len(channels))
    mapping["x"], mapping["y"] = 17.5 * np.arange(len(channels)), 35.0
    with h5py.File(path, "w") as file:
        file["version"] = [b"20190530"]
        for number, (well, recording) in enumerate(places):
            recorded = file.create_group(f"wells/{well}/{recording}")
            recorded["settings/lsb"], recorded["settings/sampling"] = [lsb_v], [float(RATE)]
            recorded["settings/mapping"] = mapping
            recorded["groups/routed/channels"] = np.array(channels, np.uint16)
            recorded["groups/routed/raw"] = samples.T.astype(np.uint16) + number
            recorded["groups/routed/frame_nos"] = 500 + np.arange(len(samples), dtype=np.uint64)


@pytest.mark.filterwarnings("ignore")
def test_recordings_of_maxwell(tmp_path):
    pytest.importorskip("spikeinterface")
    samples = np.random.default_rng(3).integers(400, 600, (2000, 4))
    write_maxwell(tmp_path / "culture.raw.h5", samples, [3, 7, 8, 20])

    found = spikeweave.read_recording(tmp_path / "culture.raw.h5")

    assert (found.frames, found.sample_rate) == (2000, RATE)
    assert [one["name"] for one in found.channels] == ["3", "7", "8", "20"]
    assert [one["gain_uv"] for one in found.channels] == pytest.approx([6.3] * 4)
    assert [(one["x_um"], one["y_um"]) for one in found.channels] == [
        (17.5 * i, 35.0) for i in range(4)
    ]
    np.testing.assert_array_equal(found.samples(0, len(samples)), samples)


@pytest.mark.filterwarnings("ignore")
def test_wells_and_recordings_of_maxwell_are_named(tmp_path):
    pytest.importorskip("spikeinterface")
    samples = np.random.default_rng(3).integers(400, 600, (2000, 2))
    two = tmp_path / "two.raw.h5"
    write_maxwell(two, samples, [3, 7], places=[("well000", "rec0000"), ("well001", "rec0000")])
    more = tmp_path / "more.raw.h5"
    places = [("well000", "rec0000"), ("well000", "rec0001"), ("well002", "rec0001")]
    write_maxwell(more, samples, [3, 7], places=places)

    with pytest.raises(OSError, match=r"two.*`stream` is one of \['well000', 'well001'\]"):
        spikeweave.read_recording(two)
    with pytest.raises(
        OSError, match=r"more.*\['well000/rec0000', 'well000/rec0001', 'well002'\]$"
    ):
        spikeweave.read_recording(more)
    with pytest.raises(OSError, match=r"more.*, found 'well000'$"):
        spikeweave.read_recording(more, stream="well000")
    for path, stream, number in (
        (two, "well001", 1), (more, "well000/rec0001", 1), (more, "well002", 2),
        (more, "well002/rec0001", 2),
    ):  # fmt: skip
        found = spikeweave.read_recording(path, stream=stream)
        np.testing.assert_array_equal(found.samples(0, 2000), samples + number)


@pytest.mark.filterwarnings("ignore")
def test_missing_samples_of_maxwell_divide_a_recording(tmp_path):
    pytest.importorskip("spikeinterface")
    h5py = pytest.importorskip("h5py")
    samples = np.random.default_rng(3).integers(400, 600, (2000, 2))
    path = tmp_path / "culture.raw.h5"
    write_maxwell(path, samples, [3, 7])
    with h5py.File(path, "a") as file:
        file["wells/well000/rec0000/groups/routed/frame_nos"][1500:] += np.uint64(RATE)

    with pytest.raises(
        OSError, match=r"culture.*0: 0\.05 s from 0\.0166667 s; 1: .* s from 1\.06667 s"
    ):
        spikeweave.read_recording(path)
    found = spikeweave.read_recording(path, segment=1)

    np.testing.assert_array_equal(found.samples(0, 500), samples[1500:])
    # By MaxWell's count of frames, as its events.
    assert found.t_start == pytest.approx(1 + 2000 / RATE, abs=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_a_file_that_neo_does_not_understand_is_refused(tmp_path):
    pytest.importorskip("neo.rawio")
    for name in ("bad.nev", "bad.plx", "bad.nex"):
        (tmp_path / name).write_bytes(b"\0rubbish" * 10)
        with pytest.raises(OSError, match=name):
            spikeweave.read(tmp_path / name)
    write_nev(tmp_path / "stopped.nev", [(100, 1, 0), (200, 1, 0)], rate=0)
    with pytest.raises(OSError, match=r"stopped\.nev"):
        spikeweave.read(tmp_path / "stopped.nev")
    with pytest.raises(FileNotFoundError):
        spikeweave.read(tmp_path / "none.nev")
    write_nev(tmp_path / "day.nev", [(100, 1, 0), (200, 1, 0)])
    with pytest.raises(ValueError, match="time_unit"):
        spikeweave.read(tmp_path / "day.nev", time_unit="ms")
    with pytest.raises(OSError, match="signal-to-noise"):
        spikeweave.read(tmp_path / "day.nev", min_snr=3)


def test_spike_recorder_of_nest(tmp_path):
    """NEST 3 writes comments, a heading and two columns."""
    path = tmp_path / "spikes-12-0.dat"
    path.write_text(
        "# NEST version: 3.8.0\n# RecordingBackendASCII version: 2\nsender\ttime_ms\n"
        "7\t1.000\n3\t2.500\n7\t11.100\n"
    )

    found = spikeweave.read(path)

    assert found.unit_names == ["3", "7"]
    assert found.times_us.tolist() == [1000, 2500, 11100]
    assert found.units.tolist() == [1, 0, 1]
