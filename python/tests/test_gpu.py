"""Computations on GPUs; skipped without a GPU, unless SPIKEWEAVE_REQUIRE_GPU is set."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import spikeweave


@pytest.fixture(scope="module", autouse=True)
def device():
    found = spikeweave.devices()
    if not found and os.environ.get("SPIKEWEAVE_REQUIRE_GPU") != "1":
        pytest.skip(f"no GPU: {spikeweave._core.device_unavailable_reason()}")
    assert found, spikeweave._core.device_unavailable_reason()
    return found[0]


def test_the_device_is_described(device):
    assert device.ordinal == 0
    assert device.total_bytes >= device.free_bytes > 0
    assert device.compute_capability >= (7, 5)


@pytest.mark.parametrize("strategy", spikeweave.episode_strategies("cuda"))
def test_every_strategy_counts_as_the_cpu(sym26, strategy):
    arguments = {"delays": "4-6ms", "min_count": 300, "max_size": 4}

    on_cpu = spikeweave.episodes(sym26.spikes, device="cpu", **arguments)
    on_gpu = spikeweave.episodes(sym26.spikes, device="cuda", strategy=strategy, **arguments)

    assert on_gpu.parameters["device"] == "cuda:0"
    assert np.array_equal(on_gpu.units, on_cpu.units)
    assert np.array_equal(on_gpu.counts, on_cpu.counts)


def test_many_spikes_take_the_gpu_by_themselves():
    spikes = spikeweave.simulate.poisson(units=100, length=1600, rate=20, seed=1).spikes
    arguments = {"delays": ["1-5ms", "5-10ms"], "max_size": 2, "min_count": 4_000}

    began = time.perf_counter()
    by_itself = spikeweave.episodes(spikes, **arguments)
    seconds = time.perf_counter() - began
    on_cpu = spikeweave.episodes(spikes, device="cpu", **arguments)

    assert by_itself.parameters["device"] == "cuda:0"
    assert np.array_equal(by_itself.counts, on_cpu.counts)
    print(f"{len(spikes)} spikes: GPU {seconds:.3f} s whole call, CPU {on_cpu.seconds:.3f} s")


def test_sorting_is_that_of_the_cpu():
    made = spikeweave.simulate.recording(channels=32, units=10, length="20s", seed=2)

    on_cpu = spikeweave.sort(made.recording, device="cpu")
    on_gpu = spikeweave.sort(made.recording, device="cuda")

    assert on_gpu.parameters["device"] == "cuda:0"
    assert np.array_equal(on_gpu.samples, on_cpu.samples)
    assert np.mean(on_gpu.labels == on_cpu.labels) > 0.99  # the order of sums is different there


def test_clustering_is_that_of_the_cpu():
    made = spikeweave.simulate.recording(channels=32, units=10, length="20s", seed=2)

    on_cpu = spikeweave.sort(made.recording, device="cpu", stages="cluster", strategy="cpu")
    on_gpu = spikeweave.sort(made.recording, device="cuda", stages="cluster", strategy="cuda")

    assert on_gpu.parameters["strategy"] == "cuda"
    assert np.array_equal(on_gpu.samples, on_cpu.samples)
    assert np.mean(on_gpu.labels == on_cpu.labels) > 0.99
    assert on_gpu.score == pytest.approx(on_cpu.score, rel=1e-5)


def test_a_gpu_that_is_not_there_is_an_error(sym26):
    with pytest.raises(spikeweave.DeviceError, match="99"):
        spikeweave.episodes(sym26.spikes, device="cuda:99", min_count=300)


def test_ctrl_c_stops_a_call():
    code = """
import signal, spikeweave, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
spikes = spikeweave.simulate.poisson(units=300, length=2000, rate=20, seed=1).spikes
print("ready", flush=True)
try:
    while True:
        spikeweave.episodes(spikes, delays="1-5ms", min_count=100, max_size=4, device="cuda")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)

    assert out == "stopped\n", errors
