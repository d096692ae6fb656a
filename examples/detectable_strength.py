"""Estimates how strong a connection would have to be to be found in a recording.

Usage: detectable_strength.py FILE [SOURCE TARGET]
FILE            spikes in any form that spikeweave reads
SOURCE, TARGET  two units; without them, the two whose numbers of spikes are nearest to the median

In copies of the recording, some spikes of SOURCE, chosen at random, get a follower in TARGET 1.5 to
3.5 ms later. The table has how often `spikeweave.episodes` finds the connection, for some shares.
"""

import sys

import numpy as np

import spikeweave

COPIES = 20
STRENGTHS = (0.02, 0.04, 0.06, 0.08, 0.12, 0.16)
# With a lower threshold than the default, pairs of slow units are tested, too.
OPTIONS = {"min_count": 10, "max_size": 2}


def with_followers(spikes, source, target, strength, draw):
    """The trains of all units, with some more spikes of TARGET."""
    trains = dict(zip(spikes.unit_names, spikes.trains(), strict=True))
    followed = trains[source][draw.random(len(trains[source])) < strength]
    followers = followed + draw.uniform(0.0015, 0.0035, len(followed))
    inside = followers[followers < spikes.t_stop]
    trains[target] = np.sort(np.concatenate([trains[target], inside]))
    return trains


def is_found(trains, spikes, source, target):
    found = spikeweave.episodes(trains, t_start=spikes.t_start, t_stop=spikes.t_stop, **OPTIONS)
    pairs = found[(found.sizes == 2) & (found.q < 0.01)]
    return any(tuple(pair.units) == (source, target) for pair in pairs)


def main():
    spikes = spikeweave.read(sys.argv[1])
    counts = {n: len(t) for n, t in zip(spikes.unit_names, spikes.trains(), strict=True)}
    typical = sorted(counts, key=lambda name: abs(counts[name] - np.median(list(counts.values()))))
    source, target = sys.argv[2:4] if len(sys.argv) > 3 else typical[:2]
    print(f"{source} ({counts[source]} spikes) -> {target} ({counts[target]} spikes)")
    draw = np.random.default_rng(1)
    for strength in STRENGTHS:
        copies = (with_followers(spikes, source, target, strength, draw) for _ in range(COPIES))
        found = sum(is_found(trains, spikes, source, target) for trains in copies)
        print(f"{100 * strength:3.0f} % of its spikes followed: found in {found} of {COPIES}")


if __name__ == "__main__":
    main()
