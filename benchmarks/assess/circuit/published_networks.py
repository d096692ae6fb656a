#!/usr/bin/env python3
"""Writes networks with known synapses, from public repositories, as spikes and truth in text.

Each FOLDER is a clone, bare or not, of one of
  christiando/spycon (MIT): spycontiny and spycon20, leaky integrate-and-fire networks;
  NaixinRen/extended-GLM-for-synapse-detection: ren20 and ren50, of Ren et al. 2020. It has no
    licence: keep what is written from it to yourself.
Weights keep the unit of their source, although the column is weight_mv: only their order is used.
spycontiny has no weights, so they are 1.
Usage: published_networks.py FOLDER... -o OUTPUT
"""

import argparse
import io
import subprocess
import sys
from pathlib import Path

import numpy
from scipy.io import loadmat

REN = {n: f"simulated data_{n} neurons.mat" for n in (20, 50)}
SPYCON = {
    "spycontiny": "data/gt_data/sim1917Cell1Block1_tiny.npz",
    "spycon20": "data/gt_data/ren_simulation_1917_Cell1Block1_long_340_20_ei5_example.npz",
}
SECONDS = {"ren20": 3600, "ren50": 3600, "spycontiny": 1800, "spycon20": 3600}


def shown(folder, path):
    """Returns a file of the newest commit, or None if it has no such file."""
    said = subprocess.run(["git", "-C", folder, "show", f"HEAD:{path}"], capture_output=True)
    return io.BytesIO(said.stdout) if said.returncode == 0 else None


def from_ren(file):
    """Returns the times in seconds, the weights [from, to] and the delays in ms."""
    data = loadmat(file, squeeze_me=True, struct_as_record=False)["data"]
    trains = [numpy.atleast_1d(spikes) / 1000 for spikes in data.spk]
    return trains, data.syn.w_syn, data.syn.dt_true


def from_spycon(file):
    data = numpy.load(file)
    nodes = data["nodes"].tolist()
    trains = [data["times"][data["ids"] == node] for node in nodes]
    weights = numpy.zeros((len(nodes), len(nodes)))
    for source, target, weight in data["marked_edges"]:
        if source != target:
            weights[nodes.index(source), nodes.index(target)] = weight
    return trains, weights, numpy.full_like(weights, numpy.nan)


def write(name, trains, weights, delays, output):
    times = numpy.concatenate(trains)
    units = numpy.repeat(numpy.arange(len(trains)), [len(train) for train in trains])
    order = numpy.argsort(times, kind="stable")
    with open(output / f"{name}.tsv", "w") as file:
        file.write(f"# span_s: 0 {SECONDS[name]}\ntime_s\tunit\n")
        file.writelines(f"{times[i]:.6f}\tn{units[i]}\n" for i in order)
    with open(output / f"{name}.truth.tsv", "w") as file:
        file.write("from\tto\tdelay_ms\tweight_mv\n")
        for source, target in numpy.argwhere(weights):
            delay = delays[source, target]
            shown_delay = "-" if numpy.isnan(delay) else f"{delay:g}"
            file.write(f"n{source}\tn{target}\t{shown_delay}\t{weights[source, target]:.6g}\n")
    excites, inhibits = (weights > 0).sum(), (weights < 0).sum()
    print(
        f"{name}: {len(trains)} units, {len(times)} spikes, "
        f"{excites} excitatory and {inhibits} inhibitory synapses"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    known = [(f"ren{n}", path, from_ren) for n, path in REN.items()]
    known += [(name, path, from_spycon) for name, path in SPYCON.items()]
    written = 0
    for folder in chosen.folders:
        for name, path, convert in known:
            file = shown(folder, path)
            if file is not None:
                write(name, *convert(file), chosen.output)
                written += 1
    if written == 0:
        print("none of the folders contains a known network", file=sys.stderr)
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main())
