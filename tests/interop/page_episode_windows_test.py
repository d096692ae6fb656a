"""Pages of episodes in windows in Chromium, which plays them.

Usage: page_episode_windows_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its
packages.
"""

import random
import unittest

from browser import NASTY, By, edge_of, rows_of, spikeweave
from page_data import data_of, with_data
from page_session_test import PLACES, SEARCH, PageOfWindows, spikes_of_session


class EpisodesInWindows(PageOfWindows):
    """The result of `windows`, and its page."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.spikes = cls.folder / "today.tsv"
        cls.spikes.write_text("time_s\tunit\n" + "".join(f"{time_us / 1e6:.6f}\t{unit}\n" for time_us, unit in spikes_of_session()), encoding="utf-8")
        spikeweave("windows", cls.spikes, *SEARCH[:-4], "--change-points", "-o", cls.out)
        cls.read_page()

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertIn(f"{len(self.windows)} windows", self.one("#summary").text)
        self.assertIn("--window 8s --hop 4s", self.one("#command").text)
        self.assert_accessible()

    def test_says_how_many_edges_and_chains_it_follows(self):
        def change(data):
            data["episodes_in_circuits"] = 5_000

        listed = len(self.data["episodes"]["units"])
        self.assertIn(f", {listed} edges and chains", self.one("#summary").text)
        self.open_changed(change)
        self.assertIn(f", {listed} of 5,000 edges and chains", self.one("#summary").text)

    def test_numbers_are_those_of_the_tables(self):
        windows = rows_of(self.out / "windows.tsv")
        self.assertEqual(len(windows), len(self.windows))
        listed = {(row["window"], row["episode"]): row for row in rows_of(self.out / "window_episodes.tsv")}
        edges = rows_of(self.out / "window_circuits.tsv")
        compared = edges_seen = 0
        for k, window in enumerate(windows):
            self.seek(k)
            self.assertIn(f"{int(window['spikes']):,} spikes, {window['edges']} significant edges, threshold {window['threshold']}", self.one("#window-status").text)
            circuit = [row for row in edges if row["window"] == window["window"]]
            self.assertEqual(len(circuit), int(window["edges"]))
            for row, units, delays in zip(self.table("episodes"), self.data["episodes"]["units"], self.data["episodes"]["delays_ms"], strict=True):
                names = [self.data["unit_names"][unit] for unit in units]
                text = names[0] + "".join(f" {low:g}-{high:g}ms {name}" for (low, high), name in zip(delays, names[1:]))
                expected = listed.get((window["window"], text))
                if expected is not None:
                    self.assertEqual(int(row[1]), int(expected["count"]))
                    compared += 1
                elif len(names) > 2:
                    self.assertLess(int(row[1]), int(window["threshold"]))
                if len(names) == 2:  # whether it is an edge is decided by the circuit
                    edge = next((one for one in circuit if [one["from"], one["to"]] == names and edge_of(one, delays[0])), None)
                    expected = edge and {"q": edge["q"], "significant": "yes"}
                    self.assertEqual(row[6], edge["kind"] if edge else "–")
                    edges_seen += edge is not None
                if expected is None:
                    self.assertEqual([row[2], row[5]], ["–", "no"])
                else:
                    self.assert_shown(row[2], expected["q"])
                    self.assertEqual(row[5], expected["significant"])
        self.assertGreater(compared, 20)
        self.assertGreater(edges_seen, 10)

    def test_says_when_the_circuit_changes(self):
        told = self.one("#about").get_attribute("textContent")
        rows = rows_of(self.out / "change_points.tsv")
        for name, words in (("circuit", "changes of the circuit"), ("firing-rates", "changes of the firing rates")):
            found = [row for row in rows if row["of"] == name and row["significant"] == "yes"]
            points = [f"at {float(row['time_s']):g} s (p {float(row['p']):g})" for row in found]
            others = [f"none is significant (p {float(row['p']):g})" for row in rows if row["of"] == name]
            self.assertIn(words + (", ".join(points) if points else others[0]), told)

    def test_plays_and_shows_changes(self):
        places = self.driver.execute_script(PLACES)
        seen = set()
        for k, window in enumerate(self.windows):
            self.seek(k)
            self.assertEqual(self.view()[:2], [window["begin_us"], window["end_us"]])
            self.assertEqual(len(self.table("changes")), len(window["changes"]))
            seen |= set(self.arrows())
            self.assertEqual(self.driver.execute_script(PLACES), places)
        self.assertLessEqual({"new", "gone"}, seen)
        self.assertEqual(self.counts("#overview"), [window["edges"] for window in self.windows])
        self.seek(0)
        self.driver.execute_script("document.getElementById('speed').value = '100'")
        self.press("#play")
        self.until(lambda: self.one("#play").text == "Play")
        self.assertEqual(self.position(), len(self.windows) - 1)

    def test_report_makes_the_same_page_again(self):
        spikeweave("report", self.out, "-o", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_text(encoding="utf-8"), self.html)

    def test_names_are_never_markup(self):
        def change(data):
            data["unit_names"][:len(NASTY)] = NASTY[:len(data["unit_names"])]

        self.open_nasty(change)
        self.seek(6)
        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertIn(NASTY[0], "".join(row[3] for row in self.table("episodes")))


def spikes_that_change():
    """Six units of 10 Hz; the chain n0, n1, n2 at 4 Hz from 60 s on; n5 nearly falls silent at 90 s."""
    draw = random.Random(20261126)
    spikes = set()
    for unit in range(6):
        now = draw.expovariate(10)
        while now < 120:
            if unit < 5 or now < 90 or draw.random() < 0.1:
                spikes.add((round(now * 1e6), f"n{unit}"))
            now += draw.expovariate(10)
    now = 60 + draw.expovariate(4)
    while now < 120:
        spikes |= {(round(now * 1e6) + 5000 * unit, f"n{unit}") for unit in range(3)}
        now += draw.expovariate(4)
    return sorted(spikes)


class ChangesInWindows(PageOfWindows):
    """The same, of a recording in which the circuit and the firing rates change."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikes = cls.folder / "today.tsv"
        spikes.write_text("time_s\tunit\n" + "".join(f"{time_us / 1e6:.6f}\t{unit}\n" for time_us, unit in spikes_that_change()), encoding="utf-8")
        spikeweave("windows", spikes, "--delays", "4-6ms,8-12ms", "--min-count", "8", "--max-size", "2", "--window", "4s", "--hop", "2s", "--change-points", "-o", cls.out)
        cls.read_page()

    def test_marks_changes_on_the_strip(self):
        """Where the first window begins after each change; the words are in its text, the picture's and the legend."""
        found = [row for row in rows_of(self.out / "change_points.tsv") if row["of"] in ("circuit", "firing-rates") and row["significant"] == "yes"]
        self.assertEqual({row["of"] for row in found}, {"circuit", "firing-rates"})
        words = {"circuit": "the circuit changes", "firing-rates": "the firing rates change"}
        for row in found:
            row["text"] = f"{words[row['of']]} at {float(row['time_s']):g} s (p {float(row['p']):g})"
            row["step"] = next(k for k, window in enumerate(self.windows) if window["begin_us"] >= 1e6 * float(row["time_s"]))
        marks = self.driver.find_elements(By.CSS_SELECTOR, "#overview .change")
        self.assertEqual({(one.get_attribute("textContent"), int(one.get_attribute("data-step"))) for one in marks}, {(row["text"], row["step"]) for row in found})
        strip = self.one("#overview").rect
        for one in marks:
            middle = one.rect["x"] + one.rect["width"] / 2 - strip["x"]
            self.assertAlmostEqual(middle, strip["width"] * int(one.get_attribute("data-step")) / len(self.windows), delta=4)
        for row in found:
            when = row["text"].split(" at ")[1]
            for told in (self.one("#overview").get_attribute("aria-label"), self.one("#changes-note").text):
                self.assertIn(words[row["of"]], told)
                self.assertIn(when, told)

        data = data_of(self.html)
        del data["run"]["search"]["change_points"]
        page = self.folder / "unasked.html"
        page.write_text(with_data(self.html, data), encoding="utf-8")
        self.open(page)
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "#overview .change, #changes-note"), [])
        self.assertNotIn("change", self.one("#overview").get_attribute("aria-label"))

    def test_nobody_is_left_out(self):
        self.assert_quiet()
        self.assert_accessible()


if __name__ == "__main__":
    unittest.main()
