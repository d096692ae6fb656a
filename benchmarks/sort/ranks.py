"""Times `spikeweave sort` of one recording on ranks of mpirun, one thread each, after comparing their files.

python3 benchmarks/sort/ranks.py SPIKEWEAVE [--ranks 1 2 4] [--length 60s] [--channels 32] [--runs 3]

The speed-up means something only with as many cores as ranks. The numbers of ranks take turns, so that other work of
the machine slows all of them, and the fastest run counts.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path


def tables(folder):
    """Returns the files of a result that have no times in them, by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and path.name not in ("run.json", "report.html")}


def seconds_of(command):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spikeweave")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--length", default="60s")
    parser.add_argument("--channels", default="32")
    parser.add_argument("--units", default="20")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--launch", default="mpirun --bind-to none -n")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        recording = Path(place) / "recording"
        subprocess.run([options.spikeweave, "-q", "simulate", "recording", "--difficulty", "realistic", "--length",
                        options.length, "--channels", options.channels, "--units", options.units, "--seed", "1", "-o",
                        recording], check=True)
        best = {}
        expected = None
        for _ in range(options.runs):
            for ranks in options.ranks:
                to = Path(place) / "sorted"
                launch = [*options.launch.split(), str(ranks)] if ranks > 1 else []
                seconds = seconds_of([*launch, options.spikeweave, "-q", "sort", recording, "--threads", "1", "--device",
                                      "cpu", "--overwrite", "-o", to])
                best[ranks] = min(seconds, best.get(ranks, seconds))
                expected = expected or tables(to)
                if tables(to) != expected:
                    raise SystemExit(f"{ranks} ranks give other files")
        first = best[options.ranks[0]]
        print(json.dumps({"channels": options.channels, "length": options.length, "cores": os.cpu_count()}))
        for ranks, seconds in best.items():
            print(f"{ranks} ranks  {seconds:7.2f} s  {first / seconds:.2f}")


if __name__ == "__main__":
    main()
