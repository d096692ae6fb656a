"""The package with CUDA, `spikeweave_cuda`, takes the place of the extension and the command."""

import _ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tomllib

import spikeweave
from spikeweave import _core, _edition

ROOT = Path(__file__).parents[2]
VERSION = pytest.importorskip(
    "spikeweave._version", reason="a checkout, which has no version, uses only its own parts"
).VERSION


@pytest.fixture
def place(tmp_path):
    """Return a folder of packages with a `spikeweave_cuda` that has this package's extension."""
    package = tmp_path / "packages" / "spikeweave_cuda"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").write_text(f'VERSION = "{VERSION}"\n', encoding="utf-8")
    shutil.copy(_core.__file__, package)
    for libraries in Path(_core.__file__).parents[1].glob("spikeweave*.libs"):
        (package.parent / libraries.name).symlink_to(libraries)
    command = package / "bin" / "spikeweave"
    command.write_text('#!/bin/sh\necho "with CUDA:" "$@"\nexit 3\n', encoding="utf-8")
    command.chmod(0o755)
    return package.parent


@pytest.fixture
def other_version(place):
    (place / "spikeweave_cuda" / "__init__.py").write_text('VERSION = "0.0.9"\n', encoding="utf-8")
    return place


def python(place, *arguments, driver=True):
    """Run Python where there is that folder and what looks like a driver."""
    path = os.pathsep.join([str(place), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    if driver:
        # Any library can be loaded under the name of the driver's.
        shutil.copy(_ctypes.__file__, place / "libcuda.so.1")
        environment["LD_LIBRARY_PATH"] = str(place)
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True
    )


WHICH = "import spikeweave; print(spikeweave._core.__file__)"


def test_the_extension_with_cuda_is_used_where_there_is_a_driver(place):
    done = python(place, "-c", f"{WHICH}; print(len(spikeweave.simulate.sym26(seed=1).spikes))")

    extension, spikes = done.stdout.split()
    assert Path(extension).parent == place / "spikeweave_cuda"
    assert int(spikes) == len(spikeweave.simulate.sym26(seed=1).spikes)
    assert done.stderr == ""


def test_the_command_with_cuda_gets_the_arguments_and_gives_its_status(place):
    done = python(place, "-m", "spikeweave", "sort", "a file.bin")

    assert (done.stdout, done.stderr) == ("with CUDA: sort a file.bin\n", "")
    assert done.returncode == 3


def test_another_version_is_not_used_and_a_warning_names_both(other_version):
    done = python(other_version, "-c", WHICH)

    assert Path(done.stdout.strip()).parent == Path(spikeweave.__file__).parent
    assert f"spikeweave is version {VERSION}, but spikeweave-cuda is 0.0.9" in done.stderr
    assert f"pip install 'spikeweave[cuda]=={VERSION}'" in done.stderr
    done = python(other_version, "-m", "spikeweave", "--version")
    assert done.stdout.startswith(f"spikeweave {VERSION}")
    assert done.returncode == 0


def test_without_a_driver_nothing_changes(place, monkeypatch):
    monkeypatch.syspath_prepend(place)
    monkeypatch.delitem(sys.modules, "spikeweave_cuda", raising=False)

    monkeypatch.setattr(_edition, "has_driver", lambda: True)
    assert _edition.cuda_folder() == str(place / "spikeweave_cuda")
    monkeypatch.setattr(_edition, "has_driver", lambda: False)
    assert _edition.cuda_folder() is None


def test_an_emptied_folder_is_no_package(place):
    shutil.rmtree(place / "spikeweave_cuda")
    (place / "spikeweave_cuda").mkdir()

    done = python(place, "-c", WHICH)

    assert Path(done.stdout.strip()).parent == Path(spikeweave.__file__).parent
    assert done.stderr == ""


def test_without_its_command_the_own_one_runs(place):
    (place / "spikeweave_cuda" / "bin" / "spikeweave").unlink()

    done = python(place, "-m", "spikeweave", "--version")

    assert done.stdout.startswith(f"spikeweave {VERSION}")
    assert done.returncode == 0


@pytest.mark.skipif(_edition.has_driver(), reason="there is a driver")
def test_a_driver_is_not_seen_where_there_is_none(place):
    done = python(place, "-c", WHICH, driver=False)

    assert Path(done.stdout.strip()).parent == Path(spikeweave.__file__).parent


def settings(path):
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def test_the_extra_requires_the_version_of_the_library():
    project = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    version = re.search(r"project\(spikeweave VERSION ([0-9.]+)", project).group(1)

    assert version == VERSION
    extras = settings("pyproject.toml")["project"]["optional-dependencies"]
    assert [one.partition(";")[0] for one in extras["cuda"]] == [f"spikeweave-cuda=={version}"]


def test_both_packages_are_built_in_the_same_way_but_for_cuda():
    own, other = settings("pyproject.toml"), settings("packaging/cuda/pyproject.toml")

    assert own["build-system"] == other["build-system"]
    assert own["project"]["requires-python"] == other["project"]["requires-python"]
    own, other = own["tool"]["scikit-build"], other["tool"]["scikit-build"]
    assert own["build"] == other["build"]
    assert own["install"] == other["install"]
    assert own["wheel"]["py-api"] == other["wheel"]["py-api"]
    own, other = own["cmake"]["define"], other["cmake"]["define"]
    assert (own.pop("SPIKEWEAVE_CUDA"), other.pop("SPIKEWEAVE_CUDA")) == (False, True)
    assert other.pop("SPIKEWEAVE_PYTHON_PACKAGE") == "spikeweave_cuda"
    assert other.pop("CMAKE_CUDA_ARCHITECTURES").startswith("75-real;")
    assert own == other
