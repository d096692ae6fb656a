"""Recordings of Intan, written as its notes on the files of RHD2000 and RHS2000 say."""

import pickle
import struct

import numpy as np
import pytest

import spikeweave

RATE = 30000
FRAMES_OF_A_BLOCK = 128
CHANNELS = 3


def text(value):
    """Text as Qt writes it: its number of bytes, then UTF-16."""
    encoded = value.encode("utf-16-le")
    return struct.pack("<I", len(encoded)) + encoded


def signal_group(channels, channel):
    """The header of one enabled group of amplifier channels; `channel` is one of them."""
    head = text("Port A") + text("A") + struct.pack("<3h", 1, channels, channels)
    names = (text(f"A-{i:03}") + text(f"tetrode {i}") for i in range(channels))
    return head + b"".join(name + channel(i) for i, name in enumerate(names))


def rhd_header(channels):
    """Version 2.0, without auxiliary inputs."""
    return b"".join(
        (
            struct.pack("<I2h", 0xC6912702, 2, 0),
            struct.pack("<fh6fh2f", RATE, 1, 1, 0.1, 7500, 1, 0.1, 7500, 0, 1000, 1000),
            text("a culture") + text("") + text(""),
            struct.pack("<2h", 0, 0) + text("") + struct.pack("<h", 1),
            signal_group(
                channels, lambda i: struct.pack("<10h2f", i, i, 0, 1, i, 0, 0, 0, 0, 0, 1e6, -60)
            ),
        )
    )


def rhs_header(channels):
    """Version 1.0, with stimulation but without the low-gain amplifiers."""
    return b"".join(
        (
            struct.pack("<I2h", 0xD69127AC, 1, 0),
            struct.pack("<fh8fh2f", RATE, 1, 1, 0.1, 1000, 7500, 1, 0.1, 1000, 7500, 0, 1000, 1000),
            struct.pack("<2h3f", 0, 0, 1e-6, 1e-9, 0),
            text("a culture") + text("") + text(""),
            struct.pack("<2h", 0, 0) + text("") + struct.pack("<h", 1),
            signal_group(
                channels, lambda i: struct.pack("<11h2f", i, i, 0, 1, i, 0, 0, 0, 0, 0, 0, 1e6, -60)
            ),
        )
    )


def write_intan(path, header, samples, has_stimulation):
    """Blocks of 128 frames: their numbers, the amplifiers, then the currents of stimulation."""
    blocks = [header(samples.shape[1])]
    for begin in range(0, len(samples), FRAMES_OF_A_BLOCK):
        block = samples[begin : begin + FRAMES_OF_A_BLOCK]
        blocks.append(np.arange(begin, begin + len(block), dtype="<i4").tobytes())
        blocks.append((block.T + 32768).astype("<u2").tobytes())
        if has_stimulation:
            blocks.append(bytes(2 * block.size))
    path.write_bytes(b"".join(blocks))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("ending", "header"), [("rhd", rhd_header), ("rhs", rhs_header)])
def test_recordings_of_intan(tmp_path, ending, header):
    pytest.importorskip("spikeinterface")
    samples = np.random.default_rng(4).integers(-500, 500, (20 * FRAMES_OF_A_BLOCK, CHANNELS))
    samples[600:602] = [[-32768] * CHANNELS, [32767] * CHANNELS]
    path = tmp_path / f"day.{ending}"
    write_intan(path, header, samples, has_stimulation=ending == "rhs")

    found = spikeweave.read_recording(path)

    assert (found.frames, found.sample_rate) == (len(samples), RATE)
    assert [one["name"] for one in found.channels] == ["A-000", "A-001", "A-002"]
    assert [one["gain_uv"] for one in found.channels] == pytest.approx([0.195] * CHANNELS)
    assert [one["offset_uv"] for one in found.channels] == [0] * CHANNELS
    np.testing.assert_array_equal(found.samples(0, len(samples)), samples)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.samples(500, 700), samples[500:700])


@pytest.mark.filterwarnings("ignore")
def test_counts_that_spikeinterface_made_signed_are_the_same(tmp_path):
    pytest.importorskip("spikeinterface")
    from spikeinterface.extractors import read_intan
    from spikeinterface.preprocessing import unsigned_to_signed

    samples = np.random.default_rng(4).integers(-500, 500, (4 * FRAMES_OF_A_BLOCK, CHANNELS))
    write_intan(tmp_path / "day.rhd", rhd_header, samples, has_stimulation=False)

    found = spikeweave.Recording.of(unsigned_to_signed(read_intan(tmp_path / "day.rhd")))

    assert found.microvolts(0, len(samples)) == pytest.approx(0.195 * samples)


@pytest.mark.filterwarnings("ignore")
def test_a_gap_divides_a_recording_of_intan(tmp_path):
    pytest.importorskip("spikeinterface")
    path = tmp_path / "day.rhd"
    samples = np.random.default_rng(4).integers(-500, 500, (4 * FRAMES_OF_A_BLOCK, 2))
    write_intan(path, rhd_header, samples, has_stimulation=False)
    content = bytearray(path.read_bytes())
    last_block = len(content) - FRAMES_OF_A_BLOCK * (4 + 2 * 2)
    numbers = np.arange(1000, 1000 + FRAMES_OF_A_BLOCK, dtype="<i4").tobytes()
    content[last_block : last_block + len(numbers)] = numbers
    path.write_bytes(content)

    with pytest.raises(
        OSError, match=r"day\.rhd.*name one with `segment` \(0: 0\.0128 s from 0 s; 1: 0\.00426"
    ):
        spikeweave.read_recording(path)
    found = spikeweave.read_recording(path, segment=1)

    np.testing.assert_array_equal(found.samples(0, FRAMES_OF_A_BLOCK), samples[-FRAMES_OF_A_BLOCK:])
    assert found.t_start == pytest.approx(1000 / RATE, abs=1e-6)
    again = pickle.loads(pickle.dumps(found))
    assert (again.frames, again.t_start) == (found.frames, found.t_start)
