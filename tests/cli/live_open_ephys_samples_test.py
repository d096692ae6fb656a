"""`spikeweave live open-ephys-continuous://` without templates: units are learned in what pyzmq sends as the GUI would."""

import array
import json
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import zmq

from support import SPIKEWEAVE, CliTest, needs_full_speed, query, run

CHANNELS = 16
RATE = 30000
BLOCK = 300
FIRST = 10 * BLOCK  # sample number of the first frame of the recording; it has to be whole microseconds
GAIN_UV = 0.195


@needs_full_speed
class OpenEphysSamples(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.recording = cls.place / "rec"
        made = run("simulate", "recording", "--channels", CHANNELS, "--length", "12s", "--units", "6", "--low-rate", "10",
                   "--high-rate", "20", "--seed", "1", "--gain", GAIN_UV, "-o", cls.recording)
        assert made.returncode == 0, made.stderr
        cls.analysis = ("--learn", "10s", "--labels", "all", "--window", "3s", "--delays", "0-5ms", "--min-count", "20",
                        "--window-budget", "none")

    def setUp(self):
        super().setUp()
        context = zmq.Context()
        self.addCleanup(context.destroy, 0)
        self.gui = context.socket(zmq.XPUB)
        self.gui.sndhwm = 0  # nothing is dropped
        self.port = self.gui.bind_to_random_port("tcp://127.0.0.1")
        self.number = 0

    def send(self, first, block):
        """The messages of a block: one for each channel."""
        frames = len(block) // CHANNELS
        for channel in range(CHANNELS):
            header = {"message_num": self.number, "type": "data", "data_size": 4 * frames, "timestamp": 0,
                      "content": {"stream": "probe", "channel_num": channel, "channel_name": f"CH{channel + 1}",
                                  "num_samples": frames, "sample_num": first, "sample_rate": RATE}}
            microvolts = struct.pack(f"<{frames}f", *(GAIN_UV * count for count in block[channel::CHANNELS]))
            self.gui.send_multipart([b"DATA\0", json.dumps(header).encode(), microvolts])
            self.number += 1

    def send_recording(self):
        self.assertTrue(self.gui.poll(60000))  # the subscription
        self.gui.recv()
        samples = array.array("h", (self.recording / "traces.raw").read_bytes())
        # The connection may begin within the first block, and two whole ones show which channels there are.
        for first in (FIRST - 2 * BLOCK, FIRST - BLOCK):
            self.send(first, samples[:BLOCK * CHANNELS])
        for first in range(0, len(samples) // CHANNELS, BLOCK):
            self.send(FIRST + first, samples[first * CHANNELS:(first + BLOCK) * CHANNELS])

    @staticmethod
    def is_sorted_until(session, time_us):
        try:
            return (query(session, "SELECT max(watermark_us) FROM input")[0][0] or 0) >= time_us
        except sqlite3.OperationalError:  # there is no session yet
            return False

    @staticmethod
    def spikes_of(session, later_us=0):
        packed = b"".join(spikes for spikes, in query(session, "SELECT spikes FROM input ORDER BY seq"))
        return [(time_us - later_us, unit) for time_us, unit in struct.iter_unpack("<qI", packed)]

    def test_units_and_spikes_are_those_of_the_file_with_these_samples(self):
        played, received = self.folder / "played.session", self.folder / "received.session"
        self.ok("live", self.recording, *self.analysis, "--speed", "max", "--record", played)
        command = (SPIKEWEAVE, "live", f"open-ephys-continuous://127.0.0.1:{self.port}", *self.analysis,
                   "--probe", self.recording / "probe.json", "--record", received)
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                self.send_recording()
                end = time.monotonic() + 300
                while not self.is_sorted_until(received, 12_090_000) and process.poll() is None and time.monotonic() < end:
                    time.sleep(0.05)
                process.send_signal(signal.SIGINT)
                results, said = process.communicate(timeout=60)
            finally:
                process.kill()
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("6 units were learned, all used", said)
        counts = json.loads(results.splitlines()[-1])
        self.assertEqual((counts["type"], counts["missing"], counts["unreadable"]), ("stats", 0, 0))
        templates = "SELECT value FROM meta WHERE name = 'templates'"
        self.assertTrue(query(received, templates) == query(played, templates))  # bytes, too many to show
        spikes = self.spikes_of(played)
        self.assertGreater(len(spikes), 700)
        self.assertEqual(self.spikes_of(received, later_us=FIRST * 1_000_000 // RATE), spikes)


if __name__ == "__main__":
    unittest.main()
