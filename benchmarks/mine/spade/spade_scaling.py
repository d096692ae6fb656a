#!/usr/bin/env python3
"""Measures time and memory of `spikeweave spade` by the number of units and the length: on the benchmark of Porrmann et
al. 2021 (doi:10.3389/fninf.2021.723406), with shifted copies of its units, and with repeats in time in which every spike
is moved by up to 5 bins, so that no pattern is repeated by construction. It uses one thread. Thresholds are those of
--min-occ auto or, with --proportional, those of the published jobs times the length.

Usage: spade_scaling.py [--limit SECONDS] [--proportional] SPIKEWEAVE SPIKES.tsv.gz [CASE...]    CASE: UNITSxLENGTH, as 2x1
"""

import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BIN_S = 0.005
SHIFT_BINS = 1000
MOVED_BINS = 5
PUBLISHED = {2: 88, 3: 25, 4: 12, 5: 10}
CASES = ("1x1", "2x1", "3x1", "1x2", "1x4", "1x10", "1x45")


def read(path):
    with gzip.open(path, "rt") as lines:
        table = np.loadtxt(lines, skiprows=1)
    return table[:, 0], table[:, 1].astype(int)


def scaled(times, units, copies, repeats):
    """Returns `copies` times the units, each copy SHIFT_BINS later (wrapped), and `repeats` times the length."""
    length = np.ceil(times.max() / BIN_S) * BIN_S
    stacked = [((times + copy * SHIFT_BINS * BIN_S) % length, units + copy * (units.max() + 1)) for copy in range(copies)]
    times, units = (np.concatenate(parts) for parts in zip(*stacked))
    random = np.random.default_rng(1)
    later = []
    for repeat in range(repeats):
        moved = random.integers(-MOVED_BINS, MOVED_BINS + 1, len(times)) * BIN_S if repeats > 1 else 0
        later.append(np.clip(times + moved, 0, length - BIN_S / 2) + repeat * length)
    return np.concatenate(later), np.tile(units, repeats), length * repeats


def closed_patterns(text):
    return int(re.search(r"closed patterns +(\d+)", text).group(1))


def run(spikeweave, path, min_occ, limit):
    """Returns CPU seconds, peak MB and the number of closed patterns, or None after `limit` seconds."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([spikeweave, "spade", path, "--threads", "1", "--min-occ", min_occ], stdout=out,
                                 stderr=subprocess.DEVNULL)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > limit:
                child.terminate()
                os.wait4(child.pid, 0)
                return usage.ru_utime, 0, None
            time.sleep(0.05)
        if status:
            sys.exit(f"spade_scaling: {spikeweave} ended with {status}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, closed_patterns(out.read().decode())


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("spikeweave")
    parse.add_argument("spikes")
    parse.add_argument("cases", nargs="*", default=CASES)
    parse.add_argument("--limit", type=float, default=600)
    parse.add_argument("--proportional", action="store_true")
    given = parse.parse_args()

    times, units = read(given.spikes)
    print("| units | seconds | spikes | patterns | CPU time | peak memory |\n|---|---|---|---|---|---|", flush=True)
    for case in given.cases:
        copies, repeats = map(int, case.split("x"))
        case_times, case_units, length = scaled(times, units, copies, repeats)
        min_occ = ",".join(f"{size}:{count * repeats}" for size, count in PUBLISHED.items())
        min_occ = min_occ if given.proportional else "auto"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "spikes.tsv"
            np.savetxt(path, np.column_stack([case_times, case_units]), fmt=["%.6f", "%d"], header="time_s\tunit",
                       comments="", delimiter="\t")
            seconds, megabytes, patterns = run(given.spikeweave, path, min_occ, given.limit)
        found = "not ended" if patterns is None else f"{patterns:,}"
        print(f"| {len(set(case_units))} | {length:.1f} | {len(case_times):,} | {found} | {seconds:.1f} s | "
              f"{megabytes:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
