"""Stopping in the middle, and the progress line."""

import json
import os
import pty
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from support import SPIKEWEAVE, CliTest


def wait_until_listening(process):
    """Waits until the command handles signals; before that, a signal simply ends it."""
    blocked = 0
    while process.poll() is None and not blocked & 1 << (signal.SIGINT - 1):
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        blocked = int(re.search(r"SigBlk:\s*(\w+)", status).group(1), 16)


class LongRun(CliTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "s.npz"
        self.ok("simulate", "poisson", "--units", "60", "--rate", "50", "--length", "120s", "-o", self.data)
        # This takes hours: every unit's spikes against every other's, at every size.
        self.arguments = [SPIKEWEAVE, "episodes", self.data, "--delay-grid", "0ms:200ms:5ms", "--min-count", "3", "--max-size", "9", "-o",
                          self.folder / "out"]

    def stop(self, number, after, **options):
        """Starts the long run, sends it a signal and returns the time that it took to end."""
        with subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, **options) as process:
            wait_until_listening(process)
            time.sleep(after)
            self.assertIsNone(process.poll(), "it was over before it could be stopped")
            process.send_signal(number)
            began = time.monotonic()
            out, error = process.communicate(timeout=60)
            return process.returncode, out, error, time.monotonic() - began

    def test_stops_with_130_and_leaves_nothing(self):
        for number, after in ((signal.SIGINT, 0), (signal.SIGINT, 2), (signal.SIGTERM, 1)):
            with self.subTest(number=number, after=after):
                status, out, error, seconds = self.stop(number, after)

                self.assertEqual((status, out, error), (130, "", "spikeweave: stopped on request\n"))
                self.assertLess(seconds, 5)
                self.assertEqual(self.names(), ["s.npz", "s.truth.tsv"])

    def test_spade_stops_wherever_it_is(self):
        """It stops while patterns are written and while surrogates are mined. Each takes hours, and not days, which would
        be refused."""
        for more in (("--min-occ", "60"), ("--min-occ", "250", "--min-spikes", "3", "--surrogates", "100000")):
            with self.subTest(more):
                self.arguments = [SPIKEWEAVE, "spade", self.data, "--window", "10", *more, "-o", self.folder / "out"]

                status, out, error, seconds = self.stop(signal.SIGINT, 2)

                self.assertEqual((status, out), (130, ""))
                self.assertTrue(error.endswith("spikeweave: stopped on request\n"), error)
                self.assertLess(seconds, 5)
                self.assertEqual(self.names(), ["s.npz", "s.truth.tsv"])

    def test_sort_stops_wherever_it_is(self):
        """It stops while features are read and in each strategy."""
        features = self.folder / "features.npz"
        self.ok("simulate", "features", "--spikes", "60000", "--units", "60", "-o", features)
        before = self.names()
        for after, more in ((0, ()), (1, ("--strategy", "reference")), (1, ("--strategy", "cpu", "--threads", "1"))):
            with self.subTest(more):
                # These take half a minute, and hours with the formulas: nothing is masked.
                self.arguments = [SPIKEWEAVE, "sort", features, "--mask", "all", *more, "-o", self.folder / "out"]

                status, out, error, seconds = self.stop(signal.SIGINT, after)

                self.assertEqual((status, out), (130, ""))
                self.assertTrue(error.endswith("spikeweave: stopped on request\n"), error)
                self.assertLess(seconds, 5)
                self.assertEqual(self.names(), before)

    def test_leaves_a_result_that_was_there(self):
        out = self.folder / "out"
        self.ok("episodes", self.data, "--max-size", "1", "--delays", "0-5ms", "-o", out)
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        self.arguments.append("--overwrite")

        status = self.stop(signal.SIGINT, 1)[0]

        self.assertEqual(status, 130)
        self.assertEqual({path.name: path.read_bytes() for path in out.iterdir()}, before)

    def test_progress_is_drawn_on_a_terminal_only(self):
        main, terminal = pty.openpty()
        with subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal,
                              env={**os.environ, "TERM": "xterm"}) as process:
            os.close(terminal)
            seen = b""
            deadline = time.monotonic() + 30
            while b" left" not in seen and time.monotonic() < deadline:
                seen += os.read(main, 4096)
            process.kill()
        os.close(main)

        self.assertIn(b"\r", seen)
        self.assertRegex(seen, rb": +\d+ %, \d+ (s|min|h).* left")
        self.assertEqual(self.stop(signal.SIGINT, 1)[2], "spikeweave: stopped on request\n")

    def test_plain_progress_has_no_control_characters(self):
        self.arguments += ["--progress", "plain"]

        error = self.stop(signal.SIGINT, 2)[2]

        self.assertGreater(error.count("\n"), 1)
        self.assertNotIn("\r", error)
        self.assertNotIn("\x1b", error)


class Pipes(CliTest):
    """Pipes in place of files: those that a user names are waited for, and others are refused."""

    def pipe(self, name="pipe"):
        path = self.folder / name
        os.mkfifo(path)
        return path

    def commands(self, pipe):
        """Commands that read the pipe besides their spikes."""
        data = self.chain_file()
        return (("episodes", data, "--epochs", pipe), ("episodes", data, "--groups", pipe), ("replay", pipe, data),
                ("count", data, pipe), ("episodes", data, "--config", pipe))

    def test_a_wait_for_a_pipe_ends_when_asked(self):
        for arguments in self.commands(self.pipe()):
            for number in (signal.SIGTERM, signal.SIGINT):
                with self.subTest(arguments), \
                        subprocess.Popen([SPIKEWEAVE, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True) as process:
                    wait_until_listening(process)
                    time.sleep(0.3)
                    self.assertIsNone(process.poll(), "it did not wait")
                    process.send_signal(number)
                    out, error = process.communicate(timeout=10)
                    self.assertEqual((process.returncode, out, error), (130, "", "spikeweave: stopped on request\n"))

    def test_what_comes_through_a_pipe_is_read(self):
        pipe, data = self.pipe(), self.chain_file()
        epochs = self.file("epochs.tsv", "0\t2\n2.5\t4\n")
        expected = json.loads(self.ok("episodes", data, "--epochs", epochs, "--json").stdout)["episodes"]
        slowly = f"(sleep 0.3; head -n1 {epochs}; sleep 0.3; tail -n1 {epochs})"
        run = f"{SPIKEWEAVE} episodes {data} --json --epochs"
        for line in (f"{slowly} > {pipe} & {run} {pipe}", f"{run} <({slowly})", f"cat {epochs} > {pipe} & sleep 0.2; {run} {pipe}"):
            with self.subTest(line):
                found = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)
                self.assertEqual(found.returncode, 0, found.stderr)
                self.assertEqual(json.loads(found.stdout)["episodes"], expected)

    def test_a_pipe_in_a_folder_is_refused(self):
        folder = self.folder / "phy"
        folder.mkdir()
        pipe = self.pipe("phy/params.py")
        self.refused("info", folder, says=(f"'{pipe}': is a pipe, expected a file",))
        recording = self.folder / "rec"
        recording.mkdir()
        self.pipe("rec/binary.json")
        self.refused("info", recording, says=("binary.json': is a pipe, expected a file",))
        result = self.folder / "result"
        result.mkdir()
        self.pipe("result/result.json")
        self.refused("report", result, "-o", self.folder / "page.html", says=("result.json': is a pipe, expected a file",))


if __name__ == "__main__":
    unittest.main()
