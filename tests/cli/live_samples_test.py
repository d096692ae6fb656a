"""`spikeweave live --templates`: killed and resumed, too slow for its samples, and with channels that record nothing.

live_samples_test.py            some kills
live_samples_test.py --all      a hundred kills
"""

import array
import functools
import json
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from support import SPIKEWEAVE, CliTest, needs_full_speed, page_data, query, run

KILLS = 100 if "--all" in sys.argv else 6
CHANNELS = 16


@needs_full_speed
class LiveSamples(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.recording = cls.place / "rec"
        cls.rig = cls.place / "rig.templates"
        for command in (("simulate", "recording", "--channels", CHANNELS, "--length", "20s", "--units", "6", "--low-rate", "10",
                         "--high-rate", "20", "--seed", "1", "-o", cls.recording),
                        ("sort", cls.recording, "--save-templates", cls.rig, "-o", cls.place / "sorted")):
            made = run(*command)
            assert made.returncode == 0, made.stderr

    def setUp(self):
        super().setUp()
        self.armed = self.file("armed.txt", "1 0-20ms 2\n2 0-20ms 1\n")
        self.analysis = ("--templates", self.rig, "--labels", "all", "--episodes", self.armed, "--window", "3s", "--delays", "0-5ms",
                         "--min-count", "20", "--window-budget", "none")

    def changed(self, name, change):
        """A copy of the recording with its samples changed by a function."""
        shutil.copytree(self.recording, self.folder / name)
        path = self.folder / name / "traces.raw"
        samples = array.array("h", path.read_bytes())
        path.write_bytes(change(samples).tobytes())
        return self.folder / name

    def results_of(self, session):
        return {what: query(session, sql) for what, sql in {
            "spikes": "SELECT group_concat(hex(spikes), '') FROM (SELECT spikes FROM input ORDER BY seq)",
            "detections": "SELECT epoch, armed, times, suppressed FROM detection ORDER BY seq",
            "windows": "SELECT number, begin_us, end_us, spikes, has_gap, digest FROM window ORDER BY number",
            "counts": "SELECT value FROM meta WHERE name = 'counts'"}.items()}

    @functools.cached_property
    def whole(self):
        session = self.folder / "whole.session"
        self.ok("live", self.recording, *self.analysis, "--speed", "max", "--record", session)
        return self.results_of(session)

    def kill_after(self, seconds, *arguments):
        """Returns whether the command was still running."""
        with subprocess.Popen([SPIKEWEAVE, "live", *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(seconds)
            was_running = process.poll() is None
            process.kill()
        return was_running

    def kill_at(self, time_s, session, *arguments):
        """Kills the command when it has analysed the samples before this time of the recording."""
        with subprocess.Popen([SPIKEWEAVE, "live", *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and not self.has_analysed(session, time_s):
                time.sleep(0.01)
            process.kill()

    @staticmethod
    def has_analysed(session, time_s):
        try:
            return (query(session, "SELECT max(watermark_us) FROM input")[0][0] or 0) >= 1e6 * time_s
        except sqlite3.OperationalError:  # there is no session yet
            return False

    @staticmethod
    def goes_on(session):
        """Whether a session has begun and was interrupted."""
        try:
            return not query(session, "SELECT 1 FROM meta WHERE name = 'counts'")
        except sqlite3.OperationalError:  # it was killed before there was one
            return False

    def test_killed_at_any_moment_and_resumed_it_has_the_same_results(self):
        self.assertGreater(len(self.whole["detections"]), 50)
        self.assertEqual(len(self.whole["windows"]), 6)
        generator = random.Random(self.id())
        killed = 0
        for kill in range(KILLS):
            session = self.folder / f"{kill}.session"
            start = (self.recording, *self.analysis, "--speed", "8", "--record", session)
            resume = (self.recording, "--templates", self.rig, "--labels", "all", "--speed", "8", "--resume", session)
            self.kill_after(0.2 + 2 * generator.random(), *start)
            for _ in range(generator.randrange(3)):
                if self.goes_on(session):
                    self.kill_after(0.1 + generator.random(), *resume)
            if not self.goes_on(session):
                continue
            killed += 1
            acknowledged = query(session, "SELECT seq, spikes FROM input ORDER BY seq")
            self.ok("live", *resume)
            self.assertEqual(query(session, f"SELECT seq, spikes FROM input WHERE seq <= {len(acknowledged)} ORDER BY seq"), acknowledged)
            self.assertEqual(self.results_of(session), self.whole, kill)
            self.ok("live", session, "--verify")
            session.unlink()
        self.assertGreater(killed, KILLS // 2)

    def test_follows_the_tissue_from_where_it_was_when_killed(self):
        """Units that move, whose motion batch and live find in the same steps."""
        moving = self.folder / "moving"
        self.ok("simulate", "recording", "--channels", CHANNELS, "--length", "32s", "--units", "6", "--low-rate", "10",
                "--high-rate", "20", "--seed", "1", "--drift", "16um", "--drift-start", "4s", "-o", moving)

        def results_of(session):
            return self.results_of(session), query(session, "SELECT value FROM meta WHERE name = 'motion'")

        session = self.folder / "whole.session"
        self.ok("live", moving, *self.analysis, "--speed", "max", "--record", session)
        whole = results_of(session)
        steps = [list(map(float, line.split("\t"))) for line in whole[1][0][0].splitlines()]
        self.assertEqual([epoch for epoch, _, _ in steps], len(steps) * [0])
        self.assertTrue(all(time_us % 5_000_000 == 0 for _, time_us, _ in steps))
        self.assertGreater(steps[-1][2], 10)  # of 14.9 um at 30 s
        self.assertLess(steps[-1][2], 16)

        self.ok("sort", moving, "--templates", self.rig, "-o", self.folder / "batch")
        motion = [list(map(float, line.split("\t")))
                  for line in (self.folder / "batch/motion.tsv").read_text().splitlines() if line[0].isdigit()]
        self.assertEqual(len(motion), 7)
        self.assertAlmostEqual(motion[-1][2], steps[-1][2], 2)
        texts = []
        for result in (session, self.folder / "batch"):
            table = self.folder / "spikes.tsv"
            self.ok("convert", result, table, "--overwrite", *(() if result == session else ("--labels", "all")))
            texts.append(sorted(line for line in table.read_text().splitlines() if line[-2:] in [f"\t{unit}" for unit in range(1, 7)]))
        self.assertGreater(len(texts[0]), 1000)
        self.assertEqual(texts[0], texts[1])
        still = self.folder / "still.session"
        self.ok("live", moving, *self.analysis, "--drift", "none", "--speed", "max", "--record", still)
        self.assertEqual(query(still, "SELECT value FROM meta WHERE name = 'motion'"), [])
        self.assertNotEqual(self.results_of(still)["spikes"], whole[0]["spikes"])

        generator = random.Random(self.id())
        killed = 0
        for kill in range(max(3, KILLS // 4)):
            session = self.folder / f"{kill}.session"
            self.kill_at(generator.uniform(13, 25), session, moving, *self.analysis, "--speed", "8", "--record", session)
            if not self.goes_on(session):
                continue
            killed += 1
            self.ok("live", moving, "--templates", self.rig, "--labels", "all", "--speed", "max", "--resume", session)
            self.assertEqual(results_of(session), whole, kill)
            self.ok("live", session, "--verify")
        self.assertGreater(killed, 0)

    def test_a_resumed_session_needs_the_same_units(self):
        session = self.folder / "a.session"
        self.assertTrue(self.kill_after(0.7, self.recording, *self.analysis, "--speed", "1", "--record", session))
        without = run("live", self.recording, "--resume", session)  # its templates were given to it
        self.assertEqual(without.returncode, 2)
        self.assertIn("only a stream goes on", without.stderr)
        labelled = query(session, "SELECT count(*) FROM unit")[0][0]
        self.assertEqual(labelled, 6)

    def test_says_how_long_samples_waited(self):
        longer = self.changed("longer", lambda samples: samples * 10)
        lines = self.folder / "lines.jsonl"
        said = self.ok("live", longer, *self.analysis, "--speed", "1000", "--to", lines).stderr
        self.assertRegex(said, r"samples were sorted up to \d+\.\d s after they had come, because sorting was too slow; no frames, ")
        alarms = [line["behind_s"] for line in map(json.loads, lines.read_text().splitlines()) if line["type"] == "alarm"]
        self.assertGreater(len(alarms), 0)
        self.assertEqual(alarms, sorted(alarms))
        self.assertGreaterEqual(alarms[0], 1)
        gain = json.loads((longer / "binary.json").read_text())["kwargs"]["gain_to_uV"][0]
        with subprocess.Popen(["cat", longer / "traces.raw"], stdout=subprocess.PIPE) as feeding:  # which waits itself
            said = self.ok("live", "-", *self.analysis, "--gain", gain, "--to", self.folder / "piped.jsonl", stdin=feeding.stdout).stderr
        self.assertNotIn("had come", said)
        self.assertNotIn("had come", self.ok("live", self.recording, *self.analysis, "--speed", "2", "--to", self.folder / "other").stderr)

    def test_batch_and_live_say_the_same_of_channels(self):
        def with_faults(samples):
            frames = len(samples) // CHANNELS
            for frame in range(frames):
                samples[frame * CHANNELS + 3] = 0
                if frame % 2000 < 8:
                    samples[frame * CHANNELS + 5] = 32767
            return samples
        faulty = self.changed("faulty", with_faults)
        session = self.folder / "a.session"
        batch = self.ok("sort", faulty, "--templates", self.rig, "-o", self.folder / "out").stderr
        live = self.ok("live", faulty, *self.analysis, "--speed", "max", "--record", session).stderr
        for said in (r"1 of 16 channels stand at the limit of their range, where spikes are lost or misshapen: \w+ \(0\.4 % of the time\)",
                     r"1 of 16 channels never change, as if they were not connected: \w+\.",
                     r"[\d,]+ detections are explained by no template, \d+ per minute"):
            self.assertRegex(batch, said)
            self.assertRegex(live, said)
        kept = query(session, "SELECT value FROM meta WHERE name = 'warnings'")[0][0].splitlines()
        self.assertEqual(len(kept), 3)
        for one in kept:
            self.assertIn(one.split(". ")[0].rstrip("."), live)
        self.ok("live", session, "--verify")
        self.ok("report", session, "-o", self.folder / "page.html")
        shown = json.loads(page_data((self.folder / "page.html").read_text(encoding="utf-8")))["run"]["input"]["warnings"]
        self.assertEqual([one for one in shown if one in kept], kept)

    def test_metrics_have_stages_and_channels(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [SPIKEWEAVE, "live", str(self.recording), *map(str, self.analysis), "--metrics", str(port), "--speed", "2"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            values = {}
            for _ in range(200):
                time.sleep(0.05)
                try:
                    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
                except OSError:
                    continue
                values = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
                if 'spikeweave_live_channel_limit_frames{channel="0"}' in values or len(values) > 200:
                    break
            process.kill()
        stages = {name: int(values[f'spikeweave_live_stage_seconds_count{{stage="{name}"}}'])
                  for name in ("sorting", "detection", "trigger", "whole")}
        self.assertEqual(stages["trigger"], stages["whole"])
        self.assertGreaterEqual(stages["detection"], stages["trigger"])
        self.assertGreater(stages["trigger"], 0)
        self.assertGreater(stages["sorting"], stages["detection"])
        self.assertLess(float(values["spikeweave_live_samples_behind_seconds"]), 1)
        limits = [name for name in values if name.startswith("spikeweave_live_channel_limit_frames")]
        self.assertEqual(len(limits), CHANNELS)


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--all"])
