"""Fixtures that the tests share."""

import os
from pathlib import Path

import pytest

import synfire

SHARED_DATA = Path(
    os.environ.get("SYNFIRE_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)


@pytest.fixture(scope="session")
def sym26():
    """26 units, two planted chains, 60 s."""
    return synfire.simulate.sym26(seed=1)


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real recordings; skips the test where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"there is no {SHARED_DATA}")
    return SHARED_DATA
