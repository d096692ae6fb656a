"""The recordings on which sorters are compared: what they are called and how they are made.

SpikeInterface makes the kinds whose recipe has `maker`, see peers/generate.py; `spikeweave simulate
recording` makes the others from its options. A drifting kind has a static twin: the same units and
spikes, which also show how large the units are. The kinds of NETWORKS have the spikes of a network
whose synapses are known: NAME-network.tsv and NAME-network.truth.tsv beside the recording.
"""

import fnmatch
import json
import shutil
from pathlib import Path

from environments import GENERATE, JUDGE, Failed, run

LOCUST = Path(__file__).resolve().parents[3] / "shared/data/sorting/locust_trial_01.raw"
DEVELOP, REPORT = 0, 100  # the first seed of each set
MOST_DEVELOP_SEEDS = 8


def generated(channels, units, seconds, noise):
    return {
        "maker": "still",
        "channels": channels,
        "units": units,
        "seconds": seconds,
        "noise": noise,
    }


def drifting(motion):
    return {
        "maker": "drifting",
        "channels": 64,
        "units": 40,
        "seconds": 120,
        "micrometres": 30,
        "motion": motion,
    }


def bursting(fall):
    return {"maker": "bursts", "seconds": 60, "fall": fall}


def simulated(channels, units, seconds, *options):
    size = ["--channels", channels, "--units", units, "--length", f"{seconds}s"]
    return {"options": [*size, *options]}


def realistic(channels, units, seconds, *options):
    return simulated(channels, units, seconds, "--difficulty", "realistic", *options)


def network(channels, units, minutes, *options):
    spikes = ["--units", units, "--length", f"{minutes}min"]
    return {"network": spikes, **realistic(channels, units, 60 * minutes, *options)}


# Add the kinds of a new option of the simulator here.
KINDS = {
    "si-32-20-60s-8uV": generated(32, 20, 60, 8),
    "si-32-30-120s-12uV": generated(32, 30, 120, 12),
    "si-64-60-120s-8uV": generated(64, 60, 120, 8),
    "si-384-250-60s-8uV": generated(384, 250, 60, 8),
    "si-drift-static": drifting("static"),
    "si-drift-rigid": drifting("rigid"),
    "si-drift-zigzag": drifting("zigzag"),
    "si-drift-jump": drifting("jump"),
    "one-channel-60s": {"maker": "one", "seconds": 60},
    "bursts-32-18-60s": bursting(0.85),
    "bursts-steep-32-18-60s": bursting(0.75),
    "utah-100-40s": {"maker": "utah", "seconds": 40},
    "hybrid-locust": {"maker": "hybrid", "file": str(LOCUST), "partial": True},
    "own-32-20-60s-8uV": simulated(32, 20, 60),
    "own-32-30-120s-12uV": simulated(32, 30, 120, "--noise", 12),
    "own-64-60-120s-8uV": simulated(64, 60, 120),
    "own-realistic-32-20-60s-8uV": realistic(32, 20, 60),
    "own-realistic-32-30-120s-12uV": realistic(32, 30, 120, "--noise", 12),
    "own-realistic-64-60-120s-8uV": realistic(64, 60, 120),
    "own-realistic-384-250-60s-8uV": realistic(384, 250, 60),
    "own-realistic-384-250-300s-8uV": realistic(384, 250, 300),
    "own-drift-static": realistic(64, 40, 120),
    "own-drift-rigid": realistic(64, 40, 120, "--drift", "30um"),
    "own-drift-zigzag": realistic(64, 40, 120, "--drift", "30um", "--drift-shape", "zigzag"),
    "own-drift-jump": realistic(64, 40, 120, "--drift", "30um", "--drift-shape", "jump"),
}

NETWORKS = {
    f"network-{channels}-{units}-{minutes}min{name}": network(channels, units, minutes, *options)
    for channels, units in ((32, 25), (64, 50), (384, 250))
    for minutes in (2, 10, 30)
    for name, options in (
        ("", ()),
        ("-bursting", ("--bursting", 0.6)),
        ("-drift", ("--drift", "30um")),
    )
}
NETWORKS |= {
    f"si-network-{channels}-{units}-{minutes}min": {
        **generated(channels, units, 60 * minutes, 8),
        "maker": "network",
        "network": ["--units", units, "--length", f"{minutes}min"],
    }
    for channels, units in ((32, 25), (64, 50), (384, 250))
    for minutes in (2, 10, 30)
}


def matching(patterns, kinds=KINDS):
    """Returns the kinds that match one of the patterns, as of files.

    A space is a hyphen, and the end may be left out.
    """
    wanted = [pattern.replace(" ", "-") for pattern in patterns] or ["*"]
    return [
        kind for kind in kinds if any(fnmatch.fnmatch(kind, pattern + "*") for pattern in wanted)
    ]


def twin(kind):
    start, drift, _ = kind.partition("-drift-")  # of KINDS
    return f"{start}-drift-static" if drift and kind != f"{start}-drift-static" else None


def finished(place, recipe):
    kept = place / "recipe.json"
    return kept.exists() and json.loads(kept.read_text()) == recipe


def network_of(place):
    return place.parent / f"{place.name}-network.tsv"


def simulate(recipe, place, spikeweave, log):
    def made(model, to, *options):
        run(spikeweave, "simulate", model, *options, "--seed", recipe["seed"], "-o", to, log=log)

    spikes = []
    if "network" in recipe:
        spikes = ["--spikes", network_of(place)]
        made("network", network_of(place), *recipe["network"], "--overwrite")
    if "options" in recipe:
        made("recording", place, *recipe["options"], *spikes)


def make(kind, seed, folder, spikeweave, python):
    """Returns the folder of a recording, with the files that judge.py needs and units.npz."""
    place, log = folder / f"{kind}-seed{seed}", folder / "recordings.log"
    recipe = json.loads(json.dumps({**{**KINDS, **NETWORKS}[kind], "seed": seed}))
    other = make(twin(kind), seed, folder, spikeweave, python) if twin(kind) else None
    if not finished(place, recipe):
        shutil.rmtree(place, ignore_errors=True)
        simulate(recipe, place, spikeweave, log)
        if "maker" in recipe:
            given = {**recipe, "spikes": str(network_of(place))}
            run(python, GENERATE, place, json.dumps(given), log=log)
        if other:
            shutil.copy(other / "units.npz", place)
        else:
            run(python, JUDGE, "--units", place, log=log)
        (place / "recipe.json").write_text(json.dumps(recipe))
    return place


def real(file, folder, python):
    """Returns the folder of a recording without known truth, in the format of the others."""
    if not file.exists():
        raise Failed(f"'{file}' does not exist")
    if (file / "binary.json").exists() and (file / "probe.json").exists():
        return file
    place = folder / f"real-{file.stem}"
    if not place.exists():
        run(
            python,
            GENERATE,
            place,
            json.dumps({"maker": "copy", "file": str(file)}),
            log=folder / "recordings.log",
        )
    return place
