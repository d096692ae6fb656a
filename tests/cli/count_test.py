"""spikeweave count."""

import csv
import json
import unittest

from support import CliTest


class Count(CliTest):
    def test_counts_what_is_given_in_its_order(self):
        given = self.file("given.txt", "# planted\na 4-6ms b 4-6ms c\n\nc 4-6ms a  # never\na\n")

        out = self.ok("count", self.chain_file(), given).stdout.splitlines()

        self.assertEqual([line.split()[0] for line in out[3:6]], ["50", "0", "50"])

    def test_names_the_line_of_an_error(self):
        path = self.chain_file()
        for text, words in (("a 4-6ms b\nx 4-6ms b\n", ("line 2", "x")), ("a 6-4ms b\n", ("line 1", "6 ms to 4 ms")),
                            ("a 4-6ms\n", ("line 1", "4-6ms")), ("a 4-6ms b\n\na 4-6ms b\n", ("line 3", "line 1")),
                            ("# nothing\n", ("no episode",))):
            self.refused("count", path, self.file("given.txt", text), says=("given.txt", *words))
        self.refused("count", path, self.folder / "none.txt", says="none.txt")
        self.refused("count", path, self.folder, says=str(self.folder))

    def test_has_no_options_of_a_search(self):
        path, given = self.chain_file(), self.file("given.txt", "a 4-6ms b\n")
        for option in ("--delays", "--delay-grid", "--min-count", "--min-fraction", "--min-rate", "--max-size", "--self-repeats", "--pairs",
                       "--part", "--hold-out", "--confirm", "--stream"):
            with self.subTest(option):
                self.refused("count", path, given, option, "5", says=f"there is no option {option}")
        self.refused("count", path, says="EPISODES is missing")

    def test_writes_what_a_search_writes(self):
        path, out = self.chain_file(), self.folder / "out"
        self.ok("episodes", path, "--delays", "4-6ms", "--min-count", "40", "-o", self.folder / "found")
        self.ok("count", path, self.folder / "found", "--occurrences", "-o", out)

        self.assertEqual(sorted(one.name for one in out.iterdir()),
                         ["circuit.graphml", "circuit.svg", "circuit.tsv", "episodes.tsv", "lags.tsv", "occurrences.tsv", "report.html", "result.json", "run.json"])
        with (self.folder / "found/episodes.tsv").open(encoding="utf-8", newline="") as file:
            found = {(row["units"], row["delays"]): row["count"] for row in csv.DictReader(file, delimiter="\t")}
        with (out / "episodes.tsv").open(encoding="utf-8", newline="") as file:
            counted = list(csv.DictReader(file, delimiter="\t"))
        self.assertGreater(len(counted), 0)
        for row in counted:
            self.assertEqual(row["count"], found[row["units"], row["delays"]])
        parameters = json.loads((out / "run.json").read_text(encoding="utf-8"))["parameters"]
        self.assertEqual(parameters["episodes"], str(self.folder / "found"))
        self.assertIsNone(parameters["labels"])
        for name in ("delays", "min_count", "window", "count_only", "hold_out"):
            self.assertNotIn(name, parameters)

    def test_prints_json_and_counts_in_epochs(self):
        path, given = self.chain_file(), self.file("given.txt", "a 4-6ms b\n")
        epochs = self.file("epochs.tsv", "0\t1\n2\t3\n")
        document = json.loads(self.ok("count", path, given, "--epochs", epochs, "--surrogates", "100", "--seed", "1", "--json").stdout)
        self.assertEqual([one["count"] for one in document["episodes"]], [20])
        self.assertEqual(document["run"]["seed"], 1)

    def test_warns_of_the_given_delays_only(self):
        """The default delays of a search cannot occur in a recording of frames of 20 ms; those given can."""
        path = self.file("frames.tsv", "".join(f"{0.02 * i:.2f}\t{'ab'[i % 2]}\n" for i in range(400)))
        clock = "All times are multiples of 20 ms"
        self.assertIn(clock, self.ok("episodes", path).stderr)
        self.assertNotIn(clock, self.ok("count", path, self.file("frame.txt", "a 10-30ms b\n")).stderr)
        self.assertIn(clock, self.ok("count", path, self.file("short.txt", "a 4-6ms b\n")).stderr)

    def test_names_the_option_that_left_a_unit_out(self):
        self.refused("count", self.chain_file(), self.file("given.txt", "a 4-6ms b\n"), "--max-rate", "0.5",
                     says=("the unit a is needed", "Hz, above --max-rate"))

    def test_option_of_the_search_names_the_command(self):
        path = self.chain_file()
        hint = "there is no option --count-only: spikeweave count FILE EPISODES does this"
        self.refused("episodes", path, "--count-only", "given.txt", says=hint)
        self.refused("episodes", path, "--count-only=given.txt", "--min-count", "5", says=hint)
        config = self.file("old.toml", '[episodes]\ncount_only = "given.txt"\n')
        self.refused("episodes", path, "--config", config, says=("old.toml, line 2", "spikeweave count FILE EPISODES"))
        for shell in ("bash", "zsh", "fish"):
            self.assertNotIn("count-only", self.ok("completion", shell).stdout)


if __name__ == "__main__":
    unittest.main()
