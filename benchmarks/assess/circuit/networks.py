"""Networks whose synapses are known: spikes as text, and NAME.truth.tsv beside them."""

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy

SPIKES = (".tsv", ".tsv.gz", ".txt", ".txt.gz")


class Unreadable(Exception):
    """A network that cannot be read, with the reason."""


@dataclass
class Network:
    name: str
    file: Path
    units: list  # names, in the order of the rows below
    trains: list  # the times of each unit in seconds, ascending
    start: float
    end: float
    weights: numpy.ndarray  # [from, to]; above 0 excites, below 0 inhibits, 0 is no synapse

    @property
    def length(self):
        return self.end - self.start

    @property
    def counts(self):
        return numpy.array([len(train) for train in self.trains])


def lines(file):
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt") as text:
        yield from text


def table(file):
    """Returns the rows of a file with a header as dictionaries."""
    rows = (line.rstrip("\n").split("\t") for line in lines(file) if not line.startswith("#"))
    header = next(rows, [])
    return [dict(zip(header, row, strict=False)) for row in rows if row != [""]]


def by_number(name):
    digits = "".join(c for c in name if c.isdigit())
    return (int(digits) if digits else -1, name)


def spikes(file):
    """Returns the trains by unit, and the span that the file states or None."""
    times, names, span = [], [], None
    for line in lines(file):
        fields = line.split()
        if line.startswith("#"):
            if fields[:2] == ["#", "span_s:"]:
                span = float(fields[2]), float(fields[3])
        elif len(fields) >= 2 and fields[0] != "time_s":
            times.append(float(fields[0]))
            names.append(fields[1])
    if not times:
        raise Unreadable(f"{file}: no spikes")
    times, names = numpy.array(times), numpy.array(names)
    units = sorted(set(names.tolist()), key=by_number)
    return {unit: numpy.sort(times[names == unit]) for unit in units}, span


def unit_named(field, units):
    """A truth may give the number of a unit that the spikes call n<number>."""
    for name in (field, f"n{field}"):
        if name in units:
            return units[name]
    return None


def truth_file(file):
    return file.parent / (file.name.split(".")[0] + ".truth.tsv")


def read(file):
    file = Path(file)
    if not truth_file(file).exists():
        raise Unreadable(f"{truth_file(file)} does not exist")
    trains, span = spikes(file)
    index = {unit: i for i, unit in enumerate(trains)}
    weights = numpy.zeros((len(trains), len(trains)))
    for row in table(truth_file(file)):
        ends = [
            unit_named(row.get(old, row.get(new, "")), index)
            for old, new in (("pre", "from"), ("post", "to"))
        ]
        if None not in ends:  # the synapse of a unit without spikes cannot be found by any tool
            weights[tuple(ends)] = float(row.get("weight", row.get("weight_mv", "nan")))
    if numpy.isnan(weights).any():
        raise Unreadable(f"{truth_file(file)} lacks a weight")
    start, end = span or (0.0, max(train[-1] for train in trains.values()))
    name = file.name.split(".")[0]
    return Network(name, file, list(trains), list(trains.values()), start, end, weights)


def files(place):
    """The networks in a folder, or the file itself."""
    place = Path(place)
    if not place.is_dir():
        return [place]
    return sorted(
        file
        for file in place.iterdir()
        if file.name.endswith(SPIKES) and ".truth." not in file.name and truth_file(file).exists()
    )
