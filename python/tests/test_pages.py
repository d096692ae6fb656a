"""The blocks of the pages that need this package print what the pages show."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("pandas")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import run_docs  # noqa: E402

COMMAND = Path(sys.executable).parent / "spikeweave"
PAGES = [
    path
    for path in run_docs.pages()
    if any(block.output and run_docs.needs_package(block) for block in run_docs.parse(path).blocks)
]


def test_there_are_pages_with_python():
    assert {path.name for path in PAGES} >= {"README.md", "meaning.md"}


@pytest.mark.skipif(not COMMAND.exists(), reason="the package was installed without the command")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_blocks_of_a_page_print_what_it_shows(path):
    page = run_docs.check(path, COMMAND)
    assert page.complaints == []
    if page.left_out:
        pytest.skip(str(page.left_out))
