"""Results of a type checker for calls of the package."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import spikeweave
from spikeweave import _core

RIGHT = """
from typing import assert_type
import numpy as np
import spikeweave

found = spikeweave.episodes([[0.1, 0.2], [0.3]], delays="4-6ms", strategy="latest-start")
assert_type(found, spikeweave.EpisodeResult)
assert_type(found[0], spikeweave.Episode)
assert_type(found[1:], spikeweave.EpisodeResult)
assert_type(found[found.q < 0.01], spikeweave.EpisodeResult)
spikeweave.episodes((np.array([0.1]), np.array([1])), delays=[(0.001, 0.002), (0.002, 0.004)])
spikeweave.episodes({"A": [0.1], "B": np.array([0.2])}, delays=("1ms", "4ms"), max_size=3)
spikes = spikeweave.SpikeSequence([[0.1]])
in_windows = spikeweave.windows(spikes, window="60s", hop=10, delays="4-6ms")
assert_type(in_windows, spikeweave.WindowedEpisodeResult)
assert_type(in_windows[0], spikeweave.EpisodeResult)
assert_type(in_windows[1:], list[spikeweave.EpisodeResult])
assert_type(spikeweave.count(spikes, found[:2], surrogates=10), spikeweave.EpisodeResult)
patterns = spikeweave.spade(spikes, bin="5ms", window="100ms", epochs=[(0, 1)], min_occ={2: 5})
assert_type(patterns[0], spikeweave.Pattern)
spikeweave.sort(np.zeros((10, 2)), sample_rate=3e4, starting_clusters="auto")
spikeweave.simulate.sym26(length="10s", chains=[3])
with spikeweave.live(spikes, speed="max", episodes=found[:2], window=5, hop="1s") as run:
    for event in run:
        if isinstance(event, spikeweave.Window):
            assert_type(event[0], spikeweave.Episode)
            assert_type(event[1:], spikeweave.Window)
blocks = [(np.array([0.1]), np.array(["a"]))]
spikeweave.live(iter(blocks), episodes="armed.txt", windows=False)
detector = spikeweave.Detector(found[:2], units=["0", "1"], ties="order")
assert_type(detector.add([0.1], [0]), list[spikeweave.Detection])
windows = spikeweave.SlidingWindow(["0", "1"], window="growing", hop=1.0, delays="1-4ms")
assert_type(next(iter(windows)), spikeweave.Window)
"""
WRONG = {
    "episodes(3)": "arg-type",
    "episodes([[0.1]], strategy='nonsense')": "arg-type",
    "episodes([[0.1]], correction='fdr_tsbh')": "arg-type",
    "episodes([[0.1]], min_count='ten')": "arg-type",
    "episodes([[0.1]], nonsense=1)": "call-arg",
    "windows([[0.1]], hop=1)": "call-arg",
    "count([[0.1]], [], min_count=5)": "call-arg",
    "spade([[0.1]], spectrum='2d#')": "arg-type",
    "spade(None)": "arg-type",
    "sort('file', sign='up')": "arg-type",
    "SpikeSequence(3)": "arg-type",
    "read('file', format='word')": "arg-type",
    "simulate.patterns(rates='fast')": "arg-type",
    "count_episodes([[0.1]], [], ties='never')": "arg-type",
    "live(5)": "arg-type",
    "live([], speed='fast')": "arg-type",
    "Detector([], ties='time')": "call-arg",
    "SlidingWindow(['a'], window=None, size=3)": "call-arg",
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Return mypy's messages by line of the file."""
    pytest.importorskip("mypy")
    file = tmp_path_factory.mktemp("types") / "calls.py"
    begin = len(RIGHT.splitlines())
    file.write_text(RIGHT + "".join(f"spikeweave.{call}\n" for call in WRONG), encoding="utf-8")
    folder = Path(spikeweave.__file__).parents[1]
    # mypy finds an installed package by itself and rejects its path.
    found_by = {} if folder.name == "site-packages" else {"MYPYPATH": str(folder)}
    said = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--ignore-missing-imports",
         "--cache-dir", os.devnull, str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, **found_by},
    )  # fmt: skip
    assert "calls.py" in said.stdout, said.stdout + said.stderr
    lines = [line for line in said.stdout.splitlines() if "calls.py:" in line and "error" in line]
    return begin, [(int(line.split(":")[1]), line) for line in lines]


def test_right_calls_are_taken(checked):
    begin, errors = checked

    assert not [line for number, line in errors if number <= begin]


@pytest.mark.parametrize("call", WRONG)
def test_wrong_calls_are_refused(checked, call):
    begin, errors = checked
    number = begin + 1 + list(WRONG).index(call)

    assert [line for at, line in errors if at == number and f"[{WRONG[call]}]" in line]


def test_a_two_stage_correction_is_not_offered_where_it_is_refused():
    with pytest.raises(ValueError, match="^correction: expected one of .*, found 'bonf'") as error:
        spikeweave.episodes([[0.1]], correction="bonf")
    offered = str(error.value).split("one of ")[1].split(", found")[0].split(", ")
    correction = next(o for o in _core.episodes_options() if o["name"] == "correction")
    assert offered == correction["choices"]
    assert "fdr_tsbh" not in offered
    with pytest.raises(ValueError, match="fdr_tsbh hold for one alpha only"):
        spikeweave.episodes([[0.1]], correction="fdr_tsbh")


def test_help_shows_defaults():
    shown = str(inspect.signature(spikeweave.episodes))

    assert "alpha: 'float' = 0.01" in shown
    assert "correction: 'str' = 'holm'" in shown
