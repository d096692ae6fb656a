"""The page of a result: `to_html()`, whose data are those that the command writes."""

import base64
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import spikeweave

SEARCH = {"delays": "4-6ms,8-12ms", "min_count": 60, "max_size": 3}


def data_of(page):
    """The data of a page."""
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    )


def numbers(text):
    """Numbers of seven bits a byte, decoded one by one."""
    values, value, shift = [], 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


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
    names = data["units"]
    keys = []
    for units, count, q in zip(episodes["units"], episodes["count"], episodes["q"], strict=True):
        assert (count, q) in rows[tuple(names[unit] for unit in units)]
        keys.append((-len(units), q, -count))
    assert [key[:2] for key in keys] == sorted(key[:2] for key in keys)
    chains = data["run"]["circuit"]["chains"]
    shown = [tuple(names[unit] for unit in episodes["units"][number - 1]) for number in chains]
    assert shown == [found[int(i)].units for i in found.chains]
    assert [edge["kind"] for edge in data["edges"]] == found.circuit.kind


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
    for key in ("format", "version", "kind", "units", "spikes", "episodes", "edges"):
        assert own[key] == written[key]
    for key in ("ties", "threshold", "strategy"):
        assert own["run"]["search"][key] == written["run"]["search"][key]
    assert own["run"]["circuit"]["chains"] == written["run"]["circuit"]["chains"]
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
    assert name in data_of(page)["units"]
