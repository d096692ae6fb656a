"""Binned trains of Elephant, and patterns as its SPADE returns them and Viziphant draws them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._values.conversions import converts
from .._values.episodes import EpisodeResult
from .._values.spade import PatternResult
from .._values.spike_arrays import SpikeArrays, joined


def is_binned(spikes: Any) -> bool:
    """Whether it is a ``BinnedSpikeTrain``."""
    return hasattr(spikes, "to_sparse_bool_array")


def from_binned(binned: Any, unit_names: Sequence[str] | None) -> SpikeArrays:
    """Spikes of a ``BinnedSpikeTrain`` at the left edges of their bins."""
    matrix = binned.to_sparse_bool_array().tocsr()
    counted = int(binned.sparse_matrix.sum())
    shared = counted - matrix.count_nonzero()
    if shared:
        warnings.warn(
            f"{shared} of {counted} spikes share a bin with another of their unit, and count once.",
            stacklevel=3,
        )
    start = float(binned.t_start.rescale("s"))
    bin_size = float(binned.bin_size.rescale("s"))
    trains = [
        start + bin_size * np.sort(matrix.indices[begin:end])
        for begin, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]
    names = [str(i) for i in range(len(trains))]
    return joined(trains, names, start, start + bin_size * matrix.shape[1])


def pattern_dict(
    neurons: Sequence[int],
    lags: ArrayLike,
    times: ArrayLike,
    p: float,
    itemset: Sequence[int] = (),
    windows: Sequence[int] = (),
    signature: tuple[int, ...] | None = None,
) -> dict[str, Any]:
    """Lags of all spikes but the first, and times of the first spikes, in seconds."""
    try:
        import quantities
    except ImportError:
        raise ImportError(
            "to_elephant() returns times as quantities: pip install quantities"
        ) from None
    starts = quantities.Quantity(times, "s").rescale("ms")
    return {
        "itemset": tuple(itemset),
        "windows_ids": tuple(windows),
        "neurons": list(neurons),
        "lags": quantities.Quantity(lags, "s").rescale("ms"),
        "times": starts,
        "signature": signature or (len(neurons), len(starts)),
        "pvalue": float(p),
    }


@converts(EpisodeResult, "elephant")
def episodes_to_elephant(
    result: EpisodeResult, indices: Sequence[int] | None
) -> list[dict[str, Any]]:
    """Episodes as patterns whose lags are the middle of each delay interval."""
    if indices is None:
        indices = np.flatnonzero(result.sizes > 1).tolist()
    out = []
    for i in indices:
        units, delays = result._parts(range(len(result))[i])
        lags = np.cumsum(delays.mean(axis=1))
        times = result.occurrences(i)[:, 0]
        out.append(pattern_dict(units.tolist(), lags, times, result.p[i]))
    return out


@converts(PatternResult, "elephant")
def patterns_to_elephant(result: PatternResult) -> list[dict[str, Any]]:
    """Patterns, with their items as Elephant numbers them."""
    window = result.parameters["window"]
    out = []
    for i in range(len(result)):
        items = slice(result.offsets[i], result.offsets[i + 1])
        starts = slice(result.occurrence_offsets[i], result.occurrence_offsets[i + 1])
        bins = result.lag_bins[items].astype(np.int64)
        units = result.units[items].astype(np.int64)
        signature: tuple[int, ...] = (len(units), int(result.counts[i]))
        if result.parameters["spectrum"] == "3d#":
            signature += (int(bins[-1]),)
        out.append(
            pattern_dict(
                units.tolist(),
                bins[1:] * result.parameters["bin"],
                result.times[starts],
                -1 if result.p is None else result.p[i],
                (units * window + bins).tolist(),
                result.windows[starts].tolist(),
                signature,
            )
        )
    return out
