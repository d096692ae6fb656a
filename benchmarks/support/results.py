"""Saves results of Python benchmarks as JSON beside those of Google Benchmark, and updates docs/benchmark-tables.md."""

import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def processor():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def save(name, columns, rows, spikeweave, versions, notes=()):
    """Saves to the folder of this machine that script/bench uses. `rows` are lists with a value for each column;
    `versions` are those of the programs that `spikeweave` is compared with, and `notes` are shown above the table."""
    machine = re.sub(r"[^A-Za-z0-9]+", "-", f"{processor()}-{os.cpu_count()}-cores").lower()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, check=True, capture_output=True, text=True)
    path = ROOT / "benchmarks/results" / machine / f"{datetime.date.today():%Y-%m-%d}-{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([spikeweave, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    command = " ".join([os.path.relpath(sys.executable, ROOT) if sys.prefix != sys.base_prefix else "python3", *sys.argv])
    context = {"processor": processor(), "num_cpus": os.cpu_count(), "commit": commit.stdout.strip(), "command": command,
               "versions": [version, *versions], "notes": list(notes)}
    path.write_text(json.dumps({"context": context, "columns": list(columns), "rows": rows}, indent=1) + "\n", encoding="utf-8")
    subprocess.run(["python3", ROOT / "tools/bench_report.py"], check=True)
    print(f"saved in {path.relative_to(ROOT)} and docs/benchmark-tables.md")
