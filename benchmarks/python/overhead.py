"""Measures the cost of the Python layer: whole calls compared with the time of the library in them.

Usage: overhead.py [--repeats N] [--most PERCENT]

The exit status is 1 if mining Sym26 with four intervals costs more than this share of the library's
time. A call costs about 0.3 ms in any case, which is a larger share of searches of a few ms.
"""

import argparse
import sys
import time

import numpy as np

import spikeweave

CASES = {
    "Sym26, 1 interval, count >= 200": {"delays": "4-6ms", "min_count": 200},
    "Sym26, 4 intervals, count >= 300": {
        "delays": ["1-4ms", "4-6ms", "6-8ms", "8-11ms"],
        "min_count": 300,
    },
}


def measured(spikes, repeats, **arguments):
    """Returns the shortest call and the shortest time of the library in one, on one thread.

    Minima are used because other processes on the machine only add to either.
    """
    whole, library = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        found = spikeweave.episodes(spikes, device="cpu", threads=1, **arguments)
        whole.append(time.perf_counter() - began)
        library.append(found.seconds)
        assert len(found) > 0
    return min(whole), min(library), min(whole) / min(library) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=101)
    parser.add_argument("--most", type=float, default=5.0)
    options = parser.parse_args()

    spikes = spikeweave.simulate.sym26(seed=1).spikes
    labels = np.asarray(spikes.unit_names)[spikes.units]
    judged = 0.0
    print(f"{'':36} {'call ms':>9} {'library ms':>11} {'overhead':>9}")
    for name, arguments in CASES.items():
        for kind, given in (("", spikes), (" from arrays", (spikes.times, labels))):
            whole, library, share = measured(given, options.repeats, **arguments)
            print(f"{name + kind:36} {whole * 1e3:9.2f} {library * 1e3:11.2f} {share:9.1%}")
            if not kind:
                judged = share  # that of the last case, which docs/benchmarks.md quotes
    return 1 if judged > options.most / 100 else 0


if __name__ == "__main__":
    sys.exit(main())
