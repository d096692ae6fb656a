"""Makes the files of this folder that tests/mine/spade/mining_test.cpp reads, with Elephant 1.2.1 and its fim.

Usage: make_spade_golden.py FOLDER. Times are rounded to microseconds, so that both programs read the same ones.
"""

import pathlib
import sys
import warnings

import numpy as np
import quantities as pq
from elephant.conversion import BinnedSpikeTrain
from elephant.spade import concepts_mining
from elephant.spike_train_generation import compound_poisson_process
from neo import SpikeTrain

FOLDER = pathlib.Path(sys.argv[1])
PER_UNIT = {"s": 1e6, "ms": 1e3}


def train(times_us, unit, start_us, stop_us):
    in_unit = [np.asarray(us) / PER_UNIT[unit] for us in (times_us, start_us, stop_us)]
    return SpikeTrain(in_unit[0], units=unit, t_start=in_unit[1], t_stop=in_unit[2])


def docstring_patterns():
    """Writes the example of elephant.spade.spade: its trains, and the concepts with three settings."""
    np.random.seed(30)
    trains = compound_poisson_process(rate=15 * pq.Hz, amplitude_distribution=[0, 0.95, 0, 0, 0, 0, 0.05],
                                      t_stop=5 * pq.s)
    times = [np.round(t.magnitude * 1e6).astype(int) for t in trains]
    lines = [f"train {' '.join(map(str, t))}" for t in times]
    rounded = [train(t, "s", 0, 5_000_000) for t in times]
    for bin_ms, winlen in ((3, 10), (3, 3), (10, 1)):
        concepts = concepts_mining(rounded, bin_ms * pq.ms, winlen)[0]
        lines.append(f"setting {bin_ms} {winlen} {len(concepts)}")
        for intent, extent in sorted((sorted(i), sorted(e)) for i, e in concepts):
            lines.append(f"{' '.join(map(str, intent))} : {' '.join(map(str, extent))}")
    (FOLDER / "spade_docstring.txt").write_text("\n".join(lines) + "\n")


def binned_trains():
    """Bins random times and times at edges, in both units, with bins given in milliseconds as usual."""
    rng = np.random.default_rng(1)
    lines = []
    for case in range(300):
        unit = ("s", "ms")[case % 2]
        bin_us = int(rng.integers(1, 41)) * 1000 if case % 3 else int(rng.integers(1, 400)) * 100
        start_us = 0 if case % 4 else int(rng.integers(0, 3_000_000))
        stop_us = start_us + bin_us * int(rng.integers(1, 60)) + int(rng.integers(0, bin_us))
        times = rng.integers(start_us, stop_us + 1, size=20)
        edges = start_us + bin_us * rng.integers(0, (stop_us - start_us) // bin_us + 1, size=40)
        times = np.unique(np.concatenate([times, edges, [start_us, stop_us]]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            binned = BinnedSpikeTrain([train(times, unit, start_us, stop_us)], bin_size=bin_us / 1000 * pq.ms,
                                      tolerance=None)
        bins = binned.to_sparse_bool_array().tocoo().col
        lines.append(f"{unit} {bin_us} {start_us} {stop_us} {binned.n_bins}")
        lines.append(" ".join(map(str, times)))
        lines.append(" ".join(map(str, sorted(bins))))
    (FOLDER / "binned_spike_trains.txt").write_text("\n".join(lines) + "\n")


docstring_patterns()
binned_trains()
