"""Our patterns equal those of the miner in Elephant's wheel, item by item, on the benchmark of Porrmann et al. 2021.

Usage: spade_fim_test.py SPADE_DUMP FOLDER_OF_THE_BENCHMARK. Exits with 77, which CTest shows as skipped, without
Elephant's compiled miner or without the data. Job 3 takes fim minutes; benchmarks/mine/spade/spade_fim.py compares it.
"""

import gzip
import itertools
import os
import pathlib
import subprocess
import sys
import unittest

try:
    from elephant.spade_src import fim
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

DUMP, FOLDER = sys.argv[1:3]
del sys.argv[1:3]
TRANSACTIONS = pathlib.Path(FOLDER) / "movement_pghf.transactions.txt.gz"
WINDOW = 20
SHARE = float(os.environ.get("SPIKEWEAVE_PROPERTY_SHARE", "1"))
if not TRANSACTIONS.exists():
    print(f"skipped: no {TRANSACTIONS}")
    sys.exit(77)


def of_fim(min_occ, min_spikes, min_neu):
    with gzip.open(TRANSACTIONS, "rt") as file:
        windows = [[int(item) for item in line.split()] for line in file]
    found = fim.fpgrowth(tracts=windows, target="c", supp=-min_occ, zmin=min_spikes, zmax=0, report="a", algo="s",
                         winlen=WINDOW, min_neu=min_neu, threads=1, verbose=4)
    return sorted((sorted(items), count) for items, count in found)


def of_ours(min_occ, min_spikes, min_neu, strategy):
    text = subprocess.run([DUMP, TRANSACTIONS, str(WINDOW), str(min_occ), str(min_spikes), str(min_neu), strategy],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in text.splitlines():
        items, count = line.split(":")
        yield [int(item) for item in items.split()], int(count)


class SameAsFim(unittest.TestCase):
    def check(self, rule, patterns, strategies):
        expected = of_fim(*rule)
        self.assertEqual(len(expected), patterns)
        for strategy in strategies:
            with self.subTest(strategy=strategy):
                ours = of_ours(*rule, strategy)
                # assertEqual would print millions of lines if the lists differ.
                for row, (one, other) in enumerate(itertools.zip_longest(ours, expected)):
                    if one != other:
                        self.fail(f"pattern {row} is {one}, of fim {other}")

    def test_job_0(self):
        self.check((88, 2, 2), 22_709, ["fp-growth", "first-bin"])

    @unittest.skipIf(SHARE < 1, "a shortened run, under a sanitizer")
    def test_patterns_of_three_and_more_units(self):
        # tests/mine/spade/parity_test.cpp compares fp-growth with first-bin.
        self.check((40, 3, 3), 157_748, ["first-bin"])

    @unittest.skipIf(SHARE <= 1, "fim takes minutes; SPIKEWEAVE_PROPERTY_SHARE above 1 adds this job")
    def test_job_1(self):
        self.check((25, 3, 3), 1_562_056, ["first-bin"])


if __name__ == "__main__":
    unittest.main()
