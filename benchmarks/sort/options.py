"""The options of against_sorters.py and electrode_to_circuit.py."""

import argparse
import sys
from pathlib import Path

import recordings
from environments import download_wheels

ROOT = Path(__file__).resolve().parents[2]


def named(text):
    name, separator, options = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError("must be NAME=OPTIONS")
    return name, options


def add_sorters(parser, sorters, own):
    group = parser.add_argument_group("sorters")
    many = {"action": "append", "default": []}
    said = f"a sorter, or '{own} NAME' of a variant; may be repeated: {', '.join([*sorters, own])}"
    group.add_argument("--only", metavar="SORTER", help=said, **many)
    said = f"also run {own} with these options of sort; may be repeated"
    group.add_argument("--variant", type=named, metavar="NAME=OPTIONS", help=said, **many)
    said = "install from the wheels in this folder, without network"
    group.add_argument("--wheels", type=Path, metavar="FOLDER", help=said)
    said = "only download the wheels for another machine"
    group.add_argument("--download-wheels", type=Path, metavar="FOLDER", help=said)
    group.add_argument("--python-version", help="of that machine [this Python's]")


def add_recordings(parser, kinds):
    group = parser.add_argument_group("recordings")
    said = "seeds from 0, to choose defaults on, or from 100, to report [report]"
    group.add_argument("--set", choices=("develop", "report"), default="report", help=said)
    group.add_argument("--seeds", type=int, default=1, help="how many seeds of each kind [1]")
    said = f"the first one to report on [{recordings.REPORT}]"
    group.add_argument("--first-seed", type=int, default=recordings.REPORT, help=said)
    said = f"kinds, such as 'si 32*'; may be repeated: {', '.join(kinds)}"
    group.add_argument("--recordings", action="append", default=[], metavar="PATTERN", help=said)
    group.add_argument("--recording", type=Path, metavar="FILE", help="a real recording instead")
    group.add_argument("--cache", type=Path, help="folder of recordings [FOLDER/recordings]")


def parser_of(description, sorters, own, kinds):
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=form)
    parser.add_argument("spikeweave", type=Path, nargs="?", help="the command")
    said = "of environments and results [build/peers]"
    parser.add_argument("--folder", type=Path, default=ROOT / "build/peers", help=said)
    parser.add_argument("--json", type=Path, help="also write the figures of all runs to this file")
    said = "save the tables in benchmarks/results and docs/benchmark-tables.md"
    parser.add_argument("--save", action="store_true", help=said)
    add_sorters(parser, sorters, own)
    add_recordings(parser, kinds)
    return parser


def arguments(description, sorters, own, kinds=recordings.KINDS):
    parser = parser_of(description, sorters, own, kinds)
    chosen = parser.parse_args(sys.argv[1:])
    if chosen.download_wheels:
        size = download_wheels(chosen.download_wheels, chosen.python_version)
        print(f"{size / 2**20:.1f} MiB in {chosen.download_wheels}")
        sys.exit()
    if not chosen.spikeweave:
        parser.error("the spikeweave command is missing")
    if chosen.set == "develop" and chosen.seeds > recordings.MOST_DEVELOP_SEEDS:
        parser.error(f"there are {recordings.MOST_DEVELOP_SEEDS} seeds to develop on")
    if chosen.first_seed < recordings.REPORT:
        parser.error(f"seeds to report on begin at {recordings.REPORT}")
    known = [*sorters, own, *(f"{own} {name}" for name, _ in chosen.variant)]
    for name in chosen.only:
        if name not in known:
            parser.error(f"'{name}' is none of {', '.join(known)}")
    if not chosen.recording and not recordings.matching(chosen.recordings, kinds):
        parser.error(f"no kind of recording matches; there are {', '.join(kinds)}")
    return chosen
