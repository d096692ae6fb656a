"""`replay`: chains at other speeds and in reverse."""

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

CHAIN = (list("abcd"), [(0.04, 0.06)] * 3)
EVENTS = [(e - 0.05, e + 0.1) for e in range(1, 41)]


@pytest.fixture(scope="module")
def trains():
    trains = {unit: [e + i * 0.005 for e in range(1, 41)] for i, unit in enumerate("abcd")}
    return {**trains, "other": [0, 42]}


@pytest.fixture(scope="module")
def found(trains):
    return spikeweave.replay([CHAIN], trains, events=EVENTS, seed=1, surrogates=99)


def test_finds_a_compressed_chain(found):
    assert found.direction == ["forward", "reverse"]
    assert found.chain.tolist() == [0, 0]
    assert found.count[0] == 40
    assert 0.08 < found.scale[0] < 0.13
    assert found.q[0] <= 0.02
    assert found.q[1] > 0.05
    assert found.events_significant.tolist() == [40, 0]
    assert found.events["tau"].tolist() == [1] * 40
    assert np.allclose(found.event_times, EVENTS)
    assert len(found) == 2
    assert "1 chain in 40 events" in repr(found)


def test_finds_it_in_reverse(trains):
    backwards = {unit: [42 - t for t in times] for unit, times in trains.items()}
    found = spikeweave.replay(
        [CHAIN], backwards, events=[(e - 0.1, e + 0.05) for e in range(2, 42)]
    )
    assert found.events_significant.tolist() == [0, 40]


def test_events_are_found_if_none_are_given(trains):
    found = spikeweave.replay([CHAIN], trains, seed=1, surrogates=9)
    assert len(found.event_times) == 40


def test_is_a_table(found):
    table = found.to_dataframe()
    assert table["units"].tolist() == [tuple("abcd")] * 2
    assert table["events_scored"].tolist() == [40, 40]


def test_can_be_copied(found):
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert np.array_equal(other.p, found.p)


@pytest.mark.filterwarnings("ignore:.*spikes are in no epoch")
@pytest.mark.parametrize("null", ["identities", "surrogates"])
def test_page_has_the_data_of_the_command(trains, tmp_path, null):
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    sleep, to = tmp_path / "sleep.tsv", tmp_path / "out"
    spikeweave.write(sleep, spikeweave.SpikeSequence.of(trains))
    (tmp_path / "chain.txt").write_text("a 40-60ms b 40-60ms c 40-60ms d\n")
    rows = "".join(f"{begin:.6f}\t{end:.6f}\n" for begin, end in EVENTS)
    (tmp_path / "events.tsv").write_text("begin\tend\n" + rows)
    (tmp_path / "epochs.tsv").write_text("begin\tend\n0\t20\n22\t41\n")
    asked = ["--null", null, "--surrogates", "49", "--seed", "1"]
    for name in ("events", "epochs"):
        asked += [f"--{name}", tmp_path / f"{name}.tsv"]
    command = [program, "replay", tmp_path / "chain.txt", sleep, *asked, "-q", "-o", to]
    subprocess.run(command, check=True)

    found = spikeweave.replay(
        [CHAIN], sleep, null=null, surrogates=49, seed=1, events=EVENTS, epochs=[(0, 20), (22, 41)]
    )

    own, written = (data_of(one) for one in (found.to_html(), (to / "report.html").read_text()))
    assert own["events"]["total"] > 30
    for key in ("format", "version", "kind", "unit_names", "spikes", "replay", "events"):
        assert own[key] == written[key], key
    assert own["run"]["replay"] == written["run"]["replay"]
    for name in ("alpha", "null", "ties"):
        assert own["run"]["parameters"][name] == written["run"]["parameters"][name]
    assert pickle.loads(pickle.dumps(found)).to_html() == found.to_html()


def test_refuses_what_it_cannot_test(trains):
    with pytest.raises(ValueError, match="there is no unit 'x'"):
        spikeweave.replay([(["a", "x"], [(0.1, 0.2)])], trains)
    with pytest.raises(ValueError, match="no event was found"):
        spikeweave.replay([CHAIN], trains, event_threshold=90)
    with pytest.raises(ValueError, match="events"):
        spikeweave.replay([CHAIN], trains, events=[(2, 3), (1, 2)])
    with pytest.raises(ValueError, match="no chain"):
        spikeweave.replay([], trains)
