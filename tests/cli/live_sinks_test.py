"""Destinations of `spikeweave live` and its metrics. tests/interop/live_sinks_test.py has those that need ZeroMQ."""

import contextlib
import http.client
import json
import os
import pty
import select
import signal
import socket
import sqlite3
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from support import SPIKEWEAVE, CliTest


def spike_lines(pairs, begin=0):
    """Spikes of a and b, 2 ms apart, each pair 100 ms after the one before."""
    times = [100000 * i for i in range(begin, begin + pairs)]
    return "".join(f'{{"t_us":{time},"unit":"a"}}\n{{"t_us":{time + 2000},"unit":"b"}}\n' for time in times)


def results_of(text):
    return [json.loads(line) for line in text.splitlines()]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class SinksTest(CliTest):
    def setUp(self):
        super().setUp()
        armed = self.file("armed.txt", "a 0-5ms b\nb 0-200ms a\n")
        self.arguments = ("live", "-", "--no-windows", "--episodes", armed)

    def pipe(self, *arguments):
        """Starts the command with a pipe for spikes."""
        return self.start((*self.arguments, *arguments))

    def start(self, arguments):
        process = subprocess.Popen([SPIKEWEAVE, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def send(self, process, text):
        process.stdin.write(text)
        process.stdin.flush()


class Destinations(SinksTest):
    def test_may_be_several(self):
        expected = self.ok(*self.arguments, input=spike_lines(3), stdin=None).stdout
        self.assertEqual(len(results_of(expected)), 6)
        names = [self.folder / name for name in ("one.jsonl", "two,2.jsonl")]

        to_files = self.ok(*self.arguments, "--to", names[0], "--to", names[1], input=spike_lines(3), stdin=None)
        self.assertEqual(to_files.stdout, "6 spikes of 2 units: 5 detections, 0 windows\n")
        for name in names:
            self.assertEqual(name.read_text(encoding="utf-8"), expected)

        names[0].unlink()
        to_both = self.ok(*self.arguments, "--to", names[0], "--to", "-", input=spike_lines(3), stdin=None)
        self.assertEqual(to_both.stdout, expected)
        self.assertEqual(names[0].read_text(encoding="utf-8"), expected)

    def test_tell_what_has_come_while_nothing_comes(self):
        record = self.folder / "s.session"
        process = self.pipe("--stats-every", "10ms", "--record", record)
        self.send(process, spike_lines(1))
        begin = time.monotonic()
        results = []
        while sum(one["type"] == "stats" for one in results) < 3:
            results.append(json.loads(process.stdout.readline()))
        self.assertGreater(time.monotonic() - begin, 0.5)
        self.assertEqual(results[-1]["spikes"], 2)
        rest, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        last = results_of(rest)[-1]  # also says what became of each armed episode
        self.assertEqual({name: last[name] for name in results[-1]}, results[-1])
        with contextlib.closing(sqlite3.connect(record)) as database:
            self.assertLessEqual(database.execute("SELECT count(*) FROM input").fetchone()[0], 2)

    def test_refusals(self):
        (self.folder / "taken.jsonl").touch()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for arguments, says in (
                    (("--to", "udp://host:1"), ("--to: 'udp://host:1'", "zmq://*:5601")),
                    (("--to", ""), "--to"),
                    (("--to", "a", "--to", "a"), "'a' is given twice"),
                    (("--to", "new.jsonl", "--to", self.folder / "taken.jsonl"), "--overwrite"),
                    (("--to", "open-ephys-ttl://h:1#line=300"), ("--to", "line: '300'")),
                    (("--to", "serial:///dev/none#max-age=10ms"), ("--to", "max-age", "at least 20 ms")),
                    (("--to", "lsl:x#max-age=1s"), ("--to", "expected episode=")),
                    (("--to", "open-ephys-ttl://h:1#line=1&episode=2"), ("--to", "no episode 2; 2 are armed")),
                    (("--to", self.folder / "new.jsonl", "--to", "serial:///dev/none"), "/dev/none: No such file"),
                    (("--to", self.folder / "new.jsonl", "--to", f"zmq://127.0.0.1:{port}"), "Address already in use"),
                    (("--to", self.folder / "new.jsonl", "--metrics", port), "Address already in use"),
                    (("--metrics", "0"), "--metrics"),
                    (("--metrics", "65536"), "--metrics"),
                    (("--stats-every", "0s"), "--stats-every"),
                    (("--stats-every", "1"), "--stats-every")):
                with self.subTest(arguments):
                    self.refused(*self.arguments, *arguments, says=says)


class SilentUnits(SinksTest):
    def test_are_told_at_the_end(self):
        armed = self.file("typo.txt", "a 0-5ms b\na 0-5ms typo\n")
        result = self.ok("live", "-", "--no-windows", "--episodes", armed, input=spike_lines(3), stdin=None)
        self.assertEqual(result.stderr, "spikeweave: warning: a unit of armed episodes and patterns has not fired: 'typo'\n")


class SerialDevice(SinksTest):
    def setUp(self):
        super().setUp()
        # While nobody has opened a device, its other end cannot be read, so this test does.
        self.other, device = pty.openpty()
        self.addCleanup(os.close, device)
        self.device = os.ttyname(device)

    def test_gets_a_byte_for_each_detection(self):
        to = f"serial://{self.device}#baud=9600&byte=65&episode=1"
        process = self.pipe("--to", to, "--to", "-")
        self.send(process, spike_lines(3))
        for _ in range(2):
            self.assertEqual(os.read(self.other, 1), b"A")
        output, errors = process.communicate(timeout=60)
        os.close(self.other)
        self.assertEqual((process.returncode, errors), (0, ""))
        self.assertEqual([one["type"] for one in results_of(output)], ["detection"] * 5 + ["stats"])

    def test_that_vanishes_is_told_and_stops_nothing(self):
        for extra, status in ((), 1), (("--allow-gaps",), 0):
            with self.subTest(extra):
                self.setUp()
                to = f"serial://{self.device}"
                process = self.pipe("--to", to, "--to", "-", *extra)
                self.send(process, spike_lines(1))
                self.assertEqual(os.read(self.other, 1), b"\1")
                os.close(self.other)
                self.send(process, spike_lines(2, 1))
                output, errors = process.communicate(timeout=60)

                self.assertEqual(process.returncode, status)
                results = results_of(output)
                self.assertEqual(sum(one["type"] == "detection" for one in results), 5)
                alarms = [one for one in results if one["type"] == "alarm"]
                self.assertEqual(alarms[-1]["to"], to)
                self.assertEqual(alarms[-1]["undelivered"], 4)
                self.assertRegex(errors, rf"^spikeweave: warning: {to} did not take 4 of 5 results: [^\n]+\n$")


class StoppedProcess(SinksTest):
    """What came while the process could not run is not sent to a device that stimulates."""

    def setUp(self):
        super().setUp()
        self.other, self.device = pty.openpty()
        self.addCleanup(os.close, self.other)
        self.addCleanup(os.close, self.device)

    def received(self, seconds):
        """The number of bytes that come in this time."""
        end = time.monotonic() + seconds
        count = 0
        while (left := end - time.monotonic()) > 0:
            if select.select([self.other], [], [], left)[0]:
                count += len(os.read(self.other, 1000))
        return count

    def assert_receives(self, count):
        """Waits for this many bytes, which may take long on a busy computer."""
        left = count
        while left > 0 and select.select([self.other], [], [], 20)[0]:
            left -= len(os.read(self.other, left))
        self.assertEqual(left, 0)

    def stop(self, process, seconds, meanwhile=lambda: None):
        process.send_signal(signal.SIGSTOP)
        meanwhile()
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)

    def check_losses(self, process, output, errors, to, lost, age):
        self.assertEqual(process.returncode, 1)
        results = results_of(output)
        alarms = [one for one in results if one["type"] == "alarm"]
        reason = f"spikes had come more than {age} before"
        self.assertEqual({(one["to"], one["reason"]) for one in alarms}, {(to, reason)})
        self.assertEqual(results[-1]["undelivered"], lost)
        self.assertRegex(errors, rf"^spikeweave: warning: {to} did not take {lost} of \d+ results: {reason}\n$")
        return results

    def test_sends_nothing_stale_of_a_file(self):
        to = f"serial://{os.ttyname(self.device)}"
        spikes = "".join(f"{i / 10}\ta\n{i / 10 + 0.002}\tb\n" for i in range(240))
        arguments = ("live", self.file("s.tsv", "time_s\tunit\n" + spikes), "--no-windows", "--speed", "4",
                     "--episodes", self.file("armed.txt", "a 0-5ms b\n"), "--hold-off", "50ms", "--to", to, "--to", "-")
        process = self.start(arguments)
        self.assert_receives(5)
        self.stop(process, 3)
        self.assertLess(self.received(0.3), 20)  # not the 120 of three seconds
        output, errors = process.communicate(timeout=60)
        lost = results_of(output)[-1]["undelivered"]
        self.assertGreaterEqual(lost, 110)
        results = self.check_losses(process, output, errors, to, lost, "1 s")
        self.assertEqual(sum(one["type"] == "detection" for one in results), 240)

    def test_sends_nothing_stale_of_a_pipe(self):
        to = f"serial://{os.ttyname(self.device)}#max-age=900ms&episode=0"
        process = self.pipe("--to", to, "--to", "-")
        self.send(process, spike_lines(1))
        self.assert_receives(1)
        self.stop(process, 2, lambda: self.send(process, spike_lines(20, 1)))
        self.assertEqual(self.received(0.5), 0)
        self.send(process, spike_lines(3, 21))
        self.assert_receives(3)
        output, errors = process.communicate(timeout=60)
        self.check_losses(process, output, errors, to, 20, "900 ms")

    def test_may_have_been_short(self):
        process = self.pipe("--to", f"serial://{os.ttyname(self.device)}#episode=0")
        self.send(process, spike_lines(1))
        self.assert_receives(1)
        self.stop(process, 0.2, lambda: self.send(process, spike_lines(20, 1)))
        self.assert_receives(20)
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (0, ""))


class NetworkEvents(SinksTest):
    def test_that_are_not_there_are_told_and_stop_nothing(self):
        to = f"open-ephys-ttl://127.0.0.1:{free_port()}#line=3"
        process = self.pipe("--to", to, "--to", "-")
        self.send(process, spike_lines(2))
        results = []
        while not results or "undelivered" not in results[-1]:
            results.append(json.loads(process.stdout.readline()))
        self.assertEqual([one["type"] for one in results[:3]], ["detection"] * 3)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(results_of(output)[-1]["detections"], 3)
        self.assertIn(f"{to} did not take 3 of 3 results", errors)


class Metrics(SinksTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()

    def metrics(self):
        """The samples, by name and labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as response:
            self.assertEqual(response.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
            lines = response.read().decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}

    def wait_for(self, name, value):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                metrics = self.metrics()
                if metrics[name] == value:
                    return metrics
            except urllib.error.URLError:
                pass  # it is not there yet
            time.sleep(0.02)
        return self.fail(f"{name} is not {value}")

    def test_follow_the_session(self):
        process = self.pipe("--metrics", self.port)
        self.wait_for("spikeweave_live_spikes_total", 0)
        self.send(process, spike_lines(3) + "?\n" + '{"t_us":1,"unit":"a"}\n')
        metrics = self.wait_for("spikeweave_live_late_spikes_total", 1)
        counts = (("spikes", 6), ("detections", 5), ("unreadable_messages", 1), ("windows", 0), ("epochs", 0))
        for name, value in counts:
            self.assertEqual(metrics[f"spikeweave_live_{name}_total"], value, name)
        blocks = metrics["spikeweave_live_block_seconds_count"]
        self.assertGreaterEqual(blocks, 1)
        self.assertEqual(metrics['spikeweave_live_block_seconds_bucket{le="+Inf"}'], blocks)
        self.assertLess(metrics["spikeweave_live_block_seconds_sum"], 5)
        self.assertGreater(metrics["process_resident_memory_bytes"], 1e6)
        age = metrics["spikeweave_live_watermark_age_seconds"]
        time.sleep(0.2)
        self.assertGreater(self.metrics()["spikeweave_live_watermark_age_seconds"], age + 0.1)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        with self.assertRaises(urllib.error.URLError):
            self.metrics()

    def test_answer_only_what_is_asked_rightly(self):
        process = self.pipe("--metrics", self.port)
        self.wait_for("spikeweave_live_spikes_total", 0)

        def status(method, target, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            try:
                connection.request(method, target, headers=headers)
                return connection.getresponse().status
            finally:
                connection.close()

        self.assertEqual(status("GET", "/metrics"), 200)
        self.assertEqual(status("GET", "/metrics?x=1", Host=f"localhost:{self.port}"), 200)
        self.assertEqual(status("GET", "/"), 404)
        self.assertEqual(status("GET", "/metricsx"), 404)
        self.assertEqual(status("POST", "/metrics"), 405)
        self.assertEqual(status("HEAD", "/metrics"), 405)
        for host in ("rebound.example", f"rebound.example:{self.port}", "localhost:1", ""):
            self.assertEqual(status("GET", "/metrics", Host=host), 403, host)
        self.assertEqual(status("GET", "/metrics", Large="x" * 10000), 400)
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as slow:
            slow.sendall(b"GET /metrics")
            begin = time.monotonic()
            self.assertEqual(slow.recv(100), b"")  # it is closed
            self.assertLess(time.monotonic() - begin, 15)
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as wrong:
            wrong.sendall(b"\0\1\2\r\n\r\n")
            self.assertIn(b"400 Bad Request", wrong.recv(1000))
        self.assertEqual(status("GET", "/metrics"), 200)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_are_only_for_this_computer(self):
        process = self.pipe("--metrics", self.port)
        self.wait_for("spikeweave_live_spikes_total", 0)
        with socket.socket() as other, self.assertRaises(ConnectionRefusedError):
            other.connect(("127.0.0.2", self.port))
        process.communicate(timeout=60)


if __name__ == "__main__":
    unittest.main()
