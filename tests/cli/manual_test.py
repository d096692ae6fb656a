"""spikeweave manual: pages for man, made from the descriptions of --help."""

import re
import shutil
import subprocess
import unittest

from support import CliTest, run

COMMANDS = [line.split()[0] for line in run("--help").stdout.split("Subcommands:\n")[1].splitlines() if re.match(r"  \w", line)]


class Manual(CliTest):
    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_pages_are_formatted_without_a_warning(self):
        for words in ([], *([command] for command in COMMANDS)):
            with self.subTest(words):
                page = self.ok("manual", *words).stdout
                done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-c", "-rLL=78n"], input=page, capture_output=True,
                                      text=True, check=True)
                self.assertEqual(done.stderr, "")
                shown = " ".join(re.sub(r".\x08", "", done.stdout).split()).replace("‐ ", "").replace("‐", "-")
                for heading in ("NAME", "SYNOPSIS", "OPTIONS", "SEE ALSO"):
                    self.assertIn(heading, shown)
                for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", self.ok(*words, "--help").stdout, re.MULTILINE):
                    self.assertIn(option, shown)

    def test_a_page_names_its_command(self):
        self.assertTrue(self.ok("manual").stdout.startswith(".TH spikeweave 1 "))
        page = self.ok("manual", "episodes").stdout
        self.assertTrue(page.startswith(".TH spikeweave\\-episodes 1 "))
        self.assertIn("\\fB\\-\\-min\\-count\\fR", page)

    def test_the_page_of_simulate_has_its_models(self):
        page = self.ok("manual", "simulate").stdout
        for model in ("sym26", "culture", "recording"):
            self.assertIn(f".SH spikeweave simulate {model}\n", page)
        self.assertIn("\\fB\\-\\-difficulty\\fR", page)

    def test_there_is_no_page_about_other_words(self):
        self.refused("manual", "epsiodes", says="there is no command 'epsiodes'; did you mean episodes?")


if __name__ == "__main__":
    unittest.main()
