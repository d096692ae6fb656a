"""The stand-in for the Open Ephys GUI (tests/live/stand_in) is what the makers' own Python tools and pyzmq take it for.

Usage: open_ephys_test.py OPEN_EPHYS_GUI
"""

import contextlib
import io
import json
import subprocess
import sys
import threading
import time
import unittest

try:
    import zmq
    from open_ephys.control import NetworkControl
    from open_ephys.streaming import EventListener
except ImportError as missing:
    print(f"{missing}: run script/bootstrap")
    sys.exit(77)

GUI = sys.argv.pop(1)
HELD_BACK, BLOCK = 100, 1024


def port_of(address):
    return int(address.rpartition(":")[2])


def wait_until(is_true):
    end = time.monotonic() + 60
    while not is_true() and time.monotonic() < end:
        time.sleep(0.01)
    return is_true()


class StandIn(unittest.TestCase):
    def start(self, *options):
        self.gui = subprocess.Popen([GUI, *map(str, options)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.gui.communicate)
        self.addCleanup(self.gui.kill)
        return json.loads(self.gui.stdout.readline())

    def setUp(self):
        # The tools print what they do.
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))

    def test_event_listener_and_network_control_accept_it(self):
        addresses = self.start("--event-broadcaster", "tcp://127.0.0.1:*", "--network-events", "tcp://127.0.0.1:*",
                               "--spikes-per-s", 2000, "--units", 10, "--seconds", 100)
        spikes, ttls = [], []
        listener = EventListener(port=port_of(addresses["event_broadcaster"]))
        listening = threading.Thread(target=listener.start, args=(ttls.append, spikes.append))
        listening.start()
        gui = NetworkControl(port=port_of(addresses["network_events"]))
        for tool in (listener, gui):
            self.addCleanup(tool.context.destroy)
        try:
            self.assertFalse(gui.is_acquiring)
            gui.start
            self.assertTrue(gui.is_acquiring)
            self.assertTrue(wait_until(lambda: len(spikes) > 500))
            gui.send_ttl(line=5, state=1)
            gui.send_ttl(line=5, state=0)
            self.assertTrue(wait_until(lambda: len(ttls) == 2))
            gui.record
            self.assertTrue(gui.is_recording)
            gui.stop
            self.assertFalse(gui.is_acquiring)
            self.assertFalse(gui.is_recording)
            self.assertTrue(listening.is_alive(), "the listener found an event that it cannot read")
        finally:
            listener.stop()
            listening.join()
        self.assertEqual([(one["event_type"], one["line"], one["state"]) for one in ttls], [("ttl", 5, 1), ("ttl", 5, 0)])
        self.assertTrue(all(one["sample_number"] % BLOCK == 0 for one in ttls), "not the first sample of a block")
        self.assertEqual({one["electrode"] for one in spikes}, {f"E{i}" for i in range(10)})

    def test_pyzmq_receives_blocks_in_the_order_of_the_plugin(self):
        addresses = self.start("--zmq-interface", "tcp://127.0.0.1:*", "--waits-for-subscriber", "--spikes-per-s", 5000,
                               "--units", 10, "--channels", 2, "--seconds", 1, "--unsent-every", 50)
        with zmq.Context() as context, context.socket(zmq.SUB) as socket:
            socket.setsockopt(zmq.SUBSCRIBE, b"")
            socket.setsockopt(zmq.RCVTIMEO, 2000)
            socket.setsockopt(zmq.RCVHWM, 0)  # Python may be slower than the sender
            socket.connect(addresses["zmq_interface"])
            messages = []
            with contextlib.suppress(zmq.Again):
                while True:
                    messages.append(socket.recv_multipart())

        block, seen, numbers, count = [], 0, [], 0
        for topic, header, payload in messages:
            told = json.loads(header.decode())
            numbers.append(told["message_num"])
            if topic == b"EVENT\0":
                block.append((told["spike"]["electrode"], told["spike"]["sample_num"]))
                continue
            self.assertEqual(topic, b"DATA\0")
            data = told["content"]
            self.assertEqual(len(payload), told["data_size"])
            self.assertEqual(told["data_size"], 4 * data["num_samples"])
            if data["channel_num"] > 0:
                self.assertFalse(block, "a spike is between the data of a block")
                continue
            end = data["sample_num"] + data["num_samples"] - HELD_BACK
            self.assertEqual(block, sorted(block), "spikes are not grouped by electrode")
            self.assertTrue(all(seen <= sample < end for _, sample in block))
            count, block, seen = count + len(block), [], end
        self.assertEqual(numbers[0], 0)
        sent = json.loads(self.gui.stdout.readline())
        self.assertEqual(sum(later - one - 1 for one, later in zip(numbers, numbers[1:])), sent["unsent"])
        self.assertEqual((count, sent["dropped"]), (sent["spikes"] - sent["unsent"], 0))
        self.assertGreater(count, 4800)


if __name__ == "__main__":
    unittest.main()
