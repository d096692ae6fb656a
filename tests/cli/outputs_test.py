"""Where results are written: new folders, places that somebody else takes meanwhile, and folders of another kind."""

import os
import resource
import stat
import subprocess
import time
import unittest

from support import SPIKEWEAVE, CliTest, run, state

DELAYS = ("--delays", "4-6ms", "--min-count", "40")


class Places(CliTest):
    def test_are_made_with_the_folders_above_them(self):
        data = self.chain_file()
        new = self.folder / "results" / "day 1"
        self.ok("convert", data, new / "converted.nwb")
        self.ok("episodes", data, *DELAYS, "-o", new / "chains")
        self.ok("report", new / "chains", "-o", new / "pages" / "chains.html")
        self.ok("table", new / "chains", "-o", new / "tables" / "all.tsv")
        self.ok("simulate", "sym26", "--length", "2s", "-o", new / "simulated" / "s.tsv")
        armed = self.file("armed.txt", "a 4-6ms b\n")
        self.ok("live", data, "--speed", "max", "--episodes", armed, "--window", "1s", "--delays", "4-6ms", "--min-count", "5",
                "--to", new / "live" / "o.jsonl", "--window-table", new / "tables" / "windows.tsv",
                "--record", new / "sessions" / "s.session")
        for name in ("converted.nwb", "chains/episodes.tsv", "pages/chains.html", "tables/all.tsv", "simulated/s.truth.tsv",
                     "live/o.jsonl", "tables/windows.tsv", "sessions/s.session"):
            self.assertTrue((new / name).is_file(), name)

    def test_are_not_made_for_what_is_refused(self):
        self.refused("episodes", self.chain_file(), "--delays", "6-4ms", "-o", self.folder / "new" / "chains")
        self.refused("convert", self.file("bad.tsv", "x\ty\nz\n"), self.folder / "new" / "out.tsv")

    def test_below_a_file_are_refused(self):
        data = self.chain_file()
        self.refused("convert", data, data / "new" / "out.tsv", says="chain.tsv is no folder")

    def test_that_are_folders_are_no_files(self):
        data = self.chain_file()
        taken = self.folder / "taken"
        taken.mkdir()
        for command in (("convert", data, taken), ("simulate", "sym26", "-o", taken)):
            self.refused(*command, "--overwrite", says=("is a folder, expected the name of a file"))

    def test_that_are_devices_are_not_replaced(self):
        fifo = self.folder / "fifo.tsv"
        os.mkfifo(fifo)
        self.refused("convert", self.chain_file(), fifo, "--overwrite", says="is a device or a pipe")
        self.assertTrue(stat.S_ISFIFO(fifo.stat().st_mode))


class Meanwhile(CliTest):
    """A file that was not there when a command began is somebody else's."""

    def check(self, command, out, feed):
        with subprocess.Popen([SPIKEWEAVE, *map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            time.sleep(0.5)  # it waits for its input
            out.write_text("mine")
            _, errors = process.communicate(feed, timeout=60)
        self.assertEqual(process.returncode, 2, errors)
        self.assertIn(out.name, errors)
        self.assertEqual(out.read_text(), "mine")
        self.assertFalse([name for name in self.names() if name.endswith(".part")])

    def test_files_of_every_format_stay(self):
        spikes = self.chain_file().read_text()
        for name in ("o.tsv", "o.csv.gz", "o.npz", "o.nwb"):
            with self.subTest(name):
                self.check(("convert", "-", self.folder / name), self.folder / name, spikes)

    def test_only_one_of_two_processes_writes(self):
        data = self.folder / "data.tsv"
        self.ok("simulate", "sym26", "--length", "20s", "-o", data)
        for turn in range(5):
            out = self.folder / f"{turn}.tsv"
            both = [subprocess.Popen([SPIKEWEAVE, "convert", data, out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                    for _ in range(2)]
            errors = [one.communicate(timeout=60)[1] for one in both]
            self.assertEqual(sorted(one.returncode for one in both), [0, 2], errors)

    def test_the_files_of_a_session_stay(self):
        taken = self.file("o.jsonl", "mine")
        armed = self.file("armed.txt", "a 4-6ms b\n")
        self.refused("live", self.chain_file(), "--speed", "max", "--no-windows", "--episodes", armed, "--to", taken, says="exists")
        self.assertEqual(taken.read_text(), "mine")


class FoldersOfAnotherKind(CliTest):
    """They are refused before anything is computed."""

    def setUp(self):
        super().setUp()
        self.data = self.chain_file()
        self.taken = self.folder / "taken"
        self.ok("episodes", self.data, *DELAYS, "-o", self.taken)
        self.before = state(self.taken)

    def refused_at_once(self, *command):
        # The input is damaged, so that this would be reported if it had been read.
        self.refused(*command, "-o", self.taken, "--overwrite", says=("taken", "is not a result of this kind"))
        self.assertEqual(state(self.taken), self.before)

    def test_are_kept(self):
        damaged = self.file("damaged.tsv", "x\ty\nz\n")
        self.refused_at_once("spade", damaged, "--surrogates", "20")
        self.refused_at_once("spade", damaged, "--surrogates", "20", "--part", "1/2")
        self.refused_at_once("episodes", damaged, "--surrogates", "20", "--part", "1/2")
        self.refused_at_once("assemblies", damaged)
        self.refused_at_once("replay", self.taken, damaged)
        self.refused_at_once("sort", damaged)
        self.refused_at_once("compare", damaged, damaged)
        self.refused_at_once("compare", damaged, damaged, "--patterns", damaged)
        self.refused_at_once("simulate", "recording", "--length", "1h")

    def test_are_kept_by_merge(self):
        parts = []
        for k in (1, 2):
            parts.append(self.folder / f"part{k}")
            self.ok("spade", self.data, "--bin", "5ms", "--surrogates", "4", "--part", f"{k}/2", "-o", parts[-1])
        self.data.unlink()
        self.refused_at_once("merge", *parts)


class ModelAndFolder(CliTest):
    """They appear together, or neither does."""

    def setUp(self):
        super().setUp()
        self.features = self.folder / "features.npz"
        self.ok("simulate", "features", "--spikes", "300", "--units", "3", "-o", self.features)
        self.model = self.folder / "m.npz"
        self.out = self.folder / "out"
        self.command = ("sort", self.features, "--save-model", self.model, "-o", self.out)

    def test_both_are_new(self):
        self.ok(*self.command)
        alone = self.folder / "alone.npz"
        self.ok("sort", self.features, "--save-model", alone)
        self.assertEqual(self.model.read_bytes(), alone.read_bytes())
        self.assertTrue((self.out / "sorting.npz").exists())

    def test_both_stay_if_the_folder_cannot_be_written(self):
        self.ok(*self.command)
        before = (self.model.read_bytes(), state(self.out))
        most = self.model.stat().st_size + 1000  # the page is larger
        result = run(*self.command, "--mask", "all", "--overwrite",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("File too large", result.stderr)
        self.assertEqual((self.model.read_bytes(), state(self.out)), before)
        self.assertEqual(self.names(), ["features.npz", "m.npz", "out"])

    def test_both_stay_if_the_model_cannot_be_written(self):
        self.ok(*self.command)
        self.model.unlink()
        self.model.mkdir()
        before = state(self.out)
        result = run(*self.command, "--mask", "all", "--overwrite")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(state(self.out), before)


if __name__ == "__main__":
    unittest.main()
