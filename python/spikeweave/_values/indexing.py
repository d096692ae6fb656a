"""Parts of results: by slices, by indices and by masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Which one; negative ones count from the end.
Single = int | np.integer[Any]
#: Which of several: a slice, indices, or a mask.
Several = slice | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]


def chosen(index: Any, count: int) -> NDArray[np.int64] | None:
    """The indices from 0 of a part; None where `index` is a single one."""
    every = np.arange(count, dtype=np.int64)
    if isinstance(index, slice):
        return every[index]
    if not np.iterable(index) or isinstance(index, (str, bytes)):
        return None
    # An array without dimensions is a single number.
    wanted = np.asarray(index)
    if wanted.size == 0 and wanted.dtype.kind == "f":
        wanted = wanted.astype(np.int64)
    if wanted.dtype.kind not in "iub" or wanted.ndim != 1:
        raise TypeError(
            f"expected a slice, whole numbers or a mask, found {wanted.dtype} of {wanted.ndim} "
            "dimensions"
        )
    if wanted.dtype.kind == "b" and len(wanted) != count:
        raise IndexError(f"expected a mask of {count}, found one of {len(wanted)}")
    return every[wanted]


def ragged(
    offsets: NDArray[np.int64], some: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Some rows of compressed rows: their offsets, and where their elements were."""
    sizes = offsets[some + 1] - offsets[some]
    new = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    within = np.arange(new[-1]) - np.repeat(new[:-1], sizes)
    return new, np.repeat(offsets[some], sizes) + within
