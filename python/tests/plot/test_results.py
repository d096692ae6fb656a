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
