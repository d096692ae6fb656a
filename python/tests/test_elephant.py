"""Behaviour of `spikeweave.elephant` itself: kinds of input, errors, seeds, threads."""

# ruff: noqa: E402 - what is tested needs what may be missing

import doctest
import itertools
import pathlib
import sys
import warnings

import numpy as np
import pytest

neo = pytest.importorskip("neo")
pq = pytest.importorskip("quantities")
pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import spikeweave
from spikeweave import elephant
from spikeweave.elephant import settings, spade
from spikeweave.elephant._binning import Binned, as_binned, from_pairs
from spikeweave.elephant._names import SURR_METHODS

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from elephant_inputs import brute_force, random_trains

pytestmark = pytest.mark.filterwarnings("ignore:Binning discarded")


def trains_of(*times, t_stop=100, units="ms"):
    return [neo.SpikeTrain(one, units=units, t_stop=t_stop) for one in times]


def poisson(n=6, rate=0.05, length=400, seed=0, units="ms"):
    rng = np.random.default_rng(seed)
    scale = 1 if units == "ms" else 1000
    return trains_of(
        *(np.sort(rng.uniform(0, length, rng.poisson(rate * length))) / scale for _ in range(n)),
        t_stop=length / scale,
        units=units,
    )


def binned_trains(trains_bins, n_bins):
    pairs = [(unit, b) for unit, bins in enumerate(trains_bins) for b in bins]
    units, bins = zip(*pairs, strict=True) if pairs else ((), ())
    return from_pairs(units, bins, len(trains_bins), n_bins)


def test_a_spike_on_an_edge_falls_where_elephant_puts_it():
    # 0.285 * (1 / 0.005) is just below 57. Two trains are used because a spike may fall into the
    # bin of the next one.
    edges = [np.arange(0, 4464, 2), np.arange(1, 4464, 2)]
    in_ms = as_binned([neo.SpikeTrain(e * 5.0, units="ms", t_stop=22320) for e in edges], 5 * pq.ms)
    in_seconds = as_binned(
        [neo.SpikeTrain(e * 5 / 1000, units="s", t_stop=22.32) for e in edges], 5 * pq.ms
    )
    expected = np.concatenate(edges)
    assert (in_ms.n_bins, in_ms.bins.tolist()) == (4464, expected.tolist())
    assert np.count_nonzero(in_seconds.bins == expected - 1) == 287
    assert np.count_nonzero(in_seconds.bins == expected) == 4464 - 287


def test_spikes_behind_the_last_bin_are_left_out_with_a_warning():
    trains = trains_of([1, 9.5, 10], t_stop=10)
    with pytest.warns(UserWarning, match=r"Binning discarded 2 last spike\(s\)"):
        binned = as_binned(trains, 3 * pq.ms)
    assert (binned.n_bins, binned.bins.tolist()) == (3, [0])


def test_rare_spikes_of_many_bins_are_binned_alike():
    few = from_pairs([1, 0, 1, 1], [7, 10**6, 3, 7], 2, 10**6 + 1)
    assert few.bins.tolist() == [10**6, 3, 7]
    assert few.offsets.tolist() == [0, 1, 3]


def test_pattern_with_lags():
    trains = trains_of(np.arange(5, 95, 20), np.arange(8, 98, 20))
    (pattern,) = spade(trains, 1 * pq.ms, 5)["patterns"]
    assert pattern["neurons"] == [0, 1]
    assert pattern["lags"].tolist() == [3 * pq.ms]
    assert pattern["times"].magnitude.tolist() == [5, 25, 45, 65, 85]
    assert (pattern["signature"], pattern["pvalue"]) == ((2, 5), -1)


@hypothesis_settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 15), max_size=8, unique=True), min_size=1, max_size=5),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 2),
    st.one_of(st.none(), st.integers(1, 4)),
    st.one_of(st.none(), st.integers(1, 5)),
)
def test_transactions_give_all_closed_patterns(
    trains_bins, winlen, min_spikes, min_occ, min_neu, max_spikes, max_occ
):
    binned = binned_trains(trains_bins, 16)
    _starts, offsets, items = binned.windows(winlen)
    transactions = [items[i:j] for i, j in itertools.pairwise(offsets)]
    if len(set(map(tuple, transactions))) < 2:
        return  # windows that are all equal are always a concept
    expected = brute_force(
        trains_bins, 16, winlen, min_spikes, min_occ, min_neu, max_spikes, max_occ
    )
    found = elephant.fim.fpgrowth(
        transactions,
        supp=-min_occ,
        zmin=min_spikes,
        zmax=max_spikes or 0,
        winlen=winlen,
        max_c=max_occ,
        min_neu=min_neu,
    )
    assert {(tuple(sorted(intent)), count) for intent, count in found} == {
        (intent, len(windows)) for intent, windows in expected
    }


@hypothesis_settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 15), max_size=8, unique=True), min_size=1, max_size=5),
    st.integers(1, 4),
)
def test_both_ways_to_leave_out_window_subsets_agree(trains_bins, winlen):
    binned = binned_trains(trains_bins, 16)
    if len(binned.bins) == 0:
        return
    _, offsets, items = binned.windows(winlen)
    transactions = [items[i:j] for i, j in itertools.pairwise(offsets)]
    given_windows = elephant._fpgrowth(
        transactions, rel_matrix=binned.relation(winlen), winlen=winlen
    )
    assert given_windows == elephant._mining.mine(binned, winlen, "a")


def test_max_occ_is_a_bound():
    trains = trains_of(np.arange(5, 95, 20), np.arange(8, 98, 20))
    for max_occ, patterns in ((4, 0), (5, 1), (None, 1)):
        for report in ("a", "#", "3d#"):
            found, _ = elephant.concepts_mining(
                trains, 1 * pq.ms, 5, max_occ=max_occ, report=report
            )
            assert len(found) == patterns


def test_thresholds_that_no_pattern_meets_give_none():
    trains = trains_of([1, 11, 21], [1, 11, 22])
    for rule in (
        {"min_spikes": 9},
        {"max_spikes": 1, "min_neu": 2},
        {"max_occ": 1, "min_occ": 2},
        {"min_spikes": 3, "max_spikes": 2},
    ):
        assert elephant.concepts_mining(trains, 1 * pq.ms, 3, **rule)[0] == []
        assert elephant.pvalue_spectrum(trains, 1 * pq.ms, 3, 2 * pq.ms, 3, **rule) == []
    assert elephant.concepts_mining(trains, 1 * pq.ms, 3, min_spikes=9, report="3d#")[0].shape == (
        0,
        4,
    )


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (spade, {}),
        (elephant.concepts_mining, {}),
        (elephant.pvalue_spectrum, {"dither": 5 * pq.ms, "n_surr": 1}),
    ],
)
def test_binsize_is_deprecated(function, arguments):
    with pytest.warns(DeprecationWarning, match="'binsize' is deprecated; use 'bin_size'"):
        function(poisson(), binsize=2 * pq.ms, winlen=4, **arguments)
    with pytest.raises(TypeError, match="both 'binsize' and 'bin_size'"):
        function(poisson(), binsize=2 * pq.ms, bin_size=2 * pq.ms, winlen=4, **arguments)


def test_alpha_without_surrogates_warns():
    with pytest.warns(UserWarning, match="n_surr==0"):
        spade(poisson(), 2 * pq.ms, 4, alpha=0.05)


def test_signatures_that_are_kept_without_a_test_are_warned_of():
    beat = np.arange(10, 390, 20.0)
    trains = trains_of(beat, beat + 3, beat + 7, t_stop=400)
    how = {"bin_size": 1 * pq.ms, "winlen": 10, "min_spikes": 3, "min_occ": 3, "n_surr": 10}
    np.random.seed(3)
    with pytest.warns(
        UserWarning, match="kept without a test.* none of 10 .*dither_spikes give"
    ) as told:
        kept = spade(trains, **how, alpha=0.05)
    assert told[0].filename == __file__

    listed = {(size, int(count)) for size, count, _ in kept["pvalue_spectrum"]}
    found = {one["signature"] for one in kept["patterns"]}
    assert (3, len(beat)) in found - listed
    for quiet in ({"alpha": None}, {"alpha": 1}, {"alpha": 0.05, "min_occ": 30}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            spade(trains, **{**how, **quiet})


def test_numpy_integers_are_integers():
    trains = poisson()
    two, five = np.int64(2), np.int32(5)
    plain = spade(trains, 2 * pq.ms, 5, n_surr=5, psr_param=[2, 2, 2])
    with settings(seed=1):
        ours = spade(
            trains,
            2 * pq.ms,
            five,
            min_spikes=two,
            min_occ=two,
            min_neu=np.uint8(1),
            n_surr=five,
            alpha=np.float64(0.5),
            psr_param=[two, two, two],
            approx_stab_pars={"n_subsets": five},
        )
    assert set(ours) == set(plain)


def test_parameters_stay_as_they_were():
    stability = {"n_subsets": 5, "stability_thresh": [0.1, 0.1]}
    spade(poisson(), 2 * pq.ms, 5, approx_stab_pars=stability)
    assert stability == {"n_subsets": 5, "stability_thresh": [0.1, 0.1]}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"psr_param": [1, 2]}, ValueError, "psr_param: expected three integers, found 2"),
        ({"psr_param": [1, 2, 0.5]}, TypeError, "psr_param"),
        ({"winlen": 0}, ValueError, "window"),
        ({"winlen": 2.0}, TypeError, "winlen"),
        ({"min_neu": 0}, ValueError, "min_neu"),
        ({"min_occ": 0}, ValueError, "min_occ"),
        ({"min_occ": -3}, ValueError, "min_occ"),
        ({"min_spikes": -1}, ValueError, "min_spikes"),
        ({"max_spikes": -1}, ValueError, "max_spikes"),
        ({"max_occ": "many"}, TypeError, "max_occ"),
        ({"bin_size": 1.0}, TypeError, "bin_size"),
        ({"bin_size": 1 * pq.m}, ValueError, "convert"),
        ({"bin_size": 500 * pq.ms}, TypeError, "bin_size"),
        ({"dither": 5}, TypeError, "dither"),
        ({"alpha": "5 %"}, TypeError, "alpha"),
        ({"spectrum": "2d#"}, ValueError, "spectrum"),
        ({"stat_corr": "tukey"}, ValueError, "stat_corr"),
        ({"surr_method": "guess"}, ValueError, "surr_method"),
        ({"output_format": "table"}, ValueError, "output_format"),
        ({"approx_stab_pars": {"delta": 0.1}}, ValueError, "approx_stab_pars"),
        ({"approx_stab_pars": {"n_subsets": -1}}, ValueError, "n_subsets"),
        ({"n_surr": 1.5}, TypeError, "n_surr"),
        ({"n_surr": 2, "unknown_keyword": 1}, TypeError, "unknown_keyword"),
    ],
)
def test_errors_name_the_argument(change, error, message):
    arguments = {"bin_size": 2 * pq.ms, "winlen": 5, **change}
    with settings(seed=1), pytest.raises(error, match=message):
        spade(poisson(), **arguments)


@pytest.mark.parametrize(
    ("trains", "error"),
    [
        ([], ValueError),
        ([[1, 2, 3]], TypeError),
        (3, TypeError),
        (trains_of([1, 2], t_stop=5) + trains_of([1], t_stop=6), ValueError),
        (trains_of([1, 2], t_stop=5) + trains_of([1], t_stop=5, units="s"), ValueError),
        ([neo.SpikeTrain([1, np.nan], units="ms", t_stop=5)], ValueError),
    ],
)
def test_trains_that_do_not_fit(trains, error):
    with pytest.raises(error, match="spiketrains"):
        elephant.concepts_mining(trains, 1 * pq.ms, 3)


def test_no_spikes_are_no_patterns():
    trains = trains_of([], [])
    found, rel_matrix = elephant.concepts_mining(trains, 1 * pq.ms, 3)
    assert (found, rel_matrix.shape, rel_matrix.any()) == ([], (100, 6), False)
    result = spade(
        trains,
        1 * pq.ms,
        3,
        n_surr=3,
        alpha=0.05,
        psr_param=[0, 0, 0],
        approx_stab_pars={"n_subsets": 3},
    )
    assert result == {"pvalue_spectrum": [], "non_sgnf_sgnt": [], "patterns": []}


@pytest.mark.parametrize(
    "transactions",
    [
        [[0, 1], [0, 1], [0]],
        np.array([[0, 1], [0, 1], [0, 2]]),
        ((0, 1, 1, 0), (0, 1), (0,)),
        ((item for item in row) for row in ([1, 0], [0, 1], [0])),
        [[0, 1], [0, 1], [], [0]],
    ],
)
def test_transactions_of_any_kind(transactions):
    concepts = elephant.fim.fpgrowth(transactions, supp=-2, zmin=2, winlen=1)
    assert [(sorted(items), support) for items, support in concepts] == [([0, 1], 2)]


@pytest.mark.parametrize(
    ("transactions", "error"),
    [
        ([[0, -1], [0, 1]], ValueError),
        ([[0, 1.5]], TypeError),
        ([["a", "b"]], TypeError),
        ([[0, 2**40]], ValueError),
        (7, TypeError),
    ],
)
def test_transactions_that_cannot_be(transactions, error):
    with pytest.raises(error):
        elephant._fpgrowth(transactions)


def test_large_items_take_no_large_memory():
    far = 2**31 - 2
    assert elephant.fim.fpgrowth([[0, far], [0, far], [far]], supp=-2, zmin=2, winlen=2) == [
        ((0, far), 2)
    ]


def test_empty_transactions_are_no_concepts():
    cells = np.zeros((3, 4), dtype=bool)
    for transactions in ([], [[]], [[], []]):
        assert elephant._fpgrowth(transactions, rel_matrix=cells, winlen=2) == []
    assert elephant._fast_fca([]) == []
    assert elephant._fpgrowth([], report="#").shape == (0, 3)


def test_fast_fca_lists_each_concept_once():
    # Neuron 0 fires in bins 1, 2, 3, and neuron 1 in bin 2; Elephant's own result has none of them.
    context, _, _ = elephant._build_context(trains_of_bins([[1, 2, 3], [2]], 5), 2)
    assert [
        (tuple(sorted(intent)), extent) for intent, extent in elephant._fast_fca(context, winlen=2)
    ] == [((0, 1), (1, 2))]


def trains_of_bins(trains_bins, n_bins):
    """Return an object like a SciPy COO matrix."""

    class Matrix:
        row = np.repeat(np.arange(len(trains_bins)), [len(one) for one in trains_bins])
        col = np.concatenate([np.array(one, dtype=int) for one in trains_bins])
        shape = (len(trains_bins), n_bins)

    return Matrix()


@pytest.mark.parametrize(
    "concepts",
    [
        [((0, -1), (1, 2))],
        [((0, 0), (1, 2))],
        [((0, 1), (2, 2))],
        [((), (1, 2))],
        [((0, 1), (-1, 2))],
    ],
)
def test_concepts_that_cannot_be(concepts):
    with pytest.raises(ValueError, match="concepts"):
        elephant.pattern_set_reduction([*concepts, ((2, 3), (4, 5))], [], 5, "#")


def test_an_empty_spectrum_has_no_significant_signature():
    assert elephant.test_signature_significance([], [((0, 1), (1, 2))], 0.05, 5) == []


@pytest.mark.parametrize("units", ["ms", "s"])
@pytest.mark.parametrize("method", SURR_METHODS)
def test_own_surrogates_depend_on_the_seed_alone(method, units):
    trains = poisson(rate=0.2, units=units)
    kwargs = (
        {"trial_length": 50 * pq.ms, "trial_separation": 0 * pq.ms}
        if method == "trial_shifting"
        else {}
    )

    def spectrum(seed, threads):
        state = np.random.get_state()[1].copy()
        with settings(seed=seed, threads=threads):
            found = elephant.pvalue_spectrum(
                trains, 4 * pq.ms, 4, dither=15 * pq.ms, n_surr=15, surr_method=method, **kwargs
            )
        assert np.array_equal(state, np.random.get_state()[1])
        return found

    one = spectrum(1, 1)
    assert len(one) > 0
    assert one == spectrum(1, 3)
    assert one != spectrum(2, 1)


def test_own_surrogates_need_their_clock():
    with settings(seed=1), pytest.raises(ValueError, match="bin_size: expected whole micro"):
        elephant.pvalue_spectrum(poisson(), pq.ms / 3, 4, 5 * pq.ms, 2)
    in_minutes = trains_of([0.001, 0.002], t_stop=1, units="min")
    with settings(seed=1), pytest.raises(ValueError, match="units of s or ms"):
        elephant.pvalue_spectrum(in_minutes, 5 * pq.ms, 4, 5 * pq.ms, 2)
    assert elephant.pvalue_spectrum(in_minutes, 5 * pq.ms, 4, 5 * pq.ms, 2) == []


def test_stability_with_a_seed_leaves_numpys_state_alone():
    concepts, rel_matrix = elephant.concepts_mining(poisson(rate=0.2), 4 * pq.ms, 4)
    state = np.random.get_state()[1].copy()
    with settings(seed=5):
        first, second = (
            elephant.approximate_stability(concepts[:30], rel_matrix, n_subsets=3) for _ in range(2)
        )
    assert [row[2:] for row in first] == [row[2:] for row in second]
    assert np.array_equal(state, np.random.get_state()[1])


def test_without_elephant_plain_dithering_still_draws_from_numpy(monkeypatch):
    trains = poisson(rate=0.2)

    def spectrum(**kwargs):
        np.random.seed(3)
        return elephant.pvalue_spectrum(trains, 4 * pq.ms, 4, 15 * pq.ms, 9, **kwargs)

    with_elephant = spectrum()
    monkeypatch.setattr(elephant._spectrum, "elephant_generators", lambda: None)
    assert spectrum() == with_elephant
    own = spectrum(surr_method="shuffle_isis")
    with settings(seed=0):
        assert own == spectrum(surr_method="shuffle_isis")


def test_more_occurrences_than_elephant_can_list():
    n_bins = 40_000
    miner = spikeweave._core.ElephantSurrogateMiner({"winlen": 1, "min_occ": 39_999})
    miner.add(
        from_pairs(np.repeat([0, 1], n_bins), np.tile(np.arange(n_bins), 2), 2, n_bins + 1).arrays()
    )
    miner.add(from_pairs([0, 1], [5, 5], 2, n_bins + 1).arrays())
    found = miner.spectrum()
    assert found["counts"].tolist() == [39_999, 40_000]
    assert found["p"].tolist() == [0.5, 0.5]


def test_progress_is_told():
    told = []
    with settings(progress=lambda *now: told.append(now)):
        elephant.pvalue_spectrum(poisson(), 2 * pq.ms, 5, 5 * pq.ms, 4)
    assert told[-1] == ("mining surrogates", 4, 4)


def long_calls():
    rng = np.random.default_rng(0)
    many = [
        Binned(
            np.arange(101, dtype=np.uint64) * 1500,
            np.concatenate(
                [np.sort(rng.choice(3000, 1500, replace=False)) for _ in range(100)]
            ).astype(np.uint32),
            3000,
        )
        for _ in range(2)
    ]

    def mine():
        elephant._mining.mine(many[0], 20, "a", min_occ=2, min_spikes=2)

    def surrogates():
        elephant._spectrum._mined(
            many,
            2,
            {"winlen": 20, "min_occ": 2, "spectrum": "3d#"},
            {"threads": 2, "progress": None},
        )

    return [mine, surrogates]


@pytest.mark.parametrize("call", long_calls())
def test_a_signal_ends_a_long_call(call, interrupted_soon):
    with interrupted_soon():
        call()


@pytest.mark.parametrize("name", [name for name in elephant.__all__ if name != "ConceptList"])
def test_examples_of_the_documentation(name):
    examples = doctest.DocTestFinder(recurse=False).find(getattr(elephant, name), name)
    outcome = doctest.DocTestRunner().run(examples[0])
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_calls_leave_no_memory_behind():
    resource = pytest.importorskip("resource")
    trains = random_trains(np.random.default_rng(1))

    def calls(number):
        for _ in range(number):
            elephant.concepts_mining(trains, 2 * pq.ms, 4)
            elephant.pvalue_spectrum(trains, 2 * pq.ms, 4, 5 * pq.ms, 1)

    calls(20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(300)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024
