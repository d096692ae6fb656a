"""Arrows, dots, cells and bars show the numbers of the results."""

import dataclasses

import numpy as np
import pytest

import spikeweave

plot = pytest.importorskip("spikeweave.plot", exc_type=ImportError)


def points(collection):
    return sorted(map(tuple, np.asarray(collection.get_offsets()).round(6).tolist()))


def texts(labels):
    return [label.get_text() for label in labels]


# Episodes


def test_circuit_has_an_arrow_an_edge(chains):
    graph = chains.circuit
    ax = plot.circuit(graph, labels=True)

    assert set(graph.kind) > {"direct"}
    assert len(ax.patches) == len(graph)
    assert [patch.get_linestyle() for patch in ax.patches] == [
        "-" if kind == "direct" else "--" for kind in graph.kind
    ]
    direct = np.array(graph.kind) == "direct"
    order = np.argsort(np.abs(np.log2(graph.gain[direct])))
    widths = np.array([patch.get_linewidth() for patch in ax.patches])
    assert (np.diff(widths[direct][order]) >= 0).all()
    assert widths[~direct].max() < widths[direct].min() < widths.max()
    layers = np.array([patch.get_zorder() for patch in ax.patches])
    assert layers[~direct].max() < layers[direct].min()
    names = {text.get_text() for text in ax.texts[direct.sum() :]}
    assert names == {
        graph.unit_names[unit] for unit in [*graph.source.tolist(), *graph.target.tolist()]
    }
    labels = texts(ax.texts[: direct.sum()])
    assert labels == [f"{low:g}-{high:g}ms" for low, high in graph.delay[direct] * 1e3]


def test_a_delay_of_all_direct_connections_is_said_once():
    ax = plot.circuit(edges([(0, 1), (1, 2)]))
    assert texts(ax.texts) == ["n0", "n1", "n2"]
    assert ax.get_legend().get_title().get_text().endswith("significant delays, all 1-2ms")


def test_arrows_lead_from_source_to_target(chains):
    graph = chains.circuit
    ax = plot.circuit(graph, labels=False)
    ax.figure.canvas.draw()

    places = {text.get_text(): np.array(text.get_position()) for text in ax.texts}
    for i, patch in enumerate(ax.patches):
        begin = places[graph.unit_names[graph.source[i]]]
        end = places[graph.unit_names[graph.target[i]]]
        from_begin, from_end = (
            np.linalg.norm(patch.get_path().vertices - place, axis=1) for place in (begin, end)
        )
        assert from_begin[0] < from_end[0]
        assert from_end.min() < np.linalg.norm(end - begin) / 2
        if graph.kind[i] == "direct":
            assert begin[0] < end[0]


def edges(pairs, kinds=None, gain=2.0, signs=None):
    """Make a circuit from these pairs of units."""
    n = len(pairs)
    gains = gain * np.ones(n)
    source, target = np.array(pairs, dtype=np.uint32).reshape(-1, 2).T
    ones = np.ones(n)
    delay = np.tile([0.001, 0.002], (n, 1))
    return spikeweave.Circuit(
        unit_names=[f"n{i}" for i in range(60)],
        source=source,
        target=target,
        delay=delay,
        best_delay=delay,
        count=np.ones(n, dtype=np.uint64),
        expected=ones,
        p=ones,
        q=ones,
        sign=signs or ["excitatory"] * n,
        gain=gains,
        gain_low=gains / 2,
        gain_high=2 * gains,
        transmission=0.5 * ones,
        transmission_low=0.4 * ones,
        transmission_high=0.6 * ones,
        strength=0.5 * ones,
        kind=kinds or ["direct"] * n,
        via=[None] * n,
        mean_delay=0.0015 * ones,
        mean_delay_low=0.001 * ones,
        mean_delay_high=0.002 * ones,
        asymmetry=ones,
        cut=["no"] * n,
        synchronous=np.zeros(n, dtype=np.int64),
        synchronous_expected=0 * ones,
    )


def places(ax):
    return {text.get_text(): text.get_position() for text in ax.texts}


def test_a_circle_of_connections_is_drawn_as_one():
    around = edges([(0, 1), (1, 2), (2, 0)])

    radii = [np.hypot(*place) for place in places(plot.circuit(around, labels=False)).values()]

    assert len(radii) == 3
    assert radii == pytest.approx([radii[0]] * 3)
    with pytest.raises(ValueError, match="layout: the direct connections go round in circles"):
        plot.circuit(around, layout="layered")


def test_a_unit_that_follows_itself_has_a_loop_and_its_layer():
    ax = plot.circuit(edges([(0, 0), (0, 1)]), labels=True)
    ax.figure.canvas.draw()

    where = places(ax)
    assert where["n0"][0] < where["n1"][0]
    loop = ax.patches[0].get_path().vertices
    assert loop[:, 1].max() > where["n0"][1] + 0.1
    assert np.ptp(loop[:, 0]) < 1
    assert loop[:, 1].max() < ax.get_ylim()[1]
    x, y = ax.texts[0].get_position()
    assert x == pytest.approx(where["n0"][0])
    assert y > where["n0"][1]


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


def test_places_can_be_an_array_of_electrodes():
    graph = edges([(0, 1), (1, 2)])
    electrodes = np.arange(120.0).reshape(60, 2) * 100  # micrometres

    ax = plot.circuit(graph, layout=electrodes, labels=False)

    assert places(ax) == {f"n{i}": tuple(electrodes[i]) for i in range(3)}
    with pytest.raises(ValueError, match=r"layout: expected places of shape \(60, 2\)"):
        plot.circuit(graph, layout=electrodes[:3])


def test_units_stand_where_their_electrodes_are(chains):
    names = chains.spikes.unit_names

    def drawn(points):
        spikes = type(chains.spikes)._from_core(chains.spikes._core, (), points)
        return places(plot.circuit(dataclasses.replace(chains, spikes=spikes), labels=False))

    grid = np.array([(i % 4, i // 4) for i in range(len(names))]) * 200.0  # micrometres
    assert all(tuple(grid[names.index(name)]) == at for name, at in drawn(grid).items())
    # Two units of one electrode are both seen, beside it.
    a, b = sorted({int(unit) for unit in chains.circuit.source})[:2]
    grid[b] = grid[a]
    beside = drawn(grid)
    assert beside[names[a]] != beside[names[b]]
    assert np.hypot(*(beside[names[b]] - grid[a])) < 100
    # Places on a line, or not known of all, are not used.
    usual = places(plot.circuit(chains, labels=False))
    assert drawn(grid * [0, 1]) == usual
    grid[a] = np.nan
    assert drawn(grid) == usual


def test_a_unit_of_both_signs_is_dashed():
    signs = ["excitatory", "inhibitory", "excitatory", "inhibitory"]
    kinds = ["direct", "direct", "direct", "indirect"]
    graph = edges([(0, 1), (0, 2), (1, 2), (1, 3)], kinds, signs=signs)

    ax = plot.circuit(graph)

    (units,) = ax.collections
    assert [dashes is not None for _, dashes in units.get_linestyles()] == [
        True,
        False,
        False,
        False,
    ]
    assert "dashed units excite" in ax.get_legend().get_title().get_text()
    usual = plot.circuit(edges([(0, 1), (1, 2)])).get_legend().get_title().get_text()
    assert "dashed" not in usual


def test_weak_connections_are_paler_and_behind():
    ax = plot.circuit(edges([(0, 1), (1, 2)], gain=np.array([1.5, 6.0])))

    weak, strong = ax.patches
    assert weak.get_alpha() < strong.get_alpha()
    assert weak.get_zorder() < strong.get_zorder()


def test_many_connections_are_thinned_to_the_strongest():
    pairs = [(i, j) for i in range(20) for j in range(20) if i != j][:182]
    kinds = ["indirect"] * 30 + ["direct"] * 152
    graph = edges(pairs, kinds=kinds, gain=np.exp2(np.linspace(2, 1, 182)))

    ax = plot.circuit(graph, layout="circular")

    assert len(ax.patches) == 100
    assert {patch.get_linestyle() for patch in ax.patches} == {"-"}
    assert ax.get_legend().get_title().get_text().startswith("the 100 strongest of 182 ")
    assert len(plot.circuit(graph, layout="circular", strongest=1000).patches) == 182
    assert len(plot.circuit(graph, layout="circular", strongest=3).patches) == 3
    for nonsense in (0, True, "many"):
        with pytest.raises(ValueError, match="strongest: expected a whole number"):
            plot.circuit(graph, strongest=nonsense)


def test_inhibition_is_red_has_a_bar_and_is_wide_if_its_gain_is_low():
    signs = ["excitatory", "inhibitory", "inhibitory"]
    kinds = ["direct", "direct", "indirect"]
    graph = edges([(0, 1), (1, 2), (2, 3)], kinds, gain=np.array([2, 0.125, 0.5]), signs=signs)

    ax = plot.circuit(graph)
    ax.figure.canvas.draw()

    excites, inhibits, indirect = ax.patches
    assert [patch.get_linestyle() for patch in ax.patches] == ["-", "-", "--"]
    assert excites.get_edgecolor() != inhibits.get_edgecolor() == indirect.get_edgecolor()
    assert inhibits.get_edgecolor()[:3] == pytest.approx((0xB3 / 255, 0x26 / 255, 0x1E / 255))
    widths = [patch.get_linewidth() for patch in ax.patches]
    assert widths == pytest.approx([1.5, 3.5, 0.7])
    assert "BarAB" in type(inhibits.get_arrowstyle()).__name__
    assert "BarAB" not in type(excites.get_arrowstyle()).__name__
    assert texts(ax.get_legend().get_texts()) == ["direct", "not direct", "inhibitory"]
    assert "inhibitory" not in texts(plot.circuit(edges([(0, 1)])).get_legend().get_texts())


def test_nothing_runs_through_a_label():
    ax = plot.circuit(edges([(0, 1)]), labels=True)

    (label,) = (text for text in ax.texts if text.get_text().endswith("ms"))
    assert label.get_bbox_patch().get_facecolor() == (1, 1, 1, 1)
    assert label.get_zorder() > ax.patches[0].get_zorder()


def test_numbers_of_the_funnel_stay_within_the_frame(tested):
    many = dataclasses.replace(
        tested,
        funnel=[
            {"step": "a step", "removed": 0, "left": left, "why": ""}
            for left in (12_345_678, 987_654, 3, 0)
        ],
    )

    ax = plot.funnel(many)
    ax.figure.canvas.draw()

    frame = ax.get_window_extent()
    for label in ax.texts:
        assert label.get_window_extent().x1 <= frame.x1


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
    made = spikeweave.simulate.culture(
        channels=12, length="60s", chains=(4,), probability=0.8, seed=1
    )
    found = spikeweave.episodes(made.spikes, delays="4-6ms", max_size=2, surrogates=200, seed=1)

    ax = plot.counts(found)

    chance, significant = ax.collections
    edges = {
        (found.circuit.expected[i].round(6), float(found.circuit.count[i]))
        for i in range(len(found.circuit))
    }
    assert edges
    assert set(points(significant)) == edges
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
        assert cells[int(size - corner[1]), int(count - corner[0])] == p
    assert cells.count() == np.sum(np.asarray(table["p"]) > 0) > 0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Occurrences", "Spikes")
    assert ax.yaxis_inverted()  # as on the page


def test_spectrum_marks_the_signatures_found(tested):
    ax = plot.spectrum(tested)

    found = tested.signatures
    circles, diamonds = ax.collections[1:]
    for dots, mask in ((circles, ~found["significant"]), (diamonds, found["significant"])):
        expected = np.column_stack([found["count"], found["size"]])[mask].astype(float)
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
        assert mesh.get_array()[int(size - corner[1]), int(count - corner[0])] == p


def test_spectrum_needs_surrogates_and_a_duration_needs_durations(planted, tested):
    with pytest.raises(ValueError, match="found: expected patterns that were tested"):
        plot.spectrum(spikeweave.spade(planted.spikes, min_occ=8))
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


def test_one_size_has_one_whole_tick(tested):
    one = np.flatnonzero(tested.sizes == tested.sizes[0])
    ax = plot.sizes(tested, indices=one)
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert [tick for tick in ax.get_xticks() if low <= tick <= high] == [tested.sizes[0]]


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
    chosen = np.flatnonzero(chains.sizes == 4)[:50]

    ax = plot.lags(chains, indices=chosen)

    steps = [delay for i in chosen for delay in chains[i].delays]
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
        sum(one.size > 1 and name in one.units for one in found) for name in found.spikes.unit_names
    ]


def test_statistics_of_some(chains):
    chosen = chains.chains.tolist()

    assert sum(heights(plot.sizes(chains, indices=chosen)).values()) == len(chosen)
    with pytest.raises(IndexError):
        plot.sizes(chains, indices=[len(chains)])
    with pytest.raises(TypeError, match="found: expected an EpisodeResult or a PatternResult"):
        plot.sizes([1, 2])


# Units and comparisons


def test_waveforms_are_the_means_where_their_channels_are(sorted_units):
    ax = plot.waveforms(sorted_units, [1, 2])

    means = sorted_units.waveforms[[1, 2]]
    heights = np.ptp(means, axis=1).max(axis=0)
    channels = [int(text.get_text()) for text in ax.texts]
    assert channels == np.flatnonzero(heights >= 0.1 * heights.max()).tolist()
    assert 2 <= len(channels) < len(heights)
    assert len(ax.lines) == 2 * len(channels)
    first = ax.lines[0].get_ydata() - sorted_units.channel_positions[channels[0], 1]
    scale = first[np.abs(first).argmax()] / means[0, np.abs(first).argmax(), channels[0]]
    for number, mean in enumerate(means):
        for k, channel in enumerate(channels):
            line = ax.lines[number * len(channels) + k]
            x, y = sorted_units.channel_positions[channel]
            assert np.allclose(line.get_ydata() - y, scale * mean[:, channel], atol=1e-3)
            assert np.mean(line.get_xdata()) == pytest.approx(x)
    assert texts(ax.get_legend().get_texts()) == ["unit 1", "unit 2"]


def test_waveforms_without_positions_are_in_rows(sorted_units):
    ax = plot.waveforms(dataclasses.replace(sorted_units, channel_positions=None), 1)
    assert ax.get_ylabel() == "Channel"
    assert texts(ax.get_yticklabels()) == texts(ax.texts)


def test_waveforms_are_those_of_a_unit(sorted_units):
    with pytest.raises(IndexError, match="units: found 0, expected 1 to 3"):
        plot.waveforms(sorted_units, 0)
    with pytest.raises(IndexError, match="units: found 4, expected"):
        plot.waveforms(sorted_units, 4)
    with pytest.raises(ValueError, match="found: expected units of a recording"):
        plot.waveforms(dataclasses.replace(sorted_units, waveforms=None), 1)


def test_correlogram_has_the_counts_of_the_library(chains):
    ax = plot.correlogram(chains.spikes, "n0", "n1", bin="2ms", reach="20ms")

    counts, edges = spikeweave.correlogram(chains.spikes, "n0", "n1", bin="2ms", reach="20ms")
    assert [bar.get_height() for bar in ax.patches] == counts.tolist()
    assert np.allclose([bar.get_x() for bar in ax.patches], 1e3 * edges[:-1])
    chance = ax.lines[0].get_ydata()[0]
    assert 0.8 < np.median(counts) / chance < 1.2
    own = plot.correlogram(chains.spikes, "n0")
    assert own.get_xlabel() == "Lag of other spikes of n0 (ms)"


@pytest.mark.parametrize("what", ["excess", "rate"])
def test_differences_have_their_intervals(compared, what):
    ax = plot.differences(compared, what)

    name = "rate_ratio" if what == "rate" else "excess_difference"
    q = np.fmin(compared.columns["rate_q"], compared.columns["excess_q"])
    order = np.argsort(q, kind="stable")
    assert texts(ax.get_yticklabels()) == [str(compared[i]) for i in order]
    intervals, dots = ax.lines[0:-1:2], ax.lines[1:-1:2]
    for row, (i, line, dot) in enumerate(zip(order, intervals, dots, strict=True)):
        ends = [compared.columns[name + end][i] for end in ("_low", "_high")]
        assert line.get_xdata().tolist() == ends
        assert dot.get_xdata().tolist() == [compared.columns[name][i]]
        assert line.get_ydata().tolist() == [row, row]
    assert {line.get_color() for line in intervals} == {"#D55E00"}  # less in b
    assert ax.lines[-1].get_xdata()[0] == (1 if what == "rate" else 0)
    with pytest.raises(ValueError, match="what: expected 'excess' or 'rate', found 'q'"):
        plot.differences(compared, "q")


def test_wrong_objects_are_refused_by_name(chains, tested):
    for wrong in (None, tested):
        with pytest.raises(TypeError, match="found: expected an EpisodeResult, found"):
            plot.counts(wrong)
    for wrong in (None, chains):
        for draw in (plot.funnel, plot.spectrum):
            with pytest.raises(TypeError, match="found: expected a PatternResult, found"):
                draw(wrong)


class Counted(np.ndarray):
    """Offsets that count how often they were iterated over."""

    passes = 0

    def __sub__(self, other):
        Counted.passes += 1
        return np.asarray(self) - other


def test_offsets_of_steps_are_worked_out_once(chains):
    counted = dataclasses.replace(chains, offsets=chains.offsets.view(Counted))

    plot.lags(counted)

    assert len(chains) > 100
    assert Counted.passes == 1


def test_waveforms_that_a_folder_leaves_out_are_not_drawn(sorted_units):
    peak = int(sorted_units.units["peak_channel"][0])
    known = sorted_units.waveforms.copy()
    known[:, :, [channel for channel in range(known.shape[2]) if channel != peak]] = np.nan

    ax = plot.waveforms(dataclasses.replace(sorted_units, waveforms=known), 1)

    assert len(ax.lines) == 1
    assert texts(ax.texts) == [str(peak)]
