"""Approximate stability of concepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._binning import relation_of
from ._settings import current


def _random_state(seed: int) -> np.random.RandomState:
    # A SeedSequence is used because RandomState itself accepts seeds of at most 32 bits.
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence(int(seed))))


def _random_subsets(size: int, number: int, random: Any) -> tuple[np.ndarray, np.ndarray]:
    """Draw distinct subsets as Elephant does: offsets, and the positions of their members."""
    drawn: set[bytes] = set()
    subsets: list[np.ndarray] = []
    while len(subsets) < number:
        length = random.binomial(n=size, p=1 / 2)
        members = np.sort(random.choice(size, size=length, replace=False)).astype(np.uint32)
        key = members.tobytes()
        if key not in drawn:
            drawn.add(key)
            subsets.append(members)
    offsets = np.cumsum([0, *map(len, subsets)]).astype(np.uint64)
    return offsets, np.concatenate([np.zeros(0, dtype=np.uint32), *subsets])


def _share(
    cells: Any, elements: np.ndarray, others: np.ndarray, of_columns: bool, number: int, random: Any
) -> float:
    sides = (elements.astype(np.uint32), others.astype(np.uint32), of_columns)
    if number > 2 ** len(elements):
        successes = cells.count_all(*sides)
    else:
        successes = cells.count_given(*sides, *_random_subsets(len(elements), number, random))
    return successes / min(number, 2 ** len(elements))


def approximate_stability(
    concepts: Sequence[Any],
    rel_matrix: Any,
    n_subsets: int = 0,
    delta: float = 0.0,
    epsilon: float = 0.0,
) -> list[tuple[np.ndarray, np.ndarray, float, float]]:
    """Compute how much of each concept can be removed without turning it into another one.

    Parameters
    ----------
    concepts : list of tuple
        As returned by `concepts_mining`.
    rel_matrix : numpy.ndarray
        True if a window (row) contains a spike (column).
    n_subsets : int
        Number of subsets of the spikes, and of the windows, that are tried; all if there are fewer.
        0: as many as `delta` and `epsilon` require, round(ln(2 / delta) / (2 epsilon²) + 1).
    delta : float
        Largest probability of an error above epsilon.
    epsilon : float
        Absolute error.

    Returns
    -------
    list of tuple
        Tuples (spikes, windows, intensional stability, extensional stability), the first two as
        arrays.

    Raises
    ------
    ValueError
        For a negative `n_subsets`, or 0 without positive floats `delta` and `epsilon`.

    Notes
    -----
    Subsets are drawn from the global state of `numpy.random` in Elephant's order, or from a
    separate state with ``settings(seed=...)``.

    Examples
    --------
    >>> import numpy as np
    >>> from spikeweave.elephant import approximate_stability
    >>> rel_matrix = np.array([[1, 1], [1, 1], [1, 0]], dtype=bool)
    >>> approximate_stability([((0, 1), (0, 1))], rel_matrix, n_subsets=5)[0][2:]
    (0.5, 1.0)
    """
    whole = isinstance(n_subsets, (int, np.integer))
    if not whole or n_subsets < 0:
        raise ValueError(f"n_subsets: expected an integer >= 0, found {n_subsets!r}")
    if n_subsets == 0:
        if not all(isinstance(value, float) and value > 0 for value in (delta, epsilon)):
            raise ValueError(
                "delta, epsilon: expected floats > 0 with n_subsets = 0, found"
                f" {delta!r} and {epsilon!r}"
            )
        n_subsets = round(np.log(2.0 / delta) / (2 * epsilon**2) + 1)
    if len(concepts) == 0:
        return []
    seed = current().seed
    random = np.random if seed is None else _random_state(seed)
    cells = relation_of(rel_matrix)
    out = []
    for concept in concepts:
        intent, extent = np.array(concept[0]), np.array(concept[1])
        out.append(
            (
                intent,
                extent,
                _share(cells, intent, extent, True, int(n_subsets), random),
                _share(cells, extent, intent, False, int(n_subsets), random),
            )
        )
    return out


def stable_concepts(concepts: list[Any], thresholds: Any) -> list[Any]:
    """Return the concepts with one of the two stabilities above its threshold."""
    return [
        concept for concept in concepts if concept[2] > thresholds[0] or concept[3] > thresholds[1]
    ]
