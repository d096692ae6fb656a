#!/usr/bin/env python3
"""Compares the results of spikeweave with what `spikeweave simulate` planted: a circuit of `spikeweave episodes` with connections, or
significant patterns of `spikeweave spade` with patterns.

Usage: compare_truth.py TRUTH.tsv OUT_DIR; the exit status is 1 unless exactly these were found.
"""

import csv
import sys
from pathlib import Path


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))


def connections(truth, folder):
    planted = {(row["from"], row["to"]) for row in rows(truth)}
    found = {(row["from"], row["to"]) for row in rows(folder / "circuit.tsv") if row["kind"] == "direct"}
    return planted, found, "connections", " → ".join


def patterns(truth, folder):
    planted = {(row["units"], row["lags_ms"]) for row in rows(truth)}
    found = {(row["units"], row["lags_ms"]) for row in rows(folder / "patterns.tsv") if row["significant"] == "yes"}
    return planted, found, "patterns", " at ms ".join


def main():
    truth, folder = Path(sys.argv[1]), Path(sys.argv[2])
    compare = connections if (folder / "circuit.tsv").exists() else patterns
    planted, found, what, text = compare(truth, folder)
    print(f"{len(planted & found)} of {len(planted)} planted {what} found, {len(found - planted)} false")
    for one in sorted(planted - found):
        print(f"missed  {text(one)}")
    for one in sorted(found - planted):
        print(f"false   {text(one)}")
    return 0 if planted and planted == found else 1


if __name__ == "__main__":
    sys.exit(main())
