"""Pages of recorded sessions in Chromium, which plays their windows.

Usage: page_session_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import json
import random
import signal
import sqlite3
import subprocess
import time
import unittest

from browser import NASTY, SPIKEWEAVE, By, Keys, PageCase, np, number_in, rows_of, spikeweave
from page_data import data_of, numbers, with_data
from page_series_test import benjamini_hochberg, binomial_p, count_pairs

LENGTH_S, BEGIN_S, END_S = 60, 20, 40
WINDOW_S, HOP_S = 8, 4
SEARCH = ("--delays", "4-6ms,8-12ms", "--min-count", "8", "--max-size", "3", "--window", f"{WINDOW_S}s", "--hop", f"{HOP_S}s", "--window-budget", "none",
          "--threads", "1")
PLACES = "return [...document.querySelectorAll('g.node')].map((one) => one.getAttribute('transform')).join()"


def spikes_of_session(length_s=LENGTH_S):
    """Six units of 10 Hz, and the chain n0, n1, n2 with 5 ms between them, at 8 Hz, in the middle."""
    draw = random.Random(20261126)
    spikes = set()
    for unit in range(6):
        now = draw.expovariate(10)
        while now < length_s:
            spikes.add((round(now * 1e6), f"n{unit}"))
            now += draw.expovariate(10)
    now = BEGIN_S + draw.expovariate(8)
    while now < END_S:
        spikes |= {(round(now * 1e6) + 5000 * unit, f"n{unit}") for unit in range(3)}
        now += draw.expovariate(8)
    return sorted(spikes)


def line_of(time_us, unit):
    return json.dumps({"t_us": time_us, "unit": unit}) + "\n"


def query(path, sql):
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    rows = database.execute(sql).fetchall()
    database.close()
    return rows


class PageOfWindows(PageCase):
    """A page in `out` that plays windows."""

    @classmethod
    def read_page(cls):
        super().read_page()
        cls.windows = cls.data["windows"]
        cls.trains = []
        for one in cls.data["epochs"]:
            times = one["begin_us"] + np.cumsum(numbers(one["steps_us"]))
            units = np.array(numbers(one["units"]))
            cls.trains.append([times[units == i] for i in range(len(cls.data["unit_names"]))])

    def seek(self, position):
        self.type("#position", str(position))
        self.frame()

    def position(self):
        return float(self.one("#recording").get_attribute("data-position"))

    def view(self):
        return [float(word) for word in self.one("#raster .where").get_attribute("data-view").split()[:3]]

    def arrows(self):
        """Returns the numbers of the arrows that are seen, by what is said of the change."""
        shown = self.driver.execute_script("""
            return [...document.querySelectorAll('svg.circuit g.edge')].filter((one) => one.style.display !== 'none')
              .map((one) => [one.classList[1], Number(one.dataset.number)])""")
        found = {}
        for kind, number in shown:
            found.setdefault(kind, set()).add(number)
        return found

    def colours(self):
        """Returns the numbers of pixels of the raster that are red and that are blue."""
        return self.driver.execute_script("""
            const canvas = document.querySelector('#raster canvas');
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let [red, blue] = [0, 0];
            for (let i = 0; i < data.length; i += 4) {
              if (data[i] > data[i + 2] + 40 && Math.abs(data[i + 1] - data[i + 2]) < 25) ++red;
              if (data[i + 2] > data[i] + 100) ++blue;
            }
            return [red, blue]""")


class SessionPage(PageOfWindows):
    """A session and its page."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.out.mkdir()
        cls.session = cls.folder / "today.session"

    @classmethod
    def record(cls, name, text, *options):
        stream = cls.folder / name
        stream.write_text(text, encoding="utf-8")
        done = subprocess.run([SPIKEWEAVE, "live", str(stream), *map(str, options), "--record", str(cls.session)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode in (0, 1), done.stderr  # 1: something was lost

    @classmethod
    def show(cls):
        spikeweave("report", cls.session, "-o", cls.out / "report.html")
        cls.read_page()


class Busy(SessionPage):
    """Armed episodes, triggers that are held off, a message that cannot be read and a spike that is late."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        armed = cls.folder / "armed.txt"
        armed.write_text("n0 4-6ms n1 4-6ms n2\nn3 8-12ms n4\n", encoding="utf-8")
        lines, was_lost = [], False
        for time_us, unit in spikes_of_session():
            if time_us > 50_000_000 and not was_lost:
                lines += ["this is not JSON\n", line_of(49_000_000, "n1")]
                was_lost = True
            lines.append(line_of(time_us, unit))
        cls.record("today.jsonl", "".join(lines) + '{"watermark_us":60000000}\n', "--episodes", armed, "--hold-off", "300ms", *SEARCH)
        cls.show()

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()
        self.assertIn(f"{len(self.windows)} windows", self.one("#summary").text)
        self.assertEqual(self.one("#verdict").text, self.data["run"]["summary"])
        triggers = sum(not suppressed for suppressed in self.data["detections"]["suppressed"])
        suppressed = self.data["detections"]["total"] - triggers
        self.assertRegex(self.one("#verdict").text, rf"^{triggers} triggers and {suppressed} suppressed detections in [\d,]+ spikes of \d+ units; 2 episodes monitored; ")
        self.assertRegex(self.one("#verdict").text, rf" monitored; {len(self.windows)} windows\. 1 warning\.$")
        self.assertEqual([one.text for one in self.driver.find_elements("css selector", "#verdict + #warnings li")],
                         ["0 messages were lost, 1 was unreadable, 1 spike was late."])
        self.assertEqual(len(self.windows), query(self.session, "SELECT count(*) FROM window")[0][0])

    def test_numbers_are_those_of_the_session(self):
        """Of each window: its spikes, its counts, and the frequent episodes that the session had."""
        recorded = query(self.session, "SELECT begin_us, end_us, spikes, threshold, episodes FROM window ORDER BY seq")
        compared = 0
        for k, (begin, end, spikes, threshold, episodes) in enumerate(recorded):
            self.seek(k)
            self.assertIn(f"{spikes:,} spikes", self.one("#window-status").text)
            self.assertIn(f"threshold {threshold}", self.one("#window-status").text)
            table = {tuple(map(str, chain)): count for count, chain in json.loads(episodes)}
            for row, units, delays in zip(self.table("episodes"), self.data["episodes"]["units"], self.data["episodes"]["delays_ms"], strict=True):
                chain = [self.data["unit_names"][units[0]]]
                for unit, delay in zip(units[1:], delays):
                    chain += [[round(1000 * ms) for ms in delay], self.data["unit_names"][unit]]
                key = tuple(map(str, chain))
                count = int(row[1])
                self.assert_shown(row[4], count / WINDOW_S)
                if key in table:
                    self.assertEqual(count, table[key])
                    compared += 1
                elif len(units) > 2:
                    self.assertLess(count, threshold)
                    self.assertEqual([row[2], row[5]], ["–", "no"])
                if len(units) == 2:
                    inside = [times[(times >= begin) & (times < end)] for times in self.trains[0]]
                    self.assertEqual(count, count_pairs(inside[units[0]], inside[units[1]], *(1000 * ms for ms in delays[0])))
        self.assertGreater(compared, 10)

    def test_each_step_shows_its_window(self):
        places = self.driver.execute_script(PLACES)
        seen = set()
        for k, window in enumerate(self.windows):
            with self.subTest(k):
                self.assertEqual(self.position(), k)
                self.assertIn(f"({k + 1} of {len(self.windows)})", self.one("#recording").text)
                times = np.concatenate(self.trains[0])
                inside = np.count_nonzero((times >= window["begin_us"]) & (times < window["end_us"]))
                self.assertEqual(self.view(), [window["begin_us"], window["end_us"], inside])
                self.assertEqual(inside, window["spikes"])
                significant = {row + 1 for row, _, is_significant, *_ in window["found"] if is_significant and len(self.data["episodes"]["units"][row]) == 2}
                gone = {row + 1 for row, _, _, word in window["changes"] if word == "gone" and len(self.data["episodes"]["units"][row]) == 2}
                found = self.arrows()
                self.assertEqual(found.get("gone", set()), gone)
                self.assertEqual(set().union(*(rows for kind, rows in found.items() if kind != "gone")), significant)
                seen |= set(found)
                self.assertEqual(self.driver.execute_script(PLACES), places)
            self.press("#step-on")
        self.assertLessEqual({"new", "gone"}, seen)

    def test_changes_are_tested_against_windows_that_share_no_spike(self):
        shown = {}
        for k in range(len(self.windows)):
            self.seek(k)
            shown[k] = self.table("changes")
        p = []
        for window in self.windows:
            if window["since"] is None:
                continue
            self.assertLessEqual(self.windows[window["since"]]["end_us"], window["begin_us"])
            for before, after in zip(self.windows[window["since"]]["counts"], window["counts"]):
                p.append(binomial_p(before, after, 0.5))
        q = benjamini_hochberg(p)
        at, said = 0, 0
        for k, window in enumerate(self.windows):
            if window["since"] is None:
                self.assertEqual(shown[k], [])
                continue
            significant = [{row for row, _, is_significant, *_ in one["found"] if is_significant} for one in (self.windows[window["since"]], window)]
            inhibited = {row for one in (self.windows[window["since"]], window) for row, *_, sign in one["found"] if sign == "inhibitory"}
            expected = []
            for row, (before, after) in enumerate(zip(self.windows[window["since"]]["counts"], window["counts"])):
                was, now = (row in rows for rows in significant)
                if q[at] <= 0.05 and (was or now):
                    word = "new" if not was else "gone" if not now else "stronger" if (after > before) != (row in inhibited) else "weaker"
                    expected.append((word, str(before), str(after), p[at], q[at]))
                at += 1
            self.assertEqual(sorted(one[:3] for one in expected), sorted((row[1], *row[4:6]) for row in shown[k]))
            for one, row in zip(sorted(expected), sorted(shown[k], key=lambda row: (row[1], *row[4:6], number_in(row[7])))):
                for value, cell in zip(one[3:], (row[7], row[2])):
                    self.assert_shown(cell, value)
                said += 1
        self.assertEqual(at, self.data["comparisons"])
        self.assertGreater(said, 3)
        self.assertIn("shares no spike", self.one("#test-note").text)

    def test_detections_are_those_of_the_session(self):
        recorded = [(np.frombuffer(times, "<i8"), armed, suppressed) for times, armed, suppressed in
                    query(self.session, "SELECT times, armed, suppressed FROM detection ORDER BY seq")]
        self.press("#detections tbody tr:nth-child(3) button")
        begin, end, _ = self.view()
        self.assertTrue(begin < recorded[2][0].min() and recorded[2][0].max() < end)
        self.assertLess(end - begin, 1e6)
        shown = self.table("detections")
        self.assertEqual(len(shown), len(recorded))
        for row, (times, armed, suppressed) in zip(shown, recorded):
            self.assertEqual(row[2:5], [f"{times.max() / 1e6:.6f} s", ["yes", "no: hold-off"][suppressed], str(armed)])

    def test_marks_detections_and_losses_in_the_raster(self):
        self.seek(int(BEGIN_S / HOP_S) + 1)
        red, blue = self.colours()
        self.assertEqual(red, 0)
        self.assertGreater(blue, 100)
        lost = [k for k, window in enumerate(self.windows) if window["begin_us"] <= 50_000_000 < window["end_us"]]
        self.assertTrue(lost)
        self.assertTrue(all(self.windows[k]["has_gap"] for k in lost))
        self.seek(lost[0])
        self.assertGreater(self.colours()[0], 100)
        self.assertIn("may lack spikes", self.one("#window-status").text)
        ends = np.array([max(times) for times in self.data["detections"]["times_us"]])
        self.assertEqual(self.counts("#overview"), [np.count_nonzero((ends >= window["begin_us"]) & (ends < window["end_us"])) for window in self.windows])
        flags = self.one("#overview").get_attribute("data-lost").split()
        self.assertEqual([k for k, flag in enumerate(flags) if flag == "1"], [k for k, window in enumerate(self.windows) if window["has_gap"]])

    def test_says_which_spikes_the_page_lacks(self):
        self.assertNotIn("newest", self.one("main").text)
        data = data_of(self.html)
        shown = sum(one["number"] for one in data["epochs"])
        data["epochs"][0]["left_out"] = 1234
        page = self.folder / "newest.html"
        page.write_text(with_data(self.html, data), encoding="utf-8")

        self.open(page)

        self.assertIn(f"{shown + 1234:,}", self.one("#about").text)

    def test_lists_what_was_lost(self):
        rows = self.table("losses")
        self.assertEqual(sum(int(row[5]) for row in rows), 1)
        self.assertEqual(sum(int(row[6]) for row in rows), 1)
        text = self.one("#lost").text
        self.assertIn("messages and spikes that could not be read: 1", text)
        self.assertIn("spikes that came too late: 1", text)

    def test_steps_seeks_and_plays(self):
        self.press("#step-back")
        self.assertEqual(self.position(), 0)
        self.one("#position").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.position(), 1)
        self.seek(1.75)
        begin, end, _ = self.view()
        self.assertEqual(end - begin, WINDOW_S * 1e6)
        self.assertEqual(end, self.windows[1]["end_us"] + 0.75 * HOP_S * 1e6)
        self.press("#step-on")
        self.assertEqual(self.position(), 2)
        self.driver.execute_script("document.getElementById('speed').value = '1'")
        began = time.monotonic()
        self.press("#play")
        self.until(lambda: self.position() > 2)
        self.press("#play")
        took = time.monotonic() - began
        moved = (self.position() - 2) * HOP_S  # seconds of the recording
        self.assertTrue(0 < moved <= took, (moved, took))
        time.sleep(0.3)
        self.assertEqual((self.position() - 2) * HOP_S, moved)
        self.driver.execute_script("document.getElementById('speed').value = '100'")
        self.press("#play")
        self.until(lambda: self.one("#play").text == "Play")
        self.assertEqual(self.position(), len(self.windows) - 1)

    def test_the_strip_goes_to_a_window(self):
        self.driver.execute_script("""
            const strip = document.getElementById('overview');
            const { left, width, top } = strip.getBoundingClientRect();
            strip.dispatchEvent(new MouseEvent('click', { clientX: left + 0.55 * width, clientY: top + 3, bubbles: true }))""")
        self.frame()
        self.assertEqual(self.position(), int(0.55 * len(self.windows)))

    def test_nobody_is_left_out(self):
        self.seek(6)
        self.assert_accessible()

    def test_names_are_never_markup(self):
        data = json.loads(json.dumps(self.data))
        names = dict(zip(data["unit_names"], NASTY))
        data["unit_names"] = [names.get(name, name) for name in data["unit_names"]]
        for one in data["armed"]:
            one["units"] = [names.get(name, name) for name in one["units"]]
        data["run"]["input"]["path"] = data["run"]["spikeweave"] = NASTY[0]
        data["run"]["parameters"] = {NASTY[0]: NASTY[1]}
        page = self.folder / "nasty.html"
        page.write_text(with_data(self.html, data), encoding="utf-8")

        self.open(page)
        self.seek(6)

        self.assertIsNone(self.driver.execute_script("return window.hit ?? null"))
        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "img, main script"), [])
        self.assertIn(NASTY[0], self.one("#about").text)
        self.assertIn(NASTY[0], "".join(row[5] for row in self.table("detections")))


class ArmedAutomatically(SessionPage):
    """The chain is armed after the windows in which it is significant, and disarmed."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        text = "time_s\tunit\n" + "".join(f"{time_us / 1e6:.6f}\t{unit}\n" for time_us, unit in spikes_of_session())
        cls.record("today.tsv", text, "--speed", "max", "--arm", "auto", "--arm-after", "2", "--arm-windows", "2", "--delays", "4-6ms",
                   "--min-count", "8", "--max-size", "3", "--window", "4s", "--threads", "1")
        cls.show()

    def test_lists_what_was_armed_and_when(self):
        self.assert_quiet()
        armed, changes = ([[cell.get_attribute("textContent") for cell in row.find_elements(By.TAG_NAME, "td")] for row in table.find_elements(By.CSS_SELECTOR, "tbody tr")]
                          for table in self.driver.find_elements(By.CSS_SELECTOR, "#arming table"))
        recorded = []
        for from_us, armed_then, disarmed in query(self.session, "SELECT from_us, armed, disarmed FROM arming ORDER BY seq"):
            recorded += [(f"{from_us / 1e6:.6f} s", "armed", str(number)) for number, *_ in json.loads(armed_then)]
            recorded += [(f"{from_us / 1e6:.6f} s", "disarmed", str(number)) for number in json.loads(disarmed)]
        self.assertGreater(len(recorded), 3)
        self.assertEqual([tuple(row[2:5]) for row in changes], recorded)
        triggers = query(self.session, "SELECT armed, count(*) FROM detection WHERE suppressed = 0 GROUP BY armed ORDER BY armed")
        self.assertEqual([(int(row[0]), int(row[1])) for row in armed], triggers)
        self.assertEqual({row[4] for row in armed}, {"its significance"})
        self.press("#arming > div > div:nth-of-type(2) tbody tr:first-child button")
        begin, end, _ = self.view()
        self.assertTrue(begin <= float(recorded[0][0].split()[0]) * 1e6 <= end)

    def test_says_among_how_many_detections_it_counts_triggers(self):
        def change(data):
            data["detections"]["total"] = 300_000

        self.assertNotIn("are those among", self.one("#arming").get_attribute("textContent"))
        self.open_changed(change)
        listed = f"the first {len(self.data['detections']['times_us'])} of 300,000 detections"
        self.assertIn(f"Triggers and suppressed ones are those among {listed}.", self.one("#arming").get_attribute("textContent"))
        self.assertIn(f" of {listed}", self.one("#about").get_attribute("textContent"))


class Unfinished(SessionPage):
    """A session that was killed, without armed episodes and with a second epoch."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        lines = [line_of(*spike) for spike in spikes_of_session(30)]
        lines += [line_of(time_us + 200_000_000_000, unit) for time_us, unit in spikes_of_session(20)]
        with subprocess.Popen([SPIKEWEAVE, "live", "-", *SEARCH, "--record", str(cls.session)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            process.stdin.write("".join(lines).encode())
            process.stdin.flush()
            for _ in range(1000):
                time.sleep(0.02)
                if cls.session.exists() and cls.windows_recorded() >= 9:
                    break
            process.send_signal(signal.SIGKILL)
        cls.show()

    @classmethod
    def windows_recorded(cls):
        try:
            return query(cls.session, "SELECT count(*) FROM window")[0][0]
        except sqlite3.OperationalError:  # it is being made
            return 0

    def test_says_that_it_has_not_ended(self):
        self.assert_quiet()
        self.assertIn("The session has not ended", self.one("#warnings").text)

    def test_goes_from_one_epoch_to_the_next(self):
        self.assertEqual({window["epoch"] for window in self.windows}, {0, 1})
        first = next(k for k, window in enumerate(self.windows) if window["epoch"] == 1)
        self.seek(first - 1)
        self.assertIn("epoch 0", self.one("#recording").text)
        self.press("#step-on")
        self.assertIn("epoch 1", self.one("#recording").text)
        self.assertEqual(self.view()[2], self.windows[first]["spikes"])
        self.assertEqual(self.windows[first]["since"], first - 1)


class WithoutWindows(SessionPage):
    """Only detections: the player goes over parts of the time."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        armed = cls.folder / "armed.txt"
        armed.write_text("n0 4-6ms n1 4-6ms n2\n", encoding="utf-8")
        cls.record("today.jsonl", "".join(line_of(*spike) for spike in spikes_of_session()), "--no-windows", "--episodes", armed)
        cls.show()

    def test_plays_the_detections(self):
        self.assert_quiet()
        self.assertIn("No windows were mined", self.one("#window-status").text)
        self.assertEqual(self.one("#position").get_attribute("max"), "5")
        counts = self.counts("#overview")
        self.assertEqual(sum(counts), len(self.table("detections")))
        self.assertGreater(min(counts[2:4]), max(counts[0], counts[5]))
        self.seek(2)
        begin, end, _ = self.view()
        self.assertEqual(round(end - begin), 10_000_000)
        self.press("#only-in-window")
        self.assertEqual(len(self.table("detections")), counts[2])


class Patterns(SessionPage):
    """Patterns of SPADE that are armed, without windows."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        text = "time_s\tunit\n" + "".join(f"{time_us / 1e6:.6f}\t{unit}\n" for time_us, unit in spikes_of_session())
        (cls.folder / "today.tsv").write_text(text, encoding="utf-8")
        spikeweave("spade", cls.folder / "today.tsv", "--bin", "5ms", "--window", "4", "--min-spikes", "3", "--min-occ", "40", "-o", cls.folder / "patterns")
        cls.record("today.tsv", text, "--speed", "max", "--no-windows", "--patterns", cls.folder / "patterns")
        cls.show()

    def test_shows_patterns_and_when_they_occur(self):
        self.assert_quiet()
        listed = rows_of(self.folder / "patterns" / "patterns.tsv")
        words = []
        for row in listed:
            lags = [float(lag) for lag in row["lags_ms"].split(",")]
            steps = [""] + [f" →{now - before:g}ms→ " if now > before else " + " for before, now in zip(lags, lags[1:])]
            words.append("".join(step + unit for step, unit in zip(steps, row["units"].split(","))))
        self.assertTrue(any("→5ms→ n1" in one for one in words), words)
        shown = self.table("detections")
        self.assertEqual({row[5] for row in shown}, set(words))
        self.assertEqual(len(shown), query(self.session, "SELECT count(*) FROM detection")[0][0])


if __name__ == "__main__":
    unittest.main()
