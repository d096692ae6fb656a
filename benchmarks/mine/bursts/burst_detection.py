#!/usr/bin/env python3
"""Finds bursts in trains whose bursts are known, and judges them: by both methods of spikeweave, and with R by the programs
of others.

Marked trains are those of Cotterill et al. 2016: six kinds of simulated trains, 100 each, and retinal ganglion cells
(Demas et al. 2003) whose bursts a person marked. Others are simulated here: units that fire at random or in short bursts
during fast firing, and cultures with bursts of the network.

A burst is found if a detected burst shares at least half of the spikes that are in one of the two; a detected burst is
right in the same way. "spikes" is the share of all spikes that are rightly inside or outside of bursts.

Usage: burst_detection.py SPIKEWEAVE [--comparison BURSTANALYSIS] [--sjemea SJEMEA] [--first-seed 101] [--seeds 10]
BURSTANALYSIS and SJEMEA are checkouts of github.com/ellesec/burstanalysis and sje30/sjemea; their trains and programs
need R with jsonlite and pracma.
"""

import argparse
import csv
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

OURS = {
    "max-interval": [],
    "max-interval, as in cultures": "--begin-interval 100ms --end-interval 250ms --min-separation 800ms --min-duration 50ms --min-spikes 6".split(),
    "log-isi": ["--method", "log-isi"],
}

# Both have names in R, which a person marked or a simulation knows; bursts that are not spikes are left out.
READ_TRAINS = r"""
folder <- commandArgs(TRUE)[1]
load(file.path(folder, "Simulation_results/sim_data.RData"))
load(file.path(folder, "Demas_analysis/demas.RData"))
kinds <- setdiff(names(sim.data), "comp.time")
out <- lapply(setNames(kinds, kinds), function(kind) lapply(sim.data[[kind]], function(train) {
  if (is.null(train$burst.beg)) return(list(times = train$spks, begin = numeric(0), end = numeric(0)))
  ends <- list(train$burst.beg, train$burst.end)
  if (kind == "noisy.bursts") ends <- lapply(ends, function(index) train$spks[index])
  list(times = train$spks, begin = ends[[1]], end = ends[[2]])
}))
out$marked <- do.call(c, lapply(demas, function(one) {
  marked <- which(sapply(one$allb, function(bursts) is.matrix(bursts)))
  lapply(marked, function(i) list(times = one$spikes[[i]], begin = one$spikes[[i]][one$allb[[i]][, "beg"]],
                                  end = one$spikes[[i]][one$allb[[i]][, "end"]]))
}))
names(out$marked) <- NULL
cat(jsonlite::toJSON(out, digits = 9))
"""

RUN_PEERS = r"""
words <- commandArgs(TRUE)
trains <- jsonlite::fromJSON(words[1], simplifyVector = TRUE, simplifyDataFrame = FALSE)
library <- function(package, ...) if (as.character(substitute(package)) != "sjemea") base::library(as.character(substitute(package)), character.only = TRUE)
for (name in c("MI_method.R", "logisi_pasq_method.R", "RS_method.R")) source(file.path(words[2], "Burst_detection_methods", name))
for (name in c("maxinterval.R", "surprise2.R")) source(file.path(words[3], "R", name))
mi.par <- list(beg.isi = 0.17, end.isi = 0.3, min.ibi = 0.2, min.durn = 0.01, min.spikes = 3)
methods <- list(MaxInterval = MI.method, logISI = logisi.pasq.method, `rank surprise` = function(times) RS.method(times, -log(0.01))[[1]])
cat(jsonlite::toJSON(lapply(methods, function(method) {
  started <- proc.time()[[3]]
  bursts <- lapply(trains, function(train) {
    found <- method(unlist(train$times))
    if (is.matrix(found) && nrow(found) > 0) unname(found[, c("beg", "end"), drop = FALSE]) else list()
  })
  list(bursts = bursts, seconds = proc.time()[[3]] - started)
}), auto_unbox = FALSE))
"""


def run_r(program, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".R") as file:
        file.write(program)
        file.flush()
        return json.loads(subprocess.run(["Rscript", file.name, *map(str, words)], check=True, stdout=subprocess.PIPE).stdout)


def run_ours(command, trains, options, table="bursts"):
    """The rows of a table of the result, for trains that are the units of one recording; and the seconds it took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spikes = sorted((at, unit) for unit, train in enumerate(trains) for at in train["times"])
        (folder / "spikes.tsv").write_text("time\tunit\n" + "".join(f"{at:.6f}\t{unit}\n" for at, unit in spikes))
        words = ["bursts", folder / "spikes.tsv", "-o", folder / "out", "--no-report", "-q", *options]
        subprocess.run([command, *words], check=True, stderr=subprocess.DEVNULL)
        seconds = json.loads((folder / "out/run.json").read_text())["seconds"]
        with (folder / f"out/{table}.tsv").open() as file:
            return list(csv.DictReader(file, delimiter="\t")), seconds


def indices(times, begin, end):
    """The first and the last spike of each burst, by times that are rounded."""
    slack = 2e-6
    return list(zip(np.searchsorted(times, np.array(begin) - slack), np.searchsorted(times, np.array(end) + slack) - 1, strict=True))


def matched(some, others):
    """How many of the bursts share at least half of the spikes with one of the others."""
    count = 0
    for first, last in some:
        shared = [(min(last, b) - max(first, a) + 1, max(last, b) - min(first, a) + 1) for a, b in others if a <= last and b >= first]
        count += any(2 * both >= either for both, either in shared)
    return count


def score(trains, found):
    """Numbers of true bursts, of these found, detected, of these right, spikes, of these right, and spikes in bursts."""
    total = np.zeros(7, np.int64)
    for train, bursts in zip(trains, found, strict=True):
        times = np.asarray(train["times"])
        true = indices(times, train["begin"], train["end"])
        inside = np.zeros((2, len(times)), bool)
        for row, ranges in zip(inside, (true, bursts), strict=True):
            for first, last in ranges:
                row[first : last + 1] = True
        total += [len(true), matched(true, bursts), len(bursts), matched(bursts, true), len(times), (inside[0] == inside[1]).sum(), inside[1].sum()]
    return total


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "–"


def show(kind, method, total, seconds):
    true, hit, detected, right, spikes, same, inside = total
    print(f"| {kind} | {method} | {percent(hit, true)} | {percent(right, detected) if true else f'{detected} bursts'} | {percent(same, spikes)} | "
          f"{percent(inside, spikes)} | {seconds:.2f} |", flush=True)


def compare(command, kind, trains, arguments, with_peers=True):
    for method, options in OURS.items():
        rows, seconds = run_ours(command, trains, options)
        found = [[] for _ in trains]
        for row in rows:
            times = np.asarray(trains[int(row["unit"])]["times"])
            found[int(row["unit"])] += indices(times, [float(row["begin_s"])], [float(row["end_s"])])
        show(kind, method, score(trains, found), seconds)
    if not (with_peers and arguments.comparison and arguments.sjemea):
        return
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(trains, file)
        file.flush()
        peers = run_r(RUN_PEERS, file.name, arguments.comparison, arguments.sjemea)
    for method, result in peers.items():
        found = [[(int(first) - 1, int(last) - 1) for first, last in bursts] for bursts in result["bursts"]]
        show(kind, f"{method}, in R", score(trains, found), result["seconds"][0])


def fast_unit(seed, rate, bursts, seconds=300):
    """Random spikes, and if wanted bursts of 3 or more spikes about 5 ms apart, 0.3 in a second."""
    random = np.random.default_rng(seed)
    times = np.sort(random.uniform(0, seconds, random.poisson(rate * seconds)))
    times = times[np.append(True, np.diff(times) > 0.002)]
    begin, end = [], []
    for at in np.sort(random.uniform(0, seconds - 1, random.poisson(0.3 * seconds))) if bursts else ():
        if end and at < end[-1] + 0.1:
            continue
        own = at + np.append(0, np.cumsum(random.uniform(0.003, 0.007, max(3, random.poisson(4)) - 1)))
        times = np.append(times[(times < own[0] - 0.01) | (times > own[-1] + 0.01)], own)
        begin.append(own[0])
        end.append(own[-1])
    return {"times": sorted(times), "begin": begin, "end": end}


def culture(seed, units=59, seconds=600):
    """Units with random spikes and bursts of their own, and bursts of the network in which 25 to 100 % of them take part."""
    random = np.random.default_rng(seed)
    trains = [list(random.uniform(0, seconds, random.poisson(seconds * min(5, random.lognormal(-1.2, 1))))) for _ in range(units)]

    def burst(unit, at):
        spikes = np.sort(at + random.uniform(0.1, 0.5) * random.beta(1, 2, 5 + random.poisson(8)))
        trains[unit] += list(spikes)
        return spikes[0], spikes[-1]

    for unit in range(units):
        for at in random.uniform(0, seconds - 1, random.poisson(seconds / 60 * random.uniform(0, 6))):
            burst(unit, at)
    truth, at = [], random.exponential(8)
    while at < seconds - 2:
        share, jitter = random.uniform(0.25, 1), random.uniform(0.02, 0.15)
        own = [burst(unit, at + random.exponential(jitter)) for unit in range(units) if random.uniform() < share]
        truth.append((min(own)[0], max(end for _, end in own)))
        at = truth[-1][1] + 0.5 + random.exponential(6)
    return [{"times": train} for train in trains], truth


def network(command, arguments):
    print("| `--network-share` | method | true | found, % | detected | right, % |\n|---|---|---|---|---|---|")
    cultures = [culture(seed) for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds)]
    for share in (0.1, 0.15, 0.2, 0.25, 0.3):
        for method, options in OURS.items():
            total = np.zeros(4, np.int64)
            for trains, truth in cultures:
                rows, _ = run_ours(command, trains, ["--network-share", str(share), *options], "network_bursts")
                found = [(float(row["begin_s"]), float(row["end_s"])) for row in rows]
                total += [len(truth), sum(any(a <= e and b >= s for a, b in found) for s, e in truth),
                          len(found), sum(any(a <= e and b >= s for s, e in truth) for a, b in found)]
            print(f"| {share} | {method} | {total[0]} | {percent(total[1], total[0])} | {total[2]} | {percent(total[3], total[2])} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spikeweave")
    parser.add_argument("--comparison", type=Path)
    parser.add_argument("--sjemea", type=Path)
    parser.add_argument("--first-seed", type=int, default=101)
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    started = time.monotonic()
    print("| trains | method | found, % | right, % | spikes, % | in bursts, % | time, s |\n|---|---|---|---|---|---|---|")
    if arguments.comparison:
        for kind, trains in run_r(READ_TRAINS, arguments.comparison).items():
            compare(arguments.spikeweave, kind, trains, arguments)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    for rate, bursts in ((1, False), (3, False), (10, False), (1, True), (5, True), (10, True)):
        kind = f"{'short bursts and ' if bursts else ''}random spikes at {rate} Hz"
        compare(arguments.spikeweave, kind, [fast_unit(1000 * rate + seed, rate, bursts) for seed in seeds], arguments)
    print()
    network(arguments.spikeweave, arguments)
    print(f"\n{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
