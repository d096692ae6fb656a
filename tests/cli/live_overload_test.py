"""`spikeweave live` where windows need more time or memory than there is: a bursting culture at 20 times its speed."""

import json
import os
import unittest
from pathlib import Path

from support import ROOT, CliTest, needs_plain_memory, run_for_peak

DATA = Path(os.environ.get("SPIKEWEAVE_SHARED_DATA", ROOT.parent / "shared/data"))
CULTURE = DATA / "wagenaar2006/6-2-28.spk.txt"
LEAST_COUNT = 20
SEARCH = ("--delays", "0-10ms,10-20ms", "--min-count", str(LEAST_COUNT), "--self-repeats")
MOST_BYTES = 400_000_000
BEGIN, END = 1440, 1520  # seconds, with a burst of 5,500 spikes in ten of them


@unittest.skipUnless(CULTURE.exists(), f"no {CULTURE}")
class Overload(CliTest):
    def setUp(self):
        super().setUp()
        with open(CULTURE, encoding="utf-8") as file:
            rows = [line.split() for line in file]
        self.spikes = [(time, unit) for time, unit in rows if BEGIN <= float(time) < END and unit != "60"]
        self.data = self.spike_file("culture.tsv", self.spikes)

    def spike_file(self, name, spikes):
        return self.file(name, "time_s\tunit\n" + "".join(f"{time}\t{unit}\n" for time, unit in spikes))

    def batch(self, begin_us, end_us, size):
        spikes = [one for one in self.spikes if begin_us <= round(float(one[0]) * 1e6) < end_us]
        part = self.spike_file("part.tsv", spikes)
        found = json.loads(self.ok("episodes", part, "--json", *SEARCH, "--max-size", size).stdout)
        # The edges of the circuit that are less frequent are no result of the search.
        return sorted((one["units"], one["count"]) for one in found["episodes"] if one["count"] >= LEAST_COUNT)

    @needs_plain_memory
    def test_is_said_and_keeps_to_its_memory(self):
        session = self.folder / "s.session"
        result, peak = run_for_peak(
            "live", self.data, "--speed", "20", "--window", "20s", "--hop", "1s", *SEARCH, "--max-memory", f"{MOST_BYTES // 10**6}MB",
            "--record", session, "--to", self.folder / "to.jsonl")
        results = [json.loads(line) for line in (self.folder / "to.jsonl").read_text(encoding="utf-8").splitlines()]
        stats = results[-1]
        windows = [one for one in results if one["type"] == "window"]
        skipped = [one for one in results if one["type"] == "skipped"]
        incomplete = [one for one in windows if one["complete_to_size"] is not None]

        self.assertEqual(result.returncode, 1 if skipped else 0, result.stderr)
        self.assertIn(f"{len(skipped)} {'window was' if len(skipped) == 1 else 'windows were'} skipped and the search of {len(incomplete)} ended early", result.stderr)
        self.assertEqual((stats["windows"], stats["incomplete"], stats["skipped"]),
                         (len(windows), len(incomplete), len(skipped)))
        self.assertEqual(sorted(one["window"] for one in windows + skipped),
                         list(range(BEGIN, BEGIN + len(windows) + len(skipped))))
        self.assertGreater(len(incomplete), 5)
        self.assertLess(peak, MOST_BYTES)
        checked = set()
        for one in incomplete:
            size = one["complete_to_size"]
            if size in checked:
                continue
            checked.add(size)
            self.assertLessEqual(max((len(episode["units"]) for episode in one["episodes"]), default=0), size)
            found = sorted((episode["units"], episode["count"]) for episode in one["episodes"])
            self.assertEqual(found, self.batch(*one["t_us"], size), f"window {one['window']}, sizes up to {size}")
        self.assertEqual(json.loads(self.ok("live", session, "--verify").stdout)["windows"], len(windows) + len(skipped))


if __name__ == "__main__":
    unittest.main()
