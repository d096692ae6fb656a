#!/usr/bin/env python3
"""Checks the messages of all commits since this file was added: `area: summary` of at most 72 characters, then a blank line
and a body that explains why (CONTRIBUTING.md).

  check_commits.py [--range A..B] [ROOT]
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 72
SUBJECT = re.compile(r"[a-z][a-z0-9_./, -]*: \S.*[^.\s]")


def git(root, *arguments):
    return subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, text=True).stdout


def since_the_rule(root):
    """Returns the range from the commit that added this file; empty if it is not committed yet."""
    added = git(root, "log", "--diff-filter=A", "--format=%H", "--", "tools/check_commits.py").split()
    return f"{added[-1]}..HEAD" if added else "HEAD..HEAD"


def faults(message):
    subject, *rest = message.rstrip("\n").split("\n")
    if not SUBJECT.fullmatch(subject):
        yield "the subject is not 'area: summary' without a full stop"
    if len(subject) > LONGEST:
        yield f"the subject has {len(subject)} characters, at most {LONGEST} are wanted"
    if len(rest) < 2 or rest[0] or not "".join(rest[1:]).strip():
        yield "there is no body that says why, after a blank line"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--range")
    parser.add_argument("root", nargs="?", type=Path, default=ROOT)
    arguments = parser.parse_args()
    commits = arguments.range or since_the_rule(arguments.root)
    bad = 0
    for commit in git(arguments.root, "log", "--no-merges", "--format=%H", commits).split():
        message = git(arguments.root, "log", "-1", "--format=%B", commit)
        for fault in faults(message):
            print(f"{commit[:9]} {message.splitlines()[0]!r}: {fault}", file=sys.stderr)
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
