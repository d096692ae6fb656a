#!/usr/bin/env python3
"""Runs clang-tidy over our sources, two at a time, and remembers what it passed, for every checkout of this user.

A file is run again when it, one of our headers that it reaches, its compile command, .clang-tidy or clang-tidy itself
has changed.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEARCHED = [ROOT / "include", ROOT / "src"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def reached(path, seen):
    """The file and those of our headers that it includes, directly or not."""
    if path in seen:
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for folder in (path.parent, *SEARCHED):
            if (folder / name).is_file():
                reached((folder / name).resolve(), seen)
                break


def key_of(entry, common):
    seen = set()
    reached(Path(entry["file"]), seen)
    digest = hashlib.sha256(common)
    digest.update(entry["command"].replace(str(ROOT), "").encode())
    for path in sorted(seen):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="build folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("folders", nargs="+", help="folders whose sources are checked")
    arguments = parser.parse_args()

    folders = [ROOT / folder for folder in arguments.folders]
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spikeweave" / "clang-tidy"
    cache.mkdir(parents=True, exist_ok=True)

    waiting = {}
    for entry in json.loads((arguments.build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        # clang-tidy 14 does not know nvcc's options.
        if path.suffix != ".cu" and any(folder in path.parents for folder in folders):
            key = key_of(entry, common)
            if not (cache / key).exists():
                waiting[path] = key

    def check(item):
        path, key = item
        result = subprocess.run(["clang-tidy", "-p", str(arguments.build), "--quiet", str(path)],
                                stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode == 0:
            (cache / key).touch()
            return True
        print(f"{path.relative_to(ROOT)}\n{result.stdout}", file=sys.stderr)
        if not result.stdout:
            print(result.stderr, file=sys.stderr)
        return False

    with ThreadPoolExecutor(arguments.jobs) as pool:
        passed = list(pool.map(check, waiting.items()))
    print(f"clang-tidy: {len(passed)} files run, {passed.count(False)} with findings")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
