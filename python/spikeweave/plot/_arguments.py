"""Checks of arguments that all pictures share."""

from __future__ import annotations

from operator import index as whole
from typing import Any

import numpy as np

from .. import _core


def expect(found: Any, *kinds: type) -> None:
    """Raise a TypeError that names `found` unless it is one of these types."""
    if not isinstance(found, kinds):
        names = " or ".join(f"{_article(kind)} {kind.__name__}" for kind in kinds)
        raise TypeError(f"found: expected {names}, found {type(found)}")


def chosen_indices(name: str, indices: Any, count: int) -> list[int]:
    """Return indices from 0, all by default; negative ones count from the end.

    A mask is refused, because it would be mistaken for the indices 0 and 1.
    """
    # An array without dimensions also has __iter__.
    if isinstance(indices, (str, bytes)) or not np.iterable(indices):
        raise TypeError(f"{name}: expected whole numbers in a list or array, found {indices!r}")
    return [_index(name, one, count) for one in indices]


def _index(name: str, index: Any, count: int) -> int:
    try:
        if isinstance(index, (bool, np.bool_)):
            raise TypeError
        number = whole(index)
    except TypeError:
        raise TypeError(
            f"{name}: expected a whole number, found {index!r} ({type(index).__name__})"
        ) from None
    if not -count <= number < count:
        raise IndexError(f"{name}: found {number}, expected one of the {count} that there are")
    return number % count


def seconds(name: str, time: Any) -> float:
    """Return seconds from a number, a text such as ``"5ms"`` or a quantity."""
    if time is None:
        raise TypeError(f"{name}: expected seconds, a text or a quantity of time, found None")
    try:
        return _core.seconds(time)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {str(error).removeprefix('time: ')}") from None


def _article(kind: type) -> str:
    return "an" if kind.__name__[0] in "AEIOU" else "a"
