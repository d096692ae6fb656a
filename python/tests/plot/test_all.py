"""Properties of all pictures."""

import subprocess
import sys

import pytest

import spikeweave

plot = pytest.importorskip("spikeweave.plot", exc_type=ImportError)
pyplot = pytest.importorskip("matplotlib.pyplot")


def drawings(chains, tested, sorted_units, compared):
    return {
        "raster": lambda **how: plot.raster(chains.spikes, chains, **how),
        "aligned": lambda **how: plot.aligned(tested.spikes, tested, **how),
        "circuit": lambda **how: plot.circuit(chains, **how),
        "correlogram": lambda **how: plot.correlogram(chains.spikes, 0, 1, **how),
        "counts": lambda **how: plot.counts(chains, **how),
        "differences": lambda **how: plot.differences(compared, **how),
        "funnel": lambda **how: plot.funnel(tested, **how),
        "lags": lambda **how: plot.lags(tested, **how),
        "occurrences": lambda **how: plot.occurrences(tested, **how),
        "participation": lambda **how: plot.participation(tested, **how),
        "sizes": lambda **how: plot.sizes(tested, **how),
        "spectrum": lambda **how: plot.spectrum(tested, **how),
        "waveforms": lambda **how: plot.waveforms(sorted_units, 1, **how),
    }


@pytest.mark.parametrize("name", plot.__all__)
def test_axes_that_are_given_are_drawn_into_and_returned(
    chains, tested, sorted_units, compared, name
):
    figure, (left, right) = pyplot.subplots(1, 2)

    ax = drawings(chains, tested, sorted_units, compared)[name](ax=left)

    assert ax is left
    assert pyplot.get_fignums() == [figure.number]
    assert figure.axes == [left, right]
    assert not right.has_data()
    assert not right.texts
    figure.canvas.draw()


@pytest.mark.parametrize("name", plot.__all__)
def test_axes_are_made_where_there_are_none(chains, tested, sorted_units, compared, name):
    ax = drawings(chains, tested, sorted_units, compared)[name]()

    assert pyplot.get_fignums() == [ax.figure.number]
    ax.figure.canvas.draw()


@pytest.mark.filterwarnings("error:Attempt:UserWarning")
def test_results_without_anything_are_drawn(nothing):
    episodes = spikeweave.episodes(nothing, delays="1-2ms", min_count=1)
    patterns = spikeweave.spade(nothing, min_occ=2, surrogates=10)
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
    code = "import sys; sys.modules['matplotlib'] = None; import spikeweave; import spikeweave.plot"

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "ImportError: spikeweave.plot draws with matplotlib: pip install 'spikeweave[plot]'" in (
        ended.stderr
    )
