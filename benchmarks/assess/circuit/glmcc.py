"""GLMCC: a generalised linear model of correlograms (Kobayashi et al. 2019, Nat Commun 10:4468).

The rate of lag x in ms is exp(a(x) + J f(x)). a is constant in bins of 1 ms and changes slowly; f
decays from the synaptic delay on with 4 ms, with a separate J in each direction. All pairs of
units are fitted together, by the damped Newton steps of Levenberg and Marquardt.
"""

import numpy

HALF = 50  # ms on either side of 0
BINS = 2 * HALF
DECAY_MS = 4
FLATNESS = 4000  # 2 / gamma, with the paper's gamma of 0.0005 per ms
BOUNDS = (-3, 5)  # of J
TOLERANCE = 1e-4  # of the log posterior
STEPS = 200
NODES, WEIGHTS = numpy.polynomial.legendre.leggauss(4)


def synaptic(delay):
    """Returns f at the nodes of each bin, [direction, bin, node]."""
    x = numpy.arange(BINS)[:, None] - HALF + (NODES + 1) / 2
    ahead = numpy.where(x > delay, numpy.exp(-(x - delay) / DECAY_MS), 0)
    return numpy.stack([ahead, ahead[::-1, ::-1]])


def slope_squared(a):
    return (numpy.diff(a, axis=1) ** 2).sum(axis=1)


def second_difference(a):
    """Minus the derivative of slope_squared(a) / 2."""
    edged = numpy.pad(a, ((0, 0), (1, 1)), mode="edge")
    return edged[:, 2:] - 2 * a + edged[:, :-2]


def solve_tridiagonal(diagonal, beside, right):
    """Solves systems [pair, bin] with one value beside the diagonal for [pair, bin, side]."""
    factor, solved = numpy.empty_like(diagonal), right.copy()
    rest = diagonal[:, 0]
    for k in range(diagonal.shape[1]):
        if k:
            rest = diagonal[:, k] - beside * factor[:, k - 1]
            solved[:, k] -= beside * solved[:, k - 1]
        factor[:, k] = beside / rest
        solved[:, k] /= rest[:, None]
    for k in range(diagonal.shape[1] - 2, -1, -1):
        solved[:, k] -= factor[:, k, None] * solved[:, k + 1]
    return solved


def moments(a, j, f):
    """Integrals over bins of the rate, [pair, bin], and times f and f^2, [pair, direction, bin]."""
    rate = numpy.exp((j[:, :, None, None] * f).sum(axis=1)) * (WEIGHTS / 2)
    rate *= numpy.exp(a)[:, :, None]
    return (
        rate.sum(axis=2),
        numpy.einsum("pbn,dbn->pdb", rate, f),
        numpy.einsum("pbn,dbn->pdb", rate, f**2),
    )


def log_posterior(a, j, counts, sums, f):
    expected = moments(a, j, f)[0].sum(axis=1)
    likelihood = (a * counts).sum(axis=1) + (j * sums).sum(axis=1) - expected
    return likelihood - FLATNESS / 2 * slope_squared(a)


def step(a, j, counts, sums, f, damping):
    """Returns the changes of a and J."""
    rate, first, second = moments(a, j, f)
    up_a = counts - rate + FLATNESS * second_difference(a)
    up_j = sums - first.sum(axis=2)
    neighbours = numpy.full(BINS, 2)
    neighbours[[0, -1]] = 1
    diagonal = (rate + FLATNESS * neighbours) * (1 + damping[:, None])
    across = first.transpose(0, 2, 1)
    right = numpy.concatenate([up_a[:, :, None], across], axis=2)
    solved = solve_tridiagonal(diagonal, -FLATNESS, right)
    left_j = -numpy.einsum("pbd,pbe->pde", across, solved[:, :, 1:])
    for direction in (0, 1):
        left_j[:, direction, direction] += second[:, direction].sum(axis=1) * (1 + damping)
    right_j = up_j - numpy.einsum("pbd,pb->pd", across, solved[:, :, 0])
    change_j = numpy.linalg.solve(left_j, right_j[:, :, None])[:, :, 0]
    return solved[:, :, 0] - numpy.einsum("pbd,pd->pb", solved[:, :, 1:], change_j), change_j


def fit(counts, sums, delay):
    """Returns a [pair, bin], J [pair, direction] and the log posterior.

    counts are those of lags in bins of 1 ms, sums those of f over the lags, in each direction.
    Every pair must have a lag.
    """
    f = synaptic(delay)
    a = numpy.log(counts.sum(axis=1) / BINS)[:, None] * numpy.ones(BINS)
    j = numpy.full((len(counts), 2), 0.1)
    reached = log_posterior(a, j, counts, sums, f)
    damping = numpy.full(len(counts), 0.01)
    going = numpy.arange(len(counts))
    for _ in range(STEPS):
        if len(going) == 0:
            break
        data = counts[going], sums[going], f
        change_a, change_j = step(a[going], j[going], *data, damping[going])
        new_a = a[going] + change_a
        new_j = numpy.clip(j[going] + change_j, *BOUNDS)
        with numpy.errstate(over="ignore", invalid="ignore"):
            new = log_posterior(new_a, new_j, *data)
        better = new >= reached[going]
        done = better & (new - reached[going] < TOLERANCE)
        taken = going[better]
        a[taken], j[taken], reached[taken] = new_a[better], new_j[better], new[better]
        damping[going] *= numpy.where(better, 0.1, 10)
        going = going[~done]
    return a, j, reached
