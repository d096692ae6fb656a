"""Writes signature_tests.tsv: Elephant's spectrum and tests, for tests/assess/spade/significance_test.cpp.

Usage: make_signature_tests.py > signature_tests.tsv, with requirements.txt of this folder installed.
A row: spectrum, winlen, min_spikes, max_spikes, min_occ, alpha, correction; the maxima of each surrogate from
min_spikes on, durations separated by commas, sizes by semicolons, surrogates by blanks; then, separated by blanks, the
spectrum as size,count,duration,p (duration 0 with #), the signatures found, and those that are not significant.
"""

import random

import numpy as np
from elephant.spade import _get_pvalue_spec, test_signature_significance

CASES = 250
CORRECTIONS = ("no", "bonferroni", "sidak", "holm-sidak", "holm", "simes-hochberg", "hommel", "fdr_bh", "fdr_by", "fdr_tsbh",
               "fdr_tsbky")


def random_maxima(rng, surrogates, sizes, durations):
    """Makes maxima that fall with the size, as the reference does."""
    top = rng.choice([3, 6, 12])
    maxima = np.array([[[rng.randint(0, top) for _ in range(durations)] for _ in range(sizes)] for _ in range(surrogates)])
    return np.flip(np.maximum.accumulate(np.flip(maxima, axis=1), axis=1), axis=1)


def pattern(what, winlen):
    """Returns a pattern with this signature."""
    size, count, duration = what
    return tuple(unit * winlen for unit in range(size - 1)) + (size * winlen + duration,), tuple(range(count))


def main():
    rng = random.Random(3)
    written = 0
    while written < CASES:
        spectrum, winlen = rng.choice([("#", 3), ("3d#", rng.randint(1, 3))])
        durations = 1 if spectrum == "#" else winlen
        min_spikes, sizes, min_occ = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 3)
        surrogates = rng.choice([1, 5, 40])
        maxima = random_maxima(rng, surrogates, sizes, durations)
        entries = _get_pvalue_spec(maxima[:, :, 0] if spectrum == "#" else maxima, min_spikes, min_spikes + sizes - 1,
                                   min_occ, surrogates, winlen, spectrum)
        if not entries:
            continue
        full = [(int(e[0]), int(e[1]), int(e[2]) if spectrum == "3d#" else 0, float(e[-1])) for e in entries]
        found = {e[:3] for e in full if rng.random() < 0.6}
        found |= {(e[0], e[1] + rng.randint(1, 3), e[2]) for e in full if rng.random() < 0.1}
        alpha, corr = rng.choice([0.05, 0.2, 0.5, 0.9]), rng.choice(CORRECTIONS)
        rejected = test_signature_significance(entries, [pattern(what, winlen) for what in sorted(found)], alpha, winlen,
                                               corr=corr, report="non_significant", spectrum=spectrum)
        print(spectrum, winlen, min_spikes, min_spikes + sizes - 1, min_occ, alpha, corr,
              " ".join(";".join(",".join(map(str, row)) for row in one) for one in maxima),
              " ".join(f"{z},{c},{d},{p!r}" for z, c, d, p in full),
              " ".join(",".join(map(str, what)) for what in sorted(found)),
              " ".join(",".join(str(int(v)) for v in (*what, 0)[:3]) for what in rejected), sep="\t")
        written += 1


if __name__ == "__main__":
    main()
