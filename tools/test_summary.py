#!/usr/bin/env python3
"""Sums up CTest's JUnit files: lists skipped and failed tests, then prints a line for people and one for machines."""

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def cases(path):
    """Yields (name, status) of each test; an unreadable file is one failure."""
    try:
        found = [(case.get("name"), case.get("status")) for case in ElementTree.parse(path).getroot().iter("testcase")]
    except ElementTree.ParseError:
        found = []
    return found or [("ctest came to no result", "fail")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--broken", action="append", default=[], help="a step that failed and is no test")
    parser.add_argument("folder", type=Path, help="holds one file a preset")
    arguments = parser.parse_args()

    passed, failed, skipped = 0, list(arguments.broken), []
    for path in sorted(arguments.folder.glob("*.xml")):
        for name, status in cases(path):
            if status == "run":
                passed += 1
            elif status == "fail":
                failed.append(f"{path.stem}: {name}")
            else:
                skipped.append(f"{path.stem}: {name}")
    if passed == 0 and not failed:
        failed.append("no test ran")
    for name in skipped:
        print(f"skipped  {name}")
    for name in failed:
        print(f"FAILED   {name}")

    minutes, seconds = divmod(arguments.seconds, 60)
    listed = " (listed above)" if skipped else ""
    print(f"spikeweave: {passed} tests passed, {len(failed)} failed, {len(skipped)} skipped{listed} "
          f"in {minutes} min {seconds} s")
    print(f"{passed} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
