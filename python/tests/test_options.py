"""Signatures, docstrings, types, the command and pages agree with the library's descriptions."""

import inspect
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spikeweave
from spikeweave import _core, simulate
from spikeweave._commands.described import described

ROOT = Path(__file__).resolve().parents[2]
DESCRIBED = {
    "read": (spikeweave.read, _core.read_options),
    "episodes": (spikeweave.episodes, _core.episodes_options),
    "windows": (spikeweave.windows, _core.windows_options),
    "count": (spikeweave.count, _core.count_options),
    "count_episodes": (spikeweave.count_episodes, _core.count_episodes_options),
    "Detector": (spikeweave.Detector, _core.detector_options),
    "SlidingWindow": (spikeweave.SlidingWindow, _core.sliding_window_options),
    "assemblies": (spikeweave.assemblies, _core.assemblies_options),
    "bursts": (spikeweave.bursts, _core.bursts_options),
    "replay": (spikeweave.replay, _core.replay_options),
    "track": (spikeweave.track, _core.track_options),
    "live": (spikeweave.live, _core.live_options),
    "spade": (spikeweave.spade, _core.spade_options),
    "sort": (spikeweave.sort, _core.sort_options),
    "sort_features": (spikeweave.sort_features, _core.sort_features_options),
    "sym26": (simulate.sym26, _core.sym26_options),
    "culture": (simulate.culture, _core.culture_options),
    "poisson": (simulate.poisson, _core.poisson_options),
    "patterns": (simulate.patterns, _core.patterns_options),
    "network": (simulate.network, _core.network_options),
    "recording": (simulate.recording, _core.recording_options),
    "features": (simulate.features, _core.features_options),
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_signatures_and_docstrings_have_all_options(name):
    function, options = DESCRIBED[name]
    parameters = inspect.signature(function).parameters

    for option in options():
        default = inspect.Parameter.empty if option["required"] else option["default"]
        assert parameters[option["name"]].default == default
        assert parameters[option["name"]].kind is inspect.Parameter.KEYWORD_ONLY
        assert re.search(rf"^    {option['name']}\n        [A-Z]", function.__doc__, re.MULTILINE)
    assert "{options}" not in function.__doc__


def test_recordings_are_read_with_all_options():
    parameters = inspect.signature(spikeweave.read_recording).parameters

    assert {one["name"] for one in _core.read_recording_options()} < parameters.keys()


def test_files_in_the_repository_are_those_of_the_library():
    tool = ROOT / "tools" / "described_files.py"
    if not tool.exists():
        pytest.skip("needs the repository, of which the tests are a part")
    folder = str(Path(spikeweave.__file__).parents[1])

    said = subprocess.run(
        [sys.executable, tool, "--check"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": folder},
    )

    assert said.returncode == 0, (
        f"outdated; run tools/described_files.py: {said.stdout}{said.stderr}"
    )


def test_tables_of_columns_have_what_the_library_describes():
    tool = ROOT / "tools" / "described_files.py"
    if not tool.exists():
        pytest.skip("needs the repository, of which the tests are a part")
    table = runpy.run_path(str(tool))["tables_of_columns"]
    page = "<!-- columns: count, a.tsv -->\nold\n<!-- end of columns -->\n"

    made = table(page, [("count", "a.tsv", [("x", "one | two"), ("x_low", ""), ("y", "three")])])

    assert "| `x`, `x_low` | one \\| two |\n| `y` | three |\n" in made
    assert "old" not in made
    with pytest.raises(SystemExit, match="lacks the columns of count b.tsv"):
        table(page, [("count", "a.tsv", [("x", "one")]), ("count", "b.tsv", [("x", "one")])])
    with pytest.raises(SystemExit, match="'count, a.tsv' is no table"):
        table(page, [])
    with pytest.raises(SystemExit, match="`x` is not explained"):
        table(page, [("count", "a.tsv", [("x", "")])])


@pytest.fixture(scope="module")
def command():
    file = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not file.exists():
        pytest.skip("the command is not part of this build")
    return file


COMMANDS = {
    "episodes": [_core.episodes_options],
    "windows": [_core.windows_options],
    "count": [_core.count_options],
    "spade": [_core.spade_options],
    "sort": [_core.sort_options, _core.sort_features_options],
    "live": [_core.live_options],
    "simulate sym26": [_core.sym26_options],
    "simulate culture": [_core.culture_options],
    "simulate poisson": [_core.poisson_options],
    "simulate patterns": [_core.patterns_options],
    "simulate network": [_core.network_options],
    "simulate recording": [_core.recording_options],
    "simulate features": [_core.features_options],
}
# The package has the default of both kinds of input, or an iterator in place of an output.
OTHER_DEFAULTS = {("sort", "features_per_channel"), ("live", "to")}


@pytest.mark.parametrize("words", COMMANDS)
def test_the_command_has_all_options_with_their_defaults(command, words):
    told = subprocess.run(
        [command, *words.split(), "--help"], capture_output=True, text=True
    ).stdout
    entry = re.compile(r"^  (?:-\w,)?(--[\w-]+)\b(.*(?:\n {10,}.*)*)", re.MULTILINE)
    entries = {name: " ".join(text.split()) for name, text in entry.findall(told)}

    for option in [one for options in COMMANDS[words] for one in options()]:
        text = entries[option["command_line"]]
        default = re.sub(r"`(\w+)`", r"--\1", option["default_shown"]).replace("_", "-")
        if default and (words, option["name"]) not in OTHER_DEFAULTS:
            assert f"[{default}]" in text.replace("_", "-"), option["name"]


@pytest.mark.parametrize("name", ["episodes", "windows", "count", "spade", "sort", "sort_features"])
def test_the_command_records_all_options(command, tmp_path, name):
    file = tmp_path / "input"
    if name == "sort":
        made = ["recording", "--channels", "4", "--units", "2", "--length", "3s"]
    elif name == "sort_features":
        file = tmp_path / "input.npz"
        made = ["features", "--spikes", "300", "--units", "2", "--channels", "4"]
    else:
        file = tmp_path / "input.tsv"
        made = ["sym26", "--length", "5s", "--seed", "1"]
    subprocess.run([command, "simulate", *made, "-o", file, "-q"], check=True)
    given = tmp_path / "given.txt"
    given.write_text("n0 4-6ms n1\n", encoding="utf-8")
    more = {"windows": ["--window", "1s"], "count": [given]}.get(name, [])
    run = [command, name.partition("_")[0], file, *more, "--json"]
    document = json.loads(subprocess.run(run, capture_output=True, text=True).stdout)

    options = {one["name"] for one in getattr(_core, f"{name}_options")()}
    assert options <= document["run"]["parameters"].keys()


def test_an_option_that_is_added_needs_no_other_edit():
    """An option that the library describes becomes an argument, a type and a line of a page."""
    added = {**_core.episodes_options()[-1], "name": "new_one", "command_line": "--new-one"}
    added |= {"help": "what is new", "choices": ["old", "new"], "default": "old"}
    added |= {"default_shown": "old", "placeholder": "NAME"}
    listed = [*_core.episodes_options(), added]

    @described(lambda: listed)
    def find(spikes, **options):
        """Finds.

            Parameters
            ----------
        {options}
        """

    assert inspect.signature(find).parameters["new_one"].default == "old"
    assert '    new_one\n        What is new: ``"old"``, ``"new"``. Default: old.\n' in find.__doc__

    file = ROOT / "tools" / "described_files.py"
    if not file.exists():
        pytest.skip("needs the repository, of which the tests are a part")
    tool = runpy.run_path(str(file))
    options = {**tool["described"](), "episodes": listed}
    assert '    new_one: Literal["old", "new"] | None\n' in tool["types"](options)
    page = tool["tables"]((ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), options)
    assert "| `--new-one NAME` | what is new: `old`, `new`. Default: old |\n" in page


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        ({"alpha": 2}, ["--alpha", "2"]),
        ({"max_size": 0}, ["--max-size", "0"]),
        ({"jitter_window": "1us"}, ["--jitter-window", "1us"]),
        ({"correction": "fdr_tsbh"}, ["--correction", "fdr_tsbh"]),
        ({"surrogates": 5, "surrogate_method": "trial-shifting"},
         ["--surrogates", "5", "--surrogate-method", "trial-shifting"]),
        ({"min_count": 5, "min_rate": 1.0}, ["--min-count", "5", "--min-rate", "1"]),
    ],
)  # fmt: skip
def test_what_is_refused_is_refused_everywhere(command, tmp_path, arguments, typed):
    name = list(arguments)[-1]
    (tmp_path / "spikes.tsv").write_text("0.1 a\n0.2 b\n", encoding="utf-8")

    with pytest.raises(ValueError, match=f"^{name}: "):
        spikeweave.episodes([[0.1], [0.2]], **arguments)
    run = [command, "episodes", tmp_path / "spikes.tsv", *typed]
    said = subprocess.run(run, capture_output=True, text=True)

    assert said.returncode == 2
    assert f"--{name.replace('_', '-')}" in said.stderr


@pytest.mark.parametrize("other", [{"t_stop": 1}, {"t_start": 0.5}, {"trial_length": 1}])
def test_epochs_exclude_other_limits_of_time(other):
    (name,) = other
    with pytest.raises(ValueError, match=f"{name}: cannot be given together with epochs"):
        spikeweave.spade([[0.1], [0.2]], min_occ=2, surrogates=5, epochs=[(0, 1)], **other)


def test_command_and_package_record_the_same_parameters(command, tmp_path):
    spikes = simulate.sym26(length="5s", seed=1).spikes
    spikeweave.write(tmp_path / "spikes.npz", spikes)
    run = [command, "episodes", tmp_path / "spikes.npz", "--json", "--surrogates", "3"]
    run += ["--min-rate", "5", "--device", "cpu"]
    document = json.loads(subprocess.run(run, capture_output=True, text=True).stdout)

    with pytest.warns(UserWarning, match="nothing can be significant"):
        found = spikeweave.episodes(spikes, surrogates=3, min_rate=5, device="cpu")

    recorded = document["run"]["parameters"]
    assert set(found.parameters) <= set(recorded)
    for name in ("min_count", "min_rate", "strategy", "pairs", "compaction", "split", "ties"):
        assert recorded[name] == found.parameters[name], name
    assert np.isclose(recorded["alpha"], found.parameters["alpha"])
