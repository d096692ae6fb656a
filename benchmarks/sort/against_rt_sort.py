#!/usr/bin/env python3
"""Sorts the second half of a simulated recording as it comes, by what RT-Sort and spikeweave have learned in the first, and
compares both with the truth: recall, precision, and the time from the peak of a spike until it is known. Prints a row of a
table for each.

RT-Sort needs an environment of its own and its weights (SpikeLab's folder detection_models/neuropixels, which PyPI's
package lacks):
  python3 -m venv build/peers/rt_sort && build/peers/rt_sort/bin/pip install -r benchmarks/sort/peers/rt_sort.txt
  build/peers/rt_sort/bin/pip install --no-deps spikelab==0.1.2
Usage: against_rt_sort.py SPIKEWEAVE PYTHON WEIGHTS [--seeds 100 ...] [--length SECONDS] [--channels N] [--units N]
                          [--difficulty easy|realistic] [--device cuda]
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from known_templates import matched, trains

PEER = Path(__file__).resolve().parent / "peers" / "rt_sort.py"
PEAK_TO_KNOWN_MS = 3.6  # of spikeweave, at 30 kHz: 3.1 to 4.1 ms, with the block in which the spike is


def quality(truth, found):
    """Returns recall and precision: the mean over true units of the share of their spikes that the found unit with the
    most of them has, and of the share of that unit's spikes that are theirs."""
    recalls, precisions = [], []
    for own in truth.values():
        pairs, size = max(((matched(own, other), len(other)) for other in found.values()), default=(0, 0))
        recalls.append(pairs / len(own))
        precisions.append(pairs / size if size else 0)
    return statistics.mean(recalls), statistics.mean(precisions)


def quantiles(values):
    ordered = sorted(values)
    return [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99)]


def parted(recording, half, folder):
    """Both halves, as recordings."""
    described = json.loads((recording / "binary.json").read_text())["kwargs"]
    cut = half * round(described["sampling_frequency"]) * described["num_channels"] * 2
    samples = (recording / "traces.raw").read_bytes()
    for name, part in (("first", samples[:cut]), ("second", samples[cut:])):
        shutil.copytree(recording, folder / name, ignore=shutil.ignore_patterns("traces.raw"))
        (folder / name / "traces.raw").write_bytes(part)


def own_row(chosen, half, folder, truth):
    def run(*command):
        return subprocess.run([chosen.spikeweave, *map(str, command)], check=True, capture_output=True, text=True)

    rig, session = folder / "rig.templates", folder / "s.session"
    run("sort", folder / "first", "--drift", "none", "--save-templates", rig, "-o", folder / "a", "--no-phy", "--no-report")
    (folder / "armed.txt").write_text("1 0-20ms 2\n")
    played = run("live", folder / "second", "--templates", rig, "--labels", "all", "--no-windows", "--episodes", folder / "armed.txt",
                 "--speed", "1", "--record", session, "--to", folder / "found.jsonl")
    median, most = map(float, re.search(r"median ([\d.]+) ms, 99 % ([\d.]+) ms", played.stderr).groups())
    found = {unit: [time + half for time in times] for unit, times in trains(chosen.spikeweave, session, folder).items()}
    return len(found), *quality(truth, found), PEAK_TO_KNOWN_MS + median, PEAK_TO_KNOWN_MS + most


def peer_row(chosen, half, folder, recording, truth):
    out = folder / "rt_sort.json"
    subprocess.run([chosen.python, PEER, recording, str(half), chosen.weights, out, "--device", chosen.device], check=True)
    found = json.loads(out.read_text())
    if not found["spikes"]:
        return 0, 0, 0, float("nan"), float("nan")
    print(f"RT-Sort learned for {found['learning_s']:.0f} s, and then took {sum(found['blocks_ms']) / 1e3 / found['seconds']:.2f} s for a "
          f"second of samples; its blocks took {quantiles(found['blocks_ms'])} ms (median, 99 %).", flush=True)
    trains_of = {unit: sorted(times) for unit, times in found["spikes"].items()}
    return found["sequences"], *quality(truth, trains_of), *quantiles(found["delays_ms"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spikeweave")
    parser.add_argument("python")
    parser.add_argument("weights")
    parser.add_argument("--seeds", type=int, nargs="+", default=[100])
    parser.add_argument("--length", type=int, default=120, help="seconds, of which half are sorted")
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--units", type=int, default=20)
    parser.add_argument("--difficulty", default="easy")
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    half = chosen.length // 2
    print("| seed | sorter | units | recall | precision | peak to known: median | 99 % |\n|---|---|---|---|---|---|---|")
    for seed in chosen.seeds:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            whole = folder / "whole"
            subprocess.run([chosen.spikeweave, "simulate", "recording", "--channels", str(chosen.channels), "--units", str(chosen.units),
                            "--length", f"{chosen.length}s", "--difficulty", chosen.difficulty, "--seed", str(seed), "-o", whole],
                           check=True, capture_output=True)
            parted(whole, half, folder)
            truth = {unit: [time for time in times if time >= half]
                     for unit, times in trains(chosen.spikeweave, whole / "truth.npz", folder).items()}
            for sorter, row in (("spikeweave", own_row(chosen, half, folder, truth)),
                                ("RT-Sort", peer_row(chosen, half, folder, whole, truth))):
                units, recall, precision, median, most = row
                print(f"| {seed} | {sorter} | {units} | {recall:.3f} | {precision:.3f} | {median:.1f} ms | {most:.1f} ms |", flush=True)


if __name__ == "__main__":
    main()
