"""Runs in the environment of another sorter, called by against_sorters.py.

Usage: inside.py generate RECORDING
       inside.py klusta|mountainsort5|tridesclous2 RECORDING RESULT.npz
       inside.py compare RECORDING RESULT.npz FIGURES.json
A RECORDING is a folder with binary.json, probe.json, the samples (int16) and truth.npz. A RESULT has samples and labels
(0 for noise); RESULT.json beside it has the seconds of sorting.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

GAIN_UV = 0.195
NEIGHBOUR_UM = 30  # the value that spikeweave uses for these probes: 1.5 times their pitch


def clocks():
    """Returns wall seconds, and CPU seconds of this process and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return np.array([time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)])


def keep(result, samples, labels, took):
    np.savez(result, samples=samples, labels=labels)
    result.with_suffix(".json").write_text(json.dumps({"seconds": took[0], "processor seconds": took[1]}))


def generate(recording):
    """Makes 20 units in white noise, as 16-bit counts like those of a converter."""
    import spikeinterface.full as si

    traces, truth = si.generate_ground_truth_recording(
        durations=[60], sampling_frequency=30000, num_channels=32, num_units=20, seed=42,
        generate_sorting_kwargs={"firing_rates": (2, 12), "refractory_period_ms": 4},
        noise_kwargs={"noise_levels": 8.0, "strategy": "on_the_fly"})
    counts = si.scale(traces, gain=1 / GAIN_UV, dtype="float32")
    counts = si.astype(counts, "int16", round=True)
    counts.set_channel_gains(GAIN_UV)
    counts.set_channel_offsets(0)
    aside = recording.with_suffix(".part")
    shutil.rmtree(aside, ignore_errors=True)
    counts.save(folder=aside, n_jobs=1, progress_bar=False)
    spikes = truth.to_spike_vector()
    np.savez(aside / "truth.npz", samples=spikes["sample_index"], labels=spikes["unit_index"] + 1)
    aside.rename(recording)


def about(recording):
    kwargs = json.loads((recording / "binary.json").read_text())["kwargs"]
    (file,) = kwargs["file_paths"]
    probe = json.loads((recording / "probe.json").read_text())["probes"][0]
    places = [None] * kwargs["num_channels"]
    for channel, place in zip(probe["device_channel_indices"], probe["contact_positions"]):
        places[channel] = place
    return str((recording / file).resolve()), kwargs["sampling_frequency"], np.array(places)


def klusta(recording, result):
    """Sorts with klusta's defaults."""
    file, rate, places = about(recording)
    folder = result.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    apart = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    graph = [(int(a), int(b)) for a, b in np.argwhere(apart <= NEIGHBOUR_UM) if a < b]
    group = {"channels": list(range(len(places))), "graph": graph,
             "geometry": {channel: tuple(map(float, place)) for channel, place in enumerate(places)}}
    (folder / "probe.prb").write_text(f"channel_groups = {{0: {group!r}}}\n")
    (folder / "all.dat").symlink_to(file)  # the name is fixed
    traces = {"raw_data_files": ["all.dat"], "sample_rate": rate, "n_channels": len(places), "dtype": "int16",
              "voltage_gain": GAIN_UV}
    (folder / "all.prm").write_text(
        f"experiment_name = 'all'\nprb_file = 'probe.prb'\ntraces = {traces!r}\nspikedetekt = {{}}\n"
        "klustakwik2 = {}\n")
    began = clocks()
    subprocess.run([Path(sys.executable).with_name("klusta"), "all.prm", "--legacy-output"], cwd=folder, check=True)
    took = clocks() - began
    labels = np.loadtxt(folder / "all.0.clu", dtype=int)[1:]
    # 0 is noise, and 1 holds spikes that belong to no unit.
    keep(result, np.loadtxt(folder / "all.0.res", dtype=int), np.where(labels < 2, 0, labels), took)


def with_spikeinterface(sorter, recording, result):
    """Sorts with a sorter's defaults. The time of Tridesclous2 includes its compilation."""
    import spikeinterface.full as si

    si.set_global_job_kwargs(n_jobs=os.cpu_count(), progress_bar=False)
    traces = si.read_binary_folder(recording)
    began = clocks()
    found = si.run_sorter(sorter, traces, folder=result.with_suffix(""), remove_existing_folder=True)
    took = clocks() - began
    spikes = found.to_spike_vector()
    keep(result, spikes["sample_index"], spikes["unit_index"] + 1, took)


def true_spikes(recording, rate):
    """Returns samples and labels of the truth from `generate`, or from spikeweave, which stores seconds."""
    file = np.load(recording / "truth.npz")
    if "samples" in file:
        return file["samples"], file["labels"]
    return np.rint(file["t"] * rate).astype(int), file["index"] + 1


def compare(recording, result, figures):
    import spikeinterface.full as si

    _, rate, _ = about(recording)
    found = np.load(result)
    labels = found["labels"].astype(int)
    unit = labels > 0
    truth = si.NumpySorting.from_samples_and_labels(*true_spikes(recording, rate), rate)
    tested = si.NumpySorting.from_samples_and_labels(found["samples"].astype(int)[unit], labels[unit], rate)
    judged = si.compare_sorter_to_ground_truth(truth, tested, exhaustive_gt=True)
    pooled = judged.get_performance(method="pooled_with_average")
    of_units = judged.get_performance(method="by_unit")["accuracy"].astype(float)
    figures.write_text(json.dumps({
        "units": len(tested.unit_ids), "true units": len(truth.unit_ids), "spikes": len(labels),
        **{name: float(pooled[name]) for name in ("accuracy", "recall", "precision")},
        "units above 0.8": int((of_units > 0.8).sum()), "accuracies": sorted(of_units)}))


def main():
    task, recording, *rest = sys.argv[1:2] + [Path(word) for word in sys.argv[2:]]
    if task == "generate":
        generate(recording)
    elif task == "klusta":
        klusta(recording, *rest)
    elif task == "compare":
        compare(recording, *rest)
    else:
        with_spikeinterface(task, recording, *rest)


if __name__ == "__main__":
    main()
