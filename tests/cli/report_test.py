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
        self.assertEqual(data["unit_names"], ["a", "b", "c"])
        self.assertEqual(data["spikes"]["number"], 150)
        self.assertEqual(data["spikes"]["end_us"] - data["spikes"]["begin_us"], 4950)

    def test_needs_nothing_but_the_folder(self):
        """Whether the spikes came from a file that is gone, or from standard input."""
        path = self.chain_file()
        with path.open(encoding="utf-8") as spikes:
            self.ok("episodes", "-", *self.search, "-o", self.folder / "piped", stdin=spikes)
        self.ok("episodes", path, *self.search, "-o", self.folder / "out")
        path.unlink()

        for name in ("out", "piped"):
            self.ok("report", self.folder / name, "-o", self.folder / f"{name}.html")
            self.assertEqual(self.page(f"{name}.html"), self.page(f"{name}/report.html"))

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
        """Writes results of two recordings; the second one has fewer chains and no unit d."""
        path = self.chain_file()
        fewer = self.file("fewer.tsv", "".join(line for line in path.read_text(encoding="utf-8").splitlines(True)
                                               if not line.endswith("d\n") and not line.startswith(("1.", "2.", "3.", "4."))))
        self.ok("episodes", path, "--delays", "4-6ms", "--min-count", "15", "-o", self.folder / "many")
        self.ok("episodes", fewer, "--delays", "4-6ms", "--min-count", "15", "-o", self.folder / "few")
        return self.folder / "many", self.folder / "few"

    def test_compares_several_results(self):
        folders = self.compared()

        for view, kind in (((), "comparison"), (("--as", "series"), "series")):
            page = self.folder / f"{kind}.html"
            out = self.ok("report", *folders, *view, "-o", page).stdout
            self.assertRegex(out, rf"\A(No change|\d+ changes?) of \d+ connections and chains in 2 recordings, .*\n{page} shows this in a browser\n\Z")
            self.assertEqual(self.ok("report", *folders, *view, "-o", page, "--overwrite", "--quiet").stdout, "")
            data = json.loads(page_data(self.page(f"{kind}.html")))
            self.assertEqual(data["run"]["summary"], out.splitlines()[0])
            self.assertEqual(data["kind"], kind)
            self.assertEqual([one["name"] for one in data["recordings"]], ["many", "few"])
            self.assertEqual(data["unit_names"], ["a", "b", "c", "d"])
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
        self.refused("report", many, "--as", "series", "-o", to, says="--as is for a page of several results")
        self.refused("report", many, few, "--alpha", "0", "-o", to, says="--alpha")
        document = json.loads((many / "result.json").read_text(encoding="utf-8"))
        del document["run"]["parameters"]
        (many / "result.json").write_text(json.dumps(document), encoding="utf-8")
        self.refused("report", few, many, "-o", to, says="many/result.json")

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
        self.assertEqual(data["unit_names"], ["a", "b", "c", "d"])
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
                self.refused("report", self.folder / folder, "-o", to, says="no result of spikeweave episodes, windows, spade, sort")

    def test_refuses_damaged_documents(self):
        self.ok("episodes", self.chain_file(), *self.search, "-o", self.folder / "out")
        to, path = self.folder / "page.html", self.folder / "out/result.json"
        whole = path.read_text(encoding="utf-8")

        def damaged(damage):
            document = json.loads(whole)
            damage(document)
            return json.dumps(document)

        for text in (whole[:-9], "[]", "{}", damaged(lambda one: one.pop("run")), damaged(lambda one: one.pop("spikes")),
                     damaged(lambda one: one["episodes"].pop("total")), damaged(lambda one: one["episodes"]["q"].pop()),
                     damaged(lambda one: one["episodes"]["units"][0].append(17)), damaged(lambda one: one.update(kind="other")),
                     damaged(lambda one: one.update(version=99))):
            with self.subTest(text[-40:]):
                path.write_text(text, encoding="utf-8")
                self.refused("report", self.folder / "out", "-o", to, says="out/result.json")

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
        self.assertEqual(set(data["unit_names"]), {*names.values(), "d"})
        longest = [data["unit_names"][unit] for unit in data["episodes"]["units"][0]]
        self.assertEqual(longest, list(names.values()))


if __name__ == "__main__":
    unittest.main()
