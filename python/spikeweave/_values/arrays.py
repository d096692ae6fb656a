"""Arrays and times as arguments, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core


def array(name: str, values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """A contiguous array of one dimension. TypeError or ValueError with the argument's name.

    Quantities of time and `timedelta64` become seconds; whole numbers are asked for by an integer
    `dtype`.
    """
    out = numbers(name, values)
    if out.ndim != 1:
        raise ValueError(f"{name}: expected an array of one dimension, found shape {out.shape}")
    is_whole = out.dtype.kind != "f" or np.array_equal(out, np.floor(out))  # NaN is not
    if np.issubdtype(dtype, np.integer) and not is_whole:
        raise ValueError(f"{name}: expected whole numbers, found fractions")
    return np.ascontiguousarray(out, dtype=dtype)


def numbers(name: str, values: Any) -> NDArray[Any]:
    """Values as an array of real numbers; times with a unit as seconds."""
    if hasattr(values, "rescale"):
        try:
            values = values.rescale("s").magnitude
        except ValueError as error:
            raise ValueError(f"{name}: expected times, found {error}") from None
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name}: expected an array, found {values!r}")
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected an array, found a masked one (compressed() unmasks it)")
    if isinstance(values, (list, tuple)) and any(hasattr(one, "rescale") for one in values):
        values = [seconds(name, one) for one in values]
    try:
        out = np.asarray(values)
        if out.dtype.kind == "m":
            out = out / np.timedelta64(1, "s")
        if out.dtype == object:
            out = out.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected an array of numbers, found {type(values)}") from None
    if out.size == 0 and out.dtype.kind not in "iufb":
        out = out.astype(np.float64)
    if out.dtype.kind not in "iuf":
        raise TypeError(f"{name}: expected an array of numbers, found {out.dtype}")
    return out


def seconds(name: str, value: Any) -> float:
    """A time in seconds. TypeError or ValueError with the argument's name."""
    try:
        return float(_core.seconds(value))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {str(error).removeprefix('time: ')}") from None
