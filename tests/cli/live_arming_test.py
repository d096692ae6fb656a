"""`spikeweave live --arm auto`: chains that begin and end while the recording runs."""

import json
import random
import re
import signal
import sqlite3
import subprocess
import time
import unittest
import urllib.request

from support import SPIKEWEAVE, CliTest, query, run

LENGTH_S, BEGIN_S, END_S = 80, 24, 56
SEARCH = ("--delays", "4-6ms", "--min-count", "5", "--max-size", "3", "--window", "4s", "--threads", "1")


def chain_in_the_middle():
    """Six units of 10 Hz, and the chain n0, n1, n2 with 5 ms between them, at 6 Hz, in a part of the time."""
    draw = random.Random(20261124)
    spikes = set()
    for unit in range(6):
        now = draw.expovariate(10)
        while now < LENGTH_S:
            spikes.add((round(now * 1e6), f"n{unit}"))
            now += draw.expovariate(10)
    now = BEGIN_S + draw.expovariate(6)
    while now < END_S:
        spikes |= {(round(now * 1e6) + 5000 * unit, f"n{unit}") for unit in range(3)}
        now += draw.expovariate(6)
    return sorted(spikes)


def lines_of(spikes):
    return "".join(json.dumps({"t_us": time_us, "unit": unit}) + "\n" for time_us, unit in spikes)


def of_type(results, *kinds):
    return [one for one in results if one["type"] in kinds]


class Arming(CliTest):
    def setUp(self):
        super().setUp()
        self.spikes = chain_in_the_middle()
        self.data = self.spike_file("s.tsv", self.spikes)
        self.session = self.folder / "today.session"

    def spike_file(self, name, spikes):
        return self.file(name, "time_s\tunit\n" + "".join(f"{time_us / 1e6:.6f}\t{unit}\n" for time_us, unit in spikes))

    def live(self, *arguments):
        text = self.ok("live", self.data, "--arm", "auto", *SEARCH, *arguments).stdout
        return [json.loads(line) for line in text.splitlines()]

    def test_a_chain_is_detected_from_the_time_of_the_rule_on(self):
        results = self.live("--speed", "max")

        armed = {tuple(one["units"]): one for one in of_type(results, "armed")}
        disarmed = {one["episode"]: one for one in of_type(results, "disarmed")}
        self.assertEqual(set(armed), {("n0", "n1"), ("n1", "n2"), ("n0", "n1", "n2")})
        chain = armed["n0", "n1", "n2"]
        # The windows from 24 to 36 s decide at 36 s, and two of the four from 48 to 64 s lack the chain.
        self.assertEqual((chain["t_us"], chain["window"], chain["is_late"]), (40_000_000, 8, False))
        self.assertEqual(chain["delays_us"], [[4000, 6000], [4000, 6000]])
        self.assertEqual(disarmed[chain["episode"]]["t_us"], 68_000_000)
        detected = [one["spikes_us"] for one in of_type(results, "detection") if one["episode"] == chain["episode"]]
        part = self.spike_file("part.tsv", [one for one in self.spikes if 40_000_000 <= one[0] < 68_000_000])
        episodes = self.file("chain.txt", "n0 4-6ms n1 4-6ms n2\n")
        batch = self.ok("live", part, "--speed", "max", "--no-windows", "--episodes", episodes).stdout.splitlines()
        self.assertEqual(detected, [one["spikes_us"] for one in of_type(map(json.loads, batch), "detection")])
        self.assertGreater(len(detected), 60)
        stats = results[-1]
        self.assertEqual(stats["arming"], {"now": 0, "armed": 3, "disarmed": 3, "refused": 0, "late": 0, "untested": 0})
        self.assertEqual([one["episode"] for one in stats["armed"]], [0, 1, 2])

    def test_threads_and_speed_change_nothing(self):
        alone = self.ok("live", self.data, "--arm", "auto", "--speed", "max", *SEARCH[:-1], "1").stdout
        both = self.ok("live", self.data, "--arm", "auto", "--speed", "max", *SEARCH[:-1], "2").stdout
        slower = self.ok("live", self.data, "--arm", "auto", "--speed", "20", *SEARCH).stdout

        self.assertEqual(both, alone)
        for kinds in (("window",), ("armed", "disarmed", "detection")):
            self.assertEqual(of_type(map(json.loads, slower.splitlines()), *kinds),
                             of_type(map(json.loads, alone.splitlines()), *kinds))

    def test_is_recorded_and_verified(self):
        results = self.live("--speed", "20", "--record", self.session)

        found = json.loads(self.ok("live", self.session, "--verify").stdout)
        self.assertEqual(found["decisions"], query(self.session, "SELECT count(*) FROM arming")[0][0])
        self.assertEqual(len(found["late"]), results[-1]["arming"]["late"])
        armed = [one for rows, in query(self.session, "SELECT armed FROM arming ORDER BY seq") for one in json.loads(rows)]
        self.assertEqual([number for number, _, _ in armed], [one["episode"] for one in of_type(results, "armed")])
        self.assertEqual(armed[0][2], ["n0", [4000, 6000], "n1", [4000, 6000], "n2"])
        database = sqlite3.connect(self.session)
        database.execute("UPDATE arming SET from_us = from_us - 1000000 WHERE armed <> '[]'")
        database.commit()
        database.close()
        self.assertRegex(run("live", self.session, "--verify").stderr, "change of what is armed 9: window 8 of epoch 0, in effect from")

    def feed(self, process, begin_s, end_s):
        """Sends spikes, and waits until the windows that are complete have been mined and judged."""
        begin, end = (self.index_of(time_s * 1_000_000) for time_s in (begin_s, end_s))
        process.stdin.write(lines_of(self.spikes[begin:end]).encode())
        process.stdin.flush()
        self.wait_for(lambda: self.recorded_spikes() == end)
        self.wait_for(lambda: len(query(self.session, "SELECT 1 FROM window")) >= end_s // 4 - (1 if end_s % 4 == 0 else 0))
        time.sleep(0.5)

    def test_killed_and_resumed_it_keeps_what_was_armed(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        command = [SPIKEWEAVE, "live", "-", "--arm", "auto", *SEARCH, "--record", str(self.session)]
        with subprocess.Popen(command, **pipes) as process:
            self.feed(process, 0, 39)
            self.feed(process, 39, 50)
            process.send_signal(signal.SIGKILL)
        before = query(self.session, "SELECT armed, from_us FROM arming WHERE armed <> '[]'")
        with subprocess.Popen([SPIKEWEAVE, "live", "-", "--resume", str(self.session)], **pipes, stderr=subprocess.PIPE) as process:
            self.feed(process, 50, 66)
            out, err = process.communicate(lines_of(self.spikes[self.index_of(66_000_000):]).encode(), timeout=60)

        self.assertEqual(process.returncode, 1, err)  # what was sent meanwhile is lost
        results = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([from_us for _, from_us in before], [40_000_000])
        self.assertEqual(len(json.loads(before[0][0])), 3)
        self.assertEqual(of_type(results, "armed"), [], "it was told before")
        self.assertEqual({one["t_us"] for one in of_type(results, "disarmed")}, {68_000_000})
        self.ok("live", self.session, "--verify")
        whole = of_type(self.live("--speed", "max"), "detection")
        resumed = of_type(results, "detection")
        self.assertGreater(len(resumed), 20)
        self.assertEqual(resumed, whole[-len(resumed):])
        self.assertEqual(query(self.session, "SELECT count(*) FROM detection")[0][0], len(whole))

    def index_of(self, time_us):
        return next((i for i, one in enumerate(self.spikes) if one[0] >= time_us), len(self.spikes))

    def recorded_spikes(self):
        try:
            return query(self.session, "SELECT coalesce(sum(length(spikes)), 0) FROM input")[0][0] // 12
        except sqlite3.OperationalError:  # it is being made
            return None

    def wait_for(self, holds):
        for _ in range(1000):
            if holds():
                return
            time.sleep(0.02)
        self.fail("it did not come")

    def test_metrics_have_the_number_armed(self):
        port = 20000 + random.SystemRandom().randrange(20000)
        command = [SPIKEWEAVE, "live", "-", "--arm", "auto", *SEARCH, "--metrics", str(port)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            process.stdin.write(lines_of(self.spikes[:self.index_of(39_000_000)]))
            process.stdin.flush()
            time.sleep(1)
            process.stdin.write(lines_of(self.spikes[self.index_of(39_000_000):self.index_of(42_000_000)]))
            process.stdin.flush()
            armed = None
            for _ in range(500):
                time.sleep(0.02)
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
                armed = int(re.search(r"^spikeweave_live_armed (\d+)$", page, re.M).group(1))
                if armed:
                    break
            process.communicate()
        self.assertEqual(armed, 3)

    def test_what_is_given_stays_armed(self):
        episodes = self.file("given.txt", "n4 4-6ms n5\n")
        results = self.live("--speed", "max", "--episodes", episodes, "--max-armed", "2", "--max-false-alarms", "1000/min")

        given = [one for one in of_type(results, "detection") if one["episode"] == 0]
        batch = self.ok("live", self.data, "--speed", "max", "--no-windows", "--episodes", episodes).stdout.splitlines()
        self.assertEqual(given, of_type(map(json.loads, batch), "detection"))
        self.assertGreater(len(given), 5)
        self.assertEqual([one["units"] for one in of_type(results, "armed")], [["n0", "n1", "n2"]])
        self.assertEqual([(one["units"], one["reason"]) for one in of_type(results, "refused")],
                         [(["n0", "n1"], "max-armed"), (["n1", "n2"], "max-armed")])

    def test_errors_are_one_line(self):
        for arguments, says in (
            (("--arm", "auto", "--window", "growing"), "--arm: growing windows overlap"),
            (("--arm", "auto", "--window", "10s", "--hop", "3s"), "--arm: --window has to be a multiple of --hop"),
            (("--arm", "auto", "--no-windows"), "--arm: no windows are mined"),
            (("--arm", "auto", "--arm-after", "5"), "--arm-after: 5 of the last 4 windows are impossible"),
            (("--arm", "some"), "--arm"),
            (("--arm-after", "2"), "--arm"),
            (("--arm", "auto", "--resume", self.session), "--arm"),
        ):
            self.refused("live", self.data, *arguments, says=says)


if __name__ == "__main__":
    unittest.main()
