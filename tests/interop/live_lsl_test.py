"""`spikeweave live` receives spikes and samples from outlets of pylsl, and an inlet of pylsl receives its markers.

Usage: live_lsl_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without pylsl.
"""

import array
import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

CONFIGURATION = tempfile.NamedTemporaryFile("w", suffix=".cfg")  # noqa: SIM115 (it lives as long as the test)
# No other computer takes part, and no other run of this test.
CONFIGURATION.write(f"[multicast]\nResolveScope = machine\n[lab]\nSessionID = test{os.getpid()}\n[log]\nlevel = -3\n")
CONFIGURATION.flush()
os.environ["LSLAPICFG"] = CONFIGURATION.name

try:
    import pylsl
except (ImportError, RuntimeError) as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

SPIKEWEAVE = sys.argv.pop(1)
LIBRARY = pathlib.Path(pylsl.__file__).parent / "lib" / "liblsl.so"
PAIRS = 100


def outlet(name, values="string", channels=1, rate=0, source_id="rig"):
    return pylsl.StreamOutlet(pylsl.StreamInfo(name, "Spikes", channels, rate, values, source_id))


class LiveLsl(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.armed = self.folder / "armed.txt"

    def arm(self, text):
        self.armed.write_text(text, encoding="utf-8")
        return "--no-windows", "--episodes", self.armed

    def live(self, *arguments, **more):
        process = subprocess.Popen([SPIKEWEAVE, "live", *arguments], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, "SPIKEWEAVE_LIBLSL": str(LIBRARY), **more})
        for pipe in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(pipe.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def stop(self, process, status=0):
        process.send_signal(signal.SIGINT)
        # `communicate` would begin behind what reading lines has fetched, perhaps within a line.
        lines, errors = process.stdout.read(), process.stderr.read()
        self.assertEqual(process.wait(30), status, errors)
        return [json.loads(line) for line in lines.splitlines()]

    def refused(self, says, *arguments, **more):
        process = self.live(*arguments, *self.arm("a 0-5ms b\n"), **more)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 2, errors)
        self.assertRegex(errors, r"\Aspikeweave: error: [^\n]+\n\Z")
        self.assertIn(says, errors)

    def lines_until(self, process, holds):
        lines = []
        for text in process.stdout:
            lines.append(json.loads(text))
            if holds(lines[-1]):
                return lines
        return self.fail(f"it ended: {process.stderr.read()}")

    def lines_until_spikes(self, process, count):
        return self.lines_until(process, lambda line: line.get("spikes") == count)

    def push_pairs(self, to, first, second, begin):
        for i in range(PAIRS):
            to.push_sample([first], begin + 0.1 * i)
            to.push_sample([second], begin + 0.1 * i + 0.002)

    def test_each_pair_of_names_is_detected_at_its_time(self):
        to = outlet("names")
        record = self.folder / "s.session"
        process = self.live("lsl:names", *self.arm("a 0-5ms b\n"), "--record", record, "--stats-every", "0.1s")
        self.assertTrue(to.wait_for_consumers(20))
        begin = pylsl.local_clock()
        self.push_pairs(to, "a", "b", begin)
        lines = self.lines_until_spikes(process, 2 * PAIRS) + self.stop(process)

        found = [line["spikes_us"] for line in lines if line["type"] == "detection"]
        self.assertEqual(len(found), PAIRS)
        offset = found[0][0] - 1e6 * begin  # the two clocks are one, so what was measured is small
        self.assertLess(abs(offset), 1000)
        for i, (first, second) in enumerate(found):
            self.assertAlmostEqual(first, 1e6 * (begin + 0.1 * i) + offset, delta=1.1)
            self.assertAlmostEqual(second - first, 2000, delta=1.1)
        self.assertEqual((lines[-1]["spikes"], lines[-1]["missing"], lines[-1]["epochs"]), (2 * PAIRS, 0, 0))
        verified = subprocess.run([SPIKEWEAVE, "live", record, "--verify"], capture_output=True, text=True, check=False)
        self.assertEqual(verified.returncode, 0, verified.stderr)

    def test_whole_numbers_are_units(self):
        for values in ("int8", "int16", "int32", "int64"):
            with self.subTest(values):
                to = outlet(values, values)
                process = self.live(f"lsl:{values}", *self.arm("3 0-5ms 100\n"), "--stats-every", "0.1s")
                self.assertTrue(to.wait_for_consumers(20))
                self.push_pairs(to, 3, 100, pylsl.local_clock())
                self.lines_until_spikes(process, 2 * PAIRS)
                self.assertEqual(self.stop(process)[-1]["detections"], PAIRS)

    def test_a_sender_that_is_started_again_begins_an_epoch(self):
        for source_id in ("rig", ""):
            with self.subTest(source_id=source_id):
                name = f"again{source_id}"
                to = outlet(name, source_id=source_id)
                process = self.live(f"lsl:{name}", *self.arm("a 0-5ms b\n"), "--stats-every", "0.1s")
                self.assertTrue(to.wait_for_consumers(20))
                self.push_pairs(to, "a", "b", pylsl.local_clock())
                self.lines_until_spikes(process, 2 * PAIRS)
                del to
                self.lines_until(process, lambda line: line["type"] == "epoch")
                to = outlet(name, source_id=source_id)
                self.assertTrue(to.wait_for_consumers(20))
                self.push_pairs(to, "a", "b", pylsl.local_clock())
                self.lines_until_spikes(process, 4 * PAIRS)
                last = self.stop(process, 1)[-1]
                self.assertEqual((last["detections"], last["epochs"], last["missing"]), (2 * PAIRS, 1, 1))

    def test_a_detection_is_a_marker(self):
        process = self.live("-", *self.arm("a 0-5ms b\nb 0-5ms c\n"), "--to", "lsl:found#episode=1")
        streams = pylsl.resolve_byprop("name", "found", 1, 20)
        self.assertEqual(len(streams), 1)
        self.assertEqual((streams[0].type(), streams[0].channel_count(), streams[0].nominal_srate()), ("Markers", 1, 0))
        inlet = pylsl.StreamInlet(streams[0])
        inlet.open_stream(20)
        offset = inlet.time_correction(20)
        before = pylsl.local_clock()
        for i in range(PAIRS):
            process.stdin.write("".join(f'{{"t_us":{100000 * i + 1000 * k},"unit":"{"abc"[k]}"}}\n' for k in range(3)))
        process.stdin.close()
        process.stdin = None
        got = [inlet.pull_sample(20) for _ in range(PAIRS)]
        self.assertEqual([text for (text,), _ in got],
                         [f"spikeweave episode=1 t_us={100000 * i + 1000},{100000 * i + 2000}" for i in range(PAIRS)])
        self.assertTrue(all(before - 0.01 <= at + offset <= pylsl.local_clock() + 0.01 for _, at in got))
        self.assertEqual(process.wait(30), 0)

    def spikes_of(self, session):
        with contextlib.closing(sqlite3.connect(f"file:{session}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT spikes FROM input ORDER BY seq").fetchall()
        return list(struct.iter_unpack("<qI", b"".join(spikes for spikes, in rows)))

    def test_samples_are_sorted_as_those_of_a_file(self):
        rig, recording = self.folder / "rig.templates", self.folder / "rec"
        for command in (("simulate", "recording", "--channels", "8", "--length", "8s", "--units", "4", "--low-rate", "10",
                         "--high-rate", "20", "--seed", "1", "--gain", "0.5", "-o", recording),
                        ("sort", recording, "--drift", "none", "--save-templates", rig, "-o", self.folder / "sorted")):
            subprocess.run([SPIKEWEAVE, *map(str, command)], check=True, capture_output=True)
        self.armed.write_text("1 0-20ms 2\n")
        analysis = ("--templates", rig, "--labels", "all", "--drift", "none", "--no-windows", "--episodes", self.armed)
        played = self.folder / "played.session"
        subprocess.run([SPIKEWEAVE, "live", recording, *analysis, "--speed", "max", "--record", played], check=True,
                       capture_output=True)
        samples = array.array("h", (recording / "traces.raw").read_bytes())
        for values, scale, lost in (("int16", 1, 0), ("float32", 0.5, 30000)):
            with self.subTest(values):
                to = outlet(f"rig{values}", values, channels=8, rate=30000)
                session = self.folder / f"{values}.session"
                process = self.live(f"lsl-samples:rig{values}", *analysis, "--gain", "0.5", "--record", session, "--stats-every",
                                    "0.1s")
                self.assertTrue(to.wait_for_consumers(20))
                begin = pylsl.local_clock()
                for first in range(0, len(samples) // 8, 3000):
                    if not 120000 <= first < 120000 + lost:
                        rows = [[scale * x for x in samples[8 * f:8 * f + 8]] for f in range(first, first + 3000)]
                        # Its time is that of the last one, and trembles.
                        to.push_chunk(rows, begin + (first + 2999) / 30000 + 0.01 * (first // 3000 % 3))
                        time.sleep(0.03)  # samples that wait for 5 s are dropped
                if lost:
                    self.lines_until(process, lambda line: line.get("missing"))
                expected = self.spikes_of(played)
                self.lines_until(process, lambda line, least=len(expected) * (8 - lost / 30000) / 8 * 0.9: line.get("spikes", 0) > least)
                time.sleep(1)
                counts = self.stop(process, 1 if lost else 0)[-1]
                self.assertEqual(counts["epochs"], 0)
                self.assertAlmostEqual(counts["missing"], lost, delta=600)  # what trembles by 20 ms
                found = self.spikes_of(session)
                self.assertLess(abs(found[0][0] - expected[0][0] - 1e6 * begin), 21000)
                before_us = 3_990_000
                offset = found[0][0] - expected[0][0]
                early = [(at, unit) for at, unit in expected if at < before_us]
                self.assertEqual(found[:len(early)], [(at + offset, unit) for at, unit in early])
                if not lost:
                    self.assertEqual(len(found), len(expected))

    def test_samples_of_other_channels_or_another_rate_are_refused(self):
        kept = [outlet("irregular", "int16", channels=8), outlet("texts", rate=100)]
        self.assertTrue(kept)
        samples = ("--channels", "8", "--sample-rate", "30000", "--learn", "10s")
        for says, name in (("has no rate", "irregular"), ("has other samples than int16", "texts")):
            process = self.live(f"lsl-samples:{name}", *samples, "--window", "3s", "--delays", "0-5ms")
            _, errors = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 2, errors)
            self.assertIn(says, errors)

    def test_what_has_no_spikes_is_refused(self):
        self.refused("'nobody' is not there", "lsl:nobody")
        kept = [outlet("real", "float32"), outlet("pair", channels=2), outlet("regular", rate=100),
                outlet("twice", source_id="one"), outlet("twice", source_id="two")]
        self.assertTrue(kept)
        self.refused("neither text nor whole numbers", "lsl:real")
        self.refused("has 2 channels", "lsl:pair")
        self.refused("has 100 samples a second", "lsl:regular")
        self.refused("more than once", "lsl:twice")
        for name in ("", "it's", "//rig"):
            self.refused(f"'lsl:{name}' is no stream of LSL", f"lsl:{name}")

    def test_a_library_that_is_not_there_is_told(self):
        for arguments in (("lsl:names",), ("-", "--to", "lsl:found")):
            self.refused("Install it (https://github.com/sccn/liblsl", *arguments, SPIKEWEAVE_LIBLSL="/nowhere/liblsl.so")
        self.refused("undefined symbol: lsl_", "lsl:names", SPIKEWEAVE_LIBLSL="libc.so.6")


if __name__ == "__main__":
    unittest.main()
