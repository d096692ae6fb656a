"""Writes pattern_reduction.tsv: the random patterns that Elephant keeps, for tests/assess/spade/reduction_test.cpp.

Usage: make_pattern_reduction.py > pattern_reduction.tsv, with requirements.txt of this folder installed.
A row: winlen, spectrum, h, k, l, min_spikes, min_occ; signatures that are not significant, as size,count,duration
separated by blanks (duration 0 with #); patterns, as items:starts separated by blanks; the numbers of those kept.
"""

import random

from elephant.spade import pattern_set_reduction

CASES = 400


def patterns(rng, winlen):
    """Makes patterns of few neurons at similar times, so that shifted patterns overlap and reach neighbours."""
    neurons = rng.randint(2, 4)
    base = sorted(rng.sample(range(10, 120), rng.randint(4, 14)))
    items = range(neurons * winlen)
    for _ in range(rng.randint(2, 9)):
        intent = sorted(rng.sample(items, min(len(items), rng.randint(2, 5))))
        shift = rng.randint(-winlen, winlen)
        times = rng.sample(base, rng.randint(2, len(base)))
        yield tuple(intent), tuple(sorted({max(0, t + shift + (rng.random() < 0.1)) for t in times}))


def signatures(rng, concepts, winlen, spectrum):
    chosen = set()
    for _ in range(rng.choice([0, 0, 5, 20])):
        items, starts = rng.choice(concepts)
        what = (max(1, len(items) - rng.randint(0, 2)), max(1, len(starts) - rng.randint(0, 6)))
        chosen.add(what if spectrum == "#" else (*what, max(i % winlen for i in items)))
    return sorted(chosen)


def main():
    rng = random.Random(5)
    for _ in range(CASES):
        winlen = rng.randint(1, 6)
        spectrum = rng.choice(["#", "3d#"])
        concepts = list(patterns(rng, winlen))
        not_significant = signatures(rng, concepts, winlen, spectrum)
        h, k, l = rng.randint(0, 3), rng.randint(0, 2), rng.randint(0, 2)
        min_spikes, min_occ = rng.randint(1, 3), rng.randint(1, 4)
        kept = pattern_set_reduction([(*concept, number) for number, concept in enumerate(concepts)],
                                     not_significant, winlen, spectrum, h, k, l, min_spikes, min_occ)
        print(winlen, spectrum, h, k, l, min_spikes, min_occ,
              " ".join(",".join(map(str, (*s, 0)[:3])) for s in not_significant),
              " ".join(",".join(map(str, items)) + ":" + ",".join(map(str, starts)) for items, starts in concepts),
              " ".join(str(concept[2]) for concept in kept), sep="\t")


if __name__ == "__main__":
    main()
