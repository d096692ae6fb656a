#!/usr/bin/env python3
"""Checks our sources with compilers, two at a time, and stores what passed for all checkouts of this user.

  check_sources.py tidy  --build BUILD FOLDER...   clang-tidy, on the translation units of a unity build: a folder's
                                                   files are parsed once, without parsing all headers for each
  check_sources.py alone --build BUILD FOLDER...   every file compiles by itself, which a unity build does not show;
                                                   headers of the standard library, the large ones of the folder
                                                   and those of ours that nearly every file reaches are
                                                   precompiled once for the folder, but not for our public
                                                   headers; clang takes about half of the time of g++.
                                                   Warnings are errors for the benchmarks only, because CI
                                                   compiles them nowhere else

BUILD is a build folder with compile_commands.json. A translation unit is checked again if it, one of our files that it
includes, its command, .clang-tidy or the tool itself has changed.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEARCHED = [ROOT / "include", ROOT / "src", ROOT / "tests", ROOT]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
PASSED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spikeweave" / "checked"


def reached(path, seen):
    """Adds the file and those of our files that it includes, directly or not, to `seen`."""
    if path in seen:
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for folder in (path.parent, *SEARCHED):
            if (folder / name).is_file():
                reached((folder / name).resolve(), seen)
                break


def without_paths(text):
    return text.replace(str(ROOT), "").encode()


# That of PyPI, because Debian's clang-tidy 14 takes more than twice as long: it checks all that system headers declare.
CLANG_TIDY = str(Path(sys.executable).with_name("clang-tidy"))


def tidy_command(entry, build):
    # Some templates of the standard library and of Boost use what C++20 has deprecated.
    silent = ("unknown-warning-option", "unused-command-line-argument", "deprecated-declarations")
    return [CLANG_TIDY, "-p", str(build), "--quiet", "--checks=-bugprone-suspicious-include",
            *(f"--extra-arg=-Wno-{name}" for name in silent), entry["file"]]


ALONE = ["clang++", "-std=c++20"]


# Ours that four of five files reach, most of them by way of another header. A file that forgets to include one of these
# is not found.
CORE = [f"spikeweave/{name}.hpp" for name in ("core/enum_names", "core/error", "core/execution", "core/options", "core/time",
                                              "spikes/spike_sequence")]
# Headers that many files of a folder include and that take longest to parse.
GIVEN = {"apps": ["CLI/CLI.hpp", "fmt/format.h", "fmt/ranges.h", "nlohmann/json.hpp"],
         "benchmarks": ["benchmark/benchmark.h", "fmt/format.h"],
         "python": ["fmt/format.h", "nanobind/nanobind.h"],
         "src": ["Eigen/Core", "fmt/format.h", "nlohmann/json.hpp"]}


def is_public_header(entry):
    return entry["file"].endswith(".hpp")


def folder_of(entry):
    return Path(entry["file"]).relative_to(ROOT).parts[0]


def given_header(entry, build):
    return build / f"given_in_{folder_of(entry)}.hpp"


def search_options(entry):
    words = shlex.split(entry["command"])
    return [word for i, word in enumerate(words)
            if word.startswith(("-D", "-I")) or "-isystem" in (word, words[i - 1])]


def warning_options(entry):
    if folder_of(entry) != "benchmarks":
        return ["-w"]
    # As in cmake/SpikeweaveTargets.cmake for compilers other than g++; `entry` is of one of these.
    return ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wno-sign-conversion", "-Werror"]


def alone_command(entry, build):
    given = [] if is_public_header(entry) else ["-include-pch", f"{given_header(entry, build)}.pch"]
    return [*ALONE, *warning_options(entry), *given, *search_options(entry), "-fsyntax-only", "-x", "c++", entry["file"]]


def precompile_given(entry, build):
    """Precompiles headers for the entry's folder: those of the standard library that it includes, and those given."""
    folder = ROOT / folder_of(entry)
    used = {name for path in folder.rglob("*.[ch]pp")
            for name in re.findall(r"#include <([a-z_]+)>", path.read_text(encoding="utf-8"))}
    names = [*sorted(used), *GIVEN[folder.name], *CORE]
    header = given_header(entry, build)
    header.write_text("".join(f"#include <{name}>\n" for name in names), encoding="utf-8")
    # Templates that the headers use are instantiated here. Otherwise every file would do it again.
    subprocess.run([*ALONE, "-w", "-fpch-instantiate-templates", *search_options(entry), "-x", "c++-header", str(header),
                    "-o", f"{header}.pch"], check=True)


COMMANDS = {"tidy": (tidy_command, CLANG_TIDY), "alone": (alone_command, "clang++")}


def to_check(check, build, folders):
    """Returns {file: (entry, command, key)} of the translation units of the folders that have not passed yet."""
    command_of, program = COMMANDS[check]
    common = check.encode() + subprocess.run([program, "--version"], check=True, capture_output=True).stdout
    common += (ROOT / ".clang-tidy").read_bytes()
    waiting = {}
    entries = json.loads((build / "compile_commands.json").read_text())
    if check == "alone":
        any_source = next(entry for entry in entries if entry["file"].startswith(str(ROOT / "src")))
        entries += [{**any_source, "file": str(path)} for path in sorted((ROOT / "include").rglob("*.hpp"))]
    for entry in entries:
        seen = set()
        reached(Path(entry["file"]), seen)
        # clang-tidy does not support nvcc's options.
        sources = [path for path in seen if (path.suffix == ".cpp" or is_public_header(entry))
                   and any(folder in path.parents for folder in folders)]
        if entry["file"].endswith(".cu") or not sources:
            continue
        digest = hashlib.sha256(common + without_paths(entry["command"]))
        for path in sorted(seen):
            digest.update(without_paths(str(path)) + without_paths(path.read_text(encoding="utf-8")))
        if not (PASSED / digest.hexdigest()).exists():
            waiting[entry["file"]] = (entry, command_of(entry, build), digest.hexdigest())
    return waiting


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=COMMANDS)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    PASSED.mkdir(parents=True, exist_ok=True)
    build = arguments.build.resolve()
    folders = [ROOT / folder for folder in arguments.folders]
    waiting = to_check(arguments.check, build, folders)
    if arguments.check == "alone":
        for entry in {folder_of(entry): entry for entry, _, _ in waiting.values() if not is_public_header(entry)}.values():
            precompile_given(entry, build)

    def passes(item):
        file, (entry, command, key) = item
        result = subprocess.run(command, cwd=entry["directory"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode == 0:
            (PASSED / key).touch()
            return True
        print(f"{Path(file).relative_to(ROOT)}\n{result.stdout or result.stderr}", file=sys.stderr)
        return False

    # The longest are first, so that none runs alone at the end.
    order = sorted(waiting.items(), key=lambda item: -len(INCLUDE.findall(Path(item[0]).read_text(encoding="utf-8"))))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        passed = list(pool.map(passes, order))
    print(f"{arguments.check}: {len(passed)} translation units checked, {passed.count(False)} with findings")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
