"""Runs of the spikeweave command: networks that it simulates, and circuits that it finds."""

import math
import resource
import shlex
import subprocess
import tempfile
from pathlib import Path

import networks
import numpy
from peers import Part
from scores import SIGNS

# Few neurons, all of them recorded, with strong synapses of one size.
STRONG = (
    "--epsp-spread 0.2 --epsp-low-delay 1ms --epsp-high-delay 4ms "
    "--ipsp-low-delay 1ms --ipsp-high-delay 4ms --ipsp 1 --drive 0.99"
)
SMALL = (
    f"--neurons 40 --units 40 --length 60min {STRONG} "
    "--epsp 2.4 --epsp-probability 0.078 --ipsp-probability 0.08"
)
# Options of `simulate network` by regime.
REGIMES = {
    "sampled": "",
    "short": "--length 10min",
    "whole": "--neurons 100 --units 100",
    "small": f"{SMALL} --rhythms none",
    "small, 8 Hz": f"{SMALL} --rhythms 8 --rhythmic 1",
    "medium": f"--neurons 60 --units 60 --length 40min {STRONG} --rhythms none "
    "--epsp 0.9 --epsp-probability 0.1 --ipsp-probability 0.11",
}


class Failed(Exception):
    """A command that failed, with its last output."""


def run(*command):
    """Returns the processor seconds that the command took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        said = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except OSError as error:
        raise Failed(str(error)) from error
    if said.returncode != 0:
        raise Failed((said.stderr.strip() or f"status {said.returncode}").splitlines()[-1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def simulate(command, name, options, seed, folder):
    """Returns the file of a simulated network; one that is newer than the command is used again."""
    file = folder / f"{name}-{seed}.tsv"
    if not file.exists() or file.stat().st_mtime < Path(command).stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        given = shlex.split(options)
        run(command, "simulate", "network", *given, "--seed", seed, "-o", file, "--overwrite")
    return file


def number(row, name, otherwise=math.nan):
    try:
        return float(row[name])
    except (KeyError, ValueError):
        return otherwise


def gain(row):
    """The ratio of the target's firing to that expected by chance."""
    expected = number(row, "expected", 0)
    return number(row, "gain", number(row, "count") / expected if expected else math.nan)


FAR = 1000.0  # more than any -log10 p
LONGEST_SYNAPTIC_MS = 8.5


def is_slow(row):
    """Whether the delay, such as "(8,12] ms", ends beyond those of synapses."""
    return "delay" in row and float(row["delay"].partition(",")[2].split("]")[0]) > LONGEST_SYNAPTIC_MS


def parts_of(edges, pairs, units):
    """The answer: edges of the kind direct.

    Pairs are ranked by p: first those of the sign, then, from the largest p on, those of the other
    one, then edges that are no connections and pairs without a p. A pair may be listed again with a
    slow delay, which is not that of a synapse.
    """
    index = {unit: i for i, unit in enumerate(units)}
    shape = (len(units), len(units))
    parts = {
        sign: Part(numpy.zeros(shape, bool), numpy.zeros(shape), numpy.zeros(shape))
        for sign in SIGNS
    }
    first = {}
    for row in sorted(pairs, key=is_slow):
        first.setdefault((index[row["from"]], index[row["to"]]), row)
    for where, row in first.items():
        if row.get("kind", "-") not in ("-", "direct"):
            continue
        found = row.get("sign", "excitatory")
        score = -math.log10(max(number(row, "p", 1), 1e-320))
        for sign, part in parts.items():
            part.score[where] = FAR + (score if sign == found else -score)
    for row in edges:
        if row.get("kind", "direct") == "direct":
            where, sign = (index[row["from"]], index[row["to"]]), row.get("sign", "excitatory")
            parts[sign].found[where] = True
            parts[sign].strength[where] = gain(row) * SIGNS[sign]
    return parts


def circuit(command, network, options=""):
    """Returns the answer and the processor seconds of `episodes`, at its defaults."""
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "found"
        seconds = run(command, "episodes", network.file, "-o", to, *shlex.split(options))
        edges = networks.table(to / "circuit.tsv")
        pairs = to / "pairs.tsv"
        ranked = networks.table(pairs) if pairs.exists() else edges
        return parts_of(edges, ranked, network.units), seconds
