"""The commands of README.md and of every page of docs run, and print what the pages show."""

import os
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import run_docs  # noqa: E402


class Pages(unittest.TestCase):
    def check(self, path):
        page = run_docs.check(path, Path(os.environ["SPIKEWEAVE"]).resolve())
        if page.complaints:
            self.fail("\n".join(f"line {line}: {text}" for line, text in page.complaints))
        if page.left_out:
            self.skipTest("; ".join(f"line {line}: {why}" for line, why in page.left_out))


def add_tests():
    """Makes a test of each page, so that it has a name."""
    for path in run_docs.pages():
        name = str(path.relative_to(ROOT).with_suffix("")).replace("/", "_").replace("-", "_")
        setattr(Pages, f"test_{name}", lambda self, path=path: self.check(path))


add_tests()

if __name__ == "__main__":
    unittest.main(verbosity=2)
