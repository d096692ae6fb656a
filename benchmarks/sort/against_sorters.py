#!/usr/bin/env python3
"""Compares spikeweave sort with klusta, MountainSort5 and Tridesclous2, on recordings with known truth.

Makes the environments of the other sorters from the pins in benchmarks/sort/peers, in FOLDER [build/peers]. Recordings and
results of these sorters are kept there until the pins change; spikeweave sorts again each time. A sorter that cannot be
installed, or fails, is in the table with the reason. klustakwik2 takes minutes.
Usage: against_sorters.py SPIKEWEAVE [--folder FOLDER] [--save] [--only SORTER]...
"""

import argparse
import hashlib
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
import results  # noqa: E402

PEERS = HERE / "peers"
INSIDE = PEERS / "inside.py"
# The requirements files from which each environment is installed, in order.
ENVIRONMENTS = {"spikeinterface": ["spikeinterface.txt"], "klusta": ["klusta_build.txt", "klusta.txt"]}
# The environment of each sorter and its task in inside.py.
SORTERS = {
    "klusta": ("klusta", "klusta"),
    "MountainSort5": ("spikeinterface", "mountainsort5"),
    "Tridesclous2": ("spikeinterface", "tridesclous2"),
    "spikeweave": (None, "spikeweave"),
}
COLUMNS = ("recording", "sorter", "seconds", "processor seconds", "units", "accuracy", "recall", "precision", "units above 0.8")


class Failed(Exception):
    pass


def run(*command, log):
    """Runs a command. Its output is in the log, and the last line of it in the error."""
    with open(log, "a", encoding="utf-8") as file:
        done = subprocess.run([str(word) for word in command], stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise Failed(lines[-1][:200] if lines else f"exit status {done.returncode}")


def environment(name, folder):
    """Returns the Python of an environment with the pins, and makes the environment if necessary."""
    pins = [PEERS / file for file in ENVIRONMENTS[name]]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in pins)).hexdigest()
    place, log = folder / name, folder / f"{name}.log"
    python, stamp = place / "bin/python", place / "pins.sha256"
    if stamp.exists() and stamp.read_text() == digest:
        return python
    print(f"making {place}", file=sys.stderr)
    shutil.rmtree(place, ignore_errors=True)
    for found in folder.glob(f"{name}-*.json"):
        found.unlink()
    log.unlink(missing_ok=True)
    run(sys.executable, "-m", "venv", place, log=log)
    for path in pins:
        run(python, "-m", "pip", "install", "--no-build-isolation", "-r", path, log=log)
    stamp.write_text(digest)
    return python


def make_recordings(spikeweave, python, folder):
    """Returns {name: folder with binary.json, probe.json, the samples and truth.npz (samples, labels)}."""
    own, theirs = folder / "spikeweave_simulate", folder / "spikeinterface_generate"
    log = folder / "recordings.log"
    if not own.exists():
        run(spikeweave, "simulate", "recording", "--seed", "1", "-o", own, log=log)
    if not theirs.exists():
        run(python, INSIDE, "generate", theirs, log=log)
    return {"generate_ground_truth_recording": theirs, "spikeweave simulate recording": own}


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sort_with_spikeweave(spikeweave, recording, result):
    sorted_to = result.with_suffix("")
    began, used = time.perf_counter(), processor_seconds()
    run(spikeweave, "sort", recording, "-o", sorted_to, "--overwrite", log=result.with_suffix(".log"))
    result.with_suffix(".json").write_text(json.dumps({
        "seconds": time.perf_counter() - began, "processor seconds": processor_seconds() - used}))
    shutil.copy(sorted_to / "sorting.npz", result)


def measure(name, recording, folder, spikeweave, pythons):
    """Returns the figures of one row."""
    where, task = SORTERS[name]
    result = folder / "-".join([where or "own", task, recording.name, "found.npz"])
    log, took, judged = (result.with_suffix(suffix) for suffix in (".log", ".json", ".judged.json"))
    if where is None:
        sort_with_spikeweave(spikeweave, recording, result)
    elif where not in pythons:
        raise Failed(f"not installed: see {where}.log")
    elif not took.exists():
        log.unlink(missing_ok=True)
        run(pythons[where], INSIDE, task, recording, result, log=log)
    run(pythons["spikeinterface"], INSIDE, "compare", recording, result, judged, log=log)
    return {**json.loads(took.read_text()), **json.loads(judged.read_text())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spikeweave", type=Path)
    parser.add_argument("--folder", type=Path, default=results.ROOT / "build/peers")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--only", action="append", choices=SORTERS, default=[])
    chosen = parser.parse_args()

    folder = chosen.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    pythons = {}
    for name in ENVIRONMENTS:
        try:
            pythons[name] = environment(name, folder)
        except Failed as reason:
            print(f"{name} cannot be installed: {reason}", file=sys.stderr)
    if "spikeinterface" not in pythons:
        return 1
    rows = []
    for where, recording in make_recordings(chosen.spikeweave.resolve(), pythons["spikeinterface"], folder).items():
        for name in chosen.only or SORTERS:
            try:
                found = measure(name, recording, folder, chosen.spikeweave.resolve(), pythons)
                rows.append([where, name, *(found[column] for column in COLUMNS[2:])])
            except Failed as reason:
                rows.append([where, name, str(reason), *[None] * (len(COLUMNS) - 3)])
            print(*rows[-1], sep="\t", flush=True)
    if chosen.save:
        results.save("against_sorters", COLUMNS, rows, chosen.spikeweave,
                     versions=[line.replace("==", " ") for file in ("klusta.txt", "spikeinterface.txt")
                               for line in (PEERS / file).read_text().splitlines()
                               if line.split("==")[0] in ("klusta", "klustakwik2", "spikeinterface", "mountainsort5")])
    return 0


if __name__ == "__main__":
    sys.exit(main())
