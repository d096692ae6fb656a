"""`report()`: several results in a page, whose data are those that the command writes."""

import subprocess
import sys
from pathlib import Path

import pytest

import spikeweave

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from page_data import data_of

SEARCH = {"delays": "4-6ms,8-12ms", "min_count": 60, "max_size": 4}


@pytest.fixture(scope="module")
def results():
    """Connections are weaker in the second recording; the third one lacks a unit."""
    probabilities = {"first": 0.8, "second": 0.4, "third": 0.8}
    spikes = {
        name: spikeweave.simulate.sym26(length="12s", probability=one, seed=i).spikes
        for i, (name, one) in enumerate(probabilities.items())
    }
    spikes["third"] = spikes["third"].select(spikes["third"].unit_names[1:])
    return {name: spikeweave.episodes(one, **SEARCH) for name, one in spikes.items()}


@pytest.mark.parametrize("view", ["side-by-side", "series"])
def test_command_writes_the_same_comparison(results, view, tmp_path):
    program = program_or_skip()
    for name, found in results.items():
        spikeweave.write(tmp_path / f"{name}.npz", found.spikes)
        search = ["--delays", SEARCH["delays"], "--min-count", "60", "--max-size", "4"]
        source = tmp_path / f"{name}.npz"
        subprocess.run(
            [program, "episodes", source, *search, "-q", "-o", tmp_path / name], check=True
        )
    folders = [tmp_path / name for name in results]
    page = tmp_path / "page.html"
    subprocess.run(
        [program, "report", *folders, "--as", view, "--alpha", "0.1", "-o", page], check=True
    )

    written = data_of(page.read_text("utf-8"))

    own = data_of(spikeweave.report(results, view=view, alpha=0.1).to_html())
    assert set(own) == set(written)
    for key in (
        "format",
        "version",
        "kind",
        "alpha",
        "unit_names",
        "episodes",
        "changes",
        "stability",
    ):
        assert own[key] == written[key], key
    assert [one["name"] for one in own["recordings"]] == list(results)
    for one, other in zip(own["recordings"], written["recordings"], strict=True):
        assert one["spikes"] == other["spikes"]
        assert one["run"]["command"].startswith("spikeweave.episodes(")
    assert {word for change in own["changes"] for word in change["change"]} >= {
        "",
        "gone",
        "weaker",
    }


def program_or_skip():
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    return program


@pytest.mark.filterwarnings("ignore")
def test_command_writes_the_same_comparison_of_patterns(tmp_path):
    program = program_or_skip()
    search = {"bin": "5ms", "window": 10, "min_spikes": 3, "surrogates": 50, "alpha": 0.1}
    found = {}
    for name, occurrences in (("often", 40), ("seldom", 15)):
        spikes = spikeweave.simulate.patterns(
            units=10, rate=6, length="20s", patterns=(4,), occurrences=occurrences, seed=1
        ).spikes
        found[name] = spikeweave.spade(spikes, **search, seed=1)
        spikeweave.write(tmp_path / f"{name}.npz", spikes)
        options = [
            text for key in search for text in (f"--{key.replace('_', '-')}", str(search[key]))
        ]
        source = tmp_path / f"{name}.npz"
        subprocess.run(
            [program, "spade", source, *options, "--seed", "1", "-q", "-o", tmp_path / name],
            check=True,
        )
    page = tmp_path / "page.html"
    subprocess.run(
        [program, "report", *(tmp_path / name for name in found), "-o", page], check=True
    )

    written = data_of(page.read_text("utf-8"))

    own = data_of(spikeweave.report(found).to_html())
    assert own["kind"] == "spade-comparison"
    assert set(own) == set(written)
    for key in ("unit_names", "patterns", "changes", "alpha"):
        assert own[key] == written[key], key
    for one, other in zip(own["recordings"], written["recordings"], strict=True):
        for key in ("name", "spikes", "windows", "patterns"):
            assert one[key] == other[key], key
    assert own["patterns"]["total"] > 0


def test_command_writes_the_same_comparison_of_sortings(tmp_path):
    program = program_or_skip()
    made = ("--units", "4", "--channels", "16", "--length", "12s", "--low-peak", "120")
    recording = tmp_path / "recording"
    subprocess.run([program, "simulate", "recording", *made, "-o", recording], check=True)
    folders = [tmp_path / name for name in ("templates", "cluster")]
    for stages in folders:
        subprocess.run(
            [program, "sort", recording, "--stages", stages.name, "-q", "-o", stages], check=True
        )
    page = tmp_path / "page.html"
    subprocess.run([program, "report", *folders, "-o", page], check=True)

    written = data_of(page.read_text("utf-8"))

    found = {one.name: spikeweave.sort(recording, stages=one.name) for one in folders}
    own = data_of(spikeweave.report(found).to_html())
    assert own["kind"] == "sort-comparison"
    assert set(own) == set(written)
    for key in ("pairs", "rows", "within_ms", "matched_agreement"):
        assert own[key] == written[key], key
    for one, other in zip(own["sortings"], written["sortings"], strict=True):
        for key in ("name", "unit_names", "units", "spikes", "channels", "waveforms"):
            assert one[key] == other[key], key
    assert sum(own["rows"]["matched"]) > 1


def test_what_is_not_frequent_is_counted(results):
    both = spikeweave.report([results["first"], results["second"]])

    data = data_of(both.to_html())
    assert [one["name"] for one in data["recordings"]] == ["1", "2"]
    episodes = data["episodes"]
    rows = zip(*(episodes[key] for key in ("units", "delays_ms", "count", "q")), strict=True)
    unlisted = [(units, delays, counts[1]) for units, delays, counts, q in rows if q[1] is None]
    assert unlisted
    chains = [
        (
            [data["unit_names"][unit] for unit in units],
            [(low / 1000, high / 1000) for low, high in delays],
        )
        for units, delays, _ in unlisted
    ]
    counted = spikeweave.count_episodes(results["second"].spikes, chains)
    assert counted.tolist() == [count for *_, count in unlisted]


def test_comparison_is_named(results):
    assert repr(spikeweave.report(results)) == "<Report: first, second, third>"


def test_names_are_no_markup(results):
    page = spikeweave.report({"</script><b>": results["first"], "b": results["second"]}).to_html()

    assert page.count("</script") == 2
    assert data_of(page)["recordings"][0]["name"] == "</script><b>"


def test_refuses_what_cannot_be_compared(results):
    first = results["first"]
    wider = spikeweave.episodes(first.spikes, **{**SEARCH, "delays": "4-7ms"})

    with pytest.raises(ValueError, match=r"'2' was searched with other delays or ties than '1'"):
        spikeweave.report([first, wider])
    with pytest.raises(ValueError, match="two results or more"):
        spikeweave.report([first])
    with pytest.raises(ValueError, match="alpha"):
        spikeweave.report([first, first], alpha=0)
    with pytest.raises(ValueError, match="view"):
        spikeweave.report([first, first], view="film")
    with pytest.raises(TypeError, match="results"):
        spikeweave.report(first)
    with pytest.raises(TypeError, match="results"):
        spikeweave.report([first, first.spikes])
