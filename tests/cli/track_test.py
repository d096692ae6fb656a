"""spikeweave track: units of several sorted recordings that are one neuron."""

import csv
import json
import unittest

from support import CliTest, state


class Track(CliTest):
    def setUp(self):
        super().setUp()
        for session in ("1", "2"):
            recording, to = self.folder / f"recording{session}", self.folder / f"day{session}"
            made = "--channels 16 --units 6 --length 10s --seed 4 --session-drift 10um".split()
            self.ok("simulate", "recording", *made, "--session", session, "-o", recording)
            self.ok("sort", recording, "--no-report", "--no-phy", "-o", to)
        self.days = [self.folder / "day1", self.folder / "day2"]

    def rows(self, name):
        with (self.folder / "out" / name).open(encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines, delimiter="\t"))

    def test_names_a_unit_alike_in_both_sessions(self):
        printed = self.ok("track", *self.days, "-o", self.folder / "out").stdout

        names = {}
        for row in self.rows("neurons.tsv"):
            names.setdefault(row["neuron"], {})[row["session"]] = row["unit"]
        both = {(of[str(self.days[0])], of[str(self.days[1])]) for of in names.values() if len(of) == 2}
        accepted = {(m["unit"], m["other_unit"]) for m in self.rows("matches.tsv") if m["accepted"] == "yes"}
        self.assertEqual(both, accepted)
        self.assertGreaterEqual(len(both), 4)
        self.assertIn(f"{len(names)} neurons in 2 sessions: {len(both)} in several of them", printed)
        self.assertEqual([row["spikes_file"] for row in self.rows("sessions.tsv")], ["spikes/1.npz", "spikes/2.npz"])
        for number, day in enumerate(self.days, 1):
            info = json.loads(self.ok("info", self.folder / f"out/spikes/{number}.npz", "--json").stdout)
            here = {neuron for neuron, of in names.items() if str(day) in of}
            self.assertEqual({unit["name"] for unit in info["units"]}, here)

    def test_prints_the_document_of_the_folder(self):
        document = json.loads(self.ok("track", *self.days, "--json", "-o", self.folder / "out").stdout)

        self.assertEqual(document["relations"][0]["session"], str(self.days[0]))
        self.assertEqual(len(document["neurons"]), len(self.rows("neurons.tsv")))
        self.assertEqual(document["run"]["parameters"]["min_probability"], 0.5)

    def test_an_earlier_result_is_replaced_only_if_asked(self):
        self.ok("track", *self.days, "-o", self.folder / "out")
        before = state(self.folder / "out")
        self.refused("track", *self.days, "-o", self.folder / "out", says=("--overwrite",))
        self.assertEqual(state(self.folder / "out"), before)
        self.ok("track", *self.days, "-o", self.folder / "out", "--overwrite")

    def test_refuses_what_cannot_be_tracked(self):
        out = ("-o", self.folder / "out")
        self.refused("track", self.days[0], *out, says=("two sessions or more",))
        self.refused("track", self.days[0], self.folder / "recording1", *out, says=("spikeweave sort wrote",))
        self.ok("simulate", "recording", "--channels", "8", "--units", "3", "--length", "5s", "-o", self.folder / "r8")
        self.ok("sort", self.folder / "r8", "--no-report", "--no-phy", "-o", self.folder / "d8")
        self.refused("track", self.days[0], self.folder / "d8", *out, says=("8 and 16 channels",))
        self.refused("track", *self.days, "--min-probability", "0", *out, says=("--min-probability",))
        self.assertFalse((self.folder / "out").exists())
        self.ok("track", *self.days, *out)
        self.refused("report", self.folder / "out", self.folder / "out", "-o", self.folder / "p.html", says=("result of track, which cannot be compared",))

    def test_its_folder_is_that_of_every_result(self):
        self.ok("track", *self.days, "-o", self.folder / "out")
        self.ok("report", self.folder / "out", "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_text("utf-8"), (self.folder / "out/report.html").read_text("utf-8"))
        for name in ("neurons", "matches", "relations", "sessions"):
            self.ok("table", self.folder / "out", "--of", name, "-o", self.folder / f"{name}.tsv")
            with (self.folder / f"{name}.tsv").open(encoding="utf-8", newline="") as lines:
                listed = list(csv.DictReader(lines, delimiter="\t"))
            self.assertEqual(len(listed), len(self.rows(f"{name}.tsv")))
            self.assertEqual({row["recording"] for row in listed}, {"out"})
        self.ok("track", *self.days, "--no-report", "-o", self.folder / "out", "--overwrite")
        self.assertFalse((self.folder / "out/report.html").exists())


if __name__ == "__main__":
    unittest.main()
