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

# Options of `simulate network` by regime.
REGIMES = {
    "sampled": "",
    "short": "--length 10min",
    "whole": "--neurons 100 --units 100",
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


def parts_of(edges, pairs, units):
    """The answer: edges of the kind direct.

    Pairs are ranked by p: first those of the sign, then, from the largest p on, those of the other
    one, then edges that are no connections and pairs without a p.
    """
    index = {unit: i for i, unit in enumerate(units)}
    shape = (len(units), len(units))
    parts = {
        sign: Part(numpy.zeros(shape, bool), numpy.zeros(shape), numpy.zeros(shape))
        for sign in SIGNS
    }
    for row in pairs:
        if row.get("kind", "-") not in ("-", "direct"):
            continue
        where, found = (index[row["from"]], index[row["to"]]), row.get("sign", "excitatory")
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
