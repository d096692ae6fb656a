"""The page of a circuit with excitation and inhibition, and those of its windows and comparisons, in Chromium.

Usage: page_signs_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import math
import unittest

from browser import By, PageCase, edge_cells, np, rows_of, spikeweave
from page_data import rows_of_columns


def train(draw, seconds, rate):
    return np.sort(draw.uniform(0, seconds, draw.poisson(rate * seconds)))


def write_signed_circuit(path, strength):
    """A excites B with this probability, D silences C after 1 to 4 ms, and E fires once."""
    draw = np.random.default_rng(20261128)
    a, b, c, d = (train(draw, 100, rate) for rate in (12, 12, 25, 12))
    followed = a[draw.random(len(a)) < strength]
    b = np.sort([*b, *(followed + draw.normal(0.0025, 0.0003, len(followed)))])
    lag = c - d[np.maximum(np.searchsorted(d, c) - 1, 0)]
    c = c[(lag < 0.001) | (lag > 0.004)]
    spikes = sorted((time, name) for name, times in zip("ABCDE", (a, b, c, d, [50.0])) for time in times)
    path.write_text("time_s\tunit\n" + "".join(f"{time:.6f}\t{name}\n" for time, name in spikes), encoding="utf-8")


class SignedPage(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        write_signed_circuit(cls.folder / "signed.tsv", 0.15)
        cls.make()
        cls.read_page()

    def heads(self):
        """Returns the kind of the end of each arrow that is shown, by its units."""
        return {arrow.get_attribute("aria-label").split(", ")[0]: arrow.find_element(By.CSS_SELECTOR, ".line").get_attribute("marker-end").removeprefix("url(#").split("-")[0]
                for arrow in self.driver.find_elements(By.CSS_SELECTOR, "g.edge") if arrow.is_displayed()}


class Episodes(SignedPage):
    @classmethod
    def make(cls):
        spikeweave("episodes", cls.folder / "signed.tsv", "-o", cls.out)

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertIn("2 connections (1 excitatory, 1 inhibitory) among 5 units", self.one("#verdict").text)
        self.assertIn("pairs of units tested", self.one("#about").text)
        self.assertIn("units in no tested pair E", " ".join(self.one("#about").text.split()))
        self.assert_accessible()

    def test_lists_the_edges_of_the_table(self):
        table = rows_of(self.out / "circuit.tsv")
        self.assertEqual([(row["from"], row["to"], row["sign"]) for row in table], [("A", "B", "excitatory"), ("D", "C", "inhibitory")])
        self.assert_same([row[1:] for row in self.table("edges")], edge_cells(table))

    def test_draws_inhibition_with_a_bar_in_red_as_wide_as_its_gain_says(self):
        self.assertEqual(self.heads(), {"A to B": "head", "D to C": "bar"})
        self.driver.execute_script("for (const one of document.querySelectorAll('.edge.picked')) one.classList.remove('picked')")
        for edge, arrow in zip(rows_of_columns(self.data["circuit"]), self.driver.find_elements(By.CSS_SELECTOR, "#circuit g.edge")):
            line = arrow.find_element(By.CSS_SELECTOR, ".line")
            self.assertAlmostEqual(float(line.get_attribute("stroke-width")), 1 + 5 * min(1, abs(math.log2(max(1e-3, edge["gain"]))) / 3), places=6)
            marker = self.one(line.get_attribute("marker-end").removeprefix("url(").removesuffix(")"))
            colours = (line.value_of_css_property("stroke"), marker.value_of_css_property("fill"))
            self.assertEqual(colours[0], colours[1])
            self.assertEqual(colours[0] == "rgb(179, 38, 30)", edge["sign"] == "inhibitory")

    def test_hides_a_sign(self):
        self.press("#sign-excitatory")
        self.assertEqual(self.heads(), {"D to C": "bar"})
        self.assertEqual([[*row[1:3], row[6]] for row in self.table("edges")], [["D", "C", "inhibitory"]])
        self.press("#kind-direct")
        self.assertEqual(self.heads(), {})
        self.press("#sign-excitatory")
        self.press("#kind-direct")
        self.assertEqual(len(self.table("edges")), 2)

    def test_picked_inhibition_has_its_correlogram(self):
        self.press("#edges tr[data-number='2'] button")
        self.assertEqual(self.one("#correlogram h3").text, "D ⊣ C: direct")
        shown = " ".join(text.get_attribute("textContent") for text in self.driver.find_elements(By.CSS_SELECTOR, "#edge-figures > *"))
        for words in ("sign inhibitory", "cuts the trough", "gain ", "transmission -", "kind direct"):
            self.assertIn(words, shown)
        self.assertNotIn("strength", shown)
        null = np.array([float(word) for word in self.one("#correlogram .frame").get_attribute("data-null").split()])
        np.testing.assert_allclose(null, self.data["lags"]["expected"][1])
        edge = rows_of_columns(self.data["circuit"])[1]
        low, high = edge["best_delay_ms"]
        bin_ms = 2 * max(10, 3 * self.data["circuit"]["delay_ms"][1][1]) / len(null)
        at_middle = null[len(null) // 2 + math.floor((low + high) / 2 / bin_ms)]
        self.assertAlmostEqual(at_middle * (high - low) / bin_ms, edge["expected"], delta=0.05 * edge["expected"])
        self.assertIn("what the test of the edge expects", self.one("#correlogram").text)
        bars = self.counts("#correlogram .frame")
        middle = len(bars) // 2
        low, high = self.data["circuit"]["delay_ms"][1]
        width = 2 * max(10, 3 * high) / len(bars)
        silent = slice(middle + math.ceil(max(low, 1) / width) + 1, middle + math.floor(min(high, 4) / width) - 1)
        self.assertLess(np.mean(bars[silent]), 0.3 * np.mean(bars[:middle]))

    def test_report_makes_the_same_page_again(self):
        spikeweave("report", self.out, "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_text(encoding="utf-8"), self.html)


class Windows(SignedPage):
    @classmethod
    def make(cls):
        spikeweave("windows", cls.folder / "signed.tsv", "--window", "45s", "-o", cls.out)

    def test_draws_the_signs_of_each_window(self):
        self.assert_quiet()
        for window in ("0", "1"):
            found = {f"{row['from']} to {row['to']}": "bar" if row["sign"] == "inhibitory" else "head"
                     for row in rows_of(self.out / "window_circuits.tsv") if row["window"] == window}
            self.assertIn("bar", found.values())
            self.assertEqual(self.heads(), found)
            self.press("#step-on")


class Compared(SignedPage):
    @classmethod
    def make(cls):
        write_signed_circuit(cls.folder / "weaker.tsv", 0.0)
        for name in ("signed", "weaker"):
            spikeweave("episodes", cls.folder / f"{name}.tsv", "-o", cls.folder / name)
        cls.out.mkdir()
        spikeweave("report", cls.folder / "signed", cls.folder / "weaker", "-o", cls.out / "report.html")

    def test_draws_the_signs_of_both_recordings(self):
        self.assert_quiet()
        pictures = self.driver.find_elements(By.CSS_SELECTOR, "svg.circuit")
        ends = [[arrow.find_element(By.CSS_SELECTOR, ".line").get_attribute("marker-end").removeprefix("url(#").rsplit("-", 1)[0]
                 for arrow in picture.find_elements(By.CSS_SELECTOR, "g.edge") if arrow.is_displayed()] for picture in pictures]
        self.assertEqual(ends, [["head-same", "bar-same"], ["head-gone", "bar-same"]])

    def test_lists_inhibition_as_significant(self):
        row = next(row for row in self.table("episodes") if row[1].startswith("D") and row[1].endswith("C"))
        self.assertEqual((row[5], row[9]), ("yes", "yes"))


if __name__ == "__main__":
    unittest.main()
