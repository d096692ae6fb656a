"""The pages of results: `to_html()`, whose data are those that the command writes."""

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import spikeweave

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from page_data import data_of, numbers

SEARCH = {"delays": "4-6ms,8-12ms", "min_count": 60, "max_size": 3}


@pytest.fixture(scope="module")
def found():
    spikes = spikeweave.simulate.sym26(length="20s", seed=1).spikes
    return spikeweave.episodes(spikes, **SEARCH)


def test_page_has_the_spikes(found):
    spikes = data_of(found.to_html())["spikes"]

    times = spikes["begin_us"] + np.cumsum(numbers(spikes["steps_us"]))
    assert times.tolist() == found.spikes.times_us.tolist()
    assert numbers(spikes["units"]) == found.spikes.units.tolist()


def test_long_steps_of_time_are_exact():
    spikes = spikeweave.SpikeSequence.of({"a": [0.0, 1e7, 1e7 + 1e-6], "b": [5e6]})

    coded = data_of(spikeweave.episodes(spikes, min_count=1).to_html())["spikes"]

    assert numbers(coded["steps_us"]) == [0, 5 * 10**12, 5 * 10**12, 1]
    assert numbers(coded["units"]) == [0, 1, 0, 0]


def test_page_has_the_episodes_in_the_order_of_tables(found):
    data = data_of(found.to_html())
    episodes = data["episodes"]

    assert episodes["total"] == len(found)
    rows = {tuple(one.units): [] for one in found}
    for one in found:
        rows[one.units].append((one.count, float(f"{one.q:.6g}")))
    names = data["unit_names"]
    keys = []
    for units, count, q in zip(episodes["units"], episodes["count"], episodes["q"], strict=True):
        assert (count, q) in rows[tuple(names[unit] for unit in units)]
        keys.append((-len(units), q, -count))
    assert [key[:2] for key in keys] == sorted(key[:2] for key in keys)
    chains = data["run"]["circuit"]["chains"]
    shown = [tuple(names[unit] for unit in episodes["units"][number - 1]) for number in chains]
    assert shown == [found[int(i)].units for i in found.chains]
    assert data["circuit"]["kind"] == found.circuit.kind


def test_maximal_episodes_are_part_of_no_other(found):
    episodes = data_of(found.to_html())["episodes"]

    chosen = list(zip(episodes["units"], episodes["maximal"], strict=True))
    longest = max(len(units) for units, _ in chosen)
    assert all(maximal for units, maximal in chosen if len(units) == longest)
    assert not any(maximal for units, maximal in chosen if len(units) == 1)


def test_command_writes_the_same_data(found, tmp_path):
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    spikeweave.write(tmp_path / "s.tsv", found.spikes)
    search = ["--delays", SEARCH["delays"], "--min-count", "60", "--max-size", "3"]
    to = tmp_path / "out"
    subprocess.run([program, "episodes", tmp_path / "s.tsv", *search, "-q", "-o", to], check=True)

    written = data_of((to / "report.html").read_text("utf-8"))

    own = data_of(found.to_html())
    for key in ("format", "version", "kind", "unit_names", "spikes", "episodes", "circuit"):
        assert own[key] == written[key]
    for key in ("ties", "threshold", "strategy"):
        assert own["run"]["search"][key] == written["run"]["search"][key]
    assert own["run"]["circuit"] == written["run"]["circuit"]
    for key in ("test", "alpha"):
        assert own["run"]["significance"][key] == written["run"]["significance"][key]


def test_selections_and_empty_results_have_pages(found):
    some = data_of(found[found.sizes == 2].to_html())
    none = data_of(found[:0].to_html())

    assert {len(units) for units in some["episodes"]["units"]} == {2}
    assert none["episodes"]["units"] == []


def test_names_are_no_markup():
    name = "</script>\u2028<b>\ufffe"
    spikes = spikeweave.SpikeSequence.of([[0.1, 0.2], [0.105, 0.205]], unit_names=[name, "b"])

    page = spikeweave.episodes(spikes, min_count=1).to_html()

    assert page.count("</script") == 2
    assert "\ufffe" not in page
    assert name in data_of(page)["unit_names"]


PATTERNS = {"bin": "5ms", "window": 12, "surrogates": 30, "alpha": 0.2, "seed": 1}


@pytest.fixture(scope="module")
def patterns():
    made = spikeweave.simulate.patterns(
        units=10, patterns=(4, 3), occurrences=25, length="20s", rate=6, seed=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spikeweave.spade(made.spikes, stability=20, **PATTERNS)


def test_page_has_the_patterns_in_the_order_of_tables(patterns):
    data = data_of(patterns.to_html())
    table = data["patterns"]

    assert data["kind"] == "spade"
    assert table["total"] == len(patterns) > 1
    found = {(one.units, tuple(one.lags.round(6))): one for one in patterns}
    keys = []
    for units, lags, count, p in zip(
        table["units"], table["lags_ms"], table["count"], table["p"], strict=True
    ):
        names = tuple(data["unit_names"][unit] for unit in units)
        one = found[names, tuple(lag / 1000 for lag in lags)]
        assert (count, p) == (one.count, float(f"{one.p:.6g}"))
        keys.append((p, -len(units), -count))
    assert keys == sorted(keys)
    assert data["signatures"]["total"] == len(patterns.signatures["size"])
    assert data["funnel"]["left"] == [step["left"] for step in patterns.funnel]


def test_spectrum_of_a_page_has_the_largest_p_of_each_field(patterns):
    spectrum = data_of(patterns.to_html())["spectrum"]

    width, low = spectrum["counts_of_a_field"], spectrum["low"]
    table = patterns.pvalue_spectrum
    expected = {}
    for size, count, p in zip(table["size"], table["count"], table["p"], strict=True):
        at = int(size), int(low + (count - low) // width * width)
        expected[at] = max(expected.get(at, 0), float(f"{p:.6g}"))
    fields = zip(spectrum["size"], spectrum["count"], strict=True)
    assert dict(zip(fields, spectrum["p"], strict=True)) == expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"surrogates": None, "seed": None, "alpha": None, "min_occ": 8},
        {"spectrum": "3d#"},
        {"t_start": 2.001, "t_stop": 18},
        {"epochs": [(1.0013, 9), (10, 15.5)]},
    ],
    ids=["tested", "untested", "durations", "part", "epochs"],
)
@pytest.mark.filterwarnings("ignore")
def test_command_writes_the_same_patterns(patterns, options, tmp_path):
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    asked = {key: value for key, value in {**PATTERNS, **options}.items() if value is not None}
    spikeweave.write(tmp_path / "s.npz", patterns.spikes)
    given = []
    for key, value in asked.items():
        if key == "epochs":
            value = tmp_path / "epochs.csv"
            value.write_text("".join(f"{begin},{end}\n" for begin, end in asked[key]))
        elif key in ("t_start", "t_stop"):
            value = f"{value}s"
        given += [f"--{key.replace('_', '-')}", str(value)]
    to = tmp_path / "out"
    subprocess.run([program, "spade", tmp_path / "s.npz", *given, "-q", "-o", to], check=True)

    written = data_of((to / "report.html").read_text("utf-8"))

    own = data_of(spikeweave.spade(patterns.spikes, **asked).to_html())
    for key in (
        "format",
        "version",
        "kind",
        "unit_names",
        "windows",
        "spikes",
        "spectrum",
        "funnel",
    ):
        assert own[key] == written[key], key
    assert own["signatures"] == written["signatures"]
    if "surrogates" in asked:
        assert own["patterns"] == written["patterns"]
    else:  # the command writes them in the order in which they are found
        assert own["patterns"]["total"] == written["patterns"]["total"]


@pytest.fixture(scope="module")
def sorting():
    made = spikeweave.simulate.recording(
        units=4, channels=16, length="12s", low_peak=120, low_rate=6, drift=15, seed=4
    )
    return spikeweave.sort(made.recording)


def test_page_has_the_units(sorting):
    data = data_of(sorting.to_html())

    assert data["kind"] == "sort"
    quality = data["units"]
    assert quality["spikes"] == sorting.units["spikes"].tolist()
    for name, key in (("rate", "rate_hz"), ("snr", "snr"), ("contamination", "contamination")):
        assert quality[key] == [float(f"{value:.6g}") for value in sorting.units[name]]
    times = data["spikes"]["begin_us"] + np.cumsum(numbers(data["spikes"]["steps_us"]))
    assert times.tolist() == sorting.spikes.times_us.tolist()
    assert len(data["merges"]["reason"]) == len(sorting.merges["reason"])
    assert data["motion"]["displacement_um"] == pytest.approx(
        sorting.motion["displacement"].ravel(), abs=0.005
    )
    points = data["points"]["units"][0]
    assert len(numbers(points["times_ms"])) == sorting.units["spikes"][0]


def test_copies_have_the_same_page(sorting):
    assert pickle.loads(pickle.dumps(sorting)).to_html() == sorting.to_html()


def test_command_writes_the_same_units(sorting, tmp_path):
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    made = ("--units", "4", "--channels", "16", "--length", "12s", "--low-peak", "120")
    more = ("--low-rate", "6", "--drift", "15um", "--seed", "4")
    recording, to = tmp_path / "recording", tmp_path / "out"
    subprocess.run([program, "simulate", "recording", *made, *more, "-o", recording], check=True)
    subprocess.run([program, "sort", recording, "-q", "-o", to], check=True)

    written = data_of((to / "report.html").read_text("utf-8"))

    own = data_of(sorting.to_html())
    assert set(own) == set(written)
    for key in ("units", "spikes", "channels", "waveforms", "points", "motion", "merges"):
        assert own[key] == written[key], key


def test_sorted_features_have_a_page():
    made = spikeweave.simulate.features(spikes=500, units=2, channels=4, seed=1)
    found = spikeweave.sort_features(made.features, made.masks)

    data = data_of(found.to_html())

    assert data["units"]["spikes"] == found.units["spikes"].tolist()
    assert data["waveforms"] is None
    assert data["points"] is None
