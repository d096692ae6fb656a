#!/usr/bin/env python3
"""Prints where the seconds of whole commands go, by the clock and on processors.

The stages are those that a command reports as its progress: what it does until it begins to report
the next one is part of a stage, so short work between two of them belongs to the one before.
"start" ends with the first report, and holds the start of a device, if one is used.

Usage: whole_commands.py [--command SPIKEWEAVE] [--json FILE] [COMMAND FILE OPTION...]
Without COMMAND it simulates a recording of each kind, and runs `episodes`, `spade` and `sort` with
their defaults, each on one thread and on all. --json also writes the figures to a file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
# The stages of `episodes` and `spade` by the first words of what they report; `sort` names its own.
STAGES = {
    "page": ("writing the page",),
    "read": ("reading",),
    "count": (
        "counting",
        "extending",
        "preparing steps",
        "joining",
        "bounding",
        "keeping pairs",
        "mining patterns",
    ),
    "test": ("testing", "mining surrogates", "stability", "reducing", "ordering"),
    "circuit": ("delays of edges", "timing of edges", "shared spikes", "comparing", "explaining"),
    "write": ("writing", "correlograms"),
}
SAMPLES = {
    "episodes": ("sym26", "--length 10min", "spikes.npz"),
    "spade": ("sym26", "--length 60s", "spikes.npz"),
    "sort": ("recording", "", "recording"),
}


def stage_of(line):
    """The stage of a line of progress, or None if it is something else, such as a warning."""
    if line.startswith("spikeweave:"):
        return None
    task = line.partition(":")[0].strip()
    for stage, tasks in STAGES.items():
        if task.startswith(tasks) and task != "counting in surrogates":
            return stage
    return "test" if task == "counting in surrogates" else task


def processor_seconds(process):
    """Of all threads until now."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND


def measure(spikeweave, words):
    """Returns [seconds, processor seconds] by stage, in the order in which the stages begin."""
    before = os.times()
    began = time.monotonic()
    process = subprocess.Popen(
        [str(spikeweave), "--progress", "plain", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    stages, now, last, said = {"start": [0.0, 0.0]}, "start", (0.0, 0.0), []

    def note(at):
        nonlocal last
        for k in (0, 1):
            stages[now][k] += at[k] - last[k]
        last = at

    for line in process.stderr:
        said.append(line)
        stage = stage_of(line)
        if stage and stage != now:
            note((time.monotonic() - began, processor_seconds(process)))
            now = stage
            stages.setdefault(now, [0.0, 0.0])
    if process.wait() != 0:
        raise SystemExit("".join(said[-3:]))
    after = os.times()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    note((time.monotonic() - began, used))
    return stages


def show(title, stages):
    print(title)
    whole = [sum(part) for part in zip(*stages.values(), strict=True)]
    for name, part in [*stages.items(), ("all", whole)]:
        share = part[0] / whole[0] if whole[0] else 0
        print(f"  {name:40} {part[0]:9.2f} s {part[1]:9.2f} processor s {share:6.1%}")
    sys.stdout.flush()


def samples(spikeweave, folder):
    """Yields commands on simulated recordings."""
    for name, (kind, options, file) in SAMPLES.items():
        to = folder / name / file
        to.parent.mkdir()
        made = [spikeweave, "simulate", kind, *options.split(), "--seed", "1", "-o", to]
        subprocess.run([str(word) for word in made], check=True, stdout=subprocess.DEVNULL)
        for threads in (1, os.cpu_count()):
            yield [
                name,
                str(to),
                "-o",
                str(folder / f"{name}-out"),
                "--overwrite",
                "--threads",
                str(threads),
            ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = ROOT / "build/release/bin/spikeweave"
    parser.add_argument("--command", type=Path, default=default, help=f"spikeweave [{default}]")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND FILE OPTION")
    chosen = parser.parse_args()
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for words in [chosen.words] if chosen.words else samples(chosen.command, Path(folder)):
            title = " ".join(word.replace(folder, "…") for word in words)
            figures[title] = measure(chosen.command, words)
            show(title, figures[title])
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
