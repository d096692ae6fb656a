"""The page of a result of episodes that has pairs which occur less often than by chance, in Chromium.

Usage: page_fewer_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import random
import re
import unittest

from browser import NASTY, By, PageCase, rows_of, spikeweave


class FewerPage(PageCase):
    """B is silent for 5 ms after each spike of A, but not at the same time; C fires at random."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(20261127)
        spikes, silent_to = [], -1
        for tick in range(60_000):
            fires = {unit for unit in "ABC" if draw.random() < 0.03}
            if tick <= silent_to:
                fires.discard("B")
            if "A" in fires:
                silent_to = tick + 5
            spikes += [(tick, unit) for unit in sorted(fires)]
        path = cls.folder / "silenced.tsv"
        path.write_text("time_s\tunit\n" + "".join(f"{tick / 1000:.3f}\t{unit}\n" for tick, unit in spikes), encoding="utf-8")
        spikeweave("episodes", path, "--delays", "0-5ms,5-10ms", "--max-size", "2", "--fewer-than-chance", "-o", cls.out)
        cls.read_page()

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertIn(", 1 pair with putative inhibition", self.one("#summary").text)
        self.assert_accessible()

    def test_lists_the_pairs_of_the_table(self):
        names = ("from", "to", "delay", "count", "expected", "ratio", "p", "q", "kind")
        table = [[row[name] for name in names] for row in rows_of(self.out / "fewer_than_chance.tsv")]
        self.assertGreater(len(table), 5)
        for row in table:
            row[-1] = "not significant" if row[-1] == "-" else row[-1].replace("-", " ")
        found = [row for row in table if row[-1] == "putative inhibition"]
        self.assertEqual([row[:2] for row in found], [["A", "B"]])

        self.assert_same([row[1:] for row in self.table("fewer")], found)
        self.press("#only-inhibition")
        self.assert_same([row[1:] for row in self.table("fewer")], table)
        self.assertEqual(self.one("#fewer-note").text, f"Putative inhibition: 1 of {len(table)} pairs that could be significant.")

    def test_says_of_how_many_pairs_it_tells(self):
        def change(data):
            data["fewer_than_chance"]["total"] = 20_000

        self.open_changed(change)
        listed = f"the first {len(self.data['fewer_than_chance']['p'])} of 20,000"
        self.assertIn(f", 1 pair with putative inhibition among {listed}", self.one("#summary").text)
        self.assertEqual(self.one("#fewer-note").text, f"Putative inhibition: 1 of {listed} pairs that could be significant. "
                         "Only these are shown; fewer_than_chance.tsv has all.")

    def test_picked_pair_has_its_correlogram(self):
        self.press("#fewer tbody button")

        self.assertEqual(self.one("#correlogram h3").text, "A → B")
        self.assertIn("ratio", self.one("#edge-figures").text)
        self.assertIn("putative inhibition", self.one("#edge-figures").text)
        self.assertNotIn("strength", self.one("#edge-figures").text)
        bars = self.counts("#correlogram .frame")
        middle = len(bars) // 2
        reach = float(re.search(r"to (\S+) ms", self.one("#correlogram svg").get_attribute("aria-label"))[1])
        silent = round(5 * middle / reach)
        self.assertEqual(sum(bars[middle:middle + silent]), 0)
        self.assertGreater(sum(bars[middle - silent:middle]), 100)
        self.assertEqual(self.one("#fewer tr.picked").get_attribute("data-number"), "1")
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "#episodes tr.picked"), [])

    def test_report_makes_the_same_page_again(self):
        spikeweave("report", self.out, "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_text(encoding="utf-8"), self.html)

    def test_names_are_never_markup(self):
        def change(data):
            data["units"] = NASTY[:3]

        self.open_nasty(change)
        self.assertEqual(self.table("fewer")[0][1], NASTY[0])


if __name__ == "__main__":
    unittest.main()
