"""spikeweave spade."""

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import time
import unittest

from spade_files import SpadeFiles
from support import SPIKEWEAVE, needs_plain_memory, run, run_for_peak


class SpadeTest(SpadeFiles):
    search = ("--min-occ", "20", "--min-spikes", "3", "--min-neu", "3")

    def rows(self, folder, name):
        with open(self.folder / folder / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

    def contents(self, name):
        """Returns the files of a result without run.json, which has times that differ between runs, and the page, which shows it."""
        return {path.name: path.read_bytes() for path in (self.folder / name).iterdir() if path.name not in ("run.json", "result.json", "report.html")}


class Mining(SpadeTest):
    def test_finds_what_was_planted_and_writes_the_folder(self):
        out = self.ok("spade", self.planted_file(), *self.search, "-o", self.folder / "out").stdout

        self.assertIn("a →10ms→ b →5ms→ c  (30 times", out)
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()),
                         ["funnel.tsv", "patterns.tsv", "report.html", "result.json", "run.json", "signatures.tsv"])
        row, = (row for row in self.rows("out", "patterns.tsv") if row["units"] == "a,b,c")
        self.assertEqual((row["lags_ms"], row["count"], row["duration_ms"]), ("0,10,15", "30", "15"))
        self.assertNotIn("times_s", row)

    def test_writes_when_patterns_occur_in_the_time_of_the_file(self):
        self.ok("spade", self.planted_file(shift=100), *self.search, "--occurrences", "-o", self.folder / "out")

        row, = (row for row in self.rows("out", "patterns.tsv") if row["units"] == "a,b,c")
        times = [float(time) for time in row["times_s"].split(",")]
        self.assertEqual(len(times), 30)
        self.assertAlmostEqual(times[0], 100.3)
        self.assertAlmostEqual(times[1], 100.9)

    def test_without_a_folder_the_result_is_on_the_terminal_only(self):
        path = self.planted_file()

        self.assertIn("→10ms→ b", self.ok("spade", path, *self.search).stdout)
        self.assertEqual(self.names(), ["planted.tsv"])

    def test_says_what_it_takes_for_frequent(self):
        out = self.ok("spade", self.planted_file()).stdout

        self.assertIn("estimated from the rates", out)
        self.assertRegex(out, r"at least +\d+ \(2 spikes of 2 or more units\); ")
        self.assertIn("; 10 (", out)
        self.assertIn(" or more spikes of as many units)", out)

    def test_thresholds_by_size_are_rules(self):
        path = self.planted_file()
        self.ok("spade", path, "--min-occ", "2:25,3:20", "-o", self.folder / "sizes")
        self.ok("spade", path, "--rules", "25:2:1:2,20:3", "-o", self.folder / "rules")

        self.assertEqual(self.contents("sizes"), self.contents("rules"))
        sizes = {int(row["size"]): int(row["count"]) for row in self.rows("sizes", "signatures.tsv")}
        self.assertEqual(set(sizes), {2, 3})

    def test_thresholds_by_size_obey_the_least_and_the_most_spikes(self):
        path = self.planted_file()
        for name, arguments in (("three", ("--min-occ", "2:25,3:20", "--min-spikes", "3")),
                                ("rule", ("--rules", "20:3"))):
            self.ok("spade", path, *arguments, "-o", self.folder / name)
        self.assertEqual(self.contents("three"), self.contents("rule"))
        self.assertEqual({row["size"] for row in self.rows("three", "signatures.tsv")}, {"3"})

        self.ok("spade", path, "--min-occ", "2:25,3:20", "--max-spikes", "2", "-o", self.folder / "two")
        self.assertEqual({row["size"] for row in self.rows("two", "signatures.tsv")}, {"2"})
        self.refused("spade", path, "--min-occ", "3:20,4:9", "--max-spikes", "2",
                     says=("--max-spikes 2", "--min-occ", "the smallest is 3"))
        self.refused("spade", path, "--min-occ", "9", "--max-spikes", "1",
                     says=("--max-spikes 1", "--min-spikes 2", "by default"))
        self.refused("spade", path, "--min-occ", "2:9", "--max-spikes", "2", "--min-spikes", "3",
                     says=("--max-spikes 2 is below --min-spikes 3",))

    def test_every_strategy_and_number_of_threads_gives_the_same_files(self):
        path = self.planted_file()
        listed = self.ok("spade", "--list-strategies").stdout.splitlines()[:-1]
        results = []
        for strategy in (line.split()[0] for line in listed):
            for threads in ("1", "2"):
                name = f"{strategy}{threads}"
                self.ok("spade", path, "--min-occ", "3", "--strategy", strategy, "--threads", threads, "--occurrences",
                        "-o", self.folder / name)
                results.append(self.contents(name))

        self.assertEqual(len(results), 6)
        self.assertGreater(len(results[0]["patterns.tsv"].splitlines()), 20)
        for result in results:
            self.assertEqual(result, results[0])

    def test_collects_the_same_patterns_that_it_streams(self):
        path = self.planted_file()
        self.ok("spade", path, "--min-occ", "3", "-o", self.folder / "out", "--occurrences")
        told = json.loads(self.ok("spade", path, "--min-occ", "3", "--json").stdout)

        streamed = {(row["units"], row["lags_ms"], row["count"], row["times_s"]) for row in self.rows("out", "patterns.tsv")}
        collected = {(",".join(one["units"]), ",".join(f"{lag:g}" for lag in one["lags_ms"]), str(one["count"]),
                      ",".join(f"{time:.10g}" for time in one["times_s"])) for one in told["patterns"]}
        self.assertGreater(len(streamed), 20)
        self.assertEqual(streamed, collected)

    def test_maxima_leave_out_what_is_larger(self):
        path = self.planted_file()
        few = self.ok("spade", path, "--min-occ", "3", "--max-occ", "20", "--json").stdout
        small = self.ok("spade", path, "--min-occ", "3", "--max-spikes", "2", "--json").stdout

        self.assertLessEqual(max(one["count"] for one in json.loads(few)["patterns"]), 20)
        self.assertEqual({len(one["units"]) for one in json.loads(small)["patterns"]}, {2})

    def test_looks_at_a_part_of_the_recording_only(self):
        self.ok("spade", self.planted_file(), "--min-occ", "5", "--min-neu", "3", "--min-spikes", "3", "--t-start", "2s",
                "--t-stop", "8s", "--occurrences", "-o", self.folder / "out")

        row, = (row for row in self.rows("out", "patterns.tsv") if row["units"] == "a,b,c" and row["lags_ms"] == "0,10,15")
        times = [float(time) for time in row["times_s"].split(",")]
        self.assertEqual(len(times), 10)
        self.assertTrue(all(2 <= time < 8 for time in times))

    def test_the_filter_of_subsets_can_be_left_out(self):
        path = self.planted_file()
        steps = {}
        for name, option in (("with", ()), ("without", ("--no-subset-filter",))):
            self.ok("spade", path, "--min-occ", "4", *option, "-o", self.folder / name)
            steps[name] = {row["step"]: row for row in self.rows(name, "funnel.tsv")}

        self.assertEqual(steps["without"]["window subsets"]["removed"], "0")
        self.assertEqual(steps["with"]["closed patterns"]["left"], steps["without"]["closed patterns"]["left"])
        self.assertEqual(len(self.rows("with", "patterns.tsv")), int(steps["with"]["max-occ"]["left"]))


class Input(SpadeTest):
    def test_windows_that_are_given(self):
        text = "0 5\n0 5 9\n\n1 8\n5 0 9\n"
        for path in (self.file("windows.txt", text), self.file("windows.txt.gz", gzip.compress(text.encode()))):
            self.ok("spade", path, "--transactions", "--window", "4", "--min-occ", "2", "--occurrences", "--overwrite",
                    "-o", self.folder / "out")
            rows = self.rows("out", "patterns.tsv")
            self.assertEqual([(row["units"], row["lags_ms"], row["windows"]) for row in rows],
                             [("0,1,2", "0,5,5", "1,4"), ("0,1", "0,5", "0,1,4")])

    def test_epochs_are_put_one_after_another_and_led_back(self):
        """Epochs keep every second one of 30 planted triples; patterns do not extend over a cut."""
        epochs = self.file("epochs.tsv", "start_time\tstop_time\n" + "".join(
            f"{0.25 + 1.2 * i:.3f}\t{0.45 + 1.2 * i:.3f}\n" for i in range(15)))
        result = self.ok("spade", self.planted_file(), "--epochs", epochs, "--min-occ", "15", "--min-spikes", "3",
                         "--min-neu", "3", "--occurrences", "-o", self.folder / "out")

        self.assertIn("in no epoch", result.stderr)
        row, = self.rows("out", "patterns.tsv")
        self.assertEqual((row["units"], row["count"]), ("a,b,c", "15"))
        for i, time in enumerate(float(time) for time in row["times_s"].split(",")):
            self.assertLess(abs(time - (0.3 + 1.2 * i)), 0.005)

    def test_warns_of_spikes_that_share_a_bin(self):
        path = self.file("s.tsv", "# span_s: 0 1\n" + "0.001\ta\n0.002\ta\n0.003\tb\n0.101\ta\n0.103\tb\n")

        self.assertIn("1 of 5 spikes share a bin", self.ok("spade", path, "--min-occ", "2").stderr)

    def test_nothing_to_find_is_a_result(self):
        path = self.file("s.tsv", "0.1\ta\n0.2\tb\n")
        out = self.ok("spade", path, "--min-occ", "2", "-o", self.folder / "out").stdout

        self.assertIn("No pattern", out)
        self.assertEqual(self.rows("out", "patterns.tsv"), [])

    def test_trials_begin_with_the_recording(self):
        """They do not begin with the first spike, which is at 0.7 s. Spikes are rotated within their trial."""
        text = "0.7\ta\n" + "".join(f"{0.1 + i}\ta\n{0.11 + i}\tb\n" for i in range(1, 20))
        tests = ("--min-occ", "5", "--surrogates", "5", "--alpha", "0.2", "--trial-length", "1s", "--json")

        def parameters(text, *more):
            told = self.ok("spade", self.file("s.tsv", text), *tests, *more).stdout
            return json.loads(told)["run"]["parameters"]

        self.assertEqual(parameters(text)["time_origin_note"], "0 ms (the file does not say)")
        self.assertEqual(parameters(text)["trials"], 20)  # 0 s to 19.11 s, not 0.7 s to 19.11 s
        self.assertEqual(parameters(text, "--t-start", "500ms")["time_origin_note"], "500 ms (t_start)")
        self.assertEqual(parameters("# span_s: 0.2 30\n" + text)["time_origin_note"], "200 ms (as the file says)")
        before = parameters("-2.5\ta\n" + text, "--allow-negative")
        self.assertEqual(before["time_origin_note"], "-2.5 s (the first spike: the file does not say)")
        self.assertEqual(before["trials"], 22)

    def test_says_where_the_bins_begin(self):
        """They begin at the last multiple of the bin before the recording, unless --t-start or --compat is given."""
        text = "".join(f"{5.003 + i / 10:.4f}\ta\n{5.01 + i / 10:.4f}\tb\n" for i in range(20))

        def beginning(text, *more):
            told = self.ok("spade", self.file("s.tsv", text), "--min-occ", "5", "--json", *more).stdout
            return json.loads(told)["run"]["parameters"]["time_origin_note"]

        stated = "# span_s: 5.0013 30\n" + text
        self.assertEqual(beginning(stated), "5 s (the multiple of the bin below 5.0013 s, as the file says)")
        self.assertEqual(beginning(text),
                         "5 s (the multiple of the bin below 5.003 s, the first spike: the file does not say)")
        self.assertEqual(beginning(stated, "--t-start", "5002ms"), "5.002 s (t_start)")
        self.assertEqual(beginning(stated, "--compat", "elephant"), "5.0013 s (as the file says)")

    def test_elephant_bins_begin_with_the_recording(self):
        """The first spike is 3 ms into a bin of 5 ms: with bins from there on, the second spike is two bins later."""
        text = "0.003\ta\n0.012\ta\n1.003\tb\n1.012\tb\n1.5\tc\n"
        told = {}
        for name, more in (("ours", ()), ("elephant", ("--compat", "elephant-ms"))):
            out = self.ok("spade", self.file("s.tsv", text), "--min-occ", "1", *more, "--json").stdout
            told[name] = sorted(one["lags_ms"] for one in json.loads(out)["patterns"])
        self.assertEqual(told["elephant"], told["ours"])

    def test_leaves_out_other_units(self):
        out = self.ok("spade", self.planted_file(), "--min-occ", "25", "--only-units", "b,c", "--json").stdout

        self.assertEqual({unit for one in json.loads(out)["patterns"] for unit in one["units"]}, {"b", "c"})


class Significance(SpadeTest):
    tests = ("--min-occ", "10", "--surrogates", "60", "--alpha", "0.05")

    def test_keeps_what_was_planted(self):
        out = self.ok("spade", self.planted_file(), *self.tests, "-o", self.folder / "out").stdout

        self.assertIn("dither-spikes-with-refractory-period", out)
        rows = self.rows("out", "patterns.tsv")
        self.assertIn(("a,b,c", "0,10,15"), {(row["units"], row["lags_ms"]) for row in rows})
        self.assertEqual({row["significant"] for row in rows}, {"yes"})
        self.assertTrue(all(float(row["q"]) <= 0.05 for row in rows))
        signatures = self.rows("out", "signatures.tsv")
        self.assertEqual(sum(int(row["patterns"]) for row in signatures if row["significant"] == "yes"), len(rows))
        self.assertTrue(all(row["reason"] for row in signatures))
        self.assertTrue(self.rows("out", "spectrum.tsv"))
        steps = self.rows("out", "funnel.tsv")
        self.assertEqual(int(steps[-1]["left"]), len(rows))
        for before, after in zip(steps, steps[1:]):
            self.assertEqual(before["left"], after["before"])

    def test_does_not_depend_on_threads(self):
        path = self.planted_file()
        for threads in ("1", "2"):
            self.ok("spade", path, *self.tests, "--seed", "5", "--spectrum", "3d#", "--threads", threads, "-o",
                    self.folder / threads)

        self.assertEqual(self.contents("1"), self.contents("2"))
        self.assertIn("spectrum.tsv", self.contents("1"))

    def test_every_method_makes_surrogates(self):
        path = self.planted_file()
        for method in ("dither-spikes", "dither-spike-train", "jitter-spikes", "randomise-spikes", "shuffle-isis",
                       "joint-isi-dithering", "isi-dithering", "bin-shuffling", "trial-shifting", "interval-jitter"):
            more = ("--trial-length", "500ms") if method == "trial-shifting" else ()
            with self.subTest(method):
                out = self.ok("spade", path, "--min-occ", "20", "--surrogates", "20", "--alpha", "0.05",
                              "--surrogate-method", method, *more, "--json").stdout
                run = json.loads(out)["run"]
                self.assertEqual(run["significance"]["surrogate_method"], method)

    def test_trials_are_shifted_where_there_are_epochs(self):
        epochs = self.file("epochs.csv", "".join(f"{2 * i},{2 * i + 2}\n" for i in range(10)))

        out = self.ok("spade", self.planted_file(), *self.tests, "--epochs", epochs).stdout

        self.assertIn("trial-shifting, dither 15 ms (chosen because there are trials)", out)

    def test_reduction_takes_away_what_others_explain(self):
        path = self.planted_file()
        self.ok("spade", path, *self.tests, "-o", self.folder / "all")
        self.ok("spade", path, *self.tests, "--reduce", "0,0,2", "-o", self.folder / "reduced")

        every = {(row["units"], row["lags_ms"]) for row in self.rows("all", "patterns.tsv")}
        left = {(row["units"], row["lags_ms"]) for row in self.rows("reduced", "patterns.tsv")}
        self.assertLess(left, every)
        self.assertIn(("a,b,c", "0,10,15"), left)
        steps = [row["step"] for row in self.rows("reduced", "funnel.tsv")]
        self.assertTrue(any(step.startswith("reduction") for step in steps))

    def test_stability_is_told_and_can_be_asked_for(self):
        path = self.planted_file()
        self.ok("spade", path, "--min-occ", "15", "--stability", "0.1,0.1", "-o", self.folder / "all")
        self.ok("spade", path, "--min-occ", "15", "--stability", "0.1,0.1", "--stability-threshold", "0.9,0.99", "-o",
                self.folder / "stable")

        rows = self.rows("all", "patterns.tsv")
        wanted = [row["units"] for row in rows
                  if float(row["stability_intensional"]) > 0.9 or float(row["stability_extensional"]) > 0.99]
        self.assertEqual([row["units"] for row in self.rows("stable", "patterns.tsv")], wanted)
        self.assertLess(len(wanted), len(rows))

    def test_the_seed_is_of_stability_too(self):
        path = self.planted_file()
        for name, seed in (("a", "1"), ("again", "1"), ("b", "2")):
            self.ok("spade", path, "--min-occ", "15", "--stability", "20", "--seed", seed, "-o", self.folder / name)

        self.assertEqual(self.contents("a"), self.contents("again"))
        self.assertNotEqual(self.contents("a"), self.contents("b"))
        self.refused("spade", path, "--min-occ", "15", "--seed", "1", says=("--seed", "--surrogates", "--stability"))

    def test_options_that_would_be_ignored_are_refused(self):
        path = self.planted_file()
        tests = ("spade", path, "--min-occ", "25", "--surrogates", "9", "--alpha", "0.2")
        for arguments, words in ((("--sliding",), ("--sliding", "bin-shuffling", "unless another")),
                                 (("--refractory", "4ms", "--surrogate-method", "jitter-spikes"),
                                  ("--refractory", "dither-spikes-with-refractory-period", "by jitter-spikes")),
                                 (("--refractory", "4ms", "--compat", "elephant"), ("--refractory", "by dither-spikes")),
                                 (("--edges", "clamp"), ("--edges", "dither-spikes or dither-spike-train")),
                                 (("--isi-bins", "9"), ("--isi-bins", "joint-isi-dithering or isi-dithering")),
                                 (("--isi-sqrt",), ("--isi-sqrt",)),
                                 (("--trial-length", "1s", "--surrogate-method", "shuffle-isis"),
                                  ("--trial-length", "trial-shifting", "by shuffle-isis"))):
            with self.subTest(arguments):
                self.refused(*tests, *arguments, says=words)
        self.ok(*tests, "--refractory", "4ms")
        self.ok(*tests, "--isi-sqrt", "--no-isi-cutoff", "--surrogate-method", "isi-dithering")

    def test_warns_of_what_changes_nothing(self):
        path = self.planted_file()
        self.assertIn("--correction changes nothing",
                      self.ok("spade", path, "--min-occ", "25", "--correction", "holm").stderr)
        windows = ("spade", self.file("windows.txt", "0 5\n0 5 9\n"), "--transactions", "--min-occ", "2", "--compat",
                   "elephant")
        self.assertIn("--compat changes nothing", self.ok(*windows).stderr)
        self.assertEqual(self.ok(*windows, "--reduce", "0,0,2").stderr, "")

    def test_the_record_has_what_surrogates_were_made_with(self):
        path = self.planted_file()
        told = self.ok("spade", path, "--min-occ", "25", "--surrogates", "5", "--alpha", "0.2", "--surrogate-method",
                       "isi-dithering", "--isi-bins", "50", "--no-isi-alternate", "--json").stdout
        parameters = json.loads(told)["run"]["parameters"]
        self.assertEqual(
            {name: value for name, value in parameters.items() if name.startswith("isi_")},
            {"isi_truncation": "100 ms", "isi_bins": 50, "isi_sigma": "2 ms", "isi_steps": "window",
             "isi_refractory": "4 ms", "isi_sqrt": False, "isi_alternate": False, "isi_cutoff": True})

        told = self.ok("spade", path, "--min-occ", "25", "--surrogates", "5", "--alpha", "0.2", "--trial-length", "2s",
                       "--trial-separation", "100ms", "--json").stdout
        parameters = json.loads(told)["run"]["parameters"]
        self.assertIn("trials is", " ".join(json.loads(told)["run"]["input"]["warnings"]))
        self.assertEqual((parameters["trial_length"], parameters["trial_separation"]), ("2 s", "100 ms"))

        epochs = self.file("epochs.csv", "0,2\n4,6\n")
        told = self.ok("spade", path, "--min-occ", "25", "--epochs", epochs, "--json").stdout
        self.assertEqual(json.loads(told)["run"]["parameters"]["separation"], "200 ms")

    def test_the_record_has_the_threads_that_ran(self):
        path = self.planted_file()
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        try:
            told = self.ok("spade", path, "--min-occ", "25", "--json").stdout
        finally:
            os.sched_setaffinity(0, allowed)
        self.assertEqual(json.loads(told)["run"]["threads"], 1)

    def test_what_is_not_stable_is_neither_tested_nor_reduced(self):
        self.ok("spade", self.planted_file(), *self.tests, "--stability", "4096", "--stability-threshold", "0.99,0.99",
                "--reduce", "0,0,2", "-o", self.folder / "out")

        steps = {row["step"]: row for row in self.rows("out", "funnel.tsv")}
        self.assertEqual(list(steps), ["closed patterns", "window subsets", "max-occ", "stability", "significance",
                                       "reduction, subset", "reduction, superset", "reduction, covered"])
        self.assertGreater(int(steps["stability"]["removed"]), 0)
        tested = sum(int(row["patterns"]) for row in self.rows("out", "signatures.tsv"))
        self.assertEqual(tested, int(steps["stability"]["left"]))
        rows = self.rows("out", "patterns.tsv")
        self.assertIn("a,b,c", {row["units"] for row in rows})
        for row in rows:
            self.assertGreater(max(float(row["stability_intensional"]), float(row["stability_extensional"])), 0.99)

    def test_elephant_decides_only_on_request(self):
        """No surrogate has the planted signature: p is computed without and with the data among the surrogates."""
        path = self.planted_file()
        for name, more, p, method in (
                ("ours", (), 1 / 21, "dither-spikes-with-refractory-period"),
                ("elephant", ("--compat", "elephant"), 0, "dither-spikes"),
                ("in-ms", ("--compat", "elephant-ms"), 0, "dither-spikes")):
            self.ok("spade", path, "--min-occ", "4", "--surrogates", "20", "--alpha", "0.05", *more, "-o",
                    self.folder / name)
            planted, = (row for row in self.rows(name, "signatures.tsv") if row["size"] == "3" and row["count"] == "30")
            run = json.loads((self.folder / name / "run.json").read_text(encoding="utf-8"))
            self.assertAlmostEqual(float(planted["p"]), p, places=5)
            self.assertEqual(run["parameters"]["surrogate_method"], method)

    def test_warns_when_nothing_can_be_significant(self):
        path = self.planted_file()

        self.assertIn("nothing can be significant",
                      self.ok("spade", path, "--min-occ", "25", "--surrogates", "20").stderr)
        self.assertIn("Nothing is tested", self.ok("spade", path, "--min-occ", "25", "--alpha", "0.05").stderr)
        self.assertEqual(self.ok("spade", path, "--min-occ", "25", "--surrogates", "99", "--alpha", "0.05").stderr, "")


class BadInput(SpadeTest):
    def test_transactions_that_are_none_name_the_line_and_what_was_found(self):
        for text, words in (
                ("0 5\n-3 7\n", ("line 2", "-3", "0 to 2147483647")),
                ("0 5\n\n1 1\n", ("line 3", "item 1", "twice")),
                ("0 x\n", ("line 1", "'x'", "whole numbers")),
                ("0 1.5\n", ("line 1", "1.5")),
                ("0 2147483648\n", ("line 1", "2147483648")),
                ("0 99999999999999999999999\n", ("line 1", "99999999999999999999999")),
                ("", ("no item",)),
                ("\n\n\n", ("no item",)),
                (bytes(range(256)) * 20, ("line 1",)),
                (gzip.compress(b"0 5\n" * 20000)[:-20], ("windows.txt",))):
            with self.subTest(text[:40]):
                self.refused("spade", self.file("windows.txt", text), "--transactions", "--min-occ", "1", "-o",
                             self.folder / "out", says=("windows.txt", *words))

    def test_items_beyond_all_memory_are_refused_before_it_is_asked_for(self):
        self.refused("spade", self.file("windows.txt", "0 2000000000\n"), "--transactions", "--min-occ", "1",
                     "--max-memory", "1GB", says=("--max-memory", "100,000,001 units"))

    def test_few_or_equal_windows_obey_the_thresholds(self):
        for text, expected in (("0 5 9\n", ["1"]), ("0 5 9\n" * 4, ["4"])):
            path = self.file("windows.txt", text)
            for least in ("1", "4", "5"):
                with self.subTest(text=text, least=least):
                    self.ok("spade", path, "--transactions", "--window", "4", "--min-occ", least, "--overwrite", "-o",
                            self.folder / "out")
                    found = [row["count"] for row in self.rows("out", "patterns.tsv")]
                    self.assertEqual(found, expected if int(least) <= int(expected[0]) else [])
            self.ok("spade", path, "--transactions", "--window", "4", "--min-occ", "1", "--min-spikes", "4", "--overwrite",
                    "-o", self.folder / "out")
            self.assertEqual(self.rows("out", "patterns.tsv"), [])

    def test_hardly_any_spikes_are_a_result(self):
        for name, text in (("one-spike.tsv", "# span_s: 0 1\n0.1\ta\n"),
                           ("one-unit.tsv", "# span_s: 0 1\n0.1\ta\n0.2\ta\n0.3\ta\n"),
                           ("apart.tsv", "# span_s: 0 9\n0.1\ta\n4\tb\n8\ta\n")):
            for more in ((), ("--surrogates", "20", "--alpha", "0.05"), ("--reduce", "1,1,1", "--stability", "9")):
                with self.subTest(name=name, more=more):
                    self.ok("spade", self.file(name, text), "--min-occ", "2", *more, "--overwrite", "-o",
                            self.folder / "out")
                    self.assertEqual(self.rows("out", "patterns.tsv"), [])

    def test_a_threshold_is_estimated_of_nothing_too(self):
        for text in ("# span_s: 0 10\n", "# span_s: 0 10\n# unit_without_spikes: a\n", "0.1\ta\n"):
            with self.subTest(text):
                out = self.ok("spade", self.file("s.tsv", text), "--surrogates", "100", "--alpha", "0.05", "--overwrite", "-o",
                              self.folder / "out").stdout
                self.assertIn("at least   10 (2 or more spikes", out)
                self.assertEqual(self.rows("out", "patterns.tsv"), [])

    def test_a_window_may_be_a_time(self):
        path = self.planted_file(stop=4.0)
        for name, window in (("bins", "20"), ("time", "100ms")):
            self.ok("spade", path, "--window", window, "--min-occ", "20", "-o", self.folder / name)
        self.assertEqual(self.rows("time", "patterns.tsv"), self.rows("bins", "patterns.tsv"))
        self.assertEqual(json.loads((self.folder / "time/run.json").read_text())["parameters"]["window"], 20)
        for window, words in (("7ms", "'7ms' is not a multiple of the bin of 5 ms"), ("x", "'x'"), ("0", "at least 1")):
            self.refused("spade", path, "--window", window, says=("--window", words))

    def test_numbers_at_their_ends(self):
        path = self.planted_file(stop=4.0)
        # These are valid: a window beyond the recording, a bin as long as the recording, more units than there are.
        for arguments in (("--window", "5000", "--min-spikes", "2"), ("--bin", "4s", "--window", "1"), ("--bin", "1h"),
                          ("--min-neu", "7"), ("--min-spikes", "400"), ("--max-occ", "4000000000"),
                          ("--alpha", "1", "--surrogates", "5")):
            with self.subTest(arguments):
                self.ok("spade", path, "--min-occ", "20", *arguments, "--overwrite", "-o", self.folder / "out")
        self.assertIn("No pattern", self.ok("spade", path, "--min-occ", "5", "--min-neu", "7").stdout)
        for arguments, words in (
                (("--bin", "0s"), ("--bin",)),
                (("--bin", "9000h", "--window", "4000000000"), ("--window",)),
                (("--min-spikes", "0"), ("--min-spikes",)),
                (("--max-occ", "0"), ("--max-occ",)),
                (("--window", "400000000"), ("400",)),
                (("--alpha", "0"), ("--alpha",)),
                (("--surrogates", "9", "--dither", "2h"), ("--dither", "2h")),
                (("--surrogates", "9", "--surrogate-method", "bin-shuffling", "--dither", "1ms"), ("dither",)),
                (("--trial-separation", "1s"), ("--trial-length",)),
                (("--reduce", "1,2,3,4"), ("--reduce", "H,K,L")),
                (("--reduce", ""), ("--reduce",))):
            with self.subTest(arguments):
                self.refused("spade", path, "--min-occ", "20", *arguments, says=words)

    def test_epochs_that_cannot_be(self):
        path = self.planted_file(stop=4.0)
        for text, words in (("0,2\n1,3\n", ("epochs.csv", "line 2")), ("2,2\n", ("epochs.csv", "line 1")),
                            ("0,soon\n", ("epochs.csv", "line 1", "soon")), ("", ("epochs.csv",))):
            with self.subTest(text):
                self.refused("spade", path, "--min-occ", "5", "--epochs", self.file("epochs.csv", text), says=words)

        outside = self.file("epochs.csv", "0,1\n50,60\n")
        self.assertIn("spikes are in no epoch",
                      self.ok("spade", path, "--min-occ", "5", "--epochs", outside).stderr)
        none = self.ok("spade", path, "--min-occ", "5", "--epochs", self.file("epochs.csv", "50,60\n"))
        self.assertIn("No spike is in a bin", none.stderr)

    def test_warns_when_patterns_may_reach_over_epochs(self):
        path, epochs = self.planted_file(stop=4.0), self.file("epochs.csv", "0,1\n2,3\n")
        arguments = ("spade", path, "--min-occ", "5", "--epochs", epochs, "--separation")

        self.assertIn("reach from one into the next", self.ok(*arguments, "99ms").stderr)
        self.assertNotIn("reach from one into the next", self.ok(*arguments, "100ms").stderr)


class Limits(SpadeTest):
    def test_says_beforehand_what_it_will_take(self):
        path = self.planted_file()
        error = self.ok("spade", path, "--min-occ", "3", "--progress", "plain").stderr

        self.assertRegex(error, r"spikeweave: estimate: about [\d,]+ candidates, [\d,]+ patterns, \d+ s on one thread, \d")
        self.assertNotIn("estimate", self.ok("spade", path, "--min-occ", "3", "--progress", "plain", "--quiet").stderr)
        error = self.ok("spade", path, "--min-occ", "20", "--surrogates", "40", "--alpha", "0.05", "--threads", "2",
                        "--progress", "plain").stderr
        self.assertRegex(error, r"on one thread for the data alone, .*; then \d+ s for 40 surrogates on 2 threads")

    def test_says_beforehand_what_surrogates_take_where_that_is_long(self):
        """Mining the data alone takes less than a second."""
        data = self.folder / "s.npz"
        self.ok("simulate", "poisson", "--units", "40", "--rate", "20", "--length", "20s", "-o", data)
        arguments = ("spade", data, "--min-occ", "20", "--min-spikes", "3", "--surrogates", "4000000000")
        with subprocess.Popen([SPIKEWEAVE, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as running:
            told = next((line for line in running.stderr if "estimate" in line), "")
            running.send_signal(signal.SIGINT)
        self.assertRegex(told, r"; then \d+ (days|years) for 4,000,000,000 surrogates")

    def test_memory_is_refused_before_anything_is_written(self):
        self.refused("spade", self.planted_file(), "--min-occ", "2", "--max-memory", "50kB", "-o", self.folder / "out",
                     says=("--max-memory", "50.0 kB"))

    def bursts(self):
        """Makes 117 thousand patterns of some 110 occurrences each: 52 MB."""
        data = self.folder / "bursts.npz"
        self.ok("simulate", "culture", "--channels", "12", "--length", "300s", "-o", data)
        return "spade", data, "--window", "12", "--rules", "100:3"

    @needs_plain_memory
    def test_memory_is_bounded_whatever_bursts_give(self):
        search = self.bursts()
        for most, options in ((50e6, ("--json",)), (50e6, ("--reduce", "2,2,2")), (50e6, ("--strategy", "fp-growth")),
                              (120e6, ("--json",))):  # the table fits, but the document does not
            with self.subTest((most, options)):
                before = self.names()
                result, peak = run_for_peak(*search, "--max-memory", f"{most / 1e6:.0f}MB", "--threads", "2", *options,
                                            "-o", self.folder / "out")
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, rf"more than --max-memory {most / 1e6:.1f} MB \(a larger --min-occ or")
                self.assertLess(peak, most + max(0.1 * most, 32e6))  # sampled every 2 ms
                self.assertEqual(self.names(), before)

    @needs_plain_memory
    def test_patterns_that_go_to_the_file_take_no_memory(self):
        result, peak = run_for_peak(*self.bursts(), "--max-memory", "45MB", "--threads", "1", "--occurrences", "-o",
                                    self.folder / "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater((self.folder / "out/patterns.tsv").stat().st_size, 80e6)
        self.assertLess(peak, 45e6)

    def test_tells_how_many_patterns_bursts_have_before_it_looks_for_them(self):
        """Most patterns are below a few nodes, so an estimate from the first two seconds of the search would be wrong."""
        told = self.ok(*self.bursts(), "--progress", "plain").stderr
        found = int(re.search(r"about [\d,]+ candidates, ([\d,]+) patterns", told)[1].replace(",", ""))
        self.assertTrue(60_000 < found < 240_000, found)
        data = self.folder / "dense.npz"
        self.ok("simulate", "culture", "--channels", "24", "--length", "300s", "-o", data)
        told = self.refused("spade", data, "--min-occ", "10", "-q", says="which is too long to begin").stderr
        self.assertGreater(int(re.search(r" candidates, ([\d,]+) patterns", told)[1].replace(",", "")), 1e9)

    def test_a_few_spikes_fit_into_long_windows(self):
        times = (10 * i + (i * i % 977) / 1000 for i in range(200))
        path = self.file("s.tsv", "".join(f"{time:.3f}\t{'ab'[i % 2]}\n" for i, time in enumerate(times)))
        self.ok("spade", path, "--bin", "1ms", "--window", "1000000", "--min-occ", "9", "--max-memory", "300MB")

    def test_an_estimate_takes_seconds_where_the_search_takes_for_ever(self):
        data = self.folder / "s.npz"
        self.ok("simulate", "poisson", "--units", "60", "--rate", "50", "--length", "20s", "-o", data)
        before = self.names()
        began = time.monotonic()
        result = run("spade", data, "--min-occ", "2", "--strategy", "fp-growth", "--max-memory", "300MB", "-o",
                     self.folder / "out")
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"candidates, .*more than --max-memory 300\.0 MB")
        self.assertEqual(self.names(), before)

    def test_replaces_its_own_folder_only_when_asked(self):
        path = self.planted_file()
        out = self.folder / "out"
        self.ok("spade", path, *self.search, "-o", out)
        self.refused("spade", path, *self.search, "-o", out, says=("exists", "--overwrite"))
        self.ok("spade", path, *self.search, "-o", out, "--overwrite")
        (out / "thesis.tex").write_text("years of work")
        self.refused("spade", path, *self.search, "-o", out, "--overwrite", says="thesis.tex")
        self.assertEqual((out / "thesis.tex").read_text(), "years of work")


if __name__ == "__main__":
    unittest.main()
