#!/usr/bin/env python3
"""Checks the one-way dependencies of docs/design/0003: which folders may include which, and what is public. Namespace
spikeweave is the public interface, so private headers declare nothing in it, but in a namespace of their own.

Usage: check_layers.py [ROOT]
"""

import re
import sys
from pathlib import Path

MAY_USE = {
    "core": "",
    "device": "core",
    "parallel": "core",
    "io": "core",
    "record": "core parallel io",
    "spikes": "core io",
    "simulate": "core record sort spikes",
    "sort": "core device parallel record spikes",
    "mine": "core device parallel spikes",
    "assess": "core parallel spikes mine",
    "elephant": "core parallel spikes mine assess",
    "pipeline": "core parallel record sort spikes mine assess",
    "report": "core parallel io record sort spikes mine assess pipeline",
}
# These folders are no stages. Every stage may include their private headers, and those of core.
SHARED = {"device", "parallel", "io"}
PUBLIC_ONLY = ("apps", "examples", "python")
OUTSIDE = re.compile(r'#\s*include\s+[<"](cuda|mpi\.h|hdf5|H5|tbb/|oneapi/|CLI/|Eigen/|nlohmann/|fmt/)')
# This header defines a member of a public class, which cannot be in another namespace.
MEMBERS = {"sort/masked_gmm/model_parts.hpp"}
PUBLIC_NAMESPACE = re.compile(r"namespace\s+spikeweave\s*\{")
INCLUDE = re.compile(r'#\s*include\s+"(spikeweave/)?(?:([\w-]+)/)?(?:([\w-]+)/)?[\w-]+\.\w+"')


def check_line(line, place, own, sub):
    """Returns what is wrong with one line of a file in `place` (include, src, apps…), stage `own`, subfolder `sub`."""
    if place == "include" and OUTSIDE.search(line):
        return "a public header includes a private library's"
    match = INCLUDE.search(line)
    if not match:
        return None
    public, used, used_sub = match.group(1), match.group(2), match.group(3)
    if used is None:  # in the same folder, or spikeweave/spikeweave.hpp
        return "a public header includes a private one" if place == "include" and not public else None
    if place == "python" and used == "bindings":
        return None if used_sub in (None, "core", sub) else f"bindings/{sub} may not use bindings/{used_sub}"
    if place in PUBLIC_ONLY:
        return None if public or used not in MAY_USE else "only <include/spikeweave> may be used here"
    if place == "include" and not public:
        return "a public header includes a private one"
    if used not in MAY_USE:
        return f"there is no stage {used}"
    if used != own and used not in MAY_USE[own].split() and not (used in SHARED and not public and own != "core"
                                                                 and own not in SHARED):
        return f"{own} may not use {used}"
    if used != own and not public and used not in SHARED and used != "core":
        return f"{used} is used by its public headers only"
    if own == "mine" == used and not public and sub and used_sub and sub != used_sub:
        return f"mine/{sub} and mine/{used_sub} do not know each other"
    return None


def breaches(root):
    for place in ("include", "src", *PUBLIC_ONLY):
        base = root / place / "spikeweave" if place == "include" else root / place
        for path in sorted(base.rglob("*")):
            if path.suffix not in {".hpp", ".cpp", ".cu", ".cuh"}:
                continue
            parts = path.relative_to(base).parts
            own = parts[0] if len(parts) > 1 else "core"
            if len(parts) == 1 and place == "include":  # spikeweave.hpp includes everything
                continue
            if place in ("include", "src") and own not in MAY_USE:
                yield path, 0, f"there is no stage {own}"
                continue
            sub = parts[1] if len(parts) > 2 else None
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                wrong = check_line(line, place, own, sub)
                if (place == "src" and path.suffix in {".hpp", ".cuh"} and PUBLIC_NAMESPACE.match(line)
                        and "/".join(parts) not in MEMBERS):
                    wrong = "a private header has a namespace of its own, such as spikeweave::" + own
                if wrong:
                    yield path, number, f"{wrong}: {line.strip()}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(breaches(root))
    for path, number, text in found:
        print(f"{path.relative_to(root)}:{number}: {text}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
