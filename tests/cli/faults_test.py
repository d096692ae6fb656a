"""Checks results after a system call or an allocation fails: fault_shim.c lets the n-th call of one kind fail.

faults_test.py          a seeded sample of calls
faults_test.py --all    every call (of malloc every 50th), which takes an hour; prints the outcomes
"""

import os
import random
import re
import shutil
import signal
import sys
import unittest
from collections import Counter

from support import CliTest, run, state

SHIM = os.environ["SPIKEWEAVE_FAULT_SHIM"]
ALL = "--all" in sys.argv
# The kinds of calls: how many of them fail for each command, and with which error.
KINDS = {"write": (28, 2), "fsync": (5, 1), "rename": (13, 2), "open": (24, 2), "mkdir": (28, 1), "close": (5, 1), "malloc": (12, 2)}


class Faults(CliTest):
    """Each test checks one command: `check(what, outputs, old, new)`."""

    def setUp(self):
        super().setUp()
        self.outcomes = Counter()
        self.data = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "2s", "--seed", "1", "-o", self.data, "-q")
        self.work = self.folder / "work"
        self.work.mkdir()
        self.random = random.Random(self.id().rsplit(".", maxsplit=1)[-1])

    def tearDown(self):
        if ALL:
            print(self.id().rsplit(".", maxsplit=1)[-1], dict(self.outcomes), file=sys.stderr)

    def environment(self, **more):
        return {**os.environ, "LD_PRELOAD": SHIM, **more}

    def restore(self, before):
        shutil.rmtree(self.work)
        if before is None:
            self.work.mkdir()
        else:
            shutil.copytree(before, self.work)

    def check(self, new, old):
        """Runs `new` with failing calls, both without an existing result and over that of `old`."""
        self.ok(*old)
        before = self.folder / "before"
        shutil.copytree(self.work, before)
        for start, more in ((None, ()), (before, ("--overwrite",))):
            self.restore(start)
            old_state = state(self.work)
            counts_file = self.folder / "counts"
            self.ok(*new, *more, env=self.environment(SPIKEWEAVE_FAULT_COUNTS=str(counts_file)))
            new_state = state(self.work)
            self.assertNotEqual(old_state, new_state)
            counts = {line.split()[0]: int(line.split()[1]) for line in counts_file.read_text(encoding="ascii").splitlines()}
            for kind, (number, sample) in KINDS.items():
                for call in self.points(kind, counts[kind], sample):
                    for rest in ("", ":on"):
                        self.restore(start)
                        fault = f"{kind}:{call}:{number}{rest}"
                        with self.subTest(new[0], fault=fault, over=start is not None):
                            self.fails_well((*new, *more), fault, old_state, new_state)

    def points(self, kind, count, sample):
        calls = range(1, count + 1)
        if ALL:
            return calls[:: 50 if kind == "malloc" else 1]
        return sorted(self.random.sample(calls, min(sample, count)))

    def fails_well(self, command, fault, old_state, new_state):
        result = run(*command, env=self.environment(SPIKEWEAVE_FAULT=fault))
        kind = fault.split(":")[0]
        now = state(self.work)
        self.outcomes[kind, result.returncode] += 1
        if result.returncode == 0:
            self.assertEqual(now.keys(), new_state.keys())
            self.assertTrue(now == new_state, "exit 0 with another result")
            return
        # Libraries end the process if they cannot allocate; what remains has the name of an unfinished result
        killed = kind == "malloc" and result.returncode in (1, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, 255)
        if killed:
            now = {name: bytes_ for name, bytes_ in now.items() if not name.startswith(".")}
        elif kind == "malloc" and "HDF5 cannot do that" in result.stderr:
            self.assertEqual(result.returncode, 2, result.stderr)  # libhdf5 adds its own line at the end
        else:
            self.assertEqual(result.returncode, 2, result.stderr)
            told = result.stderr
            if kind == "malloc":  # libhdf5 also reports what it could not allocate
                told = re.sub(r"\A(HDF5-DIAG: [^\n]+\n(  [^\n]+\n)*)+", "", told)
                told = re.sub(r"HDF5: infinite loop closing library\n.*\Z", "", told, flags=re.DOTALL)  # as it ends
            self.assertRegex(told, r"\A(spikeweave: warning: [^\n]+\n)*spikeweave: error: [^\n]+\n\Z")
        # Two files, the second of which could not be flushed to disk; its content was written before the first.
        if "cannot be written, but its spikes were" in result.stderr and kind != "write":
            self.assertEqual(now, {name: bytes_ for name, bytes_ in new_state.items() if not name.endswith(".truth.tsv")})
            return
        # A folder and a model, the second of which could not be renamed; both were on the disk before.
        if re.search("the folder .* was written, but '.*m.npz'", result.stderr) and kind == "rename":
            self.assertEqual({name: now[name] for name in now if name != "m.npz"},
                             {name: new_state[name] for name in new_state if name != "m.npz"})
            self.assertEqual(now.get("m.npz"), old_state.get("m.npz"))
            return
        if kind == "malloc" and "is written, but what it replaces cannot be removed" in result.stderr:
            now = {name: bytes_ for name, bytes_ in now.items() if not name.startswith(".")}
            self.assertTrue(now == new_state, "the new result is not whole")
            return
        if killed and now == new_state:  # while the old result was removed
            return
        self.assertEqual(now.keys(), old_state.keys())
        self.assertTrue(now == old_state, "the old result is another")

    def test_convert(self):
        other = self.chain_file()
        for name in ("out.tsv", "out.csv.gz", "out.npz", "out.nwb"):
            with self.subTest(name):
                out = self.work / name
                shutil.rmtree(self.folder / "before", ignore_errors=True)
                self.restore(None)
                self.check(("convert", self.data, out), ("convert", other, out))

    def test_simulated_spikes(self):
        command = ("simulate", "patterns", "--units", "5", "--patterns", "3", "--length", "2s", "-o", self.work / "out.tsv",
                   "--threads", "1", "-q")
        self.check((*command, "--seed", "3"), (*command, "--seed", "1"))

    def test_simulated_features(self):
        command = ("simulate", "features", "--spikes", "200", "--units", "3", "-o", self.work / "out.npz", "--threads", "1", "-q")
        self.check((*command, "--seed", "3"), (*command, "--seed", "1"))

    def test_simulated_recording(self):
        command = ("simulate", "recording", "--units", "2", "--channels", "4", "--length", "1s", "-o", self.work / "out",
                   "--threads", "1", "-q")
        self.check((*command, "--seed", "3"), (*command, "--seed", "1"))

    def test_episodes(self):
        command = ("episodes", self.data, "--delays", "4-6ms", "-o", self.work / "out", "--threads", "1", "-q")
        self.check((*command, "--min-count", "9"), (*command, "--min-count", "12"))

    def test_spade(self):
        command = ("spade", self.data, "--bin", "2ms", "--window", "8", "--min-spikes", "3", "--nwb", "-o", self.work / "out",
                   "--threads", "1", "-q")
        self.check((*command, "--min-occ", "7"), (*command, "--min-occ", "9"))

    def test_sort_features(self):
        features = self.folder / "features.npz"
        self.ok("simulate", "features", "--spikes", "300", "--units", "3", "-o", features, "-q")
        command = ("sort", features, "--sample-rate", "20000", "-o", self.work / "out", "--threads", "1", "-q")
        self.check((*command, "--mask", "all"), command)

    def test_sort_features_with_their_model(self):
        features = self.folder / "features.npz"
        self.ok("simulate", "features", "--spikes", "300", "--units", "3", "-o", features, "-q")
        command = ("sort", features, "--save-model", self.work / "m.npz", "-o", self.work / "out", "--threads", "1", "-q")
        self.check((*command, "--mask", "all"), command)

    def test_sort_recording(self):
        recording = self.folder / "recording"
        self.ok("simulate", "recording", "--units", "2", "--channels", "4", "--length", "3s", "-o", recording, "-q")
        command = ("sort", recording, "-o", self.work / "out", "--threads", "1", "-q")
        self.check((*command, "--refractory", "2ms"), command)


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--all"])
