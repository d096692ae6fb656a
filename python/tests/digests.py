"""Prints digests of results that are the same on all processors, for script/emulate."""

import hashlib

import numpy as np

import spikeweave


def show(name, *arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    print(f"{name:<10} {digest.hexdigest()[:32]}", flush=True)


def main():
    made = spikeweave.simulate.sym26(seed=1)
    show("sym26", made.spikes.times, made.spikes.units)
    found = spikeweave.episodes(made.spikes, delays="4-6ms", min_count=200)
    assert len(found.chains) == 2, found
    # The last of the 53 bits of a p-value depends on the processor.
    numbers = (found.expected, found.p, found.q, found.strength)
    rounded = [np.asarray(number).astype(np.float32) for number in numbers]
    show("episodes", found.counts, found.chains, *rounded)

    hidden = spikeweave.simulate.patterns(units=20, seed=1)
    patterns = spikeweave.spade(hidden.spikes, surrogates=100, seed=1)
    assert len(patterns) > 0, patterns
    show("spade", patterns.units, patterns.lag_bins, patterns.counts, patterns.times, patterns.p)

    # Its results differ: floating-point numbers differ between processors.
    made = spikeweave.simulate.recording(channels=4, units=2, length="2s", seed=1)
    sorted_spikes = spikeweave.sort(made.recording)
    assert len(sorted_spikes.labels) > 0, sorted_spikes


if __name__ == "__main__":
    main()
