"""Compares SPADE of spikeweave.elephant with Elephant itself in one run, results first.

The spike trains are those of Porrmann et al. 2021, and the jobs those of their Table 1. Each call
runs in a separate process with all cores. Time is that of the call, peak memory that of the
process.

Elephant's compiled miner takes minutes for each of the jobs 2 to 7 (Elephant around it hours):
--all runs only the miner for these, and compares the numbers of patterns by size and number of
occurrences.

Usage: elephant_spade.py SPIKES.tsv.gz [--all] [--surrogates 100]
"""

import argparse
import collections
import contextlib
import gzip
import hashlib
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import time
import warnings

import neo
import numpy as np
import quantities as pq

# min_occ, and the least number of spikes and neurons.
JOBS = [(88, 2), (25, 3), (12, 4), (10, 5), (10, 6), (10, 7), (10, 8), (10, 9)]
WINDOW = 20
BIN = 5 * pq.ms
SEED = 1


def trains_of(path):
    with gzip.open(path, "rt", encoding="ascii") as file:
        next(file)
        rows = np.array([line.split() for line in file], dtype=float)
    stop = (np.floor(rows[:, 0].max() / 0.005) + 1) * 0.005
    return [
        neo.SpikeTrain(rows[rows[:, 1] == unit, 0], units="s", t_stop=stop)
        for unit in range(int(rows[:, 1].max()) + 1)
    ]


def module_of(name):
    if name == "spikeweave":
        import spikeweave.elephant as module
    else:
        import elephant.spade as module
    return module


class Clock:
    """Measures wall and CPU seconds of its block."""

    def __enter__(self):
        self.began = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall = time.perf_counter() - self.began[0]
        self.cpu = time.process_time() - self.began[1]


def digest(concepts):
    """Returns a digest of all concepts in their order."""
    out = hashlib.sha256()
    for intent, extent in concepts:
        out.update(np.array([len(intent), *intent, *extent], dtype=np.int64).tobytes())
    return out.hexdigest()


def concepts_job(module, trains, job):
    min_occ, size = JOBS[job]
    with Clock() as clock:
        concepts, _ = module.concepts_mining(
            trains, BIN, WINDOW, min_spikes=size, min_occ=min_occ, min_neu=size
        )
        patterns = len(concepts)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = digest(concepts) if job < 2 else None
    return {
        "wall": clock.wall,
        "cpu": clock.cpu,
        "peak": peak,
        "patterns": patterns,
        "answer": answer,
    }


def fim_job(module, trains, job):
    """Runs only the miner; it is compared with `concepts_job` of spikeweave, which does more."""
    import spikeweave.elephant as ours
    from spikeweave.elephant._mining import _as_transactions, _mine_transactions

    min_occ, size = JOBS[job]
    binned = ours._binning.bin_trains(trains, BIN)
    _starts, offsets, items = binned.windows(WINDOW)
    windows = [items[i:j].tolist() for i, j in itertools.pairwise(offsets)]
    if module.__name__ == "spikeweave.elephant":
        found = _mine_transactions(
            _as_transactions(windows), WINDOW, min_spikes=size, min_occ=min_occ, min_neu=size
        )
        signatures = collections.Counter(
            zip(
                np.diff(found["item_offsets"].astype(int)).tolist(),
                found["counts"].tolist(),
                strict=False,
            )
        )
        clock = None
    else:
        with Clock() as clock:
            found = module.fim.fpgrowth(
                tracts=windows,
                target="c",
                supp=-min_occ,
                zmin=size,
                zmax=0,
                report="a",
                algo="s",
                winlen=WINDOW,
                min_neu=size,
                threads=0,
                verbose=4,
            )
        signatures = collections.Counter((len(intent), count) for intent, count in found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "wall": clock and clock.wall,
        "cpu": clock and clock.cpu,
        "peak": peak,
        "patterns": sum(signatures.values()),
        "answer": sorted(signatures.items()),
    }


def spade_job(module, trains, surrogates):
    np.random.seed(SEED)
    random.seed(SEED)
    min_occ, size = JOBS[0]
    with (
        open(os.devnull, "w", encoding="ascii") as nowhere,
        contextlib.redirect_stdout(nowhere),
        Clock() as clock,
    ):
        result = module.spade(
            trains,
            BIN,
            WINDOW,
            min_spikes=size,
            min_occ=min_occ,
            n_surr=surrogates,
            alpha=0.05,
            dither=15 * pq.ms,
            output_format="concepts",
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spectrum = [[float(value) for value in entry] for entry in result["pvalue_spectrum"]]
    return {
        "wall": clock.wall,
        "cpu": clock.cpu,
        "peak": peak,
        "patterns": len(result["patterns"]),
        "answer": [
            spectrum,
            [list(map(float, one)) for one in result["non_sgnf_sgnt"]],
            digest(result["patterns"]),
        ],
    }


CALLS = {"concepts": concepts_job, "fim": fim_job, "spade": spade_job}


def measured(path, call, name, which):
    """Returns the result of a call in a separate process."""
    run = subprocess.run(
        [sys.executable, __file__, path, "--child", call, name, str(which)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(run.stdout.splitlines()[-1])


def line(what, name, result):
    print(
        f"{what:<12} {name:<18} {result['wall']:9.2f} s {result['cpu']:9.2f} CPU s "
        f"{result['peak'] / 1024:8.0f} MB {result['patterns']:10,} patterns",
        flush=True,
    )


def compare(what, ours, theirs):
    if ours["answer"] != theirs["answer"]:
        sys.exit(
            f"{what}: the answers differ: {ours['patterns']} and {theirs['patterns']} patterns"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--surrogates", type=int, default=100)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.child:
        call, name, which = given.child
        print(json.dumps(CALLS[call](module_of(name), trains_of(given.path), int(which))))
        return

    total = {"spikeweave": 0.0, "fim": 0.0}
    for job in range(len(JOBS)):
        what = f"job {job}"
        ours = measured(given.path, "concepts", "spikeweave", job)
        line(what, "spikeweave.elephant", ours)
        if job < 2:
            theirs = measured(given.path, "concepts", "elephant", job)
            compare(what, ours, theirs)
            line(what, "elephant", theirs)
        if job >= 2 and not given.all:
            continue
        fim = measured(given.path, "fim", "elephant", job)
        compare(what, measured(given.path, "fim", "spikeweave", job), fim)
        line(what, "its miner alone", fim)
        total["spikeweave"] += ours["wall"]
        total["fim"] += fim["wall"]
        print(
            f"{what}: {fim['wall'] / ours['wall']:.0f} times as fast as Elephant's miner alone",
            flush=True,
        )
    jobs = "all jobs" if given.all else "jobs 0 and 1"
    print(
        f"{jobs}: {total['fim'] / total['spikeweave']:.0f} times as fast as Elephant's miner alone",
        flush=True,
    )

    if given.surrogates:
        what = f"{given.surrogates} surr."
        ours, theirs = (
            measured(given.path, "spade", name, given.surrogates)
            for name in ("spikeweave", "elephant")
        )
        compare("spade", ours, theirs)
        line(what, "spikeweave.elephant", ours)
        line(what, "elephant", theirs)
        print(f"spade: {theirs['wall'] / ours['wall']:.0f} times as fast")


if __name__ == "__main__":
    main()
