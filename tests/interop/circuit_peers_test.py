"""The rules and scores of benchmarks/assess/circuit, on a network with one synapse of either sign.

Usage: circuit_peers_test.py FOLDER_OF_THE_BENCHMARK. Exits with 77, which CTest shows as skipped, without SciPy.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import scipy.optimize
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

BENCHMARK = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(BENCHMARK))
sys.dont_write_bytecode = True
import against_peers
import correlograms
import glmcc
import networks
import own
import peers
import scores

LENGTH_S = 900
# Answers as the command would: from n0 to n1 a direct and to n2 an indirect edge, and p of one pair more.
COMMAND = """#!/bin/sh
if [ "$1" = simulate ]; then
  [ "$2" = network ] || exit 2
  cp "{spikes}" "$6" && cp "{truth}" "${{6%.tsv}}.truth.tsv"
else
  mkdir "$4"
  printf 'from\\tto\\tsign\\tgain\\tp\\tkind\\nn0\\tn1\\texcitatory\\t3\\t1e-9\\tdirect\\n' >"$4/circuit.tsv"
  printf 'n0\\tn2\\texcitatory\\t2\\t1e-5\\tindirect\\n' >>"$4/circuit.tsv"
  printf 'from\\tto\\tsign\\tp\\nn0\\tn1\\texcitatory\\t1e-9\\nn2\\tn1\\tinhibitory\\t0.01\\n' >"$4/pairs.tsv"
fi
"""


def trains(seed=2):
    """n0 excites n1 with 3 ms; n1 is silent for 8 ms after a spike of n2; n3 does nothing."""
    random = numpy.random.default_rng(seed)
    n0, n1, n2, n3 = (numpy.sort(random.uniform(0, LENGTH_S, rate * LENGTH_S)) for rate in (5, 12, 10, 5))
    follow = n0[random.random(len(n0)) < 0.15]
    n1 = numpy.sort(numpy.append(n1, follow + 0.003 + random.exponential(0.001, len(follow))))
    since = n1 - n2[numpy.maximum(numpy.searchsorted(n2, n1) - 1, 0)]
    return [n0, n1[(since < 0) | (since > 0.008)], n2, n3]


def write_network(folder, truth):
    file = pathlib.Path(folder) / "small.tsv"
    spikes = sorted((time, f"n{unit}") for unit, train in enumerate(trains()) for time in train)
    file.write_text("time_s\tunit\n" + "".join(f"{time:.6f}\t{unit}\n" for time, unit in spikes))
    (file.parent / "small.truth.tsv").write_text(truth)
    return file


class Circuit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = write_network(folder.name, "from\tto\tdelay_ms\tweight_mv\nn0\tn1\t3\t1\nn2\tn1\t-\t-0.5\n")
        self.network = networks.read(self.file)
        self.command = self.folder / "command"
        truth = networks.truth_file(self.file)
        self.command.write_text(COMMAND.format(spikes=self.file, truth=truth))
        self.command.chmod(0o755)

    def test_reads_the_truth_by_names_and_by_numbers(self):
        wanted = numpy.zeros((4, 4))
        wanted[0, 1], wanted[2, 1] = 1, -0.5
        numpy.testing.assert_array_equal(self.network.weights, wanted)
        networks.truth_file(self.file).write_text("pre\tpost\tweight\n0\t1\t1\n2\t1\t-0.5\n")
        numpy.testing.assert_array_equal(networks.read(self.file).weights, wanted)
        self.assertEqual(networks.files(self.folder), [self.file])

    def test_every_rule_finds_the_synapses_and_no_others_but_beside_a_trough(self):
        peer = peers.Peers(self.network, surrogates=200)
        for name, rule in against_peers.RULES.items():
            with self.subTest(name):
                answer = rule(peer)
                part = answer["excitatory"]
                part.found[[1, 2], [2, 1]] = False  # what is beside a trough
                self.assertEqual(numpy.argwhere(part.found).tolist(), [[0, 1]])
                self.assertEqual(numpy.argmax(scores.pairs(part.score)), 0)  # of 12 ordered pairs
                self.assertGreater(part.strength[0, 1], 0)
                part = answer["inhibitory"]
                self.assertTrue(part.found[2, 1])
                self.assertEqual(numpy.argmax(scores.pairs(part.score)), 7)
                self.assertGreater(part.strength[2, 1], 0)

    def test_counts_lags_of_either_direction_once(self):
        spikes = correlograms.Spikes([numpy.array([1.0, 2.0]), numpy.array([1.0008, 2.0, 1.9996])])
        counts = correlograms.centred(spikes, 0.0004, 3)
        self.assertEqual(counts[0, 1].tolist(), [0, 0, 1, 1, 0, 1, 0])
        self.assertEqual(counts[1, 0].tolist(), [0, 1, 0, 1, 1, 0, 0])

    def test_glmcc_is_at_the_highest_posterior(self):
        peer = peers.Peers(self.network)
        counts, sums = peer.glmcc_data()
        data = counts[[0], [1]], numpy.array([[sums[3][0, 1], sums[3][1, 0]]])
        a, j, reached = glmcc.fit(*data, 3)
        f = glmcc.synaptic(3)
        best = scipy.optimize.minimize(
            lambda x: -glmcc.log_posterior(x[None, :-2], x[None, -2:], *data, f)[0],
            numpy.append(a[0] + 0.05, [0.1, 0.1]), method="BFGS", options={"maxiter": 300})
        self.assertGreater(reached[0], -best.fun - 1e-3)
        numpy.testing.assert_allclose(best.x[-2:], j[0], atol=2e-3)

    def test_scores_signs_apart(self):
        found = numpy.zeros((4, 4), bool)
        found[0, 1] = found[2, 1] = True
        part = peers.Part(found, found.astype(float), found.astype(float))
        got = scores.of_sign(self.network.weights, "excitatory", part)
        self.assertEqual((got["synapses"], got["found"], got["false"]), (1, 1, 1))
        self.assertAlmostEqual(got["MCC"], 10 / (1 * 2 * 10 * 11) ** 0.5)
        self.assertAlmostEqual(got["AP"], 0.5)
        self.assertIsNone(got["Spearman"])

    def test_reads_what_the_command_writes(self):
        answer, seconds = own.circuit(self.command, self.network)
        self.assertGreaterEqual(seconds, 0)
        self.assertEqual(numpy.argwhere(answer["excitatory"].found).tolist(), [[0, 1]])
        self.assertEqual(answer["excitatory"].strength[0, 1], 3)
        self.assertAlmostEqual(answer["excitatory"].score[0, 1] - own.FAR, 9)
        self.assertAlmostEqual(answer["inhibitory"].score[0, 1] - own.FAR, -9)
        self.assertEqual(answer["excitatory"].score[0, 2], 0)
        self.assertAlmostEqual(answer["inhibitory"].score[2, 1] - own.FAR, 2)
        self.assertFalse(answer["inhibitory"].found.any())

    def test_tolerates_an_older_table(self):
        edges = [{"from": "n0", "to": "n1", "p": "1e-4", "count": "30", "expected": "10"}]
        part = own.parts_of(edges, edges, self.network.units)["excitatory"]
        self.assertTrue(part.found[0, 1])
        self.assertAlmostEqual(part.strength[0, 1], 3)

    def test_ranks_a_pair_by_its_synaptic_delay(self):
        def listed(sign, delay, p, kind):
            return {"from": "n0", "to": "n1", "sign": sign, "delay": delay, "p": p, "kind": kind}

        slow = listed("excitatory", "(8,12] ms", "1e-20", "-")
        inhibition = listed("inhibitory", "(2.5,5.5] ms", "1e-9", "direct")
        for pairs in ([slow, inhibition], [inhibition, slow]):
            answer = own.parts_of([], pairs, self.network.units)
            self.assertAlmostEqual(answer["inhibitory"].score[0, 1] - own.FAR, 9)
            self.assertAlmostEqual(answer["excitatory"].score[0, 1] - own.FAR, -9)
        explained = listed("excitatory", "(2.5,5.5] ms", "1e-9", "indirect")
        answer = own.parts_of([], [slow, explained], self.network.units)
        self.assertEqual(answer["excitatory"].score[0, 1], 0)

    def test_averages_over_simulated_networks(self):
        runs = self.folder / "runs.json"
        said = subprocess.run(
            [sys.executable, "-B", BENCHMARK / "against_peers.py", self.folder, "--command", self.command,
             "--seeds", "2", "--regime", "mine=", "--folder", self.folder / "made", "--only", "sCCG",
             "--only", "spikeweave", "--json", runs],
            capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said)
        self.assertIn("CoNNECT: skipped", said.stderr)
        rows = [line.split("\t") for line in said.stdout.splitlines()]
        wanted = ["mine", "excitatory", "spikeweave", "2", "1", "1", "0", "1.00", "1.00", ""]
        self.assertIn(wanted, [row[:10] for row in rows])
        self.assertEqual({(one["network"], one["seed"]) for one in json.loads(runs.read_text())},
                         {("small", None), ("mine", 1), ("mine", 2)})


if __name__ == "__main__":
    unittest.main()
