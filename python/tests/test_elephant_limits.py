"""`synfire.elephant` at its limits: input that cannot be, threads that cannot start, signals."""

# ruff: noqa: E402 - what is tested needs what may be missing

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

neo = pytest.importorskip("neo")
pq = pytest.importorskip("quantities")

import synfire
from synfire import elephant
from synfire.elephant import settings

BIN = 5 * pq.ms
CONCEPTS = [((0, 1), (0, 1)), ((0, 2), (0, 1))]
CELLS = np.ones((2, 3), dtype=bool)


def trains_of(*times, t_stop=1000, units="ms"):
    return [neo.SpikeTrain(one, units=units, t_stop=t_stop) for one in times]


def regular(n=2):
    return trains_of(*[np.arange(10, 1000, 10)] * n)


def spectrum(trains, bin_size=BIN, n_surr=2, **more):
    return elephant.pvalue_spectrum(trains, bin_size, 5, 5 * pq.ms, n_surr, **more)


def run_alone(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )


NO_WINDOW = {
    "reduction": "elephant.pattern_set_reduction({concepts}, [], {winlen}, '#')",
    "identical windows": "elephant._fpgrowth([[0, 1]] * 2, winlen={winlen}, rel_matrix={cells})",
    "windows": "elephant._fpgrowth([[0, 1], [1]], winlen={winlen}, rel_matrix={cells})",
    "context": "elephant._fast_fca([(0, 1), (1, 1)], winlen={winlen})",
    "miner": "elephant.fim.fpgrowth([[0, 1], [1]], supp=-1, winlen={winlen})",
    "dictionaries": "elephant.concept_output_to_patterns({concepts}, {winlen}, 5 * pq.ms)",
    "test": "elephant.test_signature_significance("
    "[(2, 2, 1, 0.1)], {concepts}, 0.05, {winlen}, spectrum='3d#')",
}


@pytest.mark.parametrize("winlen", [0, -1])
@pytest.mark.parametrize("call", NO_WINDOW.values(), ids=NO_WINDOW.keys())
def test_no_window_is_an_error_that_names_it(call, winlen):
    # In a process of its own, which a division by zero would end.
    call = call.format(concepts=CONCEPTS, cells="np.ones((2, 3), dtype=bool)", winlen=winlen)
    run = run_alone(
        f"import numpy as np, quantities as pq\nfrom synfire import elephant\nprint({call})"
    )
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("ValueError: winlen: expected"), run.stderr


def test_the_extension_refuses_no_window_too():
    one = np.array([0, 1], dtype=np.uint64)
    item = np.array([0], dtype=np.uint32)
    with pytest.raises(ValueError, match="winlen"):
        synfire._core.elephant_without_window_subsets(one, item, item, 0)


def test_threads_that_cannot_start_are_an_error():
    # Address space for some of the threads only.
    code = """
import resource, threading
import neo, numpy as np, quantities as pq
from synfire.elephant import pvalue_spectrum, settings
trains = [neo.SpikeTrain(np.arange(10, 1000, 10), units="ms", t_stop=1000)] * 2
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (300 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    with settings(threads=2000):
        pvalue_spectrum(trains, 5 * pq.ms, 1, dither=2 * pq.ms, n_surr=5)
except RuntimeError as error:
    print("refused:", error)
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("limits threads as Linux does")
    run = run_alone(code)
    assert run.stdout.startswith("refused:"), run.stderr


def stable_among_many():
    cells = np.random.default_rng(0).random((400, 26)) < 0.8
    cells[:5] = True
    extent = tuple(np.flatnonzero(cells.all(axis=1)))
    elephant.approximate_stability([(tuple(range(26)), extent)], cells, n_subsets=2**26 + 1)


def test_a_signal_ends_stability_and_other_threads_go_on():
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
            stable_among_many()
        assert time.monotonic() - began < 2.5
        assert len(ticks) > 10
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        ticker.join()
