"""Scores of an answer against the synapses of a network, excitation and inhibition apart."""

import math

import numpy
from scipy.stats import spearmanr

SIGNS = {"excitatory": 1, "inhibitory": -1}
FEWEST = 5  # found synapses whose strengths are ranked


def pairs(matrix):
    """The values of all ordered pairs of two different units."""
    return matrix[~numpy.eye(len(matrix), dtype=bool)]


def correlation(true, found):
    """Matthews's correlation coefficient; 0 if nothing or everything is found."""
    hits, false = (true & found).sum(), (~true & found).sum()
    missed, rejected = (true & ~found).sum(), (~true & ~found).sum()
    scale = math.sqrt(
        float(hits + false) * (hits + missed) * (rejected + false) * (rejected + missed)
    )
    return float(hits * rejected - false * missed) / scale if scale else 0.0


def average_precision(true, score):
    """The mean precision at the true pairs, by falling score; equal scores come together."""
    order = numpy.argsort(-score, kind="stable")
    ordered = score[order]
    last = numpy.append(ordered[1:] != ordered[:-1], True)
    hits, ranks = numpy.cumsum(true[order])[last], numpy.flatnonzero(last) + 1
    gained = numpy.diff(hits, prepend=0)
    return float((gained * hits / ranks).sum() / true.sum()) if true.any() else None


def of_sign(weights, sign, part):
    """The figures of one sign; a pair of the other sign is as false as one without a synapse."""
    true, found = pairs(weights * SIGNS[sign] > 0), pairs(part.found)
    both = true & found
    weight, strength = abs(pairs(weights))[both], pairs(part.strength)[both]
    ranked = both.sum() >= FEWEST and numpy.ptp(weight) > 0 and numpy.ptp(strength) > 0
    return {
        "synapses": int(true.sum()),
        "found": int(both.sum()),
        "false": int((found & ~true).sum()),
        "MCC": correlation(true, found),
        "AP": average_precision(true, pairs(part.score)),
        "Spearman": float(spearmanr(weight, strength).statistic) if ranked else None,
    }
