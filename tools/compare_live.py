#!/usr/bin/env python3
"""Compares what `spikeweave live` detected with the occurrences that batch analysis found in the same recording.

Usage: compare_live.py RESULTS.jsonl FOLDER     FOLDER is a result of `spikeweave episodes --occurrences`
"""

import json
import sys
from collections import defaultdict
from pathlib import Path


def occurrences_in(folder):
    """The times of all spikes of each occurrence, in microseconds, by units."""
    rows = defaultdict(list)
    for line in (folder / "occurrences.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        episode, number, _, unit, time = line.split("\t")
        rows[episode, int(number)].append((unit, round(float(time) * 1e6)))
    found = defaultdict(list)
    for occurrence in rows.values():
        units, times = zip(*occurrence)
        found[units].append(list(times))
    return found


def main():
    results, folder = map(Path, sys.argv[1:])
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    detected = defaultdict(list)
    for line in lines:
        if line["type"] == "detection":
            detected[tuple(line["units"])].append(line["spikes_us"])
    expected = occurrences_in(folder)
    differing = [units for units in detected if detected[units] != expected.get(units)]
    total = sum(map(len, detected.values()))
    windows = sum(line["type"] == "window" for line in lines)
    if differing or not total:
        print(f"live detections differ from the occurrences of batch analysis: {differing or 'there are none'}")
        return 1
    print(f"live     {total} detections of {len(detected)} chains, all equal to the occurrences of batch analysis; {windows} windows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
