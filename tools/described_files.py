#!/usr/bin/env python3
"""Writes what the repository keeps of the library's descriptions of options and of columns: the types for type checkers
in python/spikeweave/_values/options.py; the tables of docs/cli.md between the comments
`<!-- options: FUNCTION, GROUP -->` and `<!-- end of options -->`, with all options if there is no group; and those of
docs/results.md between `<!-- columns: COMMAND, FILE -->` and `<!-- end of columns -->`.

Usage: described_files.py [--check]     with the package importable; --check only compares
"""

import itertools
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TYPES = ROOT / "python/spikeweave/_values/options.py"
TABLES = ROOT / "docs/cli.md"
RESULTS = ROOT / "docs/results.md"
WIDTH = 100
HEAD = '''"""Options of the library as type checkers see them; tools/described_files.py writes this file."""

from __future__ import annotations

from typing import {typing}
'''
TABLE = re.compile(r"(<!-- options: (\w+)(?:, ([^>]*?))? -->\n).*?(<!-- end of options -->)", re.DOTALL)
COLUMNS = re.compile(r"(<!-- columns: (\w+), (\S+) -->\n).*?(<!-- end of columns -->)", re.DOTALL)
# Options of reading: no function of Python takes them as a dictionary, so their types are not needed.
READING = ("read", "read_recording", "read_features")


def described():
    """The options of all functions that have them, by name: {"episodes": [option, ...], ...}."""
    from spikeweave import _core

    names = [name for name in sorted(dir(_core)) if name.endswith("_options")]
    return {name.removesuffix("_options"): getattr(_core, name)() for name in names}


def literal(option):
    return f"Literal[{', '.join(json.dumps(choice) for choice in option['choices'])}]"


def aliases(options):
    """The names of the long lists of choices that several options have: {literal: name, ...}."""
    uses = {}
    for option in itertools.chain.from_iterable(options.values()):
        if len(literal(option)) > WIDTH // 2:
            uses.setdefault(literal(option), set()).add(option["name"])
    return {long: f"_{class_name(min(sorted(names), key=len))}" for long, names in uses.items()
            if sum(literal(one) == long for one in itertools.chain.from_iterable(options.values())) > 1}


def wrapped(before, items, after, indent=""):
    """A line, or one for each item if it is too long, as ruff does."""
    line = f"{indent}{before}{', '.join(items)}{after}\n"
    if len(line) <= WIDTH + 1:
        return line
    return f"{indent}{before}\n" + "".join(f"{indent}    {item},\n" for item in items) + f"{indent}{after}\n"


def field(option, alias):
    """A line of a TypedDict, wrapped as ruff does."""
    kind = option["type"] if not option["choices"] else alias.get(literal(option), literal(option))
    if option["required"]:
        return f"    {option['name']}: Required[{kind}]\n"
    line = f"    {option['name']}: {kind} | None\n"
    if len(line) <= WIDTH + 1:
        return line
    inner = wrapped("Literal[", [json.dumps(choice) for choice in option["choices"]], "]", " " * 8)
    return f"    {option['name']}: (\n{inner}        | None\n    )\n"


def class_name(name):
    return "".join(part.capitalize() for part in name.split("_"))


def shared_groups(options, alias):
    """The options that the same functions have, each at least two of both: {functions: [line, ...], ...}."""
    functions_of = {}
    for function, listed in options.items():
        for option in listed:
            functions_of.setdefault(field(option, alias), []).append(function)
    groups = {}
    for line, functions in functions_of.items():
        if len(functions) > 1:
            groups.setdefault(tuple(functions), []).append(line)
    return {functions: lines for functions, lines in groups.items() if len(lines) > 1}


def types(options):
    """The text of the file with types, in which functions inherit what several of them have."""
    options = {function: listed for function, listed in options.items() if function not in READING}
    alias = aliases(options)
    groups = shared_groups(options, alias)
    classes = ["\n" + wrapped(f"{name} = Literal[", long.removeprefix("Literal[").removesuffix("]").split(", "), "]")
               for long, name in alias.items()]
    bases = {function: [] for function in options}
    inherited = {function: set() for function in options}
    for functions, lines in groups.items():
        name = f"_With{class_name(lines[0].split(':')[0].strip())}"
        classes.append(f"\n\nclass {name}(TypedDict, total=False):\n" + "".join(lines))
        for function in functions:
            bases[function].append(name)
            inherited[function] |= set(lines)
    for function, listed in options.items():
        own = [line for line in (field(option, alias) for option in listed) if line not in inherited[function]]
        parents = [*(bases[function] or ["TypedDict"]), "total=False"]
        head = wrapped(f"class {class_name(function)}Options(", parents, "):")
        classes.append("\n\n" + head + ("".join(own) or "    pass\n"))
    names = {one["type"] for listed in options.values() for one in listed if one["type"][0].isupper()}
    each = list(itertools.chain.from_iterable(options.values()))
    typing = ["Literal"] * any(one["choices"] for one in each)
    requires = any(one["required"] for one in each)
    typing = ["TYPE_CHECKING"] * requires + typing
    text = HEAD.format(typing=", ".join([*typing, "TypedDict"]))
    if names:
        imported = wrapped("from .types import ", sorted(names), "")
        text += "\n" + (imported if imported.count("\n") == 1 else wrapped("from .types import (", sorted(names), ")"))
    if requires:
        text += "\nif TYPE_CHECKING:\n    from typing_extensions import Required\n"
    return text + "".join(classes)


def row(option):
    """A line of a table in Markdown."""
    is_off = option["command_line"].startswith("--no-")
    text = option["help_off"] if is_off else option["help"]
    text = re.sub(r"`(\w+)`", lambda name: f"`--{name[1].replace('_', '-')}`", text)
    if option["choices"]:
        text += ": " + ", ".join(f"`{choice}`" for choice in option["choices"])
    if option["default_shown"]:
        text += f". Default: {option['default_shown']}"
    name = " ".join(filter(None, (option["command_line"], option["placeholder"])))
    name, text = (cell.replace("|", r"\|") for cell in (name, text))
    return f"| `{name}` | {text} |\n"


def tables(page, options):
    """The page with its tables as they should be."""

    def table(match):
        begin, function, group, end = match.groups()
        rows = [row(one) for one in options[function] if group in (None, one["group"])]
        if not rows:
            raise SystemExit(f"docs/cli.md: {function} has no group of options '{group}'")
        return begin + "\n| option | description |\n|---|---|\n" + "".join(rows) + "\n" + end

    return TABLE.sub(table, page)


def explained(columns):
    """The columns of a table, those with one explanation together: [([name, ...], help), ...]."""
    lines = []
    for name, text in columns:
        if text or not lines:
            lines.append(([], text))
        lines[-1][0].append(f"`{name}`")
    return lines


def tables_of_columns(page, described):
    """The page with the tables of columns as they should be; it has each that the library describes."""
    left = {(command, file): columns for command, file, columns in described}

    def table(match):
        begin, command, file, end = match.groups()
        columns = left.pop((command, file), None)
        if columns is None:
            raise SystemExit(f"docs/results.md: '{command}, {file}' is no table, or here twice")
        rows = []
        for names, text in explained(columns):
            if not text:
                raise SystemExit(f"{file} of {command}: {names[0]} is not explained")
            rows.append(f"| {', '.join(names)} | {text.replace('|', chr(92) + '|')} |\n")
        return begin + "\n| column | meaning |\n|---|---|\n" + "".join(rows) + "\n" + end

    page = COLUMNS.sub(table, page)
    if left:
        raise SystemExit(f"docs/results.md lacks the columns of {', '.join(' '.join(key) for key in left)}")
    return page


def outdated():
    """The files that differ from what they should be: {path: text}."""
    from spikeweave import _core

    options = described()
    wanted = {
        TYPES: types(options),
        TABLES: tables(TABLES.read_text(encoding="utf-8"), options),
        RESULTS: tables_of_columns(RESULTS.read_text(encoding="utf-8"), _core.result_tables()),
    }
    return {
        path: text
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


if __name__ == "__main__":
    files = outdated()
    for path, text in files.items():
        print(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    sys.exit(1 if files and "--check" in sys.argv else 0)
