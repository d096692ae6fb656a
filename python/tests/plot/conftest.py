"""Results to draw, and a check that nothing is shown."""

import pytest

import spikeweave


@pytest.fixture(autouse=True)
def nothing_is_shown(monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(pyplot, "show", lambda *_, **__: pytest.fail("show() was called"))
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def chains():
    spikes = spikeweave.simulate.sym26(length="20s", seed=1).spikes
    return spikeweave.episodes(spikes, delays=["4-6ms", "9-11ms"])


@pytest.fixture(scope="module")
def planted():
    return spikeweave.simulate.patterns(units=30, patterns=(5, 3), occurrences=12, seed=1)


# With few occurrences, surrogates also reach some signatures.
LOOSE = {
    "min_occ": 6,
    "min_spikes": 3,
    "min_neu": 3,
    "window": 10,
    "surrogates": 100,
    "alpha": 0.05,
    "seed": 1,
}


@pytest.fixture(scope="module")
def tested(planted):
    return spikeweave.spade(planted.spikes, reduce=(0, 0, 0), **LOOSE)


@pytest.fixture(scope="module")
def with_durations(planted):
    return spikeweave.spade(planted.spikes, spectrum="3d#", **LOOSE)


@pytest.fixture(scope="module")
def sorted_units():
    made = spikeweave.simulate.recording(length="10s", units=3, channels=12, seed=1, low_peak=100)
    return spikeweave.sort(made.recording)


@pytest.fixture(scope="module")
def compared():
    a, b = (
        spikeweave.simulate.sym26(length="60s", probability=p, seed=1).spikes for p in (0.8, 0.4)
    )
    return spikeweave.compare(a, b, delays="4-6ms", max_size=2, min_count=200)


@pytest.fixture(scope="module")
def nothing():
    return spikeweave.SpikeSequence.of([[], []], t_start=0, t_stop=1)
