"""spikeweave sort on the ranks of mpirun: the same files as without, and an end in any case."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from rank_jobs import LAUNCH, RankJobs
from support import SPIKEWEAVE, run, state


class SortRanks(RankJobs):
    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.recording = cls.made("rec", "10s", "12")
        cls.long_recording = cls.made("long", "60s", "16")  # so that a job is not over before it is stopped

    @classmethod
    def made(cls, name, length, channels):
        made = run("simulate", "recording", "--length", length, "--channels", channels, "--units", "6", "--low-rate", "10",
                   "--high-rate", "20", "--seed", "1", "-o", cls.place / name)
        assert made.returncode == 0, made.stderr
        return cls.place / name

    def launch(self, ranks, *arguments):
        return subprocess.run([*LAUNCH, str(ranks), SPIKEWEAVE, "sort", *map(str, arguments)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)

    def same(self, *options, numbers):
        """Expects the same folder from one process and from these numbers of ranks; returns its files."""
        arguments = (self.recording, "--threads", "1", *options, "--overwrite", "-o")
        alone = self.ok("sort", *arguments, self.folder / "alone")
        expected = state(self.folder / "alone")
        for ranks in numbers:
            result = self.launch(ranks, *arguments, self.folder / "ranks")
            self.assertEqual((result.returncode, result.stderr), (0, alone.stderr))
            self.assertEqual(state(self.folder / "ranks"), expected, f"{ranks} ranks")
            self.assertEqual(result.stdout.count("\n"), alone.stdout.count("\n"))
        return expected

    def test_the_files_are_those_of_one_process(self):
        files = self.same(numbers=(1, 2, 3, 4))
        self.assertGreater(files["units.tsv"].count(b"\n"), 4)
        self.assertIn("phy/spike_times.npy", files)

    def test_the_files_are_the_same_without_kept_traces_and_with_a_model(self):
        files = self.same("--kept-traces", "none", "--whiten", "--save-model", self.folder / "model.npz", numbers=(2,))
        self.assertGreater(files["units.tsv"].count(b"\n"), 4)

    def test_what_cannot_be_shared_is_refused(self):
        features = self.file("small.fet.1", "3\n" + "".join(f"{n % 7} {n % 5} {n % 3}\n" for n in range(50)))
        for arguments in ((self.recording, "--stages", "cluster"), (self.recording, "--starting-clusters", "20"),
                          (self.recording, "--incremental"), (features,)):
            with self.subTest(arguments[1:]):
                said, status = self.job(2, "sort", *arguments, "-o", self.folder / "out")
                self.assertEqual(said.count("processes can only share the sorting of a recording"), 1, said)
                self.assertIn(status, (2, None, -9, -11))

    def at_work(self, ranks):
        """Returns whether all ranks have worked for a moment."""
        since = []

        def check():
            if len(self.ranks_alive()) == ranks:
                since.append(time.monotonic())
            return len(since) > 0 and time.monotonic() > since[0] + 0.3
        return check

    def test_a_rank_that_is_killed_ends_the_job(self):
        def kill_last(_):
            os.kill(max(self.ranks_alive()), signal.SIGKILL)
        said, status = self.job(3, "sort", self.long_recording, "-o", self.folder / "out", until=self.at_work(3),
                                then=kill_last)
        self.assertTrue("signal 9" in said or "ORTE_ERROR_LOG" in said, said)
        self.assertNotEqual(status, 0)

    def test_stopped_by_the_launcher(self):
        _, status = self.job(2, "sort", self.long_recording, "-o", self.folder / "out", until=self.at_work(2),
                             then=lambda job: job.send_signal(signal.SIGINT))
        self.assertNotEqual(status, 0)

    def test_what_all_refuse_is_said_once(self):
        said, status = self.job(3, "sort", self.folder / "none.bin", "--channels", "4", "--sample-rate", "30000", "-o",
                                self.folder / "out")
        self.assertEqual(said.count("error: "), 1, said)
        self.assertIn("rank 0: error: ", said)
        self.assertIn(status, (2, None, -9, -11))

    def test_a_rank_that_cannot_read_the_recording_ends_the_job(self):
        """The second rank is started with another path, as on a computer that does not have the file."""
        missing = self.folder / "none" / "rec.bin"
        to = ("-o", self.folder / "out")
        said, status = self.job(1, "sort", self.recording, *to, ":", "-n", "1", SPIKEWEAVE, "sort", missing,
                                "--channels", "4", "--sample-rate", "30000", *to)
        self.assertEqual(said.count("error: "), 1, said)
        self.assertIn("rank 1: error: ", said)
        self.assertNotEqual(status, 0)


if __name__ == "__main__":
    if not LAUNCH:
        print("skipped: built without MPI (SPIKEWEAVE_MPI)")
        sys.exit(77)
    unittest.main()
