"""spikeweave simulate."""

import json
import unittest

from support import CliTest


class Simulate(CliTest):
    def bytes_of(self, *arguments):
        self.ok("simulate", *arguments, "-o", self.folder / "s.tsv", "--overwrite")
        return (self.folder / "s.tsv").read_bytes()

    def test_one_seed_gives_one_file_on_any_number_of_threads(self):
        for model in ("sym26", "culture", "poisson", "patterns"):
            first = self.bytes_of(model, "--length", "5s", "--seed", "3", "--threads", "1")

            self.assertEqual(self.bytes_of(model, "--length", "5s", "--seed", "3", "--threads", "2"), first, model)
            self.assertNotEqual(self.bytes_of(model, "--length", "5s", "--seed", "4"), first, model)

    def test_writes_the_truth_beside_the_spikes(self):
        self.ok("simulate", "sym26", "--length", "2s", "--seed", "1", "-o", self.folder / "s.tsv.gz")

        truth = (self.folder / "s.truth.tsv").read_text().splitlines()

        self.assertEqual(self.names(), ["s.truth.tsv", "s.tsv.gz"])
        self.assertEqual(truth[0].split("\t")[:3], ["from", "to", "delay_ms"])
        self.assertEqual(len(truth) - 1, 10)

    def test_prints_what_it_made_as_json(self):
        for model, size in (("sym26", ("--length", "2s")), ("patterns", ("--length", "2s")),
                            ("network", ("--neurons", "30", "--units", "10", "--length", "2s")),
                            ("recording", ("--length", "1s")), ("features", ("--spikes", "500"))):
            out = self.folder / (model if model == "recording" else f"{model}.npz")

            made = json.loads(self.ok("simulate", model, *size, "-o", out, "--json").stdout)

            self.assertEqual(made["output"], str(out))
            self.assertGreater(made["spikes"], 0, model)
            self.assertGreater(made["units"], 0, model)
            self.assertEqual(self.ok("simulate", model, *size, "-o", out, "--overwrite", "-q").stdout, "")
            if model in ("sym26", "patterns", "network"):
                read = json.loads(self.ok("info", out, "--json").stdout)
                self.assertEqual((made["spikes"], made["units"]), (read["spikes"], read["unit_count"]))

    def test_takes_the_options_of_its_model(self):
        out = self.ok("simulate", "sym26", "--units", "12", "--chains", "3,5", "--length", "1s", "--rest-rate", "10",
                      "--probability", "0.5", "--delay", "7ms", "--jitter", "1ms", "--background", "-o",
                      self.folder / "s.npz").stdout

        self.assertIn("of 12 units", out)

    def test_spade_finds_what_patterns_planted(self):
        spikes = self.folder / "hidden.tsv"
        self.ok("simulate", "patterns", "--units", "30", "--patterns", "4", "--occurrences", "15", "--lag", "5ms",
                "--rate", "10", "--rates", "spread", "--gamma", "2", "--dead-time", "2ms", "--seed", "1", "-o", spikes)
        self.ok("spade", spikes, "--surrogates", "200", "--reduce", "2,2,2", "-o", self.folder / "found")

        truth, planted = (self.folder / "hidden.truth.tsv").read_text().splitlines()
        header, *found = (self.folder / "found" / "patterns.tsv").read_text().splitlines()

        self.assertEqual(header.split("\t")[:6], truth.split("\t")[:6])
        self.assertIn(planted.split("\t")[2:4], [line.split("\t")[2:4] for line in found])

    def test_makes_a_network_with_its_synapses(self):
        network = ("network", "--neurons", "30", "--units", "20", "--length", "5s", "--epsp", "2", "--epsp-low-delay", "1ms",
                   "--epsp-high-delay", "1.5ms", "--seed", "1")
        out = self.ok("simulate", *network, "--threads", "1", "-o", self.folder / "n.tsv").stdout
        first = [(self.folder / name).read_bytes() for name in ("n.tsv", "n.truth.tsv")]
        self.ok("simulate", *network, "--threads", "2", "-o", self.folder / "n.tsv", "--overwrite")
        header, *truth = [line.split("\t") for line in first[1].decode().splitlines()]

        self.assertIn("of 20 units", out)
        self.assertIn(f"wrote {len(truth)} synapses", out)
        self.assertEqual([(self.folder / name).read_bytes() for name in ("n.tsv", "n.truth.tsv")], first)
        self.assertEqual(header, ["from", "to", "delay_ms", "weight_mv"])
        excitatory = [line for line in truth if float(line[3]) > 0]
        self.assertTrue(excitatory)
        self.assertLess(len(excitatory), len(truth))
        self.assertLessEqual({line[2] for line in excitatory}, {"1", "1.1", "1.2", "1.3", "1.4", "1.5"})
        self.assertLessEqual({line[0] for line in truth}, {f"n{unit}" for unit in range(20)})

    def test_refuses_a_network_that_cannot_be(self):
        for options, words in ((("--neurons", "30", "--units", "31"), "31 units"),
                               (("--epsp-low-delay", "6ms"), ("--epsp-low-delay", "--epsp-high-delay")),
                               (("--rhythms", "8,0"), "--rhythms"), (("--ipsp-low-delay", "1.25ms"), "--ipsp-low-delay")):
            with self.subTest(options):
                self.refused("simulate", "network", *options, "-o", self.folder / "no.tsv", says=words)

    def test_a_truth_that_exists_is_kept(self):
        kept = self.file("s.truth.tsv", "mine")

        self.refused("simulate", "sym26", "--length", "1s", "-o", self.folder / "s.tsv", says="s.truth.tsv exists")
        self.assertEqual(kept.read_text(), "mine")

    def test_refuses_nonsense(self):
        out = self.folder / "s.tsv"
        self.refused("simulate", "-o", out)
        self.refused("simulate", "sym27", "-o", out)
        self.refused("simulate", "sym26", says="--output")
        self.refused("simulate", "sym26", "-o", out, "--length", "-5s", says="--length")
        self.refused("simulate", "sym26", "-o", out, "--length", "5", says="no unit")
        self.refused("simulate", "sym26", "-o", out, "--units", "0", says="--units")
        self.refused("simulate", "sym26", "-o", out, "--units", "5")  # the chains need 12
        self.refused("simulate", "sym26", "-o", out, "--chains", "1", says="--chains")
        self.refused("simulate", "sym26", "-o", out, "--probability", "1.5", says="--probability")
        self.refused("simulate", "patterns", "-o", out, "--rates", "ramp", says="--rates")
        self.refused("simulate", "patterns", "-o", out, "--gamma", "0", says="--gamma")
        self.refused("simulate", "poisson", "-o", out, "--rate", "nan", says="--rate")
        self.refused("simulate", "poisson", "-o", out, "--seed", "x", says="--seed")


    def test_makes_features_that_sort_reads(self):
        path = self.folder / "f.npz"
        out = self.ok("simulate", "features", "--spikes", "1500", "--units", "4", "--channels", "8", "--of-no-unit", "0",
                      "--seed", "2", "--threads", "1", "-o", path).stdout
        self.assertIn("wrote 1,500 spikes of 4 units, 24 features each", out)
        first = path.read_bytes()
        self.assertRegex(self.ok("sort", path).stdout, "^4 units: .* 1,500 of 1,500 spikes in units")
        self.refused("simulate", "features", "-o", path, says=("f.npz", "--overwrite"))
        self.ok("simulate", "features", "--spikes", "1500", "--units", "4", "--channels", "8", "--of-no-unit", "0",
                "--seed", "2", "--threads", "2", "-o", path, "--overwrite")
        self.assertEqual(path.read_bytes(), first)
        for options, words in ((("--units", "0"), ("--units",)),
                               (("--jitter", "2"), ("--jitter",)),
                               (("--channels", "1", "--separation", "15"), ("no room", "30"))):
            with self.subTest(options):
                self.refused("simulate", "features", *options, "-o", self.folder / "no.npz", says=words)


if __name__ == "__main__":
    unittest.main()
