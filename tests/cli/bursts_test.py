"""spikeweave bursts: bursts of units and of the network."""

import csv
import json
import random
import unittest

from support import CliTest, state

TABLES = ("summary.tsv", "units.tsv", "network_bursts.tsv", "bursts.tsv")


class BurstsCase(CliTest):
    def setUp(self):
        super().setUp()
        # Six units with 5 spikes in 80 ms every 10 s, each 10 ms after the one before; f fires alone, g at random.
        draw = random.Random(1)
        spikes = [(10 * k + 0.01 * place + 0.02 * i, unit) for k in range(10) for place, unit in enumerate("abcde") for i in range(5)]
        spikes += [(10 * k + 5 + 0.3 * k, "f") for k in range(10)]
        self.regular = self.spikes("regular.tsv", spikes)
        self.data = self.spikes("day.tsv", spikes + [(round(draw.uniform(0, 100), 6), "g") for _ in range(1000)])

    def spikes(self, name, spikes):
        return self.file(name, "time\tunit\n" + "".join(f"{t:.6f}\t{unit}\n" for t, unit in sorted(spikes)))

    def rows(self, folder, name):
        with (self.folder / folder / name).open(encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))

    def find(self, *arguments, to="out", of=None):
        result = self.ok("bursts", of or self.data, *arguments, "-o", self.folder / to)
        return result, [self.rows(to, name) for name in TABLES]


class Bursts(BurstsCase):
    def test_finds_bursts_of_units_and_of_the_network(self):
        _, (summary, units, network, bursts) = self.find(of=self.regular)

        self.assertEqual([row["bursts"] for row in units], ["10"] * 5 + ["0"])
        own = [row for row in bursts if row["unit"] == "b"]
        self.assertEqual([row["begin_s"] for row in own], [f"{10 * k + 0.01:.6f}" for k in range(10)])
        self.assertEqual({(row["duration_ms"], row["spikes"], row["rate_hz"]) for row in own}, {("80", "5", "50")})
        self.assertEqual([row["interval_s"] for row in own], ["-"] + ["9.920000"] * 9)
        self.assertEqual([row["network_burst"] for row in own], [str(k + 1) for k in range(10)])
        # Three of them are in a burst from the beginning of the third one's to the end of the third one's.
        self.assertEqual([row["begin_s"] for row in network], [f"{10 * k + 0.02:.6f}" for k in range(10)])
        self.assertEqual({(row["duration_ms"], row["participating"]) for row in network}, {("80", "5")})
        (only,) = summary
        self.assertEqual([only[name] for name in ("unit_count", "firing", "bursting", "network_bursts", "share_in_bursts", "mean_duration_s")],
                         ["6", "6", "5", "10", "1", "0.08"])

    def test_tells_of_units_that_fire_at_random(self):
        result, _ = self.find()
        self.assertIn("Bursts of 1 fast unit are hardly more than chance", result.stderr)
        self.assertIn(": g. --method log-isi", result.stderr)
        result, (_, units, _, _) = self.find("--method", "log-isi", to="other")
        self.assertNotIn("chance", result.stderr)
        self.assertLess(float(units[-1]["share_in_bursts"]), 0.8)

    def test_finds_none_in_few_spikes(self):
        for text in ("time\tunit\n1.5\ta\n", "time\tunit\n1\ta\n1.1\ta\n1.2\tb\n"):
            data = self.file("few.tsv", text)
            result = self.ok("bursts", data, "-o", self.folder / "few", "--overwrite")
            self.assertRegex(result.stdout, r"^No burst of [12] units?, and none of the network in ")
            self.assertEqual(self.rows("few", "bursts.tsv"), [])
            self.assertTrue((self.folder / "few/report.html").exists())

    def test_prints_what_it_finds(self):
        result = self.ok("bursts", self.regular)
        self.assertRegex(result.stdout, r"^50 bursts of 5 of 6 units, and 10 network bursts in [\d.]+ s\.\n")
        self.assertIn("100 %     80 ms  a\n", result.stdout)
        self.assertEqual(self.ok("bursts", self.data, "--quiet").stdout, "")

    def test_prints_what_the_files_have_as_json(self):
        _, (_, units, network, bursts) = self.find()
        document = json.loads(self.ok("bursts", self.data, "--json").stdout)
        self.assertEqual([row["unit"] for row in document["units"]], [row["unit"] for row in units])
        self.assertEqual([(row["unit"], row["begin_s"], row["network_burst"]) for row in document["bursts"]],
                         [(row["unit"], float(row["begin_s"]), None if row["network_burst"] == "-" else int(row["network_burst"])) for row in bursts])
        self.assertEqual(len(document["network_bursts"]), len(network))
        self.assertEqual(document["summary"]["unit_count"], 7)
        self.assertEqual(document["run"]["bursts"], {"bursts": len(bursts), "network_bursts": len(network), "units_of_network": 3})

    def test_is_the_same_on_any_number_of_threads(self):
        self.find("--threads", "1", to="one")
        self.find("--threads", "3", to="three")
        one, three = (state(self.folder / name) for name in ("one", "three"))
        for name in TABLES:
            self.assertEqual(one[name], three[name])

    def test_is_of_a_part_of_the_recording(self):
        epochs = self.file("epochs.tsv", "9\t10.03\n10.03\t25\n60\t80\n")
        _, (_, _, _, bursts) = self.find("--epochs", epochs)
        self.assertEqual([row["spikes"] for row in bursts if row["unit"] == "b"], ["4", "5", "5", "5"])  # one spike at 10.01 s

    def test_is_in_tables_and_reports(self):
        self.find(to="a")
        self.find("--t-stop", "50s", to="b")
        tables = {}
        for name in ("summary", "units", "network_bursts", "bursts"):
            self.ok("table", self.folder / "a", self.folder / "b", "--of", name, "-o", self.folder / f"{name}.tsv")
            tables[name] = (self.folder / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(tables["summary"][0].split("\t")[:3], ["recording", "observed_s", "unit_count"])
        self.assertEqual([line.split("\t")[0] for line in tables["summary"][1:]], ["a", "b"])
        self.assertEqual(len(tables["units"]), 15)
        self.ok("report", self.folder / "a", "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_bytes(), (self.folder / "a/report.html").read_bytes())
        printed = self.ok("report", self.folder / "a", self.folder / "b", "-o", self.folder / "both.html").stdout
        runs = [json.loads((self.folder / name / "run.json").read_text("utf-8"))["bursts"] for name in "ab"]
        self.assertIn(f"{sum(run['bursts'] for run in runs)} bursts of units and {sum(run['network_bursts'] for run in runs)} of the network in 2 recordings.", printed)
        self.refused("report", self.folder / "a", self.folder / "b", "--as", "series", "-o", self.folder / "no.html", says="not for results of bursts")


class Refused(BurstsCase):
    def test_options_out_of_range(self):
        for words, says in ((("--min-spikes", "1"), "--min-spikes"), (("--begin-interval", "301ms"), ("--begin-interval", "--end-interval")),
                            (("--network-share", "0"), "--network-share"), (("--method", "none"), "max-interval"), (("--core-interval", "5"), "no unit")):
            with self.subTest(words):
                self.refused("bursts", self.data, *words, "-o", self.folder / "out", says=says)
                self.assertFalse((self.folder / "out").exists())

    def test_replaces_only_on_request(self):
        self.find()
        self.refused("bursts", self.data, "-o", self.folder / "out", says="exists")
        self.find("--overwrite", "--no-report")
        self.assertFalse((self.folder / "out/report.html").exists())

    def test_a_damaged_document(self):
        self.find()
        path = self.folder / "out/result.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        document["units"]["unit"][0] = 7
        path.write_text(json.dumps(document), encoding="utf-8")
        self.refused("report", self.folder / "out", "-o", self.folder / "page.html", says="a unit that is not among the 7 units")


if __name__ == "__main__":
    unittest.main()
