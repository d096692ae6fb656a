"""`spikeweave.elephant` at its limits: invalid input, threads that cannot start, signals."""

# ruff: noqa: E402 - what is tested needs what may be missing

import gc
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

neo = pytest.importorskip("neo")
pq = pytest.importorskip("quantities")

import spikeweave
from spikeweave import elephant
from spikeweave.elephant import settings

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
    # A separate process is used, because a division by zero would end it.
    call = call.format(concepts=CONCEPTS, cells="np.ones((2, 3), dtype=bool)", winlen=winlen)
    run = run_alone(
        f"import numpy as np, quantities as pq\nfrom spikeweave import elephant\nprint({call})"
    )
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("ValueError: winlen: expected"), run.stderr


def test_the_extension_refuses_no_window_too():
    one = np.array([0, 1], dtype=np.uint64)
    item = np.array([0], dtype=np.uint32)
    with pytest.raises(ValueError, match="winlen"):
        spikeweave._core.elephant_without_window_subsets(one, item, item, 0)


def test_threads_that_cannot_start_are_an_error():
    # The address space suffices only for some of the threads.
    code = """
import resource, threading
import neo, numpy as np, quantities as pq
from spikeweave.elephant import pvalue_spectrum, settings
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


def test_a_signal_ends_stability_and_other_threads_go_on(interrupted_soon):
    with interrupted_soon():
        stable_among_many()


@pytest.mark.parametrize(
    ("trains", "error"),
    [
        ([], ValueError),
        (trains_of([1, 2]) + trains_of([1], t_stop=900), ValueError),
        (
            [
                *trains_of([150]),
                neo.SpikeTrain([150], units="ms", t_start=100, t_stop=1000),
            ],
            ValueError,
        ),
        (trains_of([150]) + trains_of([0.15], t_stop=1, units="s"), ValueError),
        ([[1, 2, 3]], TypeError),
    ],
)
@pytest.mark.parametrize("seed", [None, 1])
def test_seeded_surrogates_refuse_the_same_trains(trains, error, seed):
    with settings(seed=seed), pytest.raises(error, match="spiketrains"):
        spectrum(trains)


def test_seeded_surrogates_tell_which_spikes_they_drop():
    twice = trains_of(np.repeat(np.arange(10, 1000, 10.0), 2))
    with (
        settings(seed=1),
        pytest.warns(UserWarning, match="99 spikes are listed twice and were counted") as caught,
    ):
        spectrum(twice)
    assert caught[0].filename == __file__
    with settings(seed=1), warnings.catch_warnings():
        warnings.simplefilter("error")
        spectrum(regular())


def test_a_call_that_raised_leaves_no_threads():
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("counts threads as Linux does")

    def fail(*_):
        raise RuntimeError

    gc.collect()
    before = len(os.listdir("/proc/self/task"))
    kept = []
    for _ in range(3):
        with settings(progress=fail, threads=8), pytest.raises(RuntimeError) as caught:
            spectrum(regular())
        kept.append(caught)
    assert len(os.listdir("/proc/self/task")) == before


def test_a_closed_miner_says_so():
    miner = spikeweave._core.ElephantSurrogateMiner({"winlen": 1})
    miner.close()
    with pytest.raises(ValueError, match="closed"):
        miner.spectrum()


@pytest.mark.parametrize(
    ("bin_size", "error"),
    [
        (0 * pq.ms, ValueError),
        (np.nan * pq.ms, ValueError),
        (1e-7 * pq.ms, ValueError),
        (1e-9 * pq.ms, ValueError),
        (-1 * pq.ms, TypeError),
        (np.array([1.0, 2.0]) * pq.ms, ValueError),
        (5, TypeError),
    ],
)
@pytest.mark.parametrize("call", [elephant.concepts_mining, elephant.spade])
def test_bins_that_cannot_be(call, bin_size, error):
    with pytest.raises(error, match="bin_size"):
        call(regular(), bin_size, 5)


@pytest.mark.parametrize("cells", [np.ones(3, dtype=bool), np.ones((2, 2, 2), dtype=bool), True])
def test_relations_that_are_no_matrix(cells):
    with pytest.raises(ValueError, match="rel_matrix: expected two dimensions"):
        elephant.approximate_stability(CONCEPTS, cells, n_subsets=3)
    with pytest.raises(ValueError, match="rel_matrix: expected two dimensions"):
        elephant._fpgrowth([[0, 1], [0, 1, 2]], rel_matrix=cells)


def test_dictionaries_need_quantities():
    with pytest.raises(TypeError, match="bin_size: expected a quantity"):
        elephant.concept_output_to_patterns(CONCEPTS, 5, 5)
    with pytest.raises(TypeError, match="t_start: expected a quantity"):
        elephant.concept_output_to_patterns(CONCEPTS, 5, BIN, t_start=0)


@pytest.mark.parametrize("entries", [[(2, 2, 1, 0.1)] * 3, [(2, 2)], [2, 2, 0.1], None])
def test_spectra_of_other_entries(entries):
    with pytest.raises(ValueError, match="pv_spec: expected entries of 3 numbers"):
        elephant.test_signature_significance(entries, CONCEPTS, 0.05, 5)


def test_one_threshold_of_stability_is_not_enough():
    pars = {"n_subsets": 3, "stability_thresh": (0.1,)}
    with pytest.raises(ValueError, match="stability_thresh: expected two numbers"):
        elephant.spade(regular(), BIN, 5, approx_stab_pars=pars)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"seed": -1}, ValueError, "seed"),
        ({"seed": 2**64}, ValueError, "seed"),
        ({"seed": 1.5}, TypeError, "seed"),
        ({"seed": "x"}, TypeError, "seed"),
        ({"threads": -1}, ValueError, "threads"),
        ({"threads": 5000}, ValueError, "threads"),
        ({"threads": "x"}, TypeError, "threads"),
        ({"progress": "x"}, TypeError, "progress"),
        ({"bogus": 1}, TypeError, "bogus"),
    ],
)
def test_settings_are_checked_where_they_are_made(change, error, message):
    with pytest.raises(error, match=message), settings(**change):
        pytest.fail("it was taken")


@pytest.mark.parametrize("seed", [0, 2**40, 2**64 - 1, np.uint64(7)])
def test_every_seed_serves_surrogates_and_stability(seed):
    cells = np.random.default_rng(0).random((40, 30)) < 0.9
    concepts = [(tuple(range(20)), tuple(range(0, 40, 2)))]

    def both():
        with settings(seed=seed):
            stable = elephant.approximate_stability(concepts, cells, n_subsets=20)
            return spectrum(regular()), stable[0][2:]

    assert both() == both()


@pytest.mark.parametrize("missing", ["neo", "quantities"])
def test_without_its_packages_the_import_says_what_to_install(missing):
    run = run_alone(f"import sys\nsys.modules[{missing!r}] = None\nimport spikeweave.elephant")
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("ImportError: "), run.stderr
    assert "pip install 'spikeweave[elephant]'" in run.stderr
