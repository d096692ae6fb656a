"""The page of a sorting in Chromium: every view, its numbers and its controls.

Usage: page_sort_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import base64
import re
import unittest
import xml.etree.ElementTree as xml

from browser import NASTY, By, Keys, PageCase, np, rows_of, spikeweave
from page_data import data_of, rows_of_columns


# The headings of the page for columns of units.tsv.
HEADINGS = {"unit": "unit", "label": "label", "reason": "reason", "spikes": "spikes", "rate (Hz)": "rate_hz", "SNR": "snr", "ISI violations": "refractory_violations",
            "contamination": "contamination", "presence ratio": "presence_ratio", "amplitude cutoff": "amplitude_cutoff", "amplitude CV": "amplitude_cv", "firing range (Hz)": "firing_range",
            "L-ratio": "l_ratio", "isolation distance": "isolation_distance", "features of L-ratio": "quality_features", "separation (SD)": "separation", "channel": "peak_channel",
            "may be one neuron with": "possibly_one_neuron_with", "may share cross-talk with": "cross_talk_with", "origin": "origin"}
# Columns that only programs need.
NOT_SHOWN = {"clu_label", "peak_feature", "unmasked_features", "amplitude_median"}


class SortingPage(PageCase):
    """Units in the table of the page."""

    def headings(self):
        return [head.text.rstrip(" ▴▾") for head in self.driver.find_elements(By.CSS_SELECTOR, "#units th")]

    def column(self, heading):
        at = self.headings().index(heading)
        return [row[at].replace("–", "") for row in self.table("units")]

    def assert_units(self, rows):
        """The table has these rows, and every column that people need."""
        shown = [heading for heading in self.headings() if heading != "amplitude (µV)"]
        unknown = {"origin"} if not any(row["origin"] for row in rows) else set()
        self.assertEqual({HEADINGS[heading] for heading in shown}, set(rows[0]) - NOT_SHOWN - unknown)
        for heading in shown:
            self.assert_same([[cell] for cell in self.column(heading)], [[row[HEADINGS[heading]]] for row in rows])


class Recording(SortingPage):
    """A recording with motion, in which spikes are found by templates."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("simulate", "recording", "--units", "6", "--channels", "20", "--length", "20s", "--low-peak", "100", "--drift", "20um", "--drift-shape", "zigzag",
                   "--drift-period", "10s", "--dead-time", "0ms", "--seed", "3", "-o", cls.folder / "recording")
        spikeweave("sort", cls.folder / "recording", "-o", cls.out)
        cls.read_page()
        cls.units = rows_of(cls.out / "units.tsv")
        cls.waveforms = np.load(cls.out / "waveforms.npz")
        cls.sorting = np.load(cls.out / "sorting.npz")

    def times(self, unit):
        """The times of the spikes of a unit in microseconds."""
        chosen = self.sorting["labels"] == int(unit)
        samples = self.sorting["samples"][chosen] + self.sorting["fractions"][chosen].astype(float)
        return np.sort(np.round(1e6 * np.maximum(samples, 0) / self.sorting["sample_rate"][0]))

    def pick(self, unit):
        self.press(f"#units tr[data-number='{unit}'] button")

    def correlogram(self, first, second):
        lags = (self.times(second)[None, :] - self.times(first)[:, None])[~np.eye(len(self.times(first)), dtype=bool)] if first == second \
            else (self.times(second)[None, :] - self.times(first)[:, None])
        lags = lags[(lags > -50_000) & (lags <= 50_000)]
        return np.bincount(np.ceil((lags.ravel() + 50_000) / 1000).astype(int) - 1, minlength=100).tolist()

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertEqual(self.one("h1").text, "spikeweave sort")
        self.assertIn(f"{len(self.units)} units", self.one("#summary").text)
        self.assertEqual(self.one("#command").text, self.data["run"]["command"])
        self.assertEqual(self.one("#phy").text, "phy template-gui phy/params.py")
        self.assertTrue((self.out / "phy/params.py").exists())

    def test_lists_the_units_and_decisions_of_the_tables(self):
        self.assertGreater(len(self.units), 3)
        self.assert_units(self.units)
        for row, unit in zip(self.column("amplitude (µV)"), self.units, strict=True):
            self.assert_shown(row, unit["amplitude_median"])
        self.assert_same([[cell.replace("–", "") for cell in row[1:]] for row in self.table("merges")], [list(row.values()) for row in rows_of(self.out / "merges.tsv")])

    def test_saves_amplitudes_and_the_motion(self):
        self.assert_saves_canvas("#save-amplitudes-png", "amplitudes.png", "#amplitudes canvas")
        self.assert_saves_canvas("#save-depths-png", "depths.png", "#depths canvas")
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_draws_waveforms_with_their_spread(self):
        unit = int(self.units[1]["unit"])
        self.pick(unit)

        shown = [int(wave.get_attribute("data-channel")) for wave in self.driver.find_elements(By.CSS_SELECTOR, "#waveforms-view .wave")]
        self.assertEqual(shown, self.waveforms["unit_channels"][unit - 1].tolist())
        mean, deviation = (self.waveforms[name][unit - 1] for name in ("mean_waveforms", "waveform_deviations"))
        peak = self.one("#waveforms-view .peak")
        self.assertEqual(int(peak.get_attribute("data-channel")), shown[np.abs(mean).max(axis=0).argmax()])
        # The line of the peak is its mean waveform, on the scale of all of them.
        line = np.array([[float(word) for word in point.split(",")] for point in peak.find_element(By.CSS_SELECTOR, ".line").get_attribute("points").split()])
        own = mean[:, np.abs(mean).max(axis=0).argmax()]
        span = (mean + deviation).max() + (deviation - mean).max()
        self.assertLess(np.abs((line[0, 1] - line[:, 1]) / 74 * span - (own - own[0])).max(), 0.01 * span)
        band = [point.split(",") for point in peak.find_element(By.CSS_SELECTOR, ".band").get_attribute("points").split()]
        height = (float(band[-1][1]) - float(band[0][1])) / 74 * span
        self.assertAlmostEqual(height, 2 * deviation[0, np.abs(mean).max(axis=0).argmax()], delta=0.01 * span)
        self.assertIn(f"{self.waveforms['averaged_spikes'][unit - 1]} spikes", self.one("#waveforms-view").text)
        around = self.driver.find_elements(By.CSS_SELECTOR, "#shapes .contact.around")
        self.assertEqual((len(around), len(self.driver.find_elements(By.CSS_SELECTOR, "#shapes .contact"))), (len(shown), 20))

    def test_picks_units_on_the_probe(self):
        unit = self.units[2]["unit"]
        self.driver.execute_script("document.querySelector(arguments[0]).dispatchEvent(new Event('click'))", f"#shapes circle[data-number='{unit}']")
        self.frame()
        self.assertEqual(self.one("#units tr.picked").get_attribute("data-number"), unit)
        self.assertIn("picked", self.one(f"#shapes circle[data-number='{unit}']").get_attribute("class"))

    def test_correlograms_and_intervals_are_those_of_the_spikes(self):
        first, second = self.units[0]["unit"], self.units[3]["unit"]
        self.pick(second)
        self.pick(first)

        charts = {chart.get_attribute("data-pair"): chart.get_attribute("data-counts") for chart in self.driver.find_elements(By.CSS_SELECTOR, "#correlograms [data-pair]")}
        for pair in ((first, first), (first, second), (second, second)):
            self.assertEqual([int(word) for word in charts[" ".join(pair)].split()], self.correlogram(*pair), pair)
        third = self.units[1]["unit"]
        self.driver.execute_script("const box = document.getElementById('other-unit'); box.value = arguments[0]; box.dispatchEvent(new Event('change'));", third)
        self.frame()
        self.assertEqual([int(word) for word in self.one(f"#correlograms [data-pair='{first} {third}']").get_attribute("data-counts").split()], self.correlogram(first, third))

        for row in self.units:
            self.pick(row["unit"])
            intervals = np.diff(self.times(row["unit"]))
            short, every = (int(word.replace(",", "")) for word in re.match(r"([\d,]+) of ([\d,]+) ", self.one("#violations").text).groups())
            self.assertEqual((short, every), (np.count_nonzero(intervals < 1500), len(intervals)))
            # The table counts by whole samples.
            self.assertAlmostEqual(short / every, float(row["refractory_violations"]), delta=2.5 / every)

    def test_points_are_spikes_at_their_amplitude_and_depth(self):
        unit = self.units[0]["unit"]
        self.pick(unit)
        number = int(self.units[0]["spikes"])
        self.assertEqual(self.driver.execute_script("return [...document.querySelectorAll('[data-drawn]')].map((note) => note.dataset.drawn.split(' ')[0])"), [str(number)] * 2)

        chosen = self.sorting["labels"] == int(unit)
        order = np.argsort(self.sorting["samples"][chosen], kind="stable")
        points = self.data["points"]["units"][int(unit) - 1]
        for key, name in (("amplitudes", "spike_amplitudes_uv"), ("depths_um", "spike_depths_um")):
            values = points[key]["scale"] * np.frombuffer(base64.b64decode(points[key]["values"]), "<i2")
            self.assertLess(np.abs(values - self.waveforms[name][chosen][order]).max(), points[key]["scale"])
        peak = np.abs(self.waveforms["mean_waveforms"][int(unit) - 1]).max()
        self.assertAlmostEqual(np.median(self.waveforms["spike_amplitudes_uv"][chosen]) / peak, 1, delta=0.15)
        self.assertEqual(self.data["points"]["amplitude_unit"], "µV")

        self.press("#only-unit")
        others = sum(int(row["spikes"]) for row in self.units[1:])
        self.assertEqual(self.one("#amplitudes [data-drawn]").get_attribute("data-drawn"), f"{number} {others}")
        self.assertIn("motion of the tissue", self.one("#depths").text)
        self.assertEqual(self.data["motion"]["displacement_um"], [float(row["displacement_um"]) for row in rows_of(self.out / "motion.tsv")])

    def test_views_that_are_not_on_the_screen_follow(self):
        script = """
            const drawn = () => document.querySelector("#amplitudes [data-drawn]").dataset.drawn.split(" ")[0];
            document.querySelector(`#units tr[data-number="${arguments[0]}"] button`).click();
            const before = drawn();
            if (arguments[1]) window.dispatchEvent(new Event("beforeprint"));
            return [before, drawn()];"""
        first, second = sorted(self.units, key=lambda unit: int(unit["spikes"]))[:2]
        self.pick(first["unit"])

        self.assertEqual(self.driver.execute_script(script, second["unit"], False), [first["spikes"]] * 2)
        self.frame()
        self.assertEqual(self.driver.execute_script(script, first["unit"], True), [second["spikes"], first["spikes"]])

    def test_filters_units(self):
        self.type("#spikes-filter", "100")
        self.type("#snr-filter", "20")
        expected = [row["unit"] for row in self.units if int(row["spikes"]) >= 100 and float(row["snr"]) >= 20]
        self.assertEqual([row[0] for row in self.table("units")], expected)

    def test_filters_units_by_label(self):
        label = self.units[0]["label"]
        self.one(f"#label-filter option[value={label}]").click()
        expected = [[row["unit"], row["reason"]] for row in self.units if row["label"] == label]
        self.assertEqual([list(row) for row in zip(self.column("unit"), self.column("reason"))], expected)

    def test_similar_units_are_those_of_like_waveforms(self):
        unit = int(self.units[0]["unit"])
        self.pick(unit)

        def waves(one):
            """The mean waveforms on all channels; 0 where the file has none."""
            whole = np.zeros((self.waveforms["mean_waveforms"].shape[1], 20))
            whole[:, self.waveforms["unit_channels"][one - 1]] = self.waveforms["mean_waveforms"][one - 1]
            return whole

        cosine = {row["unit"]: (waves(unit) * waves(int(row["unit"]))).sum() / np.linalg.norm(waves(unit)) / np.linalg.norm(waves(int(row["unit"]))) for row in self.units[1:]}
        rows = self.table("similar")
        self.assertEqual([row[0] for row in rows], sorted(cosine, key=cosine.get, reverse=True))
        for name, shown, *_ in rows:
            self.assertAlmostEqual(float(shown), cosine[name], 2)

    def test_two_units_are_shown_at_once(self):
        unit = self.units[0]["unit"]
        self.pick(unit)
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "#shapes .second"), [])
        other = self.table("similar")[0][0]
        self.press(f"#similar tr[data-number='{other}'] button")

        self.assertEqual(self.one("#units tr.picked").get_attribute("data-number"), unit)
        self.assertTrue(self.one(f"#correlograms [data-pair='{unit} {other}']").is_displayed())
        channels = set(self.waveforms["unit_channels"][int(other) - 1].tolist())
        drawn = [int(wave.get_attribute("data-channel")) for wave in self.driver.find_elements(By.CSS_SELECTOR, "#shapes .wave:has(.second)")]
        self.assertEqual(set(drawn), channels)
        self.assertIn(f"Violet: unit {other}", self.one("#amplitudes").text)
        self.pick(other)
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "#shapes .second"), [])

    def test_arrow_keys_pick_the_next_unit(self):
        names = [row["unit"] for row in self.units]
        self.pick(names[0])
        self.one(f"#units tr[data-number='{names[0]}'] button").send_keys(Keys.ARROW_DOWN)
        self.frame()
        self.assertEqual(self.one("#units tr.picked").get_attribute("data-number"), names[1])
        self.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP)
        self.frame()
        self.assertEqual(self.one("#units tr.picked").get_attribute("data-number"), names[0])

    def test_its_address_has_the_unit(self):
        opened = self.one("#units tr.picked").get_attribute("data-number")
        name = next(row["unit"] for row in self.units if row["unit"] != opened)
        self.press("[aria-label='Show the whole recording']")
        self.pick(name)

        self.reopen(f"#unit={name}")

        self.assertEqual(self.one("#units tr.picked").get_attribute("data-number"), name)
        self.press("#similar tbody button")
        other = self.one("#similar tr.picked").get_attribute("data-number")
        self.reopen(f"#unit={name}&with={other}")
        self.assertEqual(self.one("#similar tr.picked").get_attribute("data-number"), other)
        self.assertEqual(self.one("#units tr.picked").get_attribute("data-number"), name)

    def test_opens_on_the_good_unit_with_the_highest_snr(self):
        good = [row for row in self.units if row["label"] == "good"]
        self.assertTrue(good)
        best = max(good, key=lambda row: float(row["snr"]))

        self.assertEqual(self.one("#units tr.picked").get_attribute("data-number"), best["unit"])
        begin, end, *_ = map(float, self.one("#raster .where").get_attribute("data-view").split())
        self.assertLessEqual(end - begin, 5e6)
        self.assertTrue(self.one("#raster .strip canvas").is_displayed())

    def test_saves_points_as_a_picture_and_numbers(self):
        picture = xml.fromstring(self.saved("#save-amplitudes-svg", "amplitudes.svg"))
        shown = int(self.one("#amplitudes [data-drawn]").get_attribute("data-drawn").split()[0])

        self.assertEqual(len(self.saved_rows("#save-amplitudes-csv", "amplitudes.csv")), shown)
        drawn = [path.get("d").count("M") for path in picture.iter("{http://www.w3.org/2000/svg}path") if path.get("fill") != "none" and path.get("d")]
        self.assertIn(shown, drawn)
        self.assertTrue(self.saved_rows("#save-shapes-csv", "shapes.csv"))

    def test_nobody_is_left_out(self):
        self.assert_accessible()
        self.assertTrue(self.one("#shapes svg").is_displayed())

    def test_names_are_never_markup(self):
        def rename(data):
            data["unit_names"][:len(NASTY)] = NASTY[:len(data["unit_names"])]
            data["merges"]["reason"][0] = NASTY[1]
            data["points"]["amplitude_unit"] = NASTY[0]
        self.open_nasty(rename)
        self.assertIn(NASTY[1], [row[-1] for row in self.table("merges")])


class Others(SortingPage):
    """Sortings of which less is known, and a large one."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("simulate", "features", "--spikes", "2000", "--units", "4", "--channels", "6", "--seed", "1", "-o", cls.folder / "timed.npz")
        timed = np.load(cls.folder / "timed.npz")
        np.savez(cls.folder / "features.npz", features=timed["features"], masks=timed["masks"])
        spikeweave("sort", cls.folder / "features.npz", "-o", cls.out)
        cls.read_page()

    def test_features_without_times_have_tables(self):
        self.assert_quiet()
        self.assert_units(rows_of(self.out / "units.tsv"))
        self.assertNotIn("amplitude (µV)", self.headings())
        self.assertIn("not known", self.one("#correlograms").text)
        self.assertIn("no waveforms", self.one("#shapes").text)

    def test_features_with_times_have_amplitudes(self):
        spikeweave("sort", self.folder / "timed.npz", "-o", self.folder / "timed")

        self.open(self.folder / "timed/report.html")

        self.assertEqual(self.driver.get_log("browser"), [])
        drawn = int(self.one("#amplitudes [data-drawn]").get_attribute("data-drawn").split()[0])
        picked = self.one("#units tr.picked").get_attribute("data-number")
        self.assertEqual([str(drawn)], [row["spikes"] for row in rows_of(self.folder / "timed/units.tsv") if row["unit"] == picked])
        self.assertIn("not known", self.one("#depths").text)


class Circuit(PageCase):
    """Episodes of the spikes of a sorting, whose units have places on the probe. By chance there are enough edges."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("simulate", "recording", "--units", "6", "--channels", "20", "--length", "20s", "--low-peak", "100", "--seed", "3", "-o", cls.folder / "recording")
        spikeweave("sort", cls.folder / "recording", "-o", cls.folder / "sorted")
        spikeweave("episodes", cls.folder / "sorted/spikes.npz", "--delays", "0-200ms", "--min-count", "5", "--max-size", "2", "--test", "exact", "--correction", "none",
                   "--alpha", "0.9", "-o", cls.out)
        cls.read_page()

    def places(self):
        """Returns x and y of each unit in the picture."""
        nodes = self.driver.find_elements(By.CSS_SELECTOR, "#circuit g.node")
        return {node.find_element(By.TAG_NAME, "text").text: [float(word) for word in re.findall(r"[\d.]+", node.get_attribute("transform"))] for node in nodes}

    def test_units_go_to_their_places_on_the_probe(self):
        before = self.places()
        self.assertGreater(len(before), 3)
        self.press("#on-probe")
        shown = self.places()
        self.assertEqual(set(shown), set(before))
        self.assertNotEqual(shown, before)
        depth = dict(zip(self.data["unit_names"], self.data["places"]["y_um"]))
        by_depth = sorted(shown, key=lambda name: -depth[name])
        heights = [shown[name][1] for name in by_depth]
        self.assertEqual(heights, sorted(heights))  # deep ones at the bottom
        apart = [np.hypot(*np.subtract(shown[a], shown[b])) for a in shown for b in shown if a != b]
        self.assertGreater(min(apart), 26)
        for arrow in self.driver.find_elements(By.CSS_SELECTOR, "#circuit g.edge"):
            start = [float(word) for word in re.findall(r"-?[\d.]+", arrow.find_element(By.CSS_SELECTOR, ".line").get_attribute("d"))[:2]]
            edge = rows_of_columns(self.data["circuit"])[int(arrow.get_attribute("data-number")) - 1]
            self.assertLess(np.hypot(*np.subtract(start, shown[self.data["unit_names"][edge["from"]]])), 20)
        self.press("#on-probe")
        self.assertEqual(self.places(), before)
        self.assert_quiet()

    def test_the_folder_of_the_sorting_has_the_same_places(self):
        spikeweave("episodes", self.folder / "sorted", "--max-size", "2", "-o", self.folder / "of-folder")
        self.assertEqual(data_of((self.folder / "of-folder/report.html").read_text(encoding="utf-8"))["places"], self.data["places"])

    def test_places_are_those_of_the_page_of_the_sorting(self):
        self.open(self.folder / "sorted/report.html")
        scale = self.driver.execute_script("""
            return [...document.querySelectorAll('#shapes .contact')].map((one) => [Number(one.getAttribute('y')) + Number(one.getAttribute('height')) / 2,
              Number(/, ([-0-9.]+)\\) µm/.exec(one.textContent)[1])])""")
        slope, offset = np.polyfit(*np.array(scale).T, 1)
        for mark in self.driver.find_elements(By.CSS_SELECTOR, "#shapes circle.unit"):
            unit = mark.get_attribute("data-number")
            y = self.data["places"]["y_um"][self.data["unit_names"].index(unit)]
            self.assertAlmostEqual(slope * float(mark.get_attribute("cy")) + offset, y, delta=0.5)


if __name__ == "__main__":
    unittest.main()
