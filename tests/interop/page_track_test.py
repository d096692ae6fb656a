"""The page of neurons in several sessions in Chromium.

Usage: page_track_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import unittest

from browser import NASTY, By, PageCase, rows_of, spikeweave


class TrackPage(PageCase):
    """Three sessions, in which some neurons are others."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        days = [cls.folder / f"day{number}" for number in (1, 2, 3)]
        for number, day in enumerate(days, 1):
            made = ("--channels", "16", "--units", "8", "--length", "15s", "--seed", "4", "--session", number, "--session-drift", "10um")
            spikeweave("simulate", "recording", *made, "-o", cls.folder / "recording", "--overwrite")
            spikeweave("sort", cls.folder / "recording", "--no-report", "--no-phy", "-o", day)
        spikeweave("track", *days, "-o", cls.out)
        cls.read_page()
        cls.neurons, cls.matches, cls.sessions, cls.relations = (rows_of(cls.out / f"{name}.tsv") for name in ("neurons", "matches", "sessions", "relations"))
        cls.days = [str(day) for day in days]

    def units_of(self, neuron):
        return {row["session"]: row["unit"] for row in self.neurons if row["neuron"] == neuron}

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertIn(f"{len({row['neuron'] for row in self.neurons})} neurons in 3 sessions", self.one("#summary").text)

    def test_lists_the_unit_of_each_session(self):
        probability = {(row["session"], row["unit"], row["other_session"], row["other_unit"]): float(row["probability"]) for row in self.matches}
        seen_later = 0
        for neuron, sessions, _, *cells in self.table("neurons"):
            units = self.units_of(neuron)
            self.assertEqual(int(sessions), len(units))
            before = None
            for day, cell in zip(self.days, cells, strict=True):
                self.assertEqual(cell.split(" ")[0], units.get(day, "–"))
                if day in units and before:
                    self.assertAlmostEqual(float(cell.split("(")[1].rstrip(")")), probability[(*before, day, units[day])], delta=0.002)
                    seen_later += 1
                if day in units:
                    before = (day, units[day])
        self.assertGreater(seen_later, 5)
        self.type("#sessions-filter", "3")
        self.assertEqual(len(self.table("neurons")), sum(len(self.units_of(n)) == 3 for n in {row["neuron"] for row in self.neurons}))
        self.type("#sessions-filter", "1")

    def test_shows_the_waveforms_of_a_neuron(self):
        for number in ("1", "2", "3"):
            self.press(f"#neurons tr[data-number='{number}'] button")
            figures = self.driver.find_elements(By.CSS_SELECTOR, "#waveforms figure")
            self.assertEqual(len(figures), len(self.units_of(number)))
            second = [len(one.find_elements(By.CSS_SELECTOR, ".second")) for one in figures]
            self.assertEqual(second[0], 0)
            self.assertTrue(all(second[1:]))
            self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#depths .picked circle")), len(figures))

    def test_shows_both_units_of_a_match(self):
        for shown, row in zip(self.table("matches"), self.matches, strict=True):
            for column, name in ((3, "probability"), (4, "similarity"), (6, "amplitude_ratio")):
                self.assert_shown(shown[column], row[name])
            self.assertAlmostEqual(float(shown[5]), float(row["distance_um"]), delta=0.06 + 0.005 * float(row["distance_um"]))
            self.assertEqual(shown[8], row["accepted"])
        self.press("#matches tr[data-number='1'] button")
        heads = [one.text for one in self.driver.find_elements(By.CSS_SELECTOR, "#waveforms figcaption")]
        first = self.matches[0]
        self.assertTrue(heads[0].startswith(f"unit {first['unit']} of day1, "), heads)
        self.assertTrue(heads[1].startswith(f"unit {first['other_unit']} of day"), heads)

    def test_counts_new_and_lost_units(self):
        cells = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "td")] for row in self.driver.find_elements(By.CSS_SELECTOR, "#sessions tbody tr")]
        for k, (shown, row) in enumerate(zip(cells, self.sessions, strict=False)):
            lost = int(self.sessions[k - 1]["units"]) - int(row["kept"]) if k else 0
            self.assertEqual(shown[:4], [row["units"], row["kept"], row["new"], str(lost)])
        for shown, row in zip(cells[3:], self.relations, strict=True):
            self.assertEqual(shown[2], row["matched"])

    def test_report_makes_the_same_page_again(self):
        spikeweave("report", self.out, "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_text(encoding="utf-8"), self.html)

    def test_nobody_is_left_out(self):
        self.assert_accessible()

    def test_names_are_never_markup(self):
        def change(data):
            first = data["sessions"]["session"][0]
            for table, name in (("sessions", "session"), ("neurons", "session"), ("matches", "session"), ("relations", "session")):
                data[table][name] = [NASTY[0] if one == first else one for one in data[table][name]]
            data["neurons"]["unit"][0] = NASTY[1]

        self.open_nasty(change)
        self.assertIn(NASTY[1], [row[3] for row in self.table("neurons")])


if __name__ == "__main__":
    unittest.main()
