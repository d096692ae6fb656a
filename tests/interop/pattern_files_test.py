"""pynwb opens and validates the patterns that spikeweave writes.

Usage: pattern_files_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without those packages.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import numpy as np
    import pynwb
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

SPIKEWEAVE = sys.argv.pop(1)


class PatternFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def spikes(self):
        """Writes µ1 10 ms before n2 and n3, every 100 ms for 3 s, and n2 alone in between."""
        rows = []
        for i in range(30):
            rows += [(0.1 * i + 0.001, "µ1"), (0.1 * i + 0.011, "n2"), (0.1 * i + 0.012, "n3"), (0.1 * i + 0.06, "n2")]
        path = self.folder / "s.tsv"
        path.write_text("".join(f"{t:.6f}\t{u}\n" for t, u in rows), encoding="utf-8")
        return path

    def mine(self, *options):
        out = self.folder / "out"
        subprocess.run([SPIKEWEAVE, "spade", self.spikes(), "--nwb", "--overwrite", "-o", out, *options], check=True,
                       stdout=subprocess.PIPE)
        with open(out / "patterns.tsv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        return out / "patterns.nwb", rows

    def check(self, path, rows):
        with pynwb.NWBHDF5IO(path, "r") as io:
            self.assertEqual(pynwb.validate(io=io), [])
        with pynwb.NWBHDF5IO(path, "r") as io:
            table = io.read().analysis["spade_patterns"]
            self.assertEqual(len(table), len(rows))
            for i, row in enumerate(rows):
                self.assertEqual(table.id[i], int(row["pattern"]))
                self.assertEqual(list(table["units"][i]), row["units"].split(","))
                np.testing.assert_allclose(table["lags"][i], [float(lag) / 1000 for lag in row["lags_ms"].split(",")])
                np.testing.assert_allclose(table["occurrence_times"][i],
                                           [float(time) for time in row["times_s"].split(",")])
                self.assertEqual(table["count"][i], int(row["count"]))
                self.assertAlmostEqual(table["duration"][i], float(row["duration_ms"]) / 1000)
                for column in ("p", "q"):
                    self.assertEqual(column in table.colnames, column in row)
                    if column in row:
                        self.assertAlmostEqual(table[column][i], float(row[column]), places=5)
                if "stability_intensional" in row:
                    self.assertAlmostEqual(table["stability_intensional"][i], float(row["stability_intensional"]), places=5)

    def test_patterns_that_were_not_tested(self):
        path, rows = self.mine("--min-occ", "20")
        self.assertGreater(len(rows), 0)
        self.check(path, rows)

    def test_patterns_with_p_and_stability(self):
        path, rows = self.mine("--min-occ", "5", "--surrogates", "40", "--alpha", "0.05", "--stability", "0.1,0.1")
        self.assertGreater(len(rows), 0)
        self.assertIn("p", rows[0])
        self.check(path, rows)

    def test_no_pattern(self):
        path, rows = self.mine("--min-occ", "100")
        self.assertEqual(rows, [])
        self.check(path, rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
