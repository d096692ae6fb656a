"""`spikeweave live open-ephys-zmq://...` with a stand-in for the GUI that drops messages and is started again."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

from support import SPIKEWEAVE, CliTest

GUI = os.environ["SPIKEWEAVE_OPEN_EPHYS_GUI"]
IS_LONG_RUN = float(os.environ.get("SPIKEWEAVE_PROPERTY_SHARE", "1")) > 1


class Gui:
    """The stand-in, which waits for a subscriber."""

    def __init__(self, *options, port="*"):
        arguments = [GUI, "--zmq-interface", f"tcp://127.0.0.1:{port}", "--waits-for-subscriber", *map(str, options)]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())["zmq_interface"].rpartition(":")[2]

    def counts(self):
        """Waits for the end."""
        text, _ = self.process.communicate(timeout=120)
        return json.loads(text)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Live:
    """The command, whose results are collected as they come."""

    def __init__(self, port, *options):
        arguments = [SPIKEWEAVE, "live", f"open-ephys-zmq://127.0.0.1:{port}", "--allow-gaps", *map(str, options)]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        self.results = []
        self.has_more = threading.Condition()
        self.reading = threading.Thread(target=self._read)
        self.reading.start()

    def _read(self):
        for line in self.process.stdout:
            with self.has_more:
                self.results.append(json.loads(line))
                self.has_more.notify()

    def wait_for(self, wanted, timeout=60):
        """Waits for the first result for which this is true, and returns whether it arrived."""
        with self.has_more:
            return self.has_more.wait_for(lambda: any(map(wanted, self.results)), timeout)

    def wait_for_window(self, end_us):
        return self.wait_for(lambda one: one["type"] == "window" and one["t_us"][1] >= end_us)

    def stop(self):
        """Ends the command and returns the counts."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        self.reading.join()
        return self.results[-1]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reading.join()
        self.process.stdout.close()


class OpenEphys(CliTest):
    def start(self, made):
        self.addCleanup(made.kill if isinstance(made, Gui) else made.close)
        return made

    def test_what_the_gui_drops_is_counted_exactly(self):
        gui = self.start(Gui("--seconds", 3, "--spikes-per-s", 5000, "--burst-per-s", 200000, "--units", 997,
                             "--unsent-every", 1000, "--channels", 2, "--high-water-mark", 50))
        live = self.start(Live(gui.port, "--window", "1s", "--hop", "1s", "--min-count", 1000000))

        sent = gui.counts()
        self.assertTrue(live.wait_for_window(3000000))
        counts = live.stop()

        self.assertGreater(sent["dropped"], 0, "the bursts were too small")
        self.assertEqual(counts["missing"], sent["dropped"] + sent["unsent"])
        self.assertEqual(counts["spikes"], sent["spikes"] - sent["unsent"] - sent["dropped_spikes"])
        for name in ("late", "duplicates", "belated", "repeated", "unreadable", "epochs"):
            self.assertEqual(counts[name], 0, name)

    def test_a_gui_that_is_started_again_begins_an_epoch(self):
        restarts = 50 if IS_LONG_RUN else 4
        most_seconds = 1 if IS_LONG_RUN else 10
        armed = self.file("armed.txt", "E0 0-5ms E17\n")
        options = ("--seconds", 100, "--spikes-per-s", 2000, "--units", 100)
        gui = Gui(*options)
        live = self.start(Live(gui.port, "--window", "100ms", "--hop", "100ms", "--min-count", 1000000, "--episodes", armed))
        rng = random.Random(7)
        longest = 0
        for restart in range(restarts + 1):
            known = len(live.results)
            began = time.monotonic()
            if restart > 0:
                gui = Gui(*options, port=gui.port)
            self.addCleanup(gui.kill)
            self.assertTrue(live.wait_for(lambda one: one["type"] == "detection") if restart == 0 else
                            self.wait_for_detection_after(live, known), f"restart {restart}")
            longest = max(longest, time.monotonic() - began if restart > 0 else 0)
            self.assertLess(longest, most_seconds, f"restart {restart}")
            time.sleep(rng.uniform(0.1, 0.4))
            gui.kill()
        counts = live.stop()
        print(f"{restarts} restarts: spikes after at most {longest:.2f} s", file=sys.stderr)

        self.assertEqual(counts["epochs"], restarts)
        self.assertEqual((counts["missing"], counts["late"], counts["unreadable"]), (0, 0, 0))
        self.assertEqual([one["type"] for one in live.results].count("epoch"), restarts)
        # A window may come after the end of its epoch, because its search takes time, and is skipped on a slow machine.
        epochs = {}
        for one in live.results:
            if one["type"] in ("window", "skipped"):
                epochs.setdefault(one["epoch"], []).append(one)
        self.assertEqual(len(epochs), restarts + 1)
        for windows in epochs.values():
            self.assertEqual(sorted(one["t_us"][0] for one in windows), [100000 * i for i in range(len(windows))])
            self.assertEqual({one["spikes"] for one in windows} - {200}, set(), "a window holds two epochs")
        self.assertGreater(sum(map(len, epochs.values())), restarts)

    @staticmethod
    def wait_for_detection_after(live, known):
        """Waits for a detection behind an epoch that is not among the first results."""
        def is_there():
            kinds = [one["type"] for one in live.results[known:]]
            return "epoch" in kinds and "detection" in kinds[kinds.index("epoch"):]
        with live.has_more:
            return live.has_more.wait_for(is_there, 60)


if __name__ == "__main__":
    unittest.main()
