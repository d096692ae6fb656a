"""`parameters` repeats a run, and defaults in signatures are those of the library."""

import inspect

import numpy as np
import pytest

import spikeweave
from spikeweave import simulate

# Arguments for the data and for reading them, which are not parameters of the analysis.
DATA = {
    "spikes", "confirm", "episodes", "recording", "features", "masks", "samples", "progress"
}  # fmt: skip
DATA |= {"sample_rate", "gain", "positions", "shanks"}


def same_episodes(one, other):
    assert list(one) == list(other)
    assert np.array_equal(one.q, other.q)
    assert np.array_equal(one.circuit.count, other.circuit.count)
    assert one.threshold == other.threshold
    assert one.parameters == other.parameters


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"delays": "4-6ms", "min_rate": 5.0, "max_size": 2, "self_repeats": True, "ties": "order",
         "jitter_window": "8ms"},
        {"delays": [("4ms", 0.006)], "min_fraction": 0.01, "strategy": "state-machine"},
        {"min_count": 400, "pairs": "merge", "correction": "fdr_bh", "test": "chebyshev"},
        {"min_count": 400, "surrogates": 5, "surrogate_method": "spike-dithering", "dither": "9ms",
         "seed": 3, "max_memory": 10**9, "threads": 1, "device": "cpu"},
    ],
)  # fmt: skip
def test_parameters_repeat_episodes(options):
    spikes = simulate.sym26(length="10s", seed=1).spikes
    found = spikeweave.episodes(spikes, **options)

    again = spikeweave.episodes(found.spikes, **found.parameters)

    assert set(found.parameters) == arguments(spikeweave.episodes)
    assert found.parameters["min_count"] == found.threshold
    same_episodes(found, again)


def arguments(function):
    return set(inspect.signature(function).parameters) - DATA


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_occ": 6, "min_spikes": 3, "max_spikes": 4, "min_neu": 3, "window": 10, "bin": "4ms"},
        {"min_occ": {2: 9, 3: 6}, "max_occ": 40, "subset_filter": False, "t_start": 1,
         "t_stop": "9s", "strategy": "first-bin"},
        {"rules": [{"min_occ": 8, "min_spikes": 3}], "stability": (0.1, 0.2),
         "stability_threshold": (0.1, 0.1), "compat": "elephant"},
        {"surrogates": 20, "reduce": (2, 2, 0), "dither": "10ms", "seed": 4, "alpha": 0.05,
         "spectrum": "3d#", "correction": "holm", "threads": 2},
        {"surrogates": 20, "epochs": [(0, 4), (5, 10)], "separation": "300ms", "alpha": 0.05},
        {"surrogates": 20, "trial_length": "2s", "trial_separation": 0.5, "alpha": 0.05},
        {"surrogates": 5, "surrogate_method": "isi-dithering", "isi_bins": 50, "isi_steps": "fast",
         "isi_sigma": "1ms", "isi_alternate": False, "isi_sqrt": True, "alpha": 0.2},
        {"surrogates": 5, "surrogate_method": "dither-spikes", "edges": "clamp", "alpha": 0.2},
        {"surrogates": 5, "surrogate_method": "bin-shuffling", "sliding": True, "alpha": 0.2},
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_parameters_repeat_spade(options):
    spikes = simulate.patterns(units=30, patterns=(5, 3), occurrences=12, seed=1).spikes
    found = spikeweave.spade(spikes, **options)

    again = spikeweave.spade(found.spikes, **found.parameters)

    assert set(found.parameters) == arguments(spikeweave.spade)
    assert found.parameters == again.parameters
    assert found.input == again.input
    assert found.funnel == again.funnel
    for name in ("offsets", "units", "lag_bins", "counts", "times", "p", "q"):
        one, other = getattr(found, name), getattr(again, name)
        assert (one is None) == (other is None)
        assert one is None or np.array_equal(one, other), name


def same_sorting(one, other):
    assert np.array_equal(one.labels, other.labels)
    assert one.score == other.score
    assert one.parameters == other.parameters


def test_parameters_repeat_a_sorting():
    made = simulate.recording(channels=8, units=3, length="5s", low_peak=150, seed=1)
    found = spikeweave.sort(
        made.recording, starting_clusters="auto", deletions="all", strong_threshold=5
    )

    assert set(found.parameters) == arguments(spikeweave.sort)
    assert found.parameters["reference"] == "none"
    same_sorting(found, spikeweave.sort(made.recording, **found.parameters))


def test_parameters_repeat_a_sorting_of_an_array():
    made = simulate.recording(channels=8, units=3, length="5s", low_peak=150, seed=1)
    samples = made.recording.samples(0, made.recording.frames)
    found = spikeweave.sort(samples, sample_rate=30_000, gain=0.2, split_start="random", seed=3)

    assert found.parameters["gain"] == 0.2
    same_sorting(found, spikeweave.sort(samples, **found.parameters))


@pytest.mark.parametrize(
    "options",
    [
        {"incremental": True, "first_fit": 300, "refit_above": 3.0},
        {"start": "labels", "max_iterations": 5},
        {"start": "labels", "only_clusters": [2]},
        {"start": "clusters.npz", "only_clusters": [1, 3]},
        {"model": "model.npz"},
        {"exact_variances": True, "penalty_k": 0.5, "penalty_k_log_n": 0, "splits": False},
    ],
)
@pytest.mark.filterwarnings("ignore:Stopped before convergence")
def test_parameters_repeat_a_sorting_that_begins_with_something(options, tmp_path):
    made = simulate.features(spikes=1000, units=3, channels=4, seed=1)
    data = {"samples": made.samples, "sample_rate": made.sample_rate}
    first = spikeweave.sort_features(
        made.features, made.masks, save_model=tmp_path / "model.npz", **data
    )
    np.savez(tmp_path / "clusters.npz", labels=first.labels)
    for name in ("start", "model"):
        if str(options.get(name)).endswith(".npz"):
            options = {**options, name: tmp_path / options[name]}
    if options.get("start") == "labels":
        options = {**options, "start": first.labels}

    found = spikeweave.sort_features(made.features, made.masks, **data, **options)
    again = spikeweave.sort_features(
        made.features, made.masks, samples=made.samples, **found.parameters
    )

    assert np.array_equal(found.labels, again.labels)
    assert found.units["spikes"].tolist() == again.units["spikes"].tolist()
    for name, value in options.items():
        recorded = found.parameters[name]
        assert np.array_equal(recorded, str(value) if name == "model" else value) or (
            recorded == str(value)
        )


@pytest.mark.parametrize("with_masks", [True, False])
def test_parameters_repeat_a_sorting_of_features(with_masks):
    made = simulate.features(spikes=1000, units=3, channels=4, seed=1)
    masks = made.masks if with_masks else None
    found = spikeweave.sort_features(
        made.features, masks, samples=made.samples, sample_rate=made.sample_rate, stop="seed"
    )

    again = spikeweave.sort_features(made.features, masks, samples=made.samples, **found.parameters)

    assert found.parameters["mask"] == (None if with_masks else "mad")
    same_sorting(found, again)
