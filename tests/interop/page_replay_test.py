"""The page of a result of replay in Chromium.

Usage: page_replay_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import random
import unittest

from browser import NASTY, By, PageCase, rows_of, spikeweave
from page_data import data_of, with_data

COLUMNS = ("count", "q", "direction", None, "chain", "scale", "expected", "z", "p", "significant", None, "events_expected", "events_p", "events_q")


def sequences(draw, begin, step, names, number=40):
    """Events in which units fire one after another, one a second, with some that fire at random."""
    spikes = []
    for i in range(number):
        at = begin + i + draw.uniform(0.2, 0.4)
        spikes += [(at + k * step + draw.uniform(0, 0.1 * step), name) for k, name in enumerate(names)]
        spikes += [(at + draw.uniform(0, 6 * step), draw.choice("abcdefg")) for _ in range(3)]
    return spikes


class ReplayPage(PageCase):
    """Chains of the day, in sleep ten times as fast, and a last event that is in reverse."""

    null = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(20261127)
        spikes = sequences(draw, 0, 0.05, "abcde") + sequences(draw, 50, 0.005, "abcde", 30) + sequences(draw, 80, 0.005, "edcba", 12)
        day = cls.folder / "day.tsv"
        day.write_text("time\tunit\n" + "".join(f"{t:.6f}\t{name}\n" for t, name in sorted(spikes)), encoding="utf-8")
        (cls.folder / "chains.txt").write_text("a 40-60ms b 40-60ms c 40-60ms d 40-60ms e\nb 40-60ms c\ng 40-60ms f 30-70ms a\n", encoding="utf-8")
        (cls.folder / "sleep.tsv").write_text("begin\tend\n49\t95\n", encoding="utf-8")
        spikeweave("replay", cls.folder / "chains.txt", day, "--epochs", cls.folder / "sleep.tsv", "--seed", "1", *cls.null, "-o", cls.out)
        cls.read_page()
        cls.rows = rows_of(cls.out / "replay.tsv")

    def pick(self, number):
        self.press(f"#scores tr[data-number='{number}'] button")

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        significant = sum(row["significant"] == "yes" for row in self.rows)
        self.assertGreater(significant, 0)
        self.assertIn(f"3 chains in {self.data['run']['replay']['events']} events, {significant} of 6 tests significant", self.one("#summary").text)

    def test_says_of_how_many_tests_it_tells(self):
        def change(data):
            data["replay"]["total"] = 20_000

        self.open_changed(change)
        significant = sum(row["significant"] == "yes" for row in self.rows)
        self.assertIn(f"{significant} of the first 6 of 20,000 tests significant", self.one("#summary").text)
        self.assertIn("of the first 6 of 20,000 tests", self.one("#scales svg").get_attribute("aria-label"))

    def test_lists_the_scores_of_the_table(self):
        shown = self.table("scores")
        self.assert_same([[cell for cell, name in zip(row[1:], COLUMNS, strict=True) if name] for row in shown],
                         [[row[name] for name in COLUMNS if name] for row in self.rows])
        self.assertEqual([row[11] for row in shown], [f"{row['events_significant']} of {row['events_scored']}" for row in self.rows])
        self.assertEqual(shown[0][4], "a →40-60ms→ b →40-60ms→ c →40-60ms→ d →40-60ms→ e")
        self.press("#only-significant")
        self.assertEqual(len(self.table("scores")), sum(row["significant"] == "yes" for row in self.rows))

    def test_finds_as_many_occurrences_as_were_counted(self):
        counted = [int(row["count"]) for row in self.rows]
        self.assertGreater(min(counted[:2]), 0)
        for number, count in enumerate(counted, 1):
            self.pick(number)
            self.assertEqual(self.one("#occurrence-count").text, f"{count} occurrences")

    def test_the_picture_has_each_score_where_its_scale_is(self):
        points = self.driver.find_elements(By.CSS_SELECTOR, "#scales .test")
        self.assertEqual(len(points), len(self.rows))
        for point, row in zip(points, self.rows):
            self.assertEqual("significant" in point.get_attribute("class").split(), row["significant"] == "yes")
            self.assertIn(f"{row['direction']}: scale {float(row['scale']):.3g}, z ", point.get_attribute("textContent"))
        places = [(point.rect["x"] + point.rect["width"] / 2, -point.rect["y"] - point.rect["height"] / 2) for point in points]
        for axis, name in enumerate(("scale", "z")):
            for i, one in enumerate(self.rows):
                for j, other in enumerate(self.rows):
                    if float(one[name]) > 1.2 * abs(float(other[name])) + 1e-9:
                        self.assertGreater(places[i][axis], places[j][axis] - 1.5, (name, one, other))
        self.assertIn(f"of {len(points)} tests", self.one("#scales svg").get_attribute("aria-label"))
        self.driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', { bubbles: true }))", points[1])
        self.frame()
        self.assertEqual(self.one("#scores tr.picked").get_attribute("data-number"), "2")

    def test_the_axis_of_scales_has_numbers_if_all_are_alike(self):
        data = data_of(self.html)
        page = self.folder / "alike.html"
        for scale, marks in ((0.3, {"0.2"}), (0.7, {"0.5", "1"}), (1000, {"1,000"})):
            data["replay"]["scale"] = [scale] * len(self.rows)
            page.write_text(with_data(self.html, data), encoding="utf-8")
            self.open(page)
            told = {text.text for text in self.driver.find_elements(By.CSS_SELECTOR, "#scales text[text-anchor='middle']:not(.title)")}
            self.assertEqual(told, marks)

    def test_opens_on_the_first_occurrence_of_the_best_test(self):
        begin, end, *_ = map(float, self.one("#raster .where").get_attribute("data-view").split())
        self.assertLess(end - begin, 0.2 * (self.data["spikes"]["end_us"] - self.data["spikes"]["begin_us"]))
        self.assertEqual(sum(self.counts("#raster .strip canvas")), self.data["spikes"]["number"])

    def test_goes_to_an_event(self):
        table = rows_of(self.out / "events.tsv")
        shown = ("event", "chain", "p_forward", "p_reverse", "tau", "active", "begin_s", "end_s")
        self.assert_same(self.table("events"), [[row[name] for name in shown] for row in table])
        self.pick(2)
        self.press("#only-chain")
        self.press("#only-in-order")
        in_order = [row for row in table if row["chain"] == "1" and float(row["p_reverse"]) <= 0.05]
        self.assertGreater(len(in_order), 0)
        self.assertEqual([row[0] for row in self.table("events")], [row["event"] for row in in_order])
        self.press("#events tbody button")
        begin, end = [float(word) for word in self.one("#raster .where").get_attribute("data-view").split()[:2]]
        self.assertTrue(begin <= 1e6 * float(in_order[0]["begin_s"]) and 1e6 * float(in_order[0]["end_s"]) <= end)
        self.assertLess(end - begin, 2e6)

    def test_report_makes_the_same_page_again(self):
        spikeweave("report", self.out, "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_text(encoding="utf-8"), self.html)

    def test_nobody_is_left_out(self):
        self.assert_accessible()

    def test_names_are_never_markup(self):
        def change(data):
            data["unit_names"][:5] = NASTY[:5]

        self.open_nasty(change)
        self.assertIn(NASTY[0], self.table("scores")[0][4])


class SurrogatesPage(ReplayPage):
    """Counted in all of the time."""

    null = ("--null", "surrogates", "--surrogates", "100")


if __name__ == "__main__":
    unittest.main()
