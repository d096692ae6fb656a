"""Warnings are on stderr and in run.json, each once, and not on stderr with --quiet."""

import json
import unittest

from support import CliTest, on_terminal, screen


class Warnings(CliTest):
    def doubtful_file(self):
        """Writes two units on a clock of 40 ms, with a repeated spike and one outside the stated span."""
        rows = [(40 * i, "ab"[i % 2]) for i in range(1, 120)] + [(40, "b"), (6000, "a")]
        return self.file("doubtful.tsv", "# span_s: 0 5\n" + "".join(f"{ms / 1000:.6f}\t{unit}\n" for ms, unit in rows))

    def told(self, result):
        lines = result.stderr.splitlines()
        for line in lines:
            self.assertTrue(line.startswith("spikeweave: warning: "), line)
        return [line.removeprefix("spikeweave: warning: ") for line in lines]

    def test_are_told_once_and_recorded(self):
        path = self.doubtful_file()
        for command in ("episodes", "spade"):
            with self.subTest(command):
                result = self.ok(command, path, "--surrogates", "50", "-o", self.folder / command)

                told = self.told(result)
                run = json.loads((self.folder / command / "run.json").read_text(encoding="utf-8"))
                self.assertEqual(told, run["input"]["warnings"])
                self.assertEqual(len(told), len(set(told)))
                for words in ("lie outside of 0 ms to 5 s", "With 50 surrogates nothing can be significant"):
                    self.assertTrue(any(words in one for one in told), told)

    def test_follow_the_verdict_on_a_terminal(self):
        path = self.doubtful_file()
        for command in (("episodes", path, "--surrogates", "50"), ("spade", path, "--surrogates", "50")):
            with self.subTest(command):
                told = [f"spikeweave: warning: {one}" for one in self.told(self.ok(*command))]
                result = self.ok(*command).stdout.splitlines()
                sent = on_terminal(*command, NO_COLOR="1")

                shown = screen(sent)
                self.assertEqual(shown[:len(told) + 2], [result[0], *told, result[1]])
                self.assertLess(sent.index(f"warning: {told[0][21:60]}"), sent.index(result[0]))

    def test_are_told_on_a_terminal_if_the_command_fails(self):
        path = self.folder / "sym26.tsv"
        self.ok("simulate", "sym26", "--length", "12s", "-o", path)
        shown = screen(on_terminal("spade", path, "--window", "1s", "--min-occ", "2", NO_COLOR="1"))

        self.assertEqual(len(shown), 3)
        self.assertIn("spikeweave: warning: ", shown[0])
        self.assertTrue(shown[0].endswith("and count once."), shown[0])
        self.assertIn("which is too long to begin", shown[1])

    def test_name_delays_that_the_clock_rules_out(self):
        told = self.told(self.ok("episodes", self.doubtful_file()))

        self.assertIn("All times are multiples of 40 ms: no spike can follow another within 1-4ms, 4-8ms, 8-12ms, "
                      "12-16ms, so nothing can be found.", told)
        self.assertFalse(any("multiples" in one for one in self.told(
            self.ok("episodes", self.doubtful_file(), "--delays", "30-50ms"))))

    def test_ask_about_delays_and_bins_of_seconds(self):
        self.assertIn("The longest delay is 6 s long: were milliseconds given for seconds?",
                      self.told(self.ok("episodes", self.chain_file(), "--delays", "4-6s")))
        self.assertIn("A bin is 5 s long: were milliseconds given for seconds?",
                      self.told(self.ok("spade", self.chain_file(), "--bin", "5s", "--min-occ", "5")))
        self.refused("spade", self.chain_file(), "--bin", "2s", says="bins of 2 s are too wide")

    def test_say_that_bursts_may_look_like_connections(self):
        culture = self.folder / "culture.tsv"
        self.ok("simulate", "culture", "--channels", "30", "-o", culture)
        warning = "this test cannot distinguish that from connections"

        self.assertFalse(any(warning in one for one in self.told(self.ok("episodes", culture, "--max-size", "2"))))
        wide = self.ok("episodes", culture, "--max-size", "2", "--delays", "0-50ms", "-o", self.folder / "wide")
        told = [one for one in self.told(wide) if warning in one]
        self.assertEqual(len(told), 1)
        self.assertTrue(told[0].endswith("Run it again with --surrogates 200 and --dither 6ms, which preserve the bursts."), told[0])
        run = json.loads((self.folder / "wide" / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(run["input"]["warnings"].count(told[0]), 1)

    def test_are_not_told_when_nothing_but_errors_is_wanted(self):
        path = self.doubtful_file()
        features = self.folder / "features.npz"
        self.ok("simulate", "features", "--spikes", "30", "--units", "2", "--channels", "4", "-o", features)
        for arguments in (("episodes", path, "--surrogates", "50"), ("spade", path, "--surrogates", "50"),
                          ("convert", path, self.folder / "out.npz"), ("sort", features)):
            with self.subTest(arguments):
                result = self.ok(*arguments, "-q")
                self.assertEqual((result.stdout, result.stderr), ("", ""))


if __name__ == "__main__":
    unittest.main()
