"""--config: options from a TOML file."""

import json
import os
import threading
import unittest

from support import CliTest, run


class ConfigFile(CliTest):
    def found(self, text, *typed):
        """The parameters of a search of the chain with this file."""
        path = self.file("study.toml", text)
        folder = self.folder / "out"
        self.ok("episodes", self.chain_file(), "--config", path, *typed, "-o", folder, "--overwrite")
        return json.loads((folder / "run.json").read_text(encoding="utf-8"))["parameters"]

    def test_stands_for_what_would_be_typed(self):
        typed = self.folder / "typed"
        self.ok("episodes", self.chain_file(), "--delays", "4-6ms,6-8ms", "--min-count", "40", "--max-size", "2",
                "--alpha", "0.01", "-o", typed)
        wanted = json.loads((typed / "run.json").read_text(encoding="utf-8"))["parameters"]
        self.assertEqual(wanted["min_count"], 40)
        for delays in ('"4-6ms,6-8ms"', '["4-6ms", "6-8ms"]'):
            self.assertEqual(self.found(f"[episodes]\ndelays = {delays}\nmin-count = 40\nmax_size = 2\nalpha = 0.01\n"), wanted)

    def test_gives_way_to_what_is_typed(self):
        text = "[episodes]\nmin-count = 40\nmax-size = 2\n"
        self.assertEqual(self.found(text)["min_count"], 40)
        typed = self.found(text, "--min-count", "30")
        self.assertEqual((typed["min_count"], typed["max_size"]), (30, 2))

    def test_switches_flags(self):
        self.assertFalse(self.found("[episodes]\n")["allow_negative"])
        self.assertTrue(self.found("[episodes]\nallow_negative = true\n")["allow_negative"])
        self.assertFalse(self.found("[episodes]\nallow-negative = false\n")["allow_negative"])

    def test_names_a_flag_that_is_on_by_default_as_run_json_does(self):
        spikes = self.chain_file()
        for text, wanted in (("", True), ("subset_filter = false", False), ("no-subset-filter = true", False), ("subset-filter = true", True)):
            with self.subTest(text):
                path = self.file("study.toml", f"[spade]\nmin-occ = 5\n{text}\n")
                folder = self.folder / "out"
                self.ok("spade", spikes, "--config", path, "-o", folder, "--overwrite")
                parameters = json.loads((folder / "run.json").read_text(encoding="utf-8"))["parameters"]
                self.assertIs(parameters["subset_filter"], wanted)

    def test_is_for_all_commands_and_their_models(self):
        path = self.file("study.toml", 'quiet = true\n[simulate.sym26]\nlength = "2s"\nseed = 7\n[spade]\nmin-occ = "no number"\n')
        made = self.folder / "made.tsv"
        said = self.ok("simulate", "sym26", "--config", path, "-o", made).stdout
        self.assertEqual(said, "")
        self.ok("simulate", "sym26", "--length", "2s", "--seed", "7", "-o", self.folder / "typed.tsv")
        self.assertEqual(made.read_bytes(), (self.folder / "typed.tsv").read_bytes())

    def test_is_refused_with_its_line(self):
        spikes = self.chain_file()
        for text, says in (("[episodes]\nmin-cuont = 5\n", "line 2: episodes has no option 'min-cuont'; did you mean min-count?"),
                           ("[epsiodes]\nmin-count = 5\n", "line 1: there is no command 'epsiodes'; did you mean episodes?"),
                           ("[simulate.sym62]\nseed = 5\n", "line 1: there is no model 'sym62'; did you mean sym26?"),
                           ('\n[episodes]\n\ndelays = "5"\n', "line 4: --delays"),
                           ("[episodes]\nmin-count = -5\n", "line 2: --min-count: '-5' is not a whole number"),
                           ("[episodes]\nallow-negative = 1\n", "line 2: expected true or false for 'allow-negative'"),
                           ("[episodes]\nmin-count = 2020-01-01\n", "line 2: expected text or a number for 'min-count'"),
                           ("[episodes]\nhelp = true\n", "line 2: 'help' can only be given on the command line"),
                           ("[episodes]\nmin-count = \n", "line 2: "), ("no sense", "line 1: "),
                           ("min-count = 5\n", "line 1: 'min-count' is an option of episodes: it stands below [episodes]"),
                           ("min-occ = 5\n", "line 1: spikeweave has no option 'min-occ'"),
                           ("[episodes]\ndelays = 4-6ms\n", "line 2: Error while parsing date: expected 4-digit year, saw '-'; text stands in quotes"),
                           ("[episodes.chains]\nseed = 5\n", "line 1: episodes has no tables, but options"),
                           ("episodes = 3\n", "line 1: expected a table [episodes]"), ("[[episodes]]\n", "line 1: expected a table [episodes]"),
                           ("[episodes]\nquiet = true\n", "line 2: 'quiet' goes with every command"),
                           ("[episodes]\nmax-size = 2\nmax_size = 3\n", "'max-size' is given twice"),
                           ("[episodes]\nmax-size = []\n", "line 2: the list of 'max-size' is empty")):
            with self.subTest(text):
                path = self.file("study.toml", text)
                self.refused("episodes", spikes, "--config", path, says=(str(path), says))

    def test_takes_part_in_the_rules_between_options(self):
        path = self.file("study.toml", '[episodes]\ndelay-grid = "0ms:20ms:5ms"\ndelays = "1-2ms"\n')
        self.refused("episodes", self.chain_file(), "--config", path, says="cannot be given together with")
        path = self.file("study.toml", "[episodes]\nsynchrony-window = \"1ms\"\n")
        self.refused("episodes", self.chain_file(), "--config", path, says="is only for runs with --drop-synchronous")

    def test_must_be_readable(self):
        for path in (self.folder / "none.toml", self.folder):
            self.refused("episodes", self.chain_file(), "--config", path, says=f"--config: cannot read '{path}'")

    def test_does_not_keep_help_from_being_shown(self):
        path = self.file("study.toml", "[epsiodes]\n")
        wanted = self.ok("episodes", "--help").stdout
        for words in (("episodes", "--help"), ("help", "episodes"), ("episodes", "--help")):
            self.assertEqual(self.ok(*words, "--config", path).stdout, wanted)
        self.assertEqual(self.ok("--version", "--config", path).stdout, self.ok("--version").stdout)

    def test_may_be_a_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for text, works in (("quiet = true\n", True), ("[episodes]\nmin-cuont = 5\n", False)):
            writer = threading.Thread(target=pipe.write_text, args=(text,))
            writer.start()
            result = run("episodes", self.chain_file(), "--config", pipe)
            writer.join()
            self.assertEqual((result.returncode, result.stdout), (0 if works else 2, ""), result.stderr)

    def test_gives_way_to_what_does_not_go_with_it(self):
        parameters = self.found("[episodes]\nmin-count = 40\n", "--min-rate", "3")
        self.assertEqual(parameters["min_count"], 15)  # 3 a second in 4.95 s

    def test_is_one(self):
        path = self.file("study.toml", "quiet = true\n")
        self.refused("episodes", self.chain_file(), "--config", path, "--config", path, says="--config: it is given 2 times")

    def test_names_a_file(self):
        self.refused("episodes", self.chain_file(), "--config", "", says="--config: expected a file")


if __name__ == "__main__":
    unittest.main()
