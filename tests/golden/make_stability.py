"""Writes stability.tsv: Elephant's stability of small patterns over all subsets, for tests/assess/spade/stability_test.cpp.

Usage: make_stability.py > stability.tsv, with requirements.txt of this folder installed.
A row: units, winlen; windows as items separated by commas, windows separated by blanks; a pattern's items and the numbers of
its windows; its intensional and extensional stability. No window is empty, since Elephant also counts bins without one.
"""

import random

import numpy as np
from elephant.spade import approximate_stability


def closed_patterns(rng, matrix):
    """Returns the patterns of random windows: intersections of windows, with all windows that contain them."""
    found = {}
    for _ in range(20):
        rows = rng.sample(range(len(matrix)), min(len(matrix), rng.randint(1, 4)))
        intent = tuple(map(int, np.nonzero(matrix[rows].all(axis=0))[0]))
        if intent:
            found[intent] = tuple(map(int, np.nonzero(matrix[:, intent].all(axis=1))[0]))
    return list(found.items())


def main():
    rng = random.Random(11)
    for _ in range(30):
        units, winlen = rng.randint(1, 4), rng.randint(1, 3)
        density = rng.choice([0.3, 0.5, 0.8])
        rows = [[rng.random() < density for _ in range(units * winlen)] for _ in range(rng.randint(1, 9))]
        matrix = np.array([row for row in rows if any(row)] or [[True] * (units * winlen)])
        concepts = closed_patterns(rng, matrix)
        windows = " ".join(",".join(str(i) for i, held in enumerate(row) if held) for row in matrix)
        for (intent, extent), (_, _, intensional, extensional) in zip(
                concepts, approximate_stability(concepts, matrix, n_subsets=2**13 + 1)):
            print(units, winlen, windows, ",".join(map(str, intent)), ",".join(map(str, extent)),
                  repr(float(intensional)), repr(float(extensional)), sep="\t")


if __name__ == "__main__":
    main()
