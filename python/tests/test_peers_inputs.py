"""Spikes given as objects of neo, Elephant, pynapple and SpikeInterface."""

import numpy as np
import pytest

import spikeweave
from spikeweave import SpikeSequence

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


def test_trains_of_neo_have_the_span_asked_for():
    pytest.importorskip("neo")
    spikes = SpikeSequence.of({"x": [0.2, 0.4], "y": [0.3]})

    def span(**asked):
        (found,) = {(float(one.t_start), float(one.t_stop)) for one in spikes.to_neo(**asked)}
        return found

    assert span() == (0.2, 0.4)
    assert span(t_start=0) == (0, 0.4)
    assert span(t_start="100ms", t_stop=1) == (0.1, 1)
    for asked in ({"t_start": 0.21}, {"t_stop": 0.39}):
        with pytest.raises(ValueError, match=r"contains the spikes, 0\.2 s to 0\.4 s, found"):
            spikes.to_neo(**asked)
    silent = SpikeSequence.of({"x": []}, t_start=0, t_stop=1)
    with pytest.raises(ValueError, match="found 1 s to 0 s"):
        silent.to_neo(1, 0)


def _in_volts(neo):
    class Train:
        """An object with the methods of a train and another unit of time."""

        name = None

        def __init__(self):
            self.t_start = self.t_stop = neo.SpikeTrain([], units="s", t_stop=1).t_stop

        def rescale(self, unit):
            raise ValueError(f"Unable to convert between units of 'V' and '{unit}'")

    return Train()


MILLISECONDS = [5, 10]


@pytest.mark.parametrize(
    "shape", ["list", "mixed", "mapping", "pair", "rows", "timedelta", "single"]
)
def test_a_unit_of_time_is_never_lost(shape):
    quantities = pytest.importorskip("quantities")
    neo = pytest.importorskip("neo")
    times = MILLISECONDS * quantities.ms
    train = neo.SpikeTrain(times, t_stop=50)
    spikes = {
        "list": [times],
        "mixed": [train, np.array([0.02])],
        "mapping": {"a": train},
        "pair": (times, [0, 0]),
        "rows": {"times": times, "offsets": [0, 2]},
        "timedelta": [np.array(MILLISECONDS, "m8[ms]")],
        "single": [[5 * quantities.ms, 10 * quantities.ms]],
    }[shape]

    assert SpikeSequence.of(spikes).times_us[:2].tolist() == [5000, 10000]


@pytest.mark.parametrize(
    "times",
    [
        np.array(["2020-01-01"], "M8[s]"),
        np.array([1 + 2j]),
        np.ma.array([1.0, 2.0], mask=[0, 1]),
        np.array(["0.5"]),
        [True, False],
    ],
)
def test_what_is_no_time_is_refused(times):
    with pytest.raises(TypeError, match="^spikes: train 0"):
        SpikeSequence.of([times])


def test_bins_that_are_no_whole_microseconds_are_refused():
    neo = pytest.importorskip("neo")
    conversion = pytest.importorskip("elephant.conversion")
    quantities = pytest.importorskip("quantities")
    train = neo.SpikeTrain([0.1, 0.2], units="s", t_stop=1)
    binned = conversion.BinnedSpikeTrain([train], bin_size=quantities.ms / 30)

    with pytest.raises(ValueError, match="whole microseconds"):
        spikeweave.spade(binned, min_occ=1)


def test_spikes_that_share_a_bin_are_said():
    neo = pytest.importorskip("neo")
    conversion = pytest.importorskip("elephant.conversion")
    quantities = pytest.importorskip("quantities")
    train = neo.SpikeTrain([0.101, 0.102, 0.2], units="s", t_stop=1)
    binned = conversion.BinnedSpikeTrain([train], bin_size=5 * quantities.ms)

    with pytest.warns(UserWarning, match="1 of 3 spikes share a bin"):
        SpikeSequence.of(binned)


@pytest.mark.parametrize("form", ["1-d", "2-d", "tuple", "array", "rows"])
def test_delays_of_any_form_are_the_same(sym26, form):
    quantities = pytest.importorskip("quantities")
    delays = {
        "1-d": [4, 6] * quantities.ms,
        "2-d": [[4, 6], [8, 11]] * quantities.ms,
        "tuple": (4 * quantities.ms, 6 * quantities.ms),
        "array": np.array([0.004, 0.006]),
        "rows": np.array([[0.004, 0.006], [0.008, 0.011]]),
    }[form]
    texts = ["4-6ms", "8-11ms"][: 2 if form in ("2-d", "rows") else 1]

    for _ in range(20):
        found = spikeweave.episodes(sym26.spikes, delays=delays, min_count=300, max_size=2)
        assert found.parameters["delays"] == [
            tuple(float(ms) * 1e-3 for ms in text[:-2].split("-")) for text in texts
        ]
    episode = (["n4", "n5"], [(4 * quantities.ms, 0.006)])
    plain = (["n4", "n5"], [(0.004, 0.006)])
    both = spikeweave.count_episodes(sym26.spikes, [episode, plain])
    assert both[0] == both[1]
