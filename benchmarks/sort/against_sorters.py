#!/usr/bin/env python3
"""Compares spikeweave sort with other sorters, on recordings with known truth or on a real one.

Makes the environments of the other sorters from the pins in benchmarks/sort/peers, in FOLDER
[build/peers]. Recordings and results of these sorters are kept there until the pins change;
spikeweave sorts again each time. A sorter that cannot be installed, or fails, is in the table with
the reason. All run at their defaults, one after another. klustakwik2 takes minutes.
Figures of each run are in FOLDER/results; peers/judge.py explains them.
Usage: against_sorters.py SPIKEWEAVE [options]
       against_sorters.py --download-wheels FOLDER [--python-version 3.12]
"""

import json
import resource
import shlex
import shutil
import sys
import time
from pathlib import Path

import options
import recordings
import tables
from environments import AGREE, JUDGE, PEERS, SORT, Environments, Failed, run

sys.path.append(str(Path(__file__).resolve().parent.parent / "support"))
import results

# The environment of each sorter and its name in peers/sort.py.
SORTERS = {
    "klusta": ("klusta", "klusta"),
    "MountainSort5": ("spikeinterface", "mountainsort5"),
    "Tridesclous2": ("spikeinterface", "tridesclous2"),
    "SpyKING CIRCUS 2": ("spikeinterface", "spykingcircus2"),
    "Lupin": ("torch", "lupin"),
    "Kilosort4": ("torch", "kilosort4"),
}
OWN = "spikeweave"
VERSIONED = ("klusta", "klustakwik2", "spikeinterface", "mountainsort5", "kilosort")


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def newer(file, *others):
    """Whether a file was written after others; those that do not exist do not matter."""
    times = [other.stat().st_mtime for other in others if other.exists()]
    return file.exists() and file.stat().st_mtime >= max(times, default=0)


class Comparison:
    """Sorters, their environments, and the folder of their results."""

    def __init__(self, chosen):
        self.folder = chosen.folder.resolve()
        self.results = self.folder / "results"
        self.results.mkdir(parents=True, exist_ok=True)
        self.spikeweave = chosen.spikeweave.resolve()
        self.variants = {OWN: []} | {
            f"{OWN} {name}": shlex.split(options) for name, options in chosen.variant
        }
        self.names = chosen.only or [*SORTERS, *self.variants]
        self.python = Environments(self.folder, chosen.wheels).python

    def sort_with_spikeweave(self, chosen, recording, result):
        sorted_to = result.with_suffix("")
        began, used = time.perf_counter(), processor_seconds()
        run(
            self.spikeweave,
            "sort",
            recording,
            "-o",
            sorted_to,
            "--overwrite",
            *chosen,
            log=result.with_suffix(".log"),
        )
        took = {
            "seconds": time.perf_counter() - began,
            "processor seconds": processor_seconds() - used,
        }
        shutil.copy(sorted_to / "sorting.npz", result)
        for name in ("spikes.npz", "units.tsv"):
            shutil.copy(sorted_to / name, result.with_suffix(f".{name}"))
        shutil.rmtree(sorted_to)
        result.with_suffix(".json").write_text(json.dumps(took))

    def result_of(self, sorter, recording):
        where, task = SORTERS.get(sorter, ("own", sorter.replace(" ", "-")))
        return self.results / f"{recording.name}.{where}.{task}.npz"

    def sort(self, sorter, recording):
        """Returns the .npz of samples and labels; the seconds are in the .json beside it."""
        where, task = SORTERS.get(sorter, ("own", sorter.replace(" ", "-")))
        result = self.result_of(sorter, recording)
        log = result.with_suffix(".log")
        if sorter in self.variants:
            log.unlink(missing_ok=True)
            self.sort_with_spikeweave(self.variants[sorter], recording, result)
        elif not newer(result.with_suffix(".json"), recording / "recipe.json", SORT):
            python = self.python(where)
            log.unlink(missing_ok=True)
            run(python, SORT, task, recording, result, log=log)
        return result

    def measure(self, sorter, recording):
        """Returns the figures of one run."""
        result = self.sort(sorter, recording)
        judged = result.with_suffix(".judged.json")
        if not newer(judged, result, JUDGE):
            run(
                self.python("spikeinterface"),
                JUDGE,
                recording,
                result,
                judged,
                log=result.with_suffix(".log"),
            )
        return {
            **json.loads(result.with_suffix(".json").read_text()),
            **json.loads(judged.read_text()),
        }


def compare_on_simulated(compared, chosen):
    """Returns the runs: dictionaries of recording, sorter and its figures, or the error."""
    first = recordings.DEVELOP if chosen.set == "develop" else chosen.first_seed
    runs = []
    cache = chosen.cache.resolve() if chosen.cache else compared.folder / "recordings"
    cache.mkdir(parents=True, exist_ok=True)
    for kind in recordings.matching(chosen.recordings):
        for seed in range(first, first + chosen.seeds):
            try:
                place = recordings.make(
                    kind, seed, cache, compared.spikeweave, compared.python("spikeinterface")
                )
            except Failed as reason:
                print(kind, seed, f"cannot be made: {reason}", sep="\t", file=sys.stderr)
                continue
            for sorter in compared.names:
                one = {"recording": kind, "seed": seed, "sorter": sorter}
                try:
                    one.update(compared.measure(sorter, place))
                except Failed as reason:
                    one["error"] = str(reason)
                runs.append(one)
                print(tables.line(one), flush=True)
                if chosen.json:
                    chosen.json.write_text(json.dumps(runs, indent=1) + "\n")
    return runs


def compare_on_real(compared, file):
    """Returns the rows of the table of agreement, and those of failures."""
    cache = compared.folder / "recordings"
    cache.mkdir(parents=True, exist_ok=True)
    place = recordings.real(file.resolve(), cache, compared.python("spikeinterface"))
    rate = json.loads((place / "binary.json").read_text())["kwargs"]["sampling_frequency"]
    found, failures = [], []
    for sorter in compared.names:
        try:
            found.append(f"{sorter}={compared.sort(sorter, place)}")
        except Failed as reason:
            failures.append([sorter, str(reason), *[None] * (len(tables.AGREEMENT) - 2)])
    figures = compared.results / f"{place.name}.agreement.json"
    run(
        compared.python("spikeinterface"),
        AGREE,
        rate,
        figures,
        *found,
        log=figures.with_suffix(".log"),
    )
    return json.loads(figures.read_text()) + failures


def versions():
    pins = [
        line.replace("==", " ")
        for file in ("klusta.txt", "spikeinterface.txt", "wheels.txt")
        for line in (PEERS / file).read_text().splitlines()
        if line.split("==")[0] in VERSIONED
    ]
    return list(dict.fromkeys(pins))


def report(chosen, name, columns, rows):
    print(tables.text(columns, rows))
    if chosen.save:
        results.save(name, columns, rows, chosen.spikeweave, versions())


def main():
    chosen = options.arguments(__doc__, [*SORTERS], OWN)
    compared = Comparison(chosen)
    try:
        compared.python("spikeinterface")
        if chosen.recording:
            report(
                chosen,
                "agreement_of_sorters",
                tables.AGREEMENT,
                compare_on_real(compared, chosen.recording),
            )
            return 0
    except Failed as reason:
        print(reason, file=sys.stderr)
        return 1
    runs = compare_on_simulated(compared, chosen)
    report(chosen, "against_sorters", tables.SUMMARY, tables.summary(runs))
    report(chosen, "against_sorters_by_snr", *tables.by_snr(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
