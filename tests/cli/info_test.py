"""spikeweave info."""

import json
import struct
import unittest
from random import Random

from support import CliTest


class Info(CliTest):
    def test_says_what_is_in_the_file(self):
        out = self.ok("info", self.chain_file()).stdout

        self.assertIn("200 of 4 units", out)
        self.assertIn("(text)", out)
        self.assertRegex(out, r"a +10\.\d\d")

    def test_json_is_one_document_with_every_unit(self):
        found = json.loads(self.ok("info", "--json", self.chain_file()).stdout)

        self.assertEqual(found["spikes"], 200)
        self.assertEqual([unit["name"] for unit in found["units"]], ["a", "b", "c", "d"])
        self.assertEqual(sum(unit["spikes"] for unit in found["units"]), 200)

    def test_counts_ties_duplicates_and_disorder(self):
        path = self.file("messy.tsv", "time\tunit\n0.1\ta\n0.1\tb\n0.3\ta\n0.3\ta\n0.2\tb\n")

        found = json.loads(self.ok("info", "--json", path).stdout)

        self.assertEqual((found["spikes"], found["tied_spikes"], found["duplicates_dropped"], found["out_of_order"]),
                         (4, 2, 1, 1))

    def test_takes_negative_times_only_when_asked(self):
        path = self.file("aligned.tsv", "time\tunit\n-0.5\ta\n0.5\ta\n")

        self.refused("info", path, says="line 2")
        found = json.loads(self.ok("info", "--allow-negative", "--json", path).stdout)

        self.assertEqual(found["span_s"][0], -0.5)

    def test_reads_another_unit_of_time(self):
        path = self.file("ms.tsv", "time\tunit\n100\ta\n2100\ta\n")

        found = json.loads(self.ok("info", "--time-unit", "ms", "--json", path).stdout)

        self.assertEqual(found["span_s"], [0.1, 2.1])

    def test_warns_of_milliseconds_taken_for_seconds(self):
        # A unit of 20 Hz for an hour, with its times in milliseconds.
        path = self.file("slow.tsv", "time\tunit\n" + "".join(f"{50 * i}.5\ta\n" for i in range(72000)))

        self.assertIn("milliseconds", self.ok("info", path).stdout)
        self.assertIn("milliseconds", json.loads(self.ok("info", "--json", path).stdout)["warnings"][0])
        self.assertIn("milliseconds", self.ok("episodes", path, "--json").stderr)
        self.assertNotIn("milliseconds", self.ok("info", "--time-unit", "ms", path).stdout)

    def copies_file(self):
        """Writes a, its copy b without a fifth of the spikes and one sample later, and c after each spike of a."""
        random = Random(1)
        rows, now = [], 0
        for i in range(300):
            now += random.randint(20_000, 200_000)
            rows += [(now, "a"), (now + 4_000, "c")] + ([(now + 50, "b")] if i % 5 else [])
        return self.file("copies.tsv", "time\tunit\n" + "".join(f"{us / 1e6:.6f}\t{unit}\n" for us, unit in rows))

    def test_names_units_that_repeat_another(self):
        path = self.copies_file()
        warning = "Unit b has 240 of its 240 spikes within 0.3 ms of one of unit a"

        self.assertIn(warning, self.ok("info", path).stdout)
        found = json.loads(self.ok("info", path, "--json").stdout)
        (pair,) = found["shared_spikes"]
        self.assertEqual((pair["unit"], pair["other"], pair["shared"], pair["lag_s"], pair["repeats"]),
                         ("b", "a", 240, -0.00005, True))
        self.assertEqual(found["units_dropped"], [])
        for command in ("episodes", "spade"):
            self.assertIn(warning, self.ok(command, path, "--json").stderr)

    def test_leaves_units_out_that_repeat_another(self):
        path = self.copies_file()
        says = "Unit b with 240 spikes was left out: 240 of them are within 0.3 ms of one of unit a."

        found = json.loads(self.ok("info", path, "--json", "--drop-duplicates-of-units").stdout)

        self.assertEqual([unit["name"] for unit in found["units"]], ["a", "c"])
        self.assertEqual((found["shared_spikes"], found["warnings"]), ([], [says]))
        self.assertEqual(found["units_dropped"], [{"name": "b", "spikes": 240, "repeats": "a", "shared": 240}])
        out = self.folder / "kept.tsv"
        self.assertIn("dropped unit b", self.ok("convert", path, out, "--drop-duplicates-of-units").stdout)
        self.assertEqual(json.loads(self.ok("info", out, "--json").stdout)["unit_count"], 2)
        for command in ("episodes", "spade"):
            folder = self.folder / command
            self.assertIn(says, self.ok(command, path, "--drop-duplicates-of-units", "-o", folder).stderr)
            run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            self.assertTrue(run["parameters"]["drop_duplicates_of_units"])

    def test_artefacts_and_fast_units_are_left_out_on_request(self):
        lines = [f"{0.1 * i:.6f}\ta" for i in range(100)] + [f"{i + 0.05:.6f}\tb" for i in range(10)]
        path = self.file("array.tsv", "\n".join([*lines, "0.500030\tc", ""]))
        options = ("--drop-synchronous", "2", "--max-rate", "5")
        says = ["2 spikes of one moment were left out: at least 2 units fired in it.",
                "Unit a with 99 spikes was left out: it fires at 10 Hz."]

        found = json.loads(self.ok("info", path, "--json", *options).stdout)

        self.assertEqual(found["left_out"], says)
        self.assertEqual([unit["name"] for unit in found["units"]], ["b", "c"])
        for text in says:
            self.assertIn(text, self.ok("info", path, *options).stdout)
            self.assertIn(text, self.ok("convert", path, self.folder / "kept.tsv", "--overwrite", *options).stdout)
        for command in ("episodes", "spade"):
            folder = self.folder / command
            warned = self.ok(command, path, *options, "-o", folder).stderr
            run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            self.assertEqual((run["parameters"]["drop_synchronous"], run["parameters"]["max_rate"]), (2, 5))
            self.assertEqual(run["input"]["spikes"], 10)
            for text in says:
                self.assertIn(text, warned)
            # The page is made of the same spikes.
            self.ok("report", folder, "-o", self.folder / f"{command}.html")
        self.refused("info", path, "--min-snr", "2", says=("array.tsv", "has no signal-to-noise ratios", "the folder phy"))
        self.refused("info", path, "--drop-synchronous", "1", says="--drop-synchronous")

    def test_says_what_raw_samples_need(self):
        path = self.file("samples.dat", struct.pack("<64h", *range(-32, 32)))

        self.refused("info", path, says=("samples.dat", "spikeweave sort"))
        self.ok("info", path, "--channels", "4", "--sample-rate", "30000")

    def test_groups_of_units_are_taken_as_one(self):
        path = self.file("array.tsv", "0.1\tn1\n0.1002\tn2\n0.5\tn2\n0.7\tn3\n")
        groups = self.file("groups.csv", "unit,group\nn1,left\nn2,left\n")
        options = ("--groups", groups, "--group-window", "1ms")

        found = json.loads(self.ok("info", path, "--json", *options).stdout)

        self.assertEqual([(unit["name"], unit["spikes"]) for unit in found["units"]], [("left", 2), ("n3", 1)])
        self.assertEqual((found["groups"], found["spikes_merged"]), (1, 1))
        self.assertIn("1 spike of a group is not counted", self.ok("episodes", path, *options).stderr)
        bad = self.file("bad.csv", "n1,left\nn1,right\n")
        self.refused("info", path, "--groups", bad, says=("bad.csv", "line 2", "each unit once"))
        self.refused("info", path, "--groups", self.file("more.csv", "n9,left\n"), says="n9")
        self.refused("info", path, "--group-window", "1ms", says="--groups")

    def test_quiet_prints_nothing_but_what_json_asks_for(self):
        path = self.chain_file()

        self.assertEqual(self.ok("info", path, "--quiet").stdout, "")
        json.loads(self.ok("--quiet", "info", path, "--json").stdout)


if __name__ == "__main__":
    unittest.main()
