#!/usr/bin/env python3
"""Checks the one-way dependencies of docs/design/0003: which folders may include which, and what is public. Namespace
spikeweave is the public interface, so private headers declare nothing in it, but in a namespace of their own. The name
of a command is that of its folder in every stage. What needs CUDA, and nothing else, is
in a folder `cuda`, in a file of this name or in a `.cu` or `.cuh` file.

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
    "published": "core device parallel io spikes mine",
    "assess": "core parallel spikes mine",
    "elephant": "core parallel spikes mine assess",
    "pipeline": "core parallel record sort spikes mine assess",
    "live": "core parallel io record sort spikes mine assess pipeline",
    "report": "core parallel io record sort spikes mine assess live pipeline published",
}
# These folders are no stages. Every stage may include their private headers, and those of core.
SHARED = {"device", "parallel", "io"}
# A stage that implements what the private headers of another declare.
IMPLEMENTS = {"published": "mine"}
PUBLIC_ONLY = ("apps", "examples", "python")
OUTSIDE = re.compile(r'#\s*include\s+[<"](cuda|mpi\.h|hdf5|H5|tbb/|oneapi/|CLI/|Eigen/|nlohmann/|fmt/)')
PUBLIC_NAMESPACE = re.compile(r"namespace\s+spikeweave\s*\{")
INCLUDE = re.compile(r'#\s*include\s+"(spikeweave/)?((?:[\w-]+/)*)([\w-]+)\.(\w+)"')

# The stages whose folders are named after commands. A file outside these folders is for all commands and has the name
# of none, nor another word for what a command does.
BY_COMMAND = {"mine", "assess", "pipeline", "report"}
COMMANDS = {
    "assemblies": r"assembly",
    "bursts": r"burst",
    "compare": r"compar\w+|conditions?|differences?",
    "completion": r"completions?",
    "convert": r"conversions?|converters?",
    "count": r"counts?|counting",
    "devices": r"device",
    "doctor": r"installations?",
    "episodes": r"episode",
    "example": r"examples?",
    "info": r"inputs?",
    "live": r"sessions?",
    "manual": r"manuals?",
    "merge": r"merg\w+",
    "replay": r"replays",
    "report": r"reports",
    "simulate": r"simulat\w+",
    "sort": r"sorts|sorting|sortings",
    "spade": r"patterns?",
    "table": r"tables|cohorts?",
    "track": r"track\w+",
    "windows": r"window",
}
NAMED_AFTER_A_COMMAND = re.compile(rf"({'|'.join([*COMMANDS, *COMMANDS.values()])})(_|$)")
# Commands that do more with the results of others, or with what finds them.
BUILT_ON = {
    "compare": {"episodes", "spade"},
    "count": {"episodes"},
    "live": {"episodes", "windows"},
    "replay": {"episodes"},
    "track": {"sort"},
    "windows": {"episodes"},
}
# Where a command with a stage in the pipeline has a file or a folder of its name.
PLACES = (("src/pipeline",), ("include/spikeweave/report",), ("src/report",), ("tests/report",),
          ("python/spikeweave/_commands",), ("docs/tutorials", "docs/algorithms"), ("apps/spikeweave/commands",))
CUDA_LIBRARY = re.compile(r"#\s*include\s+<(cuda|cub/|thrust/)")
SOURCE = re.compile(r"(?<![\w./}-])[\w./-]+\.(?:cpp|cu)\b")


def command_of(stage, names):
    """Returns the command of a file, from the names of its folders and its stem; None if it is for all commands."""
    return names[0] if stage in BY_COMMAND and names[0] in COMMANDS else None


def needs_cuda(path):
    """Whether a file is one that only a build with CUDA compiles."""
    return path.suffix in {".cu", ".cuh"} or any(Path(part).stem == "cuda" for part in path.parts)


def check_line(line, place, own, path):
    """Returns what is wrong with a line of a file in `place` (include, src, apps…), stage `own`, at `path` there."""
    if place == "include" and OUTSIDE.search(line):
        return "a public header includes a private library's"
    match = INCLUDE.search(line)
    if place == "src" and not needs_cuda(path) and (
            CUDA_LIBRARY.search(line) or match and needs_cuda(Path(f"{match[2]}{match[3]}.{match[4]}"))):
        return "a file that needs CUDA is called cuda or .cu, or is in a folder cuda"
    if not match:
        return None
    public = match[1]
    names = [*match[2].split("/")[:-1], match[3]]
    used = names[0] if len(names) > 1 else None
    if used is None:  # in the same folder, or spikeweave/spikeweave.hpp
        return "a public header includes a private one" if place == "include" and not public else None
    if place == "python" and used == "bindings":
        part, used_part = (words[1] if len(words) > 2 else None for words in (path.parts, names))
        return None if used_part in (None, "core", part) else f"bindings/{part} may not use bindings/{used_part}"
    if place in PUBLIC_ONLY:
        return None if public or used not in MAY_USE else "only <include/spikeweave> may be used here"
    if place == "include" and not public:
        return "a public header includes a private one"
    if used not in MAY_USE:
        return f"there is no stage {used}"
    if used != own and used not in MAY_USE[own].split() and not (used in SHARED and not public and own != "core"
                                                                 and own not in SHARED):
        return f"{own} may not use {used}"
    if used not in {own, "core", IMPLEMENTS.get(own), *SHARED} and not public:
        return f"{used} is used by its public headers only"
    command, used_command = command_of(own, path.with_suffix("").parts[1:]), command_of(used, names[1:])
    if command and used_command and command != used_command and used_command not in BUILT_ON.get(command, ()):
        return f"{own}/{command} and {used}/{used_command} do not know each other"
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
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                wrong = check_line(line, place, own, path.relative_to(base))
                if place == "src" and path.suffix in {".hpp", ".cuh"} and PUBLIC_NAMESPACE.match(line):
                    wrong = "a private header has a namespace of its own, such as spikeweave::" + own
                if wrong:
                    yield path, number, f"{wrong}: {line.strip()}"


def misnamed(root):
    """Yields what is not called as its command is, and commands that lack their place in a stage."""
    for base in ("include/spikeweave", "src", "tests", "benchmarks"):
        for path in sorted(root.glob(f"{base}/*/*")):
            name = path.stem
            if path.parent.name in BY_COMMAND and NAMED_AFTER_A_COMMAND.match(name) and name not in COMMANDS:
                yield path, 0, "its command names the folder, as in report/spade"
    for path in sorted(root.glob("apps/spikeweave/commands/*.cpp")):
        if path.stem not in {*COMMANDS, "commands", "run"}:  # `run` has nothing in a stage: it runs other commands
            yield path, 0, "COMMANDS of tools/check_layers.py does not have this command"
    for command in COMMANDS:
        if (root / f"include/spikeweave/pipeline/{command}.hpp").exists():
            for places in PLACES:
                if not any(path.stem == command for place in places for path in (root / place).glob("*")):
                    yield root / places[0], 0, f"there is no {command} here"


def misplaced_sources(root):
    """Yields sources that need CUDA and are always built, and others that are built with CUDA only."""
    for path in sorted(root.glob("src/*/CMakeLists.txt")):
        with_cuda = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("if("):
                with_cuda = line.startswith("if(SPIKEWEAVE_CUDA)")
            elif line.startswith(("else()", "endif()")):
                with_cuda = False
            for name in SOURCE.findall(line):
                if needs_cuda(Path(name)) != with_cuda:
                    yield path, number, (f"{name} is built with CUDA only, so it belongs in a folder cuda" if with_cuda
                                         else f"{name} needs CUDA, but is always built")


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = [*breaches(root), *misnamed(root), *misplaced_sources(root)]
    for path, number, text in found:
        print(f"{path.relative_to(root)}:{number}: {text}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
