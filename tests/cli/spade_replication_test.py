"""spikeweave spade: patterns in spikes that were held out, or of another recording."""

import csv
import json
import unittest

from spade_files import SpadeFiles


class Replication(SpadeFiles):
    asked = ("--window", "10", "--min-occ", "8", "--min-spikes", "3", "--surrogates", "59", "--seed", "1", "--alpha", "0.05", "--reduce", "0,0,0")

    def planted(self, seed, occurrences=50):
        path = self.folder / f"planted{seed}_{occurrences}.tsv"
        self.ok("simulate", "patterns", "--units", "8", "--length", "24s", "--patterns", "4", "--occurrences", occurrences, "--seed", seed, "-o", path)
        return path

    def replicated(self, key, *more):
        """Returns what run.json says, after comparing it with the table."""
        out = self.ok("spade", *more, *self.asked, "-o", self.folder / key)
        run = json.loads((self.folder / key / "run.json").read_text(encoding="utf-8"))
        told = run[key]
        with open(self.folder / key / "patterns.tsv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        tested = [row for row in rows if row["replication_q"] != "-"]
        self.assertGreater(len(rows), 0)
        self.assertEqual(told["tested"], len(tested))
        self.assertEqual(told["replicated"], sum(float(row["replication_q"]) < 0.05 for row in tested))
        self.assertIn(f"Replicated: {told['replicated']} of {told['tested']} patterns", out.stdout)
        self.ok("report", self.folder / key, "-o", self.folder / f"{key}.html")
        self.assertEqual((self.folder / f"{key}.html").read_bytes(), (self.folder / key / "report.html").read_bytes())
        return told

    def test_what_is_held_out_tests_the_patterns_of_the_rest(self):
        told = self.replicated("hold_out", self.planted(1), "--hold-out", "0.5", "--hold-out-block", "2s")
        self.assertAlmostEqual(told["tested_s"], 12, 3)
        self.assertEqual((told["searched_s"], told["searched_epochs_s"]), (12, [[begin, begin + 2] for begin in range(0, 24, 4)]))
        asked = json.loads((self.folder / "hold_out" / "run.json").read_text(encoding="utf-8"))["parameters"]
        self.assertEqual((asked["hold_out"], asked["hold_out_block"], asked["epochs"]), (0.5, "2 s", None))
        self.assertGreater(told["replicated"], 0)

    def test_another_recording_tests_the_patterns(self):
        other = self.planted(2)
        lacking = self.file("lacking.tsv", "".join(line for line in other.read_text(encoding="utf-8").splitlines(keepends=True)
                                                   if not line.endswith("\tn0\n")))
        told = self.replicated("confirm", self.planted(1), "--confirm", lacking)
        self.assertEqual((told["missing_units"], told["recording"]["path"]), (["n0"], str(lacking)))
        self.assertGreater(told["untested"], 0)

    def test_says_when_the_lowest_threshold_may_hide_the_patterns(self):
        asked = (self.planted(1, 10), "--window", "10", "--surrogates", "59", "--seed", "1", "--alpha", "0.05", "--hold-out", "0.5", "--hold-out-block", "2s")
        words = "With --min-occ auto, a pattern needs at least 10 occurrences, however short that time is. Lower it (--min-occ 6 with --min-spikes 3)"
        out = self.ok("spade", *asked, "-o", self.folder / "missed")
        run = json.loads((self.folder / "missed" / "run.json").read_text(encoding="utf-8"))
        told = [one for one in run["input"]["warnings"] if words in one]
        self.assertEqual(len(told), 1)
        self.assertEqual(out.stderr.count(told[0]), 1)
        self.assertEqual(run["hold_out"]["tested"], 0)
        busy = self.folder / "busy.tsv"
        self.ok("simulate", "patterns", "--units", "8", "--length", "24s", "--rate", "30", "--patterns", "none", "--seed", "1", "-o", busy)
        self.assertNotIn(words, self.ok("spade", busy, *asked[1:]).stderr)
        lowered = self.ok("spade", *asked, "--min-occ", "5", "--min-spikes", "3", "--json")
        self.assertNotIn(words, lowered.stderr)
        self.assertGreater(json.loads(lowered.stdout)["run"]["hold_out"]["tested"], 0)

    def test_refuses_what_tests_nothing(self):
        path = self.planted_file()
        for arguments, words in (
                (("--hold-out", "0.5"), ("--hold-out", "--surrogates")),
                (("--confirm", path), ("--confirm", "--surrogates")),
                (("--confirm", path, "--surrogates", "9"), ("the same spikes",)),
                (("--confirm", "absent.tsv", "--surrogates", "9"), ("absent.tsv",)),
                (("--confirm", path, "--hold-out", "0.5", "--surrogates", "9"), ("--confirm", "--hold-out")),
                (("--hold-out", "0.5", "--hold-out-block", "1h", "--surrogates", "9"), ("--hold-out", "too few")),
                (("--hold-out", "0.5", "--surrogates", "9", "--part", "1/2", "-o", "part"), ("--hold-out", "--part")),
        ):
            with self.subTest(arguments):
                self.refused("spade", path, *arguments, says=words)


if __name__ == "__main__":
    unittest.main()
