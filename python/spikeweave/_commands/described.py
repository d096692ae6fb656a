"""Functions whose keyword arguments are options that the library describes."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from .._adapters.epochs import epochs_of
from .._values.spikes import SpikeSequence

_Function = TypeVar("_Function", bound=Callable[..., Any])

_MARK = "    {options}\n"
# Arguments of many functions that are no options of the library.
_OTHERS = {
    "threads": "Number of worker threads; 0 uses all cores. Default: 0.",
    "progress": "True, False, or a function of (task, done, total). By default a bar on a terminal "
    "and in a notebook.",
}
_RAISES = """\
Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected."""


def _wrapped(text: str, width: int = 92) -> Iterator[str]:
    """The lines of a text; `textwrap` would take a tenth of the time of `import spikeweave`."""
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _entry(option: dict[str, Any]) -> str:
    """The entry of an option in the section "Parameters" of a docstring."""
    text = option["help"][:1].upper() + option["help"][1:]
    text = re.sub(r"\S*\*\S*", r"``\g<0>``", text)  # an address, in which * begins no emphasis
    if option["choices"]:
        text += ": " + ", ".join(f'``"{choice}"``' for choice in option["choices"])
    if option["placeholder"] == "HZ":
        text += ", in Hz"
    default = option["default_shown"]
    return _paragraph(option["name"], text + (f". Default: {default}." if default else "."))


def _paragraph(name: str, text: str) -> str:
    return f"    {name}\n" + "".join(f"        {line}\n" for line in _wrapped(text))


def _or_none(option: dict[str, Any]) -> str:
    return " | None" if option["default"] is None and not option["required"] else ""


def described(options: Callable[[], list[dict[str, Any]]]) -> Callable[[_Function], _Function]:
    """Sets the signature and the docstring of a function with ``**options`` from its options, which
    stand for ``{options}`` in the docstring; ``{raises}`` is what all of them raise.

    Parameters
    ----------
    options
        The library's description of the options, such as ``_core.episodes_options``.
    """

    def decorate(function: _Function) -> _Function:
        listed = options()
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        positional = [p for p in own if p.kind is not p.KEYWORD_ONLY]
        named = {p.name for p in own}
        added = [
            inspect.Parameter(
                option["name"],
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if option["required"] else option["default"],
                annotation=option["type"] + _or_none(option),
            )
            for option in listed
            if option["name"] not in named
        ]
        others = [p for p in own if p.kind is p.KEYWORD_ONLY]
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*positional, *added, *others]
        )
        if function.__doc__ is not None:  # which python -OO leaves out
            entries = "".join(_entry(option) for option in listed if option["name"] not in named)
            for name in [p.name for p in others if p.name in _OTHERS]:
                if f"\n    {name}\n" not in function.__doc__:
                    entries += _paragraph(name, _OTHERS[name])
            function.__doc__ = function.__doc__.replace(_MARK, entries).replace("{raises}", _RAISES)
        return function

    return decorate


def with_epochs(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The options with `epochs`, and others of these names, as pairs of times."""
    given = dict(options)
    for name in ("epochs", *names):
        if given.get(name) is not None:
            given[name] = epochs_of(given[name])
    return given


def run_of(found: dict[str, Any], searched: SpikeSequence) -> dict[str, Any]:
    """The attributes of a run; shows its warnings if they were not shown before."""
    for warning in found["warnings"][found["told"] :]:
        warnings.warn(warning, stacklevel=3)
    part = found.get("spikes")
    return {
        "spikes": searched if part is None else SpikeSequence._from_core(part),
        "_report": found["report"],
        **{name: found[name] for name in ("parameters", "seconds", "warnings")},
    }
