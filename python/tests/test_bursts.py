"""`bursts`: bursts of units and of the network."""

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
    """Five units with 5 spikes in 80 ms every 10 s, each 10 ms after the one before; f is alone."""
    starts = 10 * np.arange(10)[:, None]
    out = {
        unit: np.ravel(starts + 0.01 * place + 0.02 * np.arange(5))
        for place, unit in enumerate("abcde")
    }
    return out | {"f": 10 * np.arange(10) + 5.0}


@pytest.fixture(scope="module")
def found(trains):
    return spikeweave.bursts(trains)


def test_finds_bursts_of_units_and_of_the_network(found):
    assert found.units["unit"] == list("abcdef")
    assert found.units["bursts"].tolist() == [10] * 5 + [0]
    assert found.units["share_in_bursts"].tolist() == [1] * 5 + [0]
    assert found.units["mean_duration"][:5] == pytest.approx([0.08] * 5)
    assert np.isnan(found.units["mean_duration"][5])
    assert found.units["longest_interval"].tolist() == [0.3] * 6
    assert len(found) == 50
    assert found.bursts["unit"][:5] == list("abcde")
    assert found.bursts["network"].tolist() == [k for k in range(10) for _ in range(5)]
    assert found.bursts["interval"][5:] == pytest.approx([9.92] * 45)
    assert np.isnan(found.bursts["interval"][:5]).all()
    assert found.network["begin"].tolist() == [10 * k + 0.02 for k in range(10)]
    assert found.network["participating"].tolist() == [5] * 10
    assert found.units_of_network == 3
    assert repr(found) == "<BurstResult: 50 bursts, 10 of the network>"
    assert found.summary.startswith("50 bursts of 5 of 6 units, and 10 network bursts in ")
    assert "<th>per minute</th>" in found._repr_html_()
    assert found.to_dataframe()["bursts"].tolist() == [10] * 5 + [0]


@pytest.mark.filterwarnings("ignore:Bursts of a network")
def test_adapts_to_units():
    """Four spikes 4 ms apart in each second of a unit that fires every 120 to 200 ms."""
    random = np.random.default_rng(1)
    tonic = [np.cumsum(random.uniform(0.12, 0.2, 4)) for _ in range(60)]
    train = [k + np.append(tonic[k], 0.92 + 0.004 * np.arange(4)) for k in range(60)]
    with pytest.warns(UserWarning, match="hardly more than chance"):
        assert len(spikeweave.bursts({"a": np.concatenate(train)})) < 30
    found = spikeweave.bursts({"a": np.concatenate(train)}, method="log-isi")
    assert len(found) == 60
    assert found.units["longest_interval"][0] < 0.1


@pytest.mark.filterwarnings("ignore:.*spikes are in no epoch")
def test_page_has_the_data_of_the_command(trains, tmp_path):
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    day, to = tmp_path / "day.tsv", tmp_path / "out"
    spikeweave.write(day, spikeweave.SpikeSequence.of(trains))
    (tmp_path / "epochs.tsv").write_text("begin\tend\n0\t48\n52\t99\n")
    asked = ["--min-spikes", "4", "--epochs", tmp_path / "epochs.tsv"]
    subprocess.run([program, "bursts", day, *asked, "-q", "-o", to], check=True)

    found = spikeweave.bursts(day, min_spikes=4, epochs=[(0, 48), (52, 99)])

    own, written = (data_of(one) for one in (found.to_html(), (to / "report.html").read_text()))
    for key in ("format", "version", "kind", "unit_names", "spikes", "marks", "summary", "units"):
        assert own[key] == written[key], key
    assert own["network_bursts"] == written["network_bursts"]
    assert pickle.loads(pickle.dumps(found)).to_html() == found.to_html()


def test_refuses(trains):
    with pytest.raises(ValueError, match="begin_interval must be at most end_interval"):
        spikeweave.bursts(trains, begin_interval=0.5)
    with pytest.raises(ValueError, match="method"):
        spikeweave.bursts(trains, method="poisson")
