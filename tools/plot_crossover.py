#!/usr/bin/env python3
"""Draws from saved results where one thread per episode becomes faster than segments.

Usage: plot_crossover.py RESULTS.json OUT.svg

RESULTS.json is the output of episode_published_gpu_bench (--benchmark_out). There is one panel per size of episode, for
whole calls and the shortest repetition. Needs only Python.
"""

import json
import math
import re
import sys
from pathlib import Path

NAME = re.compile(r"^mapping/size:(\d+)/episodes:(\d+)/([a-z-]+)")
STYLES = {"thread-per-episode": ("#1f6fb4", "a thread for each"),
          "segments-per-episode": ("#c2571a", "segments of each"),
          "hybrid": ("#222222", "hybrid")}
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 230, 190, 52, 34, 10, 38


def read(path):
    """Returns ({size: {strategy: {episodes: milliseconds}}}, context)."""
    result = json.loads(Path(path).read_text(encoding="utf-8"))
    to_ms = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
    times = {}
    for run in result["benchmarks"]:
        found = NAME.match(run["run_name"])
        if not found or run["run_type"] != "iteration" or run.get("error_occurred"):
            continue
        size, episodes, strategy = int(found[1]), int(found[2]), found[3]
        of = times.setdefault(size, {}).setdefault(strategy, {})
        of[episodes] = min(of.get(episodes, math.inf), run["real_time"] * to_ms[run["time_unit"]])
    return times, result["context"]


def crossover(times):
    """Returns the crossing of the two lines on logarithmic axes, or None."""
    threads, segments = times["thread-per-episode"], times["segments-per-episode"]
    both = sorted(set(threads) & set(segments))
    gaps = [math.log(threads[n] / segments[n]) for n in both]
    for i in range(1, len(both)):
        if gaps[i - 1] > 0 >= gaps[i]:
            share = gaps[i - 1] / (gaps[i - 1] - gaps[i])
            return math.exp(math.log(both[i - 1]) + share * math.log(both[i] / both[i - 1]))
    return None


def decades(least, most):
    return range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)


def panel(size, times, x_range, y_range, left, top):
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(value):
        return left + LEFT + width * (math.log10(value) - x_range[0]) / (x_range[-1] - x_range[0])

    def y(value):
        return top + TOP + height * (1 - (math.log10(value) - y_range[0]) / (y_range[-1] - y_range[0]))

    def text(at_x, at_y, words, anchor="middle", extra=""):
        return f'<text x="{at_x:.1f}" y="{at_y:.1f}" text-anchor="{anchor}"{extra}>{words}</text>'

    out = [f'<rect x="{left + LEFT}" y="{top + TOP}" width="{width}" height="{height}" fill="none" stroke="#999"/>',
           text(left + LEFT, top + TOP - 8, f"size {size}", "start", ' font-weight="bold"')]
    for power in x_range:
        out.append(text(x(10**power), top + HEIGHT - BOTTOM + 14, f"{10**power:,}" if power < 4 else f"10^{power}"))
    for power in y_range:
        out += [f'<line x1="{left + LEFT}" x2="{left + LEFT + width}" y1="{y(10.0**power):.1f}" y2="{y(10.0**power):.1f}" '
                'stroke="#e4e4e4"/>', text(left + LEFT - 5, y(10.0**power) + 4, f"{10.0**power:g} ms", "end")]
    meets = crossover(times)
    if meets:
        out += [f'<line x1="{x(meets):.1f}" x2="{x(meets):.1f}" y1="{top + TOP}" y2="{top + TOP + height}" '
                'stroke="#777" stroke-dasharray="3 3"/>',
                text(x(meets), top + TOP - 8, f"{float(f'{meets:.2g}'):,.0f}")]
    for strategy, (colour, _) in STYLES.items():
        points = sorted(times.get(strategy, {}).items())
        if strategy == "hybrid":
            out += [f'<circle cx="{x(n):.1f}" cy="{y(ms):.1f}" r="2.6" fill="none" stroke="{colour}"/>' for n, ms in points]
        else:
            line = " ".join(f"{x(n):.1f},{y(ms):.1f}" for n, ms in points)
            out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    return out


def draw(times, context):
    values = [ms for of in times.values() for line in of.values() for ms in line.values()]
    numbers = [n for of in times.values() for line in of.values() for n in line]
    x_range, y_range = decades(min(numbers), max(numbers)), decades(min(values), max(values))
    columns = 4
    rows = math.ceil(len(times) / columns)
    width, height = columns * WIDTH, rows * HEIGHT + 46
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + RIGHT} {height}" font-family="sans-serif" font-size="10">',
           f'<rect width="{width + RIGHT}" height="{height}" fill="white"/>']
    for number, (size, of) in enumerate(sorted(times.items())):
        out += panel(size, of, x_range, y_range, number % columns * WIDTH, number // columns * HEIGHT)
    at = 20
    for colour, words in STYLES.values():
        out += [f'<rect x="{at}" y="{height - 38}" width="12" height="4" fill="{colour}"/>',
                f'<text x="{at + 18}" y="{height - 32}">{words}</text>']
        at += 140
    device = re.split(r"  |,| \d", context.get("gpu", "cuda:0  one GPU"))[1]
    out += [f'<text x="20" y="{height - 12}">Time of a whole call over the number of episodes; the numbers above the dashed lines '
            f'are where the two meet. {device}, commit {context.get("commit", "unknown")}.</text>', "</svg>"]
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    times, context = read(sys.argv[1])
    if not times:
        sys.exit(f"{sys.argv[1]}: no benchmark is named mapping/size:…")
    Path(sys.argv[2]).write_text(draw(times, context), encoding="utf-8")


if __name__ == "__main__":
    main()
