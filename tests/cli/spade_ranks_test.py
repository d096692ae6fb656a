"""spikeweave spade and episodes on the ranks of mpirun: the same files as without, output of one rank, and an end in any case.
"""

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

from rank_jobs import LAUNCH, RankJobs
from spade_files import SpadeFiles
from support import SPIKEWEAVE, content


class Ranks(RankJobs, SpadeFiles):
    def files(self, name):
        """Returns all files of a result but the page and the document, which have run.json; from this only what must not differ between runs."""
        contents = {path.name: path.read_bytes() for path in (self.folder / name).iterdir() if path.name not in ("report.html", "result.json")}
        record = json.loads(content(self.folder / name / "run.json"))
        del record["parameters"]["threads"]  # as requested
        contents["run.json"] = {key: value for key, value in record.items() if key != "threads"}
        return contents


class SameBytes(Ranks):
    def same(self, *arguments, numbers=(3,), verb="spade"):
        """Expects the same result from threads and from these numbers of ranks; returns the rows of each table."""
        alone = self.ok(verb, *arguments, "--threads", "1", "-o", self.folder / "alone")
        expected = self.files("alone")
        self.ok(verb, *arguments, "--threads", "2", "-o", self.folder / "threads")
        self.assertEqual(self.files("threads"), expected)
        for ranks in numbers:
            name = f"ranks{ranks}"
            command = [*LAUNCH, str(ranks), SPIKEWEAVE, verb, *map(str, arguments), "-o", str(self.folder / name)]
            result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True, timeout=120, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.files(name), expected, f"{ranks} ranks")
            # Only one rank writes, and the same text but for the times.
            self.assertEqual(self.told(result.stdout).replace(name, "alone"), self.told(alone.stdout))
            self.assertEqual(result.stderr, alone.stderr)
        return {name: text.count(b"\n") - 1 for name, text in expected.items() if name.endswith(".tsv")}

    @staticmethod
    def told(text):
        return re.sub(r"\d[\d.,]* (s|ms|min|[kMG]B)\b|\d+\.\d{3}$", "#", text, flags=re.MULTILINE)

    def test_streamed(self):
        for strategy in ("first-bin", "fp-growth"):
            with self.subTest(strategy):
                rows = self.same(self.planted_file(), "--min-occ", "3", "--strategy", strategy, "--occurrences",
                                 "--overwrite", numbers=(1, 2, 3))
                self.assertGreater(rows["patterns.tsv"], 50)

    def test_tested_by_surrogates(self):
        tests = ("--min-occ", "4", "--surrogates", "20", "--alpha", "0.1", "--seed", "3")
        for more in (("--spectrum", "#"),
                     ("--spectrum", "3d#", "--surrogate-method", "joint-isi-dithering"),
                     ("--spectrum", "#", "--surrogate-method", "bin-shuffling", "--strategy", "fp-growth"),
                     ("--spectrum", "3d#", "--surrogate-method", "trial-shifting", "--trial-length", "2s"),
                     ("--spectrum", "#", "--surrogate-method", "shuffle-isis", "--compat", "elephant")):
            with self.subTest(more):
                rows = self.same(self.planted_file(), *tests, *more, "--overwrite")
                self.assertGreater(rows["spectrum.tsv"], 0)

    def test_reduced_and_stable(self):
        rows = self.same(self.planted_file(), "--min-occ", "6", "--surrogates", "20", "--alpha", "0.1", "--reduce",
                         "0,0,2", "--stability", "200", "--stability-threshold", "0.2,0.2", "--occurrences")
        self.assertGreater(rows["patterns.tsv"], 0)

    def test_windows_that_are_given(self):
        rng = random.Random(2)
        windows = ("{}\n".format(" ".join(map(str, sorted({0, *(rng.randrange(40) for _ in range(9))})))) for _ in range(80))
        path = self.file("windows.txt.gz", gzip.compress("".join(windows).encode()))
        for strategy in ("first-bin", "fp-growth"):
            rows = self.same(path, "--transactions", "--window", "8", "--min-occ", "4", "--strategy", strategy,
                             "--occurrences", "--overwrite")
            self.assertGreater(rows["patterns.tsv"], 50)

    def test_epochs(self):
        epochs = self.file("epochs.csv", "".join(f"{2 * i},{2 * i + 1.5}\n" for i in range(10)))
        rows = self.same(self.planted_file(), "--epochs", epochs, "--min-occ", "3", "--surrogates", "20", "--alpha",
                         "0.1")
        self.assertGreater(rows["spectrum.tsv"], 5)

    def test_surrogates_of_episodes(self):
        for more in ((), ("--max-size", "3", "--occurrences", "--surrogate-method", "dither-spikes")):
            with self.subTest(more):
                rows = self.same(self.planted_file(), "--delays", "0-20ms", "--min-count", "20", "--surrogates", "25",
                                 "--seed", "3", *more, "--overwrite", numbers=(1, 2, 3), verb="episodes")
                self.assertGreaterEqual(rows["episodes.tsv"], 10)

    def test_episodes_without_surrogates(self):
        data = self.folder / "sym26.npz"
        self.ok("simulate", "sym26", "--length", "30s", "--seed", "3", "-o", data)
        other = self.folder / "other.npz"
        self.ok("simulate", "sym26", "--length", "20s", "--seed", "4", "-o", other)
        for more in (("--max-size", "3"),
                     ("--max-size", "2", "--confirm", other, "--surrogates", "20"),
                     ("--max-size", "2", "--strategy", "segments", "--test", "exact"),
                     ("--max-size", "3", "--hold-out", "0.4", "--hold-out-block", "2s")):
            with self.subTest(more):
                rows = self.same(data, "--delays", "2-6ms,6-12ms", "--min-count", "60", *more, "--overwrite", numbers=(1, 2, 3),
                                 verb="episodes")
                self.assertGreaterEqual(rows["episodes.tsv"], 15)

    def test_nothing_to_find(self):
        rows = self.same(self.file("s.tsv", "0.1\ta\n0.2\tb\n"), "--min-occ", "2")
        self.assertEqual(rows["patterns.tsv"], 0)


class Ends(Ranks):
    """Jobs that fail or are stopped: the ranks end soon with a message, and nothing is left behind."""

    def endless(self, *more):
        """Returns a search that takes hours."""
        data = self.folder / "s.npz"
        if not data.exists():
            self.ok("simulate", "poisson", "--units", "40", "--rate", "50", "--length", "60s", "-o", data)
        return ("spade", data, "--window", "50", "--max-spikes", "3", *more, "-o", self.folder / "out")

    def at_work(self, ranks):
        """Returns whether all ranks have started and a temporary file exists, or some time has passed."""
        began = time.monotonic()
        return lambda: len(self.ranks_alive()) == ranks and (
            any(name.startswith(".out.") for name in self.names()) or time.monotonic() > began + 5)

    def test_a_rank_that_is_killed_ends_the_job(self):
        def kill_last(_):
            os.kill(max(self.ranks_alive()), signal.SIGKILL)
        said, status = self.job(3, *self.endless("--min-occ", "3"), until=self.at_work(3), then=kill_last)
        self.assertTrue("signal 9" in said or "ORTE_ERROR_LOG" in said, said)
        self.assertNotEqual(status, 0)

    def test_stopped_by_the_launcher(self):
        """Ctrl-C is sent to mpirun, which ends its ranks."""
        for more in (("--min-occ", "2"), ("--min-occ", "6", "--min-spikes", "3", "--surrogates", "100000")):
            with self.subTest(more):
                _, status = self.job(2, *self.endless(*more), until=self.at_work(2),
                                     then=lambda job: job.send_signal(signal.SIGINT))
                self.assertNotEqual(status, 0)

    def test_memory_of_one_rank_bounds_all(self):
        said, status = self.job(2, "spade", self.planted_file(), "--min-occ", "2", "--max-memory", "50kB", "-o",
                                self.folder / "out")
        self.assertEqual(said.count("more than --max-memory 50.0 kB"), 1, said)
        self.assertIn(status, (2, None, -9, -11))

    def test_what_all_refuse_is_said_once(self):
        windows = self.file("windows.txt", "0 5\n3 x\n")
        said, status = self.job(3, "spade", windows, "--transactions", "--min-occ", "2", "-o", self.folder / "out")
        self.assertEqual(said.count("line 2"), 1, said)
        self.assertIn("rank 0: error: ", said)
        self.assertIn(status, (2, None, -9, -11))


if __name__ == "__main__":
    if not LAUNCH:
        print("skipped: built without MPI (SPIKEWEAVE_MPI)")
        sys.exit(77)
    unittest.main()
