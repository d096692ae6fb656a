"""Positions of marks and rings."""

import dataclasses

import numpy as np
import pytest

import spikeweave

plot = pytest.importorskip("spikeweave.plot", exc_type=ImportError)


def points(collection):
    return sorted(map(tuple, np.asarray(collection.get_offsets()).round(6).tolist()))


def line_points(line):
    return sorted(zip(line.get_xdata().round(6).tolist(), line.get_ydata().tolist(), strict=True))


def coloured_points(ax):
    return [line_points(line) for line in ax.lines if line.get_markeredgewidth() == 2]


def texts(labels):
    return [label.get_text() for label in labels]


def test_raster_has_every_spike_in_its_units_row(planted):
    ax = plot.raster(planted.spikes)

    (line,) = ax.lines
    spikes = planted.spikes
    assert line_points(line) == sorted(zip(spikes.times.round(6), spikes.units, strict=True))
    assert texts(ax.get_yticklabels()) == spikes.unit_names
    assert ax.get_xlim() == (spikes.t_start, spikes.t_stop)
    assert not ax.collections
    assert ax.get_legend() is None


def test_raster_shows_the_part_asked_for(planted):
    ax = plot.raster(planted.spikes, planted.patterns, t_start=2, t_stop=3)

    drawn = ax.lines[0].get_xdata()
    every = planted.spikes.times
    assert drawn.tolist() == every[(every >= 2) & (every <= 3)].tolist()
    for pattern, rings in zip(planted.patterns, ax.collections, strict=True):
        at = (pattern.times[:, None] + pattern.lags).ravel()
        assert len(rings.get_offsets()) == np.sum((at >= 2) & (at <= 3))


def test_rings_are_smaller_where_many_are_side_by_side(planted):
    def width(**part):
        rings = plot.raster(planted.spikes, planted.patterns, **part).collections[0]
        return float(np.sqrt(rings.get_sizes()[0]))

    times = np.concatenate([planted.patterns[0].times + 0.04 * i for i in range(20)])
    many = [dataclasses.replace(planted.patterns[0], times=times)]
    crowded = plot.raster(planted.spikes, many).collections[0].get_sizes()
    assert width() == width(t_start=2, t_stop=3) == 5
    assert 2 <= np.sqrt(crowded.min()) < 2.5


def test_rings_of_planted_patterns_stand_at_times_and_lags(planted):
    ax = plot.raster(planted.spikes, planted.patterns)

    for pattern, rings in zip(planted.patterns, ax.collections, strict=True):
        expected = [
            (round(time + lag, 6), float(unit))
            for time in pattern.times
            for unit, lag in zip(pattern.units, pattern.lags, strict=True)
        ]
        assert points(rings) == sorted(expected)
    assert texts(ax.get_legend().get_texts()) == [
        "n0 →5ms→ n1 →5ms→ n2 →5ms→ n3 →5ms→ n4",
        "n5 →5ms→ n6 →5ms→ n7",
    ]


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
        assert late.min() > -2e-6
        assert late.max() < width + 2e-6
        for time, unit in drawn.reshape(-1, 2):
            assert np.abs(trains[int(unit)] - time).min() < 1e-9


def test_rings_of_bins_without_a_spike_stand_at_times_and_lags(tested):
    later = dataclasses.replace(tested, times=tested.times + 1000)

    ax = plot.raster(tested.spikes, later, t_start=1000, t_stop=1020)

    for i, rings in enumerate(ax.collections):
        expected = (later[i].times[:, None] + later[i].lags).ravel()
        assert rings.get_offsets()[:, 0].tolist() == pytest.approx(expected.tolist())


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


def many_patterns(count):
    """Patterns that all contain the first two spikes of units A and B."""
    return [
        spikeweave.simulate.PlantedPattern(np.array([0, 1]), np.array([0, 0.1]), np.array([0.1]))
        for _ in range(count)
    ]


def test_many_patterns_do_not_cover_the_spikes():
    spikes = spikeweave.SpikeSequence.of({"A": [0.1], "B": [0.2], "C": [0.3]})

    ax = plot.raster(spikes, many_patterns(46))

    assert len(ax.collections) == 12
    assert ax.get_legend().get_title().get_text() == "12 of 46 are marked"
    assert sum(len(rings.get_offsets()) for rings in ax.collections) == 3 * 2
    widest = max(size for rings in ax.collections for size in rings.get_sizes())
    assert widest == (5 + 3 * 2) ** 2
    every = plot.raster(spikes, many_patterns(46), indices=range(46))
    assert len(every.collections) == 46
    assert every.get_legend() is None


def test_what_has_most_spikes_is_marked_first():
    made = spikeweave.simulate.patterns(units=30, patterns=(5, 3), seed=1)
    found = spikeweave.spade(made.spikes, min_occ=4)
    assert len(found) > 12

    ax = plot.raster(found.spikes, found)

    marked = [len(set(rings.get_offsets()[:, 1].tolist())) for rings in ax.collections]
    assert len(marked) == 12
    assert 5 in marked
    assert ax.get_legend().get_title().get_text() == f"12 of {len(found)} are marked"


def test_a_spike_of_two_patterns_has_two_rings():
    spikes = spikeweave.SpikeSequence.of({"A": [0.1], "B": [0.2], "C": [0.3]})
    pair = spikeweave.simulate.PlantedPattern(np.array([0, 1]), np.array([0, 0.1]), np.array([0.1]))
    triple = spikeweave.simulate.PlantedPattern(
        np.array([0, 1, 2]), np.array([0, 0.1, 0.2]), np.array([0.1])
    )

    inner, outer = plot.raster(spikes, [pair, triple]).collections

    assert len(inner.get_offsets()) == 2
    assert len(outer.get_offsets()) == 3
    small, large = inner.get_sizes()[0], outer.get_sizes()[0]
    assert inner.get_sizes().tolist() == [small, small]
    assert outer.get_sizes().tolist() == [large, large, small]
    assert small < large
    assert inner.get_edgecolors()[0].tolist() != outer.get_edgecolors()[0].tolist()


def test_indices_choose(chains, tested):
    assert texts(plot.raster(chains.spikes, chains, indices=[0]).get_legend().get_texts())
    assert len(plot.raster(chains.spikes, chains, indices=[3, 4, 5]).collections) == 3
    assert len(plot.raster(tested.spikes, tested, indices=[1]).collections) == 1


@pytest.mark.parametrize("which", ["chains", "tested"])
def test_negative_indices_count_from_the_end(request, which):
    found = request.getfixturevalue(which)

    for index in (-1, -2, -len(found)):
        (from_end,) = plot.raster(found.spikes, found, indices=[index]).collections
        (from_begin,) = plot.raster(found.spikes, found, indices=[len(found) + index]).collections
        assert points(from_end) == points(from_begin)
        last, same = (plot.aligned(found.spikes, found, i) for i in (index, len(found) + index))
        assert coloured_points(last) == coloured_points(same)


WRONG_INDICES = [
    (3, TypeError, "indices: expected whole numbers in a list or array, found 3"),
    (np.array(3), TypeError, "indices: expected whole numbers in a list or array, found array"),
    ("12", TypeError, "indices: expected whole numbers in a list or array, found '12'"),
    ([True, False], TypeError, r"indices: expected a whole number, found True \(bool\)"),
    (np.array([False, True]), TypeError, "indices: expected a whole number, found .*bool"),
    ([1.0], TypeError, r"indices: expected a whole number, found 1.0 \(float\)"),
    ([100_000], IndexError, "indices: found 100000, expected one of the .* that there are"),
    ([-100_000], IndexError, "indices: found -100000, expected one of the"),
]


@pytest.mark.parametrize(("indices", "error", "words"), WRONG_INDICES)
def test_indices_that_are_none_are_refused(chains, tested, planted, indices, error, words):
    for found in (chains, tested):
        for draw in (plot.sizes, plot.occurrences, plot.lags, plot.participation):
            with pytest.raises(error, match=words):
                draw(found, indices=indices)
    for found in (tested, planted.patterns):
        with pytest.raises(error, match=words):
            plot.raster(tested.spikes, found, indices=indices)
    with pytest.raises(error, match=words):
        plot.raster(chains.spikes, chains, indices=indices)


def test_patterns_of_a_result_share_the_trains_they_are_looked_up_in(tested, monkeypatch):
    trains = spikeweave.SpikeSequence.trains
    calls = []
    monkeypatch.setattr(
        spikeweave.SpikeSequence, "trains", lambda self: calls.append(self) or trains(self)
    )

    plot.raster(tested.spikes, tested)

    assert len(tested) > 1
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("found", "error", "words"),
    [
        ("patterns", TypeError, "found: expected episodes or patterns"),
        ([3], TypeError, "found: number 0"),
        (
            {"neurons": [0, 1], "lags": [5.0], "times": [10.0]},
            TypeError,
            "found: number 0: expected lags as quantities of time, found <class 'list'>",
        ),
        (
            spikeweave.simulate.PlantedPattern(np.array([7]), np.array([0.0]), np.array([0.1])),
            ValueError,
            "expected units from 0 to 1, found 7 to 7",
        ),
    ],
)
def test_what_is_no_pattern_is_refused(nothing, found, error, words):
    with pytest.raises(error, match=words):
        plot.raster(nothing, found)


def test_a_result_of_other_units_is_refused(chains):
    with pytest.raises(ValueError, match=r"unit 'n.*' is not among those of spikes"):
        plot.raster({"A": [0.1]}, chains)


def test_a_span_that_ends_before_it_begins_is_refused(planted):
    with pytest.raises(ValueError, match="t_start: found 3.0 s, expected at most t_stop = 2.0 s"):
        plot.raster(planted.spikes, t_start=3, t_stop=2)


def test_times_are_seconds_texts_or_quantities(planted):
    pq = pytest.importorskip("quantities")
    spikes, patterns = planted.spikes, planted.patterns

    for begin, end in (("2s", "2500ms"), (2 * pq.s, 2500 * pq.ms)):
        ax = plot.raster(spikes, patterns, t_start=begin, t_stop=end)
        same = plot.raster(spikes, patterns, t_start=2, t_stop=2.5)
        assert ax.get_xlim() == same.get_xlim() == (2, 2.5)
        assert line_points(ax.lines[0]) == line_points(same.lines[0])
    for before, after in (("10ms", "5ms"), (10 * pq.ms, 0.005 * pq.s)):
        ax = plot.aligned(spikes, patterns, before=before, after=after)
        same = plot.aligned(spikes, patterns, before=0.01, after=0.005)
        assert ax.get_xlim() == same.get_xlim()
        assert line_points(ax.lines[0]) == line_points(same.lines[0])


@pytest.mark.parametrize(
    ("time", "error", "words"),
    [
        ("soon", ValueError, "'soon' is not a time"),
        (True, TypeError, "expected seconds, a text such as '5ms' or a quantity"),
        ([1], TypeError, "expected seconds, a text such as '5ms' or a quantity"),
        (float("nan"), ValueError, ""),
    ],
)
def test_what_is_no_time_is_refused_by_name(planted, time, error, words):
    for name in ("t_start", "t_stop"):
        with pytest.raises(error, match=f"^{name}: .*{words}"):
            plot.raster(planted.spikes, **{name: time})
    for name in ("before", "after"):
        with pytest.raises(error, match=f"^{name}: .*{words}"):
            plot.aligned(planted.spikes, planted.patterns, **{name: time})
        with pytest.raises(TypeError, match=f"^{name}: .*found None"):
            plot.aligned(planted.spikes, planted.patterns, **{name: None})


@pytest.mark.parametrize("units", [1, 30, 31, 1000])
def test_any_number_of_units_has_readable_names(units):
    spikes = spikeweave.simulate.poisson(units=units, length=0.5, seed=1).spikes

    ax = plot.raster(spikes)

    ticks = ax.get_yticks().tolist()
    assert 1 <= len(ticks) <= 30
    assert len(ticks) == units or units > 30
    assert texts(ax.get_yticklabels()) == [f"n{tick}" for tick in ticks]
    assert ax.get_ylim()[0] < 0
    assert ax.get_ylim()[1] > units - 1


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
    pattern = spikeweave.simulate.PlantedPattern(
        np.array([0, 1]), np.array([0, 0.005]), np.array([0.1, 0.2])
    )

    ax = plot.aligned(trains, [pattern], before=0.01, after=0.005)

    around_a, _, around_b, _, _ = ax.lines
    assert line_points(around_a) == [(0.0, 0.0), (0.0, 1.0), (0.5, 1.0)]
    assert line_points(around_b) == [(-10.0, 3.0), (5.0, 2.0), (5.0, 3.0)]


def test_aligned_of_what_is_not_there_is_refused(chains):
    with pytest.raises(IndexError, match=f"index: found {len(chains)}, expected one of the"):
        plot.aligned(chains.spikes, chains, len(chains))
    with pytest.raises(TypeError, match="index: expected a whole number, found True"):
        plot.aligned(chains.spikes, chains, True)
    with pytest.raises(TypeError, match="found: expected episodes or patterns, found None"):
        plot.aligned(chains.spikes, None)
