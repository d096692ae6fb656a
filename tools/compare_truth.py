#!/usr/bin/env python3
"""Compares a circuit that `synfire episodes` found with the connections that `synfire simulate` planted.

Usage: compare_truth.py TRUTH.tsv OUT_DIR; exit status 1 unless all were found and nothing else.
"""

import csv
import sys
from pathlib import Path


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))


def main():
    truth, folder = Path(sys.argv[1]), Path(sys.argv[2])
    planted = {(row["from"], row["to"]) for row in rows(truth)}
    found = {(row["from"], row["to"]) for row in rows(folder / "circuit.tsv") if row["kind"] == "direct"}
    print(f"{len(planted & found)} of {len(planted)} planted connections found, {len(found - planted)} false")
    for start, end in sorted(planted - found):
        print(f"missed  {start} → {end}")
    for start, end in sorted(found - planted):
        print(f"false   {start} → {end}")
    return 0 if planted and planted == found else 1


if __name__ == "__main__":
    sys.exit(main())
