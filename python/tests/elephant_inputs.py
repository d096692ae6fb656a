"""Random inputs for the tests against Elephant, and their comparison."""

import itertools

import neo
import numpy as np
import quantities as pq


def random_trains(rng):
    """Make a few trains whose spikes are often on the edges of bins."""
    length_ms = int(rng.choice([60, 200, 400]))
    in_seconds = rng.random() < 0.5
    start_ms = int(rng.choice([0, 0, 10, -20]))
    on_grid = rng.random() < 0.4
    trains = []
    for _ in range(rng.integers(2, 8)):
        times = np.sort(rng.uniform(0, length_ms, rng.integers(0, max(2, length_ms // 8))))
        times = (np.unique(np.floor(times)) if on_grid else times) + start_ms
        scale, units = (1000, pq.s) if in_seconds else (1, pq.ms)
        trains.append(
            neo.SpikeTrain(
                times / scale,
                units=units,
                t_start=start_ms / scale * units,
                t_stop=(start_ms + length_ms) / scale * units,
            )
        )
    return trains


def random_rule(rng):
    return {
        "min_spikes": int(rng.integers(1, 4)),
        "min_occ": int(rng.integers(1, 4)),
        "min_neu": int(rng.integers(1, 3)),
    }


def random_concepts(rng, winlen):
    """Make random concepts with much in common, without mining."""
    concepts = []
    for _ in range(rng.integers(2, 12)):
        size = rng.integers(1, 5)
        items = rng.choice(4 * winlen, size=size, replace=False)
        windows = np.sort(rng.choice(30, size=rng.integers(2, 12), replace=False))
        concepts.append((tuple(items), tuple(windows)))
    return concepts


def assert_same(ours, theirs, path="result"):
    """Assert equal values, types, units, keys and order."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs), path
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{path}[{key!r}]")
    elif isinstance(theirs, pq.Quantity):
        assert isinstance(ours, pq.Quantity), path
        assert ours.dimensionality == theirs.dimensionality, path
        assert_same(ours.magnitude, theirs.magnitude, path)
    elif isinstance(theirs, np.ndarray):
        assert isinstance(ours, np.ndarray), path
        assert (ours.dtype.char, ours.shape) == (theirs.dtype.char, theirs.shape), path
        assert np.array_equal(ours, theirs), path
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), path
        assert not isinstance(theirs, tuple) or type(ours) is tuple, path
        for i, pair in enumerate(zip(ours, theirs, strict=True)):
            assert_same(*pair, f"{path}[{i}]")
    else:
        both_bool = all(isinstance(value, (bool, np.bool_)) for value in (ours, theirs))
        assert both_bool or type(ours) is type(theirs), (path, type(ours), type(theirs))
        assert ours == theirs, (path, ours, theirs)


def brute_force(
    trains_bins, n_bins, winlen, min_spikes, min_occ, min_neu, max_spikes=None, max_occ=None
):
    """Return the set of closed patterns of binned trains, before the filter for moving windows."""
    starts = sorted(set(itertools.chain.from_iterable(trains_bins)))
    windows = {
        w: frozenset(
            unit * winlen + b - w
            for unit, bins in enumerate(trains_bins)
            for b in bins
            if w <= b < w + winlen
        )
        for w in starts
    }
    closed = set(windows.values())
    for window in windows.values():
        closed |= {window & other for other in closed}
    found = set()
    for items in closed:
        occurrences = tuple(w for w in starts if items <= windows[w])
        if (
            len(items) >= max(min_spikes, 1)
            and len(occurrences) >= min_occ
            and any(item % winlen == 0 for item in items)
            and len({item // winlen for item in items}) >= min_neu
            and (max_spikes is None or len(items) <= max_spikes)
            and (max_occ is None or len(occurrences) <= max_occ)
        ):
            found.add((tuple(sorted(items)), occurrences))
    return found
