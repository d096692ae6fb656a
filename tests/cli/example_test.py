"""spikeweave example: small recordings, and whether an analysis finds the answers that they promise."""

import json
import shlex
import unittest

from support import CliTest, needs_full_speed


class Example(CliTest):
    def test_all_are_listed(self):
        text = self.ok("example").stdout
        for name in ("culture", "network", "chains", "patterns", "recording"):
            self.assertRegex(text, rf"(?m)^{name} ")

    def written(self, name):
        """Writes an example, runs the command that it names, and returns the folder of the result."""
        text = self.ok("example", name, cwd=self.folder).stdout
        program, *words = shlex.split(text.splitlines()[-1].removeprefix("next: "))
        self.assertEqual(program, "spikeweave")
        self.ok(*words, "-o", "found", cwd=self.folder)
        return self.folder / "found"

    def rows(self, table):
        header, *lines = table.read_text().splitlines()
        return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]

    def summary(self, folder):
        return json.loads((folder / "run.json").read_text())["summary"]

    def test_an_example_is_the_simulation_of_its_options(self):
        self.ok("example", "chains", "-o", self.folder / "a.npz")
        self.ok("simulate", "sym26", "--seed", "1", "-o", self.folder / "b.npz")
        self.assertEqual((self.folder / "a.npz").read_bytes(), (self.folder / "b.npz").read_bytes())
        self.assertEqual((self.folder / "a.truth.tsv").read_bytes(), (self.folder / "b.truth.tsv").read_bytes())
        self.refused("example", "chains", "-o", self.folder / "a.npz", says="exists")

    def test_an_ending_that_no_format_has_is_refused_with_those_that_work(self):
        self.refused("example", "chains", "-o", self.folder / "a.mat", says="spikes are written as .tsv, .txt, .csv (each also with .gz), .npz or .nwb (NWB, also as .h5)")

    def test_an_output_needs_a_name(self):
        self.refused("example", "-o", self.folder / "a.tsv", says="name it")

    def test_an_hdf5_file_is_nwb(self):
        for ending in ("nwb", "h5"):
            self.ok("example", "chains", "-o", self.folder / f"{ending}.{ending}")
        self.assertIn("a.h5 (nwb)", self.ok("info", (self.folder / "h5.h5").rename(self.folder / "a.h5")).stdout)
        self.ok("convert", self.folder / "a.h5", self.folder / "again.tsv")
        self.ok("convert", self.folder / "nwb.nwb", self.folder / "other.tsv")
        self.assertEqual((self.folder / "again.tsv").read_bytes(), (self.folder / "other.tsv").read_bytes())

    def test_chains_has_two(self):
        self.assertIn("2 chains of 4 to 8 units", self.summary(self.written("chains")))

    @needs_full_speed
    def test_culture_has_one_chain_in_spite_of_its_bursts(self):
        found = self.written("culture")
        self.assertTrue(self.summary(found).startswith("3 connections (3 excitatory, 0 inhibitory) among 60 units, 1 chain of 4 units;"))
        # The chain occurs so often in a burst that its occurrences overlap.
        above = {row["units"]: int(row["count"]) / float(row["expected"]) for row in self.rows(found / "episodes.tsv") if row["significant"] == "yes"}
        self.assertGreater(min(above.values()), 1.05, above)
        self.assertIn("0→1→2→3", above)

    @needs_full_speed
    def test_patterns_has_two(self):
        self.assertTrue(self.summary(self.written("patterns")).startswith("2 significant patterns of 3 to 5 spikes"))

    @needs_full_speed
    def test_recording_has_units_without_connections(self):
        found = self.written("recording")
        self.assertTrue(self.summary(found / "sorted").startswith("12 units: 12 good"))
        self.assertTrue(self.summary(found / "circuit").startswith("No connection among 12 units"))

    @needs_full_speed
    def test_network_has_synapses(self):
        found = self.written("network")
        truth = {tuple(line.split("\t")[:2]) for line in (self.folder / "network.truth.tsv").read_text().splitlines()[1:]}
        connections = {(row["from"], row["to"]) for row in self.rows(found / "circuit.tsv") if row["kind"] == "direct"}
        self.assertGreater(len(connections), 10)
        self.assertLessEqual(connections, truth)

    def test_other_names_are_refused(self):
        self.refused("example", "cultur", says=("culture, network, chains, patterns, recording", "did you mean culture?"))

    def test_a_recording_is_a_folder(self):
        for name in ("rec.nwb", "rec.h5", "rec.tsv"):
            self.refused("example", "recording", "-o", self.folder / name, says=(name, "folder"))
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    unittest.main()
