"""Patterns as Elephant's SPADE gives them and Viziphant draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike


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
            "to_elephant() gives times as quantities: pip install quantities"
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
