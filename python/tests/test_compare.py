"""`compare()` and `compare_epochs()`: what the command writes, as columns."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spikeweave

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from page_data import data_of

SEARCH = {"delays": "4-6ms", "max_size": 3, "permutations": 499, "seed": 3}


@pytest.fixture(scope="module")
def recordings():
    """Connections are weaker in the second recording."""
    return [
        spikeweave.simulate.sym26(length="60s", probability=one, seed=1).spikes
        for one in (0.8, 0.4)
    ]


@pytest.fixture(scope="module")
def by_command(recordings, tmp_path_factory):
    """The folder that the command writes for them."""
    program = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not program.exists():
        pytest.skip("the command is not installed")
    folder = tmp_path_factory.mktemp("conditions")
    files = [folder / "a.npz", folder / "b.npz"]
    for path, one in zip(files, recordings, strict=True):
        spikeweave.write(path, one)
    search = ["--delays", "4-6ms", "--max-size", "3", "--permutations", "499", "--seed", "3"]
    subprocess.run([program, "compare", *files, *search, "-q", "-o", folder / "out"], check=True)
    return folder / "out"


def test_command_writes_the_same_columns(recordings, by_command):
    with (by_command / "differences.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))

    found = spikeweave.compare(recordings[:1], recordings[1:], **SEARCH)

    assert ["→".join(one.units) for one in found] == [row["units"] for row in rows]
    assert found.columns["change"] == [row["change"] for row in rows]
    compared = (
        "count_a",
        "count_b",
        "removed_b",
        "rate_ratio",
        "rate_q",
        "excess_difference",
        "excess_p",
    )
    for name in compared:
        written = [float(row[name]) for row in rows]
        assert np.allclose(found.columns[name], written, rtol=1e-5), name
    count, expected, removed, excess = (
        np.asarray(found.columns[f"{name}_a"])
        for name in ("count", "expected", "removed", "excess")
    )
    assert np.allclose(excess, (count - expected) / removed)


def test_names_conditions_by_their_files(by_command):
    files = [by_command.parent / "a.npz", str(by_command.parent / "b.npz")]
    found = spikeweave.compare(*files, **SEARCH)

    assert [one["name"] for one in found.conditions] == ["a.npz", "b.npz"]
    assert " between a.npz and b.npz, " in found.summary
    assert "<th>count in a.npz</th><th>count in b.npz</th>" in found._repr_html_()
    own = data_of(found.to_html())["run"]["input"]["a"]
    assert own["name"] == "a.npz"


def test_page_has_the_findings_of_the_command(recordings, by_command):
    found = spikeweave.compare(recordings[:1], recordings[1:], **SEARCH)

    own = data_of(found.to_html())
    written = data_of((by_command / "report.html").read_text("utf-8"))
    assert own["unit_names"] == written["unit_names"]
    assert own["differences"] == written["differences"]
    assert own["run"]["comparison"].items() <= written["run"]["comparison"].items()
    for side in "ab":
        told = {**written["run"]["input"][side], "files": [], "name": side}
        assert own["run"]["input"][side] == told


def test_command_writes_the_same_graph(recordings, by_command):
    networkx = pytest.importorskip("networkx")
    written = networkx.read_graphml(by_command / "differences.graphml")
    names = networkx.get_node_attributes(written, "name")

    found = spikeweave.compare(recordings[:1], recordings[1:], **SEARCH)
    graph = found.to_networkx()

    assert list(graph.nodes) == [names[node] for node in written.nodes]
    edges = {(names[a], names[b]): data for a, b, data in written.edges(data=True)}
    assert graph.number_of_edges() == len(edges) == sum(one.size == 2 for one in found)
    assert {data["direction"] for *_, data in graph.edges(data=True)} >= {"down"}
    for a, b, data in graph.edges(data=True):
        same = edges[a, b]
        assert (data["change"], data["direction"]) == (same["change"], same["direction"])
        assert data["delay_low"] * 1e3 == pytest.approx(same["delay_low_ms"])
        for name in ("rate_ratio", "rate_q", "excess_a", "excess_b", "excess_q"):
            assert data[name] == pytest.approx(same.get(name, float("nan")), rel=1e-5, nan_ok=True)


def test_finding_is_counted_in_both(recordings):
    found = spikeweave.compare(recordings[:1], recordings[1:], **SEARCH)
    blocks = [(10 * i, 10 * (i + 1)) for i in range(6)]
    counted = spikeweave.episodes(recordings[0], epochs=blocks, delays="4-6ms", min_count=50)
    by_units = {one.units: one.count for one in counted}
    assert len(found) > 9
    for one, count in zip(found, found.columns["count_a"], strict=True):
        assert by_units[one.units] == count


def test_epochs_and_table(recordings):
    even, odd = ([(i, i + 1) for i in range(begin, 60, 2)] for begin in (0, 1))
    found = spikeweave.compare_epochs(recordings[0], even, odd, **SEARCH)
    assert (found.samples, found.sample_counts) == ("epochs", (30, 30))
    assert found.smallest_p == 1 / 500
    assert "units" in found.to_dataframe().columns
    assert repr(found).endswith("findings changed>")
    with pytest.raises(ValueError, match="overlap"):
        spikeweave.compare_epochs(recordings[0], even, even, **SEARCH)
    with pytest.raises(ValueError, match="pairs of times"):
        spikeweave.compare_epochs(recordings[0], [1, 2], odd, **SEARCH)


def test_a_recording_needs_no_list(recordings):
    alone = spikeweave.compare(recordings[0], recordings[1], **SEARCH)
    listed = spikeweave.compare(recordings[:1], recordings[1:], **SEARCH)
    assert list(alone) == list(listed)
    assert alone.columns["excess_p"].tolist() == listed.columns["excess_p"].tolist()


def test_what_cannot_be_compared(recordings):
    with pytest.raises(TypeError, match="a: expected a recording or a list of recordings; "):
        spikeweave.compare(5, recordings[1:])
    with pytest.raises(ValueError, match="smallest p"):
        spikeweave.compare(recordings[:1] * 3, recordings[1:] * 3, **SEARCH)


def test_pages_tell_which_call_repeats_them(recordings):
    even, odd = ([(i, i + 1) for i in range(begin, 60, 2)] for begin in (0, 1))
    found = spikeweave.compare_epochs(recordings[0], even, odd, **SEARCH)
    shown = data_of(found.to_html())
    assert shown["run"]["command"].startswith("spikeweave.compare_epochs(spikes, a, b, ")
    assert [
        one["spikes"]
        for one in shown["run"]["input"].values()
        if isinstance(one, dict) and "spikes" in one
    ] == [one["spikes"] for one in found.conditions]

    made = spikeweave.simulate.patterns(
        units=10, patterns=(4,), length="60s", occurrences=120, seed=1
    ).spikes
    patterns = spikeweave.spade(made, min_occ=40, min_spikes=4, surrogates=99, alpha=0.05)
    in_epochs = spikeweave.compare_patterns_in_epochs(made, even, odd, patterns)
    shown = data_of(in_epochs.to_html())
    assert shown["run"]["command"].startswith(
        "spikeweave.compare_patterns_in_epochs(spikes, a, b, patterns, "
    )
    findings = shown["differences"]
    assert (findings["total"], findings["lags_ms"]) == (1, [[0, 5, 10, 15]])
    assert [[shown["unit_names"][unit] for unit in units] for units in findings["units"]] == [
        list(one.units) for one in in_epochs
    ]
    assert "delays_ms" not in findings
