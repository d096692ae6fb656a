"""spikeweave compare: which connections differ between two conditions."""

import csv
import json
import random
import re
import unittest
import xml.etree.ElementTree as ElementTree

from support import CliTest

COLUMNS = 30


class CompareCase(CliTest):
    def recording(self, name, strength, seed, length=60, names=("a", "b", "c<>", "d")):
        """Writes four units at 10 Hz; the second follows the first, and the fourth follows the third.

        The first connection always has strength 0.5.
        """
        draw = random.Random(seed)
        spikes = set()
        for unit in names:
            time = 0.0
            while (time := time + draw.expovariate(10)) < length - 0.01:
                spikes.add((round(time, 6), unit))
        for first, second, probability in ((names[0], names[1], 0.5), (names[2], names[3], strength)):
            for time, unit in sorted(spikes):
                if unit == first and draw.random() < probability:
                    spikes.add((round(time + draw.uniform(0.005, 0.007), 6), second))
        return self.file(name, "time\tunit\n" + "".join(f"{time:.6f}\t{unit}\n" for time, unit in sorted(spikes)))

    def rows(self, folder):
        with (folder / "differences.tsv").open(encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))

    def compared(self, *arguments, to="out"):
        result = self.ok("compare", *arguments, "--permutations", "999", "-o", self.folder / to)
        return result, {row["units"]: row for row in self.rows(self.folder / to)}


class Compare(CompareCase):
    def test_finds_the_connection_that_changed(self):
        result, rows = self.compared(self.recording("a.tsv", 0.2, 1), self.recording("b.tsv", 0.7, 2))

        self.assertEqual((rows["c<>→d"]["change"], rows["c<>→d"]["direction"]), ("excess", "up"))
        self.assertEqual((rows["a→b"]["change"], rows["a→b"]["direction"]), ("none", "same"))
        self.assertGreater(float(rows["c<>→d"]["excess_difference_low"]), 0)
        self.assertIn("a.tsv: 6 blocks of", result.stdout)
        self.assertRegex(result.stdout, r"^1 of \d+ connections and chains changed beyond the firing rates between a.tsv and b.tsv, ")
        self.assertRegex(result.stdout, r"(?m)^  finding +change +b.tsv less a.tsv +q +b.tsv by a.tsv +q +a.tsv +b.tsv$")
        self.assertEqual({len(row) for row in rows.values()}, {COLUMNS})
        for row in rows.values():
            for side in "ab":
                beyond = float(row[f"count_{side}"]) - float(row[f"expected_{side}"])
                self.assertAlmostEqual(float(row[f"excess_{side}"]), beyond / float(row[f"removed_{side}"]), 4)
        out = self.folder / "out"
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         ["differences.graphml", "differences.tsv", "report.html", "result.json", "run.json"])
        graph = ElementTree.parse(out / "differences.graphml")
        self.assertIn("up", [data.text for data in graph.iter() if data.get("key") == "direction"])
        record = json.loads((out / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(record["input"]["b"]["files"][0]["path"], str(self.folder / "b.tsv"))
        self.assertEqual(record["comparison"]["labellings"], 924)
        self.assertEqual(record["parameters"]["permutations"], 999)

    def test_names_conditions_by_what_differs_in_their_paths(self):
        for folder in ("first", "second"):
            (self.folder / folder).mkdir()
        one, other = self.recording("first/s.tsv", 0.5, 1), self.recording("second/s.tsv", 0.5, 2)
        for words, names in (((one, other), "first/s.tsv and second/s.tsv"), ((one, one), "a and b")):
            self.assertIn(f"between {names}, ", self.ok("compare", *words, "--permutations", "999").stdout)

    def test_prints_what_the_files_have_as_json(self):
        a, b = self.recording("a.tsv", 0.2, 1), self.recording("b.tsv", 0.7, 2)
        self.compared(a, b)
        rows = self.rows(self.folder / "out")

        document = json.loads(self.ok("compare", a, b, "--permutations", "999", "--json").stdout)

        run = json.loads((self.folder / "out/run.json").read_text(encoding="utf-8"))
        for same in ("input", "comparison", "parameters"):
            self.assertEqual(document["run"][same], run[same])
        for one, row in zip(document["findings"], rows, strict=True):
            delays = " ".join(f"({low:g},{high:g}]" for low, high in one.pop("delays_ms"))
            self.assertEqual(("→".join(one.pop("units")), f"{delays} ms"), (row["units"], row["delays"]))
        self.assert_same(document["findings"], rows)

    def test_counts_as_the_search_counts(self):
        a = self.recording("a.tsv", 0.5, 3)
        _, rows = self.compared(a, self.recording("b.tsv", 0.5, 4))
        epochs = self.file("blocks.tsv", "".join(f"{i}\t{i + 10}\n" for i in range(0, 60, 10)))
        low, high = re.fullmatch(r"\((.+),(.+)\] ms", rows["a→b"]["delays"]).groups()
        self.assertTrue(4 <= float(low) < float(high) <= 8)
        given = self.file("given.txt", f"a {low}-{high}ms b\n")
        counted = json.loads(self.ok("count", a, given, "--epochs", epochs, "--json").stdout)
        self.assertEqual(int(rows["a→b"]["count_a"]), counted["episodes"][0]["count"])

    def test_is_the_same_for_any_number_of_threads(self):
        files = (self.recording("a.tsv", 0.2, 1, 120), self.recording("b.tsv", 0.7, 2, 120))
        self.compared(*files, "--seed", "5", "--threads", "1", to="one")
        self.compared(*files, "--seed", "5", "--threads", "3", to="three")
        one, three = ((self.folder / name / "differences.tsv").read_bytes() for name in ("one", "three"))
        self.assertEqual(one, three)

    def test_compares_groups_of_recordings(self):
        groups = [[self.recording(f"{group}{i}.tsv", strength, 10 * ord(group) + i, 40) for i in range(4)]
                  for group, strength in (("a", 0.2), ("b", 0.8))]
        result, rows = self.compared("--group-a", *groups[0], "--group-b", *groups[1])

        self.assertIn("a: 4 recordings", result.stdout)
        self.assertIn("all 70 labellings, smallest p 0.0286", result.stdout)
        self.assertAlmostEqual(float(rows["c<>→d"]["excess_p"]), 2 / 70, 5)
        self.refused("compare", "--group-a", *groups[0][:3], "--group-b", *groups[1][:3],
                     says=("3 and 3 recordings are too few", "smallest p", "0.1", "--change-alpha"))

    def test_compares_epochs(self):
        path = self.recording("one.tsv", 0.5, 7)
        even = self.file("even.tsv", "".join(f"{i}\t{i + 1}\n" for i in range(2, 58, 2)))
        odd = self.file("odd.tsv", "".join(f"{i}\t{i + 1}\n" for i in range(1, 57, 2)))
        result, rows = self.compared(path, "--epochs-a", even, "--epochs-b", odd)

        self.assertIn("odd.tsv: 28 epochs", result.stdout)
        self.assertFalse(result.stderr)
        self.assertIn("a→b", rows)
        self.refused("compare", path, "--epochs-a", even, "--epochs-b", even, says="overlap")


class Refuses(CompareCase):
    def test_what_are_no_two_conditions(self):
        one = self.recording("one.tsv", 0.5, 1)
        epochs = self.file("epochs.tsv", "0\t1\n2\t3\n")
        for words in ((), (one,), (one, one, "--epochs-a", epochs, "--epochs-b", epochs), (one, "--epochs-a", epochs),
                      (one, "--group-a", one, one), ("--group-a", one, one)):
            with self.subTest(words):
                self.refused("compare", *words, says="give two files")

    def test_recordings_without_a_common_unit(self):
        self.refused("compare", self.recording("a.tsv", 0.5, 1), self.recording("b.tsv", 0.5, 1, names=tuple("wxyz")),
                     says="no unit is in all recordings")

    def test_a_folder_that_exists(self):
        one = self.recording("one.tsv", 0.5, 1)
        (self.folder / "out").mkdir()
        self.refused("compare", one, one, "-o", self.folder / "out", says="exists")

    def test_too_few_blocks(self):
        one = self.recording("one.tsv", 0.5, 1, 12)
        self.refused("compare", one, one, says="two samples of each condition; there are 1 and 1")


if __name__ == "__main__":
    unittest.main()
