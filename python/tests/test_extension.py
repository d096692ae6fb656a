"""What the extension module shows to the process that loads it."""

import shutil
import subprocess

import pytest

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
