"""spikeweave report, and the page beside every result of episodes."""

import json
import unittest

from support import CliTest, page_data


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

    def test_refuses_what_is_no_result_of_episodes(self):
        to = self.folder / "page.html"
        (self.folder / "empty").mkdir()
        self.ok("spade", self.chain_file(), "--bin", "5ms", "--window", "3", "--min-occ", "40", "-o", self.folder / "spade")
        for folder in ("empty", "none", "spade", "chain.tsv"):
            with self.subTest(folder):
                self.refused("report", self.folder / folder, "-o", to, says="no result of spikeweave episodes")

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


if __name__ == "__main__":
    unittest.main()
