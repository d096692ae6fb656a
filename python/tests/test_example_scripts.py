"""The scripts in `examples` do what their first lines say."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spikeweave

EXAMPLES = Path(__file__).parents[2] / "examples"
CHAIN = "n4,4-6,n5,4-6,n6"


@pytest.fixture(scope="module")
def simulated():
    return spikeweave.simulate.sym26(seed=1, length="30s").spikes


def lines_of(spikes):
    return [
        f"{time:.6f}\t{spikes.unit_names[unit]}\n"
        for time, unit in zip(spikes.times, spikes.units, strict=True)
    ]


def run(script, *arguments, **more):
    return subprocess.run(
        [sys.executable, EXAMPLES / script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        **more,
    )


def test_find_chains_of_a_simulation():
    told = run("find_chains.py").stdout

    assert "n0 -> n1  3.5 to 6 ms" in told
    assert "chain n4 -> n5 -> n6 -> n7 -> n8 -> n9 -> n10 -> n11 occurs" in told


def test_find_chains_of_a_file(simulated, tmp_path):
    file = tmp_path / "spikes.txt"
    file.write_text("".join(lines_of(simulated)))

    run("find_chains.py", file, tmp_path / "out")

    found = spikeweave.episodes(simulated)
    with open(tmp_path / "out/chains.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["units"].split() for row in rows] == [
        list(chain.units) for chain in found[found.chains]
    ]
    assert len(rows) >= 2
    assert (tmp_path / "out/page.html").stat().st_size > 100_000


@pytest.mark.nightly
def test_detectable_strength(simulated, tmp_path):
    file = tmp_path / "spikes.txt"
    file.write_text("".join(lines_of(simulated)))

    told = run("detectable_strength.py", file, "n20", "n21").stdout.splitlines()

    numbers = dict(zip(simulated.unit_names, map(len, simulated.trains()), strict=True))
    assert told[0] == f"n20 ({numbers['n20']} spikes) -> n21 ({numbers['n21']} spikes)"
    found = [int(line.split("found in ")[1].split()[0]) for line in told[1:]]
    assert len(found) == 6
    assert found[0] < 10
    assert found[-1] == 20


def test_live_trigger(simulated, tmp_path):
    port = tmp_path / "port"
    port.touch()

    told = run("live_trigger.py", CHAIN, port, input="".join(lines_of(simulated))).stdout

    times = np.array([float(line.split()[0]) for line in told.splitlines()])
    assert port.read_bytes() == b"\x01" * len(times)
    assert len(times) > 20
    assert np.diff(times).min() >= 0.05
    chain = [(["n4", "n5", "n6"], [("4ms", "6ms")] * 2)]
    detector = spikeweave.Detector(chain, units=simulated.unit_names)
    ends = [one.times[-1] for one in detector.add(simulated.times, simulated.units)]
    assert np.isin(np.round(times, 6), np.round(ends, 6)).all()


def test_live_trigger_does_not_wait_for_more_spikes():
    with subprocess.Popen(
        [sys.executable, EXAMPLES / "live_trigger.py", CHAIN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdin.write("0.100000\tn4\n0.105000\tn5\n0.110000\tn6\n")
        process.stdin.flush()
        assert process.stdout.readline() == "0.110000 n4 -> n5 -> n6\n"
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_live_trigger_says_how_it_is_used():
    result = subprocess.run(
        [sys.executable, EXAMPLES / "live_trigger.py"], capture_output=True, text=True
    )

    assert result.returncode == 1
    assert "Usage: live_trigger.py CHAINS" in result.stderr
