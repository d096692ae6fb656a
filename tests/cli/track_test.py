"""spikeweave track: units of several sorted recordings that are one neuron."""

import csv
import json
import re
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

    # Names of neurons in the results of other commands

    def tracked(self):
        """The folder of spikes, and the spikes of each neuron in each session, by name."""
        self.ok("track", *self.days, "-o", self.folder / "out")
        spikes = [{row["neuron"]: int(row["spikes"]) for row in self.rows("neurons.tsv") if row["session"] == str(day)} for day in self.days]
        return self.folder / "out/spikes", spikes

    def test_tables_name_units_by_neuron(self):
        files, spikes = self.tracked()
        for number in (1, 2):
            self.ok("bursts", files / f"{number}.npz", "-o", self.folder / f"b{number}")
        self.ok("table", self.folder / "b1", self.folder / "b2", "--of", "units", "-o", self.folder / "units.tsv")
        with (self.folder / "units.tsv").open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        for number, here in enumerate(spikes, 1):
            self.assertEqual({row["unit"]: int(row["spikes"]) for row in rows if row["recording"] == f"b{number}"}, here)

    def test_series_and_comparisons_take_a_neuron_for_one_unit(self):
        files, spikes = self.tracked()
        search = ("--delays", "2-20ms", "--jitter-window", "60ms", "--min-count", "3", "--max-size", "2")
        for number in (1, 2):
            self.ok("episodes", files / f"{number}.npz", *search, "--no-report", "-o", self.folder / f"e{number}")
        self.ok("report", self.folder / "e1", self.folder / "e2", "--as", "series", "-o", self.folder / "series.html")
        page = (self.folder / "series.html").read_text("utf-8")
        document = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
        self.assertEqual(set(document["unit_names"]), set(spikes[0]) | set(spikes[1]))
        self.assertLess(len(document["unit_names"]), len(spikes[0]) + len(spikes[1]))
        self.ok("compare", files / "1.npz", files / "2.npz", *search, "--block", "1s", "--seed", "1", "-o", self.folder / "compared")
        names = json.loads((self.folder / "compared/result.json").read_text("utf-8"))["unit_names"]
        self.assertEqual(set(names), set(spikes[0]) & set(spikes[1]))

    def test_live_finds_chains_of_neurons(self):
        files, spikes = self.tracked()
        one, other = sorted(set(spikes[0]) & set(spikes[1]), key=int)[:2]
        chain = self.file("chain.txt", f"{one} 1-200ms {other}\n")
        for number in (1, 2):
            trains = self.trains(files / f"{number}.npz")
            lines = self.ok("live", files / f"{number}.npz", "--speed", "max", "--episodes", chain).stdout.splitlines()
            found = [json.loads(line) for line in lines if '"detection"' in line]
            self.assertGreater(len(found), 3)
            for line in found:
                self.assertEqual(line["units"], [one, other])
                for unit, time in zip(line["units"], line["spikes_us"], strict=True):
                    self.assertIn(time, trains[unit])

    def test_templates_of_the_first_session_follow_the_same_neurons(self):
        templates = self.folder / "templates.npz"
        for name, options in (("first", ("--save-templates", templates, "--drift", "none")), ("later", ("--templates", templates))):
            recording = self.folder / ("recording1" if name == "first" else "recording2")
            self.ok("sort", recording, *options, "--no-report", "--no-phy", "-o", self.folder / name)
        self.ok("track", self.folder / "first", self.days[1], "-o", self.folder / "out")
        trains = [self.trains(folder / "spikes.npz") for folder in (self.folder / "later", self.days[1])]
        matches = [row for row in self.rows("matches.tsv") if row["accepted"] == "yes"]
        self.assertGreaterEqual(len(matches), 4)
        for row in matches:
            known, own = trains[0][row["unit"]], trains[1][row["other_unit"]]
            near = sum(any(abs(time - other) <= 1000 for other in own) for time in known)
            self.assertGreater(near, 0.6 * max(len(known), len(own)), row)

    def trains(self, path):
        """The times of the spikes of each unit, in microseconds."""
        self.ok("convert", path, self.folder / "spikes.tsv", "--overwrite")
        out = {}
        with (self.folder / "spikes.tsv").open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"):
                out.setdefault(row["unit"], []).append(round(1e6 * float(row["time_s"])))
        return out


if __name__ == "__main__":
    unittest.main()
