"""The symbols that the extension module shows to the process that loads it."""

import shutil
import subprocess

import numpy as np
import pytest

import spikeweave
from spikeweave import _core


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm (binutils) lists the names")
def test_the_extension_exports_nothing_of_the_library():
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", _core.__file__],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert [line.split()[0] for line in listing.splitlines()] == ["PyInit__core"]


@pytest.mark.parametrize("offsets", [[0, 5], [5, 2], [0, 2**40]])
def test_offsets_beyond_the_arrays_are_refused(offsets):
    spikes = spikeweave.simulate.poisson(units=3, length=2.0, seed=1).spikes._core
    chains = (np.array(offsets), np.array([0, 1], np.uint32), np.array([[0.004, 0.006]]))
    for call in (_core.count_episodes, _core.find_replay):
        with pytest.raises(ValueError, match="offset"):
            call(spikes, chains, {})
    items = np.array([0, 1], np.uint32)
    with pytest.raises(ValueError, match="offset"):
        _core.elephant_without_window_subsets(
            np.array(offsets, np.uint64), items, np.array([3], np.uint32), 2
        )
