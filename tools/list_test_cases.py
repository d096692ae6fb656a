#!/usr/bin/env python3
"""Lists all test cases of a build and of the Python package, one per line, to compare two versions of the project.

  C++ cases as CTEST-ENTRY Suite.Case, so a case that runs on several numbers of ranks is listed for each; test
  scripts as CTEST-ENTRY Class.method; tests of the package with their pytest names.
Usage: list_test_cases.py BUILD [PYTHON]    BUILD: a build folder with tests; PYTHON: one that can import the package
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def output(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def gtest_cases(command):
    """Returns Suite.Case of each test that a GoogleTest command runs."""
    suite = ""
    listing = output([*(word for word in command if word.startswith("--gtest_filter")
                        or not word.startswith("--gtest")), "--gtest_list_tests"])
    for line in listing.splitlines():
        name = line.split("#")[0].rstrip()
        if name and not name.startswith(" "):
            suite = name
        elif name.startswith("  ") and suite.endswith("."):
            yield suite + name.strip()


def script_cases(path):
    """Returns Class.method of each unittest case in a file, or the test functions of a plain script."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name.startswith("test"):
                    yield f"{node.name}.{item.name}"
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node.name


def ctest_cases(build):
    for test in json.loads(output(["ctest", "--show-only=json-v1"], cwd=build))["tests"]:
        command = test["command"]
        scripts = [Path(word) for word in command if word.endswith("_test.py")]
        if scripts:
            cases = list(script_cases(scripts[0]))
        elif any(word.startswith("--gtest") for word in command):
            launched = next(i for i, word in enumerate(command) if re.search(r"_test$", word))
            cases = list(gtest_cases(command[launched:]))
        else:
            cases = []
        for case in cases or [""]:
            yield f"{test['name']} {case}".rstrip()


def main():
    build = Path(sys.argv[1])
    for line in sorted(ctest_cases(build)):
        print(line)
    if len(sys.argv) > 2:
        listing = output([sys.argv[2], "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
                          "--import-mode=importlib", "python/tests"], cwd=ROOT)
        for line in sorted(line for line in listing.splitlines() if "::" in line):
            print(line)


if __name__ == "__main__":
    main()
