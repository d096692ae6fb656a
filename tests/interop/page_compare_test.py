"""The page of a comparison of two conditions in Chromium.

Usage: page_compare_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import math
import random
import re
import unittest

from browser import NASTY, By, PageCase, np, rows_of, spikeweave


class ConditionsPage(PageCase):
    """In a, spikes of e are followed by f; in b, those of c by d; and in both, those of a by b. All after 5 ms."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        for name, pairs in (("one", ("ab", "ef")), ("other", ("ab", "cd"))):
            spikes = {(round(draw.uniform(0, 100), 6), unit) for unit in "abcdef" for _ in range(600)}
            for first, second in pairs:
                for _ in range(400):
                    at = draw.uniform(0, 99)
                    spikes |= {(round(at, 6), first), (round(at + 0.005, 6), second)}
            (cls.folder / f"{name}.tsv").write_text("time\tunit\n" + "".join(f"{t:.6f}\t{unit}\n" for t, unit in sorted(spikes)), encoding="utf-8")
        cls.files = [cls.folder / "one.tsv", cls.folder / "other.tsv"]
        cls.compare()
        cls.read_page()
        cls.rows = rows_of(cls.out / "differences.tsv")

    @classmethod
    def compare(cls):
        spikeweave("compare", *cls.files, "--delays", "4-6ms", "--max-size", "2", "--block", "10s", "--findings", "either", "-o", cls.out)

    def assert_numbers(self, cells, values):
        """The cells show the numbers of a table; a dash where none is known."""
        self.assert_same([[cell.replace("–", "-") for cell in cells]], [values])

    def shown(self):
        return [[row["finding"], row["units"].replace("→", " →4-6ms→ ")] for row in self.rows]

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        changed = sum(row["change"] != "none" for row in self.rows)
        self.assertGreater(changed, 1)
        self.assertIn(f"{len(self.rows)} findings in two conditions, {changed} changed", self.one("#summary").text)

    def test_lists_what_the_table_has(self):
        words = {"up": "more in other.tsv", "down": "less in other.tsv"}
        shown = {cells[0]: cells for cells in self.table("findings")}
        for row, head in zip(self.rows, self.shown(), strict=True):
            cells = shown[row["finding"]]
            change = f"{row['change']}, {words[row['direction']]}" if row["change"] != "none" else "no significant change"
            self.assertEqual([*cells[:3], *cells[7:]], [head[0], change, head[1], row["count_a"], row["count_b"]])
            self.assert_numbers([cells[4], cells[6]], [row["excess_q"], row["rate_q"]])

    def test_the_smallest_q_is_first(self):
        q = {row["finding"]: min(float(row["rate_q"]), float(row["excess_q"])) for row in self.rows}
        shown = [q[cells[0]] for cells in self.table("findings")]
        self.assertEqual(shown, sorted(shown))

    def test_estimates_are_a_forest_plot(self):
        """Dots and intervals of all findings are on one scale, which is logarithmic for ratios."""
        for name, on in (("rate_ratio", math.log), ("excess_difference", float)):
            known = [row for row in self.rows if row[f"{name}_low"] != "-"]
            estimates, ends, places, intervals = [], [], [], []
            for row in known:
                picture = self.driver.find_elements(By.CSS_SELECTOR, f"#findings tr[data-number='{row['finding']}'] svg.forest")[name == "rate_ratio"]
                line = picture.find_elements(By.TAG_NAME, "path")[1].get_attribute("d")
                estimates.append(on(float(row[name])))
                ends += [on(float(row[f"{name}_low"])), on(float(row[f"{name}_high"]))]
                places.append(float(picture.find_element(By.TAG_NAME, "circle").get_attribute("cx")))
                intervals += [float(place) for place in re.fullmatch(r"M([\d.]+),9H([\d.]+)", line).groups()]
                text = picture.get_attribute("aria-label")
                self.assert_numbers([word.strip("()") for word in text.split() if word != "to"], [row[f"{name}{end}"] for end in ("", "_low", "_high")])
            slope, start = np.polyfit(estimates, places, 1)
            self.assertGreater(slope, 0)
            for value, place in zip(estimates + ends, places + intervals, strict=True):
                self.assertAlmostEqual(start + slope * value, place, 1)

    def test_says_all_of_the_finding_that_is_picked(self):
        for row in self.rows:
            self.press(f"#findings tr[data-number='{row['finding']}'] button")
            cells = {line.find_element(By.TAG_NAME, "th").text: [cell.text for cell in line.find_elements(By.TAG_NAME, "td")]
                     for line in self.driver.find_elements(By.CSS_SELECTOR, "#finding-view tbody tr")}
            self.assertEqual(cells["occurrences"][:2], [row["count_a"], row["count_b"]])
            self.assert_numbers(cells["rate (1/s)"][:2], [row["rate_a_hz"], row["rate_b_hz"]])
            self.assert_numbers(cells["excess"][:2], [row["excess_a"], row["excess_b"]])
            self.assert_numbers(cells["excess"][3:], [row["excess_p"], row["excess_q"]])
            if "found_a" in row:
                self.assertEqual(cells["searches that found it"][:2], [row["found_a"], row["found_b"]])

    def test_only_what_changed_can_be_listed(self):
        self.press("#only-changed")
        self.assertEqual({cells[0] for cells in self.table("findings")}, {row["finding"] for row in self.rows if row["change"] != "none"})

    def test_headings_name_the_files(self):
        heads = [head.text for head in self.driver.find_elements(By.CSS_SELECTOR, "#findings th button")]
        self.assertEqual([heads[3], heads[5], *heads[7:]], ["excess, other.tsv less one.tsv", "rate, other.tsv by one.tsv", "count, one.tsv", "count, other.tsv"])

    def test_says_what_was_compared(self):
        text = self.one("#about").text
        for path in self.files:
            self.assertIn(str(path), text)

    def test_report_makes_the_same_page_again(self):
        spikeweave("report", self.out, "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_text(encoding="utf-8"), self.html)

    def test_nobody_is_left_out(self):
        self.assert_accessible()

    def test_names_are_never_markup(self):
        def change(data):
            data["unit_names"][:6] = NASTY[:6]

        self.open_nasty(change)


class EpisodesPage(ConditionsPage):
    """Episodes, whose pairs are arrows of a circuit."""

    def test_draws_each_pair_by_what_changed(self):
        looks = {"up": "stronger", "down": "weaker", "same": "same"}
        arrows = {arrow.get_attribute("data-number"): arrow for arrow in self.driver.find_elements(By.CSS_SELECTOR, "#differences .edge")}
        self.assertEqual(set(arrows), {row["finding"] for row in self.rows if row["size"] == "2"})
        for row in self.rows:
            self.assertIn(looks[row["direction"]], arrows[row["finding"]].get_attribute("class").split())
        row = next(row for row in self.rows if row["units"] == "c→d")
        self.assertEqual((row["change"], row["direction"]), ("excess", "up"))
        self.driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('click'))", arrows[row["finding"]])
        self.frame()
        self.assertIn("c", self.one("#finding-view h3").text)
        self.assertEqual(self.one("#findings tr.picked").get_attribute("data-number"), row["finding"])

    def test_saves_the_circuit_of_differences(self):
        self.press("#only-different")
        changed = sum(row["change"] != "none" for row in self.rows)

        picture = self.saved_svg("#save-differences-svg", "differences.svg")

        arrows = [part for part in picture.iter() if (part.get("marker-end") or "").startswith("url(#head-")]
        self.assertEqual(len(arrows), changed)
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_only_pairs_that_changed_can_be_drawn(self):
        self.press("#only-different")
        drawn = [arrow.get_attribute("data-number") for arrow in self.driver.find_elements(By.CSS_SELECTOR, "#differences .edge") if arrow.is_displayed()]
        self.assertEqual(set(drawn), {row["finding"] for row in self.rows if row["change"] != "none"})


class PatternsPage(ConditionsPage):
    """Patterns of SPADE, which have no circuit."""

    @classmethod
    def compare(cls):
        found = []
        for path in cls.files:
            found += ["--patterns", cls.folder / path.stem]
            spikeweave("spade", path, "--bin", "5ms", "--window", "4", "--min-occ", "100", "--min-spikes", "2", "-o", found[-1])
        spikeweave("compare", *cls.files, *found, "--block", "10s", "--surrogates", "20", "-o", cls.out)

    def shown(self):
        out = []
        for row in self.rows:
            lags, units = [float(lag) for lag in row["lags_ms"].split(",")], row["units"].split(",")
            text = units[0]
            for before, lag, unit in zip(lags, lags[1:], units[1:]):
                text += f" →{lag - before:.3g}ms→ {unit}" if lag > before else f" + {unit}"
            out.append([row["finding"], text])
        return out

    def test_has_no_circuit(self):
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "#differences"), [])


del ConditionsPage  # only what it is compared with is a test

if __name__ == "__main__":
    unittest.main()
