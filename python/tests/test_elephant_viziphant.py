"""Viziphant draws the patterns without conversion."""

# ruff: noqa: E402 - what is tested needs what may be missing

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("neo")
viziphant = pytest.importorskip("viziphant.patterns", reason="needs viziphant 0.4")

import neo
import quantities as pq

from spikeweave.elephant import spade

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(name="trains")
def fixture_trains():
    starts = np.arange(10, 990, 70)
    lags = (0, 3, 3, 7)
    return [neo.SpikeTrain(starts + lag, units="ms", t_stop=1000) for lag in lags]


@pytest.fixture(name="patterns")
def fixture_patterns(trains):
    return spade(trains, 1 * pq.ms, 10, n_surr=5, alpha=0.5, psr_param=[0, 0, 0])["patterns"]


def test_there_is_something_to_draw(patterns):
    assert [pattern["signature"] for pattern in patterns] == [(4, 14)]


def test_raster(trains, patterns):
    # The default colours of Viziphant 0.4 need a function that matplotlib 3.9 removed.
    axes = viziphant.plot_patterns(trains, patterns, colors=["red"] * len(patterns))
    assert len(axes.get_lines()) + len(axes.collections) > 0


@pytest.mark.parametrize("name", ["all", "participation", "occurrence", "size", "lags"])
def test_statistics(patterns, name):
    drawn = getattr(viziphant, f"plot_patterns_statistics_{name}")(patterns)
    assert np.size(drawn) >= 1
