"""Options of the library as type checkers see them; tools/option_files.py writes this file."""

from __future__ import annotations

from typing import Literal, TypedDict

from .types import Delays, Time


class CountEpisodesOptions(TypedDict, total=False):
    ties: Literal["time", "order"] | None
    strategy: (
        Literal[
            "automatic",
            "reference",
            "state-machine",
            "two-pass",
            "occurrences",
            "segments",
            "latest-start",
            "thread-per-episode",
            "segments-per-episode",
            "hybrid",
        ]
        | None
    )
    compaction: Literal["automatic", "atomic", "select", "count-scan-write"] | None
    split: Literal["automatic", "candidates", "time"] | None
    threads: int | None
    device: str | None


class EpisodesOptions(TypedDict, total=False):
    delays: Delays | None
    delay_grid: str | None
    min_count: int | None
    min_fraction: float | None
    min_rate: float | None
    max_size: int | None
    self_repeats: bool | None
    ties: Literal["time", "order"] | None
    strategy: (
        Literal[
            "automatic",
            "reference",
            "state-machine",
            "two-pass",
            "occurrences",
            "segments",
            "latest-start",
            "thread-per-episode",
            "segments-per-episode",
            "hybrid",
        ]
        | None
    )
    compaction: Literal["automatic", "atomic", "select", "count-scan-write"] | None
    split: Literal["automatic", "candidates", "time"] | None
    pairs: Literal["automatic", "merge", "look-back"] | None
    max_memory: int | None
    alpha: float | None
    correction: (
        Literal[
            "none",
            "bonferroni",
            "sidak",
            "holm-sidak",
            "holm",
            "simes-hochberg",
            "hommel",
            "fdr_bh",
            "fdr_by",
        ]
        | None
    )
    test: Literal["jitter", "exact", "chebyshev"] | None
    jitter_window: Time | None
    surrogates: int | None
    surrogate_method: (
        Literal[
            "interval-jitter",
            "spike-dithering",
            "dither_spikes",
            "dither_spikes_with_refractory_period",
            "dither_spike_train",
            "jitter_spikes",
            "randomise_spikes",
            "shuffle_isis",
            "joint_isi_dithering",
            "isi_dithering",
            "bin_shuffling",
        ]
        | None
    )
    dither: Time | None
    seed: int | None
    threads: int | None
    device: str | None
