"""spikeweave compare --patterns: which patterns of SPADE differ between two conditions."""

import csv
import json
import unittest

from support import CliTest

FOUR = "n0,n1,n2,n3"


class ComparePatterns(CliTest):
    def planted(self, occurrences, seed):
        """Writes eight units, four of which fire one after another so many times in a minute."""
        path = self.folder / f"planted{occurrences}-{seed}.tsv"
        self.ok("simulate", "patterns", "--units", "8", "--length", "60s", "--patterns", "4", "--occurrences", occurrences, "--seed", seed, "-o", path)
        return path

    def found_in(self, path, name="found", *more):
        folder = self.folder / name
        self.ok("spade", path, "--window", "5", "--min-occ", "25", "--min-spikes", "4", "--surrogates", "39", "--alpha", "0.05", *more, "-o", folder)
        return folder

    def rows(self, folder):
        with (folder / "differences.tsv").open(encoding="utf-8", newline="") as lines:
            return {row["units"]: row for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}

    def test_finds_the_pattern_that_changed(self):
        few, many = self.planted(40, 1), self.planted(120, 2)
        found = self.found_in(self.planted(100, 3))
        out = self.folder / "out"
        told = self.ok("compare", few, many, "--patterns", found, "--permutations", "999", "--surrogates", "20", "-o", out).stdout

        row = self.rows(out)[FOUR]
        self.assertEqual((row["lags_ms"], row["change"], row["direction"]), ("0,5,10,15", "excess", "up"))
        self.assertTrue(1.5 < float(row["rate_ratio_low"]) < 3 < float(row["rate_ratio_high"]))
        self.assertIn("n0 →5ms→ n1 →5ms→ n2 →5ms→ n3", told)
        self.assertRegex(told, r"^1 of \d+ patterns? changed beyond the firing rates between \S+ and \S+\.tsv, ")
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["differences.tsv", "report.html", "result.json", "run.json"])
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(run["input"]["b"]["files"][0]["path"], str(many))
        self.assertEqual((run["comparison"]["samples"], run["parameters"]["surrogates"]), ("blocks", 20))
        self.assertEqual(run["parameters"]["patterns"], str(found))

        document = json.loads(self.ok("compare", few, many, "--patterns", found, "--permutations", "999", "--surrogates", "20", "--json").stdout)
        self.assertEqual(document["run"]["comparison"], run["comparison"])
        rows = self.rows(out)
        for one in document["findings"]:
            row = rows[",".join(one.pop("units"))]
            self.assertEqual(",".join(f"{lag:g}" for lag in one.pop("lags_ms")), row["lags_ms"])
            self.assert_same([one], [row])

    def test_epochs_of_one_recording(self):
        path = self.planted(100, 3)
        epochs = [self.file(f"{begin}.tsv", "".join(f"{i}\t{i + 2}\n" for i in range(begin, 60, 4))) for begin in (0, 2)]
        self.ok("compare", path, "--epochs-a", epochs[0], "--epochs-b", epochs[1], "--patterns", self.found_in(path), "--surrogates", "20", "-o", self.folder / "out")
        row = self.rows(self.folder / "out")[FOUR]
        self.assertEqual(row["change"], "none")
        self.assertGreater(int(row["count_a"]) + int(row["count_b"]), 90)

    def test_several_results_give_each_pattern_once(self):
        few, many = self.planted(40, 1), self.planted(120, 2)
        found = self.found_in(many)
        arguments = ("compare", few, many, "--surrogates", "20", "--permutations", "99", "--patterns", found)
        self.ok(*arguments, "-o", self.folder / "one")
        self.ok(*arguments, "--patterns", found, "-o", self.folder / "two")
        self.assertEqual(self.rows(self.folder / "one"), self.rows(self.folder / "two"))
        other = self.found_in(many, "wider", "--bin", "10ms")
        self.refused(*arguments, "--patterns", other, says=("5 ms", "10 ms"))

    def test_refuses_what_is_not_for_patterns(self):
        few, many = self.planted(40, 1), self.planted(120, 2)
        for arguments, words in (
                (("--patterns", "absent"), ("absent",)),
                (("--patterns", self.folder), ("patterns.tsv",)),
                (("--patterns", "found", "--delays", "1-4ms"), ("--delays", "--patterns")),
                (("--patterns", "found", "--findings", "either"), ("--findings", "--patterns")),
                (("--dither", "5ms"), ("--dither", "--patterns")),
        ):
            with self.subTest(arguments):
                self.refused("compare", few, many, *arguments, says=words)


if __name__ == "__main__":
    unittest.main()
