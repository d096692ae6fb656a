"""kill -9 at any time: a result is the complete old or new one, and other remains are those that docs/cli.md lists.

kill_test.py            some kills of each command
kill_test.py --all      five hundred of each; prints the outcomes
"""

import random
import re
import subprocess
import sys
import time
import unittest

from support import SPIKEWEAVE, CliTest, state

ALL = "--all" in sys.argv
KILLS = 500 if ALL else 12


class Kill(CliTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "5s", "--seed", "1", "-o", self.data, "-q")
        self.work = self.folder / "work"
        self.work.mkdir()
        self.random = random.Random(self.id())

    def whole(self):
        """Returns the finished files, and whether there were unfinished ones."""
        names = {path.name for path in self.work.iterdir()}
        aside = {name for name in names if name.startswith(".")}
        for name in aside:
            self.assertRegex(name, r"\A\.(.+)\.[0-9a-f]{13}\.part\Z")
        now = state(self.work)
        return {name: bytes_ for name, bytes_ in now.items() if not re.match(r"\.[^/]+\.part(/|$)", name)}, bool(aside)

    def check(self, one, other):
        """Lets `one` and `other` overwrite each other's results, killed at any time."""
        self.ok(*one)
        results = [state(self.work)]
        began = time.monotonic()
        self.ok(*other, "--overwrite")
        took = time.monotonic() - began
        results.append(state(self.work))
        self.assertNotEqual(results[0], results[1])
        outcomes = {"old": 0, "new": 0, "left": 0}
        now = results[1]
        for kill in range(KILLS):
            new = kill % 2
            with subprocess.Popen([SPIKEWEAVE, *map(str, (one, other)[new]), "--overwrite"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                # Times near the end, when files get their names, are drawn more often.
                time.sleep(took * (1 - self.random.random() ** 2))
                process.kill()
            before, (now, left) = now, self.whole()
            self.assertTrue(now in (before, results[new]), f"kill {kill}: {sorted(now)} is neither of the results")
            outcomes["new" if now != before else "old"] += 1
            outcomes["left"] += left
            for path in self.work.iterdir():
                if path.name.startswith("."):
                    subprocess.run(["rm", "-r", path], check=True)
        if ALL:
            print(one[0], outcomes, file=sys.stderr)

    def test_convert(self):
        out = self.work / "out.npz"
        self.check(("convert", self.chain_file(), out), ("convert", self.data, out))

    def test_episodes(self):
        command = ("episodes", self.data, "--delays", "4-6ms", "-o", self.work / "out", "-q")
        self.check((*command, "--min-count", "9"), (*command, "--min-count", "12"))

    def test_sort(self):
        features = self.folder / "features.npz"
        self.ok("simulate", "features", "--spikes", "1000", "--units", "3", "-o", features, "-q")
        command = ("sort", features, "--sample-rate", "20000", "-o", self.work / "out", "-q")
        self.check(command, (*command, "--mask", "all"))

    def test_simulated_recording(self):
        command = ("simulate", "recording", "--units", "2", "--channels", "4", "--length", "2s", "-o", self.work / "out", "-q")
        self.check((*command, "--seed", "1"), (*command, "--seed", "2"))


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--all"])
