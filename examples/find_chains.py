"""Finds chains of firing neurons in a recording and prints the circuit behind them.

Usage: find_chains.py [FILE [FOLDER]]
FILE    spikes in any form that spikeweave reads; without it, two hidden chains are simulated
FOLDER  where a table of the chains and a page to look at are written
"""

import csv
import sys
from pathlib import Path

import spikeweave


def print_circuit(circuit):
    for i in range(len(circuit)):
        if circuit.kind[i] != "direct":
            continue
        source = circuit.unit_names[circuit.source[i]]
        target = circuit.unit_names[circuit.target[i]]
        low, high = 1000 * circuit.delay[i]
        print(f"{source} -> {target}  {low:g} to {high:g} ms  q = {circuit.q[i]:.2g}")


def write(found, folder):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "chains.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["units", "count", "q"])
        for chain in found[found.chains]:
            table.writerow([" ".join(chain.units), chain.count, chain.q])
    (folder / "page.html").write_text(found.to_html(), encoding="utf-8")


def main():
    spikes = sys.argv[1] if len(sys.argv) > 1 else spikeweave.simulate.sym26(seed=1).spikes
    found = spikeweave.episodes(spikes)
    for warning in found.warnings:
        print("warning:", warning)
    print_circuit(found.circuit)
    for chain in found[found.chains]:
        print("chain", " -> ".join(chain.units), f"occurs {chain.count} times")
    if len(sys.argv) > 2:
        write(found, Path(sys.argv[2]))


if __name__ == "__main__":
    main()
