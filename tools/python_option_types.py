#!/usr/bin/env python3
"""Writes python/spikeweave/_values/options.py: the library's options as types for type checkers.

Usage: python_option_types.py        with the package importable; prints the file
"""

HEAD = '''"""Options of the library as type checkers see them, written by tools/python_option_types.py."""

from __future__ import annotations

from typing import Literal, TypedDict

from .types import {names}
'''
# What the types of options are called in `types.py`.
NAMED = ("Bins", "Delays", "Epochs", "MinOcc", "Rules", "Stability", "Time", "Triple", "Units")


def type_of(option):
    """The annotation of an option."""
    if option["choices"]:
        return "Literal[" + ", ".join(f'"{choice}"' for choice in option["choices"]) + "]"
    return option["type"]


def render(described):
    """The text of the file, from {"EpisodesOptions": [option, ...], ...}."""
    classes = []
    used = set()
    for name, options in described.items():
        lines = [f"class {name}(TypedDict, total=False):"]
        for option in options:
            kind = type_of(option)
            used |= {one for one in NAMED if one in kind.replace("[", " ").split(" ")}
            line = f"    {option['name']}: {kind} | None"
            if len(line) > 100:
                inside = kind.removeprefix("Literal[").removesuffix("]")
                choices = "".join(f"        {choice},\n" for choice in inside.split(", "))
                line = f"    {option['name']}: (\n        Literal[\n" + "".join(
                    f"    {choice}\n" for choice in choices.splitlines()
                ) + "        ]\n        | None\n    )"
            lines.append(line)
        classes.append("\n".join(lines) + "\n")
    return HEAD.format(names=", ".join(sorted(used))) + "\n\n" + "\n\n".join(classes)


def described():
    """The options of all functions that have them."""
    from spikeweave import _core

    return {
        "".join(part.capitalize() for part in name.removesuffix("_options").split("_")) + "Options": getattr(_core, name)()
        for name in sorted(dir(_core))
        if name.endswith("_options")
    }


if __name__ == "__main__":
    print(render(described()), end="")
