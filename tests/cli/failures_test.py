"""Invalid input and options and unwritable output give exit status 2, one line, and leave nothing behind."""

import gzip
import resource
import os
import unittest

from support import CliTest, needs_plain_memory, run, run_for_peak, state


class NonsenseOptions(CliTest):
    def test_each_is_named(self):
        path = self.chain_file()
        for arguments, words in (
                (("--delays", "5-5ms"), ("--delays", "5 ms to 5 ms")),
                (("--delays", "5-3ms"), ("--delays", "5 ms to 3 ms")),
                (("--delays", "0-5"), ("--delays",)),
                (("--delays", "0-5ms,"), ("--delays",)),
                (("--delays", "0-5ms,0-5ms"), ("twice",)),
                (("--delays", "-5-5ms"), ("--delays",)),
                (("--delay-grid", "0ms:20ms"), ("LOW:HIGH:STEP",)),
                (("--delay-grid", "0ms:20ms:3ms"), ("--delay-grid", "3 ms")),
                (("--delay-grid", "0ms:20ms:0ms"), ("--delay-grid",)),
                (("--delay-grid", "0ms:9h:1us"), ("intervals",)),
                (("--delays", "0-5ms", "--delay-grid", "0ms:20ms:5ms"), ("--delay-grid",)),
                (("--min-count", "-5"), ("--min-count", "-5")),
                (("--min-count", "0"), ("--min-count",)),
                (("--min-count", "2.5"), ("--min-count",)),
                (("--min-count", "5", "--min-count", "6"), ("--min-count: it is given 2 times, expected once",)),
                (("--min-fraction", "1.1"), ("--min-fraction",)),
                (("--min-fraction", "nan"), ("--min-fraction",)),
                (("--min-rate", "-1"), ("--min-rate",)),
                (("--min-rate", "1", "--min-count", "5"), ("--min-count",)),
                (("--max-size", "0"), ("--max-size",)),
                (("--only-units", "a,x"), ("x", "a, b, c, d")),
                (("--only-units", "a,a"), ("twice",)),
                (("--strategy", "magic"), ("magic", "latest-start")),
                (("--pairs", "magic"), ("magic", "look-back")),
                (("--ties", "magic"), ("magic", "order")),
                (("--threads", "-1"), ("--threads",)),
                (("--max-memory", "2"), ("--max-memory", "2GB")),
                (("--max-memory", "-2GB"), ("--max-memory",)),
                (("--min-rate", "1e300"), ("beyond any count",)),
                (("--alpha", "0"), ("--alpha",)),
                (("--correction", "magic"), ("--correction", "magic")),
                (("--correction", "fdr_tsbky"), ("--correction", "one alpha")),
                (("--test", "magic"), ("--test", "magic", "jitter, exact, chebyshev")),
                (("--surrogates", "-1"), ("--surrogates",)),
                (("--surrogates", "9", "--surrogate-method", "magic"), ("magic",)),
                (("--surrogates", "9", "--surrogate-method", "trial-shifting"), ("--epochs", "--trial-length")),
                (("--surrogates", "9", "--surrogate-method", "bin-shuffling", "--trial-length", "1s"), ("bin-shuffling",)),
                (("--surrogates", "9", "--dither", "0ms"), ("--dither",)),
                (("--t-start", "2s", "--t-stop", "1s"), ("--t-start", "--t-stop")),
                (("--t-start", "99h"), ("nothing was recorded", "--t-start")),
                (("--trial-length", "0ms"), ("--trial-length",)),
                (("--trial-separation", "1s"), ("--trial-length",)),
                (("--around", "stimulus"), ("--around", "EVENTS:FROM..TO")),
                (("--around", "stimulus:5ms..1ms"), ("--around", "ends before it begins")),
                (("--around", "stimulus:0ms..1ms"), ("--around", "no stimulus markers")),
                (("--around", "stimulus:0ms..1ms", "--trial-length", "1s"), ("--around", "--trial-length")),
                (("--epochs", "absent.tsv"), ("absent.tsv",)),
                (("--hold-out", "1"), ("--hold-out",)),
                (("--hold-out", "0.5"), ("--hold-out", "too few", "--hold-out-block")),
                (("--hold-out-block", "1s"), ("--hold-out",)),
                (("--hold-out", "0.5", "--part", "1/2", "--surrogates", "9", "-o", "part"), ("--hold-out",)),
                (("--seed", "1"), ("--surrogates",)),
                (("--overwrite",), ("--output",)),
                (("--progress", "magic"), ("--progress",)),
                (("--format", "magic"), ("--format", "nwb")),
                (("--time-unit", "fortnights"), ("fortnights",)),
                (("--no-such-option",), ("--no-such-option",)),
        ):
            with self.subTest(arguments):
                self.refused("episodes", path, *arguments, says=words)

    def test_each_of_spade_is_named(self):
        path = self.chain_file()
        epochs = self.file("epochs.tsv", "0\t1\n2\t3\n")
        backwards = self.file("backwards.tsv", "2\t3\n0\t1\n")
        for arguments, words in (
                (("--bin", "0ms"), ("--bin",)),
                (("--bin", "5"), ("--bin", "5")),
                (("--window", "0"), ("--window", "'0'")),
                (("--window", "4000000000"), ("4000000000",)),
                (("--min-occ", "0"), ("--min-occ",)),
                (("--min-occ", "often"), ("--min-occ", "often", "auto")),
                (("--min-occ", "3:5,2:9"), ("--min-occ", "ascend")),
                (("--min-occ", "3:5,4"), ("--min-occ", "SPIKES:N")),
                (("--min-spikes", "3", "--max-spikes", "2"), ("--max-spikes 2", "--min-spikes 3")),
                (("--min-occ", "5", "--max-occ", "4"), ("max_occ 4", "5")),
                (("--min-neu", "3", "--max-spikes", "2", "--min-occ", "5"), ("2", "3 units")),
                (("--rules", "5"), ("--rules", "OCC:SPIKES")),
                (("--rules", "5:2:2:2:2"), ("--rules", "OCC:SPIKES")),
                (("--rules", "5:2,5:0"), ("--rules", "'0'")),
                (("--rules", "5:2", "--min-occ", "5"), ("--rules", "--min-occ")),
                (("--strategy", "magic"), ("magic", "first-bin")),
                (("--t-start", "2s", "--t-stop", "1s"), ("--t-start 2 s", "--t-stop 1 s")),
                (("--t-start", "1h", "--min-occ", "5"), ("--t-start", "recording")),
                (("--epochs", epochs, "--t-start", "1s"), ("--epochs",)),
                (("--epochs", self.folder / "none.tsv", "--min-occ", "5"), ("none.tsv",)),
                (("--epochs", backwards, "--min-occ", "5"), ("backwards.tsv", "line 2")),
                (("--separation", "1s"), ("--epochs",)),
                (("--transactions",), ("--min-occ",)),
                (("--transactions", "--min-occ", "5"), ("line 1",)),
                (("--transactions", "--min-occ", "5", "--surrogates", "9"), ("--transactions",)),
                (("--only-units", "a,x"), ("x", "a, b, c, d")),
                (("--surrogates", "-1"), ("--surrogates",)),
                (("--surrogates", "9", "--surrogate-method", "magic"), ("magic", "trial-shifting")),
                (("--surrogates", "9", "--surrogate-method", "trial-shifting"), ("--epochs", "--trial-length")),
                (("--surrogates", "9", "--dither", "0ms"), ("--dither",)),
                (("--surrogates", "9", "--edges", "magic"), ("--edges", "clamp")),
                (("--seed", "1"), ("--surrogates",)),
                (("--spectrum", "4d#"), ("--spectrum", "3d#")),
                (("--alpha", "2"), ("--alpha",)),
                (("--correction", "magic"), ("--correction", "magic")),
                (("--reduce", "1,2"), ("--reduce", "H,K,L")),
                (("--reduce", "1,2,-3"), ("--reduce", "-3")),
                (("--stability", "0.1"), ("--stability",)),
                (("--stability", "0.1,2"), ("--stability", "2")),
                (("--stability-threshold", "0.1,0.1"), ("--stability",)),
                (("--stability", "9", "--stability-threshold", "0.1,7"), ("--stability-threshold", "7")),
                (("--compat", "magic"), ("--compat", "elephant-ms")),
                (("--threads", "-1"), ("--threads",)),
                (("--max-memory", "2"), ("--max-memory", "2GB")),
                (("--overwrite",), ("--output",)),
                (("--nwb",), ("--output",)),
                (("--occurrences",), ("--output",)),
                (("--no-such-option",), ("--no-such-option",)),
        ):
            with self.subTest(arguments):
                self.refused("spade", path, *arguments, says=words)

    def test_a_command_is_needed_and_must_exist(self):
        self.refused("fly")
        self.refused("episodes", says="FILE")
        self.refused("convert", self.chain_file(), says="OUT")


class BadFiles(CliTest):
    def test_a_pipe_is_refused_before_anything_is_lost_from_it(self):
        reading, writing = os.pipe()
        os.write(writing, b"0.1\ta\n0.2\tb\n")
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.refused("info", "/dev/stdin", says="pipe", stdin=pipe)

    def test_each_command_refuses_each(self):
        for name, text in (("empty.tsv", ""), ("header.tsv", "time\tunit\n"), ("words.tsv", "time\tunit\nsoon\ta\n"),
                           ("nan.tsv", "time\tunit\nnan\ta\n"), ("columns.tsv", "0.1\n0.2\n"),
                           ("short.npz", b"PK\x03\x04"), ("short.nwb", b"\x89HDF\r\n\x1a\n"), ("short.gz", b"\x1f\x8b\x08")):
            path = self.file(name, text)
            for command in (("info",), ("episodes",), ("spade",), ("convert", self.folder / "out.tsv")):
                with self.subTest(name=name, command=command[0]):
                    self.refused(command[0], path, *command[1:], says=name)

    @needs_plain_memory
    def test_what_unpacks_to_far_more_takes_no_more_memory(self):
        for byte, says in ((b"7", "line 1: is longer than"), (b"\n", "holds no spikes")):
            with self.subTest(byte):
                path = self.folder / "large.tsv.gz"
                with gzip.open(path, "wb", 1) as file:
                    for _ in range(64):
                        file.write(byte * (1 << 20))
                result, peak = run_for_peak("info", path)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(says, result.stderr)
                self.assertLess(peak, 64e6)

    def test_a_file_that_is_not_there(self):
        self.refused("info", self.folder / "none.tsv", says="none.tsv")
        self.refused("info", "", says="")


class Outputs(CliTest):
    def test_places_that_cannot_be_written_are_refused_before_the_work(self):
        path = self.chain_file()
        self.refused("episodes", path, "-o", path / "out", says="no folder")
        self.refused("episodes", path, "-o", self.folder, says="exists")
        self.refused("episodes", path, "-o", "", says="empty")
        self.refused("convert", path, "/proc/out.tsv", says="/proc/out.tsv")
        self.refused("episodes", path, "-o", "/proc/out", says="/proc")
        self.refused("spade", path, "-o", path / "out", says="no folder")
        self.refused("spade", path, "-o", self.folder, says="exists")

    def test_a_full_disk_leaves_nothing(self):
        data = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "5s", "-o", data)
        kept = self.names()

        def small_disk():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

        for arguments in (("simulate", "sym26", "--length", "5s", "-o", self.folder / "t.tsv"),
                          ("simulate", "recording", "--length", "1s", "-o", self.folder / "rec"),
                          ("convert", data, self.folder / "t.tsv.gz"), ("convert", data, self.folder / "t.npz"),
                          ("convert", data, self.folder / "t.nwb"),
                          ("episodes", data, "--delays", "4-6ms", "--min-count", "5", "-o", self.folder / "out"),
                          ("spade", data, "--bin", "1ms", "--min-occ", "5", "-o", self.folder / "out"),
                          ("spade", data, "--bin", "1ms", "--min-occ", "5", "--nwb", "-o", self.folder / "out")):
            with self.subTest(arguments):
                result = self.refused(*arguments, preexec_fn=small_disk)
                self.assertEqual(self.names(), kept)
                self.assertNotIn("internal", result.stderr)

    def test_a_full_disk_keeps_spikes_and_their_truth(self):
        data = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "5s", "-o", data)
        before = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        enough_for_the_truth = max(2048, len(before["s.truth.tsv"]))

        def small_disk():
            resource.setrlimit(resource.RLIMIT_FSIZE, (enough_for_the_truth, enough_for_the_truth))

        self.refused("simulate", "sym26", "--length", "5s", "--seed", "2", "-o", data, "--overwrite",
                     preexec_fn=small_disk)
        self.assertEqual({path.name: path.read_bytes() for path in self.folder.iterdir()}, before)

    def test_standard_output_that_takes_nothing(self):
        path = self.chain_file()
        for arguments in (("info", path), ("info", "--json", path), ("episodes", path, "--json"), ("spade", path, "--json"), ("--help",),
                          ("--version",), ("episodes", "--list-strategies")):
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                self.refused(*arguments, stdout=full, says=("standard output", "No space left"))

    def test_a_result_is_whole_though_standard_output_takes_nothing(self):
        path = self.chain_file()
        out = self.folder / "out"
        self.ok("episodes", path, "--delays", "4-6ms", "-o", out)
        before = state(out)

        with open("/dev/full", "w", encoding="utf-8") as full:
            result = run("episodes", path, "--delays", "4-6ms", "-o", out, "--overwrite", stdout=full)

        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("standard output", result.stderr)
        self.assertEqual(state(out), before)

    def test_a_link_is_replaced_and_what_it_leads_to_stays(self):
        path = self.chain_file()
        self.file("mine.tsv", "0.5\ta\n")
        (self.folder / "folder").mkdir()
        for command, name, target in ((("convert", path), "link.tsv", "mine.tsv"),
                                      (("episodes", path, "-o"), "link", "folder")):
            with self.subTest(command[0]):
                link = self.folder / name
                link.symlink_to(target)
                self.ok(*command, link, "--overwrite")
                self.assertFalse(link.is_symlink())
        self.assertEqual((self.folder / "mine.tsv").read_text(encoding="utf-8"), "0.5\ta\n")
        self.assertEqual(list((self.folder / "folder").iterdir()), [])

    def test_a_name_that_leaves_no_room_for_one_aside_is_refused(self):
        path = self.chain_file()
        name = self.folder / ("n" * 245)
        self.refused("convert", path, f"{name}.tsv", says="File name too long")
        self.refused("episodes", path, "-o", name, says="File name too long")

    def test_a_closed_standard_output_is_not_mistaken_for_a_file(self):
        result = run("-c", f'"$0" convert {self.chain_file()} {self.folder}/out.tsv >&-', executable="/bin/sh")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("standard output", result.stderr)
        self.ok("info", self.folder / "out.tsv")


if __name__ == "__main__":
    unittest.main()
