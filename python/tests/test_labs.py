"""Recordings that laboratories' systems wrote.

Each is read as SpikeInterface reads it, or refused with the reason."""

import warnings

import numpy as np
import pytest

import spikeweave

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def labs(shared_data):
    if not (shared_data / "labs").is_dir():
        pytest.skip(f"there is no {shared_data / 'labs'}")
    return shared_data / "labs"


@pytest.fixture
def extractors():
    return pytest.importorskip("spikeinterface.extractors")


def assert_same(found, expected, has_places=True):
    """Compares a recording with one of SpikeInterface of one segment."""
    assert found.frames == expected.get_num_samples()
    assert found.sample_rate == pytest.approx(expected.get_sampling_frequency())
    assert len(found.channels) == expected.get_num_channels()
    gains = [one["gain_uv"] for one in found.channels]
    assert gains == pytest.approx(list(expected.get_channel_gains()))
    if has_places:
        np.testing.assert_allclose(found.positions, expected.get_channel_locations())
    else:
        with pytest.raises(Exception, match="(?i)locations|probe"):
            expected.get_channel_locations()
    end = found.frames
    for begin in {0, max(end - 1000, 0)}:
        microvolts = expected.get_traces(
            start_frame=begin, end_frame=min(begin + 1000, end), return_in_uV=True
        )
        np.testing.assert_allclose(
            found.microvolts(begin, min(begin + 1000, end)), microvolts, rtol=1e-5, atol=1e-3
        )


def test_spikeglx(labs, extractors):
    folder = labs / "spikeglx/multi_trigger_multi_gate/SpikeGLX/5-19-2022-CI4/5-19-2022-CI4_g1"
    expected = extractors.read_spikeglx(folder, stream_id="imec0.ap")
    for path in (folder, next(folder.rglob("*.ap.bin")), next(folder.rglob("*.ap.meta"))):
        found = spikeweave.read_recording(path)

        assert_same(found, expected)
        names = [str(name).split("#")[-1] for name in expected.get_channel_ids()]
        assert [one["name"] for one in found.channels] == names


@pytest.mark.parametrize("name", ["v0.4.4.1_with_spikes", "v0.5.x_two_nodes"])
def test_open_ephys(labs, extractors, name):
    folder = labs / "openephysbinary" / name
    expected = extractors.read_openephys(folder)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = spikeweave.read_recording(folder)

    assert_same(found, expected, has_places=False)
    assert [one["name"] for one in found.channels] == list(expected.get_channel_ids())
    said = [str(one.message) for one in told if folder.name in str(one.message)]
    assert len(said) == 1
    assert "No positions of the channels were found" in said[0]


def test_open_ephys_without_samples(labs):
    folder = labs / "openephysbinary/neural_and_non_neural_data_mixed"
    with pytest.raises(OSError, match=r"continuous\.dat': cannot be opened"):
        spikeweave.read_recording(folder)


def test_old_open_ephys(labs):
    folder = labs / "openephys/OpenEphys_SampleData_1"
    said = r"STp106\.0n0\.spikes'(:)? holds spikes in the old format of Open Ephys.*\.continuous"
    with pytest.raises(OSError, match=said):
        spikeweave.read_recording(folder)
    with pytest.raises(OSError, match=said):
        spikeweave.read_recording(folder / "STp106.0n0.spikes")


def test_blackrock(labs, extractors):
    path = labs / "blackrock/segment/PauseCorrect/pause_correct.ns2"
    expected = extractors.read_blackrock(path)
    with pytest.raises(
        OSError, match=r"consists of 2 parts.*\(0: 4 s from 0 s; 1: 4 s from 31\.0087 s"
    ):
        spikeweave.read_recording(path)
    for segment in range(2):
        with pytest.warns(UserWarning, match="No positions of the channels were found"):
            found = spikeweave.read_recording(path, segment=segment)

        assert_same(found, expected.select_segments([segment]), has_places=False)
        assert found.t_start == pytest.approx(expected.get_start_time(segment))


def test_maxwell(labs, extractors):
    """The samples are compressed, and the library for it is not public."""
    h5py = pytest.importorskip("h5py")
    path = labs / "maxwell/MaxOne_data/Activity_Scan/000008/data.raw.h5"
    if h5py.h5z.filter_avail(401):
        expected = extractors.read_maxwell(path, install_maxwell_plugin=False)
        assert_same(spikeweave.read_recording(path), expected)
        return
    with pytest.raises(OSError, match=r"data\.raw\.h5.*filter mxw-data, .*HDF5_PLUGIN_PATH"):
        spikeweave.read_recording(path)


def test_intan(labs):
    pytest.importorskip("spikeinterface")
    folder = labs / "intan/intan_fps_test_231117_052500"
    with pytest.raises(OSError, match=r"info\.rhd.*amplifier\.dat\) is missing beside it"):
        spikeweave.read_recording(folder / "info.rhd")
    with pytest.raises(OSError, match=r"its 'info\.rhd' holds samples of Intan"):
        spikeweave.read_recording(folder)


def test_nwb(labs):
    pytest.importorskip("pynwb")
    with pytest.raises(OSError, match=r"v2\.5\.0\.nwb.*found 12 electrodes, expected 4"):
        spikeweave.read_recording(labs / "nwb/ecephys_tutorial_v2.5.0.nwb")


def test_files_of_spikes_are_no_recordings(labs):
    for name, says in (
        ("blackrock/blackrock_3_0/file_spec_3_0.nev", "spikes of Blackrock, .*: spikeweave.read$"),
        ("neuralynx/Cheetah_v5.5.1/original_data/STet3a.nse", "spikes of Neuralynx, .*read$"),
    ):
        with pytest.raises(OSError, match=says):
            spikeweave.read_recording(labs / name)
