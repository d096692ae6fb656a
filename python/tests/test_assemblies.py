"""`assemblies`: cell assemblies at several time scales."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spikeweave

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from page_data import data_of


@pytest.fixture(scope="module")
def trains():
    random = np.random.default_rng(2)
    trains = {unit: random.uniform(0, 100, 600) for unit in "abcdef"}
    moments = random.uniform(0, 99, 300)
    for place, unit in enumerate("cba"):
        trains[unit] = np.sort(np.append(trains[unit], moments + 0.02 * place))
    return trains


@pytest.fixture(scope="module")
def found(trains):
    return spikeweave.assemblies(trains, bins=[0.01])


def test_finds_a_sequence_with_its_lags(found):
    (one,) = found
    lags = dict(zip(one.units, one.lags, strict=True))
    assert {unit: round(lag - lags["c"], 6) for unit, lag in lags.items()} == {
        "c": 0,
        "b": 0.02,
        "a": 0.04,
    }
    assert one.bin == 0.01
    assert len(one) == len(found.assemblies[0].units) == 3
    assert one.p.shape == one.counts.shape == (2,)
    assert one.p[-1] <= one.p_corrected < 1e-9
    assert one.counts[-1] == one.time_counts.sum()
    assert len(one.times) == len(one.time_counts)
    assert found.steps["tests"][0] == 15
    assert "3" not in repr(found)
    assert "in bins of 10 ms" in repr(one)
    assert repr(found) == "<AssemblyResult: 1 assembly>"


def test_times_are_taken_in_all_forms(trains, found):
    for bins in ("10ms", ["10ms"], 0.01, np.array([0.01])):
        other = spikeweave.assemblies(trains, bins=bins)
        assert other.parameters["bins"] == found.parameters["bins"] == [0.01]
        assert np.array_equal(other.assemblies[0].p, found.assemblies[0].p)
    assert len(spikeweave.assemblies(trains, bins="10ms,40ms").parameters["bins"]) == 2


def test_is_a_table(found):
    table = found.to_dataframe()
    assert table["units"].tolist() == [found.assemblies[0].units]
    assert table["bin_ms"].tolist() == [10]
    assert table["count"].tolist() == [found.assemblies[0].counts[-1]]


def test_can_be_copied(found):
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert np.array_equal(other.assemblies[0].times, found.assemblies[0].times)


def test_searches_epochs(trains):
    parts = spikeweave.assemblies(trains, bins=[0.01], epochs=[(0, 30), (60, 90)])
    assert all(t < 30 or 60 <= t < 90 for one in parts for t in one.times)


@pytest.mark.filterwarnings("ignore:.*spikes are in no epoch")
def test_page_has_the_data_of_the_command(trains, tmp_path):
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    day, to = tmp_path / "day.tsv", tmp_path / "out"
    spikeweave.write(day, spikeweave.SpikeSequence.of(trains))
    (tmp_path / "epochs.tsv").write_text("begin\tend\n0\t48\n52\t99\n")
    asked = ["--bins", "10ms,25ms", "--epochs", tmp_path / "epochs.tsv"]
    subprocess.run([program, "assemblies", day, *asked, "-q", "-o", to], check=True)

    found = spikeweave.assemblies(day, bins="10ms,25ms", epochs=[(0, 48), (52, 99)])

    own, written = (data_of(one) for one in (found.to_html(), (to / "report.html").read_text()))
    assert own["assemblies"]["total"] > 0
    for key in ("format", "version", "kind", "unit_names", "spikes", "assemblies", "search"):
        assert own[key] == written[key], key
    assert "seed" not in own["run"] | written["run"]
    assert pickle.loads(pickle.dumps(found)).to_html() == found.to_html()


def test_warns_and_refuses(trains):
    with pytest.warns(UserWarning, match="too short for bins of 5 s"):
        spikeweave.assemblies(trains, bins=[0.01, 5])
    with pytest.raises(ValueError, match="reference_lag"):
        spikeweave.assemblies(trains, reference_lag=11)
    with pytest.raises(ValueError, match="twice"):
        spikeweave.assemblies(trains, bins=[0.01, 0.01])
    with pytest.raises(TypeError, match="bins"):
        spikeweave.assemblies(trains, bins=[None])


def elephant_pairs(trains, **options):
    """Elephant's pairs: units, lag in bins, p and count. Its larger assemblies differ."""
    pq = pytest.importorskip("quantities")
    neo = pytest.importorskip("neo")
    cad = pytest.importorskip("elephant.cell_assembly_detection")
    conversion = pytest.importorskip("elephant.conversion")
    spikes = [
        neo.SpikeTrain(trains[unit], units="s", t_start=0 * pq.s, t_stop=100 * pq.s)
        for unit in sorted(trains)
    ]
    binned = conversion.BinnedSpikeTrain(
        spikes, bin_size=10 * pq.ms, t_start=0 * pq.s, t_stop=100 * pq.s
    )
    found = cad.cell_assembly_detection(binned, max_lag=5, max_spikes=2, **options)
    return {
        tuple(one["neurons"]): (
            round(float(one["lags"].rescale("ms").magnitude[0]) / 10),
            one["pvalue"][0],
            one["signature"][-1][1],
        )
        for one in found
    }


@pytest.mark.parametrize("reference_lag", [0, 2])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_those_of_elephant(seed, reference_lag):
    random = np.random.default_rng(seed)
    # Spikes lie in the middle of bins, where rounding cannot move them into the next one.
    trains = {unit: random.integers(0, 10_000, 500) for unit in "abcde"}
    for follower, lag in (("b", 3), ("d", -2), ("e", 0)):
        trains[follower][:150] = np.clip(trains["a"][:150] + lag, 0, 9_999)
    trains = {
        unit: np.unique((bins + 0.5) / 100 + 1e-5 * np.arange(len(bins)) % 0.004)
        for unit, bins in trains.items()
    }
    wanted = elephant_pairs(trains, reference_lag=reference_lag, alpha=0.5)
    spikes = spikeweave.SpikeSequence.of(trains, t_start=0, t_stop=100)
    found = spikeweave.assemblies(
        spikes,
        bins=[0.01],
        max_lag=5,
        max_size=2,
        alpha=0.5,
        reference_lag=reference_lag,
        min_count=2,
    )
    assert len(wanted) >= 3
    got = {
        tuple("abcde".index(unit) for unit in one.units): (
            round(one.lags[1] / 0.01),
            one.p[0],
            one.counts[0],
        )
        for one in found
    }
    assert got.keys() == wanted.keys()
    for pair, (lag, p, count) in wanted.items():
        assert got[pair][0] == lag
        assert got[pair][1] == pytest.approx(p, rel=1e-9)
        assert got[pair][2] == count
