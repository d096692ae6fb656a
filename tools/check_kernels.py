#!/usr/bin/env python3
"""Checks the output of ptxas for our kernels against a budget of registers and stack; no kernel may spill. Kernels whose
results equal those of the CPU to the bit have to be compiled without contraction.

Usage: check_kernels.py BUILD [--budget FILE] [--update]

BUILD has the OBJECT.ptxas files that tools/record_kernels.py writes beside objects. The budget is that of the worst of
all GPUs that were compiled for. Kernels that are not in the budget, and entries without a kernel, are errors; --update
writes the budget of the build.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENTRY = re.compile(r"Compiling entry function '(\w+)' for 'sm_(\w+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")
# Their arithmetic in floating point has to be that of the CPU.
EXACT = ("record/",)
HEAD = ("# What each kernel may use at most, over all GPUs compiled for; tools/check_kernels.py BUILD --update writes it.\n"
        "# folder\tkernel\tregisters\tstack_bytes\n")


def demangled(names):
    shown = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, map(short, shown.stdout.splitlines())))


def short(name):
    """Returns `find_most` for `spikeweave::episodes::(anonymous namespace)::find_most(…)`, with its template arguments."""
    name = name.replace("(anonymous namespace)::", "").removeprefix("void ")
    depth = 0
    for at, letter in enumerate(name):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:
            name = name[:at]
            break
    return name.replace("spikeweave::episodes::", "").replace("spikeweave::", "")


def notes_of(path):
    """Yields (mangled kernel, architecture, registers, stack, spilled) of one object."""
    kernel, stack, spilled = None, 0, 0
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := ENTRY.search(line):
            kernel = found.groups()
        elif found := STACK.search(line):
            stack, spilled = int(found[1]), int(found[2]) + int(found[3])
        elif (found := REGISTERS.search(line)) and kernel:
            yield *kernel, int(found[1]), stack, spilled
            kernel = None


def folder_of(path, build):
    below = path.relative_to(build).as_posix().rpartition(".dir/")[2]  # CMake: src/CMakeFiles/TARGET.dir/
    return below.rpartition("/")[0].removeprefix("united/")  # a unity build includes a folder's kernels in one source


def contracted(build):
    """Yields the folders of kernels that were compiled with contraction and should not have been."""
    for path in sorted(build.rglob("*.ptxas")):
        folder = folder_of(path, build)
        if folder.startswith(EXACT) and not path.read_text(encoding="utf-8").startswith("without contraction"):
            yield f"{folder}: was compiled with contraction, so results may differ from those of the CPU"


def measured(build):
    """Returns {(folder, kernel): (registers, stack, spilled bytes by architecture)} of our own kernels."""
    worst = {}
    for path in sorted(build.rglob("*.ptxas")):
        notes = list(notes_of(path))
        names = demangled([note[0] for note in notes])
        folder = folder_of(path, build)
        for mangled, architecture, registers, stack, spilled in notes:
            if names[mangled].startswith("cub::"):
                continue  # the library's own kernels
            key = (folder, names[mangled])
            before = worst.get(key, (0, 0, {}))
            spills = {**before[2], **({architecture: spilled} if spilled else {})}
            worst[key] = (max(before[0], registers), max(before[1], stack), spills)
    return worst


def read_budget(path):
    budget = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            folder, kernel, registers, stack = line.split("\t")
            budget[folder, kernel] = (int(registers), int(stack))
    return budget


def wrongs(found, budget):
    for (folder, kernel), (registers, stack, spills) in sorted(found.items()):
        name = f"{folder}: {kernel}"
        for architecture, spilled in sorted(spills.items()):
            yield f"{name} spills {spilled} bytes on sm_{architecture}"
        if (folder, kernel) not in budget:
            yield f"{name} is not in the budget: {registers} registers, {stack} bytes of stack"
            continue
        most_registers, most_stack = budget[folder, kernel]
        if registers > most_registers:
            yield f"{name} takes {registers} registers, {most_registers} is its budget"
        if stack > most_stack:
            yield f"{name} takes {stack} bytes of stack, {most_stack} is its budget"
    for folder, kernel in sorted(budget.keys() - found.keys()):
        yield f"{folder}: {kernel} is in the budget, but was not built"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--budget", type=Path, default=ROOT / "tools" / "kernel_budget.tsv")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()

    found = measured(arguments.build)
    if not found:
        print(f"{arguments.build}: no kernel was built there", file=sys.stderr)
        return 1
    if arguments.update:
        lines = [f"{folder}\t{kernel}\t{registers}\t{stack}\n"
                 for (folder, kernel), (registers, stack, _) in sorted(found.items())]
        arguments.budget.write_text(HEAD + "".join(lines), encoding="utf-8")
    breaches = [*wrongs(found, read_budget(arguments.budget)), *contracted(arguments.build)]
    for text in breaches:
        print(text, file=sys.stderr)
    print(f"{len(found)} kernels, at most {max(most[0] for most in found.values())} registers")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
