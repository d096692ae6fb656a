#!/usr/bin/env python3
"""The tables and figures of a study of cultures on electrode arrays; docs/cultures.md explains them.

study.py sheet FOLDER -o recordings.tsv          the recordings in the .h5 files of Eglen et al. 2014
study.py electrodes FILE.h5 -o groups.tsv        units that are analysed as one: those of an electrode
study.py wells PLATE.h5 -o wells.tsv             the bursts of each well of a plate
study.py onsets network_bursts.tsv -o epochs.tsv the beginnings of network bursts
study.py cohort RESULTS recordings.tsv -o cohort.tsv
study.py groups cohort.tsv --by region --sample culture -o groups.tsv
study.py published cohort.tsv features.csv -o published.tsv
study.py figure NAME cohort.tsv -o NAME.svg      NAME is one of the figures below, or plate
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# The figures that are drawn, tested between groups, and compared with those that are published: the column and its title.
FIGURES = {
    "rate_hz": "firing rate (Hz)",
    "bursts_per_minute": "bursts per minute",
    "mean_duration_s": "duration of bursts (s)",
    "share_in_bursts": "share of spikes in bursts",
    "interval_variation": "variation of the intervals between bursts",
    "mean_rate_hz": "rate within bursts (Hz)",
    "network_bursts_per_minute": "network bursts per minute",
    "participating": "units in a network burst",
    "edges": "connections of the circuit",
    "stability": "stability of the circuit",
    "onset_chains": "chains at the onsets of network bursts",
}
# In Charlesworth et al. 2015: the column of the published table, a factor to our unit, and what differs.
PUBLISHED = {
    "rate_hz": ("fir.rate", 1, "the same"),
    "bursts_per_minute": ("burst.rate", 1, "rates of units are rounded there, to bursts in the whole recording by whole minutes"),
    "mean_duration_s": ("burst.dur", 1, "the same"),
    "share_in_bursts": ("spikes.in.bursts", 0.01, "the same"),
    "interval_variation": ("CV.IBI", 1, "the same"),
    "mean_rate_hz": ("burst.fir.rate", 1, "n spikes by the duration there, the n - 1 intervals here"),
    "network_bursts_per_minute": ("num.n.s", 1, "network spikes there: ten electrodes within 3 ms; a fifth of the units in a burst here"),
}


def rows_of(path, delimiter="\t"):
    with open(path, encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines, delimiter=delimiter))


def write_whole(path, text):
    """Writes a file whole or not at all."""
    path = Path(path)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".study", suffix=path.suffix, encoding="utf-8", delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def write_rows(path, rows, columns=None):
    columns = columns or list(rows[0] if rows else [])
    write_whole(path, "".join("\t".join(map(str, line)) + "\n" for line in [columns, *([row.get(name, "") for name in columns] for row in rows)]))


def refuse(problem):
    print(f"study.py: error: {problem}", file=sys.stderr)
    sys.exit(2)


def number(text):
    return float(text) if text not in ("", None) else np.nan


def text_of(value):
    return "" if not np.isfinite(value) else f"{value:.6g}"


def culture_of(name):
    """The name of a recording without its day and what was added then."""
    return re.sub(r"[_-]DIV\d+|_KN62|_APV|-preSham|(_00)?_\d{3}$", "", name)


def sheet(options):
    """A row for each file. A culture keeps its letter, the array that it grows on, over its days."""
    import h5py

    rows = []
    for path in sorted(Path(options.folder).glob("*.h5")):
        try:
            with h5py.File(path) as file:
                meta = {name: value[0] for name, value in file["meta"].items()} if "meta" in file else {}
        except OSError as problem:
            refuse(f"{path} cannot be read: {problem}; copy it again, or move it away")
        words = {name: value.decode() if isinstance(value, bytes) else value for name, value in meta.items()}
        found = re.search(r"DIV(\d+)", path.stem)
        age = words.get("age", int(found[1]) if found else "")
        compound = re.search(r"KN62|APV|preSham", path.stem)
        rows.append({"recording": path.stem, "file": path.resolve(), "culture": culture_of(path.stem), "region": words.get("region", "ctx"), "age": age, "genotype": words.get("genotype", "wt"),
                     "compound": compound[0] if compound else "none"})
    if not rows:
        refuse(f"{options.folder} has no .h5 files")
    write_rows(options.output, rows)


def electrodes(options):
    """Units that a sorter found on one electrode have other names on other days; the electrode has one."""
    import h5py

    with h5py.File(options.file) as file:
        names = [name.decode() for name in file["names"]]
    found = [(name, re.fullmatch(r"ch_(\d\d)\w?_unit_\d+", name)) for name in names]
    write_rows(options.output, [{"unit": name, "group": place[1] if place else name} for name, place in found], ["unit", "group"])


def wells(options):
    """The bursts of each well, each a culture of its own."""
    import h5py

    with h5py.File(options.file) as file:
        found = sorted({name.decode().split("_")[0] for name in file["names"]})
        # A well that was plated and is silent has no spikes in the file.
        of_well = dict(zip(map(bytes.decode, file["well"]), map(bytes.decode, file["treatment"]), strict=False)) if "well" in file and "treatment" in file else {}
    name = Path(options.file).stem
    age = re.search(r"DIV(\d+)", name)
    plate = culture_of(name)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folders = []
        for well in found:
            to = f"{folder}/{well}"
            subprocess.run([*options.spikeweave.split(), "bursts", options.file, "--only-units", well, *options.options.split(), "--no-report", "--quiet", "-o", to], check=True, stderr=subprocess.DEVNULL)
            folders.append(to)
        subprocess.run([*options.spikeweave.split(), "table", *folders, "--of", "summary", "--quiet", "-o", f"{folder}/all.tsv"], check=True)
        for row in rows_of(f"{folder}/all.tsv"):
            well = row.pop("recording")
            rows.append({"recording": f"{name}:{well}", "plate": plate, "culture": f"{plate}:{well}", "well": well, "age": int(age[1]) if age else "", "treatment": of_well.get(well, "control"), **row})
    write_rows(options.output, rows)


def onsets(options):
    """From 50 ms before each network burst to 250 ms after its beginning, or to the next one."""
    begins = [float(row["begin_s"]) for row in rows_of(options.file)]
    spans = [(max(0, begin - 0.05), begin + 0.25) for begin in begins]
    cut = [(begin, min(end, later[0])) for (begin, end), later in zip(spans, [*spans[1:], (np.inf,)], strict=False)]
    write_rows(options.output, [{"begin": f"{begin:.6f}", "end": f"{end:.6f}"} for begin, end in cut], ["begin", "end"])


def found_in(folder):
    """The numbers of connections and of significant chains, if there is such a result."""
    if not (folder / "episodes.tsv").exists():
        return {}
    chains = [row for row in rows_of(folder / "episodes.tsv") if row["significant"] == "yes" and len(row["units"].split(" ")) > 2]
    return {"edges": len(rows_of(folder / "circuit.tsv")), "chains": len(chains)}


def stabilities(page):
    """Of each recording in the page of a series, the stability of its circuit since the one before."""
    text = page.read_text("utf-8")
    document = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
    names = [one["name"] for one in document["recordings"]]
    return {names[one["to"]]: one["stability"] for one in document["stability"] if one["stability"] is not None}


def cohort(options):
    """A row for each recording: what is known of it and what was found."""
    results = Path(options.results)
    bursts = {row["recording"]: row for row in rows_of(results / "bursts.tsv")}
    stable = {}
    for page in sorted((results / "series").glob("*.html")):
        stable.update(stabilities(page))
    rows = []
    for known in rows_of(options.sheet):
        name = known["recording"]
        circuit, onset = found_in(results / "circuit" / name), found_in(results / "onsets" / name)
        rows.append({**{key: value for key, value in known.items() if key != "file"}, **{key: value for key, value in bursts[name].items() if key != "recording"}, "edges": circuit["edges"],
                     "stability": text_of(stable.get(name, np.nan)), "onset_edges": onset.get("edges", ""), "onset_chains": onset.get("chains", "")})
    write_rows(options.output, rows)


def samples_of(rows, figure, by, sample, at):
    """The mean of each sample, by group: {age: {group: [values]}}."""
    means = {}
    for row in rows:
        value = number(row.get(figure))
        if np.isfinite(value):
            means.setdefault((row[at], row[by], row[sample]), []).append(value)
    out = {}
    for (age, group, _), values in means.items():
        out.setdefault(age, {}).setdefault(group, []).append(np.mean(values))
    return out


def groups(options):
    """Rank tests between groups at each age (Mann and Whitney; Kruskal and Wallis for more than two), and q of all of them."""
    from scipy import stats

    rows = rows_of(options.cohort)
    tests = []
    for figure in (name for name in FIGURES if name in rows[0]):
        for age, found in sorted(samples_of(rows, figure, options.by, options.sample, options.at).items(), key=lambda one: number(one[0])):
            kept = {group: values for group, values in sorted(found.items()) if len(values) >= 3}
            if len(kept) < 2 or len({value for values in kept.values() for value in values}) < 2:
                continue
            p = (stats.mannwhitneyu(*kept.values()) if len(kept) == 2 else stats.kruskal(*kept.values())).pvalue
            tests.append({"figure": figure, options.at: age, "groups": ",".join(kept), "samples": ",".join(str(len(values)) for values in kept.values()),
                          "medians": ",".join(text_of(np.median(values)) for values in kept.values()), "p": p})
    adjusted = stats.false_discovery_control([one["p"] for one in tests]) if tests else []
    for one, q in zip(tests, adjusted, strict=True):
        one.update(p=text_of(one["p"]), q=text_of(q), significant="yes" if q <= options.alpha else "no")
    write_rows(options.output, tests, ["figure", options.at, "groups", "samples", "medians", "p", "q", "significant"])


def published(options):
    """The published figures beside ours."""
    theirs = {row[""]: row for row in rows_of(options.features, ",")}
    ours = {row["recording"]: row for row in rows_of(options.cohort)}
    names = sorted(theirs.keys() & ours.keys())
    rows = []
    for figure, (column, factor, note) in PUBLISHED.items():
        pairs = np.array([(factor * number(theirs[name][column].replace("NA", "")), number(ours[name][figure])) for name in names]).reshape(-1, 2)
        # A recording without a burst has no mean duration here, and 0 there.
        pairs = pairs[np.isfinite(pairs).all(axis=1)]
        difference = np.abs(pairs[:, 1] - pairs[:, 0])
        within = [text_of(np.mean(difference <= share * np.abs(pairs[:, 0]) + 1e-9)) for share in (0.01, 0.05)] if len(pairs) else ["", ""]
        r = np.corrcoef(pairs.T)[0, 1] if len(pairs) > 2 and pairs.std(axis=0).min() > 0 else np.nan
        medians = np.median(pairs, axis=0) if len(pairs) else (np.nan, np.nan)
        rows.append({"figure": figure, "published": column, "recordings": len(pairs), "median_published": text_of(medians[0]), "median_here": text_of(medians[1]),
                     "correlation": text_of(r), "within_1_percent": within[0], "within_5_percent": within[1], "difference": note})
    write_rows(options.output, rows)


def draw(options):
    """One figure: each sample at its age by group, and the medians; of a plate, its wells."""
    os.environ.setdefault("MPLCONFIGDIR", tempfile.mkdtemp())
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "study", "font.size": 9})
    import matplotlib.pyplot as plt

    rows = rows_of(options.cohort)
    if options.name == "plate":
        shown = [name for name in ("rate_hz", "bursts_per_minute", "network_bursts_per_minute") if name in rows[0]]
        picture, axes = plt.subplots(1, len(shown), figsize=(4.2 * len(shown), 3), squeeze=False)
        for figure, axis in zip(shown, axes[0], strict=True):
            plate = np.full((6, 8), np.nan)
            for row in rows:
                plate["ABCDEF".index(row["well"][0]), int(row["well"][1:]) - 1] = number(row[figure])
            image = axis.imshow(plate, cmap="viridis", vmin=0)
            axis.set_xticks(range(8), range(1, 9))
            axis.set_yticks(range(6), "ABCDEF")
            axis.set_title(FIGURES[figure])
            picture.colorbar(image, ax=axis, shrink=0.7)
    else:
        picture, axis = plt.subplots(figsize=(5, 3.4))
        found = samples_of(rows, options.name, options.by, options.sample, options.at)
        ages = sorted(found, key=number)
        names = sorted({group for one in found.values() for group in one})
        for k, group in enumerate(names):
            colour = f"C{k}"
            spread = (k - (len(names) - 1) / 2) * 0.3
            points = [(number(age) + spread, value) for age in ages for value in found[age].get(group, [])]
            axis.plot(*zip(*points, strict=True), ".", color=colour, alpha=0.4)
            medians = [(number(age), np.median(found[age][group])) for age in ages if group in found[age]]
            axis.plot(*zip(*medians, strict=True), "-", color=colour, label=f"{group} ({sum(len(found[age].get(group, [])) for age in ages)})")
        axis.set(xlabel="days in vitro" if options.at == "age" else options.at, ylabel=FIGURES[options.name])
        if names:
            axis.legend(frameon=False)
    picture.tight_layout()
    with tempfile.NamedTemporaryFile("r", suffix=".svg", encoding="utf-8") as file:
        picture.savefig(file.name, metadata={"Date": None})
        write_whole(options.output, Path(file.name).read_text("utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    given = {}
    for name, run, arguments in (("sheet", sheet, ["folder"]), ("electrodes", electrodes, ["file"]), ("wells", wells, ["file"]), ("onsets", onsets, ["file"]),
                                 ("cohort", cohort, ["results", "sheet"]), ("groups", groups, ["cohort"]), ("published", published, ["cohort", "features"]), ("figure", draw, ["name", "cohort"])):
        given[name] = steps.add_parser(name, help=run.__doc__)
        given[name].set_defaults(run=run)
        for argument in arguments:
            given[name].add_argument(argument, **({"choices": [*FIGURES, "plate"]} if argument == "name" else {}))
        given[name].add_argument("-o", "--output", required=True)
    for name in ("groups", "figure"):
        given[name].add_argument("--by", default="region", help="the column of the groups")
        given[name].add_argument("--sample", default="culture", help="the column of the samples: recordings of one are one value")
        given[name].add_argument("--at", default="age", help="the column of the ages")
    given["groups"].add_argument("--alpha", type=float, default=0.05)
    given["wells"].add_argument("--spikeweave", default="spikeweave")
    given["wells"].add_argument("--options", default="", help="options of spikeweave bursts")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
