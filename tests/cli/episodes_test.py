"""spikeweave episodes."""

import csv
import json
import random
import shutil
import struct
import unittest
import xml.etree.ElementTree as xml

from support import CliTest, needs_plain_memory, run_for_peak


class Episodes(CliTest):
    search = ("--delays", "4-6ms", "--min-count", "40")

    def contents(self, name):
        """Returns the files of a result without those that have times, which differ between runs."""
        return {path.name: path.read_bytes() for path in (self.folder / name).iterdir()
                if path.name not in ("run.json", "result.json", "report.html")}

    def test_finds_the_chain_and_writes_the_folder(self):
        out = self.ok("episodes", self.chain_file(), *self.search, "-o", self.folder / "out").stdout

        self.assertRegex(out, r"a →.*→ b →.*→ c")
        self.assertIn("latest-start", out)
        self.assertIn("4-6ms", out)
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()),
                         ["circuit.graphml", "circuit.svg", "circuit.tsv", "episodes.tsv", "lags.tsv", "pairs.tsv", "report.html", "result.json", "run.json"])

    def test_without_a_folder_the_result_is_on_the_terminal_only(self):
        path = self.chain_file()

        out = self.ok("episodes", path, *self.search).stdout

        self.assertRegex(out, r"a →.*→ b →.*→ c")
        self.assertEqual(self.names(), ["chain.tsv"])

    def test_says_that_the_delays_are_the_default(self):
        out = self.ok("episodes", self.chain_file(), "--min-count", "40").stdout

        self.assertIn("1-4ms,4-8ms,8-12ms,12-16ms (the default", out)

    def test_json_parses_and_holds_the_run(self):
        result = self.ok("episodes", self.chain_file(), *self.search, "--only-units", "a,b,c", "--json")

        self.assertIn("latest-start", result.stdout)
        self.assertIsInstance(json.loads(result.stdout), dict)
        self.assertEqual(result.stderr, "")

    def phy_folder(self, columns):
        """Writes the chain a → b → c as clusters 1, 2 and 3 of a folder for Phy, with columns of a table of clusters."""
        numbers = {"a": 1, "b": 2, "c": 3}
        rows = [line.split("\t") for line in self.chain_file().read_text().splitlines() if line[0].isdigit()]
        spikes = sorted((round(float(time) * 1e6), numbers[unit]) for time, unit in rows if unit in numbers)
        folder = self.folder / "phy"
        folder.mkdir()
        (folder / "params.py").write_text("sample_rate = 1000000.0\n")
        for name, values in (("spike_times", [time for time, _ in spikes]), ("spike_clusters", [unit for _, unit in spikes])):
            header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
            (folder / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode()
                                                 + struct.pack(f"<{len(values)}q", *values))
        names = "possibly_one_neuron_with\tcross_talk_with"
        (folder / "cluster_quality.tsv").write_text(f"cluster_id\t{names}\n" + "".join(f"{row}\n" for row in columns))
        return folder

    def test_edges_of_units_that_may_be_one_neuron_are_no_connections(self):
        for name, columns, kind in (("one", ("1\t2\t", "2\t1\t"), "possibly-one-neuron"), ("talk", ("2\t\t1",), "cross-talk")):
            with self.subTest(kind):
                phy = self.phy_folder(columns)
                self.ok("convert", phy, self.folder / f"{name}.npz")
                for path in (phy, self.folder / f"{name}.npz"):
                    out = self.folder / "out"
                    shown = self.ok("episodes", path, *self.search, "-o", out, "--overwrite")
                    with (out / "circuit.tsv").open() as lines:
                        edges = {(row["from"], row["to"]): row["kind"] for row in csv.DictReader(lines, delimiter="\t")}
                    self.assertEqual(edges[("1", "2")], kind)
                    self.assertEqual(edges[("2", "3")], "direct")
                    self.assertIn("1 of 2 connections joins units", shown.stderr)
                    self.assertIn(": 1 → 2. It is left out of the connections and chains", shown.stderr)
                    self.assertIn("No chain of three units or more", shown.stdout)
                    self.assertIn(f'<data key="kind">{kind}</data>', (out / "circuit.graphml").read_text())
                    of_json = json.loads(self.ok("episodes", path, *self.search, "--json").stdout)
                    self.assertIn(kind, [edge["kind"] for edge in of_json["circuit"]["edges"]])
                    self.assertIn(kind, (out / "report.html").read_text())
                shutil.rmtree(phy)

    def test_a_grid_is_the_list_it_stands_for(self):
        path = self.chain_file()
        self.ok("episodes", path, "--delay-grid", "0ms:15ms:5ms", "--min-count", "40", "-o", self.folder / "grid")
        self.ok("episodes", path, "--delays", "0-5ms,5-10ms,10-15ms", "--min-count", "40", "-o", self.folder / "list")

        self.assertEqual(self.contents("grid"), self.contents("list"))

    def test_files_do_not_depend_on_threads(self):
        path = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "10s", "--seed", "1", "-o", path)
        for threads in ("1", "2"):
            self.ok("episodes", path, "--delays", "4-6ms", "--min-count", "30", "--surrogates", "20", "--occurrences",
                    "--threads", threads, "-o", self.folder / threads)

        self.assertEqual(self.contents("1"), self.contents("2"))
        self.assertIn("occurrences.tsv", self.contents("1"))

    def test_every_strategy_gives_the_same_files(self):
        path = self.chain_file()
        listed = self.ok("episodes", "--list-strategies").stdout.splitlines()[:-1]
        results = {}
        for strategy in (line.split()[0] for line in listed if "cpu" in line.split()[1].split(",")):
            result = self.ok("episodes", path, *self.search, "--strategy", strategy, "-o", self.folder / strategy)
            self.assertIn(strategy, result.stdout)
            results[strategy] = (self.folder / strategy / "circuit.tsv").read_bytes()

        self.assertGreaterEqual(len(results), 6)
        self.assertEqual(len(set(results.values())), 1)

    def test_epochs_keep_occurrences_apart(self):
        """Every second the chain occurs once, its last step over the edge of two epochs that touch."""
        text = "".join(f"{i + 0.990:.3f}\ta\n{i + 0.995:.3f}\tb\n{i + 1.000:.3f}\tc\n" for i in range(100))
        path = self.file("s.tsv", "# span_s: 0 101\n" + text)
        epochs = self.file("epochs.tsv", "begin\tend\n" + "".join(f"{i}\t{i + 1}\n" for i in range(50)))
        run = json.loads(self.ok("episodes", path, *self.search, "--epochs", epochs, "--json").stdout)

        found = {tuple(one["units"]): one["count"] for one in run["episodes"]}
        self.assertEqual(found, {("a",): 50, ("b",): 50, ("c",): 49, ("a", "b"): 50})
        told = run["run"]["input"]
        self.assertEqual((told["spikes"], told["observed_s"], len(told["epochs_s"]), told["epochs_s"][1]),
                         (149, 50, 50, [1, 2]))
        self.assertEqual(run["units"][0]["rate_hz"], 1)

    def test_trials_are_the_epochs_that_a_table_lists(self):
        path = self.chain_file()
        table = self.file("epochs.csv", "".join(f"{0.5 + 0.25 * i},{0.7 + 0.25 * i}\n" for i in range(6)))
        self.ok("episodes", path, "--delays", "4-6ms", "--min-count", "5", "--epochs", table, "-o", self.folder / "table")
        self.ok("episodes", path, "--delays", "4-6ms", "--min-count", "5", "--t-start", "500ms", "--t-stop", "1950ms",
                "--trial-length", "200ms", "--trial-separation", "50ms", "-o", self.folder / "trials")

        self.assertEqual(self.contents("table"), self.contents("trials"))

    def test_epochs_lie_around_the_stimuli(self):
        """A follows each of 60 stimuli, and B follows A; as many pairs of B and A lie elsewhere."""
        rows = []
        for i in range(60):
            rows += [(i + 0.5, 60), (i + 0.51, 1), (i + 0.515, 2), (i + 0.9, 2), (i + 0.905, 1)]
        path = self.file("culture.spk.txt", "".join(f"{time:.6f} {channel}\n" for time, channel in sorted(rows)))
        result = self.ok("episodes", path, *self.search, "--around", "stimulus:-100ms..100ms", "--json")

        run = json.loads(result.stdout)
        self.assertEqual({tuple(one["units"]): one["count"] for one in run["episodes"]},
                         {("1",): 60, ("2",): 60, ("1", "2"): 60})
        self.assertEqual(len(run["run"]["input"]["epochs_s"]), 60)
        self.assertIn("120 of 240 spikes are in no epoch", result.stderr)
        self.assertNotIn("shorter", result.stderr)

        told = self.ok("episodes", path, *self.search, "--around", "stimulus:-100ms..1s", "--json")
        self.assertIn("59 of 60 epochs around events are shorter, because the next one begins before their ends.", told.stderr)
        self.assertIn("59 of 60 epochs around events are shorter", told.stdout)
        rows += [(60.6 + 0.1 * i + 0.005 * unit, 1 + unit) for i in range(600) for unit in range(2)]
        path = self.file("longer.spk.txt", "".join(f"{time:.6f} {channel}\n" for time, channel in sorted(rows)))
        rest = self.file("rest.tsv", "".join(f"{60.5 + i}\t{61.5 + i}\n" for i in range(60)))
        told = self.ok("compare", path, "--around-a", "stimulus:-100ms..1s", "--epochs-b", rest, "--delays", "4-6ms", "--max-size", "2")
        self.assertIn("Condition stimulus:-100ms..1s: 59 of 60 epochs around events are shorter", told.stderr)

    def test_epochs_have_the_labels_of_their_table(self):
        path = self.chain_file()
        search = ("episodes", path, "--delays", "4-6ms", "--min-count", "5", "--overwrite", "-o", self.folder / "found")
        rows = [f"{0.5 + 0.25 * i}\t{0.7 + 0.25 * i}\t{'ab'[i % 2]}\t{i}\n" for i in range(6)]

        def labels(text, *arguments):
            self.ok(*search, "--epochs", self.file("epochs.tsv", text), *arguments)
            return json.loads((self.folder / "found/result.json").read_text())["spikes"].get("epoch_labels")

        self.assertEqual(labels("".join(rows)), ["a", "b"] * 3)
        self.assertEqual(labels("begin\tend\tcondition\ttrial\n" + "".join(rows)), ["a", "b"] * 3)
        self.assertEqual(labels("begin\tend\tside\ttrial\n" + "".join(rows), "--epoch-labels", "trial"), list("012345"))
        self.assertIsNone(labels("begin\tend\tside\ttrial\n" + "".join(rows)))
        for arguments, says in ((("--epochs", self.file("epochs.tsv", "0\t1\ta\n1\t2\n")), "line 2: found 2 columns in '1\\x092', expected at least 3"),
                                (("--epoch-labels", "side"), "it is a column of EPOCHS or EVENTS")):
            self.refused(*search, *arguments, says=(says,))

    def test_a_last_trial_that_is_cut_off_is_told(self):
        path = self.file("s.tsv", "# span_s: 0 10.25\n" + "".join(f"{0.1 * i:.1f}\ta\n" for i in range(100)))
        trials = ("episodes", path, "--min-count", "5", "--trial-length")
        told = self.ok(*trials, "1s", "--json")

        says = ("The last of 11 trials is 250 ms long instead of 1 s, because the time that is analysed ends at 10.25 s: it is "
                "used as it is.")
        self.assertIn(says, told.stderr)
        found = json.loads(told.stdout)["run"]
        self.assertIn(says, found["input"]["warnings"])
        self.assertEqual(found["input"]["epochs_s"][-1], [10, 10.250001])
        self.assertNotIn("instead", self.ok(*trials, "205ms").stderr)

    def test_what_epochs_lie_outside_of_the_recording_is_told(self):
        path = self.file("s.tsv", "# span_s: 0 10\n" + "".join(f"{0.1 * i:.1f}\ta\n" for i in range(100)))
        epochs = self.file("epochs.csv", "-1,1\n5,6\n9,12\n20,21\n")
        result = self.ok("episodes", path, "--min-count", "5", "--epochs", epochs, "--json")

        self.assertIn("3 of 4 epochs are partly or wholly outside", result.stderr)
        self.assertEqual(json.loads(result.stdout)["run"]["input"]["epochs_s"], [[0, 1], [5, 6], [9, 10.000001]])
        self.refused("episodes", path, "--epochs", self.file("none.csv", "20,21\n"), says=("nothing was recorded",))

    def test_a_page_can_be_made_again_of_epochs(self):
        path = self.chain_file()
        self.ok("episodes", path, "--delays", "4-6ms", "--min-count", "5", "--trial-length", "300ms", "-o", self.folder / "out")
        first = (self.folder / "out" / "report.html").read_bytes()
        self.ok("report", self.folder / "out", "-o", self.folder / "again.html")

        self.assertIn(b"epochs_us", first)
        self.assertEqual((self.folder / "again.html").read_bytes(), first)
        self.ok("report", self.folder / "out", self.folder / "out", "-o", self.folder / "both.html")

    def silenced_file(self):
        """B is silent for 5 ms after each spike of A, and both fire at random otherwise; C fires once, alone."""
        draw, rows, last = random.Random(20261128), [(61_000, "C")], -100
        for tick in range(60_000):
            if draw.random() < 0.03 and tick - last > 5:
                rows.append((tick, "B"))
            if draw.random() < 0.03:
                rows.append((tick, "A"))
                last = tick
        return self.file("silenced.tsv", "".join(f"{tick / 1000:.3f}\t{unit}\n" for tick, unit in sorted(rows)))

    def rows_in(self, folder, name):
        with (self.folder / folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t"))

    def test_a_silenced_unit_is_inhibited(self):
        path = self.silenced_file()
        out = self.ok("episodes", path, "-o", self.folder / "out").stdout

        self.assertIn("1 connection (0 excitatory, 1 inhibitory) among 3 units; ", out)
        self.assertIn("Inhibitory connections (1)\n", out)
        self.assertIn("A ⊣ B", out)
        (edge,) = self.rows_in("out", "circuit.tsv")
        self.assertEqual((edge["from"], edge["to"], edge["sign"], edge["kind"]), ("A", "B", "inhibitory", "direct"))
        self.assertLess(float(edge["gain_high"]), 0.5)
        self.assertLess(float(edge["transmission_high"]), 0)

        document = json.loads(self.ok("episodes", path, "--json").stdout)
        (listed,) = document["circuit"]["edges"]
        self.assertEqual((listed["sign"], listed["kind"]), ("inhibitory", "direct"))
        # The columns are the same in every form, but for the unit in the names of intervals.
        self.assertEqual([name.removesuffix("_ms") for name in listed], [name.removesuffix("_ms") for name in edge])
        for name in ("count", "expected", "p", "q", "gain", "gain_low", "gain_high", "transmission", "asymmetry"):
            self.assertAlmostEqual(listed[name], float(edge[name]), delta=1e-5)
        graph = xml.fromstring((self.folder / "out" / "circuit.graphml").read_text(encoding="utf-8"))
        keys = [key.get("attr.name") for key in graph.findall("{*}key") if key.get("for") == "edge"]
        whole = {name.removesuffix("_ms").removesuffix("_low").removesuffix("_high") for name in keys}
        self.assertEqual(whole | {"from", "to"},
                         {name.removesuffix("_ms").removesuffix("_low").removesuffix("_high") for name in edge})

    def test_tests_all_pairs_of_units(self):
        path = self.silenced_file()
        self.ok("episodes", path, "-o", self.folder / "out")
        document = json.loads(self.ok("episodes", path, "--json").stdout)

        rows = self.rows_in("out", "pairs.tsv")
        self.assertEqual([rows[0][name] for name in ("from", "to", "sign", "kind")], ["A", "B", "inhibitory", "direct"])
        self.assertEqual({row["kind"] for row in rows[1:]}, {"-"})
        self.assertEqual(len(document["pairs"]), len(rows))
        for row, pair in zip(rows, document["pairs"], strict=True):
            self.assertEqual([row["from"], row["to"], row["sign"], int(row["count"])], [pair["from"], pair["to"], pair["sign"], pair["count"]])
            self.assertAlmostEqual(float(row["p"]), pair["p"], delta=1e-5)
        told = document["run"]["circuit"]
        pairs = {"tested": 2, "possible": 6, "listed_below": 1.0, "untested_units": ["C"]}
        self.assertEqual(told["pairs"], pairs)
        self.assertEqual(document["run"]["summary"], "1 connection (0 excitatory, 1 inhibitory) among 3 units; 2 of 6 pairs of units "
                                                     "tested, 1 % false discovery rate.")
        # C has less than 10 spikes, from which nobody expects a connection.
        self.assertEqual(document["run"]["input"]["warnings"], [])

    def test_without_the_test_of_pairs_there_is_no_inhibition(self):
        path = self.silenced_file()
        for others in (("--surrogates", "100"), ("--test", "exact")):
            with self.subTest(others):
                document = json.loads(self.ok("episodes", path, *others, "--max-size", "2", "--json").stdout)
                self.assertNotIn("pairs", document)
                self.assertNotIn("pairs", document["run"]["circuit"])
                self.assertNotIn("inhibitory", {edge["sign"] for edge in document["circuit"]["edges"]})
        self.refused("episodes", path, "--fewer-than-chance", says="--fewer-than-chance")

    def test_what_is_held_out_tests_what_the_rest_suggests(self):
        path = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "40s", "--seed", "1", "-o", path)
        out = self.ok("episodes", path, "--max-size", "2", "--hold-out", "0.5", "--hold-out-block", "4s", "-o", self.folder / "out")

        run = json.loads((self.folder / "out" / "run.json").read_text(encoding="utf-8"))
        held = run["hold_out"]
        self.assertEqual([begin for begin, _ in run["input"]["epochs_s"]], [4, 12, 20, 28, 36])
        self.assertEqual((held["searched_s"], held["tested_s"]), (20, 20.000001))
        with (self.folder / "out" / "episodes.tsv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        self.assertEqual(held["tested"], len(rows))
        self.assertTrue(all(float(row["search_p"]) < 0.01 for row in rows))
        before = [row for row in rows if float(row["search_q"]) < 0.01]
        self.assertEqual(held["significant"], len(before))
        self.assertEqual(held["replicated"], sum(row["significant"] == "yes" for row in before))
        self.assertGreaterEqual(held["replicated"], 10)
        self.assertIn(f"Replicated: {held['replicated']} of {held['significant']} episodes", out.stdout)

    def test_another_recording_tests_what_the_first_suggests(self):
        first, other = self.folder / "s1.tsv", self.folder / "s2.tsv"
        for seed, path in enumerate((first, other), 1):
            self.ok("simulate", "sym26", "--length", "20s", "--seed", str(seed), "-o", path)
        lacking = self.file("lacking.tsv", "".join(line for line in other.read_text(encoding="utf-8").splitlines(keepends=True)
                                                   if not line.endswith("\tn3\n")))
        asked = ("episodes", first, "--max-size", "2", "--confirm", lacking)
        out = self.ok(*asked, "-o", self.folder / "out")

        run = json.loads((self.folder / "out" / "run.json").read_text(encoding="utf-8"))
        told = run["confirm"]
        self.assertEqual((run["input"]["path"], told["searched"]["path"]), (str(lacking), str(first)))
        self.assertEqual((told["searched_s"], told["tested_s"], told["missing_units"]), (20, 20, ["n3"]))
        with (self.folder / "out" / "episodes.tsv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        self.assertEqual(told["tested"], len(rows))
        self.assertTrue(all(float(row["search_p"]) < 0.01 and "n3" not in row["units"].split("→") for row in rows))
        before = [row for row in rows if float(row["search_q"]) < 0.01]
        self.assertEqual(told["significant"], len(before))
        self.assertEqual(told["replicated"], sum(row["significant"] == "yes" for row in before))
        self.assertGreaterEqual(told["replicated"], 8)
        self.assertIn(f"Replicated: {told['replicated']} of {told['significant']} episodes", out.stdout)

        with (self.folder / "out" / "untested.tsv").open(encoding="utf-8", newline="") as file:
            left = list(csv.DictReader(file, delimiter="\t"))
        self.assertEqual(told["untested"], len(left))
        self.assertEqual(told["untested_significant"], sum(float(row["search_q"]) < 0.01 for row in left))
        self.assertIn(["n2", "n3"], [row["units"].split("→") for row in left])
        self.assertEqual({row["missing"] for row in left}, {"n3"})
        self.assertIn("25 of the 26 that were searched are here", out.stdout)
        self.assertIn("1 of 26 units is not in the other recording: n3", out.stderr)
        listed = json.loads(self.ok(*asked, "--json").stdout)
        self.assertEqual([one["units"] for one in listed["untested"]], [row["units"].split("→") for row in left])
        self.assertEqual(listed["run"]["confirm"], told)

        self.ok("report", self.folder / "out", "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_bytes(), (self.folder / "out" / "report.html").read_bytes())
        with first.open("rb") as file:
            self.ok("episodes", "-", *asked[2:], "--json", stdin=file)

    def test_refuses_what_cannot_confirm(self):
        path = self.chain_file()
        other = self.file("other.tsv", "0.1\tx\n0.2\ty\n")
        for arguments, words in (
                ((self.folder / "absent.tsv",), ("absent.tsv",)),
                ((self.file("bad.tsv", "garbage\n"),), ("bad.tsv", "line 1")),
                ((other,), ("no unit is in both recordings",)),
                ((path,), ("the same spikes",)),
                ((other, "--hold-out", "0.5"), ("--hold-out", "--confirm")),
                ((other, "--stream"), ("--stream", "--confirm")),
                ((other, "--surrogates", "9", "--part", "1/2", "-o", "part"), ("--part", "--confirm")),
                ((other, "--only-units", "a"), ("other.tsv", "'a'")),
        ):
            with self.subTest(arguments):
                self.refused("episodes", path, "--confirm", *arguments, says=words)
        with path.open("rb") as file:
            self.refused("episodes", "-", "--confirm", "-", says="--confirm", stdin=file)

    def test_parts_of_surrogates_of_epochs_are_merged(self):
        path = self.chain_file()
        asked = ("episodes", path, "--delays", "4-6ms", "--min-count", "5", "--trial-length", "300ms", "--surrogates", "10",
                 "--surrogate-method", "trial-shifting")
        self.ok(*asked, "-o", self.folder / "whole")
        parts = [self.folder / f"part{k}" for k in (1, 2)]
        for k, part in enumerate(parts, 1):
            self.ok(*asked, "--part", f"{k}/2", "-o", part)
        self.ok("merge", *parts, "-o", self.folder / "merged")

        self.assertEqual(self.contents("merged"), self.contents("whole"))

    def test_parts_keep_the_labels_of_epochs(self):
        table = self.file("epochs.tsv", "begin\tend\tside\n" + "".join(f"{0.5 + 0.25 * i}\t{0.7 + 0.25 * i}\t{'ab'[i % 2]}\n" for i in range(6)))
        asked = ("episodes", self.chain_file(), "--delays", "4-6ms", "--min-count", "5", "--epochs", table, "--surrogates", "10")
        parts = [self.folder / f"part{k}" for k in (1, 2)]
        for k, part in enumerate(parts, 1):
            self.ok(*asked, "--epoch-labels", "side", "--part", f"{k}/2", "-o", part)
        self.ok("merge", *parts, "-o", self.folder / "merged")
        merged = json.loads((self.folder / "merged/result.json").read_text())
        self.assertEqual(merged["spikes"]["epoch_labels"], ["a", "b"] * 3)

        self.ok(*asked, "--part", "2/2", "--overwrite", "-o", parts[1])
        self.refused("merge", *parts, "-o", self.folder / "again", says="the epochs had other labels")

    def test_names_stand_in_the_tables_as_they_are(self):
        """Nothing is quoted, so two rows that contain quotes must not be read as one."""
        chain = self.chain_file().read_text(encoding="utf-8")
        for old, new in (("a", '"a'), ("b", "=b"), ("c", "c→d")):
            chain = chain.replace(f"\t{old}\n", f"\t{new}\n")
        self.ok("episodes", self.file("names.tsv", chain), *self.search, "-o", self.folder / "out")

        with (self.folder / "out" / "circuit.tsv").open(encoding="utf-8", newline="") as file:
            edges = {(row["from"], row["to"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
        self.assertEqual(edges, {('"a', "=b"), ("=b", "c→d")})

    def test_leaves_out_other_units(self):
        out = self.ok("episodes", self.chain_file(), *self.search, "--only-units", "b,c").stdout

        self.assertIn("b → c", out)
        self.assertNotRegex(out, r"a →")

    def test_units_that_were_left_out_cannot_be_chosen(self):
        """Unit e fires at 20 Hz, and the others at 10 Hz."""
        chain = self.chain_file().read_text(encoding="utf-8")
        path = self.file("fast.tsv", chain + "".join(f"{0.05 * i + 0.02:.6f}\te\n" for i in range(100)))
        fast = ("episodes", path, *self.search, "--max-rate", "15")

        out = self.folder / "out"
        told = self.ok(*fast, "--only-units", "b,c,e", "-o", out).stderr
        self.assertIn("Of --only-units, these were left out: e (it fires at 20.1 Hz, above --max-rate).", told)
        self.ok("episodes", path, *self.search, "--only-units", "b,c", "-o", self.folder / "same")
        self.assertEqual((out / "episodes.tsv").read_bytes(), (self.folder / "same" / "episodes.tsv").read_bytes())
        self.ok("report", out, "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_bytes(), (out / "report.html").read_bytes())
        self.refused(*fast, "--only-units", "e",
                     says="each of these units was left out: e (it fires at 20.1 Hz, above --max-rate)")
        self.refused(*fast, "--only-units", "b,x", says="no unit is named 'x'; there are 4: a, b, c, d")
        pattern = ("spade", path, "--min-occ", "25", "--max-rate", "15", "--only-units", "b,c,e")
        self.assertIn("e (it fires at 20.1 Hz, above --max-rate)", self.ok(*pattern).stderr)

        groups = self.file("groups.csv", "a,ae\ne,ae\n")
        told = self.ok(*fast, "--groups", groups, "--only-units", "ae,b").stderr
        self.assertIn("The group ae is without unit e, which was left out.", told)
        self.assertNotIn("--only-units", told)
        groups = self.file("groups.csv", "e,left\n")
        told = self.ok(*fast, "--groups", groups, "--only-units", "a,b,left").stderr
        self.assertIn("There is no group left: its unit was left out.", told)
        self.assertIn("left (all units of this group were left out)", told)
        self.refused(*fast, "--groups", self.file("groups.csv", "e,left\nx,left\n"), says="no unit is named 'x'")

    def test_thresholds_say_the_same_in_three_ways(self):
        path = self.chain_file()
        for i, threshold in enumerate((("--min-count", "40"), ("--min-fraction", "0.2"), ("--min-rate", "8"))):
            self.ok("episodes", path, "--delays", "4-6ms", *threshold, "-o", self.folder / str(i))

        self.assertEqual((self.folder / "0/episodes.tsv").read_bytes(), (self.folder / "1/episodes.tsv").read_bytes())

    def test_replaces_its_own_folder_only_when_asked(self):
        path = self.chain_file()
        out = self.folder / "out"
        self.ok("episodes", path, *self.search, "-o", out)

        self.refused("episodes", path, *self.search, "-o", out, says=("exists", "--overwrite"))
        self.ok("episodes", path, "--delays", "4-6ms", "--min-count", "45", "-o", out, "--overwrite")

    def test_does_not_replace_a_folder_of_someone_else(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "thesis.tex").write_text("years of work")

        self.refused("episodes", self.chain_file(), *self.search, "--only-units", "a,b,c", "-o", out, "--overwrite", says="thesis.tex")
        self.assertEqual((out / "thesis.tex").read_text(), "years of work")


@needs_plain_memory
class Memory(CliTest):
    """Mining bursts gives 205,329 episodes, which take 116 MB without a limit."""

    def setUp(self):
        super().setUp()
        self.data = self.folder / "bursts.npz"
        self.ok("simulate", "culture", "--channels", "24", "--length", "300s", "-o", self.data)
        self.search = ("episodes", self.data, "--min-count", "60", "--max-size", "3", "--test", "exact")

    def test_is_bounded_with_its_results(self):
        result, own = run_for_peak("episodes", self.data, "--min-count", "100000", "--test", "exact")  # finds nothing
        self.assertEqual(result.returncode, 0, result.stderr)
        for options, most in ((("-o", self.folder / "out"), 60e6), (("--json",), 200e6),
                              (("--strategy", "two-pass", "-o", self.folder / "out"), 60e6)):
            with self.subTest(options):
                before = self.names()
                result, peak = run_for_peak(*self.search, "--max-memory", f"{most / 1e6:.0f}MB", *options)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, f"more than (--max-memory )?(the )?{most / 1e6:.1f} MB")
                # The allocator keeps some freed blocks for each thread, on top of what the program is without a result.
                self.assertLess(peak, own + 1.2 * most + 8e6)
                self.assertEqual(self.names(), before)

    def test_says_how_much_it_wrote(self):
        out = self.ok(*self.search, "-o", self.folder / "out").stdout
        self.assertRegex(out, r"episodes\.tsv has 205,329 episodes, 1\d\.\d MB")
        self.assertIn("--max-size or a larger --min-count gives fewer", out)
        out = self.ok("episodes", self.data, "--min-count", "100", "--max-size", "2", "-o", self.folder / "few").stdout
        self.assertRegex(out, r"episodes\.tsv has [\d,]+ episodes, [\d.]+ kB\n")
        self.assertNotIn("--max-size", out)

if __name__ == "__main__":
    unittest.main()
