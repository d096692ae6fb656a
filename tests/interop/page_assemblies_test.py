"""The page of a result of assemblies in Chromium.

Usage: page_assemblies_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import random
import unittest

from browser import NASTY, By, PageCase, rows_of, spikeweave


class AssembliesPage(PageCase):
    """Units of which b follows c after 20 ms and a follows b, 300 times in 100 s; and d and e that fire together. Two epochs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        spikes = {(round(draw.uniform(0, 100), 6), unit) for unit in "abcdef" for _ in range(600)}
        for _ in range(300):
            at = draw.uniform(0, 99)
            spikes |= {(round(at + 0.02 * place, 6), unit) for place, unit in enumerate("cba")}
            at = draw.uniform(0, 99)
            spikes |= {(round(at + draw.uniform(0, 0.002), 6), unit) for unit in "de"}
        day = cls.folder / "day.tsv"
        day.write_text("time\tunit\n" + "".join(f"{t:.6f}\t{unit}\n" for t, unit in sorted(spikes)), encoding="utf-8")
        (cls.folder / "epochs.tsv").write_text("begin\tend\n0.5\t48\n52\t99.5\n", encoding="utf-8")
        spikeweave("assemblies", day, "--bins", "10ms,25ms", "--epochs", cls.folder / "epochs.tsv", "-o", cls.out)
        cls.read_page()
        cls.rows = rows_of(cls.out / "assemblies.tsv")

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertGreater(len(self.rows), 1)
        self.assertIn(f"{len(self.rows)} assemblies", self.one("#summary").text)

    def test_lists_the_assemblies_of_the_table_in_the_order_of_lags(self):
        for shown, row in zip(self.table("assemblies"), self.rows, strict=True):
            members = sorted(zip(map(float, row["lags_ms"].split()), row["units"].split("+")), key=lambda one: one[0])
            text = members[0][1]
            for (before, _), (lag, unit) in zip(members, members[1:]):
                text += f" →{lag - before:.3g}ms→ {unit}" if lag > before else f" + {unit}"
            self.assertEqual([shown[0], shown[1], shown[4]], [row["assembly"], row["size"], text])
            for cell, name in zip([*shown[2:4], *shown[5:]], ("count", "p_corrected", "bin_ms", "p"), strict=True):
                self.assert_shown(cell, row[name])

    def test_marks_each_bin_in_which_an_assembly_is_active(self):
        activations = rows_of(self.out / "activations.tsv")
        for row in self.rows:
            active = [one for one in activations if one["assembly"] == row["assembly"]]
            self.press(f"#assemblies tr[data-number='{row['assembly']}'] button")
            self.assertEqual(self.one("#occurrence-count").text, f"{len(active)} occurrences")
            self.assertEqual(sum(self.counts("#counts .frame")), len(active))
            several = len(active) != int(row["count"])
            self.assertEqual("because it can be active several times in a bin" in self.one("#aligned").text, several)

    def test_says_which_activations_it_lacks(self):
        def change(data):
            data["active"]["begins_us"][0] = data["active"]["begins_us"][0][:3]
            data["active"]["begins_us"][1] = []

        self.open_changed(change)
        for number, shown in ((1, 3), (2, 0)):
            every = f"{self.data['active']['number'][number - 1]:,}"
            self.press(f"#assemblies tr[data-number='{number}'] button")
            self.assertEqual(self.one("#occurrence-count").text,
                             f"{shown} occurrences of {every}: there are too many for a page, and activations.tsv has all")
        self.assertIn(f"it has all of {len(self.rows) - 2} assemblies", self.one("#assemblies").text)

    def test_has_no_seed_because_nothing_is_drawn(self):
        self.assertNotIn("seed", [name.get_attribute("textContent") for name in self.driver.find_elements(By.CSS_SELECTOR, "#about dt")])

    def test_orange_spikes_are_in_the_bins_of_their_lags(self):
        row = self.rows[0]
        self.press("#assemblies tr[data-number='1'] button")
        self.driver.execute_script("document.querySelector('#raster button[aria-label=\"Next occurrence\"]').click()")
        self.frame()
        orange = self.driver.execute_script("""
            const canvas = document.querySelector('#raster canvas');
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            const rows = new Set();
            for (let i = 0; i < data.length; i += 4)
              if (data[i] > 150 && data[i + 1] > 50 && data[i + 1] < 110 && data[i + 2] < 60) rows.add(Math.floor(Math.floor(i / 4 / canvas.width) / ((canvas.height - 34) / 6)));
            return [...rows]""")
        self.assertTrue({self.data["unit_names"].index(unit) for unit in row["units"].split("+")} <= set(orange), orange)

    def test_filters_by_units_and_size(self):
        self.type("#unit-filter", "d e")
        self.assertEqual(len(self.table("assemblies")), sum({"d", "e"} <= set(row["units"].split("+")) for row in self.rows))
        self.type("#unit-filter", "")
        self.type("#size-filter", "3")
        self.assertEqual(len(self.table("assemblies")), sum(int(row["size"]) >= 3 for row in self.rows))

    def test_says_what_each_step_found(self):
        self.assert_same(self.table("search"), [list(row.values()) for row in rows_of(self.out / "search.tsv")])
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "#search tbody button"), [])

    def test_report_makes_the_same_page_again(self):
        spikeweave("report", self.out, "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_text(encoding="utf-8"), self.html)

    def test_nobody_is_left_out(self):
        self.assert_accessible()

    def test_names_are_never_markup(self):
        def change(data):
            data["unit_names"][:6] = NASTY[:6]

        self.open_nasty(change)
        self.assertIn(NASTY[self.data["unit_names"].index("c")], "".join(row[4] for row in self.table("assemblies")))


if __name__ == "__main__":
    unittest.main()
