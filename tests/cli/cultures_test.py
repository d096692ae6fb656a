"""workflows/cultures: the study of cultures on three recordings, which finishes after it was killed and does nothing twice.

Exits with 77, which CTest shows as skipped, without the packages or without the recordings in ../shared/data/cultures.
"""

import csv
import importlib.util
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as xml

from support import ROOT, SPIKEWEAVE, CliTest

WORKFLOW = ROOT / "workflows" / "cultures"
SHARED = pathlib.Path(os.environ.get("SPIKEWEAVE_SHARED_DATA", ROOT.parent / "shared" / "data"))
DAYS = sorted((SHARED / "cultures").glob("C57_CTX*.h5"))
PLATES = sorted((SHARED / "cultures").glob("ON_*.h5"))
# Those that the authors publish of these recordings.
PUBLISHED = """"","burst.rate","burst.dur","spikes.in.bursts","CV.IBI","num.n.s","fir.rate","burst.fir.rate"
"C57_CTX_G2CEPHYS3_TC12_DIV07_D",0.42,0.3765,36.1,0.616,0,0.0345735,37.2
"C57_CTX_G2CEPHYS3_TC12_DIV14_C",0.57,0.7055,31.807,0.654,0.197,0.264515,31.25
"C57_CTX_G2CEPHYS3_TC12_DIV21_C",1.92,0.734,62.2,0.895,3.16,0.462079,24.4
"""
COUNTED = f"""#!/bin/sh
echo "began $*" >> calls
if [ $(grep -c began calls) = 5 ]; then touch waits; sleep 100; fi
{shlex.quote(SPIKEWEAVE)} "$@" && echo "done $*" >> calls
"""


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


class Cultures(CliTest):
    def study(self, *arguments):
        subprocess.run([sys.executable, WORKFLOW / "study.py", *map(str, arguments)], check=True, cwd=self.folder)

    def start(self):
        return subprocess.Popen([sys.executable, "-m", "snakemake", "--cores", "1", "--rerun-incomplete", "--config", "spikeweave=./counted", f"python={sys.executable}", "published=published.csv",
                                 "plates=plates"], cwd=self.folder, env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def calls(self, word):
        return [line.removeprefix(word + " ") for line in (self.folder / "calls").read_text("utf-8").splitlines() if line.startswith(word)]

    def test_finishes_after_a_kill_and_does_nothing_twice(self):
        for name in ("Snakefile", "config.yaml", "study.py"):
            shutil.copy(WORKFLOW / name, self.folder)
        for folder, files in (("days", DAYS), ("plates", PLATES)):
            (self.folder / folder).mkdir()
            for file in files:
                shutil.copy(file, self.folder / folder)
        self.file("published.csv", PUBLISHED)
        self.file("counted", COUNTED).chmod(0o755)
        self.study("sheet", "days", "-o", "recordings.tsv")
        running = self.start()
        until = time.monotonic() + 150
        while not (self.folder / "waits").exists():
            self.assertIsNone(running.poll(), running.stdout.read() if running.poll() is not None else "")
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate(timeout=60)
        before = self.calls("done")
        subprocess.run([sys.executable, "-m", "snakemake", "--unlock"], check=True, cwd=self.folder, capture_output=True)
        ended = self.start()
        output = ended.communicate(timeout=400)[0]
        self.assertEqual(ended.returncode, 0, output)
        later = self.calls("done")[len(before):]
        self.assertGreater(len(before), 2)
        self.assertEqual(set(before) & set(later), set())
        self.check_results()

    def check_results(self):
        results = self.folder / "results"
        cohort = {row["recording"]: row for row in rows_of(results / "cohort.tsv")}
        self.assertEqual(set(cohort), {path.stem for path in DAYS})
        self.assertEqual([cohort[path.stem]["age"] for path in DAYS], ["7", "14", "21"])
        self.assertLess(float(cohort[DAYS[0].stem]["rate_hz"]), float(cohort[DAYS[2].stem]["rate_hz"]))
        # The array D has one day, C two of them, and a stability.
        self.assertEqual([bool(cohort[path.stem]["stability"]) for path in DAYS], [False, False, True])
        for row in rows_of(results / "published.tsv"):
            if row["difference"] == "the same":
                self.assertEqual(float(row["within_1_percent"]), 1, row)
        pictures = sorted((results / "figures").glob("*.svg"))
        self.assertEqual(len(pictures), 11)
        for picture in [*pictures, *(results / "figures/plates").glob("*.svg")]:
            self.assertTrue(xml.parse(picture).getroot().tag.endswith("svg"))
        wells = rows_of(results / "wells.tsv")
        self.assertEqual({(row["plate"], row["age"], row["treatment"]) for row in wells}, {("ON_20130528_MW1007-101", "2", "control")})
        self.assertEqual(rows_of(results / "wells.groups.tsv"), [])  # there is one group
        self.assertIn("E3", {row["well"] for row in wells})
        self.assertEqual(sum(int(row["unit_count"]) for row in wells), 25)

    def test_samples_are_cultures_and_not_recordings(self):
        from scipy import stats

        self.file("cohort.tsv", "recording\tculture\tregion\tage\trate_hz\n" + "".join(
            f"r{c}{i}\t{region}{c}\t{region}\t7\t{base + 0.1 * c + 0.01 * i}\n" for region, base in (("a", 1), ("b", 2)) for c in range(6) for i in range(5)))
        self.study("groups", "cohort.tsv", "-o", "groups.tsv")
        (row,) = rows_of(self.folder / "groups.tsv")
        self.assertEqual((row["groups"], row["samples"], row["significant"]), ("a,b", "6,6", "yes"))
        self.assertAlmostEqual(float(row["p"]), stats.mannwhitneyu(range(6), range(6, 12)).pvalue, delta=1e-5)

    def test_a_file_that_was_cut_off_is_named(self):
        (self.folder / "files").mkdir()
        (self.folder / "files/cut.h5").write_bytes(DAYS[0].read_bytes()[:-1000])
        done = subprocess.run([sys.executable, WORKFLOW / "study.py", "sheet", "files", "-o", "recordings.tsv"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, (self.folder / "recordings.tsv").exists()), (2, False))
        self.assertRegex(done.stderr, "^study.py: error: files/cut.h5 cannot be read: .*truncated.*\n$")


if __name__ == "__main__":
    missing = [name for name in ("snakemake", "matplotlib", "scipy", "h5py") if importlib.util.find_spec(name) is None]
    if missing or not DAYS or not PLATES:
        print(f"skipped: there is no {', '.join(missing) or SHARED / 'cultures'}")
        sys.exit(77)
    unittest.main()
