#!/usr/bin/env python3
"""Sorts the second half of simulated recordings by the templates of the first half, and by itself, and compares both
with the truth; then plays it live. Prints a row of a table for each recording.

Usage: known_templates.py SPIKEWEAVE [--seeds 100 101 ...] [--difficulty easy|realistic] [--length SECONDS]
                          [--channels N] [--units N] [--realtime]
"""

import argparse
import bisect
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

TOLERANCE_S = 0.0004


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spikeweave")
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102, 103])
    parser.add_argument("--difficulty", default="easy")
    parser.add_argument("--length", type=int, default=120, help="seconds, of which half are sorted")
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--units", type=int, default=20)
    parser.add_argument("--realtime", action="store_true", help="as of spikeweave live, which the system has to permit")
    return parser.parse_args()


def trains(spikeweave, path, folder):
    """Returns {unit: times in seconds}."""
    table = folder / "spikes.tsv"
    subprocess.run([spikeweave, "convert", path, table, "--overwrite"], check=True, capture_output=True)
    times = {}
    for line in table.read_text().splitlines():
        if line[0].isdigit():
            time, unit = line.split("\t")
            times.setdefault(unit, []).append(float(time))
    return times


def matched(truth, found):
    """Counts pairs of times within the tolerance, with each time in at most one pair; both lists ascend."""
    pairs, at = 0, 0
    for time in truth:
        at = bisect.bisect_left(found, time - TOLERANCE_S, at)
        if at < len(found) and found[at] <= time + TOLERANCE_S:
            pairs, at = pairs + 1, at + 1
    return pairs


def accuracy(truth, found):
    """Returns the mean over true units of the best share of matched pairs among all spikes of it and a found unit."""
    best = []
    for own in truth.values():
        pairs = [(matched(own, other), len(other)) for other in found.values()]
        best.append(max(n / (len(own) + size - n) for n, size in pairs))
    return sum(best) / len(best)


def measure(chosen, seed, folder):
    def run(*command):
        return subprocess.run([chosen.spikeweave, *map(str, command)], check=True, capture_output=True, text=True)

    whole, half = folder / "whole", chosen.length // 2
    run("simulate", "recording", "--channels", chosen.channels, "--units", chosen.units, "--length",
        f"{chosen.length}s", "--difficulty", chosen.difficulty, "--seed", seed, "-o", whole)
    samples = (whole / "traces.raw").read_bytes()
    cut = half * 30000 * chosen.channels * 2
    for name, part in (("first", samples[:cut]), ("second", samples[cut:])):
        shutil.copytree(whole, folder / name)
        (folder / name / "traces.raw").write_bytes(part)
    plain = ("--no-phy", "--no-report")
    run("sort", folder / "first", "--save-templates", folder / "rig.templates", "-o", folder / "a", *plain)
    run("sort", folder / "second", "--templates", folder / "rig.templates", "-o", folder / "b", *plain)
    run("sort", folder / "second", "-o", folder / "c", *plain)
    armed = folder / "armed.txt"
    armed.write_text("1 0-20ms 2\n")
    played = run("live", folder / "second", "--templates", folder / "rig.templates", "--no-windows", "--episodes", armed,
                 "--to", folder / "found.jsonl", *(["--realtime"] if chosen.realtime else []))
    truth = trains(chosen.spikeweave, whole / "truth.npz", folder)
    first = {unit: [time for time in times if time < half] for unit, times in truth.items()}
    second = {unit: [time - half for time in times if time >= half] for unit, times in truth.items()}
    found = (accuracy(part, trains(chosen.spikeweave, folder / name / "spikes.npz", folder))
             for name, part in (("a", first), ("b", second), ("c", second)))
    delays = re.search(r"median ([\d.]+) ms, 99 % ([\d.]+) ms, 99.9 % ([\d.]+) ms", played.stderr).groups()
    return *found, *map(float, delays)


def main():
    chosen = arguments()
    print("| seed | first half, by itself | second half, by its templates | by itself | delay: median | 99 % | 99.9 % |\n"
          "|---|---|---|---|---|---|---|")
    for seed in chosen.seeds:
        with tempfile.TemporaryDirectory() as folder:
            row = measure(chosen, seed, Path(folder))
        print(f"| {seed} | {' | '.join(f'{share:.3f}' for share in row[:3])} | "
              f"{' | '.join(f'{delay:.2f} ms' for delay in row[3:])} |", flush=True)


if __name__ == "__main__":
    main()
