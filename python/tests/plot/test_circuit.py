"""Circuits are drawn as arrows that show the numbers of their edges."""

import dataclasses

import numpy as np
import pytest

import spikeweave

plot = pytest.importorskip("spikeweave.plot", exc_type=ImportError)


def texts(labels):
    return [label.get_text() for label in labels]


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


def test_labels_cover_no_unit_and_no_other_label():
    draw = np.random.default_rng(5)
    units = {f"n{i}": tuple(place) for i, place in enumerate(draw.uniform(0, 10, (16, 2)))}
    graph = edges([(i, (5 * i + k) % 16) for i in range(16) for k in (1, 2)])
    delays = np.stack([np.arange(len(graph)), np.arange(len(graph)) + 1]) * 1e-3
    graph = dataclasses.replace(graph, best_delay=delays.T)
    ax = plot.circuit(graph, layout=units)
    ax.figure.canvas.draw()

    labels, names = (
        [t for t in ax.texts if t.get_text().endswith("ms") is is_label]
        for is_label in (True, False)
    )
    assert 10 < len(labels) < len(graph)  # there is no room for all
    boxes = [label.get_window_extent() for label in labels]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert not any(box.contains(*ax.transData.transform(name.get_position())) for name in names)
    assert len(plot.circuit(graph, layout=units, labels=True).texts) == len(names) + len(graph)


def test_many_arrows_are_not_labelled_unless_asked_for():
    graph = edges([(i, i + 1) for i in range(41)])

    assert len(plot.circuit(graph).texts) == 42
    assert len(plot.circuit(graph, labels=True).texts) == 42 + 41
