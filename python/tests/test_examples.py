"""The examples of the docstrings; those of synfire.elephant are in test_elephant.py."""

import doctest
import importlib
import pkgutil
import warnings

import pytest

import synfire

MODULES = [
    one.name
    for one in pkgutil.walk_packages(synfire.__path__, "synfire.", onerror=lambda name: None)
    if not one.name.startswith(("synfire.elephant", "synfire._core"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name):
    if name.startswith("synfire.plot"):
        pytest.importorskip("matplotlib")
    if name == "synfire.spikeinterface":
        pytest.importorskip("spikeinterface")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = doctest.testmod(importlib.import_module(name))
    if name.startswith("synfire.plot"):
        importlib.import_module("matplotlib.pyplot").close("all")

    assert found.failed == 0


def test_there_are_examples():
    count = sum(
        doctest.testmod(importlib.import_module(name)).attempted
        for name in ("synfire.simulate", "synfire._spikes")
    )

    assert count > 5
