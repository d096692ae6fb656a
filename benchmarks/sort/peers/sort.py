"""Sorts a recording with another sorter, at its defaults. Runs in the environment of that sorter.

Usage: sort.py klusta|NAME RECORDING RESULT.npz, where NAME is one of SpikeInterface's sorters.
The RECORDING is a folder with binary.json, probe.json and the samples (int16). The RESULT has
samples and labels (0 for noise); RESULT.json beside it has the seconds of sorting.
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

NEIGHBOUR_UM = 30  # the value that spikeweave uses for these probes: 1.5 times their pitch


def clocks():
    """Returns wall seconds, and CPU seconds of this process and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return np.array([time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)])


def keep(result, samples, labels, took):
    np.savez(result, samples=samples, labels=labels)
    result.with_suffix(".json").write_text(
        json.dumps({"seconds": took[0], "processor seconds": took[1]})
    )


def about(recording):
    kwargs = json.loads((recording / "binary.json").read_text())["kwargs"]
    (file,) = kwargs["file_paths"]
    probe = json.loads((recording / "probe.json").read_text())["probes"][0]
    places = [None] * kwargs["num_channels"]
    for channel, place in zip(
        probe["device_channel_indices"], probe["contact_positions"], strict=True
    ):
        places[channel] = place
    gain = float(np.ravel(kwargs["gain_to_uV"])[0])
    return str((recording / file).resolve()), kwargs["sampling_frequency"], np.array(places), gain


def klusta(recording, result):
    """Sorts with klusta's defaults."""
    file, rate, places, gain = about(recording)
    folder = result.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    apart = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    graph = [(int(a), int(b)) for a, b in np.argwhere(apart <= NEIGHBOUR_UM) if a < b]
    group = {
        "channels": list(range(len(places))),
        "graph": graph,
        "geometry": {channel: tuple(map(float, place)) for channel, place in enumerate(places)},
    }
    (folder / "probe.prb").write_text(f"channel_groups = {{0: {group!r}}}\n")
    (folder / "all.dat").symlink_to(file)  # the name is fixed
    traces = {
        "raw_data_files": ["all.dat"],
        "sample_rate": rate,
        "n_channels": len(places),
        "dtype": "int16",
        "voltage_gain": gain,
    }
    (folder / "all.prm").write_text(
        f"experiment_name = 'all'\nprb_file = 'probe.prb'\ntraces = {traces!r}\n"
        "spikedetekt = {}\n"
        "klustakwik2 = {}\n"
    )
    began = clocks()
    subprocess.run(
        [Path(sys.executable).with_name("klusta"), "all.prm", "--legacy-output"],
        cwd=folder,
        check=True,
    )
    took = clocks() - began
    labels = np.loadtxt(folder / "all.0.clu", dtype=int)[1:]
    # 0 is noise, and 1 holds spikes that belong to no unit.
    keep(result, np.loadtxt(folder / "all.0.res", dtype=int), np.where(labels < 2, 0, labels), took)


def with_spikeinterface(sorter, recording, result):
    """Sorts with a sorter's defaults, on all cores where it can. Times include its compilation."""
    import spikeinterface.full as si

    si.set_global_job_kwargs(n_jobs=os.cpu_count(), progress_bar=False)
    traces = si.read_binary_folder(recording)
    began = clocks()
    found = si.run_sorter(
        sorter, traces, folder=result.with_suffix(""), remove_existing_folder=True
    )
    took = clocks() - began
    spikes = found.to_spike_vector()
    keep(result, spikes["sample_index"], spikes["unit_index"] + 1, took)
    shutil.rmtree(result.with_suffix(""), ignore_errors=True)


def main():
    sorter, recording, result = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if sorter == "klusta":
        klusta(recording, result)
    else:
        with_spikeinterface(sorter, recording, result)


if __name__ == "__main__":
    main()
