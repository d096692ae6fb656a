"""The dashboard of `spikeweave live` in Chromium: its numbers are those of the results, and it can be paused.

Usage: dashboard_test.py SPIKEWEAVE [--update]. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import contextlib
import json
import sqlite3
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from browser import NASTY, SPIKEWEAVE, By, PageCase

CHAIN = ["a", "b<img src=x onerror='window.hit = 1'>", "c"]


class Dashboard(PageCase):
    """A session that takes lines from the test, and Chromium that shows it."""

    def setUp(self):
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.found = self.folder / f"{self.id()}.jsonl"
        armed = self.folder / "armed.txt"
        armed.write_text(" 4-6ms ".join(f'"{name}"' for name in CHAIN) + "\n", encoding="utf-8")
        self.process = subprocess.Popen(
            [SPIKEWEAVE, "live", "-", "--episodes", armed, "--delays", "4-6ms", "--min-count", "2", "--window", "1s",
             "--track-every", "100ms", "--to", self.found, "--dashboard"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.address = self.process.stderr.readline().strip()
        self.assertRegex(self.address, r"^http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}$")
        self.base = self.address.split("?")[0]

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(timeout=60)
        self.process.stderr.close()

    def send(self, *spikes):
        """Sends pairs of a time in milliseconds and a unit."""
        for time_ms, unit in spikes:
            self.process.stdin.write(json.dumps({"t_us": round(1000 * time_ms), "unit": unit}) + "\n")
        self.process.stdin.flush()

    def chains(self, begin_ms, number):
        """Sends as many occurrences of the chain, ten in a second."""
        for i in range(number):
            self.send(*((begin_ms + 100 * i + 5 * k, name) for k, name in enumerate(CHAIN)))

    def count(self, key):
        return self.driver.execute_script("return document.querySelector(`[data-count=${arguments[0]}]`)?.textContent.replaceAll(',', '') ?? null", key)

    def wait_for(self, key, value):
        end = time.monotonic() + 30
        while self.count(key) != str(value):
            self.assertLess(time.monotonic(), end, f"{key} is {self.count(key)}")
            time.sleep(0.05)

    def finish(self):
        """Ends the session; returns its results."""
        self.process.stdin.close()
        self.process.wait(timeout=60)
        end = time.monotonic() + 30
        # Names may come after the frame that has their units, which are shown by their numbers until then.
        while self.one("#summary").text != "The session has ended" or self.driver.find_elements(By.XPATH, "//td[starts-with(., '#')]"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.frame()
        return [json.loads(line) for line in self.found.read_text(encoding="utf-8").splitlines()]

    def test_shows_what_the_results_say(self):
        self.driver.get(self.address)
        self.assertEqual(self.driver.current_url, self.base)  # the token is not shown
        self.chains(0, 40)
        self.wait_for("spikes", 120)
        self.assertNotIn("lost", self.one("#losses").get_attribute("class"))

        results = self.finish()

        stats = results[-1]
        for key in ("spikes", "detections", "windows", "epochs", "units", "late", "unreadable", "skipped"):
            self.assertEqual(self.count(key), str(stats[key]), key)
        detections = [one for one in results if one["type"] == "detection"]
        self.assertEqual(len(detections), 40)
        rows = [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
                for row in self.driver.find_elements(By.CSS_SELECTOR, "#detections tbody tr")]
        expected = [[str(number), *(f"{time_us / 1e6:.6f} s" for time_us in one["t_us"]), " → ".join(CHAIN), ""]
                    for number, one in enumerate(detections, 1)]
        self.assertEqual(rows, expected[:-31:-1])
        window = [one for one in results if one["type"] == "window"][-1]
        self.assertEqual(self.one("#window").get_attribute("data-window"), str(window["window"]))
        pairs = {(*one["units"], one["count"]) for one in window["episodes"] if len(one["units"]) == 2}
        shown = [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
                 for row in self.driver.find_elements(By.CSS_SELECTOR, "#pairs tbody tr")]
        self.assertEqual({(row[0], row[1], int(row[3])) for row in shown if row[5] != "gone"}, pairs)
        self.assertEqual({row[3] for row in shown if row[5] == "gone"} - {"–"}, set())
        drawn = {title.get_attribute("textContent").split(":")[0] for title in self.driver.find_elements(By.CSS_SELECTOR, "#circuit .edge title")}
        self.assertEqual(drawn, {f"{a} to {b}" for a, b, _ in pairs})  # ten in a second, where chance gives 0.2
        monitored = [cell.text for cell in self.driver.find_elements(By.CSS_SELECTOR, "#armed tbody td")]
        self.assertEqual(monitored[:3], [" → ".join(CHAIN), "40", str(stats["triggers"])])
        self.assertRegex(self.one("#latencies").text, r"^median ≤ [\d.]+ (µs|ms), 99 % ≤ [\d.]+ (µs|ms|s), 99.9 % ≤ [\d.]+ (µs|ms|s)$")
        stages = [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in self.driver.find_elements(By.CSS_SELECTOR, "#stages tbody tr")]
        triggers = str(stats["triggers"])
        self.assertEqual([row[:2] for row in stages], [["spike to detection", "40"], ["detection to destinations", triggers],
                                                       ["samples or spike to destinations", triggers]])
        for row in stages:
            for text in row[2:]:
                self.assertRegex(text, r"^[\d.]+ (µs|ms|s)$")
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, "#tracked path.count")), 1)
        self.assertIsNone(self.driver.execute_script("return window.hit ?? null"))
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_nobody_is_left_out(self):
        self.driver.get(self.address)
        self.chains(0, 40)
        self.wait_for("spikes", 120)
        self.finish()
        self.assert_accessible()

    def test_every_view_looks_as_it_did(self):
        """But for latencies, which are those of this computer."""
        self.resize(1280, 4000)
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.driver.get(self.address)
        self.chains(0, 40)
        self.wait_for("spikes", 120)
        self.finish()
        for view in ("spikes", "firing", "monitored", "found", "followed", "circuit"):
            with self.subTest(view):
                self.assert_looks_as_kept(view, f"dashboard-{view}")
        self.assertEqual(self.one("#theme").text, "Dark")
        self.press("#theme")
        self.assertEqual((self.one("#theme").text, self.driver.execute_script("return getComputedStyle(document.documentElement).colorScheme")), ("Light", "dark"))

    def test_lists_what_chance_does_not_give(self):
        """Two units that fire fast are a frequent pair, and no finding."""
        self.driver.get(self.address)
        spikes = [(7 * i + i % 3, "fast") for i in range(570)] + [(11 * i + i % 5, "slow") for i in range(360)]
        spikes += [(100 * i + 5 * k, name) for i in range(40) for k, name in enumerate(CHAIN)]
        self.send(*sorted(spikes))
        self.wait_for("spikes", len(set(spikes)))
        window = [one for one in self.finish() if one["type"] == "window"][-1]

        frequent = {tuple(one["units"]) for one in window["episodes"] if len(one["units"]) == 2}
        rows = self.driver.execute_script("return [...document.querySelectorAll('#pairs tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        self.assertIn(("fast", "slow"), frequent)
        self.assertEqual({tuple(row[:2]) for row in rows if row[5] != "gone"}, set(zip(CHAIN, CHAIN[1:])))
        for cells in ("#pairs tbody td:nth-child(4)", "#pairs thead th:nth-child(7)", "#rates td:nth-child(2)", "#detections td:nth-child(1)"):
            self.assertEqual(self.one(cells).value_of_css_property("text-align"), "right", cells)

    def test_says_that_nothing_has_arrived(self):
        self.driver.get(self.address)
        self.until(lambda: self.count("units") == "3")
        self.frame()
        for view in (".raster", "#population"):
            self.assertEqual(self.one(view).text, "No spikes have arrived yet.")
        self.assertEqual(self.one("#detections").text, "Nothing has been detected yet.")
        self.assertEqual(self.one("#latency").text, "No spikes have been processed yet.")
        self.chains(0, 2)
        self.wait_for("spikes", 6)
        self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, ".raster canvas"))
        self.assertEqual(self.one(".raster").text, "")

    def test_shows_what_came_before_it_was_opened(self):
        self.chains(0, 40)
        self.until(lambda: self.found.exists() and self.found.read_text(encoding="utf-8").count('"detection"') == 40)
        time.sleep(0.2)  # of several frames
        self.driver.get(self.address)
        self.wait_for("spikes", 120)
        columns = [int(self.one("#spikes input").get_attribute(end)) for end in ("min", "max")]
        self.assertEqual(columns[0], 0)
        self.assertGreaterEqual(columns[1], 390)
        self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, "#tracked path.count"))

    def test_names_a_window_that_came_before_its_names(self):
        late = "const ask = fetch; const held = new Promise((go) => { window.release = go; }); window.fetch = async (...what) => { await held; return ask(...what); };"
        added = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": late})
        self.addCleanup(self.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", added)

        def units():
            return self.driver.execute_script("return [...document.querySelectorAll('#pairs tbody td:nth-child(-n+2)')].map((cell) => cell.textContent)")

        self.driver.get(self.address)
        self.chains(0, 40)

        self.until(lambda: "#0" in units())
        self.driver.execute_script("window.release()")
        self.until(lambda: CHAIN[0] in units())
        self.assertLessEqual(set(units()), set(CHAIN))

    def test_joins_the_spikes_of_a_detection(self):
        # In colour between the rows of two units, where only lines of chains are.
        coloured = """
            const canvas = document.querySelector(".raster canvas");
            const height = (canvas.height - 34) / 3;
            const row = canvas.getContext("2d").getImageData(90, Math.round(arguments[0] * height), canvas.width - 102, 1).data;
            let number = 0;
            for (let at = 0; at < row.length; at += 4) number += Math.abs(row[at] - row[at + 2]) > 60;
            return number;"""
        self.driver.get(self.address)
        self.driver.execute_script("const choice = document.querySelector('#spikes select'); choice.value = 2; choice.dispatchEvent(new Event('change'));")
        self.send((0, CHAIN[0]), (100, CHAIN[1]), (200, CHAIN[2]), (500, CHAIN[0]))
        self.wait_for("spikes", 4)
        self.frame()
        self.assertEqual(self.driver.execute_script(coloured, 1), 0)

        self.chains(600, 2)
        self.send((1000, CHAIN[0]))
        self.wait_for("detections", 2)
        self.until(lambda: self.driver.execute_script(coloured, 1) >= 2)
        self.assertGreaterEqual(self.driver.execute_script(coloured, 2), 2)

    def test_is_served_at_another_address_if_that_is_asked_for(self):
        other = subprocess.Popen([SPIKEWEAVE, "live", "-", "--delays", "4-6ms", "--dashboard", "--listen", "127.0.0.2"], stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        address = other.stderr.readline().strip()
        self.assertRegex(address, r"^http://127\.0\.0\.2:\d+/\?token=[0-9a-f]{32}$")
        self.driver.get(address)
        self.until(lambda: self.one("#summary").text == "The session is running")
        other.stdin.close()
        self.assertEqual(other.wait(timeout=60), 0)
        self.assertEqual(other.stderr.read(), "")
        other.stderr.close()

    def test_turns_red_when_something_is_lost(self):
        self.driver.get(self.address)
        self.chains(0, 5)
        self.wait_for("spikes", 15)
        self.send((1, "a"))
        self.process.stdin.write("?\n")
        self.process.stdin.flush()

        self.wait_for("late", 1)
        self.wait_for("unreadable", 1)
        self.assertIn("lost", self.one("#losses").get_attribute("class"))

    def test_shows_the_motion_that_is_followed(self):
        """A recording that moves by 30 um within the last 20 s of 30."""
        self.end()
        recording, session = self.folder / "moved", self.folder / "moved.session"
        subprocess.run([SPIKEWEAVE, "simulate", "recording", "--channels", "16", "--length", "30s", "--units", "6", "--low-rate", "15",
                        "--high-rate", "25", "--seed", "2", "--drift", "30um", "--drift-start", "10s", "-o", recording],
                       check=True, capture_output=True)
        self.process = subprocess.Popen(
            [SPIKEWEAVE, "live", recording, "--learn", "9s", "--drift", "rigid", "--labels", "all", "--speed", "6", "--window", "5s",
             "--delays", "0-5ms", "--min-count", "50", "--record", session, "--to", self.folder / "moved.jsonl", "--dashboard"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        address = next(line for line in self.process.stderr if line.startswith("http")).strip()
        self.driver.get(address)
        end = time.monotonic() + 60
        while self.one("#summary").text != "The session has ended" and time.monotonic() < end:
            time.sleep(0.1)
        self.frame()
        line = self.one("#motion path.count")
        with contextlib.closing(sqlite3.connect(session)) as database:
            (steps,) = database.execute("SELECT value FROM meta WHERE name = 'motion'").fetchone()
        last_um = float(steps.split()[-1])
        self.assertGreater(abs(last_um), 5)
        # The line begins at no displacement, and ends at the last one.
        heights = [float(point.split(",")[1]) for point in line.get_attribute("d").replace("L", "M").split("M")[1:]]
        self.assertEqual(heights[-1] < heights[0], last_um > 0)
        self.assertGreater(abs(heights[-1] - heights[0]), 20)
        self.process.wait(timeout=60)

    def test_can_be_paused_while_the_recording_goes_on(self):
        pixels = "return document.querySelector('.raster canvas').toDataURL()"
        self.driver.get(self.address)
        self.chains(0, 20)
        self.wait_for("spikes", 60)
        self.press("#live")
        self.frame()
        paused = self.driver.execute_script(pixels)

        self.chains(3000, 20)
        self.wait_for("spikes", 120)
        self.assertEqual(self.driver.execute_script("return document.querySelector('#live').textContent"), "Live")

        self.press("#live")
        self.frame()
        now = self.driver.execute_script(pixels)
        self.assertNotEqual(now, paused)

        self.type("#spikes input", "100")  # a second after the begin
        self.frame()
        self.assertNotIn(self.driver.execute_script(pixels), (now, paused))

    def test_names_are_text(self):
        self.driver.get(self.address)
        self.send(*((10 * i, name) for i, name in enumerate(NASTY)), (1000, "last"))
        self.wait_for("spikes", 1 + sum(name.isprintable() for name in NASTY))
        self.finish()

        self.assertIsNone(self.driver.execute_script("return window.hit ?? null"))
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "main img, main script"), [])
        shown = {cell.text for cell in self.driver.find_elements(By.CSS_SELECTOR, "#rates td:first-child")}
        self.assertIn(NASTY[0], shown)

    def test_shows_nothing_without_the_token(self):
        for target in ("", "?token=" + "0" * 32, "session.json"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(self.base + target, timeout=10)
            self.assertEqual(refused.exception.code, 403, target)
            refused.exception.close()


if __name__ == "__main__":
    unittest.main()
