"""workflows/snakemake, which finishes after it was killed and does nothing twice, and examples/study, which uses it.

Exits with 77, which CTest shows as skipped, without the package snakemake.
"""

import csv
import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest

from support import ROOT, SPIKEWEAVE, CliTest, state

WORKFLOW = ROOT / "workflows" / "snakemake"
STUDY = ROOT / "examples" / "study"
SPADE = "--surrogates 40 --seed 1 --alpha 0.1"
EPISODES = "--delays 4-6ms --min-count 10"
CONFIG = f"""
sheet: sheet.csv
output: results
spikeweave: ./counted
analyses:
  chains:
    command: episodes
    options: {EPISODES}
    tables: [episodes, circuit]
    page: --as series
  patterns:
    command: spade
    options: {SPADE}
    parts: 3
    tables: [patterns]
"""
# Notes what is called and what is done. The sixth call waits to be killed.
COUNTED = f"""#!/bin/sh
echo "began $*" >> calls
if [ $(grep -c began calls) = 6 ]; then touch waits; sleep 100; fi
{shlex.quote(SPIKEWEAVE)} "$@" && echo "done $*" >> calls
"""


class Snakemake(CliTest):
    def start(self, *options, file=WORKFLOW / "Snakefile"):
        # With one core, jobs run one after the other.
        return subprocess.Popen([sys.executable, "-m", "snakemake", "-s", file, "--configfile", "config.yaml", "--cores", "1", *options],
                                cwd=self.folder, env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def finish(self, *options, **started):
        output = self.start(*options, **started).communicate(timeout=240)[0]
        return output

    def calls(self, word):
        path = self.folder / "calls"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [line.removeprefix(word + " ") for line in lines if line.startswith(word)]

    def kill_in_the_middle(self):
        running = self.start()
        until = time.monotonic() + 150
        while not (self.folder / "waits").exists():
            self.assertIsNone(running.poll(), running.stdout.read() if running.poll() is not None else "")
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate(timeout=60)

    def test_finishes_after_a_kill_and_does_nothing_twice(self):
        for number, name in enumerate("ABC"):
            self.ok("simulate", "patterns", "--units", "8", "--rate", "8", "--patterns", "4", "--occurrences", "15", "--length", "20s",
                    "--seed", number, "-o", self.folder / f"{name}.tsv")
        self.file("sheet.csv", "recording,file,group\nA,A.tsv,wt\nB,B.tsv,ko\nC,C.tsv,ko\n")
        self.file("config.yaml", CONFIG)
        self.file("counted", COUNTED).chmod(0o755)

        self.kill_in_the_middle()
        done = self.calls("done")
        self.assertEqual(len(done), 5)
        self.finish("--unlock")
        output = self.finish()

        self.assertIn("(100%) done", output)
        after = self.calls("done")
        # Two analyses of three recordings, one of them in three parts that are merged; three tables and a page.
        self.assertEqual(len(after), 3 * (1 + 3 + 1) + 4)
        self.assertEqual(len(set(after)), len(after))
        self.assertEqual(set(self.calls("began")), set(after))
        for name in "ABC":
            self.ok("spade", f"{name}.tsv", *SPADE.split(), "--threads", "1", "-o", f"patterns-{name}", cwd=self.folder)
            self.assertEqual(state(self.folder / "results/patterns" / name), state(self.folder / f"patterns-{name}"))
            self.ok("episodes", f"{name}.tsv", *EPISODES.split(), "--threads", "1", "-o", f"chains-{name}", cwd=self.folder)
            self.assertEqual(state(self.folder / "results/chains" / name), state(self.folder / f"chains-{name}"))
        table = (self.folder / "results/patterns.patterns.tsv").read_text(encoding="utf-8").splitlines()
        self.assertEqual({line.split("\t")[0] for line in table[1:]}, set("ABC"))
        self.assertIn('"kind":"series"', (self.folder / "results/chains.html").read_text(encoding="utf-8"))

        self.assertIn("Nothing to be done", self.finish())
        self.assertEqual(self.calls("done"), after)

    def test_the_example_of_a_study(self):
        for name in ("config.yaml", "recordings.tsv"):
            shutil.copy(STUDY / name, self.folder)
        self.file("spikeweave", f'#!/bin/sh\nexec {shlex.quote(SPIKEWEAVE)} "$@"\n').chmod(0o755)

        output = self.finish("--config", "spikeweave=./spikeweave", file=STUDY / "Snakefile")

        self.assertIn("(100%) done", output)
        with (self.folder / "results/groups/differences.tsv").open(encoding="utf-8", newline="") as lines:
            found = {row["units"]: (row["change"], row["direction"]) for row in csv.DictReader(lines, delimiter="\t")}
        self.assertEqual(found["n0→n1→n2→n3"], ("excess", "up"))
        table = (self.folder / "results/chains.episodes.tsv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len({line.split("\t")[0] for line in table[1:]}), 8)
        self.assertIn("Nothing to be done", self.finish("--config", "spikeweave=./spikeweave", file=STUDY / "Snakefile"))


if __name__ == "__main__":
    if importlib.util.find_spec("snakemake") is None:
        print("the package snakemake is not installed")
        sys.exit(77)
    unittest.main()
