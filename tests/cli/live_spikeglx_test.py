"""`spikeweave live spikeglx://...` with a stand-in for SpikeGLX's command server."""

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

from spikeglx_stand_in import SpikeGlx
from support import SPIKEWEAVE, CliTest, query, run

CHANNELS = 8
RATE = 30000
GAIN_UV = 2.34375  # 0.6 V, 512 steps, 500 times amplified
SECOND = RATE


def spikes_of(session):
    """(time in microseconds, unit) of each spike."""
    packed = b"".join(spikes for spikes, in query(session, "SELECT spikes FROM input ORDER BY seq"))
    return list(struct.iter_unpack("<qI", packed))


class LiveSpikeGlx(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.recording = cls.place / "rec"
        cls.rig = cls.place / "rig.templates"
        armed = cls.place / "armed.txt"
        armed.write_text("1 0-20ms 2\n")
        cls.analysis = ("--templates", cls.rig, "--labels", "all", "--drift", "none", "--no-windows", "--episodes", armed)
        for command in (("simulate", "recording", "--channels", CHANNELS, "--length", "12s", "--units", "4", "--low-rate", "10",
                         "--high-rate", "20", "--seed", "1", "--gain", GAIN_UV, "-o", cls.recording),
                        ("sort", cls.recording, "--drift", "none", "--save-templates", cls.rig, "-o", cls.place / "sorted"),
                        ("live", cls.recording, *cls.analysis, "--speed", "max", "--record", cls.place / "played.session")):
            made = run(*command)
            assert made.returncode == 0, made.stderr
        cls.samples = array.array("h", (cls.recording / "traces.raw").read_bytes())
        cls.places_um = json.loads((cls.recording / "probe.json").read_text())["probes"][0]["contact_positions"]
        cls.frames = len(cls.samples) // CHANNELS
        cls.played = spikes_of(cls.place / "played.session")
        assert len(cls.played) > 300

    def serve(self, **options):
        server = SpikeGlx(self.samples, **{"places_um": self.places_um, **options})
        self.addCleanup(server.close)
        return server

    def live(self, server, *options, session="received.session"):
        """Begins the command, which records into a session."""
        self.session = self.folder / session
        resumed = ("--templates", self.rig, "--labels", "all", "--drift", "none")
        command = (SPIKEWEAVE, "live", f"spikeglx://127.0.0.1:{server.port}", *options)
        command += resumed if "--resume" in options else (*self.analysis, "--record", self.session)
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def watermark(self):
        try:
            found = query(self.session, "SELECT watermark_us FROM input WHERE watermark_us IS NOT NULL ORDER BY seq DESC LIMIT 1")
        except sqlite3.OperationalError:  # there is no session yet
            return -1
        return found[0][0] if found else -1

    def wait_until(self, frame, process):
        """Until the samples before a frame, less those that decide a spike, have been sorted."""
        self.wait(lambda: self.watermark() >= (frame - 200) * 1_000_000 // RATE, process)

    def wait(self, holds, process=None):
        end = time.monotonic() + 60
        while not holds():
            self.assertTrue(process is None or process.poll() is None, process and process.stderr)
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def end(self, process, status=0):
        process.send_signal(signal.SIGINT)
        results, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, said)
        return [json.loads(line) for line in results.splitlines()], said

    def test_spikes_of_a_run_that_begins_are_those_of_its_file(self):
        server = self.serve()
        server.is_running = False
        process = self.live(server)
        self.wait(lambda: server.commands.count("ISRUNNING") >= 2, process)
        server.by_the_clock(speed=8)
        server.is_running = True
        self.wait_until(self.frames, process)
        results, _ = self.end(process)
        self.assertEqual((results[-1]["type"], results[-1]["missing"], results[-1]["unreadable"]), ("stats", 0, 0))
        self.assertEqual(spikes_of(self.session), self.played)

    def test_a_run_that_is_on_is_joined_and_times_count_from_its_first_sample(self):
        server = self.serve(gain=500, kept=SECOND)
        server.there = 5 * SECOND
        process = self.live(server)
        self.wait(lambda: "FETCH" in server.commands, process)
        server.there = self.frames
        server.kept = self.frames
        self.wait_until(self.frames, process)
        results, _ = self.end(process)
        self.assertEqual(results[-1]["missing"], 0)
        joined_us = 5_010_000  # the filters have forgotten how they began
        self.assertEqual([each for each in spikes_of(self.session) if each[0] > joined_us],
                         [each for each in self.played if each[0] > joined_us])

    def test_a_connection_that_breaks_loses_nothing_that_spikeglx_still_has(self):
        server = self.serve()
        server.is_running = False
        process = self.live(server)
        self.wait(lambda: "ISRUNNING" in server.commands, process)
        server.is_running = True
        server.by_the_clock(speed=1)
        for second in (1, 3):
            self.wait_until(second * SECOND, process)
            server.break_connections()
            time.sleep(1.5 if second == 3 else 0)
        self.wait_until(6 * SECOND, process)
        results, _ = self.end(process)
        self.assertEqual((results[-1]["missing"], results[-1]["epochs"]), (0, 0))
        end_us = 5_900_000
        self.assertEqual([each for each in spikes_of(self.session) if each[0] < end_us],
                         [each for each in self.played if each[0] < end_us])

    def test_frames_that_spikeglx_no_longer_has_are_missing_and_shift_nothing(self):
        server = self.serve(kept=SECOND)
        process = self.live(server)
        self.wait(lambda: "FETCH" in server.commands, process)
        server.there = 4 * SECOND // 10 * 2  # less than it keeps
        self.wait_until(server.there, process)
        server.there = 6 * SECOND
        self.wait(lambda: server.commands.count("GETSTREAMSAMPLECOUNT") >= 2, process)
        time.sleep(0.2)
        for there in range(6 * SECOND + SECOND // 2, self.frames + 1, SECOND // 2):
            server.there = there
            self.wait_until(there, process)
        results, said = self.end(process, status=1)
        self.assertEqual(results[-1]["missing"], 6 * SECOND - 4 * SECOND // 10 * 2)
        self.assertIn("were lost", said + json.dumps(results))
        later_us = 6_020_000
        self.assertEqual([each for each in spikes_of(self.session) if each[0] > later_us],
                         [each for each in self.played if each[0] > later_us])

    def test_another_run_begins_an_epoch_from_its_first_sample(self):
        for name, between in (("seen.session", True), ("unseen.session", False)):
            with self.subTest(name):
                server = self.serve()
                process = self.live(server, session=name)
                self.wait(lambda: "FETCH" in server.commands, process)
                server.there = 3 * SECOND
                self.wait_until(server.there, process)
                if between:
                    server.is_running = False
                    self.wait(lambda: server.commands[-1] == "ISRUNNING", process)
                server.begin_run(self.samples, there=2 * SECOND)
                server.is_running = True
                self.wait(lambda: query(self.session, "SELECT max(epoch) FROM input")[0][0] == 1, process)
                server.there = 4 * SECOND
                self.wait_until(4 * SECOND, process)
                results, _ = self.end(process)
                self.assertEqual(results[-1]["missing"], 0)
                self.assertEqual([each["type"] for each in results if each["type"] == "epoch"], ["epoch"])

    def test_resumed_after_a_kill_it_goes_on_with_what_spikeglx_still_has(self):
        server = self.serve()
        process = self.live(server)
        self.wait(lambda: "FETCH" in server.commands, process)
        server.there = 4 * SECOND
        self.wait_until(server.there, process)
        process.kill()
        process.wait()
        server.there = 6 * SECOND
        process = self.live(server, "--resume", self.session)
        self.wait_until(server.there, process)
        results, _ = self.end(process)
        self.assertEqual(results[-1]["missing"], 0)
        around_us = range(3_980_000, 4_020_000)
        self.assertEqual([each for each in spikes_of(self.session) if each[0] not in around_us],
                         [each for each in self.played if each[0] < 5_990_000 and each[0] not in around_us])

    def test_it_learns_units_at_the_places_that_spikeglx_has(self):
        server = self.serve()
        server.is_running = False
        self.session = self.folder / "learned.session"
        command = (SPIKEWEAVE, "live", f"spikeglx://127.0.0.1:{server.port}", "--learn", "10s", "--labels", "all", "--window", "3s",
                   "--delays", "0-5ms", "--min-count", "20", "--drift", "none", "--record", self.session)
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            self.wait(lambda: "ISRUNNING" in server.commands, process)
            server.there = self.frames
            server.kept = self.frames
            server.is_running = True
            self.wait_until(self.frames, process)
            _, said = self.end(process)
        self.assertIn("were learned", said)
        self.assertNotIn("positions of the channels are not known", said)
        self.ok("sort", self.recording, "--templates", self.session, "--drift", "none", "-o", self.folder / "twin")

    def test_what_is_not_as_expected_is_said(self):
        cases = (
            ({"saved": [0, 1, 2]}, (), "saves 3 channels of the band of spikes (AP), expected 8, as the templates have"),
            ({"rate": 25000}, (), "25000 samples a second, expected 30000"),
            ({"probes": 2}, (), "SpikeGLX has 2 probes: name one of them"),
            ({}, ("--stream", "imec3"), "SpikeGLX has no probe imec3: it has imec0 to imec0"),
            ({}, ("--stream", "nidq"), "'nidq' is no stream of SpikeGLX"),
        )
        for options, more, says in cases:
            with self.subTest(says):
                server = self.serve(**options)
                self.refused("live", f"spikeglx://127.0.0.1:{server.port}", *self.analysis, *more, says=says)
                server.close()
        self.refused("live", f"spikeglx://127.0.0.1:{server.port}", *self.analysis,
                     says=("cannot connect to SpikeGLX", "Command Server Settings"))
        self.refused("live", "spikeglx://", *self.analysis, says="spikeglx://HOST:4142")

    def test_an_answer_that_is_not_as_documented_is_counted_and_asked_again(self):
        server = self.serve()
        process = self.live(server)
        self.wait(lambda: "FETCH" in server.commands, process)
        server.answers["FETCH"] = b"BINARY_DATA 8 many uint64(0)\n"
        server.there = SECOND
        self.wait(lambda: not server.answers, process)
        self.wait_until(server.there, process)
        results, said = self.end(process, status=1)
        self.assertEqual((results[-1]["unreadable"], results[-1]["missing"]), (1, 0))
        self.assertIn("BINARY_DATA 8 many uint64(0)", said)

    def test_contacts_at_other_places_are_a_warning(self):
        server = self.serve(places_um=[(x_um, 2 * y_um) for x_um, y_um in self.places_um])
        process = self.live(server)
        self.wait(lambda: "FETCH" in server.commands, process)
        server.there = SECOND
        self.wait_until(server.there, process)
        _, said = self.end(process)
        self.assertIn("6 of 8 channels of SpikeGLX are at other places", said)


if __name__ == "__main__":
    unittest.main()
