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

from support import SPIKEWEAVE, CliTest, run


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
        self.assertEqual(to_files.stdout, "5 triggers in 6 spikes of 2 units; 2 episodes monitored.\n")
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
        last = results_of(rest)[-1]  # also reports the outcome for each armed episode
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
                    (("--to", "open-ephys-ttl://h:1#line=1&line=2"), ("--to", "'line' is given twice")),
                    (("--dashboard", "--listen", "255.255.255.255"), ("--listen", "expected an address of this computer")),
                    (("--to", self.folder / "new.jsonl", "--to", "serial:///dev/none"), "/dev/none: No such file"),
                    (("--to", self.folder / "new.jsonl", "--to", f"zmq://127.0.0.1:{port}"), "Address already in use"),
                    (("--to", self.folder / "new.jsonl", "--metrics", port), "Address already in use"),
                    (("--metrics", "0"), "--metrics"),
                    (("--metrics", "65536"), "--metrics"),
                    (("--stats-every", "0s"), "--stats-every"),
                    (("--stats-every", "1"), "--stats-every")):
                with self.subTest(arguments):
                    self.refused(*self.arguments, *arguments, says=says)


class BrokenFiles(SinksTest):
    """A file, a pipe or standard output that fails loses its own results, and nothing else."""

    def setUp(self):
        super().setUp()
        self.good = self.folder / "good.jsonl"

    def check(self, status, errors, name, reason, pairs=100, is_told_meanwhile=True):
        self.assertEqual(status, 1, errors)
        self.assertRegex(errors, rf"warning: {name} did not take \d+ of \d+ results: [^\n]*{reason}")
        results = results_of(self.good.read_text())
        self.assertEqual(sum(one["type"] == "detection" for one in results), 2 * pairs - 1)
        self.assertEqual(results[-1]["type"], "stats")
        self.assertEqual("alarm" in {one["type"] for one in results}, is_told_meanwhile)

    def test_a_full_disk(self):
        link = self.folder / "full.jsonl"
        link.symlink_to("/dev/full")
        process = self.pipe("--to", link, "--to", self.good, "--record", self.folder / "s.session")
        self.send(process, spike_lines(50))
        time.sleep(0.2)
        _, errors = process.communicate(spike_lines(50, 50), timeout=60)
        self.check(process.returncode, errors, link, "No space left")
        self.ok("live", self.folder / "s.session", "--verify")

    def test_a_full_disk_for_the_table_of_windows(self):
        data = self.chain_file()
        result = run("live", data, "--speed", "max", "--window", "1s", "--delays", "4-6ms", "--min-count", "5", "--window-table",
                     "/dev/full", "--to", self.good)
        self.assertEqual(result.returncode, 1)
        self.assertIn("/dev/full did not take", result.stderr)
        self.assertEqual(sum(one["type"] == "window" for one in results_of(self.good.read_text())), 4)

    def test_a_reader_of_standard_output_that_leaves(self):
        process = self.pipe("--to", "-", "--to", self.good)
        self.send(process, spike_lines(50))
        process.stdout.readline()
        process.stdout.close()
        time.sleep(0.2)
        process.stdin.write(spike_lines(50, 50))
        process.stdin.close()
        errors = process.stderr.read()
        self.check(process.wait(timeout=60), errors, "standard output", "closed it")

    def test_a_reader_for_whom_all_is(self):
        process = self.pipe()
        process.stdout.close()
        self.send(process, spike_lines(3))
        self.assertEqual(process.wait(timeout=20), 0)  # though more could come
        self.assertEqual(process.stderr.read(), "")

    def pipe_of(self, name):
        path = self.folder / name
        os.mkfifo(path)
        return path

    def test_a_reader_of_a_pipe_that_leaves(self):
        fifo = self.pipe_of("fifo")
        process = self.pipe("--to", fifo, "--to", self.good)
        with open(fifo, encoding="ascii") as reader:
            self.send(process, spike_lines(50))
            reader.readline()
        time.sleep(0.2)
        _, errors = process.communicate(spike_lines(50, 50), timeout=60)
        self.check(process.returncode, errors, fifo, "Broken pipe")

    def test_a_pipe_whose_reader_comes_late_or_is_slow(self):
        fifo = self.pipe_of("fifo")
        process = self.pipe("--to", fifo, "--to", self.good)
        self.send(process, spike_lines(2000))
        process.stdin.close()
        time.sleep(0.2)
        with open(fifo, encoding="ascii") as reader:
            text = reader.readline()
            time.sleep(0.2)
            text += reader.read()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(text, self.good.read_text())
        self.assertEqual(sum(one["type"] == "detection" for one in results_of(text)), 3999)

    def test_a_reader_that_does_not_read(self):
        for stuck in ("fifo", "stdout"):
            with self.subTest(stuck):
                self.good.unlink(missing_ok=True)
                to = self.pipe_of("fifo") if stuck == "fifo" else "-"
                process = self.pipe("--to", to, "--to", self.good)
                reader = os.open(to, os.O_RDONLY) if stuck == "fifo" else None
                self.send(process, spike_lines(2000))
                end = time.monotonic() + 20
                while self.good.stat().st_size < 3999 * 60 and time.monotonic() < end:
                    time.sleep(0.02)
                process.send_signal(signal.SIGTERM)
                began = time.monotonic()
                process.wait(timeout=20)
                self.assertLess(time.monotonic() - began, 10)
                errors = process.stderr.read()
                self.check(process.returncode, errors, to if stuck == "fifo" else "standard output", "does not read", 2000,
                           is_told_meanwhile=False)
                if reader is not None:
                    os.close(reader)

    def test_devices_are_not_replaced(self):
        self.assertEqual(self.ok(*self.arguments, "--to", "/dev/null", "--to", "-", input=spike_lines(3), stdin=None).stdout.count(
            "detection"), 5 + 1)


class PipesAndUnreadableLines(SinksTest):
    def test_episodes_may_come_from_a_pipe(self):
        result = subprocess.run(["bash", "-c", f"'{SPIKEWEAVE}' live - --no-windows --episodes <(echo 'a 0-5ms b')"],
                                input=spike_lines(3), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sum(one["type"] == "detection" for one in results_of(result.stdout)), 3)

    def test_the_first_line_that_could_not_be_read_is_shown(self):
        result = run(*self.arguments, input=spike_lines(3) + "1.5 a\n{}\n", stdin=None)
        self.assertEqual(result.returncode, 1)
        self.assertIn("The first message that could not be read: standard input, line 7: found '1.5 a', expected a line such as "
                      '{"t_us":1000,"unit":"a"}', result.stderr)

    def test_names_of_units_that_could_not_be_recorded_are_unreadable(self):
        session = self.folder / "s.session"
        for name in (r"\u202e", r"\u0085", r"a\u009b", r"\ufffe"):
            session.unlink(missing_ok=True)
            lines = spike_lines(2) + f'{{"t_us":300000,"unit":"{name}"}}\n' + spike_lines(2, 4)
            result = run(*self.arguments, "--record", session, input=lines, stdin=None)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(results_of(result.stdout)[-1]["unreadable"], 1)
            self.ok("live", session, "--verify")

    def test_one_spike_that_is_hours_ahead_does_not_make_the_others_late(self):
        ahead = '{"t_us":36000000000,"unit":"a"}\n'
        for order in ((), ("--order", "lateness:30ms")):
            result = run("live", "-", "--no-windows", "--episodes", self.file("one.txt", "a 0-5ms b\n"), *order,
                         input=spike_lines(50) + ahead + spike_lines(150, 50), stdin=None)
            stats = results_of(result.stdout)[-1]
            self.assertEqual((stats["late"], stats["epochs"]), (19, 1))
            self.assertGreaterEqual(stats["detections"], 190)


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
    """Spikes that arrived while the process could not run are not sent to a device that stimulates."""

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
