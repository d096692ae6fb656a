"""The examples of the docstrings; those of spikeweave.elephant are in test_elephant.py."""

import doctest
import importlib
import pkgutil
import warnings

import pytest

import spikeweave

MODULES = [
    one.name
    for one in pkgutil.walk_packages(spikeweave.__path__, "spikeweave.", onerror=lambda name: None)
    if not one.name.startswith(("spikeweave.elephant", "spikeweave._core"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name):
    if name.startswith("spikeweave.plot"):
        pytest.importorskip("matplotlib")
    if name == "spikeweave.spikeinterface":
        pytest.importorskip("spikeinterface")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = doctest.testmod(importlib.import_module(name))
    if name.startswith("spikeweave.plot"):
        importlib.import_module("matplotlib.pyplot").close("all")

    assert found.failed == 0


def test_there_are_examples():
    count = sum(
        doctest.testmod(importlib.import_module(name)).attempted
        for name in ("spikeweave.simulate", "spikeweave._values.spikes")
    )

    assert count > 5
