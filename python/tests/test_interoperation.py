"""Times, spans and epochs of neighbouring tools, in and out."""

import warnings

import numpy as np
import pytest

import spikeweave
from spikeweave import SpikeSequence

pytestmark = pytest.mark.filterwarnings("error::UserWarning")

SPIKES = {"n2": [0.0101, 0.25, 0.7], "n10": [0.3], "n1": []}


@pytest.fixture
def spikes():
    return SpikeSequence(SPIKES, t_start=0, t_stop=1)


def sorting_at(core, start=None, times=None):
    """Make two spikes of one unit, at samples 1,000 and 25,000 of 30,000 at 10 kHz."""
    recording = core.generate_recording(
        num_channels=2, durations=[3.0], sampling_frequency=10_000.0, seed=1
    )
    if start is not None:
        recording.shift_times(start)
    if times is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recording.set_times(times)
    sorting = core.NumpySorting.from_samples_and_labels(
        [np.array([1000, 25_000])], [np.array([7, 7])], 10_000.0
    )
    sorting.register_recording(recording)
    return sorting


def test_a_sorting_counts_from_where_its_recording_begins():
    core = pytest.importorskip("spikeinterface.core")

    spikes = SpikeSequence.of(sorting_at(core, start=100))

    assert spikes.times.tolist() == [100.1, 102.5]
    assert (spikes.t_start, spikes.t_stop) == (100, 103)
    assert SpikeSequence.of(sorting_at(core)).times.tolist() == [0.1, 2.5]


def test_a_sorting_follows_the_time_vector_of_its_recording():
    core = pytest.importorskip("spikeinterface.core")
    times = 50 + np.arange(30_000) / 10_000 * 2  # at half the speed

    spikes = SpikeSequence.of(sorting_at(core, times=times))

    assert spikes.times.tolist() == [50.2, 55]
    assert spikes.t_start == 50


def test_units_found_have_the_times_of_the_recording():
    core = pytest.importorskip("spikeinterface.core")
    made = spikeweave.simulate.recording(
        channels=8, units=3, length="8s", low_peak=150, low_rate=8, seed=4
    )
    samples = made.recording.samples(0, made.recording.frames)

    def found(change):
        recording = core.NumpyRecording(samples, 30_000.0)
        recording.set_channel_gains(0.195)
        recording.set_channel_offsets(0)
        recording.set_dummy_probe_from_locations(made.recording.positions)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            change(recording)
            return spikeweave.sort(recording)

    plain = found(lambda recording: None)
    later = found(lambda recording: recording.shift_times(100))
    slower = found(lambda recording: recording.set_times(9 + np.arange(len(samples)) / 15_000))

    assert len(plain.spikes) > 30
    assert np.array_equal(later.spikes.times_us, plain.spikes.times_us + 100_000_000)
    assert (later.spikes.t_start, later.spikes.t_stop) == (100, 108)
    assert np.abs(slower.spikes.times - 9 - 2 * plain.spikes.times).max() < 2e-6
    assert np.array_equal(later.samples, plain.samples)


def test_epochs_of_a_group_are_not_joined_silently():
    pynapple = pytest.importorskip("pynapple")
    support = pynapple.IntervalSet([0, 2], [1, 3])
    group = pynapple.TsGroup({0: pynapple.Ts(np.array([0.5, 2.5]))}, time_support=support)

    with pytest.warns(UserWarning, match="2 epochs with gaps between them.*epochs=") as told:
        spikes = SpikeSequence.of(group)

    assert len(told) == 1
    assert told[0].filename == __file__
    assert (spikes.t_start, spikes.t_stop) == (0, 3)


def forms_of_epochs():
    yield "list", lambda: [(0, 4), (5, 10)]
    yield "interval set", lambda: pytest.importorskip("pynapple").IntervalSet([0, 5], [4, 10])
    yield (
        "start, end",
        lambda: pytest.importorskip("pandas").DataFrame({"end": [4, 10], "start": [0.0, 5]}),
    )
    yield (
        "trials of NWB",
        lambda: pytest.importorskip("pandas").DataFrame(
            {"start_time": [0, 5], "stop_time": [4, 10], "kind": ["a", "b"]}
        ),
    )
    yield "neo", lambda: epoch_of_neo()
    yield "quantities", lambda: [[0, 4000], [5000, 10_000]] * pytest.importorskip("quantities").ms


def epoch_of_neo():
    neo, pq = pytest.importorskip("neo"), pytest.importorskip("quantities")
    return neo.Epoch(times=[0, 5000] * pq.ms, durations=[4, 5] * pq.s)


@pytest.mark.parametrize("form", [pytest.param(form, id=name) for name, form in forms_of_epochs()])
def test_epochs_of_any_form_are_the_same(form):
    spikes = spikeweave.simulate.patterns(units=8, seed=1).spikes

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = spikeweave.spade(spikes, min_occ=9, epochs=form())

    assert found.parameters["epochs"] == [(0.0, 4.0), (5.0, 10.0)]


def test_tables_without_begin_and_end_are_no_epochs():
    pandas = pytest.importorskip("pandas")

    with pytest.raises(TypeError, match=r"epochs: expected a table .* found \['from', 'to'\]"):
        spikeweave.spade([[0.1]], epochs=pandas.DataFrame({"from": [0], "to": [1]}))


def test_a_segment_of_neo(spikes):
    neo = pytest.importorskip("neo")
    segment = neo.Segment()
    segment.spiketrains.extend(spikes.to_neo())

    assert SpikeSequence.of(segment) == spikes
    with pytest.raises(ValueError, match="Segment without spike trains"):
        SpikeSequence.of(neo.Segment())


def test_a_data_frame(spikes):
    pandas = pytest.importorskip("pandas")
    table = spikes.to_dataframe()

    again = SpikeSequence.of(table)

    assert again.unit_names == ["n2", "n10"]  # the silent one has no row
    assert again.times.tolist() == spikes.times.tolist()
    other = table.rename(columns={"time": "time_s", "unit": "units"}).assign(more=1)
    assert SpikeSequence.of(other) == again
    numbered = pandas.DataFrame({"times": [0.1, 0.2], "unit": [10, 9]})
    assert SpikeSequence.of(numbered).unit_names == ["9", "10"]
    with pytest.raises(TypeError, match=r"column time .* found columns \['a'\]"):
        SpikeSequence.of(pandas.DataFrame({"a": [1]}))


def test_to_pynapple_and_back(spikes):
    pynapple = pytest.importorskip("pynapple")

    group = spikes.to_pynapple()

    assert isinstance(group, pynapple.TsGroup)
    assert [group[i].index.tolist() for i in range(3)] == [one.tolist() for one in spikes.trains()]
    assert (group.time_support.start[0], group.time_support.end[0]) == (0, 1)
    assert SpikeSequence.of(group) == spikes


def test_to_spikeinterface_and_back(spikes):
    core = pytest.importorskip("spikeinterface.core")

    sorting = spikes.to_spikeinterface(10_000)

    assert isinstance(sorting, core.NumpySorting)
    assert sorting.get_unit_spike_train("n2").tolist() == [101, 2500, 7000]
    again = SpikeSequence.of(sorting, t_start=0, t_stop=1)
    assert again == spikes
    with pytest.raises(ValueError, match="before time 0"):
        SpikeSequence([[-0.1]]).to_spikeinterface(10_000)


def test_to_nwb_and_back(tmp_path, spikes):
    pytest.importorskip("pynwb")

    spikes.to_nwb(tmp_path / "spikes.nwb")

    assert spikeweave.read(tmp_path / "spikes.nwb") == spikes


def test_a_sequence_is_made_by_its_name(spikes):
    assert SpikeSequence(SPIKES, t_start=0, t_stop=1) == SpikeSequence.of(spikes)
    assert repr(SpikeSequence([[1, 2]])) == "<SpikeSequence: 2 spikes of 1 unit, 1 s to 2 s>"
    for nonsense in (3, None):
        with pytest.raises(TypeError, match="^spikes: "):
            SpikeSequence(nonsense)


def test_labels_are_in_natural_order():
    labels = ["n10", "n2", "n1", "n2"]
    spikes = SpikeSequence((np.arange(4) * 0.1, labels))

    assert spikes.unit_names == ["n1", "n2", "n10"]
    assert spikes.units.tolist() == [2, 1, 0, 1]


@pytest.mark.parametrize("pair", [([1, 2, 3], [2, 3, 4]), (np.array([0.1, 0.2]), [0.0, 1.0])])
def test_a_pair_that_could_be_two_trains_is_said(pair):
    with pytest.warns(UserWarning, match="two trains are a list") as told:
        spikes = SpikeSequence.of(pair)

    assert told[0].filename == __file__
    assert len(spikes.unit_names) == len(pair[0])
    SpikeSequence.of(([1, 2, 3], [2, 3, 2]))
    SpikeSequence.of(([1, 2, 3], ["2", "3", "4"]))
    SpikeSequence.of(([1, 2], [0, 1]), unit_names=["a", "b"])
    SpikeSequence.of(list(pair))
