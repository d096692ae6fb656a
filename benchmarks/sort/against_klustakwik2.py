#!/usr/bin/env python3
"""Compares spikeweave sort with klustakwik2 from the same start: the scores of all iterations, then the CPU time of one.

Needs an environment with klustakwik2, as against_sorters.py makes it: build/peers/klusta/bin/python.
Usage: against_klustakwik2.py SPIKEWEAVE [--save] [--spikes N] [--channels N] [--units N] [--start N] [--iterations N] [--points X]
"""

import argparse
import importlib.metadata
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import klustakwik2
import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import results  # noqa: E402

TIMES_AS_FAST = 3  # at least


def simulate(spikes, channels, units, per_channel=3, seed=7):
    """Makes units with bell-shaped amplitudes over channels in noise of SD 1, with masks from 2 to 4.5 SD."""
    random = np.random.default_rng(seed)
    centre = random.uniform(0, channels, units)
    height = random.uniform(8, 20, units)
    shape = random.uniform(-1, 1, (units, per_channel)) / np.sqrt(1 + np.arange(per_channel))
    shape[:, 0] = random.choice([-1, 1], units)
    away = (np.arange(channels) + 0.5)[None, :] - centre[:, None]
    template = (height[:, None] * np.exp(-(away / 1.2) ** 2 / 2))[:, :, None] * shape[:, None, :]
    truth = random.integers(0, units, spikes)
    jitter = 1 + 0.12 * random.standard_normal(spikes)
    values = template[truth] * jitter[:, None, None] + random.standard_normal((spikes, channels, per_channel))
    mask = np.clip((np.abs(values).max(axis=2) - 2) / 2.5, 0, 1)
    for row in mask:  # only channels connected with the largest one
        begin = end = int(row.argmax())
        while begin > 0 and row[begin - 1] > 0:
            begin -= 1
        while end + 1 < channels and row[end + 1] > 0:
            end += 1
        row[:begin] = 0
        row[end + 1:] = 0
    return values.reshape(spikes, -1), np.repeat(mask, per_channel, axis=1), truth


def to_klustakwik2(features, masks):
    """Scales features and sets the noise of masked ones. Also corrects the penalty to count all parameters of a spike:
    0.2.7 counts those of its last two spikes wrongly."""
    span = features.max(axis=0) - features.min(axis=0)
    scaled = (features - features.min(axis=0)) / np.where(span == 0, 1, span)
    hidden = np.where(masks == 0, scaled, np.nan)
    offsets = np.concatenate([[0], np.cumsum((masks > 0).sum(axis=1))])
    data = klustakwik2.RawSparseData(np.nanmean(hidden, axis=0), np.nanvar(hidden, axis=0), scaled[masks > 0],
                                     masks[masks > 0], np.nonzero(masks)[1], offsets).to_sparse_data()
    data.float_num_unmasked = masks.sum(axis=1)
    return data


def run_klustakwik2(data, start, iterations, points):
    scores, times = [], []
    kk = klustakwik2.KK(data, use_mua_cluster=False, points_for_cluster_mask=points, max_iterations=iterations,
                        split_first=10 ** 6, split_every=10 ** 6, num_cpus=1)
    kk.register_callback(lambda kk, score, **_: (scores.append(score), times.append(time.process_time())), "scores")
    began = time.process_time()
    kk.cluster_from(start.copy(), recurse=True)
    return scores, np.diff([began, *times])


def time_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_spikeweave(spikeweave, folder, iterations, points):
    command = [spikeweave, "sort", folder / "data.npz", "--start", folder / "start.clu.1", "--no-splits", "--max-iterations",
               iterations, "--points-for-cluster-mask", points, "--threads", 1, "--json", "-q"]
    began = time_of_children()
    result = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return [one["score"] for one in json.loads(result.stdout)["iterations"]], time_of_children() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spikeweave")
    for name, standard in (("spikes", 50_000), ("channels", 32), ("units", 60), ("start", 172), ("iterations", 6)):
        parser.add_argument(f"--{name}", type=int, default=standard)
    parser.add_argument("--points", type=float, default=10)
    parser.add_argument("--save", action="store_true")
    chosen = parser.parse_args()

    features, masks, _ = simulate(chosen.spikes, chosen.channels, chosen.units)
    data = to_klustakwik2(features, masks)
    patterns, of_spike, counts = np.unique(masks > 0, axis=0, return_inverse=True, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:chosen.start]
    nearest = np.array([np.argmin((patterns[frequent] != one).sum(axis=1)) for one in patterns])
    start = np.unique(nearest[of_spike.ravel()], return_inverse=True)[1] + 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "data.npz", features=features, masks=masks)
        np.savetxt(folder / "start.clu.1", np.concatenate([[start.max()], start + 1]), "%d")
        theirs, seconds = run_klustakwik2(data, start, chosen.iterations, chosen.points)
        ours, _ = run_spikeweave(chosen.spikeweave, folder, chosen.iterations, chosen.points)
        apart = [abs(a - b) / abs(a) for a, b in zip(theirs, ours)]
        what = (f"{chosen.spikes} spikes of {features.shape[1]} features, {start.max()} clusters, {len(theirs)} iterations: "
                f"scores differ by {max(apart):.1e} of their size at most")
        print(what)
        if len(theirs) != len(ours) or max(apart) > 1e-8:
            print("the scores differ", theirs, ours, file=sys.stderr)
            return 1
        # Reading and scaling cancel out: only additional iterations are timed.
        few = min(run_spikeweave(chosen.spikeweave, folder, 1, chosen.points)[1] for _ in range(3))
        many = min(run_spikeweave(chosen.spikeweave, folder, chosen.iterations, chosen.points)[1] for _ in range(3))
        own = (many - few) / (chosen.iterations - 1)
        their = float(np.mean(seconds[1:]))
        speed = (f"an iteration from the second on, one thread, mean processor time: klustakwik2 {their:.3g} s, spikeweave {own:.3g} s, "
                 f"{their / own:.1f} times as fast")
        print(speed)
    if chosen.save:
        # Scores are given in full, because they differ only in their last digits.
        rows = [[i + 1, repr(a), repr(b), f"{c:.1e}"] for i, (a, b, c) in enumerate(zip(theirs, ours, apart))]
        results.save("against_klustakwik2", ("iteration", "klustakwik2's score", "spikeweave's", "difference"), rows,
                     chosen.spikeweave, versions=[f"klustakwik2 {importlib.metadata.version('klustakwik2')}"], notes=[what, speed])
    return 0 if their / own >= TIMES_AS_FAST else 1


if __name__ == "__main__":
    sys.exit(main())
