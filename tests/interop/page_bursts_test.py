"""The page of a result of bursts in Chromium.

Usage: page_bursts_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import random
import unittest

from browser import NASTY, By, PageCase, np, rows_of, spikeweave


class BurstsPage(PageCase):
    """Units a to e with 5 spikes in 80 ms every 10 s, each 10 ms after the one before; f and g fire at random. Two epochs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        spikes = {(round(10 * k + 1 + 0.01 * place + 0.02 * i, 6), unit) for k in range(10) for place, unit in enumerate("abcde") for i in range(5)}
        spikes |= {(round(draw.uniform(0, 100), 6), unit) for unit in "fg" for _ in range(600)}
        day = cls.folder / "day.tsv"
        day.write_text("time\tunit\n" + "".join(f"{t:.6f}\t{unit}\n" for t, unit in sorted(spikes)), encoding="utf-8")
        (cls.folder / "epochs.tsv").write_text("begin\tend\n0.5\t48\n52\t99.5\n", encoding="utf-8")
        spikeweave("bursts", day, "--epochs", cls.folder / "epochs.tsv", "-o", cls.out)
        cls.read_page()
        cls.units, cls.network, cls.bursts = (rows_of(cls.out / f"{name}.tsv") for name in ("units", "network_bursts", "bursts"))

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertIn(f"{len(self.bursts)} bursts, {len(self.network)} of the network", self.one("#summary").text)

    def test_lists_the_units_of_the_table(self):
        names = ("rate_hz", "bursts", "bursts_per_minute", None, "mean_duration_s", "mean_rate_hz", "mean_interval_s", "interval_variation", "spike_variation", "longest_interval_ms")
        for shown, row in zip(self.table("units"), self.units, strict=True):
            self.assertEqual(shown[0], row["unit"])
            for cell, name in zip(shown[1:], names, strict=True):
                if name:
                    self.assert_shown(cell, row[name])
            self.assert_shown(shown[4].removesuffix(" %"), str(100 * float(row["share_in_bursts"])))

    def test_lists_the_network_bursts_of_the_table(self):
        names = ("network_burst", "begin_s", "duration_ms", "participating", "spikes", "peak_rate_hz", "interval_s")
        for shown, row in zip(self.table("network"), self.network, strict=True):
            for cell, name in zip(shown, names, strict=True):
                if row[name] == "-":
                    self.assertEqual(cell, "–")
                else:
                    self.assert_shown(cell, row[name])
        self.type("#participating-filter", "6")
        self.assertEqual(len(self.table("network")), sum(int(row["participating"]) >= 6 for row in self.network))
        self.type("#participating-filter", "1")

    def test_shows_the_bursts_of_a_unit(self):
        for row in self.units[:6]:
            own = [burst for burst in self.bursts if burst["unit"] == row["unit"]]
            self.press(f"#units tr[data-number='{1 + self.units.index(row)}'] button")
            self.assertEqual(self.one("#occurrence-count").text, f"{len(own)} occurrences")
            self.assertEqual(sum(self.counts("#counts .frame")), len(own))
            self.assertIn(f"Bursts of {row['unit']}: {len(own)} occurrences", self.one("#aligned h3").text)
            self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#histograms .chart")), 2)

    def test_shows_the_order_of_units_in_a_network_burst(self):
        self.press("#network tr[data-number='2'] button")
        drawn = self.one("#aligned canvas").get_attribute("aria-label")
        self.assertIn("a, b, c, d, e", drawn)
        self.assertEqual(self.one("#aligned h3").text, "Network burst 2: 1 occurrences")

    def test_marks_bursts_in_the_raster(self):
        self.driver.execute_script("document.querySelector('#raster button[aria-label=\"Show the whole recording\"]').click()")
        self.frame()
        violet = self.driver.execute_script("""
            const canvas = document.querySelector('#raster canvas');
            const { data } = canvas.getContext('2d').getImageData(0, 2, canvas.width, 1);
            const at = [];
            for (let x = 1; x < canvas.width; ++x)
              if (data[4 * x] !== data[4 * x - 4] || data[4 * x + 2] !== data[4 * x - 2]) at.push(x);
            return at.length""")
        self.assertGreaterEqual(violet, 2 * len(self.network))

    def test_report_makes_the_same_page_again(self):
        spikeweave("report", self.out, "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_text(encoding="utf-8"), self.html)

    def test_nobody_is_left_out(self):
        self.assert_accessible()

    def test_names_are_never_markup(self):
        def change(data):
            data["unit_names"][:6] = NASTY[:6]

        self.open_nasty(change)
        self.assertIn(NASTY[0], [row[0] for row in self.table("units")])


class SeveralBurstsPage(PageCase):
    """Three cultures, whose network bursts are ever more frequent."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.days = [cls.folder / name for name in ("day7", "day14", "day21")]
        for seed, (day, every) in enumerate(zip(cls.days, ("9s", "5s", "2s"), strict=True)):
            spikeweave("simulate", "culture", "--channels", "12", "--length", "90s", "--burst-every", every, "--seed", seed, "-o", cls.folder / "culture.tsv", "--overwrite")
            spikeweave("bursts", cls.folder / "culture.tsv", "-o", day)
        cls.out.mkdir()
        spikeweave("report", *cls.days, "-o", cls.out / "report.html")
        cls.read_page()

    def test_lists_the_summary_of_each_recording(self):
        self.assert_quiet()
        names = ("unit_count", "firing", "bursting", "rate_hz", "bursts_per_minute", "share_in_bursts", "mean_duration_s", "mean_rate_hz", "interval_variation", "network_bursts",
                 "network_bursts_per_minute", "network_duration_s", "participating", "peak_rate_hz")
        for day, (name, *cells) in zip(self.days, self.table("recordings"), strict=True):
            (row,) = rows_of(day / "summary.tsv")
            self.assertEqual(name, day.name)
            for cell, column in zip(cells, names, strict=True):
                self.assert_shown(cell, row[column])

    def test_boxes_are_quartiles_of_units(self):
        charts = self.driver.find_elements(By.CSS_SELECTOR, "#figures svg")
        self.assertEqual(len(charts), 8)
        for chart, column, needs in ((charts[0], "rate_hz", "spikes"), (charts[3], "mean_duration_s", "bursts")):
            heights = [float(one.get_attribute("height")) for one in chart.find_elements(By.CSS_SELECTOR, ".recording rect")]
            ranges = []
            for day in self.days:
                values = [float(row[column]) for row in rows_of(day / "units.tsv") if int(row[needs]) > 0]
                low, high = np.percentile(values, (25, 75))
                ranges.append(high - low)
            for height, spread in zip(heights[1:], ranges[1:], strict=True):
                self.assertAlmostEqual(height / heights[0], spread / ranges[0], delta=0.01 * spread / ranges[0])

    def test_marks_the_picked_recording_everywhere(self):
        self.press("#recordings tr[data-number='2'] button")
        picked = self.driver.find_elements(By.CSS_SELECTOR, "#figures .picked title")
        self.assertEqual(len(picked), 8)
        self.assertTrue(all(one.get_attribute("textContent").startswith("day14: ") for one in picked))

    def test_nobody_is_left_out(self):
        self.assert_accessible()


if __name__ == "__main__":
    unittest.main()
