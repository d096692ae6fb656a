"""The valid values of Elephant's parameters."""

from __future__ import annotations

import operator
from typing import Any

SURR_METHODS = (
    "dither_spike_train",
    "dither_spikes",
    "jitter_spikes",
    "randomise_spikes",
    "shuffle_isis",
    "joint_isi_dithering",
    "dither_spikes_with_refractory_period",
    "trial_shifting",
    "bin_shuffling",
    "isi_dithering",
)
CORRECTIONS = (
    "bonferroni",
    "sidak",
    "holm-sidak",
    "holm",
    "simes-hochberg",
    "hommel",
    "fdr_bh",
    "fdr_by",
    "fdr_tsbh",
    "fdr_tsbky",
    "",
    "no",
)
SPECTRA = ("#", "3d#")
REPORTS = ("a", "#", "3d#")


def check_winlen(winlen: Any) -> None:
    """Raise ValueError unless windows have bins."""
    if winlen < 1:
        raise ValueError(f"winlen: expected an integer >= 1, found {winlen}")


def whole_number(name: str, value: Any) -> int:
    """Return a number that the extension can represent, or raise TypeError or ValueError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected a whole number, found {value!r}") from None
    if not -(1 << 31) <= number < 1 << 31:
        raise ValueError(
            f"{name}: expected a whole number from -2147483648 to 2147483647, found {value!r}"
        )
    return number


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless the value is one of the choices."""
    if value not in choices:
        raise ValueError(
            f"{name}: expected one of {', '.join(map(repr, choices))}, found {value!r}"
        )
