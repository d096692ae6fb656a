"""Tests the package in an environment that has only NumPy."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import spikeweave

BIN = pathlib.Path(sys.executable).parent
OPTIONAL = (
    "elephant",
    "matplotlib",
    "neo",
    "networkx",
    "pandas",
    "pynwb",
    "spikeinterface",
    "tqdm",
)


def refuses(call, name):
    """Return whether a call names the package that is missing."""
    try:
        call()
    except ImportError as error:
        return name in str(error)
    return False


def main():
    present = [name for name in OPTIONAL if importlib.util.find_spec(name)]
    assert not present, f"expected none of {OPTIONAL}, found {present}"
    libraries = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    assert "libhdf5" not in libraries, "the extension brings a libhdf5"

    for command in ([BIN / "spikeweave"], [sys.executable, "-m", "spikeweave"]):
        said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        # A build from a checkout adds its commit to the version.
        name, version = said.stdout.split()[:2]
        assert name == "spikeweave", said.stdout
        assert version.split("+")[0] == spikeweave.__version__.split("+")[0], said.stdout
    with tempfile.TemporaryDirectory() as folder:
        spikes = pathlib.Path(folder) / "spikes.nwb"  # the command has its own HDF5
        options = ["simulate", "sym26", "--length", "1s", "-o"]
        subprocess.run([BIN / "spikeweave", *options, spikes], check=True, capture_output=True)
        assert spikes.stat().st_size > 0

    made = spikeweave.simulate.sym26(seed=1)
    found = spikeweave.episodes(made.spikes, delays="4-6ms", min_count=200)
    planted = {tuple(f"n{unit}" for unit in chain) for chain in made.chains}
    assert {found[i].units for i in found.chains} == planted
    assert "chains" in repr(found)
    assert "<table>" in found._repr_html_()
    assert refuses(found.to_dataframe, "pandas")
    assert refuses(found.to_networkx, "networkx")
    assert refuses(found.to_elephant, "quantities")
    assert refuses(lambda: found.to_nwb("x.nwb"), "pynwb")
    assert refuses(lambda: spikeweave.episodes(made.spikes, progress=True), "tqdm")

    patterns = spikeweave.simulate.patterns(units=20, seed=1)
    assert len(spikeweave.spade(patterns.spikes, surrogates=100, seed=1)) > 0
    recording = spikeweave.simulate.recording(channels=8, units=2, length="2s", seed=1)
    assert len(spikeweave.sort(recording.recording).labels) > 0
    assert spikeweave.SpikeSequence.of((np.array([0.5]), np.array([3]))).unit_names == ["3"]
    print(
        f"spikeweave {spikeweave.__version__} works with Python {sys.version.split()[0]} "
        "and NumPy alone"
    )


if __name__ == "__main__":
    main()
