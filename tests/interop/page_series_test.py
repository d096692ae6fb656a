"""The pages of several results of episodes in Chromium: one after another, and side by side.

Usage: page_series_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import io
import json
import math
import pathlib
import re
import time
import unittest
import xml.etree.ElementTree as xml

from browser import NASTY, By, Keys, PageCase, delay_in, edge_of, np, number_in, rows_of, spikeweave
from page_data import numbers, with_data
from PIL import Image

CULTURES = pathlib.Path(__file__).resolve().parents[3] / "shared/data/wagenaar2006"
SVG = "{http://www.w3.org/2000/svg}"


LOG_FACTORIAL = np.concatenate(([0], np.cumsum(np.log(np.arange(1, 200_000)))))


def binomial_p(a, b, share):
    """Returns twice the smaller tail of `b` of a + b trials with this probability, summed from the definition."""
    def tail(least, success):
        n, k = a + b, np.arange(least, a + b + 1)
        logs = LOG_FACTORIAL[n] - LOG_FACTORIAL[k] - LOG_FACTORIAL[n - k] + k * math.log(success) + (n - k) * math.log1p(-success)
        return math.exp(logs.max()) * np.exp(logs - logs.max()).sum()

    return min(1.0, 2 * min(tail(b, share), tail(a, 1 - share)))


def benjamini_hochberg(p):
    order = np.argsort(p)[::-1]
    q = np.minimum.accumulate(np.array(p)[order] * len(p) / np.arange(len(p), 0, -1))
    return np.minimum(q, 1)[np.argsort(order)]


def count_pairs(first, second, low, high):
    """Counts pairs without overlap, from the definition: the earliest end that fits, again and again."""
    at = np.searchsorted(first, second - low) - 1  # the last one before end - low
    fits = at >= 0
    fits[fits] = second[fits] - first[at[fits]] <= high
    count, last = 0, -math.inf
    for begin, end in zip(first[at[fits]].tolist(), second[fits].tolist()):
        if begin > last:
            count, last = count + 1, end
    return count


class ComparedPage(PageCase):
    """Results in `folders`, and their page beside each other or as a series."""

    view = "series"

    @classmethod
    def show(cls, folders):
        cls.folders = folders
        cls.out.mkdir()
        spikeweave("report", *folders, "--as", cls.view, "-o", cls.out / "report.html")
        cls.read_page()
        cls.last = len(folders) - 1
        cls.seconds = [(one["spikes"]["end_us"] - one["spikes"]["begin_us"]) / 1e6 for one in cls.data["recordings"]]
        cls.circuits = [{(row["from"], row["to"]) for row in rows_of(folder / "circuit.tsv")} for folder in folders]

    def seek(self, position):
        self.type("#position", str(position))
        self.frame()

    def position(self):
        return float(self.one("#recording").get_attribute("data-position"))

    def arrows(self, picture=0):
        """Returns the pairs of units with an arrow that is seen, by what is said of the change."""
        shown = self.driver.execute_script("""
            return [...document.querySelectorAll('svg.circuit')[arguments[0]].querySelectorAll('g.edge')].filter((one) => one.style.display !== 'none')
              .map((one) => [one.classList[1], Number(one.dataset.number)])""", picture)
        found = {}
        for kind, number in shown:
            units = [self.data["unit_names"][unit] for unit in self.data["episodes"]["units"][number - 1]]
            found.setdefault(kind, []).append(tuple(units))
        return found

    def assert_opens_on_the_best_of_the_last(self):
        """The significant chain or, without one, edge of the last recording with the least q, of those the longest and most frequent."""
        episodes, last = self.data["episodes"], self.last
        found = [i for i, flags in enumerate(episodes["significant"]) if flags[last]]
        chains = [i for i in found if not any(episodes["kind"][i])]
        best = min(chains or found, key=lambda i: (episodes["q"][i][last], -len(episodes["units"][i]), -episodes["count"][i][last]))
        self.assertEqual(self.one("#episodes tr.picked").get_attribute("data-number"), str(best + 1))

    def assert_numbers_of_the_tables(self):
        listed = [{(row["units"], " ".join(map(delay_in, row["delays"].removesuffix(" ms").split()))): row for row in rows_of(folder / "episodes.tsv")} for folder in self.folders]
        circuits = [rows_of(folder / "circuit.tsv") for folder in self.folders]
        trains = []
        for one in self.data["recordings"]:
            times = one["spikes"]["begin_us"] + np.cumsum(numbers(one["spikes"]["steps_us"]))
            units = np.array(numbers(one["spikes"]["units"]))
            trains.append([times[units == i] for i in range(len(self.data["unit_names"]))])
        shown = self.table("episodes")
        self.assertEqual(len(shown), len(self.data["episodes"]["units"]))
        unlisted = 0
        for number, (row, units, delays) in enumerate(zip(shown, self.data["episodes"]["units"], self.data["episodes"]["delays_ms"])):
            names = re.sub(r" →[\d.]+-[\d.]+ms→ ", "→", row[1])
            intervals = " ".join(re.findall(r"[\d.]+-[\d.]+ms", row[1]))
            for k, table in enumerate(listed):
                count, rate, q, significant = row[2 + 4 * k:6 + 4 * k]
                expected = table.get((names, intervals))
                if expected is not None:
                    self.assert_shown(count, expected["count"])
                elif len(units) == 2:
                    unlisted += 1
                    self.assert_shown(count, count_pairs(*(trains[k][unit] for unit in units), *(1000 * ms for ms in delays[0])))
                if len(units) == 2:  # whether it is an edge is decided by the circuit
                    ends = tuple(self.data["unit_names"][unit] for unit in units)
                    edge = next((one for one in circuits[k] if (one["from"], one["to"]) == ends and edge_of(one, delays[0])), None)
                    expected = edge and {"q": edge["q"], "significant": "yes"}
                    self.assertEqual(self.data["episodes"]["sign"][number][k], edge and edge["sign"])
                if expected is None:
                    self.assertEqual((q, significant), ("–", "no"))
                else:
                    self.assert_shown(q, expected["q"])
                    self.assertEqual(significant, expected["significant"])
                self.assert_shown(rate, number_in(count) / self.seconds[k])
        self.assertGreater(unlisted, 0)

    def assert_changes_and_their_test(self, steps):
        """The p, q and the words of all changes, from the counts of the page."""
        for box in ("#only-shown", "#only-changed"):
            if self.driver.find_elements(By.CSS_SELECTOR, box):
                self.press(box)
        episodes = self.data["episodes"]
        shown = iter(self.table("changes"))
        words = set()
        for before, after in steps:
            counts = [(counts[before], counts[after]) for counts in episodes["count"]]
            share = self.seconds[after] / (self.seconds[before] + self.seconds[after])
            p = [binomial_p(a, b, share) for a, b in counts]
            for (a, b), p_value, q, flags, signs, row in zip(counts, p, benjamini_hochberg(p), episodes["significant"], episodes["sign"], shown):
                rose = (b / self.seconds[after] > a / self.seconds[before]) != ("inhibitory" in (signs[before], signs[after]))
                word = {(False, True): "new", (True, False): "gone", (True, True): "stronger" if rose else "weaker"}.get((flags[before], flags[after]), "–")
                words.add(word if q <= 0.05 else "–")
                self.assertEqual(row[0], f"{self.folders[before].name} → {self.folders[after].name}")
                self.assertEqual([row[1], *row[4:6]], [word if q <= 0.05 else "–", f"{a:,}", f"{b:,}"])
                for cell, value in ((row[7], p_value), (row[2], q)):
                    self.assert_shown(cell, value)
                    self.assertNotEqual(cell, "0")
        self.assertEqual(list(shown), [])
        return words


class SeriesChecks:
    """What holds for every series, which opens on the first occurrence in its last recording."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.position(), self.last)
        begin, end, *_ = map(float, self.one("#raster .where").get_attribute("data-view").split())
        self.assertEqual(end - begin, 200000)
        self.press("[aria-label='Show the whole recording']")
        self.seek(0)

    def test_opens_on_the_best_finding(self):
        self.assert_opens_on_the_best_of_the_last()

    def test_begins_with_what_changed_and_the_warnings(self):
        words = [word for change in self.data["changes"] for word in change["change"] if word]
        self.assertGreater(len(words), 1)
        kinds = ", ".join(f"{words.count(word)} {word}" for word in ("new", "gone", "stronger", "weaker") if word in words)
        verdict = self.one("#verdict").text
        self.assertEqual(verdict, self.data["run"]["summary"])
        self.assertTrue(verdict.startswith(f"{len(words):,} changes of {len(self.data['episodes']['units']):,} connections and chains in {len(self.folders)} recordings, "
                                           f"each compared with the one before it: {kinds}; 5 % false discovery rate."), verdict)
        warnings = [f"{one['name']}: {text}" for one in self.data["recordings"] for text in one["run"]["input"]["warnings"]]
        self.assertEqual([one.text for one in self.driver.find_elements(By.CSS_SELECTOR, "#verdict + #warnings li")], warnings)

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertIn(f"{len(self.folders)} recordings", self.one("#summary").text)

    def test_numbers_are_those_of_the_tables(self):
        self.assert_numbers_of_the_tables()

    def test_changes_have_their_test(self):
        words = self.assert_changes_and_their_test([(k, k + 1) for k in range(self.last)])

        self.assertLessEqual({"new", "gone", "stronger", "weaker"}, words)
        self.assertIn("too small", self.one("#test-note").text)

    def test_says_how_stable_the_circuit_is(self):
        pairs = [{(row["from"], row["to"]) for row in rows_of(folder / "circuit.tsv") if row["kind"] == "direct"} for folder in self.folders]
        for k, one in enumerate(self.data["stability"]):
            before, after = pairs[k], pairs[k + 1]
            common, both = len(before & after), len(before | after)
            self.assertEqual([one[name] for name in ("from", "to", "before", "after", "common")], [k, k + 1, len(before), len(after), common])
            if not before or not after:
                self.assertIsNone(one["stability"])
                continue
            self.assertAlmostEqual(one["jaccard"], common / both)
            chance = one["jaccard_expected"]
            if one["stability"] is not None:
                self.assertAlmostEqual(one["stability"], (common / both - chance) / (1 - chance))
        told = self.one("#about").get_attribute("textContent")
        self.assertIn("Stability of the circuit", told)
        self.assertIn(f"{max(one['common'] for one in self.data['stability'])}", told)

    def test_each_step_shows_its_recording(self):
        places = "return [...document.querySelectorAll('g.node')].map((one) => one.getAttribute('transform')).join()"
        first = self.driver.execute_script(places)
        for k, folder in enumerate(self.folders):
            with self.subTest(folder.name):
                found = self.arrows()
                seen = {pair for kind, pairs in found.items() if kind != "gone" for pair in pairs}
                self.assertEqual(seen, self.circuits[k])
                self.assertIn(f"{folder.name} ({k + 1} of {len(self.folders)})", self.one("#recording").text)
                spikes = self.data["recordings"][k]["spikes"]
                times = spikes["begin_us"] + np.cumsum(numbers(spikes["steps_us"]))
                self.assertEqual([float(word) for word in self.one("#raster .where").get_attribute("data-view").split()[:3]],
                                 [spikes["begin_us"], spikes["end_us"], len(times)])
                listed = [(row[1], tuple(re.split(r" →.*?→ ", row[3]))) for row in self.table("changes")]
                self.assertEqual(sorted(pair for word, pair in listed if word == "gone" and len(pair) == 2), sorted(found.get("gone", [])))
                self.assertEqual(sorted(pair for word, pair in listed if word == "new" and len(pair) == 2), sorted(found.get("new", [])))
                self.assertEqual(self.driver.execute_script(places), first)
            self.press("#step-on")
        self.assertEqual(self.position(), self.last)

    def test_steps_and_seeks(self):
        self.press("#step-back")
        self.assertEqual(self.position(), 0)
        self.one("#position").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.position(), 1)
        self.seek(1.7)
        self.assertEqual(self.position(), 1.7)
        self.assertIn(f"{self.folders[2].name} ", self.one("#recording").text)
        self.press("#step-back")
        self.assertEqual(self.position(), 1)
        self.seek(1.7)
        self.press("#step-on")
        self.assertEqual(self.position(), 2)

    def test_its_address_has_the_recording_and_what_is_picked(self):
        self.press("#episodes tbody tr:nth-child(3) button")
        number = self.one("#episodes tr.picked").get_attribute("data-number")
        self.seek(1)

        self.reopen(f"#recording=2&episode={number}")

        self.assertEqual(self.position(), 1)
        self.assertEqual(self.one("#episodes tr.picked").get_attribute("data-number"), number)

    def test_plays_and_pauses(self):
        self.driver.execute_script("document.getElementById('speed').value = '0.01'")
        began = time.monotonic()
        self.press("#play")
        self.until(lambda: self.position() > 0.005)
        self.press("#play")
        slow = self.position()
        self.assertLessEqual(slow, 0.01 * (time.monotonic() - began))
        time.sleep(0.3)
        self.assertEqual(self.position(), slow)

        self.driver.execute_script("document.getElementById('speed').value = '100'")
        self.press("#play")
        self.until(lambda: self.one("#play").text == "Play")
        self.assertEqual(self.position(), self.last)

        self.driver.execute_script("document.getElementById('speed').value = '1'")
        began = time.monotonic()
        self.press("#play")  # from the first one again
        position = self.position()
        self.assertLessEqual(position, time.monotonic() - began)
        self.until(lambda: self.position() > position)

    def test_edges_fade_between_recordings(self):
        """A new edge is seen from the middle of the way on, and is never at another place."""
        self.seek(self.last)
        number, path = self.driver.execute_script("""
            const arrow = document.querySelector('svg.circuit g.edge.new');
            return [arrow.dataset.number, arrow.lastChild.getAttribute('d')]""")
        opacities = []
        for position in (self.last - 0.9, self.last - 0.5, self.last - 0.1, self.last):
            self.seek(position)
            now = self.one(f"svg.circuit g.edge[data-number='{number}']")
            opacities.append(float(now.get_attribute("opacity")))
            self.assertEqual(self.driver.execute_script("return arguments[0].lastChild.getAttribute('d')", now), path)
        self.assertEqual(opacities, sorted(set(opacities)))

    def test_raster_stays_where_it_was(self):
        view = lambda: [float(word) for word in self.one("#raster .where").get_attribute("data-view").split()[:2]]  # noqa: E731
        begins = [one["spikes"]["begin_us"] for one in self.data["recordings"]]
        self.one("canvas").send_keys(*["+"] * 5, Keys.ARROW_LEFT)
        self.frame()
        begin, end = view()
        self.press("#step-on")
        moved = view()
        self.assertAlmostEqual(moved[0] - begins[1], begin - begins[0], delta=1)
        self.assertAlmostEqual(moved[1] - moved[0], end - begin, delta=1)

    def test_picks_a_change_and_shows_it(self):
        self.press("#only-shown")
        row = self.one("#changes tbody tr")
        names = row.find_elements(By.TAG_NAME, "td")[0].text
        self.press("#changes tbody tr button")
        self.assertIn(self.folders[int(self.position())].name, names.split(" → ")[1])
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#changes tr.picked")), 1)
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#episodes tr.picked")), 1)

    def test_saves_pictures(self):
        self.seek(self.last)
        drawn = sum(map(len, self.arrows().values()))

        picture = xml.fromstring(self.saved("#save-svg", "circuit.svg"))
        self.assertEqual(len(picture.findall(f"{SVG}g/{SVG}path")), drawn)
        still = Image.open(io.BytesIO(self.saved("#save-png", "circuit.png")))
        colours = np.unique(np.asarray(still.convert("RGB")).reshape(-1, 3), axis=0)
        self.assertGreater(len(colours), 10)
        width, height = (int(picture.get(name)) for name in ("width", "height"))
        self.assertGreater(still.width, 4 * width)
        self.assertGreater(still.height, 2 * height)
        self.assertEqual(self.position(), self.last)
        self.assertEqual(self.driver.get_log("browser"), [])


class SimulatedSeries(SeriesChecks, ComparedPage):
    """Three recordings whose planted chains are of different strengths."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folders = []
        for name, probability, chains, length in (("weak", "0.3", "4", "20s"), ("strong", "0.8", "4,8", "25s"), ("other", "0.5", "6,6", "20s")):
            path = cls.folder / f"{name}.tsv"
            spikeweave("simulate", "sym26", "--length", length, "--probability", probability, "--chains", chains, "--seed", len(folders), "-o", path)
            spikeweave("episodes", path, "--delays", "4-6ms,8-12ms", "--min-count", "60", "-o", cls.folder / name)
            folders.append(cls.folder / name)
        cls.show(folders)

    def test_nobody_is_left_out(self):
        self.seek(1)
        self.assert_accessible()

    def test_only_direct_edges(self):
        self.seek(1)
        self.press("#only-direct")
        direct = {(row["from"], row["to"]) for row in rows_of(self.folders[1] / "circuit.tsv") if row["kind"] == "direct"}
        self.assertLess(len(direct), len(self.circuits[1]))
        self.assertEqual({pair for kind, pairs in self.arrows().items() if kind != "gone" for pair in pairs}, direct)

    def test_names_are_never_markup(self):
        data = json.loads(json.dumps(self.data))
        data["unit_names"][:len(NASTY)] = NASTY
        for one, name in zip(data["recordings"], NASTY):
            one["name"] = one["run"]["command"] = one["run"]["input"]["path"] = name
            one["run"]["parameters"]["min_count"] = name
            one["run"]["input"]["warnings"] = NASTY
        page = self.folder / "nasty.html"
        page.write_text(with_data(self.html, data), encoding="utf-8")

        self.open(page)
        self.seek(1)

        self.assertIsNone(self.driver.execute_script("return window.hit ?? null"))
        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "img, main script"), [])
        self.assertIn(NASTY[1], self.one("#recording").text)
        self.assertIn(NASTY[0], "".join(row[1] for row in self.table("episodes")))
        self.assertIn("‹U+202E›gnp.exe", "".join(row[1] for row in self.table("episodes")))

    def test_nothing_found_is_a_page_too(self):
        for name in ("weak", "other"):
            spikeweave("episodes", self.folder / f"{name}.tsv", "--delays", "4-6ms", "--min-count", "100000", "--test", "exact", "-o", self.folder / f"no-{name}")
        spikeweave("report", self.folder / "no-weak", self.folder / "no-other", "--as", "series", "-o", self.folder / "none.html")

        self.open(self.folder / "none.html")
        self.press("#step-on")

        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertIn("there is no circuit", self.one("#series").text)
        self.assertEqual(self.position(), 1)


class SideBySide(ComparedPage):
    """The same data beside each other, compared with the first."""

    view = "side-by-side"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folders = []
        for name, probability in (("control", "0.3"), ("drug", "0.7"), ("washout", "0.5")):
            spikeweave("simulate", "sym26", "--length", "20s", "--probability", probability, "--seed", "3", "-o", cls.folder / f"{name}.tsv")
            spikeweave("episodes", cls.folder / f"{name}.tsv", "--delays", "4-6ms,8-12ms", "--min-count", "60", "-o", cls.folder / name)
            folders.append(cls.folder / name)
        cls.show(folders)

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()

    def test_opens_on_the_best_finding(self):
        self.assert_opens_on_the_best_of_the_last()

    def test_numbers_are_those_of_the_tables(self):
        self.assert_numbers_of_the_tables()

    def test_changes_are_from_the_first(self):
        self.assert_changes_and_their_test([(0, 1), (0, 2)])

    def test_each_recording_has_its_circuit(self):
        places = [[node.get_attribute("transform") for node in picture.find_elements(By.CSS_SELECTOR, "g.node")]
                  for picture in self.driver.find_elements(By.CSS_SELECTOR, "svg.circuit")]
        self.assertEqual(len(places), 3)
        self.assertEqual(places, 3 * [places[0]])
        for k, pairs in enumerate(self.circuits):
            self.assertEqual({pair for kind, found in self.arrows(k).items() if kind != "gone" for pair in found}, pairs)

    def test_picks_in_all_at_once(self):
        self.press("#episodes tbody tr:nth-child(3) button")
        picked = [one.get_attribute("data-number") for one in self.driver.find_elements(By.CSS_SELECTOR, "g.edge[aria-pressed=true], #episodes tr.picked")]
        self.assertEqual(set(picked), {picked[0]})

    def test_nobody_is_left_out(self):
        self.assert_accessible()


@unittest.skipUnless(CULTURES.is_dir(), "there are no shared data")
class CultureOverDays(SeriesChecks, ComparedPage):
    """Culture 6-2 of Wagenaar, Pine and Potter (2006) on five days, which begins to burst."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folders = []
        for day in (10, 13, 17, 24, 28):
            folders.append(cls.folder / f"6-2-{day}")
            spikeweave("episodes", CULTURES / f"6-2-{day}.spk.txt", "--delays", "0-5ms,5-10ms,10-20ms", "--min-count", "15", "--max-size", "2", "-o", folders[-1])
        cls.show(folders)

    def test_units_stand_where_their_electrodes_are(self):
        nodes = self.driver.execute_script("return [...document.querySelectorAll('svg.circuit g.node')].map((one) => [one.querySelector('title').textContent, one.getAttribute('transform')])")
        shown = np.array([[float(value) for value in re.findall(r"[\d.]+", place)] for _, place in nodes])
        units = [self.data["unit_names"].index(name) for name, _ in nodes]
        for axis, key, sign in ((0, "x_um", 1), (1, "y_um", -1)):
            electrodes = np.array([self.data["places"][key][unit] for unit in units])
            self.assertGreater(sign * np.corrcoef(shown[:, axis], electrodes)[0, 1], 0.99)


if __name__ == "__main__":
    unittest.main()
