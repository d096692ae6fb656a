"""Results that are saved and loaded."""

import dataclasses
import json
import pickle
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import spikeweave

SEARCH = {"delays": "4-6ms", "min_count": 60, "max_size": 3}


def same(one, other):
    """Whether two values are equal, however deep their arrays are.

    Times may differ by a rounding, because files have them in milliseconds.
    """
    if isinstance(one, np.ndarray) and one.dtype.kind == "f":
        return np.allclose(one, other, rtol=1e-15, atol=0, equal_nan=True)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if dataclasses.is_dataclass(one) and not isinstance(one, spikeweave.SpikeSequence):
        return same(vars(one), vars(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and one != one:
        return other != other
    return one == other


def differing(one, other, *apart):
    """The attributes that differ."""
    return {
        field.name
        for field in dataclasses.fields(one)
        if field.name not in ("_report", *apart)
        and not same(getattr(one, field.name), getattr(other, field.name))
    }


def in_order(found):
    """A result of episodes with its episodes in the order of the tables."""
    return found[np.argsort(found._numbers)]


@pytest.fixture(scope="module")
def spikes():
    return spikeweave.simulate.sym26(length="20s", seed=1).spikes


@pytest.mark.parametrize(
    "options",
    [
        {"max_memory": 2_000_000_000},
        {"surrogates": 19, "seed": 1, "max_size": 2},
        {"hold_out": 0.5, "hold_out_block": "2s"},
    ],
    ids=["plain", "surrogates", "held-out"],
)
@pytest.mark.filterwarnings("ignore")
def test_episodes(spikes, tmp_path, options):
    found = spikeweave.episodes(spikes, **{**SEARCH, **options})
    found.save(tmp_path / "out")

    again = spikeweave.load(tmp_path / "out")

    assert not differing(in_order(found), again, "chains", "parameters")
    assert [str(again[i]) for i in again.chains] == [str(found[i]) for i in found.chains]
    assert again.to_html() == found.to_html()
    differ = {
        name for name, value in found.parameters.items() if not same(value, again.parameters[name])
    }
    assert not differ


@pytest.mark.filterwarnings("ignore")
def test_a_column_of_edges_without_an_attribute(spikes, tmp_path):
    found = spikeweave.episodes(spikes, **SEARCH)
    found.save(tmp_path / "out")
    file = tmp_path / "out" / "result.json"
    document = json.loads(file.read_text("utf-8"))
    numbers = [i / 2 for i in range(len(found.circuit))]
    document["circuit"] |= {"number": numbers, "name": ["a"] * len(numbers)}
    file.write_text(json.dumps(document), "utf-8")
    circuit = spikeweave.load(tmp_path / "out").circuit
    assert len(numbers) > 1
    assert same(circuit.more["number"], np.array(numbers))
    frame = circuit.to_dataframe()
    assert list(frame.columns[-2:]) == ["number", "name"]
    assert set(frame.columns[:-2]) == set(found.circuit.to_dataframe().columns)
    edges = list(circuit.to_networkx().edges(data=True))
    assert [edge["number"] for _, _, edge in edges] == numbers
    assert edges[1][2]["name"] == "a"


def test_episodes_that_another_recording_confirms(spikes, tmp_path):
    other = spikeweave.simulate.sym26(length="20s", seed=2).spikes
    lacking = other.select([name for name in other.unit_names if name != "n3"])
    found = spikeweave.episodes(spikes, confirm=lacking, max_size=2)
    found.save(tmp_path / "out")

    again = spikeweave.load(tmp_path / "out")

    assert not differing(in_order(found), again, "chains", "parameters")
    assert again.search["untested"] == found.search["untested"]


@pytest.mark.parametrize(
    "options",
    [
        {"surrogates": 30, "alpha": 0.2, "seed": 1},
        {"surrogates": 30, "spectrum": "3d#", "seed": 1},
        {"min_occ": 8},
        {"min_occ": 8, "epochs": [(1.0013, 9), (10, 15.5)], "stability": 10},
    ],
    ids=["tested", "durations", "untested", "epochs"],
)
@pytest.mark.filterwarnings("ignore")
def test_patterns(tmp_path, options):
    made = spikeweave.simulate.patterns(
        units=10, patterns=(4, 3), occurrences=25, length="20s", rate=6, seed=2
    )
    found = spikeweave.spade(made.spikes, bin="5ms", window=12, **options)
    found.save(tmp_path / "out")

    again = spikeweave.load(tmp_path / "out")

    sorted_found = found[np.argsort(found._numbers)]
    apart = ("input", "parameters", "spikes") if "epochs" in options else ("input", "parameters")
    assert not differing(sorted_found, again, *apart)
    assert again.input.items() <= found.input.items()
    assert again.to_html() == found.to_html()


@pytest.mark.filterwarnings("ignore")
def test_other_results(spikes, tmp_path):
    chain = (["n0", "n1", "n2"], [(0.004, 0.006)] * 2)
    events = [(i, i + 0.5) for i in range(19)]
    later = spikeweave.simulate.sym26(length="20s", seed=2).spikes
    for name, found in {
        "assemblies": spikeweave.assemblies(spikes, bins=["5ms"], max_size=3),
        "bursts": spikeweave.bursts(spikes, min_spikes=2),
        "replay": spikeweave.replay([chain], spikes, events=events, surrogates=19, seed=1),
        "compare": spikeweave.compare(
            spikes, later, delays="4-6ms", max_size=2, block="2s", seed=1
        ),
    }.items():
        found.save(tmp_path / name)

        again = spikeweave.load(tmp_path / name)

        assert type(again) is type(found)
        assert not differing(found, again, "parameters"), name
        assert again.to_html() == found.to_html()


def test_the_command_reads_what_was_saved(spikes, tmp_path):
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    found = spikeweave.episodes(spikes, **SEARCH)
    found.save(tmp_path / "out")
    spikeweave.write(tmp_path / "s.npz", spikes)
    asked = ["--delays", "4-6ms", "--min-count", "60", "--max-size", "3"]
    to = tmp_path / "by_command"
    subprocess.run([program, "episodes", tmp_path / "s.npz", *asked, "-q", "-o", to], check=True)
    page = tmp_path / "page.html"
    subprocess.run([program, "report", tmp_path / "out", "-o", page], check=True)

    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {path.name for path in to.iterdir()}
    for name in names - {"run.json", "result.json", "report.html"}:
        assert (tmp_path / "out" / name).read_bytes() == (to / name).read_bytes(), name
    assert page.read_text("utf-8") == found.to_html()
    assert same(spikeweave.load(to).counts, spikeweave.load(tmp_path / "out").counts)


def test_sortings_are_saved(tmp_path):
    made = spikeweave.simulate.features(spikes=300, units=2, channels=4, seed=1)
    found = spikeweave.sort_features(made.features)
    found.save(tmp_path / "out")

    again = spikeweave.load(tmp_path / "out")

    assert not differing(found, again, "_data", "parameters", "iterations")
    assert again.iterations["changed"].tolist() == found.iterations["changed"].tolist()
    assert again.iterations["score"] == pytest.approx(found.iterations["score"])
    assert again.summary == found.summary
    assert again.to_html() == found.to_html()
    assert again.parameters["stop"] == found.parameters["stop"]
    with pytest.raises(ValueError, match="no folder for Phy"):
        again.to_phy(tmp_path / "phy")


def test_sorted_recordings_are_saved(tmp_path):
    made = spikeweave.simulate.recording(
        units=3, channels=8, length="20s", seed=2, drift="20um", drift_period="10s"
    )
    found = spikeweave.sort(made.recording)
    found.save(tmp_path / "out")

    again = spikeweave.load(tmp_path / "out")

    assert not differing(found, again, "_data", "parameters", "waveforms", "noise")
    assert same(again.parameters, {name: found.parameters[name] for name in again.parameters})
    known = ~np.isnan(again.waveforms)
    assert known[1:].any()
    assert not known[0].any()
    assert np.array_equal(again.waveforms[known], found.waveforms[known])
    assert again._repr_html_() == found._repr_html_()
    again.to_phy(tmp_path / "phy")
    assert (tmp_path / "phy" / "params.py").exists()
    assert len(spikeweave.read(tmp_path / "out" / "spikes.npz")) == len(again.spikes)


@pytest.mark.filterwarnings("ignore")
def test_windows_are_saved(spikes, tmp_path):
    found = spikeweave.windows(spikes, **SEARCH, window=8, hop=4, change_points=True)
    found.save(tmp_path / "out")

    again = spikeweave.load(tmp_path / "out")

    assert again.summary == found.summary
    assert again.to_html() == found.to_html()
    assert again._repr_html_() == found._repr_html_()
    assert same(again.parameters, found.parameters)
    for one, other in zip(found, again, strict=True):
        assert not differing(one, other, "chains", "levels", "seconds", "spikes")
        assert same(one.spikes.times, other.spikes.times)
        assert [str(other[i]) for i in other.chains] == [str(one[i]) for i in one.chains]
        assert other.summary == found.summary
    with pytest.raises(ValueError, match="no page of a single window"):
        again[0].to_html()
    with pytest.raises(ValueError, match=r"change_points\.tsv"):
        again.to_dataframe("changes")


def test_what_cannot_be_saved(spikes, tmp_path):
    found = spikeweave.episodes(spikes, **SEARCH)
    found.save(tmp_path / "out")

    with pytest.raises(OSError, match="exists"):
        found.save(tmp_path / "out")
    found.save(tmp_path / "out", overwrite=True)
    with pytest.raises(ValueError, match="only a whole result can be saved"):
        found[:3].save(tmp_path / "part")
    with pytest.raises(ValueError, match="not a copy of it"):
        pickle.loads(pickle.dumps(found)).save(tmp_path / "copy")
    with pytest.raises(ValueError, match="holds its files"):
        spikeweave.load(tmp_path / "out").save(tmp_path / "copy")
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_what_is_not_a_result(spikes, tmp_path):
    with pytest.raises(OSError, match=r"no result\.json"):
        spikeweave.load(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spikeweave.episodes(spikes, **SEARCH).save(tmp_path / "out")
    path = tmp_path / "out" / "result.json"
    document = json.loads(path.read_text("utf-8"))
    del document["circuit"]["gain"]
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(OSError, match=r"result\.json': it is damaged"):
        spikeweave.load(tmp_path / "out")
