"""Prints digests of results, which are the same on all processors (script/emulate)."""

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
    show("episodes", found.counts, found.expected, found.p, found.q, found.strength, found.chains)

    hidden = spikeweave.simulate.patterns(units=20, seed=1)
    patterns = spikeweave.spade(hidden.spikes, surrogates=20, seed=1)
    assert len(patterns) > 0, patterns
    show("spade", patterns.units, patterns.lag_bins, patterns.counts, patterns.times, patterns.p)

    made = spikeweave.simulate.recording(channels=4, units=2, length="2s", seed=1)
    sorted_spikes = spikeweave.sort(made.recording)
    assert len(sorted_spikes.labels) > 0, sorted_spikes
    quality = [np.asarray(sorted_spikes.units[name]) for name in sorted(sorted_spikes.units)]
    show("sort", sorted_spikes.samples, sorted_spikes.labels, sorted_spikes.waveforms, *quality)


if __name__ == "__main__":
    main()
