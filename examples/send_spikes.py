"""Sends the spikes of a file to `spikeweave live spikeweave://127.0.0.1:5600`, each of them exactly once.

Usage: send_spikes.py tcp://127.0.0.1:5600 FILE     with lines of a time in seconds, a tab and a unit, in order of time
"""

import struct
import sys

import zmq


# [sender]
class SpikeSender:
    def __init__(self, address, units, source="spikes", clock="recording"):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.connect(address)
        self.hello = {"hello": 1, "source": source, "clock": clock, "units": list(units)}
        self.kept, self.number = {}, None  # frames that are not acknowledged; the number of the next one
        self.say_hello()

    def say_hello(self):
        if self.number:
            self.hello["next"] = min(self.kept, default=self.number)
        self.credit = 0  # until the answer
        self.socket.send_json(self.hello)

    def listen(self, wait_ms=0):
        if not self.socket.poll(wait_ms):
            return False
        answer = self.socket.recv_json()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        if "say" in answer:
            self.say_hello()
            return True
        self.kept = {number: frame for number, frame in self.kept.items() if number > answer["ack"]}
        self.credit = answer["credit"]
        if "next" in answer:  # the answer to hello
            self.number = self.number or answer["next"]
            for number in [one for one in self.kept if one >= answer["next"]]:
                self.socket.send(self.kept[number])
        return True

    def wait_until(self, holds):
        while self.listen():
            pass
        patience_ms = 1000
        while not holds():
            if not self.listen(patience_ms):
                self.say_hello()  # the session may be another one
                patience_ms = min(2 * patience_ms, 60000)

    def send(self, spikes, watermark_us, is_last=False):
        """Sends (time in microseconds, number of the unit); all before the watermark have then been sent."""
        self.wait_until(lambda: len(self.kept) < self.credit)
        frame = struct.pack("<4sQqII", b"SWS1", self.number, watermark_us, len(spikes), is_last)
        self.kept[self.number] = frame + b"".join(struct.pack("<qII", time_us, unit, 0) for time_us, unit in spikes)
        self.socket.send(self.kept[self.number])
        self.number += 1
        if is_last:
            self.wait_until(lambda: not self.kept)
# [sender]


def main():
    address, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line[0].isdigit()]
    spikes = [(round(float(time) * 1e6), unit) for time, unit in rows]
    units = sorted({unit for _, unit in spikes})
    number_of = {unit: number for number, unit in enumerate(units)}
    sender = SpikeSender(address, units)
    for begin in range(0, len(spikes), 100):
        block = spikes[begin:begin + 100]
        sender.send([(time_us, number_of[unit]) for time_us, unit in block], block[-1][0])
    sender.send([], spikes[-1][0] + 1, is_last=True)


if __name__ == "__main__":
    main()
