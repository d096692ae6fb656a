"""The rules of other tools for monosynaptic connections, written from their papers.

Each returns, for either sign, which ordered pairs [from, to] it calls connected, a score by which
pairs are ranked, and a strength. Lags on the edge of a bin are in the later bin, whatever the
rounding of times: with a few lags more or less in every other bin, tests of single bins would err.
"""

from dataclasses import dataclass

import correlograms
import glmcc
import numpy
from scipy.stats import poisson

WIDTH = 0.0004  # s, the bins of CellExplorer and English et al.
HALF = 150  # such bins on either side of 0


def windows(values, size=10):
    """Windows along axis 1, as many as there are values, with zeros beyond the ends."""
    padded = [(0, 0), (4, 5), *[(0, 0)] * (values.ndim - 2)]
    return numpy.lib.stride_tricks.sliding_window_view(numpy.pad(values, padded), size, axis=1)


@dataclass
class Part:
    found: numpy.ndarray
    score: numpy.ndarray
    strength: numpy.ndarray


class Peers:
    """The rules on one network; what several rules count is counted once."""

    def __init__(self, network, surrogates=200, seed=1):
        self.network, self.surrogates = network, surrogates
        self.random = numpy.random.default_rng(seed)
        self.spikes = correlograms.Spikes(network.trains)
        self.counts = network.counts[:, None]
        self.kept = {}

    def once(self, name, make):
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def fine(self):
        return self.once("fine", lambda: correlograms.centred(self.spikes, WIDTH, HALF))

    def expected(self, deviation, reach, centre):
        """The fine correlograms without their fast part; SD and reach in seconds."""

        def smooth():
            bins = deviation / WIDTH, round(reach / WIDTH)
            return correlograms.hollow_gaussian(self.fine(), *bins, centre)

        return self.once((deviation, reach, centre), smooth)

    def answer(self, excess, **parts):
        """`excess` is of spikes beyond chance; per spike of the source it is the strength.

        Parts are (found, score) by sign.
        """
        strength = excess / self.counts
        return {
            "excitatory": Part(*parts["excitatory"], strength),
            "inhibitory": Part(*parts["inhibitory"], -strength),
        }

    def cell_explorer(self, end):
        """CellExplorer (Petersen et al. 2021, Neuron 109:3594), its ce_MonoSynConvClick.

        Excitation has a bin from 0.8 ms to `end` above what a hollow Gaussian expects, and a peak
        above that of the other direction, -3.2 to 0 ms. Inhibition has a bin below it, and a
        trough below what is usual at the peak of the other direction.
        """
        alpha, counts, expected = 0.001, self.fine(), self.expected(0.005, 0.0152, 0.4)
        after = slice(HALF + 2, HALF + round(end / WIDTH) + 1)
        bound = alpha / (2 * round(end / WIDTH))
        n, mean = counts[..., after], expected[..., after]
        before = counts[..., HALF - 8 : HALF + 1].max(axis=-1)
        above = poisson.sf(n - 1, mean).min(axis=-1)
        below = poisson.cdf(n, mean).min(axis=-1)
        causal = poisson.sf(n.max(axis=-1) - 1, before)
        missing = poisson.cdf(n.min(axis=-1), before)
        return self.answer(
            (n - mean).sum(axis=-1),
            excitatory=((above <= bound) & (causal <= alpha), -numpy.maximum(above, causal)),
            inhibitory=((below < bound) & (missing < alpha), -numpy.maximum(below, missing)),
        )

    def smoothed(self):
        """sCCG (English et al. 2017, Neuron 96:505), with the values of spycon.

        The highest or lowest bin of 0.8 to 5.8 ms is compared with the highest expected one there,
        Bonferroni over the bins (spycon: Donner et al. 2024, PLoS Comput Biol 20:e1011964).
        """
        alpha = 0.001 / round(0.005 / WIDTH)
        after = slice(HALF + 2, HALF + 15)
        n, mean = self.fine()[..., after], self.expected(0.010, 0.050, 0.6)[..., after]
        chance, high, low = mean.max(axis=-1), n.max(axis=-1), n.min(axis=-1)
        above = poisson.sf(high, chance) + poisson.pmf(high, chance) / 2
        below = poisson.cdf(low - 1, chance) + poisson.pmf(low, chance) / 2
        return self.answer(
            (n - mean).sum(axis=-1),
            excitatory=(above < alpha, -above),
            inhibitory=(below < alpha, -below),
        )

    def plain(self):
        """A plain test of the bins around 1 to 4 ms, 0.01 for all pairs of a sign.

        Against a hollow Gaussian (Stark and Abeles 2009, J Neurosci Methods 179:90), Bonferroni
        over the bins and all ordered pairs.
        """
        after = slice(HALF + 2, HALF + 11)
        n, mean = self.fine()[..., after], self.expected(0.005, 0.0152, 0.4)[..., after]
        alpha = 0.01 / n.shape[-1] / (len(n) * (len(n) - 1))
        above = (poisson.sf(n, mean) + poisson.pmf(n, mean) / 2).min(axis=-1)
        below = (poisson.cdf(n - 1, mean) + poisson.pmf(n, mean) / 2).min(axis=-1)
        return self.answer(
            (n - mean).sum(axis=-1),
            excitatory=(above < alpha, -above),
            inhibitory=(below < alpha, -below),
        )

    def jitter(self, cell=0.010, low=1, high=7, alpha=0.01):
        """Interval jitter (Amarasingham et al. 2012, J Neurophysiol 107:517).

        Each spike of the target is drawn anew within its cell. The highest or lowest bin of 1 ms,
        in standard deviations of the surrogates, is compared with that of each surrogate, which
        controls the error of a pair over all its bins.
        """

        def count(target):
            bins = high - low
            return correlograms.binned(
                self.spikes, target, 0.001, low, bins, correlograms.TIE_S
            ).astype(numpy.int32)

        def redrawn():
            draws = [self.random.uniform(0, cell, len(start)) for start in starts]
            return correlograms.Spikes(
                [start + draw for start, draw in zip(starts, draws, strict=True)]
            )

        starts = [numpy.floor(train / cell) * cell for train in self.network.trains]
        surrogates = numpy.stack([count(redrawn()) for _ in range(self.surrogates)])
        n, mean = count(self.spikes), surrogates.mean(axis=0)
        deviation = numpy.maximum(surrogates.std(axis=0), 0.5)
        parts = {}
        for sign, factor in (("excitatory", 1), ("inhibitory", -1)):
            score = (factor * (n - mean) / deviation).max(axis=-1)
            chance = (factor * (surrogates - mean) / deviation).max(axis=-1)
            p = (1 + (chance >= score).sum(axis=0)) / (1 + self.surrogates)
            parts[sign] = (p <= alpha, score)
        return self.answer((n - mean).sum(axis=-1), **parts)

    def glmcc_data(self):
        """Counts of lags in bins of 1 ms, half of one on an edge in either; likewise sums of f."""
        bins = [
            correlograms.binned(self.spikes, self.spikes, 0.001, -glmcc.HALF, glmcc.BINS, shift)
            for shift in (correlograms.TIE_S, -correlograms.TIE_S)
        ]
        n = self.spikes.size
        sums = {delay: numpy.zeros(n * n) for delay in (1, 2, 3, 4)}
        for pair, lag in correlograms.lags(self.spikes, self.spikes, 0, glmcc.HALF / 1000):
            for delay, total in sums.items():
                after = lag - delay / 1000
                share = numpy.where(abs(after) < correlograms.TIE_S, 0.5, after > 0)
                f = share * numpy.exp(-1000 * numpy.maximum(after, 0) / glmcc.DECAY_MS)
                total += numpy.bincount(pair, f, minlength=n * n)
        return (bins[0] + bins[1]) / 2, {d: total.reshape(n, n) for d, total in sums.items()}

    def glmcc(self, delays):
        """GLMCC (Kobayashi et al. 2019, Nat Commun 10:4468) with its published thresholds.

        A pair has the delay, in ms, with the highest posterior.
        """
        counts, sums = self.once("glmcc", self.glmcc_data)
        one, other = numpy.triu_indices(self.spikes.size, 1)
        some = counts[one, other].sum(axis=1) > 0
        one, other = one[some], other[some]
        best = numpy.full(len(one), -numpy.inf)
        j, rate = numpy.zeros((len(one), 2)), numpy.zeros((len(one), 2))
        for delay in delays:
            both = numpy.stack([sums[delay][one, other], sums[delay][other, one]], axis=1)
            a, fitted, reached = glmcc.fit(counts[one, other], both, delay)
            begin = glmcc.HALF + delay
            ahead = numpy.exp(a[:, begin : begin + glmcc.DECAY_MS]).mean(axis=1)
            behind = numpy.exp(a[:, ::-1][:, begin : begin + glmcc.DECAY_MS]).mean(axis=1)
            better = reached > best
            best[better], j[better] = reached[better], fitted[better]
            rate[better] = numpy.stack([ahead, behind], axis=1)[better]
        j[glmcc.DECAY_MS * rate <= 10] = 0  # too few spikes to decide
        ratio = j / (1.277 * numpy.sqrt(16.3 / glmcc.DECAY_MS / rate))
        weight, measure = numpy.zeros(counts.shape[:2]), numpy.zeros(counts.shape[:2])
        for direction, where in ((0, (one, other)), (1, (other, one))):
            weight[where], measure[where] = j[:, direction], ratio[:, direction]
        return {
            "excitatory": Part(measure > 1, measure, weight),
            "inhibitory": Part(measure < -1, -measure, -weight),
        }

    def connect(self, layers):
        """CoNNECT (Endo et al. 2021, Sci Rep 11:12087) with its published weights.

        Counts of lags of 2 to 52 ms in either direction go through a convolution, a mean over 10
        bins and a dense layer.
        """
        counts = correlograms.binned(self.spikes, self.spikes, 0.001, -52, 104, correlograms.TIE_S)
        n = self.spikes.size
        lags = numpy.delete(counts, range(50, 54), axis=-1).reshape(n * n, 100).astype(float)
        kernel, bias = layers["conv1d"]
        hidden = numpy.tanh(windows(lags) @ kernel[:, 0, :] + bias)
        size = windows(numpy.ones((1, 100))).sum(axis=-1)
        pooled = windows(hidden).sum(axis=-1) / size[:, :, None]

        def dense(values, name):
            return values @ layers[name][0] + layers[name][1]

        hidden = numpy.maximum(dense(pooled.reshape(n * n, -1), "dense"), 0)
        potential = dense(hidden, "psp").reshape(n, n)
        logit = dense(hidden, "connectivity").reshape(n, n)
        sure = logit >= 0  # a probability of at least 0.5

        def ranked(wanted):
            return numpy.where(wanted, logit, -numpy.inf)

        return {
            "excitatory": Part(sure & (potential > 0), ranked(potential > 0), potential),
            "inhibitory": Part(sure & (potential < 0), ranked(potential < 0), -potential),
        }


def connect_layers(file):
    """The weights of CoNNECT's model.h5, as kernel and bias by layer."""
    import h5py

    with h5py.File(file) as model:
        return {
            name: [
                numpy.array(model[f"model_weights/{name}/{name}/{part}:0"], dtype=float)
                for part in ("kernel", "bias")
            ]
            for name in ("conv1d", "dense", "psp", "connectivity")
        }
