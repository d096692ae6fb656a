"""Counts of the lags between the spikes of all ordered pairs of units."""

import numpy
from scipy.ndimage import convolve1d

LAGS_AT_ONCE = 2_000_000
TIE_S = 1e-9  # times are multiples of a sample, so lags lie on the edges of bins but for rounding


class Spikes:
    """The spikes of all units in the order of time."""

    def __init__(self, trains):
        times = numpy.concatenate(trains)
        units = numpy.repeat(numpy.arange(len(trains)), [len(train) for train in trains])
        order = numpy.argsort(times, kind="stable")
        self.times, self.units, self.size = times[order], units[order], len(trains)


def lags(source, target, low, high):
    """Yields arrays of source * units + target and of the lag of spikes low to high apart."""
    first = numpy.searchsorted(target.times, source.times + low - TIE_S)
    counts = numpy.searchsorted(target.times, source.times + high + TIE_S, "right") - first
    ends = numpy.cumsum(counts)
    begin = 0
    while begin < len(first):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(numpy.searchsorted(ends, before + LAGS_AT_ONCE)))
        some = counts[begin:end]
        of = numpy.repeat(numpy.arange(begin, min(end, len(first))), some)
        starts = numpy.repeat(first[begin:end] - (ends[begin:end] - some - before), some)
        to = starts + numpy.arange(len(of))
        pair = source.units[of] * target.size + target.units[to]
        yield pair, target.times[to] - source.times[of]
        begin = end


def binned(source, target, width, first, bins, shift=0.0):
    """Counts [from, to, bin] of lags; the first bin starts at `first` * width."""
    n = source.size
    total = numpy.zeros(n * n * bins, dtype=numpy.int64)
    for pair, lag in lags(source, target, first * width, (first + bins) * width):
        index = numpy.floor((lag + shift) / width - first).astype(numpy.int64)
        inside = (index >= 0) & (index < bins)
        total += numpy.bincount(pair[inside] * bins + index[inside], minlength=len(total))
    return total.reshape(n, n, bins)


def centred(spikes, width, half):
    """Counts of lags in bins around -half * width to half * width."""
    return binned(spikes, spikes, width, -half - 0.5, 2 * half + 1, TIE_S)


def hollow_gaussian(counts, deviation, reach, centre):
    """Smooths with a Gaussian whose middle is multiplied by `centre`; SD and reach in bins."""
    kernel = numpy.exp(-0.5 * (numpy.arange(-reach, reach + 1) / deviation) ** 2)
    kernel[reach] *= centre
    return convolve1d(counts.astype(float), kernel / kernel.sum(), axis=-1, mode="reflect")
