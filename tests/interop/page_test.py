"""The page of a result of episodes in Chromium: every view, its numbers and its controls.

Usage: page_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import html
import io
import re
import unittest
import xml.etree.ElementTree as xml

from browser import LONG_WARNING, NASTY, ActionChains, By, Image, Keys, PageCase, delay_in, edge_cells, np, rows_of, spikeweave
from page_data import data_of, numbers, rows_of_columns, with_data


class Page(PageCase):
    """A result with every kind of edge, surrogates and occurrences, and Chromium that shows it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("simulate", "sym26", "--length", "20s", "--seed", "1", "-o", cls.folder / "sym26.tsv")
        spikeweave("episodes", cls.folder / "sym26.tsv", "--delays", "4-6ms,8-12ms", "--min-count", "95", "--max-size", "4", "--surrogates", "100",
                   "--alpha", "0.05", "--occurrences", "-o", cls.out)
        cls.read_page()
        cls.trains = {}
        for time, unit in cls.spikes():
            cls.trains.setdefault(unit, []).append(time)
        cls.trains = {name: np.array(times) for name, times in cls.trains.items()}

    @classmethod
    def spikes(cls):
        for line in (cls.folder / "sym26.tsv").read_text(encoding="utf-8").splitlines():
            if line[0].isdigit():
                seconds, unit = line.split("\t")
                yield round(1e6 * float(seconds)), unit

    def key(self, *keys):
        self.one("canvas").send_keys(*keys)
        self.frame()

    def view(self):
        """Returns the begin and the end of what the raster shows, in microseconds, and its spikes."""
        return [float(word) for word in self.one(".where").get_attribute("data-view").split()[:3]]

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertIn("sym26.tsv: ", self.one("#summary").text)
        self.assertEqual(self.one("#command").text, self.data["run"]["command"])
        self.assertTrue(self.one("#summary").text.endswith(" edges"))

    def test_opens_on_the_best_chain_at_its_first_occurrence(self):
        """The least q, of those the largest count; all linked views are on the screen."""
        rows = rows_of_columns(self.data["episodes"])
        best = min(self.data["run"]["circuit"]["chains"], key=lambda number: (rows[number - 1]["q"], -rows[number - 1]["count"]))
        starts = [float(row["time_s"]) for row in rows_of(self.out / "occurrences.tsv") if int(row["episode"]) == best and row["position"] == "1"]

        self.assertEqual(self.one("#episodes tr.picked").get_attribute("data-number"), str(best))
        begin, end, _ = self.view()
        self.assertEqual(end - begin, 200_000)
        self.assertAlmostEqual(max(begin, 1e6 * starts[0] - 100_000), begin, delta=1)
        self.assertIn("→", self.one("#correlogram h3").text)

    def test_linked_views_are_on_one_screen(self):
        """Also below warnings, to which the pictures yield: at once, and when the window changes."""
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        for warnings in range(3):
            self.resize(1400, 900)
            self.open_changed(lambda data: data["run"]["input"].update(warnings=[LONG_WARNING] * warnings))
            for width, height in ((1400, 900), (1400, 1000), (1400, 900)):
                self.resize(width, height)
                self.settle()
                for view in ("#raster canvas", "#aligned canvas", "#circuit svg", "#correlogram svg"):
                    with self.subTest(view, warnings=warnings, height=height):
                        self.assertLessEqual(self.one(view).location["y"] + self.one(view).size["height"], height)
                        self.assertGreaterEqual(self.one(view).size["height"], 110)

    def test_pictures_do_not_yield_to_what_is_opened(self):
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.resize(1400, 900)
        self.open(self.out / "report.html")
        self.settle()
        before = self.one("#circuit svg").size
        self.press("#correlogram details:not(.save) summary")
        self.settle()
        self.assertEqual(self.one("#circuit svg").size, before)
        self.assertGreater(self.one("#correlogram").location["y"] + self.one("#correlogram").size["height"], 950)

    def test_a_chain_of_eight_is_on_one_screen(self):
        def lengthen(data):
            best = data["run"]["circuit"]["chains"][0] - 1
            data["episodes"]["units"][best] = list(range(4, 12))
            data["episodes"]["delays_ms"][best] = [[4, 6]] * 7
            data["episodes"]["q"][best] = 0

        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.resize(1400, 900)
        self.open_changed(lengthen)
        self.settle()
        self.assertEqual(self.one("#aligned h3").text.count("→"), 14)
        self.assertLessEqual(self.one("#aligned").location["y"] + self.one("#aligned").size["height"], 900)
        self.assertGreaterEqual(self.one("#aligned canvas").size["height"], 110)

    def test_opens_on_an_edge_or_on_nothing(self):
        def without_chains(data):
            data["run"]["circuit"]["chains"] = []

        def without_anything(data):
            without_chains(data)
            data["episodes"]["significant"] = [False for _ in data["episodes"]["significant"]]
            data["circuit"] = {name: values[:0] if isinstance(values, list) else 0 for name, values in data["circuit"].items()}

        self.open_changed(without_chains)
        edges = rows_of_columns(self.data["circuit"])
        best = min((i for i, edge in enumerate(edges) if edge["kind"] == "direct"), key=lambda i: (edges[i]["q"], -edges[i]["count"]))
        self.assertEqual(self.one("#edges tr.picked").get_attribute("data-number"), str(best + 1))

        self.open_changed(without_anything)
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "tr.picked, .node.picked, .edge.picked"), [])
        self.assertEqual(self.view()[2], self.data["spikes"]["number"])
        self.assertEqual(self.orange("#raster canvas"), 0)

    def orange(self, canvas):
        """Returns how many pixels of a canvas are orange."""
        return self.driver.execute_script("""
            const canvas = document.querySelector(arguments[0]);
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) count += data[i] === 0xc0 && data[i + 1] === 0x4a && data[i + 2] === 0;
            return count""", canvas)

    def show_everything(self):
        """Shows the whole recording, and all rows of the tables."""
        self.key("0")
        for box in ("#only-significant", "#only-maximal"):
            self.press(box)

    def test_begins_with_the_result_in_a_sentence_and_its_warnings(self):
        summary = self.data["run"]["summary"]
        self.assertRegex(summary, r"^\d+ connections among 26 units, ")
        self.assertEqual(self.one("#verdict").text, summary)
        self.open_changed(lambda data: data["run"]["input"].update(warnings=["First.", "Second."]))
        self.assertEqual([item.text for item in self.driver.find_elements(By.CSS_SELECTOR, "#verdict + #warnings li")], ["First.", "Second."])
        self.assertLess(self.one("#warnings").location["y"], self.one("#raster").location["y"])

    def test_lists_the_episodes_of_the_table(self):
        self.show_everything()
        names = ("episode", "size", "count", "q", None, "expected", "p", "strength", "significant", "maximal", None)
        table = rows_of(self.out / "episodes.tsv")

        shown = self.table("episodes")

        self.assertGreater(len(table), 60)  # more than a page
        self.assert_same([[cell for cell, name in zip(row, names, strict=True) if name] for row in shown],
                         [[row[name] for name in names if name] for row in table])
        for row, expected in zip(shown, table):
            steps = [f" →{delay_in(interval)}→ " for interval in expected["delays"].split()[:-1]] if expected["delays"] != "-" else []
            units = expected["units"].split("→")
            self.assertEqual(row[4], "".join(unit + step for unit, step in zip(units, [*steps, ""])))
            self.assertEqual(row[10] == "yes", int(row[0]) in self.data["run"]["circuit"]["chains"])

    def test_lists_the_further_tests_of_the_picked_episode(self):
        row = rows_of(self.out / "episodes.tsv")[int(self.one("#episodes tr.picked").get_attribute("data-number")) - 1]
        names, figures = ([one.text for one in self.driver.find_elements(By.CSS_SELECTOR, f"#further {tag}")] for tag in ("dt", "dd"))
        self.assertEqual(names, [name.replace("_", " ") for name in row if name.startswith(("independent_", "surrogate_"))])
        self.assert_same([figures], [[row[name.replace(" ", "_")] for name in names]])

    def test_lists_the_edges_of_the_circuit(self):
        table = rows_of(self.out / "circuit.tsv")

        shown = self.table("edges")

        self.assertIn("indirect", {row["kind"] for row in table})
        self.assert_same([row[1:] for row in shown], edge_cells(table))
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#circuit g.edge")), len(table))

    def test_finds_the_occurrences_that_were_counted(self):
        """Of every fifth episode, the first one of each page of the table among them."""
        self.show_everything()
        counts = self.driver.execute_script("""
            const [before, after] = document.querySelectorAll('#episodes .pages button');
            while (!before.disabled) before.click();
            const counts = [];
            for (;;) {
              for (const row of [...document.querySelectorAll('#episodes tbody tr')].map((row) => row.dataset.number).filter((row) => row % 5 === 1)) {
                document.querySelector(`#episodes tr[data-number="${row}"] button`).click();
                counts.push(Number(document.getElementById('occurrence-count').textContent.split(' ')[0].replaceAll(',', '')));
              }
              if (after.disabled) return counts;
              after.click();
            }""")

        self.assertEqual(counts, [int(row["count"]) for row in rows_of(self.out / "episodes.tsv")[::5]])

    def test_goes_from_occurrence_to_occurrence(self):
        table = rows_of(self.out / "occurrences.tsv")
        chain = min(self.data["run"]["circuit"]["chains"])
        starts = [float(row["time_s"]) for row in table if int(row["episode"]) == chain and row["position"] == "1"]
        self.press(f"#episodes tr[data-number='{chain}'] button")
        self.key("0")
        found = []
        self.key(*["+"] * 12)
        self.driver.execute_script("document.querySelector('canvas').dispatchEvent(new KeyboardEvent('keydown', {key: '0'}))")
        self.key(*["p"] * 3, *["+"] * 4)
        for _ in range(4):
            self.key("n")
            begin, end, _ = self.view()
            found.append(round((begin + end) / 2e6, 6))

        first = starts.index(min(starts, key=lambda start: abs(start - found[0])))
        for a, b in zip(found, starts[first:]):
            self.assertAlmostEqual(a, b, delta=2e-6)

    def test_raster_shows_moves_and_zooms(self):
        everything = self.data["spikes"]
        self.key("0")
        self.assertEqual(self.view(), [everything["begin_us"], everything["end_us"], everything["number"]])
        dark = "const c = document.querySelector('canvas'); const p = c.getContext('2d').getImageData(100, 0, c.width - 120, c.height - 40).data;" \
               "let n = 0; for (let i = 0; i < p.length; i += 4) n += p[i] < 128 && p[i + 3] > 0; return n / (p.length / 4);"
        share = self.driver.execute_script(dark)
        self.assertGreater(share, 0.02)

        self.key(*["+"] * 6)
        begin, end, shown = self.view()
        self.assertAlmostEqual(end - begin, (everything["end_us"] - everything["begin_us"]) / 64, delta=1)
        times = np.concatenate(list(self.trains.values()))
        self.assertEqual(shown, np.count_nonzero((times >= begin) & (times < end)))
        self.assertLess(self.driver.execute_script(dark), share)
        self.key(Keys.ARROW_RIGHT)
        self.assertAlmostEqual(self.view()[0], begin + 0.2 * (end - begin), delta=1)
        self.press("[aria-label='Show the whole recording']")
        self.assertEqual(self.view()[2], everything["number"])

        self.press("#only-picked")
        picked = {self.data["unit_names"][unit] for unit in self.data["episodes"]["units"][int(self.one("#episodes tr.picked").get_attribute("data-number")) - 1]}
        self.assertEqual(self.view()[2], sum(len(self.trains[name]) for name in picked))

    def test_raster_has_a_spike_at_the_end_of_the_recording(self):
        data = data_of(self.html)
        data["spikes"]["end_us"] = int(np.concatenate(list(self.trains.values())).max())
        page = self.folder / "ends.html"
        page.write_text(with_data(self.html, data), encoding="utf-8")

        self.open(page)

        self.key("0")
        self.assertEqual(self.view(), [data["spikes"]["begin_us"], data["spikes"]["end_us"], data["spikes"]["number"]])

    def hover(self, selector, x, y):
        """Moves the pointer to a place within an element, and returns the words beside it."""
        ActionChains(self.driver).move_to_element_with_offset(self.one(selector), x, y).perform()
        self.frame()
        return self.one("#tip").text

    def test_tells_what_is_under_the_pointer(self):
        begin, end, _ = self.view()
        spikes = [(time, unit) for time, unit in self.spikes() if begin <= time < end]
        alone = next((time, unit) for time, unit in spikes if not any(unit == other and 0 < abs(time - at) < 5000 for at, other in spikes))
        width, height, names = self.one("#raster canvas").size["width"], self.one("#raster canvas").size["height"] - 34, self.data["unit_names"]
        left = 16 + 7 * max(map(len, names))
        x = left + (alone[0] - begin) / (end - begin) * (width - left - 12)
        y = height * (names.index(alone[1]) + 0.5) / len(names)
        self.assertEqual(self.hover("#raster canvas", x - width / 2, y - (height + 34) / 2), f"{alone[1]}: spike at {alone[0] / 1e6:.6f} s")

        counts = self.counts("#correlogram .frame")
        by_chance = float(self.one("#correlogram .frame").get_attribute("data-null").split()[60])
        chart = self.one("#correlogram svg").size
        scale = min(chart["width"] / 560, chart["height"] / 220)
        words = self.hover("#correlogram svg", scale * (56 + (560 - 56 - 12) * 60.5 / 120 - 280), 0).split()
        self.assertEqual(words[:4], ["0", "to", f"{float(words[2].strip(':')):g}:", f"{counts[60]:,},"])
        self.assertAlmostEqual(float(words[4]), by_chance, delta=0.005 * by_chance)

    def test_has_the_rate_of_all_units_below_the_raster(self):
        begin, end = (self.data["spikes"][key] for key in ("begin_us", "end_us"))
        times = np.concatenate(list(self.trains.values()))
        strip = "#raster .strip canvas"
        counts = self.counts(strip)
        np.testing.assert_allclose(np.cumsum(counts), np.cumsum(np.histogram(times, 600, (begin, end + 1))[0]), atol=2)
        self.assertEqual(sum(counts), len(times))
        length = self.view()[1] - self.view()[0]

        ActionChains(self.driver).move_to_element_with_offset(self.one(strip), 0, 0).click().perform()
        self.frame()

        shown = self.view()
        self.assertAlmostEqual((shown[0] + shown[1]) / 2, (begin + end) / 2, delta=(end - begin) / self.one(strip).size["width"])
        self.assertAlmostEqual(shown[1] - shown[0], length, delta=1)

    def test_saves_the_numbers_and_the_picture_of_a_view(self):
        begin, end, shown = self.view()
        rows = self.saved_rows("#save-raster-csv", "raster.csv")
        self.assertEqual(sorted((round(1e6 * float(row["time_s"])), row["unit"]) for row in rows), sorted((time, unit) for time, unit in self.spikes() if begin <= time < end))
        self.assertEqual(len(rows), shown)
        self.assertEqual([int(row["count"]) for row in self.saved_rows("#save-correlogram-csv", "correlogram.csv")], self.counts("#correlogram .frame"))
        table = rows_of(self.out / "circuit.tsv")
        for name in ("circuit", "edges"):
            saved = self.saved_rows(f"#save-{name}-csv", f"{name}.csv")
            self.assertEqual([(row["from"], row["to"], row["count"], float(row["q"])) for row in saved],
                             [(row["from"], row["to"], row["count"], float(row["q"])) for row in table])
        self.saved_svg("#save-circuit-svg", "circuit.svg")
        spikes = float(self.one("#raster .where").get_attribute("data-view").split()[2])
        for name, least, most in (("raster", 0.5 * spikes, spikes + 100), ("aligned", 1, np.inf)):
            picture = xml.fromstring(self.saved(f"#save-{name}-svg", f"{name}.svg"))
            texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
            drawn = sum(path.get("d").count("z") for path in picture.iter("{http://www.w3.org/2000/svg}path") if path.get("d"))
            self.assertTrue(set(texts) & set(self.data["unit_names"]))
            self.assertTrue(least <= drawn <= most, (name, drawn))
        self.assert_saves_canvas("#save-aligned-png", "aligned.png", "#aligned canvas")
        self.assertGreater(np.asarray(Image.open(io.BytesIO(self.saved("#save-correlogram-png", "correlogram.png")))).shape[1], 500)
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_its_address_opens_the_same_view(self):
        self.press("#edges tr[data-number='2'] button")
        self.key("+")
        view = self.view()

        self.reopen(f"#edge=2&from={view[0] / 1e6:g}&to={view[1] / 1e6:g}")

        self.assertEqual(self.view(), view)
        self.assertEqual(self.one("#edges tr.picked").get_attribute("data-number"), "2")
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "#episodes tr.picked"), [])

    def test_the_options_of_the_command_come_first(self):
        asked = [name.text for name in self.driver.find_elements(By.CSS_SELECTOR, "#asked > dl dt")]
        self.assertEqual(set(asked), {"delays", "min_count", "max_size", "surrogates", "alpha"})
        self.assertIn(f"{len(self.data['run']['parameters']) - len(asked)} options", self.one("#asked summary").text)

    def test_filters_and_sorts(self):
        names = self.data["unit_names"]
        rows = list(zip(self.data["episodes"]["units"], self.data["episodes"]["count"], self.data["episodes"]["significant"]))
        self.press("#only-maximal")
        self.type("#unit-filter", "n3")
        self.type("#size-filter", "2")
        expected = [count for units, count, significant in rows
                    if significant and len(units) >= 2 and any(names[unit].startswith("n3") for unit in units)]
        self.assertEqual([int(row[2].replace(",", "")) for row in self.table("episodes")], expected)

        self.press("#episodes th:nth-child(3) button")
        self.assertEqual([int(row[2].replace(",", "")) for row in self.table("episodes")], sorted(expected))
        self.press("#episodes th:nth-child(3) button")
        self.assertEqual(self.one("#episodes th:nth-child(3)").get_attribute("aria-sort"), "descending")
        self.assertEqual([int(row[2].replace(",", "")) for row in self.table("episodes")], sorted(expected, reverse=True))

        direct = sum(edge["kind"] == "direct" for edge in rows_of_columns(self.data["circuit"]))
        self.press("#kind-indirect")
        self.press("#kind-common-input")
        self.assertEqual(len(self.table("edges")), direct)
        self.assertEqual(sum(edge.is_displayed() for edge in self.driver.find_elements(By.CSS_SELECTOR, "#circuit g.edge")), direct)

    def test_an_episode_without_an_edge_has_no_correlogram(self):
        self.show_everything()
        alone = next(i + 1 for i, units in enumerate(self.data["episodes"]["units"]) if len(units) == 1)
        self.type("#unit-filter", self.data["unit_names"][self.data["episodes"]["units"][alone - 1][0]])
        while not self.driver.find_elements(By.CSS_SELECTOR, f"#episodes tr[data-number='{alone}']"):
            self.press("#episodes .pages button:last-child")
        self.press(f"#episodes tr[data-number='{alone}'] button")
        self.assertIn("No step", self.one("#correlogram").text)

    def test_picked_edge_has_its_correlogram(self):
        number, edge = next((i + 1, edge) for i, edge in enumerate(rows_of_columns(self.data["circuit"])) if edge["kind"] == "direct")
        self.driver.execute_script("document.querySelector(arguments[0]).dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))",
                                   f"#circuit g.edge[data-number='{number}']")
        self.frame()
        first, second = (self.trains[self.data["unit_names"][edge[end]]] for end in ("from", "to"))
        lags = (second[None, :] - first[:, None]).ravel()

        chart = self.one("#correlogram .frame")
        reach = float(re.search(r"to (\S+) ms", self.one("#correlogram svg").get_attribute("aria-label"))[1]) * 1000
        width = 2 * reach / 120
        inside = lags[(lags > -reach) & (lags <= reach)]
        counts = np.bincount(np.ceil((inside + reach) / width).astype(int) - 1, minlength=120)
        self.assertEqual([int(word) for word in chart.get_attribute("data-counts").split()], counts.tolist())
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#correlogram .band")), 1)

        low, high = (1000 * ms for ms in edge["delay_ms"])
        within = lags[(lags > low) & (lags <= high)]
        chance = np.count_nonzero((lags > 2 * low - high) & (lags <= 2 * high - low)) / 2 - len(within) / 2
        signal = len(within) - chance
        mean = (within.sum() - chance * (low + high) / 2) / signal
        error = np.sqrt(((within - mean) ** 2).sum() + chance / 2 * ((low + high) / 2 - mean) ** 2) / signal
        estimate = np.array([mean, mean - 1.959964 * error, mean + 1.959964 * error]) / 1000
        ends = ("", "_low", "_high")
        delays = [edge[f"mean_delay{end}_ms"] for end in ends]
        np.testing.assert_allclose(delays, estimate, rtol=1e-5)
        shown = " ".join(text.get_attribute("textContent") for text in self.driver.find_elements(By.CSS_SELECTOR, "#edge-figures > *"))
        self.assertIn("mean delay {:.3g} ms, 95 % from {:.3g} to {:.3g}".format(*delays), shown)
        self.assertIn("sign excitatory", shown)
        for name in ("gain", "transmission"):
            self.assertIn("{} {:.3g}, 95 % from {:.3g} to {:.3g}".format(name, *(edge[name + end] for end in ends)), shown)
        self.assertIn("picked", self.one(f"#circuit g.edge[data-number='{number}']").get_attribute("class"))
        self.assertEqual(self.one("#edges tr.picked").get_attribute("data-number"), str(number))

    def test_count_over_time_is_that_of_the_occurrences(self):
        table = rows_of(self.out / "occurrences.tsv")
        chain = int(self.one("#episodes tr.picked").get_attribute("data-number"))
        starts = [float(row["time_s"]) for row in table if int(row["episode"]) == chain and row["position"] == "1"]
        begin, end = (self.data["spikes"][key] / 1e6 for key in ("begin_us", "end_us"))

        shown = [int(word) for word in self.one("#counts .frame").get_attribute("data-counts").split()]

        self.assertEqual(shown, np.histogram(starts, 60, (begin, end))[0].tolist())

    def test_nobody_is_left_out(self):
        self.press("#only-chain")  # axe looks at every cell, which takes long for cells that are all alike
        self.press("#kind-direct")
        self.assert_accessible()
        self.assertTrue(self.one("#circuit svg").is_displayed())

    def test_fits_on_a_phone(self):
        """No view scrolls sideways, what can be pressed is 24 pixels high, and names in the circuit can be read."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.open(self.out / "report.html")
        self.assertLessEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), 420)
        small = self.driver.execute_script("""
            return [...document.querySelectorAll('a, button, summary')].filter((one) => one.checkVisibility())
              .filter((one) => one.offsetHeight < 24 || one.offsetWidth < 24).map((one) => one.outerHTML)""")
        self.assertEqual(small, [])
        height = self.driver.execute_script("return document.querySelector('#circuit .node text').getBoundingClientRect().height")
        self.assertGreater(height, 10)

    def test_tables_are_whole_on_a_screen_and_on_paper(self):
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        for width, media in ((1400, ""), (718, "print")):
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
            self.open(self.out / "report.html")
            cut = self.driver.execute_script("return [...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)")
            self.assertEqual(cut, [], (width, media))

    def test_names_are_never_markup(self):
        self.open_nasty(lambda data: data["unit_names"].__setitem__(slice(len(NASTY)), NASTY))

        self.show_everything()
        shown = "".join(row[4] for row in self.table("episodes"))
        for name in NASTY[:3]:
            self.assertIn(name, shown)
        self.assertIn("a‹U+FFFE›b", shown)
        self.assertIn("‹U+202E›gnp.exe", shown)

    def test_injected_scripts_are_refused(self):
        """The policy allows the page's own script only, should text ever become markup."""
        page = self.folder / "injected.html"
        page.write_text(self.html.replace("<main>", "<main><script>window.hit = 1</script><img src='x' onerror='window.hit = 1'>"), encoding="utf-8")
        self.open(page)

        self.assertIsNone(self.driver.execute_script("return window.hit ?? null"))
        self.assertTrue(self.table("episodes"))

    def test_works_in_the_frame_of_a_notebook(self):
        """`result.show()` makes such a frame. It reaches nothing outside, and its links stay within."""
        frame = f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-downloads" style="width:1200px;height:500px"></iframe>'
        notebook = self.folder / "notebook.html"
        notebook.write_text(f"<!doctype html><title>notebook</title><script>window.secret = 1</script>{frame}", encoding="utf-8")
        self.open(notebook)
        self.driver.switch_to.frame(0)

        self.assertTrue(self.table("episodes"))
        self.one("nav a[href='#circuit']").click()
        self.frame()
        self.assertEqual(self.driver.execute_script("return document.URL.split('#')[0]"), "about:srcdoc")
        self.assertAlmostEqual(self.driver.execute_script("return document.getElementById('circuit').getBoundingClientRect().y"), 0, delta=1)
        self.assertFalse(self.driver.execute_script("try { return Boolean(parent.secret); } catch { return false; }"))
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_data_hold_every_spike(self):
        spikes = self.data["spikes"]
        times = spikes["begin_us"] + np.cumsum(numbers(spikes["steps_us"]))
        units = np.array(numbers(spikes["units"]))
        found = {name: times[units == i].tolist() for i, name in enumerate(self.data["unit_names"])}

        self.assertEqual(found, {name: sorted(train.tolist()) for name, train in self.trains.items()})


class LargePage(PageCase):
    """A culture of a million spikes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("simulate", "culture", "--length", "2520s", "--seed", "1", "-o", cls.folder / "culture.npz")
        spikeweave("episodes", cls.folder / "culture.npz", "--max-size", "2", "-o", cls.out)
        cls.read_page()

    def test_is_small_and_soon_drawn(self):
        self.assertGreater(self.data["spikes"]["number"], 1_000_000)
        self.assertLess((self.out / "report.html").stat().st_size, 5_000_000)
        self.driver.get("about:blank")
        # The time of the page's own thread, which is that on a computer with nothing else to do.
        self.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        self.addCleanup(self.driver.execute_cdp_cmd, "Performance.disable", {})
        self.open(self.out / "report.html")
        measured = {one["name"]: one["value"] for one in self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
        drawn = self.driver.execute_script("""
            const canvas = document.querySelector("#raster canvas");
            return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0);""")

        self.assertTrue(drawn)
        self.assertGreater(measured["TaskDuration"], 0.01)
        self.assertLess(measured["TaskDuration"], 1.5)


if __name__ == "__main__":
    unittest.main()
