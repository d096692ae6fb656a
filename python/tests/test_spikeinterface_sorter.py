"""SpikeInterface's `run_sorter` and its launchers sort with spikeweave."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

si = pytest.importorskip("spikeinterface")
pytest.importorskip("spikeinterface.sorters")

from spikeinterface.sorters import (  # noqa: E402
    get_default_sorter_params,
    get_sorter_params_description,
    read_sorter_folder,
    run_sorter,
    run_sorter_jobs,
)

import spikeweave.spikeinterface  # noqa: E402
from spikeweave.spikeinterface_sorter import for_launchers  # noqa: E402


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    made, _ = si.generate_ground_truth_recording(
        durations=[10.0], num_channels=8, num_units=4, seed=2
    )
    return made.save(folder=tmp_path_factory.mktemp("made") / "recording", verbose=False)


def trains(sorting):
    return {str(unit): sorting.get_unit_spike_train(unit).tolist() for unit in sorting.unit_ids}


@pytest.fixture(scope="module")
def expected(recording):
    found = trains(spikeweave.spikeinterface.run_sorter(recording))
    assert sum(map(len, found.values())) > 100
    return found


def job(recording, folder, **more):
    return {
        "sorter_name": "spikeweave",
        "recording": for_launchers(recording),
        "folder": folder,
        **more,
    }


def test_run_sorter(recording, expected, tmp_path):
    sorting = run_sorter("spikeweave", recording, folder=tmp_path / "out")

    assert trains(sorting) == expected
    assert trains(read_sorter_folder(tmp_path / "out")) == expected
    assert sorting.sorting_info["log"]["sorter_version"] == spikeweave.__version__


def test_parameters_are_the_options(recording, tmp_path):
    defaults = get_default_sorter_params("spikeweave")
    described = get_sorter_params_description("spikeweave")
    assert defaults.keys() == described.keys()
    assert defaults["stages"] == "templates"

    sorting = run_sorter(
        "spikeweave", recording, folder=tmp_path / "out", stages="cluster", threads=1
    )

    alone = spikeweave.spikeinterface.run_sorter(recording, stages="cluster")
    assert trains(sorting) == trains(alone)


def test_wrong_parameters_are_said(recording, tmp_path):
    with pytest.raises(ValueError, match="no_such_option"):
        run_sorter("spikeweave", recording, folder=tmp_path / "a", no_such_option=1)
    with pytest.raises(Exception, match="threshold"):
        run_sorter("spikeweave", recording, folder=tmp_path / "b", threshold=-1)


def test_recordings_for_launchers_are_the_same(recording):
    same = for_launchers(recording)

    np.testing.assert_array_equal(same.get_traces(), recording.get_traces())
    np.testing.assert_array_equal(same.get_channel_locations(), recording.get_channel_locations())
    assert same.get_num_frames() == recording.get_num_frames()


@pytest.mark.parametrize(
    ("engine", "how"),
    [
        ("loop", {}),
        pytest.param("joblib", {"n_jobs": 2}, marks=pytest.mark.nightly),
        ("processpoolexecutor", {"max_workers": 2}),
    ],
)
def test_launchers(engine, how, recording, expected, tmp_path):
    if engine == "joblib":
        pytest.importorskip("joblib")
    jobs = [job(recording, tmp_path / name, threads=1) for name in ("a", "b")]

    sortings = run_sorter_jobs(jobs, engine=engine, engine_kwargs=how, return_output=True)

    assert [trains(sorting) for sorting in sortings] == [expected, expected]


@pytest.mark.nightly
def test_dask(recording, expected, tmp_path):
    distributed = pytest.importorskip("distributed")
    jobs = [job(recording, tmp_path / name, threads=1) for name in ("a", "b")]

    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        run_sorter_jobs(jobs, engine="dask", engine_kwargs={"client": client})

    for name in ("a", "b"):
        assert trains(read_sorter_folder(tmp_path / name)) == expected


def test_slurm(recording, expected, tmp_path, monkeypatch):
    """`sbatch` is a program that runs the script of the job at once."""
    sbatch = tmp_path / "sbatch"
    sbatch.write_text(f'#!/bin/sh\nfor script; do :; done\nexec {sys.executable} "$script"\n')
    sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    run_sorter_jobs(
        [job(recording, tmp_path / "out", threads=1)],
        engine="slurm",
        engine_kwargs={"tmp_script_folder": tmp_path / "scripts", "sbatch_args": {"mem": "1G"}},
    )

    assert trains(read_sorter_folder(tmp_path / "out")) == expected


def test_without_spikeinterface_the_error_says_how_to_install_it():
    code = (
        "import sys; sys.modules['spikeinterface'] = None; import spikeweave.spikeinterface_sorter"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert result.returncode != 0
    assert "pip install 'spikeweave[spikeinterface]'" in result.stderr
