#!/usr/bin/env python3
"""Follows units through simulated sessions: simulates, sorts, tracks, and judges the pairs of units by the truth. With
UnitMatchPy installed, it matches the same units from the same waveforms of both halves, with its defaults.

A pair is right if both units are the same neuron, by their spikes. Recall counts the neurons that have a unit in both
sessions; "on the probe" only those whose place is between the first and the last contact in both.

With --templates, later sessions are also sorted by the templates of the first one, which keep its numbers. A unit of the
first session is found right if the unit of its number is the same neuron, and agrees with `track` if that unit has the
spikes of the one that `track` takes for the same neuron.

Usage: tracked_units.py SPIKEWEAVE [--cases NAME ...] [--first-seed N] [--folder DIR] [--device cuda:0] [--templates]
With --folder, recordings that are sorted there already are not made again.
"""

import argparse
import contextlib
import csv
import io
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from known_templates import matched, trains

# Channels, units, um between sessions, turnover, length, sessions, difficulty.
CASES = {
    "32-20-0um-easy": (32, 20, 0, 0.1, "120s", 3, "easy"),
    "32-20-20um": (32, 20, 20, 0.2, "120s", 3, "realistic"),
    "64-60-50um": (64, 60, 50, 0.2, "120s", 3, "realistic"),
    "32-40-100um": (32, 40, 100, 0.3, "120s", 2, "realistic"),
    "128-100-100um": (128, 100, 100, 0.3, "120s", 2, "realistic"),
    "384-200-50um": (384, 200, 50, 0.2, "120s", 2, "realistic"),
    "384-200-100um-60s": (384, 200, 100, 0.3, "60s", 2, "realistic"),
    "64-40-0um": (64, 40, 0, 0.2, "120s", 2, "realistic"),
    "32-30-50um-easy": (32, 30, 50, 0.2, "120s", 2, "easy"),
    "32-20-0um-60s": (32, 20, 0, 0.2, "60s", 2, "realistic"),
    "32-20-10um-60s": (32, 20, 10, 0.2, "60s", 2, "realistic"),
    "64-40-20um-60s": (64, 40, 20, 0.2, "60s", 2, "realistic"),
}


def rows_of(path):
    with open(path) as file:
        return list(csv.DictReader(file, delimiter="\t"))


def sort_sessions(command, folder, case, seed, device, templates):
    channels, units, drift, turnover, length, sessions, difficulty = CASES[case]
    made = f"--seed {seed} --channels {channels} --units {units} --turnover {turnover} --length {length}"
    for k in range(1, sessions + 1):
        recording, sorted_to = folder / f"rec{k}", folder / f"s{k}"
        if (sorted_to / "waveforms.npz").exists():
            continue
        words = f"{made} --session {k} --session-drift {drift}um --difficulty {difficulty} -q --overwrite"
        subprocess.run([command, "simulate", "recording", *words.split(), "-o", recording], check=True)
        words = ["-q", "--no-report", "--overwrite", *(["--device", device] if device else [])]
        saved = ["--save-templates", folder / "templates.npz", "--drift", "none"] if templates and k == 1 else []
        if templates and k > 1:
            by = ["--templates", folder / "templates.npz", "-o", folder / f"t{k}"]
            subprocess.run([command, "sort", recording, *words, *by], check=True)
        subprocess.run([command, "sort", recording, *words, *saved, "-o", sorted_to], check=True)
        (recording / "traces.raw").unlink()
    return [folder / f"s{k}" for k in range(1, sessions + 1)]


def agreement(one, other):
    both = matched(one, other)
    return both / (len(one) + len(other) - both)


def neurons_of(command, recording, sorting):
    """The true neuron of each unit, and how well the unit agrees with it."""
    with tempfile.TemporaryDirectory() as folder:
        truth, found = (
            trains(command, path, Path(folder)) for path in (recording / "truth.npz", sorting / "spikes.npz")
        )
    out = {}
    for unit, times in found.items():
        best = max(((agreement(spikes, times), name) for name, spikes in truth.items()), default=(0, ""))
        if best[0] > 0.5:
            out[unit] = best
    return out


def unitmatch(one, other, units):
    """The pairs that UnitMatchPy takes for one unit, by the mean of both directions, each unit once."""
    from UnitMatchPy import bayes_functions, default_params, overlord, utils

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        waves, labels, places = [], [], []
        for k, sorting in enumerate((one, other)):
            saved = np.load(sorting / "waveforms.npz")
            halves, channels = saved["half_waveforms"], saved["unit_channels"]
            to = Path(folder) / str(k) / "RawWaveforms"
            to.mkdir(parents=True)
            for i, unit in enumerate(units[k]):
                both = np.zeros((halves.shape[2], len(saved["channel_x_um"]), 2))
                both[:, channels[int(unit) - 1], :] = np.moveaxis(halves[:, int(unit) - 1], 0, 2)
                np.save(to / f"Unit{i}_RawSpikes.npy", both)
            lines = [f"{i}\tgood\n" for i in range(len(units[k]))]
            (to.parent / "cluster_group.tsv").write_text("cluster_id\tgroup\n" + "".join(lines))
            waves.append(str(to))
            labels.append(str(to.parent / "cluster_group.tsv"))
            places.append(np.c_[np.ones(both.shape[1]), saved["channel_x_um"], saved["channel_y_um"]])
        peak = int(saved["waveform_peak"][0])
        given = default_params.get_default_param() | {
            "spike_width": both.shape[0],
            "peak_loc": peak,
            "waveidx": np.arange(max(0, peak - 8), min(both.shape[0], peak + 15)),
            "n_channels": both.shape[1],
            "no_shanks": 1,
            "shank_dist": 0,
            "KS_dirs": waves,
        }
        waveform, session, switch, within, good, given = utils.load_good_waveforms(
            waves, labels, given, good_units_only=True
        )
        info = {
            "good_units": good,
            "session_switch": switch,
            "session_id": session,
            "original_ids": np.concatenate(good),
        }
        extracted = overlord.extract_parameters(waveform, places, info, given)
        _, candidates, scores, predictors = overlord.extract_metric_scores(extracted, switch, within, given, niter=2)
        prior = 1 - given["n_expected_matches"] / given["n_units"] ** 2
        kinds = np.unique(candidates.astype(int))
        kernels = bayes_functions.get_parameter_kernels(scores, candidates.astype(int), kinds, given, add_one=1)
        found = bayes_functions.apply_naive_bayes(kernels, np.array((prior, 1 - prior)), predictors, given, kinds)
    found = found[:, 1].reshape(given["n_units"], given["n_units"])
    ids, first = np.concatenate(good).astype(int).ravel(), len(good[0])
    mean = (found[:first, first:] + found[first:, :first].T) / 2
    out, taken = set(), (set(), set())
    for i, j in zip(*np.unravel_index(np.argsort(-mean, axis=None), mean.shape), strict=True):
        if mean[i, j] < 0.5:
            break
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            out.add((units[0][ids[i]], units[1][ids[first + j]]))
    return out


def best_units(neurons, used):
    """The unit that agrees best with each neuron."""
    out = {}
    for unit, (score, name) in neurons.items():
        if unit in used and score > out.get(name, (0, ""))[0]:
            out[name] = (score, unit)
    return {name: unit for name, (_, unit) in out.items()}


def judge(command, folder, sortings):
    """Sums over pairs of sessions, by tool: true pairs, those on the probe, found, right, right on the probe."""
    to = folder / "tracked"
    subprocess.run([command, "track", *sortings, "-o", to, "--overwrite", "-q"], check=True)
    units, matches = rows_of(to / "neurons.tsv"), rows_of(to / "matches.tsv")
    names = [str(sorting) for sorting in sortings]
    used = [sorted((r["unit"] for r in units if r["session"] == name), key=int) for name in names]
    recordings = [folder / f"rec{k + 1}" for k in range(len(names))]
    neurons = [neurons_of(command, *of) for of in zip(recordings, sortings, strict=True)]
    top = np.load(sortings[0] / "waveforms.npz")["channel_y_um"].max()
    on_probe = [
        {r["unit"] for r in rows_of(of / "units.tsv") if 0 <= float(r["y_um"]) <= top} for of in recordings
    ]
    tools = ["spikeweave"]
    with contextlib.suppress(ImportError):
        import UnitMatchPy  # noqa: F401

        tools.append("UnitMatchPy")
    sums = {tool: np.zeros(5, int) for tool in tools}
    for a, b in itertools.combinations(range(len(names)), 2):
        one, other = best_units(neurons[a], used[a]), best_units(neurons[b], used[b])
        both = one.keys() & other.keys()
        true = {(one[name], other[name]) for name in both}
        seen = {(one[name], other[name]) for name in both & on_probe[a] & on_probe[b]}
        for tool in tools:
            if tool == "spikeweave":
                found = {
                    (r["unit"], r["other_unit"])
                    for r in matches
                    if (r["session"], r["other_session"], r["accepted"]) == (names[a], names[b], "yes")
                }
            else:
                found = unitmatch(sortings[a], sortings[b], (used[a], used[b]))
            nobody, other_nobody = (0, None), (0, "")
            right = [
                neurons[a].get(u, nobody)[1] == neurons[b].get(v, other_nobody)[1] for u, v in found
            ]
            sums[tool] += [len(true), len(seen), len(found), sum(right), len(found & seen)]
    return sums


def judge_templates(command, folder, sortings):
    """Sums over later sessions: units of the first one whose neuron both have, those found and right by templates, those
    that track found, and those of them with the same spikes by templates."""
    to = folder / "tracked"
    names = [str(sorting) for sorting in sortings]
    matches = rows_of(to / "matches.tsv")
    used = {row["unit"] for row in rows_of(to / "neurons.tsv") if row["session"] == names[0]}
    first = {unit: of for unit, of in neurons_of(command, folder / "rec1", sortings[0]).items() if unit in used}
    sums = np.zeros(5, int)
    for k in range(1, len(names)):
        with tempfile.TemporaryDirectory() as held:
            paths = (folder / f"rec{k + 1}" / "truth.npz", folder / f"t{k + 1}" / "spikes.npz", sortings[k] / "spikes.npz")
            truth, known, own = (trains(command, path, Path(held)) for path in paths)
        there = {unit for unit, (_, name) in first.items() if len(truth.get(name, ())) > 0}
        fires = {unit for unit in known.keys() & first.keys() if len(known[unit]) >= 10}
        right = {unit for unit in fires & there if agreement(truth[first[unit][1]], known[unit]) > 0.5}
        tracked = {
            (row["unit"], row["other_unit"])
            for row in matches
            if (row["session"], row["other_session"], row["accepted"]) == (names[0], names[k], "yes")
        }
        same = [u for u, v in tracked if len(known.get(u, ())) > 0 and agreement(known[u], own[v]) > 0.5]
        sums += [len(there), len(fires), len(right), len(tracked), len(same)]
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spikeweave")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES), metavar="NAME")
    parser.add_argument("--first-seed", type=int, default=9101)
    parser.add_argument("--folder", type=Path, help="where to keep recordings and results")
    parser.add_argument("--device", help="for sort")
    parser.add_argument("--templates", action="store_true", help="also judge templates of the first session")
    chosen = parser.parse_args()
    print("case\ttool\tpairs\tfound\tprecision\trecall\trecall on the probe")
    with tempfile.TemporaryDirectory() as temporary:
        for case in chosen.cases:
            folder = (chosen.folder or Path(temporary)) / case
            seed = chosen.first_seed + list(CASES).index(case)
            sortings = sort_sessions(chosen.spikeweave, folder, case, seed, chosen.device, chosen.templates)
            for tool, (true, seen, found, right, right_seen) in judge(chosen.spikeweave, folder, sortings).items():
                figures = (right / max(1, found), right / max(1, true), right_seen / max(1, seen))
                print(case, tool, true, found, *(f"{x:.3f}" for x in figures), sep="\t", flush=True)
            if chosen.templates:
                there, fires, right, tracked, same = judge_templates(chosen.spikeweave, folder, sortings)
                print(case, "templates", there, fires, f"{right / max(1, fires):.3f}", f"{right / max(1, there):.3f}", "-", sep="\t")
                print(f"# {same} of {tracked} units that track found have the same spikes by templates", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
