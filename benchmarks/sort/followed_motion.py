#!/usr/bin/env python3
"""Plays simulated recordings, whose units begin to move after the part from which templates come, and compares the
spikes with the truth: with the motion followed, and without. Prints a row of a table for each recording and minute.

Usage: followed_motion.py SPIKEWEAVE [--seeds 100 101 ...] [--drift UM ...] [--first SECONDS] [--length SECONDS]
                          [--channels N] [--units N] [--difficulty easy|realistic]
"""

import argparse
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from known_templates import accuracy, matched, trains


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spikeweave")
    parser.add_argument("--seeds", type=int, nargs="+", default=[100])
    parser.add_argument("--drift", type=int, nargs="+", default=[0, 20, 40], help="um, at constant speed")
    parser.add_argument("--first", type=int, default=60, help="seconds from which templates come, without motion")
    parser.add_argument("--length", type=int, default=600, help="seconds that are played")
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--units", type=int, default=20)
    parser.add_argument("--difficulty", default="easy")
    return parser.parse_args()


def recall(truth, found):
    """Returns the mean over true units of the share of its spikes that the unit with most of them has."""
    return sum(max(matched(own, other) for other in found.values()) / len(own) for own in truth.values()) / len(truth)


def within(times, begin, end):
    return {unit: [time for time in all_of if begin <= time < end] for unit, all_of in times.items()}


def measure(chosen, seed, drift, folder):
    """Returns for each minute accuracy and recall with the motion followed, and without, and the last displacement."""
    def run(*command):
        subprocess.run([chosen.spikeweave, *map(str, command)], check=True, capture_output=True)

    whole = folder / "whole"
    moves = ("--drift", f"{drift}um", "--drift-start", f"{chosen.first}s") if drift else ()
    run("simulate", "recording", "--channels", chosen.channels, "--units", chosen.units, "--difficulty", chosen.difficulty,
        "--length", f"{chosen.first + chosen.length}s", "--seed", seed, *moves, "-o", whole)
    truth = trains(chosen.spikeweave, whole / "truth.npz", folder)
    cut = chosen.first * 30000 * chosen.channels * 2
    for name in ("first", "rest"):
        shutil.copytree(whole, folder / name, ignore=shutil.ignore_patterns("traces.raw"))
    with open(whole / "traces.raw", "rb") as samples:
        (folder / "first" / "traces.raw").write_bytes(samples.read(cut))
        with open(folder / "rest" / "traces.raw", "wb") as rest:
            shutil.copyfileobj(samples, rest, 1 << 24)
    (whole / "traces.raw").unlink()
    rig = folder / "rig.templates"
    run("sort", folder / "first", "--drift", "none", "--save-templates", rig, "-o", folder / "a", "--no-phy", "--no-report")
    (folder / "armed.txt").write_text("1 0-20ms 2\n")
    truth = {unit: [time - chosen.first for time in times if time >= chosen.first] for unit, times in truth.items()}
    found, last = {}, 0.0
    for model in ("automatic", "none"):
        session = folder / f"{model}.session"
        run("live", folder / "rest", "--templates", rig, "--drift", model, "--labels", "all", "--speed", "max", "--no-windows",
            "--episodes", folder / "armed.txt", "--record", session, "--to", folder / f"{model}.jsonl")
        found[model] = trains(chosen.spikeweave, session, folder)
        if model == "automatic":
            with sqlite3.connect(session) as opened:
                steps = opened.execute("SELECT value FROM meta WHERE name = 'motion'").fetchall()
            last = float(steps[0][0].split()[-1]) if steps else 0.0
    rows = []
    for minute in range(0, chosen.length, 60):
        own = within(truth, minute, minute + 60)
        rows.append([measured(own, within(found[model], minute, minute + 60))
                     for model in ("automatic", "none") for measured in (accuracy, recall)])
    return rows, last


def main():
    chosen = arguments()
    print("| drift | seed | minute | followed: accuracy | recall | not followed: accuracy | recall |\n|---|---|---|---|---|---|---|")
    for drift in chosen.drift:
        for seed in chosen.seeds:
            with tempfile.TemporaryDirectory() as folder:
                rows, last = measure(chosen, seed, drift, Path(folder))
            for minute, row in enumerate(rows, 1):
                print(f"| {drift} um | {seed} | {minute} | {' | '.join(f'{share:.3f}' for share in row)} |", flush=True)
            print(f"The last displacement of {drift} um, seed {seed}, was {last:.1f} um.", flush=True)


if __name__ == "__main__":
    main()
