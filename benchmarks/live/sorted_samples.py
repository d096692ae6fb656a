#!/usr/bin/env python3
"""Sorts the samples of a simulated recording by known templates with `spikeweave live`: as fast as possible, on threads
and on a GPU if there is one, and twice at the speed of the recording. Prints how many times as fast as recorded each run
was, and as the first one; the delays of spikes from their last sample; and whether detections are those of the first.

Usage: sorted_samples.py SPIKEWEAVE [--channels N] [--units N] [--length SECONDS] [--threads 1 4 16] [--realtime]
"""

import argparse
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path

ARMED = "1 0-20ms 2\n3 0-20ms 4\n5 0-20ms 6\n"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("spikeweave")
    parser.add_argument("--channels", type=int, default=384)
    parser.add_argument("--units", type=int, default=250)
    parser.add_argument("--length", type=int, default=90, help="seconds")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument(
        "--realtime",
        action="store_true",
        help="as of spikeweave live, which the system has to permit",
    )
    return parser.parse_args()


def has_gpu(spikeweave):
    shown = subprocess.run([spikeweave, "devices", "--json"], capture_output=True, text=True, check=True)
    return bool(json.loads(shown.stdout)["devices"])


def live(options, folder, speed, drift, device, threads):
    """Returns seconds, detections and the delays as text."""
    found = folder / "found.jsonl"
    command = [
        options.spikeweave,
        "live",
        folder / "rec",
        "--templates",
        folder / "rig",
        "--labels",
        "all",
    ]
    command += [
        "--no-windows",
        "--episodes",
        folder / "armed",
        "--to",
        found,
        "--overwrite",
        "--speed",
        speed,
    ]
    command += ["--drift", drift, "--device", device, "--threads", str(threads)]
    if options.realtime:
        command.append("--realtime")
    began = time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    took = time.monotonic() - began
    delays = re.search(r"median .*", run.stderr)
    detections = [
        line
        for line in found.read_text().splitlines()
        if "detection" in line and "stats" not in line
    ]
    return took, detections, delays.group(0) if delays else ""


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        made = [
            "--channels",
            str(options.channels),
            "--units",
            str(options.units),
            "--length",
            f"{options.length}s",
        ]
        made += ["--difficulty", "easy", "--seed", str(options.seed), "-o", folder / "rec"]
        quiet = {"check": True, "capture_output": True}
        subprocess.run([options.spikeweave, "simulate", "recording", *made], **quiet)
        sort = [
            "sort",
            folder / "rec",
            "--drift",
            "none",
            "--save-templates",
            folder / "rig",
            "-o",
            folder / "sorted",
        ]
        subprocess.run([options.spikeweave, *sort, "--no-phy", "--no-report"], **quiet)
        (folder / "armed").write_text(ARMED)
        runs = [("cpu", threads) for threads in options.threads]
        if has_gpu(options.spikeweave):
            runs += [("cuda", options.threads[0]), ("cuda", options.threads[-1])]
        print(
            "| drift | device, threads | times as fast as recorded | as the first | delays at speed 1 | same detections |"
        )
        print("|---|---|---|---|---|---|", flush=True)
        for drift in ("none", "automatic"):
            first = None
            for device, threads in runs:
                took, detections, _ = live(options, folder, "max", drift, device, threads)
                first = first or (took, detections)
                same = detections == first[1]
                delays = ""
                if (device, threads) in (("cpu", options.threads[0]), runs[-1]):
                    _, played, delays = live(options, folder, "1", drift, device, threads)
                    same = same and played == first[1]
                print(
                    f"| {drift} | {device}, {threads} | {options.length / took:.1f} | {first[0] / took:.1f} |"
                    f" {delays} | {'yes' if same else 'NO'} |",
                    flush=True,
                )


main()
