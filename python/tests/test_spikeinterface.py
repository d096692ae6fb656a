"""Invalid input to `spikeweave.spikeinterface`, and the messages."""

import subprocess
import sys

import pytest

import spikeweave.spikeinterface


def analyzer_of(random_spikes):
    si = pytest.importorskip("spikeinterface")
    recording, truth = si.generate_ground_truth_recording(
        durations=[5.0], num_channels=4, num_units=3, seed=3
    )
    analyzer = si.create_sorting_analyzer(truth, recording, sparse=True, verbose=False)
    analyzer.compute(
        {
            "random_spikes": random_spikes,
            "waveforms": {},
            "templates": {},
            "principal_components": {"n_components": 3, "mode": "by_channel_local"},
        },
        verbose=False,
    )
    return analyzer


def test_some_of_the_spikes_are_not_taken_for_all():
    analyzer = analyzer_of({"method": "uniform", "max_spikes_per_unit": 20, "seed": 0})
    every = analyzer.sorting.count_total_num_spikes()
    some = len(analyzer.get_extension("random_spikes").get_random_spikes())
    assert some < every

    with pytest.raises(ValueError, match=f"analyzer: found .* {some} of {every} .*method='all'"):
        spikeweave.spikeinterface.sort_analyzer(analyzer)


def test_a_selection_that_left_nothing_out_is_taken():
    analyzer = analyzer_of({"method": "uniform", "max_spikes_per_unit": 100_000, "seed": 0})

    sorting = spikeweave.spikeinterface.sort_analyzer(analyzer)

    assert sorting.count_total_num_spikes() <= analyzer.sorting.count_total_num_spikes()


def test_wrong_objects_are_named():
    pytest.importorskip("spikeinterface")

    with pytest.raises(TypeError, match="analyzer: expected a SortingAnalyzer, found .*None"):
        spikeweave.spikeinterface.sort_analyzer(None)
    with pytest.raises(TypeError, match="result: expected a SortResult, found .*None"):
        spikeweave.spikeinterface.numpy_sorting(None)


@pytest.mark.parametrize("call", ["run_sorter('no such file')", "sort_analyzer(None)"])
def test_without_spikeinterface_the_error_comes_before_the_work(call):
    code = (
        "import sys; sys.modules['spikeinterface'] = None; "
        f"import spikeweave.spikeinterface as si; si.{call}"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "ImportError: spikeweave.spikeinterface works with SpikeInterface" in ended.stderr
    assert "pip install 'spikeweave[spikeinterface]'" in ended.stderr
