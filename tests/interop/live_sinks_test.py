"""pyzmq receives what `spikeweave live` publishes, prometheus_client reads its metrics, and a stand-in for Open Ephys'
plugin Network Events, which the client of Open Ephys accepts, gets its TTL pulses.

Usage: live_sinks_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without those packages.
"""

import contextlib
import io
import json
import os
import pathlib
import pty
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

try:
    import zmq
    from open_ephys.control import NetworkControl
    from prometheus_client.parser import text_string_to_metric_families
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

SPIKEWEAVE = sys.argv.pop(1)
TTL = re.compile(r"TTL Line=(\d+) State=([01])")


class NetworkEvents:
    """Does as the plugin: answers one request after another, sets lines, and takes any other text as a message."""

    def __init__(self, port=0):
        self.socket = zmq.Context.instance().socket(zmq.REP)
        self.socket.linger = 0
        self.socket.rcvtimeo = 50
        self.socket.bind(f"tcp://127.0.0.1:{port or '*'}")
        self.port = int(self.socket.last_endpoint.decode().rpartition(":")[2])
        self.states = []  # (line, state, time)
        self.messages = []
        self.is_over = False
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while not self.is_over:
            try:
                text = self.socket.recv_string()
            except zmq.Again:
                continue
            self.socket.send_string(self.answer(text))
        self.socket.close()

    def answer(self, text):
        if text == "IsAcquiring":
            return "1"
        ttl = TTL.fullmatch(text)
        if not ttl:
            self.messages.append(text)
            return "NotHandled"
        line, state = map(int, ttl.groups())
        if not 1 <= line <= 256:
            return "InvalidChannel"
        self.states.append((line, state, time.monotonic()))
        return f"TTLHandled: Channel={line} on={state}"

    def close(self):
        self.is_over = True
        self.thread.join()

    def pulses(self, line):
        """The lengths of the pulses on a line; the test fails if states do not alternate."""
        states = [(state, at) for number, state, at in self.states if number == line]
        if states and states[0][0] == 0:  # a line that may have been left high is set to 0 after a break
            states = states[1:]
        assert [state for state, _ in states] == [1, 0] * (len(states) // 2), states
        return [end - begin for (_, begin), (_, end) in zip(states[::2], states[1::2], strict=True)]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def by_type(lines):
    """Windows are mined by a thread of their own, so only lines of one type have an order."""
    types = {}
    for line in lines:
        types.setdefault(json.loads(line)["type"], []).append(line)
    return types


def spike_lines(pairs, begin=0):
    """Spikes of a and b, 2 ms apart, each pair 100 ms after the one before."""
    times = [100000 * i for i in range(begin, begin + pairs)]
    return "".join(f'{{"t_us":{time},"unit":"a"}}\n{{"t_us":{time + 2000},"unit":"b"}}\n' for time in times)


class LiveSinks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.armed = pathlib.Path(folder.name) / "armed.txt"
        self.armed.write_text("a 0-5ms b\nb 0-200ms a\n", encoding="utf-8")

    def live(self, *arguments):
        process = subprocess.Popen([SPIKEWEAVE, "live", "-", "--episodes", self.armed, *arguments], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for pipe in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(pipe.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def send(self, process, text):
        process.stdin.write(text)
        process.stdin.flush()

    def wait_for(self, condition):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)

    def subscriber(self, address, topic=b""):
        one = zmq.Context.instance().socket(zmq.SUB)
        self.addCleanup(one.close, linger=0)
        one.rcvtimeo = 30000
        one.subscribe(topic)
        one.connect(address)
        return one

    def test_subscribers_get_the_lines_of_a_file(self):
        address = f"tcp://127.0.0.1:{free_port()}"
        process = self.live("--window", "500ms", "--min-count", "1", "--max-size", "1", "--to",
                            address.replace("tcp", "zmq"), "--to", "-")
        everything = self.subscriber(address)
        alarms = self.subscriber(address, b"alarm")
        # A line each second shows that there is a connection, while nothing comes.
        self.assertEqual(everything.recv_multipart()[0], b"stats")
        begin = time.monotonic()
        self.assertEqual(json.loads(everything.recv_multipart()[1])["spikes"], 0)
        self.assertLess(time.monotonic() - begin, 3)

        self.send(process, spike_lines(20) + "?\n" + spike_lines(5, 10000000))
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        received = []
        numbers = {}
        while not received or b'"spikes":50' not in received[-1][1]:
            kind, line, number = received_now = everything.recv_multipart()
            received.append(received_now)
            if kind != b"stats":
                self.assertEqual(int(number), numbers.setdefault(kind, 0))
                numbers[kind] += 1
            self.assertEqual(json.loads(line)["type"], kind.decode())
        lines = [line.decode() for kind, line, _ in received if kind != b"stats"]
        self.assertEqual(by_type(lines + [received[-1][1].decode()]), by_type(output.splitlines()))
        self.assertEqual(set(numbers), {b"detection", b"window", b"alarm", b"epoch"})
        kind, line, _ = alarms.recv_multipart()
        self.assertEqual((kind, json.loads(line)["unreadable"]), (b"alarm", 1))

    def test_the_client_of_open_ephys_accepts_the_stand_in(self):
        gui = NetworkEvents()
        self.addCleanup(gui.close)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            client = NetworkControl("127.0.0.1", gui.port)
            self.assertTrue(client.is_acquiring)
            client.send_ttl(line=3, state=1)
            client.send_ttl(line=3, state=0)
        client.context.destroy(linger=0)
        self.assertIn("TTLHandled", said.getvalue())
        self.assertEqual(len(gui.pulses(3)), 1)

    def test_open_ephys_gets_pulses_and_messages(self):
        gui = NetworkEvents()
        self.addCleanup(lambda: gui.close())
        at = f"127.0.0.1:{gui.port}"
        process = self.live("--no-windows", "--to", f"open-ephys-ttl://{at}#line=3&episode=0", "--to",
                            f"open-ephys-ttl://{at}#line=4&episode=1&pulse=40ms", "--to", f"open-ephys-message://{at}")
        self.send(process, spike_lines(2))
        self.wait_for(lambda: len(gui.states) == 6 and len(gui.messages) == 3)
        self.assertEqual(gui.messages[0], "spikeweave episode=0 t_us=0,2000")
        self.assertEqual(len(gui.pulses(3)), 2)
        self.assertGreaterEqual(min(gui.pulses(3)), 0.01)
        self.assertGreaterEqual(min(gui.pulses(4)), 0.04)

        # The plugin is removed and put back.
        gui.close()
        self.send(process, spike_lines(1, 2))
        time.sleep(1.5)
        gui = NetworkEvents(gui.port)
        pairs = 3
        while not gui.messages or not gui.states:
            self.send(process, spike_lines(1, pairs))
            pairs += 1
            time.sleep(0.3)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, errors)
        self.assertEqual(output, f"{2 * pairs - 1} triggers in {2 * pairs} spikes of 2 units; 2 episodes monitored.\n")
        warnings = errors.splitlines()
        self.assertEqual(len(warnings), 3, errors)
        for line, of, got in zip(warnings, (pairs, pairs - 1, 2 * pairs - 1),
                                 (2 + len(gui.pulses(3)), 1 + len(gui.pulses(4)), 3 + len(gui.messages)), strict=True):
            self.assertRegex(line, rf"did not take {of - got} of {of} results: (there was no|detections waited)")

    def test_results_come_soon(self):
        """Prints the times from sending the line of the last spike to the arrival of what it causes."""
        gui = NetworkEvents()
        self.addCleanup(gui.close)
        address = f"tcp://127.0.0.1:{free_port()}"
        other, device = pty.openpty()
        self.addCleanup(os.close, device)
        self.addCleanup(os.close, other)
        process = self.live("--no-windows", "--to", f"open-ephys-ttl://127.0.0.1:{gui.port}#line=1&episode=0&pulse=1ms",
                            "--to", address.replace("tcp", "zmq"), "--to", f"serial://{os.ttyname(device)}#episode=0")
        detections = self.subscriber(address, b"detection")
        self.subscriber(address, b"stats").recv()
        delays = {"byte": [], "message": [], "TTL request": []}
        for pair in range(200):
            begin = time.monotonic()
            self.send(process, spike_lines(1, pair))
            self.assertEqual(os.read(other, 1), b"\1")
            delays["byte"].append(time.monotonic() - begin)
            while json.loads(detections.recv_multipart()[1])["episode"] != 0:
                pass
            delays["message"].append(time.monotonic() - begin)
            self.wait_for(lambda count=2 * pair + 2: len(gui.states) == count)
            delays["TTL request"].append(gui.states[-2][2] - begin)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        for what, of_what in delays.items():
            of_what.sort()
            print(f"{what} after {1000 * of_what[100]:.2f} ms (median), {1000 * of_what[197]:.2f} ms (99 %)")
            self.assertLess(of_what[100], 0.5)

    def test_prometheus_reads_the_metrics(self):
        port = free_port()
        publisher = f"zmq://127.0.0.1:{free_port()}"
        process = self.live("--no-windows", "--metrics", str(port), "--to", publisher)
        self.send(process, spike_lines(3))
        samples = {}

        def is_complete():
            with contextlib.suppress(OSError):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as response:
                    families = list(text_string_to_metric_families(response.read().decode()))
                types = {family.name: family.type for family in families}
                self.assertEqual(types["spikeweave_live_block_seconds"], "histogram")
                self.assertEqual(types["spikeweave_live_spikes"], "counter")
                samples.update({(one.name, *one.labels.values()): one.value
                                for family in families for one in family.samples})
            return samples.get(("spikeweave_live_spikes_total",)) == 6

        self.wait_for(is_complete)
        self.assertGreaterEqual(samples["spikeweave_live_delivered_total", publisher], 5)
        self.assertEqual(samples["spikeweave_live_undelivered_total", publisher], 0)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
