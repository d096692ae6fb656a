"""Properties of all calls: no lock held, Ctrl-C, progress, no leak, a matching stub."""

import copy
import inspect
import os
import pickle
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest

import spikeweave
from spikeweave._adapters.progress import reporting

sys.path.insert(0, str(Path(__file__).parent))
from interruption import interrupt

# A call of 3 minutes, so that a missing interruption is noticed.
# Jobs in the background of a shell ignore Ctrl-C from the beginning on.
LONG = """
import signal, spikeweave, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
made = spikeweave.simulate.sym26(seed=1)
print("ready", flush=True)
began = time.monotonic()
try:
    {call}
except KeyboardInterrupt:
    print("stopped", flush=True)
    sys.exit(130)
"""
LONG_CALLS = {
    "episodes": "spikeweave.episodes(made.spikes, delays='1-4ms', min_count=800, surrogates=10**6)",
    "spade": "spikeweave.spade(made.spikes, min_occ=30, surrogates=10**6)",
    "sort": "spikeweave.sort(spikeweave.simulate.recording(channels=64, length='20s').recording, "
    "strategy='reference')",
    "simulate": "spikeweave.simulate.recording(channels=384, length='1000s')",
}


def run(code, **options):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize("name", LONG_CALLS)
def test_ctrl_c_stops_a_call_within_seconds(name):
    process = run(LONG.format(call=LONG_CALLS[name]))

    out, errors, seconds = interrupt(process)

    assert out == "stopped\n", errors
    assert process.returncode == 130
    assert seconds < 5  # a second, plus what a busy machine needs


def test_other_threads_run_during_a_call(sym26):
    counted = 0
    over = threading.Event()

    def count():
        nonlocal counted
        while not over.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    spikeweave.episodes(sym26.spikes, delays="1-4ms", min_count=800, surrogates=100, threads=1)
    lasted = time.monotonic() - began
    over.set()
    thread.join()

    assert counted > 0.1 * lasted / 0.001


def test_progress_is_told(sym26):
    told = []

    spikeweave.episodes(
        sym26.spikes,
        delays="1-4ms",
        min_count=800,
        surrogates=100,
        progress=lambda task, done, total: told.append((task, done, total)),
    )

    assert told
    assert all(done <= total or total == 0 for _, done, total in told)


@pytest.mark.parametrize(
    ("terminal", "shell", "draws"),
    [
        (True, None, True),
        (False, None, False),
        (False, types.SimpleNamespace(kernel="of Jupyter"), True),
        (False, types.SimpleNamespace(), False),
    ],
    ids=["terminal", "script", "notebook", "IPython in a pipe"],
)
def test_bars_are_drawn_where_somebody_sees_them(monkeypatch, terminal, shell, draws):
    bars = pytest.importorskip("tqdm.auto")
    drawn = []

    class Bar:
        def __init__(self, **options):
            drawn.append(options["desc"])

        def refresh(self):
            pass

        def close(self):
            pass

    monkeypatch.setattr(bars, "tqdm", Bar)
    monkeypatch.setattr(sys, "stderr", types.SimpleNamespace(isatty=lambda: terminal))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))

    with reporting(None) as callback:
        if callback:
            callback("counting", 1, 2)

    assert drawn == (["counting"] if draws else [])


def test_what_progress_raises_ends_the_call(sym26):
    def refuse(task, done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        spikeweave.episodes(
            sym26.spikes, delays="1-4ms", min_count=800, surrogates=10**5, progress=refuse
        )


def test_calls_from_several_threads_agree(sym26):
    counts = [None] * 4

    def call(which):
        counts[which] = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=300).counts

    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(np.array_equal(one, counts[0]) for one in counts)


LEAKS = """
import gc, warnings
import numpy as np, psutil, spikeweave
warnings.simplefilter("ignore")
me = psutil.Process()
spikes = spikeweave.simulate.poisson(units=5, length=20, seed=1).spikes
patterns = spikeweave.simulate.patterns(units=8, length=2, seed=1).spikes
data = spikeweave.simulate.features(spikes=300, units=2, channels=4, seed=1)
def once():
    found = spikeweave.episodes(spikes, min_count=20, max_size=2, progress=lambda *now: None)
    found.occurrences(len(found) - 1); found[0]; list(found.spikes.trains())
    spikeweave.spade(patterns, min_occ=4, surrogates=2, seed=1)[:2]
    spikeweave.sort_features(data.features, data.masks, samples=data.samples, sample_rate=3e4)
    spikeweave.SpikeSequence.of((np.arange(50) * 0.01, np.arange(50) % 3))
    for bad in (dict(alpha="x"), dict(delays=[(2, 1)])):
        try:
            spikeweave.episodes(spikes, **bad)
        except (TypeError, ValueError):
            pass
for _ in range({rounds} // 4):
    once()
gc.collect(); before = me.memory_info().rss
for _ in range({rounds}):
    once()
gc.collect(); print((me.memory_info().rss - before) // 1024)
"""


@pytest.mark.parametrize("rounds", [80, pytest.param(800, marks=pytest.mark.nightly)])
def test_many_calls_leak_nothing(rounds):
    process = run(LEAKS.format(rounds=rounds))

    out, errors = process.communicate(timeout=900)

    assert process.returncode == 0, errors
    assert "leaked" not in errors, errors  # nanobind's report
    most_kib = 4096  # what an allocator may keep; 800 leaks of 5 KiB, or 80 of 51 KiB, are more
    assert int(out) < most_kib, f"{out.strip()} KiB more after {rounds} rounds"


def test_the_stub_is_that_of_the_extension(tmp_path):
    pytest.importorskip("nanobind")
    kept = Path(spikeweave.__file__).with_name("_core.pyi").read_text(encoding="utf-8")

    subprocess.run(
        [
            sys.executable,
            "-m",
            "nanobind.stubgen",
            "-m",
            "spikeweave._core",
            "-o",
            tmp_path / "new",
        ],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert (tmp_path / "new").read_text(encoding="utf-8") == kept
    assert Path(spikeweave.__file__).with_name("py.typed").exists()


def public_functions():
    import spikeweave.spikeinterface

    for module in (spikeweave, spikeweave.simulate, spikeweave.spikeinterface):
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                yield pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")


@pytest.mark.parametrize("function", public_functions())
def test_every_argument_is_documented(function):
    text = inspect.getdoc(function)
    documented = (
        text.split("Parameters\n", 1)[1].split("Returns\n", 1)[0]
        if ("Parameters\n" in text)
        else ""
    )

    missing = [
        name
        for name in inspect.signature(function).parameters
        if name not in documented.replace("**", "").replace(",", " ").replace(":", " ").split()
    ]

    assert not missing
    assert "Examples\n" in text or function.__name__ in (
        "write",
        "read_recording",
        "episode_strategies",
        "numpy_sorting",
        "sort_analyzer",
    )


def test_spikes_and_results_can_be_copied_and_kept(sym26):
    found = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=300)
    unstated = spikeweave.SpikeSequence.of([[0.5, 0.7]])

    for spikes in (sym26.spikes, unstated):
        again = pickle.loads(pickle.dumps(spikes))
        assert again == spikes
        assert again._core.has_recorded_span == spikes._core.has_recorded_span
    kept = copy.deepcopy(found)
    assert list(kept) == list(found)
    assert np.array_equal(kept.occurrences(-1), found.occurrences(-1))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"alpha": "aé" * 60}, "alpha: expected a number"),
        ({"strategy": "\udc80"}, "strategy: expected a text"),
        ({"delays": [(None, 0.1)]}, "delays: expected seconds"),
    ],
)
def test_hostile_texts_are_named(arguments, says):
    with pytest.raises(TypeError, match=says):
        spikeweave.episodes([[0.1, 0.2]], **arguments)


def test_a_daemon_thread_in_a_call_does_not_abort_the_end():
    code = """
import threading, time, spikeweave
spikes = spikeweave.simulate.sym26(seed=1).spikes
call = lambda: spikeweave.episodes(spikes, delays="1-4ms", min_count=800, surrogates=10**6)
threading.Thread(target=call, daemon=True).start()
time.sleep(0.5)
"""
    process = run(code)

    _, errors = process.communicate(timeout=60)

    assert process.returncode == 0, errors
