"""The page of a result of SPADE in Chromium: every view, its numbers and its controls.

Usage: page_spade_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import gzip
import pathlib
import unittest

from browser import NASTY, By, PageCase, np, rows_of, spikeweave
from page_data import data_of

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared/data"
TESTED = ("--bin", "5ms", "--window", "20", "--surrogates", "50", "--alpha", "0.1", "--seed", "1")


class SpadePage(PageCase):
    """What a result of SPADE and its page share."""

    def occurrences(self, path=None):
        """Returns how many occurrences the page finds of each pattern."""
        if path:
            self.open(path)
        return self.driver.execute_script("""
            const [before, after] = document.querySelectorAll('#patterns .pages button');
            while (!before.disabled) before.click();
            const counts = [];
            for (;;) {
              for (const number of [...document.querySelectorAll('#patterns tbody tr')].map((row) => row.dataset.number)) {
                document.querySelector(`#patterns tr[data-number="${number}"] button`).click();
                counts.push(document.querySelector('#aligned h3').textContent.split(": ").pop());
              }
              if (after.disabled) return counts;
              after.click();
            }""")

    def assert_all_found(self, folder):
        counts = [f"{int(row['count']):,} occurrences" for row in rows_of(folder / "patterns.tsv")]
        self.assertGreater(len(counts), 0)
        self.assertEqual(self.occurrences(folder / "report.html"), counts)

    def starts(self, number):
        row = next(row for row in rows_of(self.out / "patterns.tsv") if row["pattern"] == str(number))
        return np.array([round(1e6 * float(time)) for time in row["times_s"].split(",")])


class Tested(SpadePage):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("simulate", "patterns", "--units", "20", "--patterns", "4,3", "--occurrences", "30", "--length", "30s", "--rate", "8", "--seed", "2",
                   "-o", cls.folder / "hidden.tsv")
        spikeweave("spade", cls.folder / "hidden.tsv", *TESTED, "--stability", "20", "-o", cls.out)
        cls.read_page()

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertIn("hidden.tsv: ", self.one("#summary").text)
        self.assertEqual(self.one("h1").text, "spikeweave spade")
        self.assertEqual(self.one("#command").text, self.data["run"]["command"])

    def test_lists_the_patterns_of_the_table(self):
        names = ("pattern", "size", "count", "q", None, "duration_ms", "p", "stability_intensional", "stability_extensional", "significant")
        table = rows_of(self.out / "patterns.tsv")

        shown = self.table("patterns")

        self.assertGreater(len(table), 1)
        self.assert_same([[cell for cell, name in zip(row, names, strict=True) if name] for row in shown],
                         [[row[name] for name in names if name] for row in table])
        for row, expected in zip(shown, table):
            lags = [float(lag) for lag in expected["lags_ms"].split(",")]
            steps = ["", *(f" →{b - a:.3g}ms→ " if b > a else " + " for a, b in zip(lags, lags[1:]))]
            self.assertEqual(row[4], "".join(step + unit for step, unit in zip(steps, expected["units"].split(","), strict=True)))

    def test_lists_the_signatures_and_steps_of_the_tables(self):
        names = ("size", "count", "q", "significant", "p", "patterns", "reached", "tested", "reason")
        table = rows_of(self.out / "signatures.tsv")

        shown = self.table("spectrum")

        self.assertIn("yes", {row["significant"] for row in table})
        self.assert_same(*([[cell.replace("–", "-") for cell in row] for row in sorted(rows, key=lambda row: (int(row[0]), int(row[1])))]
                           for rows in (shown, [[row[name] for name in names] for row in table])))
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#spectrum .frame circle.kept")), sum(row["significant"] == "yes" for row in table))
        fields = self.driver.find_elements(By.CSS_SELECTOR, "#spectrum .frame rect:not(.unreached)")
        self.assertEqual(len(fields), len(rows_of(self.out / "spectrum.tsv")))
        steps = [[cell.text.replace(",", "") for cell in row.find_elements(By.CSS_SELECTOR, "th, td")] for row in self.driver.find_elements(By.CSS_SELECTOR, "#funnel tbody tr")]
        self.assertEqual([[*row[:4], row[5]] for row in steps], [[row["step"], row["before"], row["removed"], row["left"], row["why"].replace(",", "")]
                                                               for row in rows_of(self.out / "funnel.tsv")])

    def test_finds_the_occurrences_that_were_counted(self):
        self.assert_all_found(self.out)

    def test_goes_from_occurrence_to_occurrence(self):
        self.press("#patterns tr[data-number='1'] button")
        self.one("canvas").send_keys(*["+"] * 12, *["p"] * 40)
        self.frame()
        found = []
        for _ in range(4):
            begin, end, _ = (float(word) for word in self.one(".where").get_attribute("data-view").split()[:3])
            found.append((begin + end) / 2)
            self.one("canvas").send_keys("n")
            self.frame()

        # The spike that begins an occurrence is in the bin that begins there.
        self.assertEqual([round(time) // 5000 for time in found], (self.starts(1)[:4] // 5000).tolist())

    def test_aligns_the_spikes_around_each_occurrence(self):
        first = self.data["patterns"]["units"][0]
        trains = {}
        for line in (self.folder / "hidden.tsv").read_text(encoding="utf-8").splitlines():
            if line[0].isdigit():
                seconds, unit = line.split("\t")
                trains.setdefault(unit, []).append(round(1e6 * float(seconds)))
        expected = []
        for unit in dict.fromkeys(first):
            lags = np.array(trains[self.data["unit_names"][unit]])[None, :] - self.starts(1)[:, None]
            expected.append(np.count_nonzero((lags >= -50_000) & (lags < 150_000)))

        drawn = self.one("#aligned canvas").get_attribute("data-drawn")

        self.assertEqual([int(word) for word in drawn.split()], expected)
        orange = self.driver.execute_script("""
            const canvas = document.querySelector('#aligned canvas');
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            let count = 0;
            for (let i = 0; i < pixels.length; i += 4) count += pixels[i] === 0xc0 && pixels[i + 1] === 0x4a && pixels[i + 2] === 0;
            return count;""")
        self.assertGreater(orange, 100)

    def test_count_over_time_is_that_of_the_occurrences(self):
        begin, end = (self.data["spikes"][key] for key in ("begin_us", "end_us"))

        shown = self.counts("#counts .frame")

        self.assertEqual(sum(shown), len(self.starts(1)))
        bins = np.histogram(self.starts(1), 60, (begin, end))[0]
        self.assertLessEqual(np.abs(np.cumsum(shown) - np.cumsum(bins)).max(), 2)  # the first spike comes after the bin begins

    def test_legend_of_the_raster_has_the_lags(self):
        for row in self.table("patterns")[:3]:
            self.press(f"#patterns tr[data-number='{row[0]}'] button")
            self.assertEqual(self.one("#raster .legend").text, f"Orange: {next(cell for cell in row if '→' in cell)}.")

    def test_filters_and_picks_signatures(self):
        rows = rows_of(self.out / "patterns.tsv")
        self.type("#size-filter", "4")
        self.assertEqual([row[0] for row in self.table("patterns")], [row["pattern"] for row in rows if int(row["size"]) >= 4])
        self.type("#size-filter", "1")
        self.type("#unit-filter", "n0")
        self.assertEqual([row[0] for row in self.table("patterns")], [row["pattern"] for row in rows if "n0" in row["units"].split(",")])
        self.type("#unit-filter", "")

        signature = next(row for row in rows_of(self.out / "signatures.tsv") if row["significant"] == "yes")
        number = 1 + next(i for i, row in enumerate(rows_of(self.out / "signatures.tsv")) if row == signature)
        self.driver.execute_script("document.querySelector(arguments[0]).dispatchEvent(new Event('click'))", f"#spectrum circle[data-number='{number}']")
        self.frame()

        same = [row["pattern"] for row in rows if (row["size"], row["count"]) == (signature["size"], signature["count"])]
        self.assertEqual([row[0] for row in self.table("patterns")], same)
        self.press("#drop-signature")
        self.assertEqual(len(self.table("patterns")), len(rows))

    def test_saves_its_pictures(self):
        fields = self.driver.find_elements(By.CSS_SELECTOR, "#spectrum .frame svg rect")
        marks = self.driver.find_elements(By.CSS_SELECTOR, "#spectrum .frame svg circle")

        picture = self.saved_svg("#save-spectrum-svg", "spectrum.svg")

        shapes = [part.tag.rpartition("}")[2] for part in picture.iter()]
        self.assertGreater(len(marks), 0)
        self.assertEqual((shapes.count("rect"), shapes.count("circle")), (len(fields), len(marks)))
        self.assert_saves_canvas("#save-raster-png", "raster.png", "#raster canvas")
        self.assert_saves_canvas("#save-aligned-png", "aligned.png", "#aligned canvas")
        self.assertEqual(self.driver.get_log("browser"), [])
        steps = self.saved_rows("#save-funnel-csv", "funnel.csv")
        self.assertEqual([(row["step"], row["left"].replace(",", "")) for row in steps],
                         [(row["step"], str(row["left"])) for row in self.data["run"]["funnel"]])

    def test_nobody_is_left_out(self):
        self.assert_accessible()
        self.assertTrue(self.one("#spectrum svg").is_displayed())

    def test_names_are_never_markup(self):
        used = sorted({unit for units in self.data["patterns"]["units"] for unit in units})

        def rename(data):
            for unit, name in zip(used, NASTY):
                data["unit_names"][unit] = name
            data["funnel"]["why"][0] = NASTY[1]
        self.open_nasty(rename)

        shown = "".join(row[4] for row in self.table("patterns"))
        for name in NASTY[:3]:
            self.assertIn(name, shown)
        self.assertIn("a‹U+FFFE›b", shown)


class Others(SpadePage):
    """Pages without tests, of epochs, of a part of a recording, and of windows."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("simulate", "patterns", "--units", "10", "--patterns", "3", "--occurrences", "30", "--length", "30s", "--rate", "10", "--seed", "2",
                   "-o", cls.folder / "hidden.tsv")
        cls.search = ("spade", cls.folder / "hidden.tsv", "--bin", "4ms", "--window", "12", "--min-occ", "8", "--min-spikes", "3")
        spikeweave(*cls.search, "-o", cls.out)
        cls.read_page()

    def test_untested_patterns_have_occurrences(self):
        self.assert_all_found(self.out)
        self.assert_quiet()
        self.assertIn("not tested", self.one("#spectrum").text)
        self.assert_same([[row[k].replace("–", "-") for k in (0, 1, 5)] for row in self.table("spectrum")],
                         [[row[name] for name in ("size", "count", "patterns")] for row in rows_of(self.out / "signatures.tsv")])

    def test_epochs_and_parts_have_the_times_of_the_recording(self):
        epochs = self.folder / "epochs.tsv"
        epochs.write_text("start_time\tstop_time\n1.0013\t9\n10\t20.5007\n21\t29.9\n", encoding="utf-8")
        for name, options in (("epochs", ("--epochs", epochs)), ("part", ("--t-start", "2.0013s", "--t-stop", "28s"))):
            with self.subTest(name):
                spikeweave(*self.search, "--occurrences", *options, "-o", self.folder / name)
                self.assert_all_found(self.folder / name)
                starts = [float(time) for time in rows_of(self.folder / name / "patterns.tsv")[-1]["times_s"].split(",")]
                shown = self.driver.execute_script("return document.querySelector('#counts .frame').dataset.counts").split()
                span = data_of((self.folder / name / "report.html").read_text(encoding="utf-8"))["spikes"]
                bins = np.histogram(1e6 * np.array(starts), 60, (span["begin_us"], span["end_us"]))[0]
                self.assertLessEqual(np.abs(np.cumsum([int(word) for word in shown]) - np.cumsum(bins)).max(), 2)
                spikeweave("report", self.folder / name, "-o", self.folder / f"{name}.html")
                self.assertEqual((self.folder / f"{name}.html").read_bytes(), (self.folder / name / "report.html").read_bytes())

    def test_windows_have_patterns_but_no_raster(self):
        windows = self.folder / "windows.txt.gz"
        windows.write_bytes(gzip.compress(b"".join(b"0 6 13\n" for _ in range(20)) + b"1 2\n"))
        out = self.folder / "windows"
        spikeweave("spade", windows, "--transactions", "--window", "5", "--min-occ", "5", "-o", out)

        self.open(out / "report.html")

        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertIn("no raster", self.one("#raster").text)
        self.assertEqual([row[3] for row in self.table("patterns")], ["0 →5ms→ 1 →10ms→ 2"])
        spikeweave("report", out, "-o", self.folder / "windows.html")
        self.assertEqual((self.folder / "windows.html").read_bytes(), (out / "report.html").read_bytes())

    def test_nothing_found_is_a_page_too(self):
        spikeweave("spade", self.folder / "hidden.tsv", "--min-occ", "100000", "-o", self.folder / "none")

        self.open(self.folder / "none/report.html")

        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertEqual(self.table("patterns"), [])


@unittest.skipUnless(SHARED.is_dir(), "there are no shared data")
class Recorded(SpadePage):
    """Patterns of a culture and of a retina, whose page has 827,329 spikes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("spade", SHARED / "wagenaar2006/6-2-10.spk.txt", "--window", "6", "--min-occ", "10", "--min-spikes", "3", "--max-spikes", "5", "-o", cls.out)
        cls.retina = cls.folder / "retina"
        spikeweave("spade", SHARED / "retina_p10_794units.tsv.gz", "--window", "3", "--min-occ", "300", "--min-spikes", "3", "--max-spikes", "4", "-o", cls.retina)

    def test_finds_the_occurrences_that_were_counted(self):
        for folder in (self.out, self.retina):
            self.assert_all_found(folder)
            self.assertEqual(self.driver.get_log("browser"), [])

    def test_is_small(self):
        self.assertLess((self.retina / "report.html").stat().st_size, 5_000_000)


if __name__ == "__main__":
    unittest.main()
