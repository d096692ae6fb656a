"""spikeweave convert."""

import json
import unittest

from support import CliTest, run


class Convert(CliTest):
    def test_keeps_every_spike_through_every_writer(self):
        original = json.loads(self.ok("info", "--json", self.chain_file()).stdout)
        for name in ("out.tsv", "out.csv.gz", "out.npz", "out.txt", "out.spk.txt", "out.spk.txt.gz"):
            said = self.ok("convert", self.folder / "chain.tsv", self.folder / name).stdout

            copy = json.loads(self.ok("info", "--json", self.folder / name).stdout)

            self.assertIn("wrote 200 spikes of 4 units", said)
            self.assertEqual(copy["units"], original["units"], name)

    def test_prints_what_info_says_as_json(self):
        path = self.chain_file()

        self.assertEqual(self.ok("convert", path, self.folder / "out.npz", "--json").stdout, self.ok("info", path, "--json").stdout)

    def test_says_what_it_dropped(self):
        path = self.file("twice.tsv", "time\tunit\n0.1\ta\n0.1\ta\n0.2\tb\n")

        said = self.ok("convert", path, self.folder / "out.tsv").stdout

        self.assertIn("wrote 2 spikes", said)
        self.assertIn("dropped 1 exact duplicate", said)

    def test_does_not_replace_a_file_unless_asked(self):
        path = self.chain_file()
        kept = self.file("out.tsv", "mine")

        self.refused("convert", path, kept, says=("exists", "--overwrite"))
        self.assertEqual(kept.read_text(), "mine")
        self.ok("convert", path, kept, "--overwrite")

        self.assertNotEqual(kept.read_text(), "mine")

    def test_refuses_an_extension_that_has_no_writer(self):
        self.refused("convert", self.chain_file(), self.folder / "out.xyz", says="out.xyz")

    def test_leaves_nothing_of_a_broken_input(self):
        path = self.file("broken.tsv", "time\tunit\n0.1\ta\nnan\tb\n")

        self.refused("convert", path, self.folder / "out.npz", says=("broken.tsv", "3"))
        self.assertEqual(run("info", self.folder / "out.npz").returncode, 2)


if __name__ == "__main__":
    unittest.main()
