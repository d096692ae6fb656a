"""`spikeweave.track`: one neuron in several sortings, with the tables of the command."""

import json
import subprocess
from pathlib import Path

import pytest

import spikeweave


@pytest.fixture(scope="module")
def program():
    path = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not path.exists():
        pytest.skip("the command is not installed")
    return path


@pytest.fixture(scope="module")
def sessions(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sessions")
    for session in ("1", "2"):
        to = folder / f"recording{session}"
        simulated = ["--channels", "16", "--units", "6", "--length", "10s", "--seed", "4"]
        subprocess.run(
            [program, "simulate", "recording", *simulated, "--session", session, "-o", to, "-q"],
            check=True,
        )
        sorted_to = folder / f"sorted{session}"
        subprocess.run([program, "sort", to, "-o", sorted_to, "-q", "--no-report"], check=True)
    return [folder / "sorted1", folder / "sorted2"]


def test_the_result_is_that_of_the_command(program, sessions, tmp_path):
    found = spikeweave.track(sessions, min_probability=0.6)
    done = subprocess.run(
        [program, "track", *sessions, "--min-probability", "0.6", "-o", tmp_path / "own", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    own = json.loads(done.stdout)
    assert found.summary == own["run"]["summary"]
    assert found.neurons["unit"] == [row["unit"] for row in own["neurons"]]
    assert found.relations["matched"] == [row["matched"] for row in own["relations"]]
    assert 0 < found.relations["matched"][0] <= 6
    assert found.parameters["min_probability"] == 0.6
    assert len(found) == len(set(found.neurons["neuron"]))
    assert found.summary in found._repr_html_()
    found.save(tmp_path / "saved")
    for name in ("neurons.tsv", "matches.tsv", "relations.tsv", "sessions.tsv"):
        assert (tmp_path / "saved" / name).read_text() == (tmp_path / "own" / name).read_text()
    with pytest.raises(OSError, match="exists"):
        found.save(tmp_path / "saved")


def test_names_of_spikes_are_those_of_neurons(sessions, tmp_path):
    found = spikeweave.track(sessions)
    found.save(tmp_path / "saved")
    for number, session in enumerate(sessions, 1):
        spikes = spikeweave.read(tmp_path / "saved" / "spikes" / f"{number}.npz")
        rows = zip(*(found.neurons[name] for name in ("neuron", "session", "spikes")), strict=True)
        counts = {str(n): count for n, of, count in rows if of == str(session)}
        assert dict(zip(spikes.unit_names, spikes.counts.tolist(), strict=True)) == counts


def test_a_saved_result_is_loaded_with_its_page(sessions, tmp_path):
    found = spikeweave.track(sessions, labels=["all"])
    found.save(tmp_path / "saved")

    again = spikeweave.load(tmp_path / "saved")

    assert type(again) is type(found)
    for name in ("neurons", "matches", "relations", "sessions", "warnings"):
        assert getattr(again, name) == getattr(found, name)
    assert again.summary == found.summary
    assert again.to_html() == found.to_html()
    assert (tmp_path / "saved" / "report.html").read_text("utf-8") == found.to_html()
    assert "labels=['all']" in json.loads(found._document())["run"]["command"]


def test_what_is_no_sorting_is_refused(sessions, tmp_path):
    with pytest.raises(ValueError, match="two sessions"):
        spikeweave.track(sessions[:1])
    with pytest.raises(OSError, match="spikeweave sort"):
        spikeweave.track([sessions[0], tmp_path])
