"""`spikeweave.spade` and its results."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spikeweave

BIN = 0.005


@pytest.fixture(scope="module")
def planted():
    return spikeweave.simulate.patterns(units=30, patterns=(5, 4), occurrences=14, seed=3)


def closed_patterns(trains_bins, window, min_occ, min_spikes):
    """Return all closed patterns with a spike in the first bin, by intersecting windows."""
    fired = sorted({b for train in trains_bins for b in train})
    windows = {
        start: frozenset(
            (unit, b - start)
            for unit, train in enumerate(trains_bins)
            for b in train
            if 0 <= b - start < window
        )
        for start in fired
    }
    closed = set(windows.values())
    for _ in range(len(windows)):
        more = {a & b for a, b in itertools.combinations(closed, 2)} - closed - {frozenset()}
        if not more:
            break
        closed |= more
    found = {}
    for items in closed:
        starts = [start for start, held in windows.items() if items <= held]
        begins = any(lag == 0 for _, lag in items)
        if begins and len(items) >= min_spikes and len(starts) >= min_occ:
            found[items] = starts
    return found


binned = st.lists(st.lists(st.integers(0, 14), max_size=8, unique=True), min_size=2, max_size=4)


def test_a_long_search_prints_its_estimate_first(capfd):
    made = spikeweave.simulate.sym26(length="10s", seed=1)
    # The surrogates alone are expected to take longer than ten seconds.
    long = {"min_occ": 20, "min_spikes": 3, "surrogates": 1_000_000}

    class StopError(Exception):
        pass

    def stop(task: str, done: int, total: int) -> None:
        if done > 0 and "surrogate" in task:
            raise StopError

    with pytest.raises(StopError):
        spikeweave.spade(made.spikes, progress=stop, **long)
    told = capfd.readouterr().err
    assert re.match(r"spikeweave: estimate: (about|more than) [\d,]+ candidates, ", told)
    assert "for 1,000,000 surrogates on" in told
    spikeweave.spade(made.spikes, min_occ=20, min_spikes=3, max_spikes=3)
    assert capfd.readouterr().err == ""


@settings(max_examples=60, deadline=None)
@given(binned, st.integers(1, 5), st.integers(1, 3), st.integers(1, 3))
def test_patterns_are_the_closed_ones(bins, window, min_occ, min_spikes):
    trains = [[(b + 0.5) * BIN for b in train] for train in bins]
    spikes = spikeweave.SpikeSequence.of(trains, t_start=0, t_stop=20 * BIN)

    found = _quiet(
        spikes,
        bin=BIN,
        window=window,
        min_occ=min_occ,
        min_spikes=min_spikes,
        subset_filter=False,
    )

    mined = {}
    for i in range(len(found)):
        items = slice(found.offsets[i], found.offsets[i + 1])
        starts = slice(found.occurrence_offsets[i], found.occurrence_offsets[i + 1])
        pattern = zip(found.units[items].tolist(), found.lag_bins[items].tolist(), strict=True)
        mined[frozenset(pattern)] = found.windows[starts].tolist()
    assert mined == closed_patterns(bins, window, min_occ, min_spikes)


def test_planted_patterns_are_found_and_nothing_else(planted):
    found = _quiet(planted.spikes, surrogates=300, reduce="0,0,0", alpha=0.05, seed=1)

    names = planted.spikes.unit_names
    expected = {
        (tuple(names[u] for u in one.units), tuple(np.round(one.lags, 6)))
        for one in planted.patterns
    }
    assert {(one.units, tuple(np.round(one.lags, 6))) for one in found} == expected
    assert (found.p <= 0.05).all()
    steps = [step["step"] for step in found.funnel]
    assert steps[0] == "closed patterns"
    assert "significance" in steps
    assert found.funnel[-1]["left"] == len(found)


@pytest.mark.parametrize("threads", [2, 3])
def test_one_seed_gives_one_result(planted, threads):
    one = _quiet(planted.spikes, surrogates=50, seed=9, threads=1)
    other = _quiet(planted.spikes, surrogates=50, seed=9, threads=threads)

    for name in ("offsets", "units", "lag_bins", "counts", "windows", "p", "q"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert all(
        np.array_equal(one.pvalue_spectrum[key], other.pvalue_spectrum[key])
        for key in one.pvalue_spectrum
    )
    assert one.parameters | {"threads": 0} == other.parameters | {"threads": 0}


def test_times_are_those_of_the_recording(planted):
    found = _quiet(planted.spikes, min_occ=12, min_spikes=5)
    trains = planted.spikes.trains()
    names = planted.spikes.unit_names

    for pattern in found:
        for unit, lag in zip(pattern.units, pattern.lags, strict=True):
            train = trains[names.index(unit)]
            for time in pattern.times:
                inside = (train >= time + lag - 1e-9) & (train < time + lag + BIN)
                assert inside.any()


def test_epochs_are_mined_without_the_gaps(planted):
    epochs = np.array([[0.0, 2.0], [5.0, 8.0]])

    found = _quiet(planted.spikes, epochs=epochs, min_occ=3, min_spikes=3)

    assert len(found) > 0
    inside = (found.times[:, None] >= epochs[:, 0] - BIN) & (found.times[:, None] < epochs[:, 1])
    assert inside.any(axis=1).all()


def test_thresholds_by_size(planted):
    by_size = _quiet(planted.spikes, min_occ={2: 60, 3: 12})
    rules = _quiet(
        planted.spikes,
        rules=[
            {"min_occ": 60, "min_spikes": 2, "max_spikes": 2},
            {"min_occ": 12, "min_spikes": 3},
        ],
    )

    assert by_size.parameters["rules"] == rules.parameters["rules"]
    assert np.array_equal(by_size.counts, rules.counts)


def test_binned_trains_bring_their_bins(planted):
    conversion = pytest.importorskip("elephant.conversion")
    quantities = pytest.importorskip("quantities")
    trains = planted.spikes.to_neo()
    binned_trains = conversion.BinnedSpikeTrain(trains, bin_size=4 * quantities.ms)

    found = _quiet(binned_trains, min_occ=10, min_spikes=3)

    assert found.parameters["bin"] == 0.004
    with pytest.raises(ValueError, match="bin"):
        _quiet(binned_trains, bin=0.005, min_occ=10)


def test_patterns_for_elephant_are_those_of_elephant(planted):
    pytest.importorskip("quantities")
    found = _quiet(planted.spikes, min_occ=12, min_spikes=4, spectrum="3d#")

    for pattern, theirs in zip(found, found.to_elephant(), strict=True):
        assert set(theirs) == {
            "itemset",
            "windows_ids",
            "neurons",
            "lags",
            "times",
            "signature",
            "pvalue",
        }
        assert np.allclose(theirs["lags"].rescale("s").magnitude, pattern.lags[1:])
        assert np.allclose(theirs["times"].rescale("s").magnitude, pattern.times)
        assert theirs["signature"][:2] == (pattern.size, pattern.count)
        assert theirs["pvalue"] == -1


def test_nwb_holds_the_patterns(planted, tmp_path):
    pynwb = pytest.importorskip("pynwb")
    found = _quiet(planted.spikes, surrogates=100, seed=1)

    found.to_nwb(tmp_path / "patterns.nwb")

    with pynwb.NWBHDF5IO(str(tmp_path / "patterns.nwb"), "r") as io:
        table = io.read().processing["ecephys"]["spade_patterns"]
        assert table["count"][:].tolist() == found.counts.tolist()
        assert list(table["units"][0]["unit_name"]) == list(found[0].units)
        assert np.allclose(table["times"][0], found[0].times)
        assert table["p_value"][:].tolist() == found.p.tolist()


@pytest.mark.parametrize("window", ["100ms", "0.1 s"])
def test_a_window_of_time_is_its_number_of_bins(planted, window):
    options = {"bin": "5ms", "min_occ": 12, "min_spikes": 3}

    timed = _quiet(planted.spikes, window=window, **options)
    counted = _quiet(planted.spikes, window=20, **options)

    assert timed.parameters == counted.parameters
    assert timed.lag_bins.tolist() == counted.lag_bins.tolist()
    assert timed.windows.tolist() == counted.windows.tolist()
    with pytest.raises(ValueError, match="window"):
        _quiet(planted.spikes, window="12ms", **options)


def test_frames_and_graphs_have_all_patterns(planted):
    pytest.importorskip("networkx")
    found = _quiet(planted.spikes, min_occ=12, min_spikes=3)

    frame = found.to_dataframe()

    assert frame["count"].tolist() == found.counts.tolist()
    assert frame["units"].tolist() == [one.units for one in found]
    assert found.to_networkx().number_of_edges() == int((found.sizes - 1).sum())


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"bin": 0}, ValueError, "bin"),
        ({"bin": "5 volts"}, ValueError, "bin"),
        ({"window": 0}, ValueError, "window"),
        ({"window": 2.5}, TypeError, "window"),
        ({"min_occ": "many"}, TypeError, "min_occ"),
        ({"min_occ": 0}, ValueError, "min_occ"),
        ({"min_occ": {}}, ValueError, "min_occ"),
        ({"min_spikes": 0}, ValueError, "min_spikes"),
        ({"min_spikes": 5, "max_spikes": 3}, ValueError, "max_spikes"),
        ({"rules": [3]}, TypeError, "rules"),
        ({"rules": [{"min_occurrences": 3}]}, TypeError, "min_occurrences"),
        ({"epochs": [[1, 0]]}, ValueError, "epoch"),
        ({"epochs": [1, 2]}, TypeError, "epochs"),
        ({"epochs": [[0, 1]], "t_start": 0.5}, ValueError, "epochs"),
        ({"surrogates": -1}, ValueError, "surrogates"),
        ({"surrogates": 10, "alpha": 0}, ValueError, "alpha"),
        ({"surrogates": 10, "surrogate_method": "magic"}, ValueError, "surrogate_method"),
        ({"surrogates": 10, "surrogate_method": "trial-shifting"}, ValueError, "trial_length"),
        ({"spectrum": "4d"}, ValueError, "spectrum"),
        ({"reduce": (1, 2)}, ValueError, "reduce"),
        ({"reduce": "1,2"}, ValueError, "reduce: '1,2' is not H,K,L"),
        ({"reduce": 3}, TypeError, "reduce"),
        ({"stability_threshold": (0.1, 0.1)}, ValueError, "stab"),
        ({"stability": (2.0, 0.1)}, ValueError, "delta|stability"),
        ({"compat": "matlab"}, ValueError, "compat"),
        ({"device": "cuda", "strategy": "fp-growth"}, ValueError, "device"),
        ({"surrogates": 10, "device": "gpu"}, ValueError, "device"),
        ({"rules": [{"min_occ": 3}], "min_occ": 4}, ValueError, "rules"),
        ({"surrogates": 10, "sliding": True}, ValueError, "sliding"),
        ({"t_start": 3, "t_stop": 2}, ValueError, "t_start"),
    ],
)
def test_bad_arguments_are_named(planted, arguments, kind, says):
    with pytest.raises(kind, match=says):
        _quiet(planted.spikes, **arguments)


def _quiet(spikes, **arguments):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spikeweave.spade(spikes, **arguments)


def test_a_search_of_days_does_not_begin():
    made = spikeweave.simulate.poisson(units=100, rate=30, length=60, seed=1)
    with pytest.raises(ValueError, match=r"which is too long to begin: a larger min_occ"):
        spikeweave.spade(made.spikes, window=40, min_occ=2, min_spikes=2)


def test_what_was_held_out_and_another_recording_replicate_patterns():
    made = [
        spikeweave.simulate.patterns(
            units=8, patterns=(4,), length="24s", occurrences=50, seed=seed
        ).spikes
        for seed in (1, 2)
    ]
    asked = {
        "window": 10,
        "min_occ": 8,
        "min_spikes": 3,
        "surrogates": 59,
        "seed": 1,
        "alpha": 0.05,
    }
    for more in ({"hold_out": 0.5, "hold_out_block": "2s"}, {"confirm": made[1]}):
        found = spikeweave.spade(made[0], reduce=(0, 0, 0), **asked, **more)
        other = found.replication
        assert other["tested"] == len(found) == len(other["p"]) > 0
        assert other["replicated"] == (other["q"] < 0.05).sum() > 0
        assert (other["counts"] > other["expected"]).all()
        assert len(found[:1].replication["p"]) == 1
        parts = other.get("searched_epochs")
        assert ("hold_out" in more) == (parts is not None)
        searched = 24 if parts is None else np.diff(parts).sum()
        assert other["searched_seconds"] == pytest.approx(searched, abs=1e-6)
        assert found.parameters["hold_out"] == more.get("hold_out")
        if "hold_out" in more:
            again = spikeweave.spade(made[0], **found.parameters)
            assert (again.replication["p"] == other["p"]).all()
    lacking = made[1].select(made[1].unit_names[1:])
    with pytest.warns(UserWarning, match="not in the other recording: n0"):
        found = spikeweave.spade(made[0], confirm=lacking, reduce=(0, 0, 0), **asked)
    assert found.replication["missing_units"] == ["n0"]
    assert found.replication["counts"].min() == -1
    with pytest.raises(ValueError, match="surrogates"):
        spikeweave.spade(made[0], confirm=made[1], min_occ=8)
