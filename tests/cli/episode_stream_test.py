"""spikeweave episodes --stream: recordings that are larger than memory."""

import csv
import gzip
import json
import struct
import unittest

from support import CliTest, needs_plain_memory, run_for_peak


def npy(rows, fortran=False):
    """Returns an array of doubles of shape (n, 2) as a file."""
    head = f"{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': ({len(rows)}, 2), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    items = [row[i] for i in (0, 1) for row in rows] if fortran else [item for row in rows for item in row]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(items)}d", *items)


class EpisodeStream(CliTest):
    search = ("--delays", "4-6ms,6-9ms", "--min-count", "20")

    def setUp(self):
        super().setUp()
        self.whole = self.folder / "whole.tsv"
        self.ok("simulate", "sym26", "--length", "8s", "--seed", "3", "-o", self.whole)
        lines = self.whole.read_text(encoding="utf-8").splitlines()
        self.lines = [line for line in lines if line[0].isdigit()]
        names = sorted({line.split("\t")[1] for line in self.lines})
        self.numbers = {name: float(i) for i, name in enumerate(names)}

    def rows(self, name):
        with (self.folder / name / "episodes.tsv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t"))

    def found(self, name, *path, options=()):
        """Searches and returns the content of episodes.tsv."""
        self.ok("episodes", *path, "--stream", *self.search, *options, "-o", self.folder / name)
        return (self.folder / name / "episodes.tsv").read_bytes()

    def parts(self, name, pieces, suffix=".tsv", write=lambda text: text.encode()):
        folder = self.folder / name
        folder.mkdir()
        step = -(-len(self.lines) // pieces)
        for i in range(pieces):
            text = "".join(line + "\n" for line in self.lines[i * step:(i + 1) * step])
            (folder / f"part{i}{suffix}").write_bytes(write(text))
        return folder

    def test_counts_are_those_in_memory(self):
        self.found("stream", self.whole)
        self.ok("episodes", self.whole, *self.search, "-o", self.folder / "memory")

        columns = ("size", "units", "delays", "count", "maximal")
        stream = [tuple(row[one] for one in columns) for row in self.rows("stream")]
        self.assertGreater(max(int(row[0]) for row in stream), 3)
        self.assertEqual(sorted(stream), sorted(tuple(row[one] for one in columns) for row in self.rows("memory")))
        self.assertEqual(stream, sorted(stream, key=lambda row: (-int(row[0]), -int(row[3]))))
        self.assertEqual(sorted(path.name for path in (self.folder / "stream").iterdir()), ["episodes.tsv", "run.json"])
        searches = [json.loads((self.folder / name / "run.json").read_text())["search"] for name in ("stream", "memory")]
        self.assertEqual(*([(level["candidates"], level["frequent"]) for level in one["levels"]] for one in searches))

    def test_the_default_threshold_is_that_of_memory(self):
        for name, options in (("stream", ["--stream"]), ("memory", [])):
            self.ok("episodes", self.whole, *options, "-o", self.folder / name)

        searches = [json.loads((self.folder / name / "run.json").read_text())["search"] for name in ("stream", "memory")]
        self.assertEqual(searches[0]["threshold"], searches[1]["threshold"])

    def test_the_result_is_that_of_one_file_in_any_number_of_files(self):
        one = self.found("one", self.whole)
        # part10 comes after part9.
        self.assertEqual(self.found("twelve", self.parts("files", 12)), one)
        packed = self.parts("packed", 3, ".tsv.gz", lambda text: gzip.compress(text.encode()))
        self.assertEqual(self.found("three", packed), one)

    def test_the_result_does_not_depend_on_threads_and_memory(self):
        one = self.found("one", self.whole)
        self.assertEqual(self.found("threads", self.whole, options=("--threads", "2")), one)
        self.assertEqual(self.found("little", self.whole, options=("--max-memory", "300MB")), one)

    def test_arrays_are_read_in_either_order(self):
        rows = [(float(time), self.numbers[unit]) for time, unit in (line.split("\t")[:2] for line in self.lines)]
        text = self.file("numbered.tsv", "".join(f"{time:.6f}\t{unit:.0f}\n" for time, unit in rows))

        expected = self.found("text", text)

        self.assertGreater(len(expected.splitlines()), 30)
        self.assertEqual(self.found("c", self.file("c.npy", npy(rows))), expected)
        self.assertEqual(self.found("f", self.file("f.npy", npy(rows, fortran=True))), expected)

    def test_prints_levels_and_the_longest(self):
        out = self.ok("episodes", self.whole, "--stream", *self.search).stdout

        self.assertIn("read block by block; at least 20 occurrences, latest-start", out)
        self.assertRegex(out, r"size +candidates +frequent")
        self.assertIn("longest episodes", out)
        self.assertIn("spikeweave count tests them in spikes that were not searched", out)

    def test_what_is_found_can_be_tested_elsewhere(self):
        self.found("stream", self.whole)
        other = self.folder / "other.tsv"
        self.ok("simulate", "sym26", "--length", "8s", "--seed", "4", "-o", other)

        self.ok("count", other, self.folder / "stream", "-o", self.folder / "tested")

        maximal = {(row["units"], row["delays"]) for row in self.rows("stream") if row["maximal"] == "yes" and row["size"] != "1"}
        self.assertLessEqual({(row["units"], row["delays"]) for row in self.rows("tested") if row["size"] != "1"}, maximal)
        self.assertGreater(sum(row["significant"] == "yes" for row in self.rows("tested")), 0)

    def test_refuses_spikes_out_of_order_with_their_place(self):
        path = self.file("late.tsv", "# comment\n0.1\ta\n0.3\tb\n0.2\ta\n")
        self.refused("episodes", path, "--stream", *self.search,
                     says=("late.tsv', line 4: found a spike at 200 ms after one at 300 ms", "time order"))

        path = self.file("late.npy", npy([(0.1, 0.0), (0.3, 1.0), (0.2, 0.0)]))
        self.refused("episodes", path, "--stream", *self.search, says="late.npy', row 2: found a spike at 200 ms after")

        folder = self.folder / "swapped"
        folder.mkdir()
        (folder / "a.tsv").write_text("0.5\tx\n0.6\ty\n")
        (folder / "b.tsv").write_text("0.4\tx\n")
        self.refused("episodes", folder, "--stream", *self.search, says="b.tsv', line 1: found a spike at 400 ms after")

    def test_refuses_formats_and_places_that_cannot_be_read_block_by_block(self):
        packed = self.folder / "spikes.npz"
        self.ok("convert", self.whole, packed)
        self.refused("episodes", packed, "--stream", *self.search, says=("spikes.npz", "format npz", "expected text or npy"))

        folder = self.folder / "folder"
        folder.mkdir()
        self.refused("episodes", folder, "--stream", *self.search, says="is a folder without files of spikes")
        (folder / "inner").mkdir()
        self.refused("episodes", folder, "--stream", *self.search, says=("inner", "is not a file"))
        self.refused("episodes", "-", "--stream", *self.search, says="standard input must be a file")
        self.refused("episodes", self.file("empty.tsv", "# nothing\n"), "--stream", *self.search, says="holds no spikes")
        bad = self.file("bad.tsv", "0.1\ta\n0.2\tb\noops\tb\n")
        self.refused("episodes", bad, "--stream", *self.search, says=("bad.tsv', line 3", "oops"))

    def test_refuses_options_that_need_the_whole_recording(self):
        for option in (["--surrogates", "10"], ["--hold-out", "0.5"], ["--json"], ["--alpha", "0.1"], ["--correction", "holm"],
                       ["--t-start", "1s"], ["--t-stop", "1s"], ["--epochs", "x"], ["--around", "stimulus:0ms..1ms"], ["--trial-length", "1s"],
                       ["--only-units", "A"], ["--labels", "all"], ["--max-rate", "9"], ["--min-snr", "2"], ["--drop-synchronous", "3"],
                       ["--groups", "x"], ["--split", "time"], ["--compaction", "atomic"], ["--confirm", "x"], ["--jitter-window", "9ms"], ["--test", "exact"],
                       ["--drop-duplicates-of-units"]):
            self.refused("episodes", self.whole, "--stream", *option, says=("--stream", option[0]))
        self.refused("episodes", self.whole, "--stream", "--strategy", "segments", says=("--strategy", "latest-start"))

    def long_file(self, spikes):
        return self.file("long.npy", npy([(i * 1e-3, float(i * i % 7)) for i in range(spikes)]))

    def peak(self, spikes):
        path = self.long_file(spikes)
        result, used = run_for_peak("episodes", path, "--stream", "--delays", "1-3ms", "--min-count", "10000",
                                    "--max-size", "2", "--max-memory", "400MB", "--threads", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        return used

    @needs_plain_memory
    def test_memory_does_not_grow_with_the_recording(self):
        self.assertLess(self.peak(1_200_000), self.peak(300_000) + 10_000_000)

    @needs_plain_memory
    def test_is_what_a_search_names_that_does_not_fit(self):
        search = ("episodes", self.long_file(1_500_000), "--delays", "1-3ms", "--min-count", "10000", "--max-size", "2",
                  "--max-memory", "50MB", "--threads", "1")

        self.refused(*search, says=("--max-memory", "--stream searches a recording that does not fit into memory"))
        self.ok(*search, "--stream")


if __name__ == "__main__":
    unittest.main()
