"""Results equal those of Elephant with its compiled miner bit by bit, in its order."""

# ruff: noqa: E402 - what is tested needs what may be missing

import copy
import inspect
import pathlib
import random
import sys

import numpy as np
import pytest

pytest.importorskip("neo")
quantities = pytest.importorskip("quantities")
elephant_spade = pytest.importorskip("elephant.spade", reason="needs Elephant")
if not elephant_spade.HAVE_FIM:
    pytest.skip("needs Elephant's compiled miner", allow_module_level=True)

from elephant.conversion import BinnedSpikeTrain
from elephant.spike_train_generation import StationaryPoissonProcess, compound_poisson_process
from elephant.spike_train_surrogates import SURR_METHODS

from spikeweave import elephant as spikeweave_spade

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from elephant_inputs import assert_same, random_concepts, random_rule, random_trains

ms = quantities.ms
CORRECTIONS = [
    "bonferroni",
    "sidak",
    "holm-sidak",
    "holm",
    "simes-hochberg",
    "hommel",
    "fdr_bh",
    "fdr_by",
    "fdr_tsbh",
    "fdr_tsbky",
    "",
    "no",
]
pytestmark = pytest.mark.filterwarnings("ignore")


def both(name, *args, seed=0, **kwargs):
    """Return the results of a function in both modules, started from the same global states."""
    results = []
    for module in (spikeweave_spade, elephant_spade):
        np.random.seed(seed)
        random.seed(seed)
        # Elephant modifies the thresholds that it is given.
        results.append(getattr(module, name)(*args, **copy.deepcopy(kwargs)))
    return results


@pytest.mark.parametrize("name", spikeweave_spade.__all__)
def test_signatures_are_elephants(name):
    if not hasattr(elephant_spade, name):
        assert name in ("ConceptList", "settings")
        return
    ours, theirs = (
        inspect.signature(getattr(module, name)).parameters.values()
        for module in (spikeweave_spade, elephant_spade)
    )
    assert [(p.name, p.kind, p.default) for p in ours] == [
        (p.name, p.kind, p.default) for p in theirs
    ]


@pytest.mark.parametrize(
    "name",
    [
        "_build_context",
        "_fpgrowth",
        "_fast_fca",
        "_pattern_spectrum_filter",
        "_mask_pvalue_spectrum",
    ],
)
def test_signatures_of_private_functions_are_elephants(name):
    ours, theirs = (
        list(inspect.signature(getattr(module, name)).parameters)
        for module in (spikeweave_spade, elephant_spade)
    )
    assert ours == theirs


def test_all_that_elephant_offers_is_here():
    assert set(elephant_spade.__all__) <= set(spikeweave_spade.__all__)


@pytest.mark.parametrize("seed", range(60))
def test_concepts_mining(seed):
    rng = np.random.default_rng(seed)
    trains = random_trains(rng)
    if sum(map(len, trains)) == 0:
        return  # Elephant raises IndexError
    bin_size = float(rng.choice([1, 2, 3, 5])) * ms
    winlen = int(rng.choice([1, 2, 3, 5, 8]))
    rule = random_rule(rng)
    for report in ("a", "#", "3d#"):
        ours, theirs = both("concepts_mining", trains, bin_size, winlen, report=report, **rule)
        assert_same(ours, theirs)
    binned = BinnedSpikeTrain(trains, bin_size=bin_size, tolerance=None)
    assert_same(*both("concepts_mining", binned, bin_size, winlen, **rule))


@pytest.mark.parametrize("seed", range(20))
def test_private_functions(seed):
    rng = np.random.default_rng(seed)
    trains = random_trains(rng)
    winlen = int(rng.choice([1, 2, 4]))
    matrix = BinnedSpikeTrain(trains, bin_size=2 * ms, tolerance=None).to_sparse_bool_array()
    context, transactions, rel_matrix = elephant_spade._build_context(matrix.tocoo(), winlen)
    coo = matrix.tocoo()
    before = coo.row.copy(), coo.col.copy()
    assert_same(spikeweave_spade._build_context(coo, winlen), (context, transactions, rel_matrix))
    assert np.array_equal(coo.row, before[0])
    assert np.array_equal(coo.col, before[1])
    for report in ("a", "#", "3d#"):
        assert_same(
            *both("_fpgrowth", transactions, rel_matrix=rel_matrix, winlen=winlen, report=report)
        )
    if winlen == 1:  # for this, Elephant's fast_fca returns each concept, some of them twice
        theirs = elephant_spade._fast_fca(context)
        ours = spikeweave_spade._fast_fca(context)
        assert {(frozenset(i), frozenset(e)) for i, e in ours} == {
            (frozenset(i), frozenset(e)) for i, e in theirs
        }


def test_identical_windows_are_one_concept_whatever_is_asked():
    import neo

    trains = [neo.SpikeTrain([t], units="ms", t_stop=40) for t in (10, 11, 11)]
    once = [neo.SpikeTrain([10, 25], units="ms", t_stop=40) for _ in range(3)]
    for some in (trains, once):
        assert_same(*both("concepts_mining", some, 1 * ms, 1, min_spikes=5, min_occ=7))


@pytest.mark.parametrize("method", SURR_METHODS)
@pytest.mark.parametrize("spectrum", ["#", "3d#"])
def test_pvalue_spectrum_from_the_same_seed(method, spectrum):
    kwargs = (
        {"trial_length": 50 * ms, "trial_separation": 10 * ms} if method == "trial_shifting" else {}
    )
    for seed in range(3):
        # Elephant's jitter_spikes needs trains that begin at 0.
        np.random.seed(seed)
        trains = [
            StationaryPoissonProcess(60 * quantities.Hz, t_stop=400 * ms).generate_spiketrain()
            for _ in range(5)
        ]
        ours, theirs = both(
            "pvalue_spectrum",
            trains,
            2 * ms,
            5,
            dither=8 * ms,
            n_surr=7,
            spectrum=spectrum,
            surr_method=method,
            **kwargs,
            seed=seed,
        )
        assert_same(ours, theirs)
        assert len(ours) > 0


@pytest.mark.parametrize("edges", [True, False])
def test_plain_dithering_at_the_edges(edges):
    rng = np.random.default_rng(3)
    for seed in range(5):
        trains = random_trains(rng)
        if sum(map(len, trains)) == 0:
            continue
        assert_same(
            *both(
                "pvalue_spectrum",
                trains,
                3 * ms,
                4,
                dither=30 * ms,
                n_surr=5,
                edges=edges,
                seed=seed,
            )
        )


@pytest.mark.parametrize("seed", range(40))
def test_signature_significance(seed):
    rng = np.random.default_rng(seed)
    spectrum = ["#", "3d#"][seed % 2]
    concepts = random_concepts(rng, 5)
    found = sorted({(len(i), len(e), int(max(np.array(i) % 5))) for i, e in concepts})
    entries = []
    for size, count, duration in found:
        for c in range(max(2, count - 1), count + 2):
            row = [size, c, duration, rng.integers(0, 21) / 20]
            entries.append(row if spectrum == "3d#" else [row[0], row[1], row[3]])
    for corr in CORRECTIONS:
        for report in ("spectrum", "significant", "non_significant"):
            assert_same(
                *both(
                    "test_signature_significance", entries, concepts, 0.2, 5, corr, report, spectrum
                )
            )
    assert_same(*both("_mask_pvalue_spectrum", np.array(entries), concepts, spectrum, 5))
    assert both("test_signature_significance", entries, concepts, 1, 5, spectrum=spectrum) == [
        [],
        [],
    ]


@pytest.mark.parametrize("seed", range(200))
def test_pattern_set_reduction_of_equal_lists(seed):
    rng = np.random.default_rng(seed)
    winlen = int(rng.choice([1, 3, 6]))
    concepts = random_concepts(rng, winlen)
    spectrum = ["#", "3d#"][seed % 2]
    unlikely = [
        (float(rng.integers(1, 5)), float(rng.integers(2, 10)), float(rng.integers(0, winlen)))[
            : 2 + seed % 2
        ]
        for _ in range(8)
    ]
    hkl = [int(value) for value in rng.integers(-1, 4, 3)]
    least = int(rng.integers(1, 3))
    ours, theirs = both(
        "pattern_set_reduction",
        concepts,
        unlikely,
        winlen,
        spectrum,
        *hkl,
        min_spikes=least,
        min_occ=least,
    )
    assert_same(ours, theirs)
    assert all(a is b for a, b in zip(ours, theirs, strict=True))
    for concept in concepts:
        assert spikeweave_spade._pattern_spectrum_filter(
            concept, unlikely, spectrum, winlen
        ) == elephant_spade._pattern_spectrum_filter(concept, unlikely, spectrum, winlen)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize(
    "how", [{"n_subsets": 4}, {"n_subsets": 40}, {"delta": 0.2, "epsilon": 0.3}]
)
def test_approximate_stability(seed, how):
    rng = np.random.default_rng(seed)
    trains = random_trains(rng)
    if sum(map(len, trains)) == 0:
        return
    concepts, rel_matrix = elephant_spade.concepts_mining(trains, 3 * ms, 3)
    assert_same(*both("approximate_stability", concepts[:20], rel_matrix, **how, seed=seed))


@pytest.mark.parametrize("spectrum", ["#", "3d#"])
def test_concept_output_to_patterns(spectrum):
    rng = np.random.default_rng(5)
    concepts = random_concepts(rng, 4)
    entries = [[len(i), len(e), int(max(np.array(i) % 4)), 0.25] for i, e in concepts[:3]]
    if spectrum == "#":
        entries = [[a, b, p] for a, b, _, p in entries]
    for pv_spec in (None, entries):
        assert_same(
            *both(
                "concept_output_to_patterns",
                concepts,
                4,
                5 * ms,
                pv_spec,
                spectrum,
                0.1 * quantities.s,
            )
        )


@pytest.mark.parametrize("seed", range(60))
def test_spade(seed, capsys):
    rng = np.random.default_rng(1000 + seed)
    trains = random_trains(rng)
    if sum(map(len, trains)) == 0:
        return
    options = {
        "n_surr": int(rng.integers(1, 12)),
        "dither": float(rng.choice([5, 15])) * ms,
        "spectrum": str(rng.choice(["#", "3d#"])),
        "alpha": float(rng.choice([0.05, 0.2, 0.6])),
        "stat_corr": str(rng.choice(CORRECTIONS)),
        "surr_method": str(rng.choice(["dither_spikes", "shuffle_isis", "bin_shuffling"])),
        "psr_param": [int(value) for value in rng.integers(0, 3, 3)],
        "output_format": str(rng.choice(["patterns", "concepts"])),
        **random_rule(rng),
    }
    bin_size = float(rng.choice([2, 3, 5])) * ms
    winlen = int(rng.choice([1, 2, 4]))
    stability = {"n_subsets": 5, "stability_thresh": [0.1, 0.1]} if seed % 4 == 0 else None
    assert_same(
        *both("spade", trains, bin_size, winlen, approx_stab_pars=stability, **options, seed=seed)
    )
    lines = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]


def documented_trains():
    np.random.seed(30)
    return compound_poisson_process(
        rate=15 * quantities.Hz,
        amplitude_distribution=[0, 0.95, 0, 0, 0, 0, 0.05],
        t_stop=5 * quantities.s,
    )


def test_documented_example():
    trains = documented_trains()
    ours, theirs = [
        result["patterns"]
        for result in both(
            "spade",
            trains,
            bin_size=10 * ms,
            winlen=1,
            dither=5 * ms,
            min_spikes=6,
            n_surr=10,
            psr_param=[0, 0, 3],
        )
    ]
    assert_same(ours, theirs)
    # As in the documentation: all six neurons at once, never in a surrogate.
    assert len(ours) == 1
    assert sorted(ours[0]["neurons"]) == list(range(6))
    assert ours[0]["lags"].magnitude.tolist() == [0] * 5
    assert ours[0]["pvalue"] == 0


@pytest.mark.parametrize(("bin_ms", "winlen", "patterns"), [(3, 10, 410), (3, 3, 90), (10, 1, 22)])
def test_documented_trains_have_as_many_patterns_as_with_fim(bin_ms, winlen, patterns):
    trains = documented_trains()
    ours, theirs = [result["patterns"] for result in both("spade", trains, bin_ms * ms, winlen)]
    assert_same(ours, theirs)
    assert len(ours) == patterns


def test_tutorial_finds_the_neurons_that_were_made_synchronous():
    np.random.seed(4542)
    trains = compound_poisson_process(
        rate=5 * quantities.Hz,
        amplitude_distribution=[0] + [0.98] + [0] * 8 + [0.02],
        t_stop=10 * quantities.s,
    )
    for _ in range(90):
        trains.append(
            StationaryPoissonProcess(
                5 * quantities.Hz, t_stop=10 * quantities.s
            ).generate_spiketrain()
        )
    ours = spikeweave_spade.spade(
        spiketrains=trains,
        binsize=1 * ms,
        winlen=1,
        min_spikes=3,
        n_surr=100,
        dither=5 * ms,
        psr_param=[0, 0, 0],
        output_format="patterns",
    )["patterns"]
    assert [sorted(pattern["neurons"]) for pattern in ours] == [list(range(10))]


@pytest.mark.nightly
def test_published_recording(shared_data):
    import neo

    rows = np.loadtxt(shared_data / "spade/movement_pghf.spikes.tsv.gz", skiprows=1)
    trains = [
        neo.SpikeTrain(rows[rows[:, 1] == unit, 0], units="s", t_stop=24.835) for unit in range(150)
    ]
    arguments = (trains, 5 * ms, 20)
    ours, theirs = both("concepts_mining", *arguments, min_spikes=2, min_occ=88, min_neu=2)
    assert_same(ours, theirs)
    assert len(ours[0]) == 22_709
    many, _ = spikeweave_spade.concepts_mining(*arguments, min_spikes=3, min_occ=25, min_neu=3)
    assert len(many) == 1_562_056
