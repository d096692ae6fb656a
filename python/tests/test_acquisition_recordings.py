"""Recordings that SpikeInterface reads, written here as their makers say or as neo reads them."""

import numpy as np
import pytest

import spikeweave

RATE = 32000
BLOCK = 512


def write_ncs(path, channel, samples, rate=RATE, gaps=()):
    """Neuralynx's records of 512 samples of one channel, with a gain of 0.25 uV. `gaps`: (record,
    microseconds that are missing before it)."""
    header = (
        "######## Neuralynx Data File Header\r\n"
        "-FileType NCS\r\n-FileVersion 3.4\r\n-RecordSize 1044\r\n"
        '-ApplicationName Cheetah "5.7.4"\r\n'
        "-TimeCreated 2026/11/28 12:00:00\r\n-TimeClosed 2026/11/28 12:10:00\r\n"
        f"-AcqEntName CSC{channel}\r\n-SamplingFrequency {rate}\r\n"
        f"-ADBitVolts 0.00000025\r\n-NumADChannels 1\r\n-ADChannel {channel}\r\n"
        "-HardwareSubSystemName AcqSystem1\r\n-HardwareSubSystemType DigitalLynxSX\r\n"
        "-InputInverted False\r\n-DSPDelayCompensation Disabled\r\n"
    )
    records = np.zeros(
        len(samples) // BLOCK,
        dtype=[
            ("stamp", "<u8"),
            ("channel", "<u4"),
            ("rate", "<u4"),
            ("valid", "<u4"),
            ("samples", "<i2", BLOCK),
        ],
    )
    records["stamp"] = 1_000_000 + np.arange(len(records)) * BLOCK * 1_000_000 // rate
    for record, missing_us in gaps:
        records["stamp"][record:] += missing_us
    records["channel"], records["rate"], records["valid"] = channel, rate, BLOCK
    records["samples"] = samples.reshape(-1, BLOCK)
    path.write_bytes(header.encode("latin-1").ljust(16384, b"\0") + records.tobytes())


@pytest.mark.filterwarnings("ignore")
def test_recordings_of_neuralynx(tmp_path):
    pytest.importorskip("spikeinterface")
    samples = np.random.default_rng(6).integers(-900, 900, (20 * BLOCK, 2))
    for channel in range(2):
        write_ncs(tmp_path / f"CSC{channel}.ncs", channel, samples[:, channel])

    found = spikeweave.read_recording(tmp_path / "CSC0.ncs")

    assert (found.frames, found.sample_rate) == (len(samples), RATE)
    assert [one["gain_uv"] for one in found.channels] == pytest.approx([0.25] * 2)
    np.testing.assert_array_equal(found.samples(0, len(samples)), samples)

    write_ncs(tmp_path / "CSC2.ncs", 2, samples[:, 0], rate=RATE // 2)
    with pytest.raises(OSError, match=r"CSC0\.ncs' has several streams; `stream` is one of \["):
        spikeweave.read_recording(tmp_path / "CSC0.ncs")


@pytest.mark.filterwarnings("ignore")
def test_a_paused_recording_of_neuralynx_is_read_part_by_part(tmp_path):
    pytest.importorskip("spikeinterface")
    samples = np.random.default_rng(6).integers(-900, 900, 20 * BLOCK)
    write_ncs(tmp_path / "CSC0.ncs", 0, samples, gaps=[(5, 1_000_000)])

    with pytest.raises(
        OSError, match=r"CSC0\.ncs.*\(0: 0\.08 s from 1 s; 1: 0\.24 s from 2\.08 s\)"
    ):
        spikeweave.read_recording(tmp_path / "CSC0.ncs")
    found = spikeweave.read_recording(tmp_path / "CSC0.ncs", segment=1)

    np.testing.assert_array_equal(found.samples(0, 15 * BLOCK)[:, 0], samples[5 * BLOCK :])
    assert found.t_start == pytest.approx(2.08)  # as in files of spikes


def test_small_gaps_of_neuralynx_are_told(tmp_path):
    pytest.importorskip("spikeinterface")
    samples = np.random.default_rng(6).integers(-900, 900, 20 * BLOCK)
    write_ncs(tmp_path / "CSC0.ncs", 0, samples, gaps=[(5, 1000), (9, 2000), (12, 20)])

    with pytest.warns(
        UserWarning,
        match=r"'CSC0\.ncs' has 2 gaps of at most 128 samples, 0\.081 s after its beginning and "
        r"later, of 0\.003 s in all",
    ):
        found = spikeweave.read_recording(tmp_path / "CSC0.ncs")

    assert found.frames == len(samples)


@pytest.mark.filterwarnings("ignore")
def test_recordings_of_3brain(tmp_path):
    pytest.importorskip("spikeinterface")
    h5py = pytest.importorskip("h5py")
    # 12 bits of -4125 to 4125 uV.
    samples = np.random.default_rng(7).integers(1900, 2200, (3000, 4))
    with h5py.File(tmp_path / "culture.brw", "w") as file:
        about = file.create_group("3BRecInfo/3BRecVars")
        for name, value in (
            ("BitDepth", np.uint8(12)), ("MaxVolt", 4125.0), ("MinVolt", -4125.0),
            ("NRecFrames", 3000), ("SamplingRate", 18000.0), ("SignalInversion", 1.0),
        ):  # fmt: skip
            about[name] = [value]
        places = np.array([(1, 1), (1, 2), (2, 1), (2, 2)], [("Row", "<i2"), ("Col", "<i2")])
        file["3BRecInfo/3BMeaStreams/Raw/Chs"] = places
        file["3BData/Raw"] = samples.astype(np.uint16).ravel()
        file["3BData"].attrs["Version"] = 101

    found = spikeweave.read_recording(tmp_path / "culture.brw")

    assert (found.frames, found.sample_rate) == (3000, 18000)
    assert [one["gain_uv"] for one in found.channels] == pytest.approx([8250 / 4096] * 4)
    np.testing.assert_array_equal(found.samples(0, len(samples)), samples)
    assert found.microvolts(0, 3000) == pytest.approx(samples * 8250 / 4096 - 4125)


@pytest.mark.filterwarnings("ignore")
def test_recordings_of_spikegadgets(tmp_path):
    pytest.importorskip("spikeinterface")
    samples = np.random.default_rng(8).integers(-900, 900, (3000, 4)).astype("<i2")
    header = """<Configuration>
<GlobalConfiguration/>
<HardwareConfiguration samplingRate="30000" numChannels="4">
<Device name="ECU" numBytes="4"><Channel id="ECU_Ain1" dataType="analog" startByte="2"/></Device>
</HardwareConfiguration>
<SpikeConfiguration chanPerChip="4">
<SpikeNTrode id="1" spikeScalingToUv="0.195">
<SpikeChannel hwChan="0"/><SpikeChannel hwChan="1"/>
<SpikeChannel hwChan="2"/><SpikeChannel hwChan="3"/>
</SpikeNTrode>
</SpikeConfiguration>
</Configuration>
"""
    packets = np.zeros(
        len(samples), [("sync", "u1"), ("ecu", "<i2", 2), ("stamp", "<u4"), ("samples", "<i2", 4)]
    )
    packets["sync"], packets["stamp"], packets["samples"] = 0x55, np.arange(3000), samples
    (tmp_path / "day.rec").write_bytes(header.encode() + packets.tobytes())

    found = spikeweave.read_recording(tmp_path / "day.rec")

    assert (found.frames, found.sample_rate) == (3000, 30000)
    assert [one["gain_uv"] for one in found.channels] == pytest.approx([0.195] * 4)
    np.testing.assert_array_equal(found.samples(0, len(samples)), samples)

    packets["stamp"][2000:] += 15000
    (tmp_path / "day.rec").write_bytes(header.encode() + packets.tobytes())
    with pytest.raises(OSError, match=r"day\.rec.*1: 0\.0333333 s from 0\.566667 s"):
        spikeweave.read_recording(tmp_path / "day.rec")
    late = spikeweave.read_recording(tmp_path / "day.rec", segment=1)
    np.testing.assert_array_equal(late.samples(0, 1000), samples[2000:])
    assert late.t_start == pytest.approx(17000 / 30000)


def test_a_segment_of_spikeinterface_is_taken_as_the_message_says():
    si = pytest.importorskip("spikeinterface")
    traces = [np.zeros((100, 2), np.int16), np.ones((50, 2), np.int16)]
    recording = si.NumpyRecording(traces, 30000)

    with pytest.raises(
        ValueError, match=r"has 2 segments, .*\(recording\.select_segments\(\[0\]\)"
    ):
        spikeweave.Recording.of(recording)

    assert spikeweave.Recording.of(recording.select_segments([0])).frames == 100


@pytest.mark.filterwarnings("ignore")
def test_a_segment_of_a_folder_is_saved_as_the_message_says(tmp_path):
    si = pytest.importorskip("spikeinterface")
    traces = [np.zeros((100, 2), np.int16), np.ones((50, 2), np.int16)]
    recording = si.NumpyRecording(traces, 30000)
    recording.save(folder=tmp_path / "two")

    with pytest.raises(OSError, match=r"2 files.*: in .*select_segments\(\[0\]\)\.save\(folder="):
        spikeweave.read_recording(tmp_path / "two")

    recording.select_segments([0]).save(folder=tmp_path / "one")
    assert spikeweave.read_recording(tmp_path / "one").frames == 100


def test_a_gap_in_the_times_of_a_folder_is_told(tmp_path):
    si = pytest.importorskip("spikeinterface")
    recording = si.NumpyRecording([np.zeros((9000, 2), np.int16)], 30000)
    times = np.arange(9000) / 30000
    recording.set_times(times + np.where(np.arange(9000) >= 6000, 1.0, 0.0), with_warning=False)
    recording.save(folder=tmp_path / "gap")

    with pytest.warns(
        UserWarning,
        match=r"has a gap: by 'times_cached_seg0\.npy', 30000 samples \(1 s\) are missing",
    ):
        assert spikeweave.read_recording(tmp_path / "gap").frames == 9000


@pytest.mark.filterwarnings("error")
def test_arrays_are_written_as_the_messages_say(tmp_path):
    x = np.random.default_rng(1).normal(0, 20, (3000, 2)).astype(np.float32)
    probe = tmp_path / "probe.json"
    probe.write_text('{"probes": [{"si_units": "um", "contact_positions": [[0, 0], [0, 20]]}]}')
    how = {"sample_rate": 30000, "channels": 2, "gain": 1.0, "probe": probe}
    np.save(tmp_path / "x.npy", x)
    x.tofile(tmp_path / "x.dat")

    with pytest.raises(OSError, match=r"x\.npy.*x\.astype\('int16'\)\.tofile"):
        spikeweave.read_recording(tmp_path / "x.npy", **how)
    with pytest.warns(UserWarning, match=r"32-bit floats.*x\.astype\('int16'\)\.tofile"):
        spikeweave.read_recording(tmp_path / "x.dat", **how)

    x.astype("int16").tofile(tmp_path / "x.dat")
    found = spikeweave.read_recording(tmp_path / "x.dat", **how)
    np.testing.assert_array_equal(found.samples(0, 3000), x.astype("int16"))
    np.save(tmp_path / "x.npy", x.astype("int16"))
    found = spikeweave.read_recording(tmp_path / "x.npy", **how, header_bytes=128)
    np.testing.assert_array_equal(found.samples(0, 3000), x.astype("int16"))
