"""Makes a recording with SpikeInterface's generators. Runs in the environment of SpikeInterface.

Usage: generate.py FOLDER RECIPE, where RECIPE is JSON. Its maker is still (channels, units,
seconds, noise, seed), network (as still, with spikes from a file of `spikeweave simulate network`),
drifting (motion and micrometres instead of noise), one of injected.py, or copy (file: a recording
without known truth, of SpikeGLX, Open Ephys, NWB or SpikeInterface). The FOLDER has
binary.json, probe.json, the samples (int16) and truth.npz.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import injected
import numpy as np
import spikeinterface.full as si

GAIN_UV = 0.195
RATE = 30000
FIRING = {"firing_rates": (2, 15), "refractory_period_ms": 4}
PROBE = {
    "num_columns": 2,
    "xpitch": 20,
    "ypitch": 20,
    "contact_shapes": "circle",
    "contact_shape_params": {"radius": 6},
}
MOTION_HZ = 5
ZIGZAGS = 2
SIZES = 0.08  # standard deviation of the sizes of a unit's spikes, relative to their mean


def still(recipe, truth=None):
    return si.generate_ground_truth_recording(
        durations=[recipe["seconds"]],
        sampling_frequency=RATE,
        num_channels=recipe["channels"],
        num_units=recipe["units"],
        seed=recipe["seed"],
        sorting=truth,
        generate_sorting_kwargs=FIRING,
        generate_probe_kwargs=PROBE,
        noise_kwargs={"noise_levels": float(recipe["noise"]), "strategy": "on_the_fly"},
    )


def network(recipe):
    """Returns the spikes of a network on templates of SpikeInterface, of sizes that vary by 8 %."""
    times, names = np.loadtxt(recipe["spikes"], dtype=str, skiprows=2, unpack=True)
    samples = np.round(times.astype(float) * RATE).astype(int)
    units = np.char.lstrip(names, "n").astype(int)
    truth = si.NumpySorting.from_samples_and_labels(
        [samples], [units], RATE, unit_ids=np.arange(recipe["units"])
    )
    traces, _ = still(recipe, truth)
    sizes = np.random.default_rng(recipe["seed"]).normal(1, SIZES, len(samples))
    varied = si.InjectTemplatesRecording(**{**traces._kwargs, "amplitude_factor": sizes})
    varied.set_probe(traces.get_probe(), in_place=True)
    return varied, truth


def displacement(motion, micrometres, seconds):
    """Returns where the probe is along its length at MOTION_HZ, in um around 0."""
    phase = np.arange(0, seconds, 1 / MOTION_HZ) / seconds
    shapes = {
        "static": np.zeros_like(phase),
        "rigid": phase - 0.5,
        "zigzag": np.abs((2 * ZIGZAGS * phase) % 2 - 1) - 0.5,
        "jump": np.where(phase < 0.5, -0.5, 0.5),
    }
    return micrometres * shapes[motion]


def drifting(recipe):
    """Returns the drifting recording, or its static twin: the same units, spikes and noise."""
    place = displacement(recipe["motion"], recipe["micrometres"], recipe["seconds"])
    along = np.column_stack([np.zeros_like(place), place])
    furthest = recipe["micrometres"] // 2
    steps = np.arange(-furthest, furthest + 1.0)
    factors = np.ones((recipe["units"], 1))
    data = (
        np.repeat(along[:, None, :], recipe["units"], axis=1),
        along[:, :, None],
        factors,
        float(MOTION_HZ),
        np.column_stack([np.zeros_like(steps), steps]),
    )
    static, moved, truth = si.generate_drifting_recording(
        num_units=recipe["units"],
        duration=float(recipe["seconds"]),
        sampling_frequency=float(RATE),
        generate_probe_kwargs={**PROBE, "num_contact_per_column": [recipe["channels"] // 2] * 2},
        displacement_data=data,
        generate_sorting_kwargs=FIRING,
        seed=recipe["seed"],
    )
    return (static if recipe["motion"] == "static" else moved), truth


def copied(recipe):
    """Returns a recording of one of the formats that labs have, without truth."""
    file = Path(recipe["file"])
    if file.suffix == ".nwb":
        return si.read_nwb_recording(file), None
    if file.suffix == ".bin":
        stream = ".".join(file.stem.split(".")[-2:]).removeprefix(file.stem.split(".")[0] + ".")
        return si.read_spikeglx(file.parent, stream_id=stream), None
    if (file / "binary.json").exists():
        return si.read_binary_folder(file), None
    return si.read_openephys(file), None


def counts(traces):
    """Returns 16-bit counts like those of a converter."""
    scaled = si.astype(si.scale(traces, gain=1 / GAIN_UV, dtype="float32"), "int16", round=True)
    scaled.set_channel_gains(GAIN_UV)
    scaled.set_channel_offsets(0)
    return scaled


def write(folder, traces, truth):
    aside = folder.with_suffix(".part")
    shutil.rmtree(aside, ignore_errors=True)
    threads = os.cpu_count() if traces.check_serializability("pickle") else 1
    traces.save(folder=aside, n_jobs=threads, progress_bar=False)
    if not (aside / "probe.json").exists():  # SpikeInterface 0.105 has another name for it
        shutil.copy(aside / "probegroup.json", aside / "probe.json")
    if truth is not None:
        spikes = truth.to_spike_vector()
        np.savez(
            aside / "truth.npz", samples=spikes["sample_index"], labels=spikes["unit_index"] + 1
        )
    aside.rename(folder)


def main():
    folder, recipe = Path(sys.argv[1]), json.loads(sys.argv[2])
    makers = {"still": still, "network": network, "drifting": drifting, "copy": copied, **injected.MAKERS}
    traces, truth = makers[recipe["maker"]](recipe)
    write(folder, traces if traces.get_dtype() == "int16" else counts(traces), truth)


if __name__ == "__main__":
    main()
