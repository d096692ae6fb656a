"""The tables of against_sorters.py, from the figures of its runs."""

import statistics

MEANS = (
    "accuracy",
    "recall",
    "precision",
    "units above 0.8",
    "share of the best other's",
    "true units",
    "units",
    "false units",
    "redundant units",
    "collision recall",
    "isolated recall",
    "seconds",
    "processor seconds",
)
GOOD = 0.8
SUMMARY = ("recording", "sorter", "seeds", *MEANS)
AGREEMENT = (
    "sorter",
    "other sorter",
    "units",
    "units of the other",
    "matched above 0.5",
    "matched above 0.8",
)
SNR_CLASSES = ("0-3", "3-4", "4-6", "6-12", "12-20", ">20")


def line(one):
    """Returns a run as a line for the terminal."""
    start = f"{one['recording']} seed {one['seed']}\t{one['sorter']}"
    if "error" in one:
        return f"{start}\t{one['error']}"
    return start + "".join(f"\t{name} {cell(one[name])}" for name in MEANS if name in one)


def cell(value):
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def text(columns, rows):
    return "\n".join("\t".join(map(cell, row)) for row in [columns, *rows])


def grouped(runs, *keys):
    """Returns {values of the keys: runs}, in the order in which they first come."""
    groups = {}
    for one in runs:
        groups.setdefault(tuple(one[key] for key in keys), []).append(one)
    return groups


def good_units(one):
    return {unit for unit, accuracy in one["accuracies"].items() if accuracy > GOOD}


def compare_with_the_best(runs):
    """Prints for each run the share of the best other sorter's good units that it found as well.

    Variants of a sorter, which have its name and another word, are no other sorter.
    """
    for some in grouped([one for one in runs if "error" not in one], "recording", "seed").values():
        for one in some:
            family = one["sorter"].split()[0]
            others = [other for other in some if other["sorter"].split()[0] != family]
            best = max(others, key=lambda other: other["accuracy"], default=None)
            wanted = good_units(best) if best else set()
            share = len(wanted & good_units(one)) / len(wanted) if wanted else None
            one["share of the best other's"] = share


def summary(runs):
    """Returns rows of means over the seeds on which a sorter did not fail, or of the reason."""
    compare_with_the_best(runs)
    rows = []
    for (recording, sorter), some in grouped(runs, "recording", "sorter").items():
        good = [one for one in some if "error" not in one]
        if not good:
            rows.append([recording, sorter, 0, some[0]["error"], *[None] * (len(MEANS) - 1)])
            continue
        seeds = len(good) if len(good) == len(some) else f"{len(good)} of {len(some)}"
        rows.append(
            [recording, sorter, seeds, *(mean(one[name] for one in good) for name in MEANS)]
        )
    return rows


def mean(values):
    known = [value for value in values if value is not None]
    return float(statistics.fmean(known)) if known else None


def by_snr(runs):
    """Returns columns and rows: mean accuracy over the true units of a class, by sorter."""
    rows = []
    for (sorter,), some in grouped([one for one in runs if "error" not in one], "sorter").items():
        cells = []
        for name in SNR_CLASSES:
            classes = [one["by SNR"][name] for one in some if name in one["by SNR"]]
            units, good = (sum(each[index] for each in classes) for index in (0, 1))
            accuracy = sum(each[0] * each[2] for each in classes) / units if units else None
            cells.append(f"{accuracy:.3f} ({units}; {good})" if units else None)
        rows.append([sorter, len(some), *cells])
    return ["sorter", "recordings", *(f"SNR {name}" for name in SNR_CLASSES)], rows
