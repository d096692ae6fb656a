#!/usr/bin/env python3
"""Judges the whole way, from voltages to the circuit, on networks whose synapses are known.

`spikeweave simulate network` simulates the spikes, `spikeweave simulate recording --spikes` or
SpikeInterface the voltages. Sorters sort these at their defaults, and from the units of each spikeweave and
CellExplorer's rule (../assess/circuit/peers.py) find connections; spikeweave takes the units that it
labels good, as it does by default. True spikes give the ceiling.
Columns: units, those that match a neuron with an accuracy above 0.8, false ones (peers/judge.py),
of spikeweave's the number labelled good, and of those the ones that match like that; and of both signs the connections that are true, those that are false (a unit that matches no neuron
by 0.3 has none) and those that are found from true spikes but not from the units.
Usage: electrode_to_circuit.py SPIKEWEAVE [options]
"""

import csv
import json
import sys
from pathlib import Path

import numpy
import options
import recordings
import tables
from against_sorters import OWN, SORTERS, Comparison, results, versions
from environments import Failed

sys.path.append(str(Path(__file__).resolve().parent.parent / "assess/circuit"))
import networks
import own
import peers
import scores

TOLERANCE_S = 0.0004
LEAST_ACCURACY = 0.3  # of a unit that stands for a neuron
RIGHT = 0.8  # the accuracy of a unit that is found
TRUTH = "true spikes"
CIRCUITS = (OWN, "CellExplorer 8 ms")
UNITS = ("units", "> 0.8", "false units", "good", "good > 0.8")
COLUMNS = ("recording", "seed", "sorter", *UNITS, "circuit", "true", "false", "lost")


def shared(one, other):
    """The number of times of one train that have one of the other beside them."""
    after = numpy.searchsorted(other, one)
    near = [abs(other[numpy.clip(after - k, 0, len(other) - 1)] - one) for k in (0, 1)]
    return min(int((numpy.minimum(*near) <= TOLERANCE_S).sum()), len(other))


def matches(true, found):
    """Returns the neuron of each unit or None, each neuron for one unit at most, and accuracies."""
    accuracy = numpy.zeros((len(true), len(found)))
    for i, one in enumerate(true):
        for k, other in enumerate(found):
            both = shared(one, other) if len(one) and len(other) else 0
            accuracy[i, k] = both / max(1, len(one) + len(other) - both)
    neurons, accuracies = [None] * len(found), numpy.zeros(len(found))
    while accuracy.size and accuracy.max() >= LEAST_ACCURACY:
        i, k = numpy.unravel_index(accuracy.argmax(), accuracy.shape)
        neurons[k], accuracies[k] = i, accuracy[i, k]
        accuracy[i, :], accuracy[:, k] = 0, 0
    return neurons, accuracies


def network_of(units, trains, file, true, neurons):
    """The units of a sorter as a network, with the synapses of the neurons that they are."""
    weights = numpy.zeros((len(units), len(units)))
    for k, i in enumerate(neurons):
        for m, j in enumerate(neurons):
            if i is not None and j is not None and k != m:
                weights[k, m] = true.weights[i, j]
    return networks.Network(file.stem, file, units, trains, true.start, true.end, weights)


def labelled_good(result, units, accuracies):
    """Returns how many units spikeweave labels good, and how many of them are found."""
    file = result.with_suffix(".units.tsv")
    if not file.exists():
        return (None, None)
    with file.open(encoding="utf-8") as lines:
        rows = csv.DictReader((line for line in lines if line[0] != "#"), delimiter="\t")
        good = {row["unit"] for row in rows if row["label"] == "good"}
    found = [accuracy for unit, accuracy in zip(units, accuracies, strict=True) if unit in good]
    return len(good), sum(accuracy > RIGHT for accuracy in found)


def sorted_network(place, result, true):
    """Reads the units of a sorter, and how far its labels are right.

    spikeweave's own file of spikes has the labels, too.
    """
    file = numpy.load(result)
    rate = json.loads((place / "binary.json").read_text())["kwargs"]["sampling_frequency"]
    times, labels = file["samples"] / rate, file["labels"].astype(int)
    numbers = [int(label) for label in numpy.unique(labels[labels > 0])]
    trains = [numpy.sort(times[labels == number]) for number in numbers]
    units = [str(number) for number in numbers]
    spikes = result.with_suffix(".spikes.npz")
    if not spikes.exists():
        spikes = result.with_suffix(".tsv")
        rows = sorted((time, unit) for unit, train in zip(units, trains) for time in train)
        text = "".join(f"{time:.6f}\t{unit}\n" for time, unit in rows)
        spikes.write_text(f"# span_s: {true.start} {true.end}\ntime_s\tunit\n{text}")
    neurons, accuracies = matches(true.trains, trains)
    return network_of(units, trains, spikes, true, neurons), labelled_good(
        result, units, accuracies
    )


def edges_of(network, circuit, command):
    """Returns the found pairs by sign."""
    if circuit == OWN:
        return own.circuit(command, network)[0]
    return peers.Peers(network).cell_explorer(0.008)


def judged(network, parts):
    by_sign = [scores.of_sign(network.weights, sign, parts[sign]) for sign in scores.SIGNS]
    return {
        "true": sum(one["found"] for one in by_sign),
        "false": sum(one["false"] for one in by_sign),
    }


def measure(compared, sorter, place, true):
    """Yields the figures of each circuit."""
    network, unit_figures = true, (len(true.units), len(true.units), 0, None, None)
    if sorter != TRUTH:
        figures = compared.measure(sorter, place)
        names = ("units", "units above 0.8", "false units")
        network, good = sorted_network(place, compared.result_of(sorter, place), true)
        unit_figures = (*(figures[name] for name in names), *good)
    for circuit in CIRCUITS:
        parts = edges_of(network, circuit, compared.spikeweave)
        yield {
            **dict(zip(UNITS, unit_figures, strict=True)),
            "circuit": circuit,
            **judged(network, parts),
        }


def compare(compared, chosen):
    cache = chosen.cache.resolve() if chosen.cache else compared.folder / "recordings"
    cache.mkdir(parents=True, exist_ok=True)
    first = recordings.DEVELOP if chosen.set == "develop" else chosen.first_seed
    for kind in recordings.matching(chosen.recordings, recordings.NETWORKS):
        for seed in range(first, first + chosen.seeds):
            python = compared.python("spikeinterface")
            place = recordings.make(kind, seed, cache, compared.spikeweave, python)
            true = networks.read(place.parent / f"{place.name}-network.tsv")
            ceiling = {}
            for sorter in [TRUTH, *compared.names]:
                one = {"recording": kind, "seed": seed, "sorter": sorter}
                try:
                    for found in measure(compared, sorter, place, true):
                        best = ceiling.setdefault(found["circuit"], found["true"])
                        yield {**one, **found, "lost": best - found["true"]}
                except Failed as reason:
                    yield {**one, "circuit": str(reason)}


def main():
    chosen = options.arguments(__doc__, [*SORTERS], OWN, recordings.NETWORKS)
    compared = Comparison(chosen)
    rows = []
    print(*COLUMNS, sep="\t")
    try:
        for one in compare(compared, chosen):
            rows.append([one.get(name) for name in COLUMNS])
            print("\t".join(map(tables.cell, rows[-1])), flush=True)
    except Failed as reason:
        sys.exit(str(reason))
    if chosen.save:
        results.save("electrode_to_circuit", COLUMNS, rows, chosen.spikeweave, versions())
    return 0


if __name__ == "__main__":
    sys.exit(main())
