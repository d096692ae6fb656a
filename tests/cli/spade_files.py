"""Spike files for the tests of spikeweave spade."""

import random

from support import CliTest

BIN = 0.005


class SpadeFiles(CliTest):
    def planted_file(self, name="planted.tsv", shift=0.0, stop=20.0):
        """Writes b 10 ms and c 15 ms after a, 30 times in 20 s, among 6 units that fire randomly at 3 Hz."""
        rng = random.Random(1)
        last = round(stop / BIN) - 1
        cells = {(rng.randint(0, last), unit) for unit in "abcdef" for _ in range(int(3 * stop))}
        for i in range(30):
            start = round((0.3 + 0.6 * i) / BIN)
            cells |= {(start, "a"), (start + 2, "b"), (start + 3, "c")}
        spikes = [(cell * BIN + 0.002, unit) for cell, unit in cells]
        lines = "".join(f"{time + shift:.6f}\t{unit}\n" for time, unit in sorted(spikes))
        return self.file(name, f"# span_s: {shift:g} {stop + shift:g}\ntime_s\tunit\n{lines}")
