"""`spikeweave live` of samples without templates: units are learned in the first of them."""

import array
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import SPIKEWEAVE, CliTest, needs_full_speed, query, run

CHANNELS = 16
RATE = 30000


@needs_full_speed
class LiveLearning(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.recording = cls.place / "rec"
        made = run("simulate", "recording", "--channels", CHANNELS, "--length", "20s", "--units", "6", "--low-rate", "10",
                   "--high-rate", "20", "--seed", "1", "-o", cls.recording)
        assert made.returncode == 0, made.stderr
        cls.analysis = ("--learn", "10s", "--labels", "all", "--window", "3s", "--delays", "0-5ms", "--min-count", "20",
                        "--window-budget", "none")
        cls.session = cls.place / "learned.session"
        made = run("live", cls.recording, *cls.analysis, "--speed", "max", "--record", cls.session, "--to", cls.place / "learned.jsonl")
        assert made.returncode == 0, made.stderr
        cls.said = made.stderr

    def part(self, seconds):
        """The beginning of the recording."""
        shutil.copytree(self.recording, self.folder / "part")
        path = self.folder / "part" / "traces.raw"
        path.write_bytes(path.read_bytes()[:seconds * RATE * CHANNELS * 2])
        return self.folder / "part"

    def spikes_of(self, result):
        """The rows of all spikes, in the order of times, as text."""
        table = self.folder / "spikes.tsv"
        self.ok("convert", result, table, "--overwrite", *(() if result.suffix == ".session" else ("--labels", "all")))
        return sorted(line for line in table.read_text().splitlines() if not line.startswith("#"))

    def results_of(self, session):
        return {what: query(session, sql) for what, sql in {
            "spikes": "SELECT group_concat(hex(spikes), '') FROM (SELECT spikes FROM input ORDER BY seq)",
            "windows": "SELECT number, begin_us, end_us, spikes, has_gap, digest FROM window ORDER BY number",
            "templates": "SELECT value FROM meta WHERE name = 'templates'"}.items()}

    def test_units_are_those_of_sort_and_spikes_those_of_its_templates(self):
        templates, = query(self.session, "SELECT value FROM meta WHERE name = 'templates'")[0]
        self.ok("sort", self.part(10), "--drift", "none", "--save-templates", self.folder / "rig.templates", "-o", self.folder / "a")
        self.assertEqual(templates, (self.folder / "rig.templates").read_bytes())
        self.ok("sort", self.recording, "--templates", self.session, "-o", self.folder / "twin")
        spikes = self.spikes_of(self.session)
        self.assertGreater(len(spikes), 1000)
        self.assertEqual(self.spikes_of(self.folder / "twin"), spikes)
        given = self.ok("live", self.recording, *self.analysis[2:], "--templates", self.session, "--speed", "max").stdout
        learned = (self.place / "learned.jsonl").read_text()
        self.assertEqual(given, learned)
        self.ok("live", self.session, "--verify")
        self.ok("report", self.session, "-o", self.folder / "page.html")
        self.assertIn("units are learned in the first 10 s of samples", self.said)
        self.assertIn("6 units were learned, all used", self.said)
        self.assertNotIn("had come", self.said)

    def test_at_any_speed_and_from_a_pipe(self):
        expected = self.results_of(self.session)
        played = self.folder / "played.session"
        said = self.ok("live", self.recording, *self.analysis, "--speed", "1", "--record", played).stderr
        self.assertRegex(said, r"samples are sorted as they arrive, \d+ s after")
        self.assertNotIn("had come", said)
        self.assertEqual(self.results_of(played), expected)
        gain = json.loads((self.recording / "binary.json").read_text())["kwargs"]["gain_to_uV"][0]
        piped = self.folder / "piped.session"
        with subprocess.Popen(["cat", self.recording / "traces.raw"], stdout=subprocess.PIPE) as feeding:
            self.ok("live", "-", *self.analysis, "--gain", gain, "--channels", CHANNELS, "--sample-rate", RATE, "--probe",
                    self.recording / "probe.json", "--record", piped, stdin=feeding.stdout)
        self.assertEqual(self.results_of(piped), expected)

    @staticmethod
    def has_templates(session):
        try:
            return bool(query(session, "SELECT 1 FROM meta WHERE name = 'templates'"))
        except sqlite3.OperationalError:  # there is no session yet
            return False

    def test_killed_at_any_moment_and_resumed_it_has_the_same_results(self):
        expected = self.results_of(self.session)
        generator = random.Random(self.id())
        killed = 0
        for kill in range(2):
            session = self.folder / f"{kill}.session"
            command = SPIKEWEAVE, "live", self.recording, *self.analysis, "--speed", "2", "--record", session
            with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                while process.poll() is None and not self.has_templates(session):
                    time.sleep(0.01)
                time.sleep(generator.random())
                process.kill()
            if query(session, "SELECT 1 FROM meta WHERE name = 'counts'"):
                continue
            killed += 1
            self.ok("live", self.recording, "--labels", "all", "--speed", "max", "--resume", session)
            self.assertEqual(self.results_of(session), expected, kill)
            self.ok("live", session, "--verify")
        self.assertGreater(killed, 0)

    def test_ended_before_units_are_known_it_says_so(self):
        session = self.folder / "a.session"
        with subprocess.Popen([SPIKEWEAVE, "live", self.recording, "--record", session], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0, said)
        self.assertRegex(said, r"No units have been learned, so there are no spikes: [01] of the 120 s of samples")
        self.refused("sort", self.recording, "--templates", session, "-o", self.folder / "out", says=("a.session", "without templates"))
        self.assertFalse((self.folder / "out").exists())

    def test_refuses_what_needs_units_that_are_not_known(self):
        armed = self.file("armed.txt", "1 0-20ms 2\n")
        session = self.folder / "a.session"
        self.refused("live", self.recording, "--episodes", armed, "--record", session, says=("unit 1 is not known yet", "--templates", "--arm"))
        self.refused("live", "open-ephys-continuous://localhost:5556", "--episodes", armed, says="unit 1 is not known yet")
        self.assertFalse(session.exists())
        self.refused("live", self.recording, "--templates", self.session, "--learn", "3s", says="--learn")
        self.refused("live", "-", "--channels", CHANNELS, says=("--channels", "--sample-rate"))
        self.refused("live", "-", "--gain", "2", says=("has spikes", "--gain"))
        self.refused("live", "lsl:spikes", "--channels", CHANNELS, says=("has spikes", "--channels"))

    def test_a_silent_recording_has_no_units(self):
        silent = self.part(10)
        noise = random.Random(1)
        samples = array.array("h", (noise.randrange(-20, 20) for _ in range(2 * RATE * CHANNELS)))
        (silent / "traces.raw").write_bytes(samples.tobytes())
        made = run("live", silent, "--speed", "max")
        self.assertEqual(made.returncode, 2)
        self.assertRegex(made.stderr, "error: .*(contains no spikes|no unit has enough spikes)")


if __name__ == "__main__":
    unittest.main()
