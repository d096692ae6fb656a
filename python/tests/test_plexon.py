"""Files of Plexon, written as its "Plexon Data File Structure Documentation" says."""

import pickle
import struct

import numpy as np
import pytest

import spikeweave

RATE = 40000
SPIKE, SIGNAL = 1, 5


def file_header(spike_channels, signal_channels):
    """Version 106: 256 bytes, then numbers of spikes and events, which readers do not need."""
    date = (2026, 11, 28, 12, 0, 0)
    head = struct.pack(
        "<Ii128s14idBBBBHHH18s18s10x",
        0x58454C50, 106, b"a test", RATE, spike_channels, 0, signal_channels, 32, 8, *date, 0, RATE,
        0.0, 1, 1, 12, 16, 1000, 5000, 1000, b"test", b"",
    )  # fmt: skip
    assert len(head) == 256
    return head + bytes(4 * (650 + 650 + 512))


def spike_channel(channel):
    head = struct.pack("<32s32s9i", b"sig%03d" % channel, b"SIG", channel, 10, 1, 0, 1, 0, 0, 0, 2)
    return head.ljust(1020, b"\0")


def signal_channel(channel, name):
    head = struct.pack("<32s6i", name, channel, RATE, 1, 1, 1000, 0)
    return head.ljust(296, b"\0")


def block(kind, time, channel, unit, values):
    return (
        struct.pack("<HHIHHHH", kind, time >> 32, time & 0xFFFFFFFF, channel, unit, 1, len(values))
        + values.astype("<i2").tobytes()
    )


def write_plx(path, spikes, signals, pause=0):
    """Spikes are (tick, channel, unit), signals {name: samples}, with a pause in the middle."""
    channels = sorted({channel for _, channel, _ in spikes})
    head = file_header(len(channels), len(signals))
    head += b"".join(spike_channel(one) for one in channels)
    head += b"".join(signal_channel(i, name.encode()) for i, name in enumerate(signals))
    data = [block(SPIKE, *spike, np.zeros(32)) for spike in spikes]
    for i, samples in enumerate(signals.values()):
        parts = np.split(samples, [1000, 2500])
        for part, begin in zip(parts, (0, 1000, 2500 + pause), strict=True):
            data.append(block(SIGNAL, begin, i, 0, part))
    path.write_bytes(head + b"".join(data))


@pytest.mark.filterwarnings("ignore")
def test_spikes_of_plexon(tmp_path):
    pytest.importorskip("neo.rawio")
    late = 2**32 + 40  # the clock's upper byte
    spikes = [(400, 1, 0), (800, 1, 1), (1200, 2, 1), (1600, 1, 1), (late, 2, 1)]
    write_plx(tmp_path / "day.plx", spikes, {})

    found = spikeweave.read(tmp_path / "day.plx")

    assert found.unit_names == ["ch1#0", "ch1#1", "ch2#1"]
    trains = [train.tolist() for train in found.trains()]
    assert trains[0] == [0.01]
    assert trains[1] == [0.02, 0.04]
    assert trains[2] == pytest.approx([0.03, late / RATE])


@pytest.mark.filterwarnings("ignore")
def test_recordings_of_plexon(tmp_path):
    pytest.importorskip("spikeinterface")
    wideband, fields = np.random.default_rng(5).integers(-900, 900, (2, 2, 5000))
    names = ("WB01", "WB02"), ("FP01", "FP02")
    signals = dict(zip(sum(names, ()), [*wideband, *fields], strict=True))
    write_plx(tmp_path / "day.plx", [(400, 1, 1)], signals)

    with pytest.raises(OSError, match=r"day\.plx' has several streams; .*WB-Wideband"):
        spikeweave.read_recording(tmp_path / "day.plx")
    found = spikeweave.read_recording(tmp_path / "day.plx", stream="WB-Wideband")

    assert (found.frames, found.sample_rate) == (5000, RATE)
    assert [one["name"] for one in found.channels] == ["WB01", "WB02"]
    # 5,000 mV are half of 2^16 counts, before the gain of 1,000; spikes have 12 bits.
    assert [one["gain_uv"] for one in found.channels] == pytest.approx([5e6 / 2**15 / 1000] * 2)
    for begin, end in ((0, 5000), (900, 1100), (2500, 2600), (4000, 5000)):
        np.testing.assert_array_equal(found.samples(begin, end), wideband.T[begin:end])
    again = pickle.loads(pickle.dumps(found))
    assert again.channels == found.channels
    np.testing.assert_array_equal(again.samples(4000, 5000), wideband.T[4000:])


@pytest.mark.filterwarnings("ignore")
def test_a_recording_of_plexon_that_was_paused_is_refused(tmp_path):
    pytest.importorskip("spikeinterface")
    write_plx(tmp_path / "day.plx", [(400, 1, 1)], {"WB01": np.arange(5000)}, pause=40)

    with pytest.raises(OSError, match=r"day\.plx.*WB01 was paused"):
        spikeweave.read_recording(tmp_path / "day.plx")
