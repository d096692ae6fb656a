"""spikeweave assemblies: cell assemblies at several time scales."""

import csv
import json
import random
import unittest

from support import CliTest, state


class AssembliesCase(CliTest):
    def setUp(self):
        super().setUp()
        # Six units; b follows c after 20 ms and a follows b, 300 times in 100 s.
        draw = random.Random(1)
        spikes = {(round(draw.uniform(0, 100), 6), unit) for unit in "abcdef" for _ in range(600)}
        for _ in range(300):
            at = draw.uniform(0, 99)
            spikes |= {(round(at + 0.02 * place, 6), unit) for place, unit in enumerate("cba")}
        self.data = self.file("day.tsv", "time\tunit\n" + "".join(f"{t:.6f}\t{unit}\n" for t, unit in sorted(spikes)))

    def rows(self, folder, name="assemblies.tsv"):
        with (self.folder / folder / name).open(encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))

    def search(self, *arguments, to="out"):
        self.ok("assemblies", self.data, *arguments, "-o", self.folder / to)
        return self.rows(to)


class Assemblies(AssembliesCase):
    def test_finds_a_sequence_with_its_lags(self):
        (found,) = self.search("--bins", "10ms")

        lags = dict(zip(found["units"].split("+"), map(float, found["lags_ms"].split(" "))))
        self.assertEqual({unit: lag - lags["c"] for unit, lag in lags.items()}, {"c": 0, "b": 20, "a": 40})
        self.assertEqual((found["assembly"], found["size"], found["bin_ms"]), ("1", "3", "10"))
        self.assertLess(float(found["p_corrected"]), 1e-9)
        self.assertLessEqual(float(found["p"]), float(found["p_corrected"]))
        self.assertEqual(found["count_by_size"].split()[-1], found["count"])
        self.assertEqual(found["p_by_size"].split()[-1], found["p"])
        active = self.rows("out", "activations.tsv")
        self.assertEqual(sum(int(row["count"]) for row in active), int(found["count"]))
        steps = self.rows("out", "search.tsv")
        self.assertEqual([row["size"] for row in steps], ["2", "3", "4"][: len(steps)])
        self.assertEqual(steps[0]["tests"], "15")
        run = json.loads((self.folder / "out/run.json").read_text(encoding="utf-8"))
        self.assertEqual((run["parameters"]["bins"], run["assemblies"]), ("10ms", {"assemblies": 1}))

    def test_tells_of_pairs_that_it_could_not_test(self):
        result = self.ok("assemblies", self.data, "--bins", "0.3ms,10ms", "-o", self.folder / "out")
        self.assertIn("Pairs of units could not be tested", result.stderr)
        self.assertIn("15 of 15 in bins of 300 us. Wider --bins, such as ", result.stderr)
        steps = self.rows("out", "search.tsv")
        self.assertEqual([(row["bin_ms"], row["tests"]) for row in steps if row["size"] == "2"], [("0.3", "0"), ("10", "15")])
        self.assertNotIn("rates rise", result.stderr)

    def test_recommends_no_bins_where_none_would_do(self):
        rare = "".join(f"{7 * i + 0.1 * k}\t{unit}\n" for i in range(9) for k, unit in enumerate("abc"))
        result = self.ok("assemblies", self.file("rare.tsv", "time\tunit\n" + rare), "--bins", "200ms,100ms")
        self.assertIn("3 of 3 in bins of 100 ms. A longer recording makes it possible.", result.stderr)

    def test_tells_of_rates_that_units_share(self):
        draw = random.Random(2)
        spikes = set()
        for burst in range(240):  # of 20 ms, in which all units fire
            spikes |= {(round(burst + draw.uniform(0, 0.02), 6), unit) for unit in "abcdefgh" for _ in range(5)}
        data = self.file("bursts.tsv", "time\tunit\n" + "".join(f"{t:.6f}\t{unit}\n" for t, unit in sorted(spikes)))
        self.assertIn("rates rise and fall together", self.ok("assemblies", data, "--bins", "5ms,10ms").stderr)

    def test_prints_what_it_finds(self):
        result = self.ok("assemblies", self.data, "--bins", "10ms,40ms", "--across-bins", "largest")
        self.assertRegex(result.stdout, r"^1 assembly of 3 units, in bins of 10 ms, among 6 units in 99\.\d+ s\.\n")
        self.assertIn("10 ms", result.stdout)
        self.assertEqual(self.ok("assemblies", self.data, "--quiet").stdout, "")

    def test_prints_what_the_files_have_as_json(self):
        (row,) = self.search("--bins", "10ms")

        document = json.loads(self.ok("assemblies", self.data, "--bins", "10ms", "--json").stdout)

        (found,) = document["assemblies"]
        self.assertEqual("+".join(found["units"]), row["units"])
        self.assertEqual((found["assembly"], found["bin_ms"], found["count"]), (1, 10, int(row["count"])))
        self.assertEqual(found["lags_ms"], [float(lag) for lag in row["lags_ms"].split(" ")])
        self.assertEqual([(round(1e6 * one["begin_s"]), one["count"]) for one in found["activations"]],
                         [(round(1e6 * float(one["begin_s"])), int(one["count"])) for one in self.rows("out", "activations.tsv")])
        self.assertEqual([one["tests"] for one in document["search"]], [int(one["tests"]) for one in self.rows("out", "search.tsv")])
        self.assertEqual(document["run"]["assemblies"], {"assemblies": 1})

    def test_is_the_same_on_any_number_of_threads(self):
        self.search("--threads", "1", to="one")
        self.search("--threads", "3", to="three")
        one, three = (state(self.folder / name) for name in ("one", "three"))
        for name in ("assemblies.tsv", "activations.tsv", "search.tsv"):
            self.assertEqual(one[name], three[name])

    def test_searches_a_part_of_the_recording(self):
        self.search("--bins", "10ms", "--t-start", "50s")
        self.assertGreaterEqual(min(float(row["begin_s"]) for row in self.rows("out", "activations.tsv")), 50)
        epochs = self.file("epochs.tsv", "0\t20\n60\t80\n")
        self.search("--bins", "10ms", "--epochs", epochs, to="parts")
        for row in self.rows("parts", "activations.tsv"):
            self.assertTrue(0 <= float(row["begin_s"]) < 20 or 60 <= float(row["begin_s"]) < 80)

    def test_warns_of_what_was_not_searched(self):
        result = self.ok("assemblies", self.data, "--bins", "10ms,5s", "--max-assemblies", "1")
        self.assertIn("too short for bins of 5 s", result.stderr)
        self.assertIn("more than --max-assemblies", result.stderr)

    def test_names_of_units_are_only_text(self):
        text = self.data.read_text(encoding="utf-8").replace("\ta\n", "\t<b>&'\n")
        self.data.write_text(text, encoding="utf-8")
        (found,) = self.search("--bins", "10ms")
        self.assertIn("<b>&'", found["units"].split("+"))


class Refused(AssembliesCase):
    def test_options_out_of_range(self):
        for words, says in ((("--bins", "5"), "no unit"), (("--bins", "5ms,5ms"), ("--bins", "twice")), (("--bins", "0s"), "above 0"),
                            (("--bins", "10s"), "fewer than 100 bins of 10 s"), (("--reference-lag", "11"), ("--reference-lag", "--max-lag")),
                            (("--alpha", "0"), "--alpha"), (("--max-size", "1"), "--max-size"), (("--chunk", "2"), "--chunk"),
                            (("--across-bins", "none"), "largest")):
            with self.subTest(words):
                self.refused("assemblies", self.data, *words, "-o", self.folder / "out", says=says)
                self.assertFalse((self.folder / "out").exists())

    def test_files_that_are_not_there(self):
        self.refused("assemblies", self.folder / "absent.tsv", says="absent.tsv")

    def test_replaces_only_on_request(self):
        self.search()
        self.refused("assemblies", self.data, "-o", self.folder / "out", says="exists")
        self.assertTrue((self.folder / "out/report.html").exists())
        self.search("--overwrite", "--no-report")
        self.assertFalse((self.folder / "out/report.html").exists())


if __name__ == "__main__":
    unittest.main()
