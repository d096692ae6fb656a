"""Spikes as neo, Elephant, pynapple and SpikeInterface have them."""

import numpy as np
import pytest

from synfire import SpikeSequence

TRAINS = [[0.0101, 0.25, 0.7], [0.3], []]


def same(spikes, t_start=None, t_stop=None):
    expected = SpikeSequence.of(TRAINS, t_start=t_start, t_stop=t_stop)
    assert spikes.times_us.tolist() == expected.times_us.tolist()
    assert spikes.units.tolist() == expected.units.tolist()
    if t_start is not None:
        assert (spikes.t_start, spikes.t_stop) == (t_start, t_stop)


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_neo_trains_in_any_unit_of_time(unit):
    neo = pytest.importorskip("neo")
    quantities = pytest.importorskip("quantities")
    trains = [
        neo.SpikeTrain(train * quantities.s, t_start=0, t_stop=1.0).rescale(unit)
        for train in TRAINS
    ]

    same(SpikeSequence.of(trains), 0.0, 1.0)


def test_neo_trains_of_different_spans_have_the_span_of_all():
    neo = pytest.importorskip("neo")
    trains = [
        neo.SpikeTrain([10.0, 20.0], units="ms", t_start=-5.0, t_stop=50.0, name="A"),
        neo.SpikeTrain([0.03], units="s", t_start=0.01, t_stop=0.2, name="B"),
    ]

    spikes = SpikeSequence.of(trains)

    assert (spikes.t_start, spikes.t_stop) == (-0.005, 0.2)
    assert spikes.unit_names == ["A", "B"]


def test_quantities_that_are_no_times_are_refused():
    neo = pytest.importorskip("neo")
    with pytest.raises(ValueError, match=r"^spikes: train 0"):
        SpikeSequence.of([_in_volts(neo)])


def test_one_neo_train_alone_is_refused():
    neo = pytest.importorskip("neo")
    with pytest.raises(TypeError, match="^spikes: .*a list of them"):
        SpikeSequence.of(neo.SpikeTrain([0.1], units="s", t_stop=1))


def test_binned_trains_keep_their_bins():
    neo = pytest.importorskip("neo")
    conversion = pytest.importorskip("elephant.conversion")
    quantities = pytest.importorskip("quantities")
    trains = [neo.SpikeTrain(train, units="s", t_start=0, t_stop=1.0) for train in TRAINS]
    binned = conversion.BinnedSpikeTrain(trains, bin_size=5 * quantities.ms)

    spikes = SpikeSequence.of(binned)

    assert [np.round(train / 0.005).astype(int).tolist() for train in spikes.trains()] == [
        bins.tolist() for bins in binned.spike_indices
    ]


def test_a_pynapple_group():
    pynapple = pytest.importorskip("pynapple")
    group = pynapple.TsGroup(
        {i: pynapple.Ts(np.array(train)) for i, train in enumerate(TRAINS)},
        time_support=pynapple.IntervalSet(0.0, 1.0),
    )

    same(SpikeSequence.of(group), 0.0, 1.0)


def test_a_sorting_of_spikeinterface():
    core = pytest.importorskip("spikeinterface.core")
    rate = 10_000.0
    samples = np.concatenate([np.round(np.array(train) * rate) for train in TRAINS]).astype(int)
    labels = np.repeat([0, 1, 2], [len(train) for train in TRAINS])
    order = np.argsort(samples)
    sorting = core.NumpySorting.from_samples_and_labels(
        [samples[order]], [labels[order]], rate, unit_ids=[0, 1, 2]
    )

    same(SpikeSequence.of(sorting))


def test_a_round_trip_through_neo():
    pytest.importorskip("neo")
    spikes = SpikeSequence.of(TRAINS, t_start=0, t_stop=1, unit_names=["x", "y", "z"])

    assert SpikeSequence.of(spikes.to_neo()) == spikes


def _in_volts(neo):
    class Train:
        """What has the methods of a train, and another unit."""

        name = None

        def __init__(self):
            self.t_start = self.t_stop = neo.SpikeTrain([], units="s", t_stop=1).t_stop

        def rescale(self, unit):
            raise ValueError(f"Unable to convert between units of 'V' and '{unit}'")

    return Train()
