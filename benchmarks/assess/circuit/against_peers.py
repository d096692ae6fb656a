#!/usr/bin/env python3
"""Compares spikeweave's circuit with other tools for monosynaptic connections, on known synapses.

A network is a file of spikes (time_s, unit) with NAME.truth.tsv beside it: pre, post, weight with
the numbers of units, or from, to, delay_ms, weight_mv with their names; a weight below 0 inhibits.
Without NETWORKS these are the ones in ../shared/data/connectivity, and networks that `spikeweave
simulate network` makes. published_networks.py writes more, from public repositories. spikeweave
runs as `spikeweave episodes FILE -o FOLDER`, the rules of others (peers.py) with the values that
their authors use. Excitation and inhibition are scored apart, over all ordered pairs of units; a
found pair with a synapse of the other sign is false.

Columns: synapses, those found, false edges, MCC (Matthews's correlation coefficient), AP (average
precision), Spearman's correlation of strength and weight over the found synapses, and processor
seconds for both signs; means over the seeds. Rules share correlograms, and the first one that
needs them is charged for them.
"""

import argparse
import functools
import json
import statistics
import sys
import time
from pathlib import Path

import networks
import own
import peers
import scores

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "benchmarks/support"))
import results

OWN = "spikeweave"
RULES = {
    "CellExplorer 4 ms": lambda peer: peer.cell_explorer(0.004),
    "CellExplorer 8 ms": lambda peer: peer.cell_explorer(0.008),
    "sCCG": lambda peer: peer.smoothed(),
    "plain correlogram": lambda peer: peer.plain(),
    "jitter": lambda peer: peer.jitter(),
    "GLMCC sim": lambda peer: peer.glmcc([3]),
    "GLMCC exp": lambda peer: peer.glmcc([1, 2, 3, 4]),
}
FIGURES = ("synapses", "found", "false", "MCC", "AP", "Spearman", "seconds")
COUNTS = ("seeds", "synapses", "found", "false")
COLUMNS = ("network", "sign", "tool", "seeds", *FIGURES)


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def named(text):
    name, separator, options = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError("must be NAME=OPTIONS")
    return name, options


def arguments():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    add = parser.add_argument
    many = {"action": "append", "default": []}
    command = ROOT / "build/release/bin/spikeweave"
    add("networks", nargs="*", metavar="NETWORKS", type=Path, help="files, or folders of them")
    add("--command", type=Path, default=command, help="spikeweave [build/release/bin/spikeweave]")
    add("--variant", type=named, metavar="NAME=OPTIONS", help="also with these of episodes", **many)
    add(
        "--seeds", type=int, help="networks to simulate of each regime [1 without NETWORKS, else 0]"
    )
    add("--regime", type=named, metavar="NAME=OPTIONS", help="of simulate network, instead", **many)
    add("--folder", type=Path, default=ROOT / "build/circuit", help="of these [build/circuit]")
    add("--only", metavar="TOOL", help="; ".join([*RULES, "CoNNECT", OWN]), **many)
    add("--connect-weights", type=Path, metavar="FILE", help="CoNNECT's model.h5; needs h5py")
    add("--surrogates", type=int, default=200, help="of the jitter test [200]")
    add("--json", type=Path, help="also write the figures of each network to this file")
    add("--save", action="store_true", help="the table in benchmarks/results and docs")
    chosen = parser.parse_args()
    if chosen.seeds is None:
        chosen.seeds = 0 if chosen.networks else 1
    return chosen


def chosen_networks(chosen):
    """Yields (group, seed or None, network); networks of a group differ in the seed only."""
    for place in chosen.networks or [ROOT.parent / "shared/data/connectivity"]:
        if not place.exists():
            say(f"{place}: skipped, does not exist")
            continue
        for file in networks.files(place):
            network = networks.read(file)
            yield network.name, None, network
    for regime, options in (dict(chosen.regime) or own.REGIMES).items():
        for seed in range(1, chosen.seeds + 1):
            try:
                file = own.simulate(chosen.command, regime, options, seed, chosen.folder)
            except (own.Failed, OSError) as reason:
                say(f"{regime}: skipped, {reason}")
                break
            yield regime, seed, networks.read(file)


def chosen_tools(chosen):
    """Returns functions by tool; of a network and its Peers they give answer and seconds."""

    def timed(rule, network, peer):
        began = time.process_time()
        answer = rule(peer)
        return answer, time.process_time() - began

    tools = {name: functools.partial(timed, rule) for name, rule in RULES.items()}
    if chosen.connect_weights:
        try:
            layers = peers.connect_layers(chosen.connect_weights)
            tools["CoNNECT"] = functools.partial(timed, lambda peer: peer.connect(layers))
        except (ImportError, OSError) as reason:
            say(f"CoNNECT: skipped, {reason}")
    else:
        say("CoNNECT: skipped, its weights are not given (--connect-weights)")
    for name, options in [("", ""), *chosen.variant]:
        tools[f"{OWN} {name}".strip()] = lambda network, peer, options=options: own.circuit(
            chosen.command, network, options
        )
    return {name: tool for name, tool in tools.items() if not chosen.only or name in chosen.only}


def measure(chosen):
    """Returns a dictionary of figures for each network, tool and sign."""
    tools, runs, failed = chosen_tools(chosen), [], set()
    for group, seed, network in chosen_networks(chosen):
        peer = peers.Peers(network, chosen.surrogates)
        say(f"{network.name}: {len(network.units)} units, {network.counts.sum()} spikes")
        for name, tool in tools.items():
            try:
                answer, seconds = tool(network, peer)
            except own.Failed as reason:
                if name not in failed:
                    say(f"{name}: skipped, {reason}")
                failed.add(name)
                continue
            for sign, part in answer.items():
                figures = scores.of_sign(network.weights, sign, part)
                about = {"network": group, "seed": seed, "sign": sign, "tool": name}
                runs.append({**about, **figures, "seconds": seconds})
        if chosen.json:
            chosen.json.write_text(json.dumps(runs, indent=1) + "\n")
    return runs


def mean(values):
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def table(runs):
    """Returns rows of means over the seeds, and then over all networks with synapses of a sign."""
    groups = {}
    for one in runs:
        groups.setdefault((one["network"], one["sign"], one["tool"]), []).append(one)
    rows = [
        [*key, len(some), *(mean(one[name] for one in some) for name in FIGURES)]
        for key, some in groups.items()
    ]
    rows.sort(key=lambda row: list(scores.SIGNS).index(row[1]))
    for sign in scores.SIGNS:
        for tool in dict.fromkeys(row[2] for row in rows):
            some = [row for row in rows if row[1:3] == [sign, tool] and row[4] > 0]
            if len(some) > 1:
                means = (mean(row[i] for row in some) for i in range(4, len(COLUMNS)))
                rows.append(["mean", sign, tool, len(some), *means])
    return rows


def cell(column, value):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if column in COUNTS and float(value).is_integer():
        return str(int(value))
    return f"{value:.1f}" if column in COUNTS else f"{value:.2f}"


def main():
    chosen = arguments()
    try:
        rows = table(measure(chosen))
    except networks.Unreadable as reason:
        say(reason)
        return 1
    print(*COLUMNS, sep="\t")
    for row in rows:
        print(*map(cell, COLUMNS, row), sep="\t")
    if chosen.save:
        results.save("circuit_against_peers", COLUMNS, rows, chosen.command, [])
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
