#!/usr/bin/env python3
"""Runs nvcc and stores the output of ptxas about each kernel (`-Xptxas=-v`) beside the object, in
OBJECT.ptxas, and whether nvcc was asked not to contract multiplications and additions.

Usage: record_kernels.py COMPILER ARGUMENT... ; CMake calls it as the launcher of the CUDA compiler.
"""

import subprocess
import sys
from pathlib import Path


def is_note(line):
    return line.startswith("ptxas info") or (line.startswith("    ") and "bytes stack frame" in line)


def main():
    command = sys.argv[1:]
    result = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
    lines = result.stderr.splitlines(keepends=True)
    sys.stderr.writelines(line for line in lines if not is_note(line))
    notes = [line for line in lines if is_note(line)]
    if notes and result.returncode == 0 and "-o" in command:
        if "--fmad=false" in command:
            notes.insert(0, "without contraction\n")
        Path(command[command.index("-o") + 1] + ".ptxas").write_text("".join(notes), encoding="utf-8")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
