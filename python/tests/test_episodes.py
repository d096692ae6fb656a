"""`spikeweave.episodes` and its results."""

import itertools
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spikeweave

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from page_data import data_of


def brute_force(trains, units, delays):
    """Return the largest number of non-overlapped occurrences, earliest end first."""
    times = [[round(t * 1e6) for t in train] for train in trains]
    bounds = [(round(low * 1e6), round(high * 1e6)) for low, high in delays]
    spans = []
    for chosen in itertools.product(*(times[u] for u in units)):
        steps = zip(itertools.pairwise(chosen), bounds, strict=True)
        if all(low < b - a <= high for (a, b), (low, high) in steps):
            spans.append((chosen[-1], chosen[0]))
    count, free = 0, -1
    for end, start in sorted(spans):
        if start > free:
            count, free = count + 1, end
    return count


milliseconds = st.lists(st.integers(0, 60), min_size=0, max_size=9, unique=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(milliseconds, min_size=2, max_size=3), st.integers(0, 4), st.integers(1, 6))
def test_counts_are_those_of_the_definition(trains_ms, low_ms, width_ms):
    trains = [[t * 1e-3 for t in sorted(train)] for train in trains_ms]
    interval = (low_ms * 1e-3, (low_ms + width_ms) * 1e-3)

    found = spikeweave.episodes(trains, delays=[interval], min_count=1, max_size=3, ties="time")

    for one in found:
        units = [int(name) for name in one.units]
        assert one.count == brute_force(trains, units, one.delays), one
    mined = {one.units for one in found if one.size == 2}
    for pair in itertools.permutations(range(len(trains)), 2):
        if brute_force(trains, pair, [interval]) > 0:
            assert tuple(str(u) for u in pair) in mined


def test_the_planted_chains_are_the_chains(sym26):
    found = spikeweave.episodes(sym26.spikes, delays=[(0.004, 0.006)], min_count=200)

    names = sym26.spikes.unit_names
    assert {found[i].units for i in found.chains} == {
        tuple(names[u] for u in chain) for chain in sym26.chains
    }
    edges = {(names[s], names[t]) for s, t in zip(sym26.source, sym26.target, strict=True)}
    frame = found.circuit.to_dataframe()
    assert set(zip(frame["source"], frame["target"], strict=True)) == edges


def test_edges_have_their_timing(sym26):
    circuit = spikeweave.episodes(sym26.spikes, delays="3-6ms", min_count=200).circuit

    # The planted delay is 5 ticks of 1 ms.
    assert np.all(np.abs(circuit.mean_delay - 0.005) < 0.0002)
    assert np.all(circuit.mean_delay_low < circuit.mean_delay)
    assert np.all(circuit.mean_delay < circuit.mean_delay_high)
    assert np.all(circuit.asymmetry > 0.5)
    assert set(circuit.cut) == {"no"}
    assert circuit.synchronous.dtype == np.int64
    assert np.all(circuit.synchronous_expected > 0)


def test_occurrences_are_as_many_as_counted_and_fit_their_delays(sym26):
    found = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=200)

    for i in found.chains:
        times = found.occurrences(i)
        steps = np.diff(times, axis=1)

        assert len(times) == found.counts[i]
        assert ((steps > 0.004) & (steps < 0.006 + 1e-9)).all()
        assert (times[1:, 0] > times[:-1, -1]).all()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_one_seed_gives_one_result(sym26, threads):
    def run(how_many):
        return spikeweave.episodes(
            sym26.spikes, delays="4-6ms", min_count=300, surrogates=20, seed=5, threads=how_many
        )

    one, other = run(1), run(threads)

    assert (one.counts == other.counts).all()
    by = one.by_surrogates
    assert (one.q == np.maximum(by["tail_q"], by["p"])).all()
    assert (one.expected == by["mean_count"]).all()
    assert (one.by_surrogates["mean_count"] == other.by_surrogates["mean_count"]).all()
    assert one.parameters | {"threads": 0} == other.parameters | {"threads": 0}


def test_a_sequence_of_episodes_behaves_as_one(sym26):
    found = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=200)

    assert len(list(found)) == len(found) == len(found.to_dataframe())
    assert found[-1] == found[len(found) - 1]
    assert [one.count for one in found[:3]] == found.counts[:3].tolist()
    assert (spikeweave.count_episodes(sym26.spikes, found[-20:]) == found.counts[-20:]).all()
    with pytest.raises(IndexError):
        found[len(found)]


@pytest.mark.parametrize("strategy", spikeweave.episode_strategies())
def test_every_strategy_counts_the_same(sym26, strategy):
    wanted = [(["n4", "n5", "n6"], [(0.004, 0.006)] * 2), ([0, 1], [(0.001, 0.005)])]

    counts = spikeweave.count_episodes(sym26.spikes, wanted, strategy=strategy)

    assert counts.tolist() == spikeweave.count_episodes(sym26.spikes, wanted).tolist()


def test_given_episodes_are_counted_and_tested(sym26):
    found = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=200)
    chains = found[found.chains]

    counted = spikeweave.count(sym26.spikes, chains)
    assert isinstance(counted, spikeweave.EpisodeResult)
    assert [one.units for one in counted] == [one.units for one in chains]
    assert counted.counts.tolist() == chains.counts.tolist()
    assert (counted.q < 0.01).all()
    assert counted.pairs is None
    assert len(counted.circuit) == 0  # no pair is given
    assert "min_count" not in counted.parameters
    assert "delays" not in counted.parameters

    again = spikeweave.count(counted.spikes, chains, **counted.parameters)
    assert list(again) == list(counted)


def test_given_episodes_are_counted_in_epochs_and_surrogates(sym26):
    pair = [(["n4", "n5"], [(0.004, 0.006)])]
    options = {"epochs": [(0, 10), (20, 30)], "surrogates": 20, "seed": 1}

    with pytest.warns(UserWarning, match="surrogates"):
        counted = spikeweave.count(sym26.spikes, pair, **options)

    whole = spikeweave.count_episodes(sym26.spikes, pair)
    assert 0 < counted.counts[0] < whole[0]
    assert counted.by_surrogates is not None
    assert counted.parameters["surrogates"] == 20
    with pytest.raises(TypeError, match="no argument 'min_count'"):
        spikeweave.count(sym26.spikes, pair, min_count=5)
    with pytest.raises(TypeError, match=r"no argument 'count_only' \(spikeweave.count has it\)"):
        spikeweave.episodes(sym26.spikes, count_only=pair)


def test_a_graph_has_the_circuit(sym26):
    pytest.importorskip("networkx")
    found = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=200)

    graph = found.to_networkx()

    assert graph.number_of_nodes() == len(sym26.spikes.unit_names)
    assert graph.number_of_edges() == len(found.circuit) == 10
    edge = graph.edges["n4", "n5", 0]
    assert (edge["delay_low"], edge["delay_high"]) == tuple(found.circuit.delay[0])
    assert edge["sign"] == "excitatory"
    assert edge["gain_low"] < edge["gain"] < edge["gain_high"]


def test_nwb_holds_the_episodes(sym26, tmp_path):
    pynwb = pytest.importorskip("pynwb")
    found = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=300)

    found.to_nwb(tmp_path / "episodes.nwb")

    with pynwb.NWBHDF5IO(str(tmp_path / "episodes.nwb"), "r") as io:
        nwbfile = io.read()
        table = nwbfile.processing["ecephys"]["episodes"]
        assert table["count"][:].tolist() == found.counts.tolist()
        last = table["units"][len(found) - 1]
        assert list(last["unit_name"]) == list(found[-1].units)
        assert table["delay_low"][len(found) - 1].tolist() == [low for low, _ in found[-1].delays]
    assert spikeweave.read(tmp_path / "episodes.nwb") == sym26.spikes
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"delays": 5}, TypeError, "delays"),
        ({"delays": [(0.005, 0.001)]}, ValueError, "delay"),
        ({"delays": "5-1ms"}, ValueError, "delay"),
        ({"delays": [(0.001, 0.002, 0.003)]}, TypeError, "delays"),
        ({"min_count": 0}, ValueError, "min_count"),
        ({"min_count": -3}, ValueError, "min_count"),
        ({"min_count": 2.5}, TypeError, "min_count"),
        ({"min_count": True}, TypeError, "min_count"),
        ({"min_count": 3, "min_rate": 0.1}, ValueError, "min_count"),
        ({"min_fraction": 2.0}, ValueError, "min_fraction"),
        ({"min_rate": float("nan")}, ValueError, "min_rate"),
        ({"alpha": "small"}, TypeError, "alpha"),
        ({"alpha": 7}, ValueError, "alpha"),
        ({"ties": "maybe"}, ValueError, "ties"),
        ({"strategy": "guess"}, ValueError, "strategy"),
        ({"correction": "fdr_tsbh"}, ValueError, "correction"),
        ({"surrogates": 10, "dither": -1}, ValueError, "dither"),
        ({"dither": [1]}, TypeError, "dither"),
        ({"seed": -1}, ValueError, "seed"),
        ({"threads": -1}, ValueError, "threads"),
        ({"threads": 10**6}, ValueError, "threads"),
        ({"device": "tpu"}, ValueError, "device"),
        ({"device": 0}, TypeError, "device"),
        ({"progress": "yes"}, TypeError, "progress"),
    ],
)
def test_bad_arguments_are_named(arguments, kind, says):
    with pytest.raises(kind, match=says):
        spikeweave.episodes([[0.1, 0.2], [0.15]], **arguments)


@pytest.mark.parametrize(
    ("episodes", "kind"),
    [
        ([(["n0", "nowhere"], [(0, 0.1)])], ValueError),
        ([(["n0"], [(0, 0.1)])], ValueError),
        ([42], TypeError),
        ([([0, 99], [(0, 0.1)])], ValueError),
    ],
)
def test_episodes_that_cannot_be_are_named(sym26, episodes, kind):
    with pytest.raises(kind, match="^episodes: number 0"):
        spikeweave.count_episodes(sym26.spikes, episodes)


def test_a_gpu_that_is_not_there_is_an_error(sym26):
    if spikeweave.devices():
        pytest.skip("there is a GPU")
    with pytest.raises((spikeweave.DeviceError, ValueError), match="CUDA|GPU|driver"):
        spikeweave.episodes(sym26.spikes, device="cuda", min_count=300)


def test_quantities_and_texts_are_times(sym26):
    quantities = pytest.importorskip("quantities")
    texts = spikeweave.episodes(sym26.spikes, delays=["4-6ms"], min_count=300)
    numbers = spikeweave.episodes(
        sym26.spikes,
        delays=[(4 * quantities.ms, 0.006)],
        min_count=300,
        surrogates=5,
        dither=20 * quantities.ms,
    )

    assert (texts.counts == numbers.counts).all()


def trial_spikes():
    """Pairs a, b over the edge of every second and within it."""
    starts = np.arange(20)
    trains = {
        "a": np.sort([*(starts + 0.998), *(starts + 0.5)]),
        "b": np.sort([*(starts + 0.505), *(starts + 1.003)]),
    }
    return spikeweave.SpikeSequence.of(trains, t_start=0, t_stop=25)


def test_epochs_keep_occurrences_apart():
    pairs = [(i, i + 1) for i in range(10)]
    found = spikeweave.episodes(trial_spikes(), epochs=pairs, delays="4-6ms", min_count=5)

    count = {one.units: one.count for one in found}
    assert count == {("a",): 20, ("b",): 19, ("a", "b"): 10}
    assert found.spikes.epochs.tolist() == [list(pair) for pair in pairs]
    index = next(i for i, one in enumerate(found) if one.size == 2)
    assert found.occurrences(index).shape == (10, 2)
    again = spikeweave.episodes(found.spikes, **found.parameters)
    assert again.counts.tolist() == found.counts.tolist()
    assert again.spikes == found.spikes
    rate = spikeweave.episodes(found.spikes, delays="4-6ms", min_rate=1.0)
    assert rate.threshold == 10


def test_times_and_trials_choose_a_part():
    spikes = trial_spikes()
    part = spikeweave.episodes(spikes, t_start=5, t_stop="9s", min_count=2).spikes
    assert (part.t_start, part.t_stop, part.epochs) == (5, 9, None)
    trials = spikeweave.episodes(
        spikes, t_start=5, t_stop=9, trial_length=1, trial_separation=0.5, min_count=2
    )
    assert trials.spikes.epochs.tolist() == [[5, 6], [6.5, 7.5], [8, 9]]
    with pytest.raises(ValueError, match="epochs"):
        spikeweave.episodes(spikes, t_start=5, epochs=[(1, 2)])
    with pytest.warns(UserWarning, match="outside of the recording"):
        spikeweave.episodes(spikes, epochs=[(20, 30)], min_count=2)


def test_epochs_stay_with_their_spikes():
    spikes = spikeweave.episodes(trial_spikes(), epochs=[(0, 2), (3, 5)], min_count=2).spikes
    assert pickle.loads(pickle.dumps(spikes)) == spikes
    assert spikes.select(["a"]).epochs.tolist() == [[0, 2], [3, 5]]
    assert spikes.select(t_start=1, t_stop=4).epochs[0].tolist() == [1, 2]
    named = spikeweave.SpikeSequence.of(spikes, unit_names=["x", "y"])
    assert named.epochs.tolist() == [[0, 2], [3, 5]]


def labelled_epochs():
    """The same three epochs in every form that has labels."""
    neo, pynapple, pandas = (pytest.importorskip(name) for name in ("neo", "pynapple", "pandas"))
    begins, labels = np.array([0.0, 5.0, 10.0]), ["left", "right", "left"]
    rows = {"start_time": begins, "stop_time": begins + 4}
    return {
        "texts": [(begin, begin + 4, label) for begin, label in zip(begins, labels, strict=True)],
        "times": [("0s", "4s", "left"), ("5000ms", 9, "right"), (10, "14s", "left")],
        "neo": neo.Epoch(begins * 1e3, np.full(3, 4000), labels, units="ms"),
        "pynapple": pynapple.IntervalSet(begins, begins + 4, metadata={"condition": labels}),
        "table": pandas.DataFrame({**rows, "note": "abc", "stimulus": labels}),
    }


@pytest.mark.filterwarnings("ignore:.*spikes are in no epoch")
@pytest.mark.parametrize("form", ["texts", "times", "neo", "pynapple", "table"])
def test_epochs_have_labels(form, tmp_path):
    epochs = labelled_epochs()[form]
    search = {"delays": "4-6ms", "min_count": 2}
    found = spikeweave.episodes(trial_spikes(), epochs=epochs, **search)

    plain = spikeweave.episodes(trial_spikes(), epochs=[(0, 4), (5, 9), (10, 14)], **search)
    assert found.counts.tolist() == plain.counts.tolist()
    assert data_of(found.to_html())["spikes"]["epoch_labels"] == ["left", "right", "left"]
    assert "epoch_labels" not in data_of(plain.to_html())["spikes"]
    found.save(tmp_path / "found")
    for again in (pickle.loads(pickle.dumps(found)), spikeweave.load(tmp_path / "found")):
        assert data_of(again.to_html())["spikes"]["epoch_labels"] == ["left", "right", "left"]
    counted = spikeweave.count(trial_spikes(), found, epochs=epochs)
    assert data_of(counted.to_html())["spikes"]["epoch_labels"] == ["left", "right", "left"]


def test_labels_of_epochs_are_printable_texts():
    with pytest.raises(ValueError, match=r"epochs: found the label 'a\\x1b', expected printable"):
        spikeweave.episodes(trial_spikes(), epochs=[(0, 4, "a\x1b")], min_count=2)
    with pytest.raises(
        TypeError, match=r"epochs: expected pairs of a begin and an end, found \(0, 4"
    ):
        spikeweave.episodes(trial_spikes(), epochs=[(0, 4, "a"), (5, 9)], min_count=2)


def test_epochs_lie_around_events():
    with pytest.warns(UserWarning, match="1 of 3 epochs around events is shorter"):
        epochs = spikeweave.epochs_around([1.0, 1.3, 4.0], start=-0.1, stop="400ms")
    assert epochs.tolist() == [[0.9, 1.2], [1.2, 1.7], [3.9, 4.4]]
    with pytest.raises(ValueError, match="around an event"):
        spikeweave.epochs_around([1.0], start=0.1, stop=0.1)
    with pytest.raises(ValueError, match="order"):
        spikeweave.epochs_around([2.0, 1.0], start=0, stop=1)


def test_what_was_held_out_replicates_planted_chains():
    spikes = spikeweave.simulate.sym26(length="60s", seed=1).spikes
    found = spikeweave.episodes(spikes, hold_out=0.5, hold_out_block="2s", max_size=2)

    search = found.search
    assert len(search["p"]) == len(search["counts"]) == len(found)
    assert (search["p"] < found.parameters["alpha"]).all()
    both = (search["q"] < 0.01) & (found.q < 0.01)
    assert search["significant"] == (search["q"] < 0.01).sum() >= 10
    assert search["replicated"] == both.sum() >= 10
    assert found.spikes.epochs[:, 0].tolist() == list(range(2, 60, 4))
    assert found[:3].search["counts"].tolist() == search["counts"][:3].tolist()
    assert "search_p" in found.to_html()


def test_another_recording_confirms_planted_chains():
    first, other = (spikeweave.simulate.sym26(length="20s", seed=seed).spikes for seed in (1, 2))
    lacking = other.select([name for name in other.unit_names if name != "n3"])
    with pytest.warns(UserWarning, match="1 of 26 units is not in the other recording: n3"):
        found = spikeweave.episodes(first, confirm=lacking, max_size=2)

    search = found.search
    assert found.spikes == lacking
    assert len(search["p"]) == len(search["counts"]) == len(found)
    both = (search["q"] < 0.01) & (found.q < 0.01)
    assert search["significant"] == (search["q"] < 0.01).sum()
    assert search["replicated"] == both.sum() >= 8
    assert search["seconds"] == 20
    assert search["missing_units"] == ["n3"]
    assert all("n3" in one.units and one.p < 0.01 for one in search["untested"])
    edge = next(one for one in search["untested"] if one.units == ("n2", "n3"))
    direct = spikeweave.episodes(first, max_size=2)
    assert edge in list(direct)
    assert found[:3].search["untested"] == search["untested"]
    assert pickle.loads(pickle.dumps(found)).search["missing_units"] == ["n3"]
    assert data_of(found.to_html())["run"]["confirm"]["untested"] == len(search["untested"])
    whole = spikeweave.episodes(first, confirm=other, max_size=2)
    assert whole.search["missing_units"] == whole.search["untested"] == []


def test_what_cannot_confirm_is_refused():
    first, other = (spikeweave.simulate.sym26(length="10s", seed=seed).spikes for seed in (1, 2))
    with pytest.raises(ValueError, match="hold_out"):
        spikeweave.episodes(first, confirm=other, hold_out=0.5)
    with pytest.raises(ValueError, match="the same spikes"):
        spikeweave.episodes(first, confirm=first)
    with pytest.raises(ValueError, match="no unit is in both"):
        spikeweave.episodes(first, confirm={"x": [0.1, 0.2]})
    with pytest.raises(TypeError):
        spikeweave.episodes(first, confirm=3)


@pytest.fixture(scope="module")
def silenced():
    """A is followed by a gap of B of 3 ms, C fires at random, and D once."""
    spikes = spikeweave.simulate.poisson(units=3, length="120s", rate=30, seed=1).spikes
    a, b, c = (spikes.times[spikes.units == unit] for unit in range(3))
    gap = b - a[np.maximum(np.searchsorted(a, b) - 1, 0)]
    return spikeweave.SpikeSequence.of(
        {"A": a, "B": b[(gap < 0.001) | (gap > 0.004)], "C": c, "D": [1.0]}
    )


def test_a_silenced_unit_is_inhibited(silenced):
    circuit = spikeweave.episodes(silenced, max_size=2).circuit

    assert (circuit.sign, circuit.kind) == (["inhibitory"], ["direct"])
    assert (circuit.source.tolist(), circuit.target.tolist()) == ([0], [1])
    low, high = circuit.delay[0]
    assert low == pytest.approx(0.001, abs=0.0006)
    assert high == pytest.approx(0.004, abs=0.0006)
    assert circuit.gain[0] == pytest.approx(circuit.count[0] / circuit.expected[0])
    assert 0 <= circuit.gain_low[0] <= circuit.gain[0] <= circuit.gain_high[0] < 0.5
    sources = np.sum(silenced.units == 0)
    transmission = (circuit.count[0] - circuit.expected[0]) / sources
    assert circuit.transmission[0] == pytest.approx(transmission)
    assert circuit.transmission_low[0] < transmission < circuit.transmission_high[0] < 0
    assert "1 of these inhibitory" in repr(circuit)
    frame = circuit.to_dataframe()
    assert frame["sign"].tolist() == ["inhibitory"]
    assert frame["delay_low_ms"].tolist() == pytest.approx(circuit.delay[:, 0] * 1000)
    assert frame["best_delay_high_ms"].tolist() == pytest.approx(circuit.best_delay[:, 1] * 1000)
    assert frame["gain_high"].tolist() == circuit.gain_high.tolist()
    assert "inhibitory" in circuit._repr_html_()


def test_all_pairs_are_tested(silenced):
    found = spikeweave.episodes(silenced, max_size=2)
    pairs = found.pairs

    assert (pairs.possible, pairs.tested) == (12, 6)
    assert pairs.untested_units == ["D"]
    assert (pairs.source[0], pairs.target[0], pairs.sign[0]) == (0, 1, "inhibitory")
    assert pairs.kind[0] == "direct"
    assert set(pairs.kind[1:]) == {None}
    assert not pairs.slow[0]
    assert pairs.slow.dtype == bool
    assert (np.diff(pairs.p) >= 0).all()
    assert (pairs.q >= pairs.p).all()
    assert (pairs.p < pairs.listed_below).all() or pairs.listed_below == 1
    assert pairs.gain == pytest.approx(pairs.count / pairs.expected)
    frame = pairs.to_dataframe()
    assert len(frame) == len(pairs) == len(pairs.p)
    assert frame.loc[0, ["source", "target", "kind"]].tolist() == ["A", "B", "direct"]
    assert repr(pairs) == f"<PairTests: 6 of 12 pairs tested, {len(pairs)} listed>"
    assert found[:1].pairs is pairs
    assert pickle.loads(pickle.dumps(found)).pairs.kind == pairs.kind
    assert found.summary == (
        "1 connection (0 excitatory, 1 inhibitory) among 4 units; 6 of 12 pairs of units tested, "
        "1 % false discovery rate."
    )
    told = data_of(found.to_html())["run"]
    assert told["summary"] == found.summary
    assert pickle.loads(pickle.dumps(found)).summary == found.summary
    assert told["circuit"]["pairs"] == {
        "tested": 6,
        "possible": 12,
        "listed_below": 1,
        "untested_units": ["D"],
    }


def test_surrogates_and_other_tests_decide_without_pairs(silenced):
    for options in ({"surrogates": 100}, {"test": "exact"}):
        found = spikeweave.episodes(silenced, max_size=2, **options)
        assert found.pairs is None
        assert "1 % false discovery rate" not in found.summary
        assert "episodes significant, 1 % familywise error rate" in found.summary
        assert "pairs" not in data_of(found.to_html())["run"]["circuit"]
    with pytest.raises(TypeError, match="fewer_than_chance"):
        spikeweave.episodes(silenced, fewer_than_chance=True)


def test_a_page_has_the_signs_of_the_edges(silenced):
    found = spikeweave.episodes(silenced, max_size=2)

    edges = data_of(found.to_html())["circuit"]

    assert edges["sign"] == ["inhibitory"]
    for name in ("gain", "transmission"):
        for end in ("", "_low", "_high"):
            assert edges[name + end] == pytest.approx(getattr(found.circuit, name + end), rel=1e-5)


def test_a_correlogram_counts_each_pair_of_spikes_in_its_bin():
    made = spikeweave.simulate.sym26(length=5, seed=3).spikes
    trains = [np.round(1e6 * train).astype(int) for train in made.trains()]
    for source, target in ((0, 1), ("n3", 7), (4, 4)):
        counts, edges = spikeweave.correlogram(made, source, target, bin="1ms", reach=0.02)
        first, second = trains[3 if source == "n3" else source], trains[target]
        lags = second[None, :] - first[:, None]
        if source == target:
            lags = lags[~np.eye(len(first), dtype=bool)]
        bins = itertools.pairwise(np.round(1e6 * edges).astype(int))
        assert counts.tolist() == [int(np.sum((lags > low) & (lags <= high))) for low, high in bins]
        assert counts.sum() > 0


def test_a_correlogram_refuses_other_bins_and_units():
    made = spikeweave.simulate.sym26(length=1, seed=3).spikes
    with pytest.raises(ValueError, match="whole number of bins"):
        spikeweave.correlogram(made, 0, 1, bin="3ms", reach="10ms")
    with pytest.raises(ValueError, match="no unit 'x'"):
        spikeweave.correlogram(made, "x", 1)
