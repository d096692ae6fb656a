"""What is drawn is what the data say."""

import dataclasses
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import synfire  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from synfire import plot  # noqa: E402


@pytest.fixture(autouse=True)
def nothing_is_shown(monkeypatch):
    monkeypatch.setattr(pyplot, "show", lambda *_, **__: pytest.fail("show() was called"))
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def chains():
    spikes = synfire.simulate.sym26(length="20s", seed=1).spikes
    return synfire.episodes(spikes, delays=["4-6ms", "9-11ms"])


@pytest.fixture(scope="module")
def planted():
    return synfire.simulate.patterns(units=30, patterns=(5, 3), occurrences=12, seed=1)


# Few enough occurrences that surrogates reach some signatures, too.
LOOSE = dict(min_occ=6, min_spikes=3, min_neu=3, window=10, surrogates=100, alpha=0.05, seed=1)


@pytest.fixture(scope="module")
def tested(planted):
    return synfire.spade(planted.spikes, reduce=(0, 0, 0), **LOOSE)


@pytest.fixture(scope="module")
def with_durations(planted):
    return synfire.spade(planted.spikes, spectrum="3d#", **LOOSE)


@pytest.fixture(scope="module")
def nothing():
    return synfire.SpikeSequence.of([[], []], t_start=0, t_stop=1)


def points(collection):
    return sorted(map(tuple, np.asarray(collection.get_offsets()).round(6).tolist()))


def line_points(line):
    return sorted(zip(line.get_xdata().round(6).tolist(), line.get_ydata().tolist(), strict=True))


def texts(labels):
    return [label.get_text() for label in labels]


# Rasters


def test_raster_has_every_spike_in_its_units_row(planted):
    ax = plot.raster(planted.spikes)

    (line,) = ax.lines
    spikes = planted.spikes
    assert line_points(line) == sorted(zip(spikes.times.round(6), spikes.units, strict=True))
    assert texts(ax.get_yticklabels()) == spikes.unit_names
    assert ax.get_xlim() == (spikes.t_start, spikes.t_stop)
    assert not ax.collections and ax.get_legend() is None


def test_raster_shows_the_part_asked_for(planted):
    ax = plot.raster(planted.spikes, planted.patterns, t_start=2, t_stop=3)

    drawn = ax.lines[0].get_xdata()
    every = planted.spikes.times
    assert drawn.tolist() == every[(every >= 2) & (every <= 3)].tolist()
    for pattern, rings in zip(planted.patterns, ax.collections, strict=True):
        at = (pattern.times[:, None] + pattern.lags).ravel()
        assert len(rings.get_offsets()) == np.sum((at >= 2) & (at <= 3))


def test_rings_of_planted_patterns_stand_at_times_and_lags(planted):
    ax = plot.raster(planted.spikes, planted.patterns)

    for pattern, rings in zip(planted.patterns, ax.collections, strict=True):
        expected = [
            (round(time + lag, 6), float(unit))
            for time in pattern.times
            for unit, lag in zip(pattern.units, pattern.lags, strict=True)
        ]
        assert points(rings) == sorted(expected)
    assert texts(ax.get_legend().get_texts()) == ["n0, n1, n2, n3, n4", "n5, n6, n7"]


def test_rings_of_elephants_patterns_stand_at_times_and_lags(tested):
    patterns = tested.to_elephant()

    ax = plot.raster(tested.spikes, patterns)

    assert len(ax.collections) == len(patterns) > 0
    for pattern, rings in zip(patterns, ax.collections, strict=True):
        times = pattern["times"].rescale("s").magnitude
        lags = [0.0, *pattern["lags"].rescale("s").magnitude]
        expected = [
            (round(time + lag, 6), float(unit))
            for time in times
            for unit, lag in zip(pattern["neurons"], lags, strict=True)
        ]
        assert points(rings) == sorted(expected)


def test_rings_of_a_result_stand_at_spikes_inside_the_bins(tested):
    ax = plot.raster(tested.spikes, tested)

    trains = tested.spikes.trains()
    width = tested.parameters["bin"]
    assert len(ax.collections) == len(tested) > 0
    for i, rings in enumerate(ax.collections):
        pattern = tested[i]
        drawn = np.asarray(rings.get_offsets()).reshape(pattern.count, pattern.size, 2)
        late = drawn[:, :, 0] - (pattern.times[:, None] + pattern.lags)
        assert late.min() > -2e-6 and late.max() < width + 2e-6
        for time, unit in drawn.reshape(-1, 2):
            assert np.abs(trains[int(unit)] - time).min() < 1e-9


def test_rings_of_episodes_are_those_of_the_chains(chains):
    ax = plot.raster(chains.spikes, chains)

    index = {name: i for i, name in enumerate(chains.spikes.unit_names)}
    assert len(ax.collections) == len(chains.chains) > 0
    for i, rings in zip(chains.chains, ax.collections, strict=True):
        rows = [index[unit] for unit in chains[i].units]
        expected = [
            (round(time, 6), float(row))
            for occurrence in chains.occurrences(i)
            for time, row in zip(occurrence, rows, strict=True)
        ]
        assert points(rings) == sorted(expected)


def test_a_spike_of_two_patterns_has_two_rings():
    spikes = synfire.SpikeSequence.of({"A": [0.1], "B": [0.2], "C": [0.3]})
    pair = synfire.simulate.PlantedPattern(np.array([0, 1]), np.array([0, 0.1]), np.array([0.1]))
    triple = synfire.simulate.PlantedPattern(
        np.array([0, 1, 2]), np.array([0, 0.1, 0.2]), np.array([0.1])
    )

    inner, outer = plot.raster(spikes, [pair, triple]).collections

    assert len(inner.get_offsets()) == 2 and len(outer.get_offsets()) == 3
    small, large = inner.get_sizes()[0], outer.get_sizes()[0]
    assert inner.get_sizes().tolist() == [small, small]
    assert outer.get_sizes().tolist() == [large, large, small] and small < large
    assert to_hex(inner.get_edgecolors()[0]) != to_hex(outer.get_edgecolors()[0])


def test_indices_choose(chains, tested):
    assert texts(plot.raster(chains.spikes, chains, indices=[0]).get_legend().get_texts())
    assert len(plot.raster(chains.spikes, chains, indices=[3, 4, 5]).collections) == 3
    assert len(plot.raster(tested.spikes, tested, indices=[1]).collections) == 1


@pytest.mark.parametrize(
    ("found", "error", "words"),
    [
        ("patterns", TypeError, "found: expected episodes or patterns"),
        ([3], TypeError, "found: number 0"),
        (
            synfire.simulate.PlantedPattern(np.array([7]), np.array([0.0]), np.array([0.1])),
            ValueError,
            "expected units from 0 to 1, found 7 to 7",
        ),
    ],
)
def test_what_is_no_pattern_is_refused(nothing, found, error, words):
    with pytest.raises(error, match=words):
        plot.raster(nothing, found)


def test_a_result_of_other_units_is_refused(chains):
    with pytest.raises(ValueError, match="unit 'n.*' is not among those of spikes"):
        plot.raster({"A": [0.1]}, chains)


def test_a_span_that_ends_before_it_begins_is_refused(planted):
    with pytest.raises(ValueError, match="t_start: found 3, expected at most t_stop = 2"):
        plot.raster(planted.spikes, t_start=3, t_stop=2)


@pytest.mark.parametrize("units", [1, 30, 31, 1000])
def test_any_number_of_units_has_readable_names(units):
    spikes = synfire.simulate.poisson(units=units, length=0.5, seed=1).spikes

    ax = plot.raster(spikes)

    ticks = ax.get_yticks().tolist()
    assert 1 <= len(ticks) <= 30 and (units > 30 or len(ticks) == units)
    assert texts(ax.get_yticklabels()) == [f"n{tick}" for tick in ticks]
    assert ax.get_ylim()[0] < 0 and ax.get_ylim()[1] > units - 1


def test_aligned_puts_the_first_spikes_on_top_of_each_other(chains):
    which = int(chains.chains[0])
    ax = plot.aligned(chains.spikes, chains, which, before=0.01, after=0.02)

    times = chains.occurrences(which)
    lags = (times - times[:, :1]) * 1e3
    coloured = [line for line in ax.lines if line.get_markeredgewidth() == 2]
    assert len(coloured) == chains[which].size
    assert texts(ax.get_yticklabels()) == list(chains[which].units)
    for band, line in enumerate(coloured):
        rows = np.arange(len(times)) + band * len(times)
        assert line.get_xdata() == pytest.approx(lags[:, band])
        assert line.get_ydata().tolist() == rows.tolist()
    assert ax.get_xlim() == pytest.approx((-10, lags.max() + 20))


def test_aligned_has_all_other_spikes_around():
    trains = {"A": [0.1, 0.2, 0.2005, 0.5], "B": [0.105, 0.19, 0.205, 0.31]}
    pattern = synfire.simulate.PlantedPattern(
        np.array([0, 1]), np.array([0, 0.005]), np.array([0.1, 0.2])
    )

    ax = plot.aligned(trains, [pattern], before=0.01, after=0.005)

    around_a, _, around_b, _, _ = ax.lines
    assert line_points(around_a) == [(0.0, 0.0), (0.0, 1.0), (0.5, 1.0)]
    assert line_points(around_b) == [(-10.0, 3.0), (5.0, 2.0), (5.0, 3.0)]


def test_aligned_of_what_is_not_there_is_refused(chains):
    with pytest.raises(IndexError):
        plot.aligned(chains.spikes, chains, len(chains))


# Episodes


def test_circuit_has_an_arrow_an_edge(chains):
    graph = chains.circuit
    ax = plot.circuit(graph, labels=True)

    assert set(graph.kind) > {"direct"}
    assert len(ax.patches) == len(graph)
    assert [patch.get_linestyle() for patch in ax.patches] == [
        "-" if kind == "direct" else "--" for kind in graph.kind
    ]
    order = np.argsort(graph.strength)
    widths = np.array([patch.get_linewidth() for patch in ax.patches])[order]
    assert (np.diff(widths) >= 0).all() and widths[0] < widths[-1]
    names = {text.get_text(): np.array(text.get_position()) for text in ax.texts[len(graph) :]}
    assert set(names) == {
        graph.unit_names[unit] for unit in [*graph.source.tolist(), *graph.target.tolist()]
    }
    labels = texts(ax.texts[: len(graph)])
    assert labels == [f"({low:g},{high:g}]" for low, high in graph.delay * 1e3]


def test_arrows_lead_from_source_to_target(chains):
    graph = chains.circuit
    ax = plot.circuit(graph, labels=False)
    ax.figure.canvas.draw()

    places = {text.get_text(): np.array(text.get_position()) for text in ax.texts}
    for i, patch in enumerate(ax.patches):
        begin = places[graph.unit_names[graph.source[i]]]
        end = places[graph.unit_names[graph.target[i]]]
        first = patch.get_path().vertices[0]
        assert np.linalg.norm(first - begin) < np.linalg.norm(first - end)
        if graph.kind[i] == "direct":
            assert begin[0] < end[0]


def edges(pairs, kinds=None, strength=0.5):
    """A circuit of these pairs of units."""
    n = len(pairs)
    source, target = np.array(pairs, dtype=np.uint32).reshape(-1, 2).T
    ones = np.ones(n)
    delay = np.tile([0.001, 0.002], (n, 1))
    return synfire.Circuit(
        unit_names=[f"n{i}" for i in range(60)],
        source=source,
        target=target,
        delay=delay,
        best_delay=delay,
        count=np.ones(n, dtype=np.uint64),
        expected=ones,
        p=ones,
        q=ones,
        strength=strength * ones,
        kind=kinds or ["direct"] * n,
        via=[None] * n,
    )


def places(ax):
    return {text.get_text(): text.get_position() for text in ax.texts}


def test_a_circle_of_connections_is_drawn_as_one():
    around = edges([(0, 1), (1, 2), (2, 0)])

    radii = [np.hypot(*place) for place in places(plot.circuit(around, labels=False)).values()]

    assert len(radii) == 3 and radii == pytest.approx([radii[0]] * 3)
    with pytest.raises(ValueError, match="layout: the direct connections go round in circles"):
        plot.circuit(around, layout="layered")


def test_layers_follow_the_longest_way_and_groups_have_rows_of_their_own():
    ax = plot.circuit(edges([(0, 1), (1, 2), (0, 2), (7, 8)]), labels=False)

    where = places(ax)
    assert [where[name][0] for name in ("n0", "n1", "n2", "n7", "n8")] == [0, 1, 2, 0, 1]
    assert where["n7"][1] < where["n0"][1]
    assert len(set(where.values())) == 5


def test_places_can_be_given():
    graph = edges([(0, 1)])

    ax = plot.circuit(graph, layout={"n0": (3, 4), "n1": (5, 6)}, labels=False)

    assert places(ax) == {"n0": (3, 4), "n1": (5, 6)}
    with pytest.raises(ValueError, match="layout: unit 'n1' has no place"):
        plot.circuit(graph, layout={"n0": (3, 4)})
    with pytest.raises(ValueError, match="layout: expected 'layered', 'circular' or places"):
        plot.circuit(graph, layout="spring")
    with pytest.raises(TypeError, match="found: expected a Circuit or an EpisodeResult"):
        plot.circuit([(0, 1)])


def test_many_arrows_are_not_labelled_unless_asked_for():
    graph = edges([(i, i + 1) for i in range(41)])

    assert len(plot.circuit(graph).texts) == 42
    assert len(plot.circuit(graph, labels=True).texts) == 42 + 41


def test_counts_marks_what_is_significant(chains):
    ax = plot.counts(chains)

    alpha = chains.parameters["alpha"]
    more = chains.sizes > 1
    for dots, mask in zip(ax.collections, (chains.q >= alpha, chains.q < alpha), strict=True):
        expected = np.column_stack([chains.expected, chains.counts])[more & mask]
        assert len(expected) > 0
        assert points(dots) == sorted(map(tuple, expected.round(6).tolist()))
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert chains.threshold in [line.get_ydata()[0] for line in ax.lines]


def test_counts_of_a_run_with_surrogates_are_against_these():
    made = synfire.simulate.culture(channels=12, length="60s", chains=(4,), probability=0.8, seed=1)
    found = synfire.episodes(made.spikes, delays="4-6ms", max_size=2, surrogates=200, seed=1)

    ax = plot.counts(found)

    chance, significant = ax.collections
    edges = {
        (found.circuit.expected[i].round(6), float(found.circuit.count[i]))
        for i in range(len(found.circuit))
    }
    assert edges and set(points(significant)) == edges
    assert len(chance.get_offsets()) == np.sum(found.sizes == 2) - len(edges)
    assert ax.get_xlabel() == "Mean count of surrogates"


def test_counts_keeps_episodes_that_nothing_predicts(chains):
    expected = chains.expected.copy()
    unpredicted = np.flatnonzero((chains.sizes > 1) & (chains.q < chains.parameters["alpha"]))[:3]
    expected[unpredicted] = 0

    ax = plot.counts(dataclasses.replace(chains, expected=expected))

    drawn = sum(len(dots.get_offsets()) for dots in ax.collections)
    assert drawn == np.sum(chains.sizes > 1)
    (edge,) = [dots for dots in ax.collections if dots.get_label() == "q < 0.01, expected 0"]
    assert points(edge) == sorted((0.0, float(chains.counts[i])) for i in unpredicted)


# Patterns


def test_spectrum_is_that_of_the_surrogates(tested):
    ax = plot.spectrum(tested)

    mesh = ax.collections[0]
    cells = mesh.get_array()
    corner = mesh.get_coordinates()[0, 0] + 0.5
    table = tested.pvalue_spectrum
    for size, count, p in zip(table["size"], table["count"], table["p"], strict=True):
        assert cells[int(count - corner[1]), int(size - corner[0])] == p
    assert cells.count() == np.sum(np.asarray(table["p"]) > 0) > 0


def test_spectrum_marks_the_signatures_found(tested):
    ax = plot.spectrum(tested)

    found = tested.signatures
    circles, diamonds = ax.collections[1:]
    for dots, mask in ((circles, ~found["significant"]), (diamonds, found["significant"])):
        expected = np.column_stack([found["size"], found["count"]])[mask].astype(float)
        assert points(dots) == sorted(map(tuple, expected.tolist()))
    assert len(diamonds.get_offsets()) > 0


def test_spectrum_of_one_duration(with_durations):
    table = with_durations.pvalue_spectrum
    durations = np.asarray(table["duration"])
    one = int(durations[0])

    ax = plot.spectrum(with_durations, duration=one)

    assert ax.collections[0].get_array().count() == np.sum(
        (durations == one) & (np.asarray(table["p"]) > 0)
    )
    drawn = sum(len(dots.get_offsets()) for dots in ax.collections[1:])
    assert drawn == np.sum(with_durations.signatures["duration"] == one)


def test_spectrum_of_all_durations_has_the_largest_p(with_durations):
    table = with_durations.pvalue_spectrum
    mesh = plot.spectrum(with_durations).collections[0]

    corner = mesh.get_coordinates()[0, 0] + 0.5
    largest = {}
    for size, count, p in zip(table["size"], table["count"], table["p"], strict=True):
        largest[size, count] = max(p, largest.get((size, count), 0))
    assert len(largest) < len(table["p"])
    for (size, count), p in largest.items():
        assert mesh.get_array()[int(count - corner[1]), int(size - corner[0])] == p


def test_spectrum_needs_surrogates_and_a_duration_needs_durations(planted, tested):
    with pytest.raises(ValueError, match="found: expected patterns that were tested"):
        plot.spectrum(synfire.spade(planted.spikes, min_occ=8))
    with pytest.raises(ValueError, match="duration: found 3, expected None for spectrum '#'"):
        plot.spectrum(tested, duration=3)


def test_funnel_has_a_bar_a_step(tested):
    ax = plot.funnel(tested)

    assert texts(ax.get_yticklabels()) == [step["step"] for step in tested.funnel]
    assert [bar.get_width() for bar in ax.patches] == [step["left"] for step in tested.funnel]
    assert texts(ax.texts) == [f"{step['left']:,}" for step in tested.funnel]
    assert ax.yaxis_inverted()


# Statistics


def heights(ax):
    return {
        round(bar.get_x() + bar.get_width() / 2, 3): bar.get_height()
        for bar in ax.patches
        if bar.get_height()
    }


@pytest.mark.parametrize("which", ["chains", "tested"])
def test_sizes_are_counted(request, which):
    found = request.getfixturevalue(which)
    sizes = found.sizes[found.sizes > 1]

    ax = plot.sizes(found)

    values, number = np.unique(sizes, return_counts=True)
    assert sum(heights(ax).values()) == len(sizes)
    for value, count in zip(values, number, strict=True):
        assert sum(
            n for middle, n in heights(ax).items() if abs(middle - value) < 0.5
        ) == pytest.approx(count)


def test_occurrences_are_counted(chains, tested):
    for found in (chains, tested):
        ax = plot.occurrences(found)
        counts = found.counts[found.sizes > 1].astype(int)

        assert sum(heights(ax).values()) == len(counts)
        for bar in ax.patches:
            inside = (counts > bar.get_x()) & (counts < bar.get_x() + bar.get_width() / 0.95)
            assert bar.get_height() == inside.sum()


def test_lags_of_patterns_are_counted(tested):
    ax = plot.lags(tested)

    every = np.concatenate([pattern.lags[1:] for pattern in tested]) * 1e3
    values, number = np.unique(every.round(3), return_counts=True)
    assert heights(ax) == dict(zip(values.tolist(), number.tolist(), strict=True))


def test_delays_of_episodes_have_bars_as_wide_as_they_are(chains):
    ax = plot.lags(chains, indices=range(len(chains)))

    steps = [delay for episode in chains for delay in episode.delays]
    for bar in ax.patches:
        low, high = bar.get_x() / 1e3, (bar.get_x() + bar.get_width()) / 1e3
        assert bar.get_height() == sum(np.allclose(step, (low, high)) for step in steps)
    assert len(ax.patches) == len(set(steps)) == 2


@pytest.mark.parametrize("which", ["chains", "tested"])
def test_participation_counts_what_a_unit_is_in(request, which):
    found = request.getfixturevalue(which)

    ax = plot.participation(found)

    drawn = [bar.get_height() for bar in ax.patches]
    assert drawn == [
        sum(one.size > 1 and name in one.units for one in found)
        for name in found.spikes.unit_names
    ]


def test_statistics_of_some(chains):
    chosen = chains.chains.tolist()

    assert sum(heights(plot.sizes(chains, indices=chosen)).values()) == len(chosen)
    with pytest.raises(IndexError):
        plot.sizes(chains, indices=[len(chains)])
    with pytest.raises(TypeError, match="found: expected an EpisodeResult or a PatternResult"):
        plot.sizes([1, 2])


# All of them


def drawings(chains, tested):
    return {
        "raster": lambda **how: plot.raster(chains.spikes, chains, **how),
        "aligned": lambda **how: plot.aligned(tested.spikes, tested, **how),
        "circuit": lambda **how: plot.circuit(chains, **how),
        "counts": lambda **how: plot.counts(chains, **how),
        "funnel": lambda **how: plot.funnel(tested, **how),
        "lags": lambda **how: plot.lags(tested, **how),
        "occurrences": lambda **how: plot.occurrences(tested, **how),
        "participation": lambda **how: plot.participation(tested, **how),
        "sizes": lambda **how: plot.sizes(tested, **how),
        "spectrum": lambda **how: plot.spectrum(tested, **how),
    }


@pytest.mark.parametrize("name", plot.__all__)
def test_axes_that_are_given_are_drawn_into_and_returned(chains, tested, name):
    figure, (left, right) = pyplot.subplots(1, 2)

    ax = drawings(chains, tested)[name](ax=left)

    assert ax is left
    assert pyplot.get_fignums() == [figure.number] and figure.axes == [left, right]
    assert not right.has_data() and not right.texts
    figure.canvas.draw()


@pytest.mark.parametrize("name", plot.__all__)
def test_axes_are_made_where_there_are_none(chains, tested, name):
    ax = drawings(chains, tested)[name]()

    assert pyplot.get_fignums() == [ax.figure.number]
    ax.figure.canvas.draw()


def test_results_without_anything_are_drawn(nothing):
    episodes = synfire.episodes(nothing, delays="1-2ms", min_count=1)
    patterns = synfire.spade(nothing, min_occ=2, surrogates=10)
    assert len(episodes) == len(patterns) == 0

    plot.raster(nothing, episodes).figure.canvas.draw()
    plot.raster(nothing, patterns).figure.canvas.draw()
    plot.circuit(episodes).figure.canvas.draw()
    plot.counts(episodes).figure.canvas.draw()
    plot.funnel(patterns).figure.canvas.draw()
    plot.spectrum(patterns).figure.canvas.draw()
    for function in (plot.sizes, plot.occurrences, plot.lags, plot.participation):
        for found in (episodes, patterns):
            function(found).figure.canvas.draw()


def test_without_matplotlib_the_error_says_what_to_install():
    code = "import sys; sys.modules['matplotlib'] = None; import synfire; import synfire.plot"

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "ImportError: synfire.plot draws with matplotlib: pip install 'synfire[plot]'" in (
        ended.stderr
    )
