"""Episodes in windows of a recording: `windows(..., window=, hop=)`."""

import copy
import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spikeweave

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from page_data import data_of, numbers

SEARCH = {"delays": "4-6ms", "min_rate": 3, "max_size": 3}


@pytest.fixture(scope="module")
def spikes():
    return spikeweave.simulate.sym26(length="20s", seed=1).spikes


@pytest.fixture(scope="module")
def found(spikes):
    return spikeweave.windows(spikes, window="8s", hop="4s", **SEARCH)


def test_windows_begin_at_multiples_of_the_hop(found, spikes):
    assert found.number.tolist() == [0, 1, 2, 3]
    assert found.begin.tolist() == [0, 4, 8, 12]
    assert found.end.tolist() == [8, 12, 16, 20]
    inside = [np.sum((spikes.times >= b) & (spikes.times < b + 8)) for b in found.begin]
    assert found.spike_count.tolist() == inside


@pytest.mark.filterwarnings("ignore:With 3 surrogates")
@pytest.mark.parametrize("surrogates", [0, 3])
def test_a_window_is_what_a_recording_of_its_spikes_gives(spikes, surrogates):
    more = {"surrogates": surrogates, "seed": 2} if surrogates else {}
    found = spikeweave.windows(spikes, window="8s", hop="6s", **SEARCH, **more)
    for window in found:
        alone = spikeweave.episodes(window.spikes, **SEARCH, **more)

        assert list(window) == list(alone)
        assert np.array_equal(window.q, alone.q)
        assert window.circuit.to_dataframe().equals(alone.circuit.to_dataframe())
        assert window.chains.tolist() == alone.chains.tolist()
        assert window.threshold == alone.threshold
        again = spikeweave.episodes(window.spikes, **window.parameters)
        assert list(again) == list(window)
        assert np.array_equal(again.q, window.q)


def test_parameters_repeat_the_run(found):
    again = spikeweave.windows(found.spikes, **found.parameters)

    assert found.parameters["window"] == 8
    assert found.parameters["hop"] == 4
    assert again.parameters == found.parameters
    assert [list(one) for one in again] == [list(one) for one in found]


def test_slices_and_negative_indices(found):
    assert [list(one) for one in found[1:3]] == [list(found[1]), list(found[2])]
    assert list(found[-1]) == list(found[3])
    with pytest.raises(IndexError):
        found[4]


def test_data_frames(found):
    pytest.importorskip("pandas")
    windows = found.to_dataframe()
    episodes = found.to_dataframe("episodes")
    circuits = found.to_dataframe("circuits")

    assert windows["episodes"].tolist() == [len(one) for one in found]
    assert windows["edges"].tolist() == [len(one.circuit) for one in found]
    assert windows["chains"].tolist() == [len(one.chains) for one in found]
    pairs = [int(np.sum((one.q < 0.01) & (one.sizes > 1))) for one in found]
    assert windows["significant"].tolist() == pairs
    assert len(episodes) == windows["episodes"].sum()
    of_one = episodes[episodes["window"] == 1].drop(columns=["window", "begin", "end"])
    alone = found[1].to_dataframe()
    assert of_one.reset_index(drop=True).equals(alone.reset_index(drop=True))
    assert episodes["window"].is_monotonic_increasing
    of_one = circuits[circuits["begin"] == 8].drop(columns=["window", "begin", "end"])
    assert of_one.reset_index(drop=True).equals(found[2].circuit.to_dataframe())
    with pytest.raises(
        ValueError, match="of: expected 'windows', 'episodes', 'circuits' or 'changes'"
    ):
        found.to_dataframe("chains")


def test_page_is_that_of_the_command(found, tmp_path):
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    spikeweave.write(tmp_path / "s.tsv", found.spikes)
    search = ["--delays", "4-6ms", "--min-rate", "3", "--max-size", "3"]
    search += ["--window", "8s", "--hop", "4s"]
    to = tmp_path / "out"
    subprocess.run(
        [program, "windows", tmp_path / "s.tsv", *search, "-q", "-o", to],
        check=True,
    )

    page, told = data_of(found.to_html()), data_of((to / "report.html").read_text("utf-8"))

    for data in (page, told):
        for window in data["windows"]:
            window["found"] = [[i, float(f"{q:.6g}"), *rest] for i, q, *rest in window["found"]]
        # A file has no span, so that of the command ends at the last spike.
        data["epochs"] = [
            (numbers(one["steps_us"]), numbers(one["units"])) for one in data["epochs"]
        ]
        run = data.pop("run")
        assert run["search"]["windows"] == 4
        data["stability"] = run["search"]["mean_stability"]
    assert page == told


def test_stability_is_that_of_the_circuits(found):
    stability = found.stability

    assert np.isnan(stability[:2]).all()
    for k in (2, 3):
        both = spikeweave.circuit_stability(found[k - 2].circuit, found[k].circuit)
        assert both["stability"] == stability[k]
    assert both["before"] == both["after"] == both["common"] == 10


def test_stability_is_of_units_with_the_same_names(found):
    before, after = found[0].circuit, found[2].circuit
    names = after.unit_names
    order = {name: number for number, name in enumerate(reversed(names))}
    moved = dataclasses.replace(
        after,
        unit_names=names[::-1],
        source=np.array([order[names[unit]] for unit in after.source], np.uint32),
        target=np.array([order[names[unit]] for unit in after.target], np.uint32),
    )

    own = spikeweave.circuit_stability(before, after, seed=4)
    assert spikeweave.circuit_stability(before, moved, seed=4) == own
    with pytest.raises(TypeError, match="before: expected a Circuit, found"):
        spikeweave.circuit_stability(found[0], after)


@pytest.fixture(scope="module")
def changing():
    """Connections become weaker after ten of twenty seconds."""
    parts = [
        spikeweave.simulate.sym26(length="10s", probability=probability, seed=2).spikes
        for probability in (0.8, 0.4)
    ]
    names = parts[0].unit_names
    times = np.concatenate([parts[0].times, parts[1].times + 10])
    units = np.concatenate([one.units for one in parts])
    return spikeweave.SpikeSequence.of((times, units), unit_names=names, t_start=0, t_stop=20)


def test_changes_have_the_rows_of_the_table(changing):
    pytest.importorskip("pandas")
    search = {"delays": "4-6ms", "max_size": 2, "window": 1, "hop": 0.5}
    found = spikeweave.windows(changing, change_points=True, **search)
    changes = found.to_dataframe("changes")

    circuit = changes[(changes["of"] == "circuit") & changes["significant"]]
    assert circuit["time"].tolist()[0] == 10
    excess = changes[changes["of"] == "excess"]
    assert len(excess) == 10
    assert excess["significant"].all()
    assert (excess["before"] > excess["after"]).all()
    assert ("n0", "n1") in excess["units"].tolist()
    told = data_of(found.to_html())["run"]["search"]["change_points"]
    assert told["circuit"]["found"][0]["time_s"] == 10
    assert told["findings_with_other_excess"] == 10
    with pytest.raises(ValueError, match="give change_points=True"):
        spikeweave.windows(changing, **search).to_dataframe("changes")


def test_level_of_the_page(found):
    assert data_of(found.to_html(alpha=0.2))["alpha"] == 0.2
    with pytest.raises(ValueError, match="alpha: expected a level above 0 and up to 1, found 0"):
        found.to_html(alpha=0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_make_the_same_page(found, copied):
    again = copied(found)

    assert data_of(again.to_html()) == data_of(found.to_html())
    assert list(again[1]) == list(found[1])


def test_shown_in_a_notebook(found):
    assert repr(found) == "<WindowedEpisodeResult: 4 windows from 0 s to 20 s>"
    assert found._repr_html_().count("<tr>") == 5


def test_progress_counts_windows(spikes):
    told = []
    spikeweave.windows(spikes, window=10, progress=lambda *now: told.append(now), **SEARCH)

    assert told[-1][0] == "analysing windows"
    assert told[-1][2] == 2


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"hop": 1}, "window: expected a time above 0 ms, found none"),
        ({"window": -1}, "window"),
        ({"window": "25s"}, "window: the recording is shorter than a window"),
        ({"window": 1, "hop": -1}, "hop"),
    ],
)
def test_what_is_no_window_is_refused(spikes, options, error):
    with pytest.raises(ValueError, match=error):
        spikeweave.windows(spikes, **options, **SEARCH)


@pytest.mark.parametrize("name", ["window", "hop", "change_points", "change_alpha"])
def test_search_names_the_function_that_has_windows(spikes, name):
    with pytest.raises(TypeError, match=rf"no argument '{name}' \(spikeweave.windows has it\)"):
        spikeweave.episodes(spikes, **{name: 1}, **SEARCH)


@pytest.mark.parametrize("name", ["epochs", "trial_length", "hold_out"])
def test_windows_have_no_options_of_whole_recordings(spikes, name):
    with pytest.raises(TypeError, match=f"no argument '{name}'"):
        spikeweave.windows(spikes, window=5, **{name: 1}, **SEARCH)
