"""Conversions between values and what other packages have.

Values import no adapter. The adapters register their conversions here when the package is imported,
and values look them up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


class InputForm(NamedTuple):
    """A form of input: how it is recognised, and its converter."""

    matches: Callable[[Any], bool]
    convert: Callable[..., Any]


#: Forms of spikes, in the order in which they are tried. `convert(spikes, unit_names)` returns
#: `SpikeArrays` or a `SpikeSequence`.
spike_forms: list[InputForm] = []

#: Forms of recordings other than arrays. `convert(recording)` returns a `Recording`.
recording_forms: list[InputForm] = []

_converters: dict[tuple[type, str], Callable[..., Any]] = {}


def converter_of(value: Any, forms: Iterable[InputForm]) -> Callable[..., Any] | None:
    """The converter of the value: that of the first form that matches, or None."""
    return next((form.convert for form in forms if form.matches(value)), None)


def converts(kind: type, form: str) -> Callable[[_Function], _Function]:
    """Registers a function that converts values of a type to a form, which `converted` calls."""

    def register(function: _Function) -> _Function:
        _converters[kind, form] = function
        return function

    return register


def converted(value: Any, form: str, *arguments: Any) -> Any:
    """The value in a form, by the function that an adapter registered for its type."""
    for kind in type(value).__mro__:
        if (kind, form) in _converters:
            return _converters[kind, form](value, *arguments)
    raise TypeError(f"found {type(value)}, which has no form {form!r}")
