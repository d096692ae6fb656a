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


class UnitsToNwb:
    """Units that can be a table of units."""

    def to_nwb(self, target: Any, *, overwrite: bool = False, append: bool = False) -> Any:
        """The table of units of an NWB file; those of a sorting have their quality as columns.

        Parameters
        ----------
        target
            A `pynwb.NWBFile` without units, or the path of a file.
        overwrite, append
            Whether to replace an existing file, or to add the units to it.

        Returns
        -------
        pynwb.NWBFile
            Closed if a path was given.

        Raises
        ------
        FileExistsError
            If there is a file at the path, and neither `overwrite` nor `append` is given.
        ValueError
            If the file has a table of units.
        """
        return converted(self, "nwb", target, overwrite, append)


class FindingsToNwb:
    """Episodes or patterns that can be a table."""

    def to_nwb(self, target: Any, *, overwrite: bool = False, append: bool = False) -> Any:
        """A table ``episodes`` or ``spade_patterns`` in the processing module ``ecephys``.

        Parameters
        ----------
        target
            A `pynwb.NWBFile` to add the table to, or the path of a file. Units of `spikes` are
            those of the same name in the file's table of units; a file without such a table gets
            them.
        overwrite, append
            Whether to replace an existing file, or to add the table to it.

        Returns
        -------
        pynwb.NWBFile
            Closed if a path was given.

        Raises
        ------
        FileExistsError
            If there is a file at the path, and neither `overwrite` nor `append` is given.
        ValueError
            If the file's table of units lacks a unit of `spikes`.
        """
        return converted(self, "nwb", target, overwrite, append)
