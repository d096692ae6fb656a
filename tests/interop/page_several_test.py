"""The pages of several results of SPADE and of two sortings in Chromium, and SpikeInterface's comparison of the sortings.

Usage: page_several_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import json
import unittest

from browser import NASTY, By, PageCase, np, rows_of, spikeweave
from page_data import numbers, with_data
from page_series_test import benjamini_hochberg, binomial_p
from page_sort_test import HEADINGS

try:
    import spikeinterface.core as si
    from spikeinterface.comparison import compare_two_sorters
except ImportError:
    si = None


class ComparedPage(PageCase):
    @classmethod
    def show(cls, folders):
        cls.folders = folders
        cls.out.mkdir()
        spikeweave("report", *folders, "-o", cls.out / "report.html")
        cls.read_page()

    def pick(self, view, number):
        self.press(f"#{view} tr[data-number='{number}'] button")

    def trains(self, spikes, count):
        times = spikes["begin_us"] + np.cumsum(numbers(spikes["steps_us"]))
        units = np.array(numbers(spikes["units"]))
        return [times[units == unit] for unit in range(count)]

    def assert_no_markup(self, data, shown_in):
        page = self.folder / "nasty.html"
        page.write_text(with_data(self.html, data), encoding="utf-8")
        self.open(page)
        self.assertIsNone(self.driver.execute_script("return window.hit ?? null"))
        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "img, main script"), [])
        self.assertIn(NASTY[0], self.one(shown_in).text)


class Patterns(ComparedPage):
    """Three recordings: two planted patterns, one of them less often, and none, of which one has epochs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "epochs.tsv").write_text("start\tstop\n0.5\t9\n10.2\t19\n", encoding="utf-8")
        folders = []
        for name, planted, more in (("both", ("4,3", 40), ()), ("few", ("4", 15), ("--epochs", cls.folder / "epochs.tsv")), ("none", ("none", 1), ())):
            path = cls.folder / f"{name}.tsv"
            spikeweave("simulate", "patterns", "--units", "12", "--rate", "6", "--length", "20s", "--patterns", planted[0], "--occurrences", planted[1],
                       "--seed", len(folders), "-o", path)
            spikeweave("spade", path, "--bin", "5ms", "--window", "10", "--min-spikes", "3", "--surrogates", "100", "--alpha", "0.05", "--reduce", "2,2,0", *more,
                       "--seed", "1", "-o", cls.folder / name)
            folders.append(cls.folder / name)
        cls.show(folders)
        cls.recordings = cls.data["recordings"]
        cls.seconds = [one["windows"]["bin_us"] * one["windows"]["bins"] / 1e6 for one in cls.recordings]

    def occurrences(self, result, units, lags):
        """Counts from the definition: bins of the joined epochs from which on all units fire at their lags."""
        windows = self.recordings[result]["windows"]
        segments = windows["segments_us"] or [[0, 0]]
        bins = []
        for train in self.trains(self.recordings[result]["spikes"], len(self.data["unit_names"])):
            epoch = np.maximum(0, np.searchsorted([original for _, original in segments], train, side="right") - 1)
            joined = train - np.array([original - begin for begin, original in segments])[epoch]
            bins.append(set(((joined - windows["origin_us"]) // windows["bin_us"]).tolist()))
        steps = [round(1000 * lag / windows["bin_us"]) for lag in lags]
        return sum(all(start + step in bins[unit] for unit, step in zip(units, steps)) for start in range(windows["bins"]))

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertEqual(self.one("h1").text, "spikeweave spade comparison")
        figures = self.driver.find_elements(By.CSS_SELECTOR, "#patterns tbody tr:first-child td.number")
        self.assertEqual(len(figures), 2 + 4 * len(self.folders))  # number and size; counts, rates, p and q
        self.assertIn("3 results of 12 units", self.one("#summary").text)
        self.assertEqual(len(self.one("#command").text.split("\n")), 3)

    def test_begins_with_what_changed(self):
        words = [word for change in self.data["changes"] for word in change["change"] if word]
        self.assertIn(f"{len(words)} changes of {len(self.data['patterns']['units'])} patterns in 3 recordings, each compared with the first one: ", self.one("#verdict").text)

    def test_lists_the_numbers_of_the_tables(self):
        tables = [{(row["units"], row["lags_ms"]): row for row in rows_of(folder / "patterns.tsv")} for folder in self.folders]
        self.assertTrue(tables[0] and tables[1])
        patterns = self.data["patterns"]
        shown = self.table("patterns")
        self.assertEqual(len(shown), len(set().union(*tables)))
        alone = 0
        for row, units, lags in zip(shown, patterns["units"], patterns["lags_ms"]):
            names = ",".join(self.data["unit_names"][unit] for unit in units)
            for k, table in enumerate(tables):
                count, rate, p, q, found = row[3 + 5 * k:8 + 5 * k]
                self.assertEqual(int(count), self.occurrences(k, units, lags))
                self.assert_shown(rate, int(count) / self.seconds[k])
                listed = table.get((names, ",".join(f"{lag:g}" for lag in lags)))
                if listed is None:
                    alone += 1
                    self.assertEqual((p, q, found), ("–", "–", "no"))
                else:
                    self.assertEqual((int(count), found), (int(listed["count"]), "yes"))
                    for cell, name in ((p, "p"), (q, "q")):
                        self.assert_shown(cell, listed[name])
        self.assertGreater(alone, 0)

    def test_says_what_changed_and_how_it_is_tested(self):
        self.press("#only-changed")
        patterns = self.data["patterns"]
        shown = iter(self.table("changes"))
        words = set()
        for after in (1, 2):
            share = self.seconds[after] / (self.seconds[0] + self.seconds[after])
            counts = [(row[0], row[after]) for row in patterns["count"]]
            p = [binomial_p(a, b, share) for a, b in counts]
            for (a, b), p_value, q, found, row in zip(counts, p, benjamini_hochberg(p), patterns["found"], shown):
                rose = b / self.seconds[after] > a / self.seconds[0]
                word = {(False, True): "new", (True, False): "gone", (True, True): "stronger" if rose else "weaker"}.get((found[0], found[after]), "–")
                word = word if q <= 0.05 else "–"
                words.add(word)
                self.assertEqual([row[1], *row[4:6]], [word, f"{a:,}", f"{b:,}"])
                for cell, value in ((row[7], p_value), (row[2], q)):
                    self.assert_shown(cell, value)
        self.assertEqual(list(shown), [])
        self.assertTrue({"gone", "weaker"} <= words, words)

    def test_opens_on_the_first_occurrence_of_a_pattern(self):
        begin, end = (float(word) for word in self.one(".where").get_attribute("data-view").split()[:2])
        self.assertLess(end - begin, 1e6)
        self.assertEqual(self.one("#patterns tr.picked").get_attribute("data-number"), "1")

    def test_shows_a_pattern_in_each_result(self):
        self.pick("patterns", 1)
        self.press("[aria-label='Show the whole recording']")
        for k in (1, 0, 2):
            self.type("#shown-recording", str(k))
            self.driver.execute_script("document.getElementById('shown-recording').dispatchEvent(new Event('change'))")
            self.frame()
            self.assertEqual(sum(self.counts("#counts .frame")), self.data["patterns"]["count"][0][k])
        view = self.one(".where").get_attribute("data-view").split()
        self.assertEqual(int(view[2]), self.recordings[2]["spikes"]["number"])

    def test_picks_a_change_and_shows_it(self):
        self.press("#changes tbody tr button")
        after = self.one("#changes tr.picked td").text.split(" → ")[1]
        self.assertEqual(self.folders[int(self.one("#shown-recording").get_attribute("value"))].name, after)
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#patterns tr.picked")), 1)

    def test_filters(self):
        self.press("#only-some")
        self.assertEqual(len(self.table("patterns")), sum(not all(found) for found in self.data["patterns"]["found"]))
        self.press("#only-some")
        self.type("#unit-filter", "n0 n3")
        shown = self.table("patterns")
        self.assertTrue(shown)
        for row in shown:
            self.assertTrue({"n0", "n3"} <= set(row[2].replace("+", " ").replace("→", " ").split()))

    def test_nobody_is_left_out(self):
        self.assert_accessible()

    def test_names_are_never_markup(self):
        data = json.loads(json.dumps(self.data))
        data["unit_names"][:len(NASTY)] = NASTY
        data["recordings"][0]["name"] = NASTY[0]
        self.assert_no_markup(data, "#patterns th:nth-child(4)")


class Sortings(ComparedPage):
    """The same recording sorted with templates and without."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("simulate", "recording", "--units", "6", "--channels", "20", "--length", "20s", "--low-peak", "60", "--seed", "3", "-o", cls.folder / "recording")
        spikeweave("sort", cls.folder / "recording", "-o", cls.folder / "templates")
        spikeweave("sort", cls.folder / "recording", "--stages", "cluster", "-o", cls.folder / "clusters")
        cls.show([cls.folder / "templates", cls.folder / "clusters"])
        cls.sortings = cls.data["sortings"]
        cls.all_trains = [cls.trains(cls, one["spikes"], len(one["unit_names"])) for one in cls.sortings]

    def matches(self, one, other):
        """Matches the earliest spikes that are left, again and again, from the definition."""
        count, left = 0, list(other)
        for time in one:
            near = [spike for spike in left if abs(spike - time) <= 400]
            if near:
                left.remove(near[0])
                count += 1
        return count

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertEqual(self.one("h1").text, "spikeweave sort comparison")
        self.assertIn(f"templates has {len(self.sortings[0]['unit_names'])} units", self.one("#summary").text)
        matched = self.data["rows"]["matched"].count(True)
        ours, others = (len(one["unit_names"]) for one in self.sortings)
        self.assertIn(f"{matched} units in both sortings, of {ours} in templates and {others} in ", self.one("#verdict").text)

    def test_lists_each_unit_with_its_best_match(self):
        ours, others = self.all_trains
        matches = np.array([[self.matches(one, other) for other in others] for one in ours])
        sizes = [np.array([len(train) for train in trains]) for trains in self.all_trains]
        agreement = matches / (sizes[0][:, None] + sizes[1][None, :] - matches)
        best = [(i, int(np.argmax(row))) if row.max() >= 0.1 else (i, None) for i, row in enumerate(agreement)]
        seen = {j for _, j in best}
        best += [(int(np.argmax(column)) if column.max() >= 0.1 else None, j) for j, column in enumerate(agreement.T) if j not in seen]

        shown = self.table("units")

        self.assertGreater(len(best), len(ours))
        self.assertEqual(len(shown), len(best))
        rows = {tuple(row[:2]): row for row in shown}
        for i, j in best:
            name = ["–" if unit is None else one["unit_names"][unit] for unit, one in zip((i, j), self.sortings)]
            row = rows[tuple(name)]
            self.assertEqual(row[5:], ["–" if unit is None else str(size[unit]) for unit, size in zip((i, j), sizes)])
            if i is None or j is None:
                self.assertEqual(row[2:5], ["no", "0", "0"])
                continue
            mutual = agreement[i, j] >= 0.5 and agreement[i].argmax() == j and agreement[:, j].argmax() == i
            self.assertEqual([row[2], row[4]], ["yes" if mutual else "no", str(matches[i, j])])
            self.assert_shown(row[3], agreement[i, j])

    @unittest.skipIf(si is None, "without SpikeInterface")
    def test_agrees_with_spikeinterface(self):
        both = []
        for trains in self.all_trains:
            times = np.concatenate(trains)
            labels = np.repeat(np.arange(len(trains)), [len(train) for train in trains])
            both.append(si.NumpySorting.from_samples_and_labels(times.astype(int), labels, 1e6))
        theirs = compare_two_sorters(*both, delta_time=0.4)
        ours = np.zeros((len(self.all_trains[0]), len(self.all_trains[1])))
        pairs = self.data["pairs"]
        ours[pairs["one"], pairs["other"]] = pairs["agreement"]
        np.testing.assert_allclose(theirs.agreement_scores.to_numpy(), ours, atol=1e-9)
        found = {(one, other) for one, other, matched in zip(*(self.data["rows"][key] for key in ("one", "other", "matched"))) if matched}
        self.assertEqual(found, {(one, other) for one, other in theirs.hungarian_match_12.items() if other != -1})

    def test_draws_the_agreement_and_picks_from_it(self):
        cells = self.driver.find_elements(By.CSS_SELECTOR, "#agreement .cell")
        self.assertEqual(len(cells), len(self.data["pairs"]["one"]))
        rows = self.data["rows"]
        for number in (i for i, matched in enumerate(rows["matched"]) if matched):
            one, other = rows["one"][number], rows["other"][number]
            self.driver.execute_script("arguments[0].dispatchEvent(new Event('click'))", self.one(f"#agreement [data-pair='{one} {other}']"))
            self.frame()
            self.assertEqual(self.one("#units tr.picked").get_attribute("data-number"), str(number + 1))
            heads = [head.text for head in self.driver.find_elements(By.CSS_SELECTOR, "#pair-view th[scope=col]")]
            self.assertEqual(heads[1:], [f"{sorting['name']}: {sorting['unit_names'][unit]}" for sorting, unit in zip(self.sortings, (one, other))])

    def test_address_has_the_pair_that_is_picked(self):
        rows = self.data["rows"]
        listed = set(zip(rows["one"], rows["other"]))
        pair = next((one, other) for one in range(len(self.all_trains[0])) for other in range(len(self.all_trains[1])) if (one, other) not in listed)

        def with_another_pair(data):
            data["pairs"] = {"one": [pair[0]], "other": [pair[1]], "matches": [1], "agreement": [0.01]}

        self.open_changed(with_another_pair)
        last = len(rows["one"])
        for number, pick in ((last, lambda: self.pick("units", last)),
                             (last + 1, lambda: self.driver.execute_script("document.querySelector('#agreement .cell').dispatchEvent(new Event('click'))"))):
            pick()
            self.frame()
            before = self.one("#pair-view").text
            self.reopen(f"#pair={number}")
            self.assertEqual(self.one("#pair-view").text, before)
            self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#units tr.picked")), int(number == last))

    def test_shows_both_units_of_a_pair(self):
        number = self.data["rows"]["matched"].index(True)
        pair = [self.data["rows"][key][number] for key in ("one", "other")]
        self.pick("units", number + 1)
        shown = {row.find_element(By.TAG_NAME, "th").text: [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
                 for row in self.driver.find_elements(By.CSS_SELECTOR, "#pair-view tbody tr")}
        for k, folder in enumerate(self.folders):
            table = {row["unit"]: row for row in rows_of(folder / "units.tsv")}[self.sortings[k]["unit_names"][pair[k]]]
            self.assertEqual(set(shown), {heading for heading, key in HEADINGS.items() if key in table} - {"unit"})
            for heading, cells in shown.items():
                self.assert_same([[cells[k].replace("–", "")]], [[table[HEADINGS[heading]]]])
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#pair-view svg.waveforms")), 2)
        spikes = sum(len(self.all_trains[k][unit]) for k, unit in enumerate(pair))
        self.assertEqual(int(self.one(".where").get_attribute("data-view").split()[2]), spikes)

    def test_units_without_a_match(self):
        self.press("#only-unmatched")
        shown = self.table("units")
        self.assertEqual([row[2] for row in shown], ["no"] * self.data["rows"]["matched"].count(False))
        for number, matched in enumerate(self.data["rows"]["matched"], start=1):
            if not matched:
                self.pick("units", number)
                self.assertTrue(self.one("#pair-view tbody tr").is_displayed())
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_nobody_is_left_out(self):
        self.assert_accessible()

    def test_names_are_never_markup(self):
        data = json.loads(json.dumps(self.data))
        for sorting in data["sortings"]:
            sorting["name"] = NASTY[0]
        self.assert_no_markup(data, "#units th")


if __name__ == "__main__":
    unittest.main()
