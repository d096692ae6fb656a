"""Channels and samples of recordings that Python has, in the shape for the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Voltages given as floating-point numbers are sorted in counts of this many microvolts.
COUNT_UV = 0.05


def _per_channel(name: str, values: ArrayLike, count: int, dtype: Any) -> NDArray[Any]:
    try:
        return np.broadcast_to(np.asarray(values, dtype=dtype), (count,))
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected one value, or {count}, one per channel") from None


def channel_list(
    count: int,
    gain: ArrayLike,
    offset: ArrayLike,
    positions: ArrayLike | None,
    shanks: ArrayLike | None,
    names: Sequence[str] | None,
) -> list[dict[str, Any]]:
    """The channels in the form for the library: a line 20 um apart without positions."""
    gains = _per_channel("gain", gain, count, float)
    offsets = _per_channel("offset", offset, count, float)
    shank = _per_channel("shanks", 0 if shanks is None else shanks, count, int)
    places = (
        np.column_stack([np.zeros(count), 20.0 * np.arange(count)])
        if positions is None
        else np.asarray(positions, dtype=float)
    )
    if places.shape != (count, 2):
        raise ValueError(f"positions: expected shape ({count}, 2), found {places.shape}")
    names = [str(i) for i in range(count)] if names is None else [str(name) for name in names]
    if len(names) != count:
        raise ValueError(f"channel_names: expected {count}, found {len(names)}")
    return [
        {
            "name": names[i],
            "gain_uv": float(gains[i]),
            "offset_uv": float(offsets[i]),
            "x_um": float(places[i, 0]),
            "y_um": float(places[i, 1]),
            "shank": int(shank[i]),
        }
        for i in range(count)
    ]


def as_counts(
    dtype: np.dtype, get: Callable[[int, int], NDArray[Any]]
) -> Callable[[int, int], NDArray[np.int16]]:
    """A source of frames as int16, made from one of frames as they are."""
    limits = np.iinfo(np.int16)

    def checked(samples: NDArray[Any], what: str) -> NDArray[np.int16]:
        if len(samples) and not (
            limits.min <= samples.min() and samples.max() <= limits.max
        ):  # False for NaN, too
            raise ValueError(
                f"recording: expected {what}, found {samples.min()} to {samples.max()}"
            )
        return np.ascontiguousarray(samples, dtype=np.int16)

    if dtype == np.int16:
        return lambda begin, end: np.ascontiguousarray(get(begin, end))
    if dtype.kind in "iu":
        return lambda begin, end: checked(get(begin, end), "counts that int16 holds")
    if dtype.kind == "f":
        return lambda begin, end: checked(
            np.round(np.asarray(get(begin, end), dtype=np.float64) / COUNT_UV),
            f"microvolts within {limits.max * COUNT_UV:.0f}, in counts of {COUNT_UV}",
        )
    raise TypeError(f"recording: expected numbers, found {dtype}")
