"""The valid values of Elephant's parameters."""

from __future__ import annotations

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


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless the value is one of the choices."""
    if value not in choices:
        raise ValueError(
            f"{name}: expected one of {', '.join(map(repr, choices))}, found {value!r}"
        )
