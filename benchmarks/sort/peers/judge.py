"""Compares a result with the truth of a recording. Runs in the environment of SpikeInterface.

Usage: judge.py RECORDING RESULT.npz [FIGURES.json]
       judge.py --units RECORDING
The RECORDING is a folder with binary.json, probe.json, the samples (int16) and truth.npz; the
RESULT has samples and labels (0 for noise). Without FIGURES.json one line is printed. --units only
measures the true units, into units.npz.

- accuracy, recall, precision: means over true units; those that are not found count 0.
- false units: get_false_positive_units of SpikeInterface's GroundTruthComparison. Such a unit is no
  true unit's match, and agrees with none by 0.2 or more. One that does is redundant; overmerged
  ones agree with several. There are none where the recipe states that others fire as well
  (partial).
- by SNR: the peak of a unit's mean waveform, over the noise (median absolute deviation) of its
  main channel, both raw.
- collisions: true spikes within 0.5 ms of a spike of a unit whose main channel is within 60 um,
  pooled over units.
"""

import itertools
import json
import os
import sys
from pathlib import Path

import numpy as np
import spikeinterface.full as si
from spikeinterface.comparison import CollisionGTComparison

SNR_EDGES = (0, 3, 4, 6, 12, 20, np.inf)
COLLISION_MS = 0.5
LAG_EDGES_MS = (0, 0.25, 0.5, 1)
NEIGHBOUR_UM = 60
BEFORE, AFTER = 15, 15  # samples in which the peak of a mean waveform is searched for
MOST_SPIKES = 500  # for a mean waveform


def about(recording):
    """Returns samples (frames x channels), rate and positions of a folder."""
    kwargs = json.loads((recording / "binary.json").read_text())["kwargs"]
    (file,) = kwargs["file_paths"]
    probe = json.loads((recording / "probe.json").read_text())["probes"][0]
    places = [None] * kwargs["num_channels"]
    for channel, place in zip(
        probe["device_channel_indices"], probe["contact_positions"], strict=True
    ):
        places[channel] = place
    samples = np.memmap(recording / file, dtype="<i2", mode="r").reshape(-1, kwargs["num_channels"])
    return samples, kwargs["sampling_frequency"], np.array(places, dtype=float)


def true_spikes(recording, rate):
    """Returns samples and labels (from 1); spikeweave stores seconds."""
    file = np.load(recording / "truth.npz")
    if "samples" in file:
        return file["samples"], file["labels"]
    return np.rint(file["t"] * rate).astype(int), file["index"] + 1


def mean_waveform(samples, peaks):
    """Returns samples x channels, of as many spikes as are needed, from all of the recording."""
    inside = peaks[(peaks >= BEFORE) & (peaks < len(samples) - AFTER)]
    chosen = inside[np.linspace(0, len(inside) - 1, min(len(inside), MOST_SPIKES)).astype(int)]
    return np.mean([samples[peak - BEFORE : peak + AFTER] for peak in chosen], axis=0)


def measure_units(recording):
    samples, rate, places = about(recording)
    some = np.asarray(samples[:: max(1, len(samples) // 100000)], dtype=float)
    middle = np.median(some, axis=0)
    noise = np.median(np.abs(some - middle), axis=0) / 0.6745
    peaks, labels = true_spikes(recording, rate)
    units, snr, main = np.unique(labels), [], []
    for unit in units:
        wave = mean_waveform(samples, peaks[labels == unit]) - middle
        depth = np.abs(wave).max(axis=0)
        main.append(int(np.argmax(depth)))
        snr.append(depth[main[-1]] / max(noise[main[-1]], 1e-9))
    return {"units": units, "snr": snr, "positions": places[main]}


def units_of(recording):
    """Returns numbers of the true units that fire, their SNR and where their main channels are."""
    cache = recording / "units.npz"
    if not cache.exists():
        aside = recording / f"units.{os.getpid()}.npz"
        np.savez(aside, **measure_units(recording))
        aside.rename(cache)
    file = np.load(cache)
    return file["units"], file["snr"], file["positions"]


def by_snr(units, snr, accuracies):
    """Returns {class: [units, units above 0.8, mean accuracy]}."""
    found = {}
    for low, high in itertools.pairwise(SNR_EDGES):
        chosen = np.array([accuracies[unit] for unit in units[(snr >= low) & (snr < high)]])
        if len(chosen):
            found[f"{low}-{high}" if np.isfinite(high) else f">{low}"] = [
                len(chosen),
                int((chosen > 0.8).sum()),
                float(chosen.mean()),
            ]
    return found


def lags_to_neighbours(judged, units, positions, rate):
    """Returns {unit: shortest time in ms from each spike to one of a neighbouring unit, or inf}."""
    near = np.linalg.norm(positions[:, None] - positions[None, :], axis=2) <= NEIGHBOUR_UM
    place = {unit: index for index, unit in enumerate(units)}
    lags = {unit: np.full(len(judged.get_labels1(unit)[0]), np.inf) for unit in units}
    for event in judged.collision_events:
        first, second = event["unit_id1"], event["unit_id2"]
        if near[place[first], place[second]]:
            lag = abs(event["delta_frame"]) / rate * 1000
            for unit, index in ((first, event["index1"]), (second, event["index2"])):
                lags[unit][index] = min(lags[unit][index], lag)
    return lags


def mean(some):
    return float(some.mean()) if len(some) else None


def collisions(judged, units, positions, rate):
    """Returns the recall of true spikes by the time to the nearest spike of a neighbouring unit."""
    lags = lags_to_neighbours(judged, units, positions, rate)
    lag = np.concatenate([lags[unit] for unit in units])
    right = np.concatenate([judged.get_labels1(unit)[0] == "TP" for unit in units])
    struck = lag <= COLLISION_MS
    bins = {
        f"{low}-{high} ms": right[(lag > low if low else lag >= 0) & (lag <= high)]
        for low, high in itertools.pairwise(LAG_EDGES_MS)
    }
    return {
        "collision recall": mean(right[struck]),
        "isolated recall": mean(right[~struck]),
        "collisions": int(struck.sum()),
        "recall by lag": {name: [len(some), mean(some)] for name, some in bins.items()},
    }


def figures(recording, result):
    units, snr, positions = units_of(recording)
    _, rate, _ = about(recording)
    found = np.load(result)
    labels = found["labels"].astype(int)
    unit = labels > 0
    recipe = recording / "recipe.json"
    partial = recipe.exists() and json.loads(recipe.read_text()).get("partial", False)
    truth = si.NumpySorting.from_samples_and_labels(*true_spikes(recording, rate), rate)
    tested = si.NumpySorting.from_samples_and_labels(
        found["samples"].astype(int)[unit], labels[unit], rate
    )
    judged = CollisionGTComparison(
        truth, tested, collision_lag=LAG_EDGES_MS[-1], progress_bar=False, exhaustive_gt=not partial
    )
    pooled = judged.get_performance(method="pooled_with_average")
    of_units = {
        unit: float(one)
        for unit, one in judged.get_performance(method="by_unit")["accuracy"].items()
    }
    accuracies = np.array(list(of_units.values()))
    return {
        "units": len(tested.unit_ids),
        "true units": len(truth.unit_ids),
        "spikes": int(unit.sum()),
        **{name: float(pooled[name]) for name in ("accuracy", "recall", "precision")},
        "units above 0.8": int((accuracies > 0.8).sum()),
        "false units": None if partial else len(judged.get_false_positive_units()),
        "redundant units": None if partial else len(judged.get_redundant_units()),
        "overmerged units": None if partial else len(judged.get_overmerged_units()),
        **collisions(judged, units, positions, rate),
        "by SNR": by_snr(units, snr, of_units),
        "accuracies": {str(unit): round(of_units[unit], 4) for unit in units},
    }


def line(found):
    """Returns the most important figures in one line."""
    shown = ("accuracy", "recall", "precision", "collision recall", "isolated recall")
    said = [f"{name} {found[name]:.3f}" for name in shown if found[name] is not None]
    counts = (
        "units above 0.8",
        "true units",
        "units",
        "false units",
        "redundant units",
        "overmerged units",
    )
    return " · ".join(said + [f"{name} {found[name]}" for name in counts])


def main():
    if sys.argv[1] == "--units":
        units_of(Path(sys.argv[2]))
        return
    recording, result, *kept = (Path(word) for word in sys.argv[1:])
    found = figures(recording, result)
    if kept:
        kept[0].write_text(json.dumps(found))
    else:
        print(line(found))


if __name__ == "__main__":
    main()
