"""The sentence of each result, and what makes results easy to use in a notebook."""

import json
import pickle
import re

import numpy as np
import pytest

import spikeweave


@pytest.fixture(scope="module")
def made():
    return spikeweave.simulate.sym26(seed=1)


@pytest.fixture(scope="module")
def found(made):
    return spikeweave.episodes(made.spikes)


@pytest.fixture(scope="module")
def results(made, found):
    """A result of each kind that has a page."""
    features = spikeweave.simulate.features(spikes=300, units=2, channels=4, seed=1)
    spikes = made.spikes.select([f"n{i}" for i in range(5)], t_stop=20)
    return [
        found,
        spikeweave.windows(made.spikes, window=30, delays="4-6ms", min_count=50),
        spikeweave.spade(spikes, min_occ=60, min_spikes=3, window=4),
        spikeweave.assemblies(spikes, bins=["10ms"]),
        spikeweave.bursts(spikes),
        spikeweave.replay(found, made.spikes, surrogates=50),
        spikeweave.compare(spikes, spikes.select(t_stop=10), permutations=99, block=1),
        spikeweave.sort_features(features.features, features.masks),
    ]


def test_every_result_says_the_sentence_of_the_command(results, tmp_path):
    for number, result in enumerate(results):
        folder = tmp_path / str(number)
        result.save(folder)
        record = json.loads((folder / "run.json").read_text("utf-8"))

        assert result.summary == record["summary"], type(result)
        assert pickle.loads(pickle.dumps(result)).summary == result.summary
        assert result._repr_html_().startswith(f"<p><b>{result.summary}</b></p>")
        said = record["input"]["warnings"]
        assert result.summary.endswith(f" {len(said)} warnings." if len(said) > 1 else ".")


def test_notebooks_list_chains_and_then_connections(found):
    html = found._repr_html_()

    assert "10 connections (10 excitatory, 0 inhibitory)" in html
    assert html.index("n4 →4-8ms→ n5") < html.index("n0 →4-8ms→ n1")
    assert html.count("<tr>") == 11
    assert "the first 10 of 12" in html
    longest = found[found.sizes > 6]
    assert longest.summary == found.summary
    assert "e+" not in html
    assert "·10⁻" in html


def test_nothing_significant_gives_no_row():
    html = spikeweave.episodes(spikeweave.simulate.poisson(units=5, seed=3).spikes)._repr_html_()

    assert "No connection among 5 units" in html
    assert "<table>" not in html


def test_rows_say_what_is_significant_maximal_and_a_chain(found, tmp_path):
    found.save(tmp_path / "out")
    table = spikeweave.load(tmp_path / "out").to_dataframe()
    lines = [line.split("\t") for line in (tmp_path / "out/episodes.tsv").read_text().splitlines()]
    column = {name: i for i, name in enumerate(lines[0])}

    for name in ("significant", "maximal"):
        assert table[name].tolist() == [line[column[name]] == "yes" for line in lines[1:]], name
    assert table["episode"].tolist() == [int(line[column["episode"]]) for line in lines[1:]]
    delays = [" ".join(f"({low:g},{high:g}]" for low, high in one) for one in table["delays_ms"]]
    assert delays == [
        "" if line[column["delays"]] == "-" else line[column["delays"]].removesuffix(" ms")
        for line in lines[1:]
    ]
    rows = found.to_dataframe()
    assert [found[i].units for i in rows.index] == rows["units"].tolist() == table["units"].tolist()
    assert table[table["chain"]]["size"].tolist() == [8, 4]
    assert found.to_dataframe()["chain"].sum() == 2
    assert found.significant.sum() == table["significant"].sum()
    assert not found.significant[found.sizes == 1].any()


def test_a_circuit_is_a_sequence_of_edges(found):
    edges = [edge for edge in found.circuit if edge.kind == "direct"]

    assert len(edges) == 10
    assert {(edge.source, edge.target) for edge in edges} >= {("n0", "n1"), ("n10", "n11")}
    assert found.circuit[-1] == list(found.circuit)[-1]
    assert re.fullmatch(rf"{edges[0].source} →[\d.]+-[\d.]+ms→ {edges[0].target}", str(edges[0]))
    with pytest.raises(IndexError):
        found.circuit[len(found.circuit)]


def test_spikes_have_trains_by_name_and_rates(made):
    spikes = made.spikes

    assert np.array_equal(spikes["n3"], spikes.trains()[3])
    assert spikes.rates == pytest.approx(spikes.counts / 60)
    assert spikes.select("n3").unit_names == ["n3"]
    with pytest.raises(ValueError, match="no unit 'n26'"):
        spikes["n26"]
    with pytest.raises(TypeError, match="name of a unit"):
        spikes[3]


def test_results_and_simulations_are_spikes(made, found):
    assert spikeweave.SpikeSequence.of(made) is made.spikes
    assert spikeweave.episodes(found, max_size=2).spikes == found.spikes


def test_chains_of_a_result_are_searched_again(made, found):
    again = spikeweave.replay(found, made.spikes, surrogates=20)

    assert [chain.size for chain in again.chains] == [8, 4]


@pytest.mark.parametrize(
    ("function", "name", "meant"),
    [
        ("episodes", "delay", "delays"),
        ("episodes", "max_sise", "max_size"),
        ("episodes", "n_surr", "surrogates"),
        ("spade", "bin_size", "bin"),
        ("spade", "winlen", "window"),
        ("spade", "psr_param", "reduce"),
    ],
)
def test_a_mistyped_argument_is_answered_with_the_right_one(made, function, name, meant):
    with pytest.raises(TypeError, match=f"no argument '{name}'; did you mean {meant}\\?$"):
        getattr(spikeweave, function)(made.spikes, **{name: "4-6ms"})


def test_a_name_of_elephant_that_the_function_lacks_has_no_answer(made):
    with pytest.raises(TypeError, match="no argument 'winlen'$"):
        spikeweave.episodes(made.spikes, winlen=20)


@pytest.mark.parametrize(
    ("function", "given", "says"),
    [
        ("episodes", {"seed": 3}, "seed: needs `?surrogates"),
        ("episodes", {"dither": "3ms"}, "dither: needs `?surrogates"),
        ("spade", {"seed": 3}, "seed needs surrogates or stability"),
    ],
)
def test_an_option_of_surrogates_needs_surrogates(made, function, given, says):
    with pytest.raises(ValueError, match=says):
        getattr(spikeweave, function)(made.spikes, **given)


def test_examples_are_those_of_the_command():
    assert spikeweave.example("chains").spikes == spikeweave.simulate.sym26(seed=1).spikes
    assert len(spikeweave.example("patterns").patterns) == 2
    assert spikeweave.example("network").spikes.unit_names[-1] == "n19"
    with pytest.raises(ValueError, match="expected one of culture, network, chains"):
        spikeweave.example("cat")


def test_all_examples_are_listed_with_their_answers():
    listed = spikeweave.example()

    assert list(listed) == ["culture", "network", "chains", "patterns", "recording"]
    assert "two chains, n0 to n3" in listed["chains"]


def test_simulations_have_what_their_spikes_have(made):
    assert np.array_equal(made["n3"], made.spikes["n3"])
    assert np.array_equal(made.rates, made.spikes.rates)
    assert made.select("n3", t_stop=5) == made.spikes.select("n3", t_stop=5)
    hidden = spikeweave.simulate.patterns(units=12, seed=1)
    assert hidden._repr_html_() == hidden.spikes._repr_html_()


def test_patterns_say_whether_they_are_significant(made):
    spikes = made.select([f"n{i}" for i in range(5)], t_stop=20)
    few = {"min_occ": 60, "min_spikes": 3, "window": 4}

    untested = spikeweave.spade(spikes, **few)
    assert len(untested) > 0
    assert not untested.significant.any()
    tested = spikeweave.spade(spikes, **few, surrogates=100, alpha=0.05, seed=1)
    assert len(tested) > 0
    assert tested.significant.all()
    assert tested.to_dataframe()["significant"].all()


def test_several_results_say_what_changed(made):
    days = [made.select(t_stop=20), made.select(t_start=20)]
    found = [spikeweave.episodes(one, delays="4-6ms", min_count=100) for one in days]

    both = spikeweave.report(found)

    assert "change" in both.summary
    assert both._repr_html_().startswith(f"<p><b>{both.summary}</b></p>")
    assert both.warnings == [text for one in found for text in one.warnings]


def test_windows_have_no_nan_in_a_notebook(made):
    found = spikeweave.windows(made.spikes, window=20, delays="4-6ms", min_count=60)

    html = found._repr_html_()

    assert "<td>–</td></tr>" in html
    assert "nan" not in html
    assert "None" not in html


def test_patterns_and_assemblies_are_written_like_chains():
    hidden = spikeweave.simulate.patterns(units=12, rate=20, patterns=(3,), occurrences=400, seed=1)

    found = spikeweave.spade(hidden.spikes, window=4, min_spikes=3, min_occ=200)
    assert str(found[0]) == "n0 →5ms→ n1 →5ms→ n2"
    assert "<td>n0 →5ms→ n1 →5ms→ n2</td>" in found._repr_html_()
    assemblies = spikeweave.assemblies(hidden.spikes, bins=["5ms"])
    assert "n0 →5ms→ n1 →5ms→ n2" in {str(one) for one in assemblies}


def test_figures_are_short():
    spikes = spikeweave.SpikeSequence.of({"a": np.arange(12345) / 7}, t_stop=12345.678)

    assert repr(spikes) == "<SpikeSequence: 12,345 spikes of 1 unit, 0 s to 12,350 s>"
    assert "<td>12,345</td><td>1</td>" in spikes._repr_html_()


def test_a_live_run_ends_with_a_sentence(made, found):
    with spikeweave.live(made.spikes, speed="max", episodes=found[found.chains]) as run:
        assert run.summary == "The run has not ended."
        triggers = sum(isinstance(event, spikeweave.Detection) for event in run)

    assert run.summary.startswith(
        f"{triggers:,} triggers in {len(made.spikes):,} spikes of 26 units"
    )
    assert run.stats._repr_html_().startswith(f"<p><b>{run.summary}</b></p>")
    assert run._repr_html_() == run.stats._repr_html_()


def test_simulated_spikes_list_their_connections():
    html = spikeweave.simulate.sym26(seed=1, length="10s")._repr_html_()

    assert "of 26 units" in html
    assert "10 connections" in html
    assert "<tr><td>n0</td><td>n1</td><td>5</td><td>0.8</td></tr>" in html
