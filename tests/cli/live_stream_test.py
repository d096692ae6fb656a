"""`spikeweave live spikeweave://...`: spikes that programs send with pyzmq arrive exactly once, also after a kill.

The session is killed four times; 50 as SPIKEWEAVE_PROPERTY_SHARE makes it 200.
"""

import json
import os
import random
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import zmq

from support import ROOT, SPIKEWEAVE, CliTest

sys.path.insert(0, str(ROOT / "examples"))
from send_spikes import SpikeSender  # noqa: E402

SEARCH = ("--delays", "4-6ms", "--min-count", "10", "--max-size", "3", "--threads", "1")
LENGTH_US = 6_000_000


def free_port():
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


def query(path, sql):
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    rows = database.execute(sql).fetchall()
    database.close()
    return rows


def frame(number, spikes, watermark_us, is_last=False):
    return (struct.pack("<4sQqII", b"SWS1", number, watermark_us, len(spikes), is_last)
            + b"".join(struct.pack("<qII", time_us, unit, 0) for time_us, unit in spikes))


def hello(units, **other):
    return json.dumps({"hello": 1, "source": "s", "clock": "c", "units": units, **other}).encode()


def by_type(results):
    """Windows come when they have been mined, so only results of one type are in a fixed order. A sender that hears
    nothing for a while sends a message again, which is left out and counted."""
    return sorted(({**one, "repeated": 0} for one in results), key=lambda one: one["type"])


class Streams(CliTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.source = f"spikeweave://127.0.0.1:{self.port}"
        self.address = f"tcp://127.0.0.1:{self.port}"

    def start(self, *arguments):
        """Starts a session, whose results go to a file: a pipe that nobody reads would stop it."""
        results = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.addCleanup(results.close)
        process = subprocess.Popen([SPIKEWEAVE, "live", self.source, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                   stdout=results, stderr=subprocess.STDOUT)
        process.results = results
        self.addCleanup(self.kill, process)
        return process

    @staticmethod
    def kill(process):
        process.kill()
        process.wait()

    def results_of(self, process, status=0):
        process.wait(timeout=120)
        process.results.seek(0)
        text = process.results.read()
        self.assertEqual(process.returncode, status, text)
        return [json.loads(line) for line in text.splitlines() if not line.startswith("spikeweave: warning:")]


class Recording(Streams):
    """A recording, and what is found in it."""

    def setUp(self):
        super().setUp()
        self.data = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "6s", "--seed", "1", "-o", self.data)
        self.spikes = []
        for line in self.data.read_text(encoding="utf-8").splitlines():
            seconds, _, unit = line.partition("\t")
            if seconds[:1].isdigit():
                self.spikes.append((round(float(seconds) * 1e6), unit))
        self.units = sorted({unit for _, unit in self.spikes})
        armed = self.file("armed.txt", "n0 4-6ms n1 4-6ms n2 4-6ms n3\n")
        self.analysis = ("--episodes", armed, "--window", "2s", "--hop", "1s", "--window-budget", "none", *SEARCH)

    def expected(self):
        text = self.ok("live", self.data, "--speed", "max", *self.analysis).stdout
        return [json.loads(line) for line in text.splitlines()]

    def send(self, units=None, seed=1, source="spikes", size=100, pause=0.0):
        """Sends the spikes of these units in random pieces, out of order within what the watermark allows."""
        units = units or self.units
        number_of = {unit: number for number, unit in enumerate(units)}
        spikes = [(time_us, number_of[unit]) for time_us, unit in self.spikes if unit in number_of]
        rng = random.Random(seed)
        sender = SpikeSender(self.address, units, source)
        at, waiting = 0, []
        while at < len(spikes):
            end = at + rng.randrange(2 * size + 1)
            waiting += spikes[at:end]
            at = end
            watermark_us = spikes[min(at, len(spikes) - 1)][0] - rng.randrange(20000)
            waiting.sort()
            late = [one for one in waiting if one[0] >= watermark_us and rng.random() < 0.5]
            now = [one for one in waiting if one not in late]
            rng.shuffle(now)
            sender.send(now, watermark_us)
            waiting = late
            time.sleep(pause)
        sender.send(waiting, LENGTH_US, is_last=True)

    def test_pieces_and_disorder_change_nothing(self):
        process = self.start(*self.analysis)
        self.send()
        self.assertEqual(by_type(self.results_of(process)), by_type(self.expected()))

    def test_the_example_sends_a_file(self):
        process = self.start("--no-windows", *self.analysis[:2])
        subprocess.run([sys.executable, ROOT / "examples" / "send_spikes.py", self.address, self.data], check=True)
        found = self.results_of(process)
        self.assertEqual([one for one in found if one["type"] == "detection"],
                         [one for one in self.expected() if one["type"] == "detection"])

    def test_two_sources_are_one_recording(self):
        process = self.start(*self.analysis, "--sources", 2, "--record", self.folder / "s.session")
        both = [threading.Thread(target=self.send, args=(self.units[part::2], part, f"source {part}")) for part in (0, 1)]
        for thread in both:
            thread.start()
            time.sleep(0.3)  # one begins first
        for thread in both:
            thread.join()
        found, expected = self.results_of(process), self.expected()
        self.assertEqual(by_type(found), by_type(expected))
        self.assertEqual(sorted(query(self.folder / "s.session", "SELECT name, clock, has_finished FROM sender")),
                         [("source 0", "recording", 1), ("source 1", "recording", 1)])

    def test_killed_and_resumed_nothing_is_lost_and_nothing_comes_twice(self):
        session = self.folder / "today.session"
        rng = random.Random(7)
        kills = max(3, round(4 * float(os.environ.get("SPIKEWEAVE_PROPERTY_SHARE", "1"))))
        process = self.start(*self.analysis, "--record", session)
        sending = threading.Thread(target=self.send, daemon=True,
                                   kwargs={"size": max(1, len(self.spikes) // (20 * kills)), "pause": 0.025})
        sending.start()
        self.wait_for_rows(session)
        killed = 0
        while sending.is_alive():
            time.sleep(rng.uniform(0.05, 0.4))
            if not sending.is_alive() or killed == kills:
                break
            self.kill(process)
            self.assertEqual(query(session, "PRAGMA integrity_check"), [("ok",)])
            killed += 1
            process = self.start("--resume", session)
        sending.join(300)
        self.assertFalse(sending.is_alive())
        self.results_of(process)

        self.assertEqual(killed, kills)
        units = [name for name, in query(session, "SELECT name FROM unit ORDER BY id")]
        came = [(time_us, units[unit]) for blob, in query(session, "SELECT spikes FROM input ORDER BY seq")
                for time_us, unit in struct.iter_unpack("<qI", blob)]
        self.assertEqual(len(came), len(self.spikes))
        self.assertEqual(sorted(came), sorted(self.spikes))
        self.assertEqual(query(session, "SELECT sum(missing + unreadable), sum(length(left_out)) FROM input"), [(0, 0)])
        self.ok("live", session, "--verify")
        expected = self.expected()
        times = [list(struct.unpack(f"<{len(blob) // 8}q", blob))
                 for blob, in query(session, "SELECT times FROM detection ORDER BY seq")]
        self.assertEqual(times, [one["spikes_us"] for one in expected if one["type"] == "detection"])
        windows = [[begin, end, spikes, gap, sorted((count, *filter(lambda part: isinstance(part, str), chain))
                                                    for count, chain in json.loads(table))]
                   for begin, end, spikes, gap, table in query(
                       session, "SELECT begin_us, end_us, spikes, has_gap, episodes FROM window ORDER BY seq")]
        self.assertEqual(windows, [[*one["t_us"], one["spikes"], 0, sorted((chain["count"], *chain["units"])
                                                                          for chain in one["episodes"])]
                                   for one in expected if one["type"] == "window"])

    def wait_for_rows(self, session):
        for _ in range(1000):
            time.sleep(0.02)
            try:
                if query(session, "SELECT count(*) FROM sender") == [(1,)]:
                    return
            except sqlite3.OperationalError:  # it is being made
                pass
        self.fail("nothing was recorded")


class Faults(Streams):
    def setUp(self):
        super().setUp()
        self.armed = self.file("armed.txt", "a 0-5us b\n")
        context = zmq.Context()
        self.addCleanup(context.destroy, 0)
        self.socket = context.socket(zmq.DEALER)
        self.socket.connect(self.address)

    def ask(self, message):
        self.socket.send(message)
        self.assertTrue(self.socket.poll(20000))
        return self.socket.recv_json()

    def test_wrong_messages_at_every_place_are_counted(self):
        script = [hello(["a", "b"]), frame(1, [(1, 0)], 2), frame(2, [(3, 1)], 4), frame(3, [], 9)]
        wrong = [b"", b"SWS1", b"{", b"[1]", b"GET / HTTP/1.1\r\n", os.urandom(50), script[1][:-1], script[1] + b"x",
                 frame(9, [(1, 0)], 2).replace(b"SWS1", b"SWS2"), hello(["a", "a"]), hello([7]), hello(["\x07"])]
        for place in range(len(script) + 1):
            process = self.start("--no-windows", "--episodes", self.armed)
            answers = []
            for at in range(len(script) + 1):
                if at == place:
                    for message in wrong:
                        self.assertIn("error", self.ask(message))
                if at < len(script):
                    answers.append(self.ask(script[at]))
            self.assertEqual([answer["ack"] for answer in answers], [0, 1, 2, 3])
            self.socket.send(frame(4, [], 9, True))
            found = self.results_of(process, 1)
            self.assertEqual([one["spikes_us"] for one in found if one["type"] == "detection"], [[1, 3]])
            self.assertEqual((found[-1]["unreadable"], found[-1]["missing"], found[-1]["spikes"]), (len(wrong), 0, 2))
            self.assertEqual(self.socket.recv_json()["ack"], 4)

    def test_what_is_repeated_or_skipped_is_asked_for_and_taken_once(self):
        process = self.start("--no-windows", "--episodes", self.armed)
        self.assertEqual(self.ask(frame(1, [(1, 0)], 2)), {"say": "hello"})
        self.assertEqual(self.ask(hello(["a"])), {"ack": 0, "credit": 4096, "next": 1})
        self.assertEqual(self.ask(frame(1, [(1, 0)], 2))["ack"], 1)
        self.assertEqual(self.ask(frame(1, [(1, 0)], 2))["ack"], 1)
        self.assertEqual(self.ask(frame(3, [], 9)), {"say": "hello"})
        self.assertEqual(self.ask(hello(["a", "b"], next=2))["next"], 2)
        self.assertEqual(self.ask(frame(2, [(3, 1)], 4))["ack"], 2)
        self.assertEqual(self.ask(hello(["a", "b"], next=6)), {"ack": 2, "credit": 4096, "next": 6})
        self.socket.send(frame(6, [], 9, True))
        found = self.results_of(process, 1)
        self.assertEqual([one["spikes_us"] for one in found if one["type"] == "detection"], [[1, 3]])
        self.assertEqual((found[-1]["unreadable"], found[-1]["missing"]), (0, 3))

    def test_a_stop_acknowledges_what_was_taken(self):
        session = self.folder / "s.session"
        process = self.start("--no-windows", "--episodes", self.armed, "--record", session)
        self.ask(hello(["a", "b"]))
        self.assertEqual(self.ask(frame(1, [(1, 0)], 2))["ack"], 1)
        process.send_signal(signal.SIGINT)
        self.results_of(process)
        self.assertEqual(query(session, "SELECT name, clock, last, has_finished FROM sender"), [("s", "c", 1, 0)])

    def test_errors_are_one_line(self):
        self.start("--no-windows", "--episodes", self.armed)
        self.ask(hello(["a", "b"]))
        for source, says in ((self.source, f"cannot listen at {self.address}: Address already in use"),
                             ("spikeweave://host", "cannot listen at tcp://host: Invalid argument")):
            self.refused("live", source, "--no-windows", "--episodes", self.armed, says=says)
        self.refused("live", "-", "--sources", "2", "--no-windows", "--episodes", self.armed, says="--sources: only programs")


if __name__ == "__main__":
    unittest.main()
