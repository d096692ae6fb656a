"""Fixtures that the tests share."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import spikeweave

SHARED_DATA = Path(
    os.environ.get(
        "SPIKEWEAVE_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"
    )
)


@pytest.fixture(scope="session")
def sym26():
    """26 units, two planted chains, 60 s."""
    return spikeweave.simulate.sym26(seed=1)


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real recordings; the test is skipped if it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"there is no {SHARED_DATA}")
    return SHARED_DATA


@contextmanager
def _interrupted_soon():
    """Interrupt a long call by a signal and check that other Python threads run meanwhile."""

    class StopError(Exception):
        pass

    def stop(*_):
        raise StopError

    ticks = []
    ticker = threading.Thread(
        target=lambda: [(ticks.append(1), time.sleep(0.01)) for _ in range(60)]
    )
    before = signal.signal(signal.SIGALRM, stop)
    try:
        ticker.start()
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        began = time.monotonic()
        with pytest.raises(StopError):
            yield
        assert time.monotonic() - began < 5  # the call would take minutes
        assert len(ticks) > 10
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        ticker.join()


@pytest.fixture
def interrupted_soon():
    """A context that is interrupted by a signal."""
    return _interrupted_soon
