"""Elephant's own test of SPADE, with its import line replaced."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("statsmodels", reason="Elephant's test needs statsmodels")
pytest.importorskip("neo")


def elephants_test():
    spec = importlib.util.find_spec("elephant")
    if spec is None:
        pytest.skip("needs Elephant")
    path = pathlib.Path(spec.origin).parent / "test" / "test_spade.py"
    if not path.exists():
        pytest.skip(f"this Elephant came without {path.name}")
    return path.read_text(encoding="utf-8")


def test_passes_with_its_import_line_swapped(tmp_path):
    text, swapped = re.subn(
        r"^import elephant\.spade as spade$",
        "import spikeweave.elephant as spade",
        elephants_test(),
        flags=re.M,
    )
    assert swapped == 1
    (tmp_path / "test_spade.py").write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "unittest", "test_spade"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "Ran 14 tests" in run.stderr
    assert run.stderr.rstrip().endswith("\nOK")  # neither failed nor skipped
