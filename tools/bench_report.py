#!/usr/bin/env python3
"""Makes the tables of docs/benchmark-tables.md from the newest results of each benchmark on each machine.

The text above the mark is kept; the tables below it are generated.
"""
import json
import pathlib
import re
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "<!-- made by tools/bench_report.py from benchmarks/results; do not edit below -->"


def quantity(value):
    for scale, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:.3g} {prefix}"
    return f"{value:.3g} "


def seconds(value):
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def by_name(result):
    """Returns {name: list of repetitions in the order in which they ran}."""
    runs = {}
    for run in result["benchmarks"]:
        if run["run_type"] == "iteration" and not run.get("error_occurred"):
            name = re.sub(r"/(iterations:\d+|repeats:\d+|real_time|manual_time)(?=/|$)", "", run["run_name"])
            runs.setdefault(name, []).append(run)
    return runs


def table(result):
    context = result["context"]
    baselines = {key.removeprefix("baseline of "): value for key, value in context.items() if key.startswith("baseline of ")}
    runs = by_name(result)
    best = {name: max(run["items_per_second"] for run in some) for name, some in runs.items()}
    with_memory = any("peak_MB" in run for some in runs.values() for run in some)
    lines = ["| benchmark | time: least, median, most | best, items/s | times the baseline |" + " peak memory |" * with_memory,
             "|---|---|---|---|" + "---|" * with_memory]
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
    for name, some in runs.items():
        times = sorted(run["real_time"] * unit[run["time_unit"]] for run in some)
        group, _, variant = name.rpartition("/")
        base = f"{group}/{baselines[group]}" if group in baselines else None
        ratio = "" if base not in best else "baseline" if base == name else f"{best[name] / best[base]:.2f}"
        spread = f"{seconds(times[0])}, {seconds(statistics.median(times))}, {seconds(times[-1])}"
        peak = max((run["peak_MB"] for run in some if "peak_MB" in run), default=None)
        memory = "" if not with_memory else " |" if peak is None else f" {peak:.0f} MB |"
        lines.append(f"| `{group}` {variant} | {spread} | {quantity(best[name])} | {ratio} |{memory}")
    return lines


def cell(value):
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def plain_table(result):
    """Returns the table of columns and rows that a script saved."""
    lines = ["| " + " | ".join(result["columns"]) + " |", "|---" * len(result["columns"]) + "|"]
    lines += ["| " + " | ".join(map(cell, row)) + " |" for row in result["rows"]]
    context = result["context"]
    said = [", ".join(context["versions"]), *context.get("notes", [])]
    return [f"`{context['command']}`", "", *(line for text in said for line in (text, "")), *lines]


def main():
    newest = {}
    for path in sorted((ROOT / "benchmarks" / "results").glob("*/*.json")):
        newest[path.parent.name, path.stem[len("2026-01-01-"):]] = path
    lines = [MARK]
    for (machine, name), path in newest.items():
        result = json.loads(path.read_text())
        context = result["context"]
        plain = "columns" in result
        when = "" if plain else f"{path.name[:10]} · "
        lines += ["", f"## {name} on {machine}", "",
                  f"{context.get('processor', machine)}, {context['num_cpus']} cores · {when}commit "
                  f"{context.get('commit', 'unknown')}{' · ' + context['compiler'] if 'compiler' in context else ''}", ""]
        lines += [context["gpu"], ""] if "gpu" in context else []
        lines += plain_table(result) if plain else table(result)
    page = ROOT / "docs" / "benchmark-tables.md"
    head = page.read_text().split(MARK)[0].rstrip()
    page.write_text(head + "\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
