#!/usr/bin/env python3
"""Writes what the repository keeps of the library's options: the types for type checkers in
python/spikeweave/_values/options.py, and the tables of docs/cli.md between the comments
`<!-- options: FUNCTION, GROUP -->` and `<!-- end of options -->`; without a group, all options are in the table.

Usage: option_files.py [--check]     with the package importable; --check only compares
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TYPES = ROOT / "python/spikeweave/_values/options.py"
TABLES = ROOT / "docs/cli.md"
WIDTH = 100
HEAD = '''"""Options of the library as type checkers see them; tools/option_files.py writes this file."""

from __future__ import annotations

from typing import {typing}
'''
TABLE = re.compile(r"(<!-- options: (\w+)(?:, ([^>]*?))? -->\n).*?(<!-- end of options -->)", re.DOTALL)
# Options of reading: no function of Python takes them as a dictionary, so their types are not needed.
READING = ("read", "read_recording", "read_features")


def described():
    """The options of all functions that have them, by name: {"episodes": [option, ...], ...}."""
    from spikeweave import _core

    names = [name for name in sorted(dir(_core)) if name.endswith("_options")]
    return {name.removesuffix("_options"): getattr(_core, name)() for name in names}


def field(option):
    """A line of a TypedDict, wrapped as ruff does."""
    name, kind = option["name"], option["type"]
    if not option["choices"]:
        return f"    {name}: {kind} | None\n"
    choices = [f'"{choice}"' for choice in option["choices"]]
    line = f"    {name}: Literal[{', '.join(choices)}] | None\n"
    if len(line) <= WIDTH + 1:
        return line
    inner = f"        Literal[{', '.join(choices)}]\n"
    if len(inner) > WIDTH + 1:
        inner = "        Literal[\n" + "".join(f"            {choice},\n" for choice in choices) + "        ]\n"
    return f"    {name}: (\n{inner}        | None\n    )\n"


def types(options):
    """The text of the file with types."""
    names = set()
    classes = []
    options = {function: listed for function, listed in options.items() if function not in READING}
    for function, listed in options.items():
        name = "".join(part.capitalize() for part in function.split("_"))
        classes.append(f"\n\nclass {name}Options(TypedDict, total=False):\n" + "".join(map(field, listed)))
        names |= {one["type"] for one in listed if one["type"][0].isupper()}
    typing = ["Literal"] if any(one["choices"] for listed in options.values() for one in listed) else []
    text = HEAD.format(typing=", ".join([*typing, "TypedDict"]))
    if names:
        line = f"from .types import {', '.join(sorted(names))}\n"
        if len(line) > WIDTH + 1:
            line = "from .types import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")\n"
        text += "\n" + line
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


def outdated():
    """The files that differ from what they should be: {path: text}."""
    options = described()
    wanted = {TYPES: types(options), TABLES: tables(TABLES.read_text(encoding="utf-8"), options)}
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
