"""spikeweave info."""

import json
import unittest

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

    def test_quiet_prints_nothing_but_what_json_asks_for(self):
        path = self.chain_file()

        self.assertEqual(self.ok("info", path, "--quiet").stdout, "")
        json.loads(self.ok("--quiet", "info", path, "--json").stdout)


if __name__ == "__main__":
    unittest.main()
