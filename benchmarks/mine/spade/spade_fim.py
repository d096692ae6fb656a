"""Runs one job of the benchmark with the miner in Elephant's wheel, as a child process of spade_mining_bench.

Usage: spade_fim.py TRANSACTIONS WINDOW_BINS MIN_OCC MIN_SPIKES MIN_NEU
Prints the CPU seconds of the call, the peak memory in MB, the number of patterns, and a digest of them that does not
depend on their order. Without arguments it prints nothing, and fails if the miner cannot be imported.
"""

import gzip
import resource
import sys
import time

from elephant.spade_src import fim

ALL = (1 << 64) - 1


def digest(found):
    """Returns the sum over patterns of the FNV-1a hashes of their ascending items and count."""
    total = 0
    for items, count in found:
        value = 0xCBF29CE484222325
        for item in (*sorted(items), count):
            value = (value ^ item) * 0x100000001B3 & ALL
        total += value
    return total & ALL


def main():
    path, window, min_occ, min_spikes, min_neu = sys.argv[1], *map(int, sys.argv[2:])
    with gzip.open(path, "rt") as file:
        windows = [[int(item) for item in line.split()] for line in file]
    began = time.process_time()
    found = fim.fpgrowth(tracts=windows, target="c", supp=-min_occ, zmin=min_spikes, zmax=0, report="a", algo="s",
                         winlen=window, min_neu=min_neu, threads=1, verbose=4)
    seconds = time.process_time() - began
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:.6f} {peak_mb:.1f} {len(found)} {digest(found)}")


if len(sys.argv) > 1:
    main()
