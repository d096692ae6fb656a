"""Writes multiple_testing.tsv: statsmodels' results for random p-values, for tests/assess/multiple_testing_test.cpp.

Usage: make_multiple_testing.py > multiple_testing.tsv, with requirements.txt of this folder installed.
A row: method, alpha, then p, corrected p and decisions (0 or 1), each separated by blanks.
"""

import numpy as np
from statsmodels.stats.multitest import multipletests

METHODS = ("bonferroni", "sidak", "holm-sidak", "holm", "simes-hochberg", "hommel", "fdr_bh", "fdr_by", "fdr_tsbh",
           "fdr_tsbky")


def vectors(random):
    """Returns p-values with clear effects, no effects, ties, zeros, ones, values at the limits, and few tests."""
    for size in (1, 1, 2, 2, 3, 4, 5, 7, 10, 16, 25):
        yield random.uniform(size=size)
        yield random.uniform(size=size) ** 4
        yield np.where(random.uniform(size=size) < 0.5, random.uniform(size=size) * 1e-3, random.uniform(size=size))
        yield random.integers(0, 6, size=size) / 5
        yield random.integers(1, 20, size=size) / 1000
    yield np.zeros(4)
    yield np.ones(4)
    yield 0.05 * np.arange(1, 11) / 10


def words(values):
    return " ".join(repr(float(value)) for value in values)


def main():
    random = np.random.default_rng(7)
    for p in vectors(random):
        alpha = float(random.choice([0.01, 0.05, 0.2, 0.5]))
        for method in METHODS:
            rejected, corrected = multipletests(p, alpha=alpha, method=method)[:2]
            decisions = " ".join(str(int(value)) for value in rejected)
            print(method, alpha, words(p), words(corrected), decisions, sep="\t")


if __name__ == "__main__":
    main()
