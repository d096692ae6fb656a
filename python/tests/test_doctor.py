"""``spikeweave doctor`` of an installed package also reports Python's packages."""

import json
from importlib import metadata

import pytest

from spikeweave import __main__ as command


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A command that prints a report, in an installation without neo."""
    program = tmp_path / "spikeweave"
    program.write_text('#!/bin/sh\n[ "$2" ] && echo "{\\"cores\\": 2}" || echo "cores    2"\n')
    program.chmod(0o755)

    def version(name):
        if name == "neo":
            raise metadata.PackageNotFoundError(name)
        return "1.2"

    monkeypatch.setattr(command.metadata, "version", version)
    return program


def test_packages_are_named_with_their_versions_or_how_to_get_them(program, capsys):
    assert command._doctor(program, ["doctor"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cores    2"
    assert lines[1].startswith("Python   3.")
    assert "pandas 1.2, matplotlib 1.2, pynwb 1.2, spikeinterface 1.2" in lines[1]
    assert lines[2:] == [
        "         neo is missing, for files of acquisition systems, and Elephant: pip install neo "
        "(the extra elephant)"
    ]


def test_json_has_them_too(program, capsys):
    assert command._doctor(program, ["doctor", "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert found["cores"] == 2
    assert found["python"]["packages"]["pandas"] == "1.2"
    assert found["python"]["packages"]["neo"] is None
