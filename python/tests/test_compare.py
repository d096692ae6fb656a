"""`compare()`: several results in a page, whose data are those that the command writes."""

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
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
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

    own = data_of(spikeweave.compare(results, view=view, alpha=0.1).to_html())
    assert set(own) == set(written)
    for key in ("format", "version", "kind", "alpha", "units", "episodes", "changes"):
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


def test_what_is_not_frequent_is_counted(results):
    both = spikeweave.compare([results["first"], results["second"]])

    data = data_of(both.to_html())
    assert [one["name"] for one in data["recordings"]] == ["1", "2"]
    episodes = data["episodes"]
    rows = zip(*(episodes[key] for key in ("units", "delays_ms", "count", "q")), strict=True)
    unlisted = [(units, delays, counts[1]) for units, delays, counts, q in rows if q[1] is None]
    assert unlisted
    chains = [
        (
            [data["units"][unit] for unit in units],
            [(low / 1000, high / 1000) for low, high in delays],
        )
        for units, delays, _ in unlisted
    ]
    counted = spikeweave.count_episodes(results["second"].spikes, chains)
    assert counted.tolist() == [count for *_, count in unlisted]


def test_comparison_is_named(results):
    assert repr(spikeweave.compare(results)) == "<Comparison: first, second, third>"


def test_names_are_no_markup(results):
    page = spikeweave.compare({"</script><b>": results["first"], "b": results["second"]}).to_html()

    assert page.count("</script") == 2
    assert data_of(page)["recordings"][0]["name"] == "</script><b>"


def test_refuses_what_cannot_be_compared(results):
    first = results["first"]
    wider = spikeweave.episodes(first.spikes, **{**SEARCH, "delays": "4-7ms"})

    with pytest.raises(ValueError, match=r"'2' was searched with other delays or ties than '1'"):
        spikeweave.compare([first, wider])
    with pytest.raises(ValueError, match="two results or more"):
        spikeweave.compare([first])
    with pytest.raises(ValueError, match="alpha"):
        spikeweave.compare([first, first], alpha=0)
    with pytest.raises(ValueError, match="view"):
        spikeweave.compare([first, first], view="film")
    with pytest.raises(TypeError, match="results"):
        spikeweave.compare(first)
    with pytest.raises(TypeError, match="results"):
        spikeweave.compare([first, first.spikes])
