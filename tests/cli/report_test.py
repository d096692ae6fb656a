"""spikeweave report, and the page beside every result of episodes, spade and sort."""

import json
import unittest

from support import CliTest, needs_full_speed, page_data


class Report(CliTest):
    search = ("--delays", "4-6ms", "--min-count", "40")

    def page(self, path):
        return (self.folder / path).read_text(encoding="utf-8")

    def test_makes_the_page_that_episodes_has_written(self):
        self.ok("episodes", self.chain_file(), *self.search, "-o", self.folder / "out")

        self.ok("report", self.folder / "out", "-o", self.folder / "page.html")

        self.assertEqual(self.page("page.html"), self.page("out/report.html"))
        self.refused("report", self.folder / "out", "-o", self.folder / "page.html", says="exists")
        self.ok("report", self.folder / "out", "-o", self.folder / "page.html", "--overwrite")

    def test_makes_a_page_of_a_result_without_one(self):
        """The options of reading are used again: units left out, and the unit of times."""
        text = self.chain_file().read_text(encoding="utf-8").replace("time\t", "time_ms\t")
        path = self.file("ms.tsv", "\n".join(line.replace("time_ms", "t") for line in text.splitlines()) + "\n")
        self.ok("episodes", path, "--delays", "0.000004-0.000006s", "--min-count", "40", "--time-unit", "ms", "--only-units", "a,b,c",
                "--no-report", "-o", self.folder / "out")
        self.assertFalse((self.folder / "out/report.html").exists())

        self.ok("report", self.folder / "out", "-o", self.folder / "page.html")

        data = json.loads(page_data(self.page("page.html")))
        self.assertEqual(data["units"], ["a", "b", "c"])
        self.assertEqual(data["spikes"]["number"], 150)
        self.assertEqual(data["spikes"]["end_us"] - data["spikes"]["begin_us"], 4950)

    def test_needs_the_same_spikes(self):
        path = self.chain_file()
        self.ok("episodes", path, *self.search, "-o", self.folder / "out")
        moved = path.rename(self.folder / "moved.tsv")
        to = self.folder / "page.html"

        self.refused("report", self.folder / "out", "-o", to, says="chain.tsv")
        self.ok("report", self.folder / "out", "-o", to, "--spikes", moved)
        moved.write_text(moved.read_text(encoding="utf-8") + "9.9\ta\n", encoding="utf-8")
        self.refused("report", self.folder / "out", "-o", self.folder / "other.html", "--spikes", moved, says="has changed")

    def test_needs_the_file_of_spikes_from_standard_input(self):
        path = self.chain_file()
        with path.open(encoding="utf-8") as spikes:
            self.ok("episodes", "-", *self.search, "-o", self.folder / "out", stdin=spikes)
        to = self.folder / "page.html"

        self.refused("report", self.folder / "out", "-o", to, says=("does not say where its spikes are", "--spikes"))
        self.ok("report", self.folder / "out", "-o", to, "--spikes", path)

        self.assertEqual(self.page("page.html"), self.page("out/report.html"))

    def test_makes_the_page_that_spade_has_written(self):
        """Of patterns that were streamed and tested, of a part, of epochs, and of times in another unit."""
        path = self.chain_file()
        epochs = self.file("epochs.tsv", "start\tstop\n0.2\t2.9\n3.1\t4.9\n")
        text = path.read_text(encoding="utf-8").replace("time_s\t", "t\t")
        others = self.file("ms.tsv", text)
        search = ("--bin", "2ms", "--window", "12", "--min-occ", "20")
        for name, file, options in (("streamed", path, ()), ("tested", path, ("--surrogates", "20", "--alpha", "0.2", "--seed", "1")), ("part", path, ("--t-start", "0.5s")),
                                    ("epochs", path, ("--epochs", epochs, "--occurrences")), ("ms", others, ("--time-unit", "s", "--only-units", "a,b,c"))):
            with self.subTest(name):
                self.ok("spade", file, *search, *options, "-o", self.folder / name)
                self.ok("report", self.folder / name, "-o", self.folder / f"{name}.html")
                self.assertEqual(self.page(f"{name}.html"), self.page(f"{name}/report.html"))
                self.assertEqual(json.loads(page_data(self.page(f"{name}.html")))["kind"], "spade")

    @needs_full_speed
    def test_makes_the_page_that_sort_has_written(self):
        self.ok("simulate", "recording", "--length", "10s", "--channels", "16", "--units", "3", "--low-peak", "150", "--seed", "4", "-o", self.folder / "rec")
        self.ok("simulate", "features", "--spikes", "1000", "--units", "3", "--channels", "4", "--seed", "1", "-o", self.folder / "features.npz")
        for name, file, options in (("templates", "rec", ()), ("clusters", "rec", ("--stages", "cluster", "--no-phy")), ("features", "features.npz", ())):
            with self.subTest(name):
                self.ok("sort", self.folder / file, *options, "-o", self.folder / name)
                self.ok("report", self.folder / name, "-o", self.folder / f"{name}.html")
                self.assertEqual(self.page(f"{name}.html"), self.page(f"{name}/report.html"))
        self.refused("report", self.folder / "features", "--spikes", self.folder / "rec", "-o", self.folder / "x.html", says="--spikes is not for a result of sort")

    def test_takes_the_rules_of_the_search(self):
        """In wide bins no threshold can be estimated, which a page does not need."""
        busy = self.file("busy.tsv", "time_s\tunit\n" + "".join(f"{0.001 * i:.3f}\t{'abcdefg'[i * i % 7]}\n" for i in range(3000)))
        self.ok("spade", busy, "--window", "3", "--min-occ", "300", "--min-spikes", "3", "--max-spikes", "4", "-o", self.folder / "spade")
        self.refused("spade", busy, "--window", "3", "-o", self.folder / "auto", says="too wide")

        self.ok("report", self.folder / "spade", "-o", self.folder / "spade.html")

        self.assertEqual(self.page("spade.html"), self.page("spade/report.html"))

    def test_pages_are_left_out_on_request(self):
        self.ok("spade", self.chain_file(), "--min-occ", "40", "--no-report", "-o", self.folder / "spade")
        self.ok("simulate", "features", "--spikes", "500", "--units", "2", "--channels", "4", "-o", self.folder / "features.npz")
        self.ok("sort", self.folder / "features.npz", "--no-report", "-o", self.folder / "sorted")

        for name in ("spade", "sorted"):
            self.assertFalse((self.folder / name / "report.html").exists())
            self.ok("report", self.folder / name, "-o", self.folder / f"{name}.html")

    def compared(self):
        """Writes results of two recordings, of which the second one has fewer chains and no unit d."""
        path = self.chain_file()
        fewer = self.file("fewer.tsv", "".join(line for line in path.read_text(encoding="utf-8").splitlines(True)
                                               if not line.endswith("d\n") and not line.startswith(("1.", "2.", "3.", "4."))))
        self.ok("episodes", path, "--delays", "4-6ms", "--min-count", "15", "-o", self.folder / "many")
        self.ok("episodes", fewer, "--delays", "4-6ms", "--min-count", "15", "-o", self.folder / "few")
        return self.folder / "many", self.folder / "few"

    def test_compares_several_results(self):
        folders = self.compared()

        for view, kind in (((), "comparison"), (("--as", "series"), "series")):
            self.ok("report", *folders, *view, "-o", self.folder / f"{kind}.html")
            data = json.loads(page_data(self.page(f"{kind}.html")))
            self.assertEqual(data["kind"], kind)
            self.assertEqual([one["name"] for one in data["recordings"]], ["many", "few"])
            self.assertEqual(data["units"], ["a", "b", "c", "d"])
            counts = dict(zip(map(str, data["episodes"]["units"]), data["episodes"]["count"]))
            self.assertEqual(counts["[0, 1]"], [50, 10])
            self.assertEqual(data["episodes"]["kind"][data["episodes"]["units"].index([0, 1])], ["direct", "direct"])
            self.assertEqual(data["episodes"]["sign"][data["episodes"]["units"].index([0, 1])], ["excitatory", "excitatory"])
            self.assertEqual(data["episodes"]["significant"][data["episodes"]["units"].index([0, 1])], [True, True])

    def test_a_series_of_results_with_surrogates_has_the_stability_of_their_circuits(self):
        """With 20 surrogates no p is below 0.01, whatever the other test finds."""
        for day in ("1", "2"):
            self.ok("simulate", "sym26", "--length", "20s", "--seed", day, "-o", self.folder / f"{day}.tsv")
        for number, alpha in (("99", "0.05"), ("20", "0.01")):
            pairs = []
            for day in ("1", "2"):
                out = self.folder / f"{day}-{number}"
                self.ok("episodes", self.folder / f"{day}.tsv", "--delays", "4-6ms", "--max-size", "2", "--min-count", "60", "--alpha", alpha,
                        "--surrogates", number, "--seed", "1", "--no-report", "-o", out)
                lines = [line.split("\t") for line in (out / "circuit.tsv").read_text(encoding="utf-8").splitlines()]
                pairs.append({tuple(line[:2]) for line in lines[1:] if line[lines[0].index("kind")] == "direct"})
                lines = [line.split("\t") for line in (out / "episodes.tsv").read_text(encoding="utf-8").splitlines()]
                self.assertLess(min(float(line[lines[0].index("independent_q")]) for line in lines[1:]), 0.001)
            self.ok("report", self.folder / f"1-{number}", self.folder / f"2-{number}", "--as", "series", "-o", self.folder / f"{number}.html")

            (found,) = json.loads(page_data(self.page(f"{number}.html")))["stability"]
            self.assertEqual((found["before"], found["after"], found["common"]), (*map(len, pairs), len(pairs[0] & pairs[1])))
            if number == "99":
                self.assertGreater(min(map(len, pairs)), 4)
                self.assertGreater(found["stability"], 0.5)
            else:
                self.assertEqual((pairs, found["stability"]), ([set(), set()], None))

    def test_refuses_what_cannot_be_compared(self):
        many, few = self.compared()
        path = self.folder / "chain.tsv"
        to = self.folder / "page.html"
        self.ok("spade", path, "--min-occ", "40", "-o", self.folder / "spade")
        self.ok("episodes", path, "--delays", "4-7ms", "--min-count", "15", "-o", self.folder / "wider")

        self.refused("report", many, self.folder / "spade", "-o", to, says=("spade' is one of spade", "only results of one kind"))
        self.refused("report", many, self.folder / "wider", "-o", to, says=("wider'", "other --delays or --ties"))
        self.refused("report", many, few, "--spikes", path, "-o", to, says="--spikes is for a page of one folder")
        self.refused("report", many, "--as", "series", "-o", to, says="--as is for a page of several folders")
        self.refused("report", many, few, "--alpha", "0", "-o", to, says="--alpha")
        (many / "circuit.tsv").write_text("from\tto\n", encoding="utf-8")
        (many / "run.json").write_text('{"input": {}}', encoding="utf-8")
        self.refused("report", few, many, "-o", to, says="many/run.json")

    def test_compares_patterns(self):
        path = self.chain_file()
        fewer = self.file("fewer.tsv", "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if not line.startswith("4.")))
        search = ("--bin", "5ms", "--window", "6", "--min-occ", "20", "--min-spikes", "2")
        for name, file in (("many", path), ("fewer", fewer)):
            self.ok("spade", file, *search, "-o", self.folder / name)
        self.ok("spade", path, "--bin", "6ms", "--window", "6", "--min-occ", "20", "-o", self.folder / "wider")
        to = self.folder / "page.html"

        self.ok("report", self.folder / "many", self.folder / "fewer", "-o", to)

        data = json.loads(page_data(self.page("page.html")))
        self.assertEqual(data["kind"], "spade-comparison")
        self.assertEqual(data["units"], ["a", "b", "c", "d"])
        whole = data["patterns"]["units"].index([0, 1, 2])
        self.assertEqual(data["patterns"]["count"][whole], [50, 40])
        self.refused("report", self.folder / "many", self.folder / "wider", "-o", self.folder / "x.html", says=("wider' was searched with another --bin",))

    @needs_full_speed
    def test_compares_two_sortings(self):
        for name, options in (("rec", ("--length", "10s")), ("long", ("--length", "11s"))):
            self.ok("simulate", "recording", *options, "--channels", "16", "--units", "3", "--low-peak", "150", "--seed", "4", "-o", self.folder / name)
        self.ok("sort", self.folder / "rec", "-o", self.folder / "templates")
        self.ok("sort", self.folder / "rec", "--stages", "cluster", "--no-phy", "-o", self.folder / "clusters")
        self.ok("sort", self.folder / "long", "-o", self.folder / "other")
        to = self.folder / "page.html"

        self.ok("report", self.folder / "templates", self.folder / "clusters", "-o", to)

        data = json.loads(page_data(self.page("page.html")))
        self.assertEqual(data["kind"], "sort-comparison")
        self.assertEqual([one["name"] for one in data["sortings"]], ["templates", "clusters"])
        self.assertGreater(sum(data["rows"]["matched"]), 1)
        both = (self.folder / "templates", self.folder / "clusters")
        other = self.folder / "x.html"
        self.refused("report", both[0], self.folder / "other", "-o", other, says=("different recordings", "samples"))
        self.refused("report", *both, both[0], "-o", other, says="only two sortings")
        self.refused("report", *both, "--as", "series", "-o", other, says="--as is not for results of sort")
        self.assertFalse(other.exists())

    def test_refuses_what_is_no_result(self):
        to = self.folder / "page.html"
        (self.folder / "empty").mkdir()
        self.chain_file()
        for folder in ("empty", "none", "chain.tsv"):
            with self.subTest(folder):
                self.refused("report", self.folder / folder, "-o", to, says="no result of spikeweave episodes, spade, sort")

    def test_refuses_a_damaged_sorting(self):
        self.ok("simulate", "features", "--spikes", "500", "--units", "2", "--channels", "4", "-o", self.folder / "features.npz")
        self.ok("sort", self.folder / "features.npz", "-o", self.folder / "sorted")
        to = self.folder / "page.html"
        for name in ("waveforms.npz", "units.tsv"):
            with self.subTest(name):
                whole = (self.folder / "sorted" / name).read_bytes()
                (self.folder / "sorted" / name).unlink()
                self.refused("report", self.folder / "sorted", "-o", to, says=name)
                (self.folder / "sorted" / name).write_bytes(whole)
        self.ok("sort", self.folder / "features.npz", "--only-clusters", "1", "--start", self.folder / "sorted/sorting.npz", "-o", self.folder / "other")
        self.ok("simulate", "features", "--spikes", "400", "--units", "2", "--channels", "4", "-o", self.folder / "fewer.npz")
        self.ok("sort", self.folder / "fewer.npz", "-o", self.folder / "fewer")
        (self.folder / "sorted/waveforms.npz").write_bytes((self.folder / "fewer/waveforms.npz").read_bytes())
        self.refused("report", self.folder / "sorted", "-o", to, says=("waveforms.npz", "do not fit"))

    def test_refuses_damaged_tables(self):
        self.ok("episodes", self.chain_file(), *self.search, "-o", self.folder / "out")
        to = self.folder / "page.html"
        table = self.folder / "out/episodes.tsv"
        whole = table.read_text(encoding="utf-8")
        for old, new, says in (("a→b", "a→nobody", "the spikes have no units 'a→nobody"), ("\t50\t", "\tmany\t", "'many' is not a number"),
                               ("\tyes", "", "line 2: it has not as many fields as the first line")):
            table.write_text(whole.replace(old, new, 1), encoding="utf-8")
            with self.subTest(new):
                self.refused("report", self.folder / "out", "-o", to, says=("episodes.tsv", says))
        table.write_text(whole, encoding="utf-8")
        (self.folder / "out/run.json").write_text('{"input": {}}', encoding="utf-8")
        self.refused("report", self.folder / "out", "-o", to, says="run.json")

    def test_names_in_a_page_are_no_markup(self):
        chain = self.chain_file().read_text(encoding="utf-8")
        names = {"a": "</script><script>alert(1)</script>", "b": "a→b", "c": "]]>\"'&"}
        for old, new in names.items():
            chain = chain.replace(f"\t{old}\n", f"\t{new}\n")
        self.ok("episodes", self.file("names.tsv", chain), *self.search, "-o", self.folder / "out")

        page = self.page("out/report.html")

        data = json.loads(page_data(page))
        self.assertEqual(page.count("<script"), 2)
        self.assertEqual(page.count("</script"), 2)
        self.assertEqual(set(data["units"]), {*names.values(), "d"})
        longest = [data["units"][unit] for unit in data["episodes"]["units"][0]]
        self.assertEqual(longest, list(names.values()))


class Recorded(CliTest):
    """Values in the record of a result that no run has had."""

    def test_what_is_wrong_in_a_record_is_said_with_its_file(self):
        data, to = self.chain_file(), self.folder / "page.html"
        results = {"episodes": (("parameters", "only_units", "x"), ("parameters", "groups", "none.tsv"), ("parameters", "min_snr", 3),
                                ("input", "begin_s", 1e308), ("input", "end_s", -1)),
                   "spade": (("parameters", "bin", "x"), ("parameters", "window", -1), ("parameters", "compat", "x"))}
        for command, changes in results.items():
            folder = self.folder / command
            self.ok(command, data, *(("--min-count", "40") if command == "episodes" else ("--min-occ", "5")), "-o", folder)
            record = folder / "run.json"
            text = record.read_text(encoding="utf-8")
            for part, name, value in changes:
                with self.subTest(command, name=name):
                    run = json.loads(text)
                    run[part][name] = value
                    record.write_text(json.dumps(run), encoding="utf-8")
                    self.refused("report", folder, "--spikes", data, "-o", to, says=f"{command}/run.json'")


if __name__ == "__main__":
    unittest.main()
