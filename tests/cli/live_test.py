"""`spikeweave live`: played files, lines of JSON, windows and detections as in batch analysis."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import unittest

from support import SPIKEWEAVE, CliTest, run

PERMITTED = """
import ctypes, os
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    print("yes" if ctypes.CDLL(None).mlockall(3) == 0 else "no", end="")
except PermissionError:
    print("no", end="")
"""
SEARCH = ("--delays", "4-6ms", "--min-count", "30", "--max-size", "3", "--threads", "1")


def results_of(text):
    return [json.loads(line) for line in text.splitlines()]


def of_type(results, kind):
    return [one for one in results if one["type"] == kind]


def streams_of(text):
    """Lines of windows may come later than those of detections, but each kind has one order."""
    lines = text.splitlines()
    windows = [line for line in lines if line.startswith('{"type":"window"')]
    return windows, [line for line in lines if line not in windows]


def lines_of(spikes):
    return "".join(json.dumps({"t_us": time, "unit": unit}) + "\n" for time, unit in spikes)


class Live(CliTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "10s", "--seed", "1", "-o", self.data)
        self.head = []
        self.spikes = []
        for line in self.data.read_text(encoding="utf-8").splitlines():
            time, _, unit = line.partition("\t")
            if time[:1].isdigit():
                self.spikes.append((round(float(time) * 1e6), unit))
            else:
                self.head.append(line)

    def live(self, *arguments, **options):
        result = self.ok("live", *arguments, *SEARCH, **options)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def batch(self, spikes):
        """The frequent episodes of these spikes alone, with their counts."""
        part = self.file("part.tsv", "time_s\tunit\n" + "".join(f"{time / 1e6:.6f}\t{unit}\n" for time, unit in spikes))
        found = json.loads(self.ok("episodes", part, "--json", *SEARCH).stdout)
        return {(tuple(one["units"]), one["count"]) for one in found["episodes"]}

    def test_windows_are_those_of_batch_analysis(self):
        windows = of_type(results_of(self.live(self.data, "--speed", "max", "--window", "4s", "--hop", "3s")), "window")

        self.assertEqual([one["t_us"] for one in windows], [[0, 4000000], [3000000, 7000000], [6000000, 10000000]])
        for window in windows[1:]:
            begin, end = window["t_us"]
            spikes = [one for one in self.spikes if begin <= one[0] < end]
            self.assertEqual((window["spikes"], window["threshold"], window["has_gap"]), (len(spikes), 30, False))
            self.assertTrue(all(delays == [4000, 6000] for one in window["episodes"] for delays in one["delays_us"]))
            found = {(tuple(one["units"]), one["count"]) for one in window["episodes"]}
            self.assertGreater(len(found), 30)
            self.assertEqual(found, self.batch(spikes))

    def test_detections_are_the_occurrences_of_batch_analysis(self):
        chains = self.folder / "chains"
        self.ok("episodes", self.data, "--delays", "4-6ms", "--min-count", "50", "-o", chains, "--occurrences")
        occurrences = {}
        for line in (chains / "occurrences.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            episode, number, _, unit, time = line.split("\t")
            units, times = occurrences.setdefault(episode, {}).setdefault(number, ([], []))
            units.append(unit)
            times.append(round(float(time) * 1e6))
        expected = {tuple(units): [] for one in occurrences.values() for units, _ in one.values()}
        for one in occurrences.values():
            for units, times in one.values():
                expected[tuple(units)].append(times)
        chain = tuple(f"n{i}" for i in range(4))
        self.assertGreater(len(expected[chain]), 20)

        results = results_of(self.live(self.data, "--speed", "max", "--no-windows", "--episodes", chains))

        found = {}
        for one in of_type(results, "detection"):
            self.assertEqual(one["t_us"], [one["spikes_us"][0], one["spikes_us"][-1]])
            found.setdefault(tuple(one["units"]), []).append(one["spikes_us"])
        self.assertEqual(found[chain], expected[chain])
        for units in set(found) & set(expected):
            self.assertEqual(found[units], expected[units])
        self.assertEqual(results[-1]["detections"], sum(map(len, found.values())))

    def test_results_do_not_depend_on_speed_or_pieces(self):
        armed = self.file("armed.txt", "n0 4-6ms n1 4-6ms n2 4-6ms n3\n# the other one\nn4 4-6ms n5\n")
        analysis = ("--episodes", armed, "--window", "4s", "--hop", "3s", "--window-budget", "none")
        text = lines_of(self.spikes) + '{"watermark_us":10000000}\n'
        once = self.live(self.data, "--speed", "max", *analysis)
        table = self.folder / "windows.tsv"
        self.assertGreater(len(of_type(results_of(once), "detection")), 100)

        self.live(self.data, "--speed", "20", *analysis, "--to", self.folder / "to.jsonl", "--window-table", table)
        self.assertEqual(streams_of((self.folder / "to.jsonl").read_text(encoding="utf-8")), streams_of(once))
        rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(len(rows) - 1, sum(len(one["episodes"]) for one in of_type(results_of(once), "window")))
        self.assertEqual(rows[1][:6], ["0", "0", "0.000000", "4.000000", "no", "1"])

        self.assertEqual(streams_of(self.live(self.file("s.jsonl", text), *analysis)), streams_of(once))
        rng = random.Random(5)
        with subprocess.Popen([SPIKEWEAVE, "live", "-", *map(str, analysis), *SEARCH], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, bufsize=0) as process:
            while text:
                size = rng.randrange(1, 60000)
                process.stdin.write(text[:size].encode())
                text = text[size:]
            self.assertEqual(streams_of(process.communicate()[0].decode()), streams_of(once))
        self.assertEqual(process.returncode, 0)

    def test_names_may_have_spaces(self):
        armed = self.file("armed.txt", '# one\n"unit a" 0-5ms "unit \\"b\\"" 0-5ms c # the chain\n')
        text = lines_of([(1000, "unit a"), (2000, 'unit "b"'), (3000, "c"), (4000000, "c")])
        table = self.folder / "windows.tsv"

        found = results_of(self.ok("live", "-", "--episodes", armed, "--window", "1s", "--min-count", "1",
                                   "--window-table", table, input=text, stdin=None).stdout)

        self.assertEqual(found[0]["units"], ["unit a", 'unit "b"', "c"])
        self.assertIn('\t"unit a" 1-4ms c\t', table.read_text(encoding="utf-8"))

    def test_spikes_out_of_order_are_put_in_order(self):
        armed = self.file("armed.txt", "n0 4-6ms n1\n")
        rng = random.Random(6)
        late = sorted(self.spikes, key=lambda spike: spike[0] + rng.randrange(20000))
        self.file("late.jsonl", lines_of(late))

        def detections(*arguments):
            return of_type(results_of(self.live(*arguments, "--no-windows", "--episodes", armed)), "detection")

        self.assertEqual(detections(self.folder / "late.jsonl", "--order", "lateness:20ms"),
                         detections(self.data, "--speed", "max"))


class Triggers(CliTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "30s", "--seed", "1", "-o", self.data)
        self.armed = self.file("armed.txt", "n0 4-6ms n1 4-6ms n2 4-6ms n3\nn4 4-6ms n5 4-6ms n6 @2\n")

    def live(self, *arguments):
        return results_of(self.ok("live", self.data, "--speed", "max", "--no-windows", "--episodes", self.armed,
                                  *arguments).stdout)

    def test_what_is_suppressed_is_reported(self):
        everything = of_type(self.live(), "detection")
        self.assertFalse(any("suppressed" in one for one in everything))
        self.assertGreater(len(everything), 100)

        results = self.live("--hold-off", "200ms", "--max-triggers", "3/s", "--mute-above", "1.2kHz", "--mute-window", "50ms")

        found = of_type(results, "detection")
        reasons = [one.pop("suppressed", None) for one in found]
        self.assertEqual(found, everything)
        stats = results[-1]
        self.assertEqual(stats["detections"], len(found))
        self.assertEqual(stats["triggers"], reasons.count(None))
        self.assertEqual(stats["suppressed"], {reason: reasons.count(reason) for reason in ("hold-off", "rate", "mute", "unchecked")})
        self.assertTrue(all(stats["suppressed"][reason] > 0 for reason in ("hold-off", "rate", "mute")))
        last = {}
        for one, reason in zip(found, reasons):
            end = one["t_us"][1]
            if reason is None:
                self.assertGreaterEqual(end - last.get(one["episode"], -10**9), 200000)
                last[one["episode"]] = end

    def test_a_beginning_is_detected(self):
        stats = self.live()[-1]["armed"]
        self.assertEqual([one["episode"] for one in stats], [0, 1])
        self.assertNotIn("completed", stats[0])
        self.assertLess(stats[1]["completed"], stats[1]["detected"])
        self.assertEqual(stats[1]["completed_share"], float(f"{stats[1]['completed'] / stats[1]['detected']:.4g}"))

        found = of_type(self.live("--fire-at", "3"), "detection")

        self.assertEqual({(one["episode"], len(one["spikes_us"])) for one in found}, {(0, 3), (1, 2)})

    def test_chance_is_told_and_limited(self):
        chance, = of_type(self.live(), "chance")
        self.assertLess(chance["t_us"][1] - chance["t_us"][0], 10000001)
        rates = [one["expected_per_min"] for one in chance["armed"]]
        self.assertLess(rates[0], rates[1])

        self.live("--max-false-alarms", "1000/min")
        says = ("error: --max-false-alarms: the episode n4 4-6ms n5 4-6ms n6 is expected", "more than 1/s")
        arguments = ("--no-windows", "--episodes", self.armed, "--max-false-alarms")
        self.refused("live", self.data, *arguments, "1/s", "--to", self.folder / "new.jsonl", says=says)
        self.refused("live", self.data, *arguments[:-1], "--max-rate", "0.1", says=("is needed, and was left out", "Hz, above --max-rate"))
        stream = self.folder / "s.jsonl"
        spikes = []
        for line in self.data.read_text(encoding="utf-8").splitlines():
            time, _, unit = line.partition("\t")
            if time[:1].isdigit():
                spikes.append((round(float(time) * 1e6), unit))
        stream.write_text(lines_of(spikes), encoding="utf-8")
        failed = run("live", stream, *arguments, "1/s")
        self.assertEqual(failed.returncode, 2)
        for text in says:
            self.assertIn(text, failed.stderr)
        session = self.folder / "s.session"
        found = of_type(results_of(self.ok("live", stream, *arguments, "1000/min", "--rates-from", "3s",
                                           "--record", session).stdout), "detection")
        for one in found:
            self.assertEqual(one.get("suppressed"), "unchecked" if one["t_us"][1] < spikes[0][0] + 3000000 else None)
        self.ok("live", session, "--verify")

    def test_patterns_are_detected_where_spade_finds_them(self):
        patterns = self.folder / "patterns"
        self.ok("spade", self.data, "--min-occ", "400", "--min-spikes", "3", "--window", "6", "--occurrences", "-o", patterns)
        header, *rows = [line.split("\t") for line in (patterns / "patterns.tsv").read_text(encoding="utf-8").splitlines()]
        times = header.index("times_s")
        expected = [[round(float(time) * 1e6) for time in row[times].split(",")] for row in rows]
        self.assertGreater(len(expected), 1)
        session = self.folder / "s.session"

        text = self.ok("live", self.data, "--speed", "max", "--no-windows", "--patterns", patterns, "--max-triggers", "1/s",
                       "--record", session).stdout

        found = [[] for _ in expected]
        for one in of_type(results_of(text), "detection"):
            found[one["pattern"]].append(one["t_us"][0])
        self.assertEqual(found, expected)
        stats = results_of(text)[-1]
        self.assertEqual([one["detected"] for one in stats["armed"]], [len(one) for one in expected])
        self.assertGreater(stats["suppressed"]["rate"], 0)
        self.ok("live", session, "--verify")


class Losses(CliTest):
    def setUp(self):
        super().setUp()
        self.armed = self.file("armed.txt", "a 0-5ms b\n")
        self.arguments = ("live", "-", "--no-windows", "--episodes", self.armed)

    def test_are_counted_and_end_with_1(self):
        text = lines_of([(1000, "a")]) + "?\n" + lines_of([(2000, "b"), (1500, "c")])

        result = run(*self.arguments, input=text, stdin=None)

        self.assertEqual(result.returncode, 1, result.stderr)
        first, losses = result.stderr.splitlines()
        self.assertIn("The first message that could not be read: standard input, line 2: found '?'", first)
        self.assertEqual(losses, "spikeweave: warning: 0 messages were lost, 1 was unreadable, 1 spike was late")
        results = results_of(result.stdout)
        self.assertEqual([one["type"] for one in results], ["detection", "alarm", "stats"])
        self.assertEqual((results[2]["spikes"], results[2]["late"], results[2]["unreadable"]), (2, 1, 1))
        self.ok(*self.arguments, "--allow-gaps", input=text, stdin=None)

    def test_a_stop_ends_with_all_results(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([SPIKEWEAVE, *map(str, self.arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True) as process:
                process.stdin.write(lines_of([(1000, "a"), (2000, "b")]))
                process.stdin.flush()
                self.assertEqual(json.loads(process.stdout.readline())["t_us"], [1000, 2000])
                process.send_signal(number)
                rest = process.stdout.read()
                self.assertEqual(process.wait(timeout=60), 0)
            self.assertEqual(json.loads(rest)["detections"], 1)

    def test_a_closed_output_ends_it(self):
        with subprocess.Popen([SPIKEWEAVE, *map(str, self.arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            process.stdout.close()
            process.stdin.write(lines_of([(1000, "a"), (2000, "b")]))
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)


class Realtime(CliTest):
    def test_is_what_the_system_permits(self):
        def policies(pid):
            found = set()
            for task in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(ProcessLookupError):  # a thread that has just ended
                    found.add(os.sched_getscheduler(int(task)) & ~os.SCHED_RESET_ON_FORK)
            return found

        command = [SPIKEWEAVE, "live", "-", "--realtime", "--window", "1s"]
        permitted = subprocess.run([sys.executable, "-c", PERMITTED], check=True, stdout=subprocess.PIPE, text=True).stdout
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            if permitted == "yes":
                process.stdin.write(lines_of([(1000, "a"), (2000000, "b")]))
                process.stdin.flush()
                self.assertEqual(json.loads(process.stdout.readline())["type"], "window")
                self.assertEqual(policies(process.pid), {os.SCHED_FIFO, os.SCHED_OTHER})
            _, said = process.communicate()
        self.assertEqual(process.returncode, 0 if permitted == "yes" else 2, said)
        if permitted != "yes":
            self.assertRegex(said, r"^spikeweave: error: --realtime: the system does not permit .*limits\.conf\n$")


class Refusals(CliTest):
    def test_say_what_is_wrong(self):
        data = self.chain_file()
        armed = self.file("armed.txt", "a 0-5ms x\n")
        (self.folder / "taken.jsonl").touch()
        (self.folder / "no_result").mkdir()
        (self.folder / "odd_result").mkdir()
        self.file("odd_result/episodes.tsv", "units\tdelays\tcount\na→b\t(0,5] ms\t7\n")
        for arguments, says in (
                ((data, "--episodes", armed), ("armed.txt, line 1", "'x'")),
                ((data, "--episodes", self.folder / "none.txt"), "none.txt: No such file"),
                ((data, "--episodes", self.folder / "no_result"), "episodes.tsv: No such file"),
                ((data, "--episodes", self.folder / "odd_result"), "episodes.tsv has no column 'significant'"),
                ((self.folder / "none.tsv",), "none.tsv"),
                (("udp://stream",), ("udp://stream", "open-ephys-zmq://")),
                (("open-ephys-zmq://host",), "cannot receive from tcp://host: Invalid argument"),
                ((self.folder / "none.jsonl",), "none.jsonl: No such file"),
                ((data, "--no-windows"), ("--episodes", "--patterns")),
                ((data, "--episodes", self.file("late.txt", "a 0-5ms b @3\n")),
                 "late.txt, line 1: '@3' is not the number of one of the episode's 2 spikes"),
                ((data, "--episodes", self.file("pair.txt", "a 0-5ms b\n"), "--fire-at", "3"),
                 "--fire-at: the episode a 0-5ms b has 2 spikes"),
                ((data, "--patterns", self.folder / "no_result"), "patterns.tsv: No such file"),
                ((data, "--max-triggers", "10"), ("--max-triggers", "'10' is not a rate")),
                ((data, "--hold-off", "-1ms"), "--hold-off"),
                ((data, "--order", "random"), ("--order", "'random'")),
                ((data, "--order", "lateness:30"), "30"),
                ((data, "--speed", "0"), "--speed"),
                (("-", "--speed", "2"), "--speed"),
                ((data, "--speed", "max", "--realtime"), "--realtime"),
                ((data, "--track-every", "100ms"), "--track-every"),
                ((data, "--window-budget", "0s"), "--window-budget"),
                ((data, "--to", self.folder / "taken.jsonl"), "--overwrite"),
                ((data, "--listen", "127.0.0.2"), ("--listen", "--dashboard")),
                ((data, "--dashboard", "--listen", "0.0.0.0"), ("--listen: expected an address of this computer", "'0.0.0.0'")),
                ((data, "--dashboard", "--listen", "lab.example"), ("--listen: expected an address of this computer", "'lab.example'")),
                ((data, "--dashboard", "--listen", "203.0.113.77"), "cannot serve a dashboard on 203.0.113.77"),
                ((data, "--window", "growing"), "--hop")):
            with self.subTest(arguments):
                self.refused("live", *arguments, says=says)


if __name__ == "__main__":
    unittest.main()
