"""Compares results of several sorters with each other. Runs in the environment of SpikeInterface.

Usage: agree.py RATE FIGURES.json NAME=RESULT.npz NAME=RESULT.npz...
FIGURES.json becomes a list with a row for each pair: names, numbers of units, and how many pairs of
units that SpikeInterface matches one to one agree by more than 0.5 and 0.8. Agreement is common
spikes (0.4 ms) over the spikes of either.
"""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import spikeinterface.full as si


def main():
    rate, figures = float(sys.argv[1]), Path(sys.argv[2])
    sortings = {}
    for word in sys.argv[3:]:
        name, _, result = word.partition("=")
        found = np.load(result)
        labels = found["labels"].astype(int)
        sortings[name] = si.NumpySorting.from_samples_and_labels(
            found["samples"].astype(int)[labels > 0], labels[labels > 0], rate
        )
    rows = []
    for first, second in itertools.combinations(sortings, 2):
        units = [len(sortings[name].unit_ids) for name in (first, second)]
        compared = si.compare_two_sorters(sortings[first], sortings[second], first, second)
        matched, _ = compared.get_matching()
        agreement = np.array(
            [
                compared.agreement_scores.at[one, other]
                for one, other in matched.items()
                if other not in (-1, "")
            ]
        )
        rows.append(
            [first, second, *units, int((agreement > 0.5).sum()), int((agreement > 0.8).sum())]
        )
    figures.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
