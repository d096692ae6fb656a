"""Options of the library as type checkers see them; tools/described_files.py writes this file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from .types import (
    Armed,
    Bins,
    Delays,
    Destinations,
    Epochs,
    FilePath,
    FloatOrMax,
    IntOrAuto,
    Length,
    MinOcc,
    Numbers,
    Pair,
    Rules,
    Stability,
    StartClusters,
    Time,
    Times,
    Triple,
)

if TYPE_CHECKING:
    from typing_extensions import Required

_Correction = Literal[
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

_Strategy = Literal[
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

_Compaction = Literal["automatic", "atomic", "select", "count-scan-write"]

_SurrogateMethod = Literal[
    "interval-jitter",
    "spike-dithering",
    "dither-spikes",
    "dither-spikes-with-refractory-period",
    "dither-spike-train",
    "jitter-spikes",
    "randomise-spikes",
    "shuffle-isis",
    "joint-isi-dithering",
    "isi-dithering",
    "trial-shifting",
    "bin-shuffling",
]


class _WithTStart(TypedDict, total=False):
    t_start: Time | None
    t_stop: Time | None


class _WithEpochs(TypedDict, total=False):
    epochs: Epochs | None
    trial_length: Time | None
    trial_separation: Time | None


class _WithMinCount(TypedDict, total=False):
    min_count: int | None
    max_size: int | None


class _WithBlock(TypedDict, total=False):
    block: Time | None
    permutations: int | None
    confidence: float | None
    change_correction: _Correction | None


class _WithDelays(TypedDict, total=False):
    delays: Delays | None
    delay_grid: str | None
    min_fraction: float | None
    min_rate: float | None
    self_repeats: bool | None
    pairs: Literal["automatic", "merge", "look-back"] | None
    max_memory: int | None


class _WithStrategy(TypedDict, total=False):
    strategy: _Strategy | None
    compaction: _Compaction | None
    split: Literal["automatic", "candidates", "time"] | None


class _WithCorrection(TypedDict, total=False):
    correction: _Correction | None
    test: Literal["jitter", "exact", "chebyshev"] | None
    jitter_window: Time | None


class _WithSurrogates(TypedDict, total=False):
    surrogates: int | None
    dither: Time | None


class _WithChains(TypedDict, total=False):
    chains: Numbers | None
    probability: float | None
    delay: Time | None


class _WithHoldOut(TypedDict, total=False):
    hold_out: float | None
    hold_out_block: Time | None


class _WithTemplates(TypedDict, total=False):
    templates: FilePath | None
    drift: Literal["automatic", "none", "rigid", "blocks"] | None


class _WithWindow(TypedDict, total=False):
    window: Time | None
    window_method: Literal["automatic", "remine", "incremental"] | None


class _WithStartingClusters(TypedDict, total=False):
    starting_clusters: IntOrAuto | None
    max_clusters: int | None
    max_iterations: int | None
    stop: Literal["klustakwik2", "seed"] | None
    points_for_cluster_mask: float | None
    exact_variances: bool | None
    prior_point: float | None
    noise_point: float | None
    penalty_k: float | None
    penalty_k_log_n: float | None
    deletions: Literal["none", "one", "all"] | None
    splits: bool | None
    split_first: int | None
    split_every: int | None
    split_start: Literal["principal", "random"] | None
    start: StartClusters | None
    only_clusters: Numbers | None
    incremental: bool | None
    first_fit: int | None
    refit_above: float | None
    model: FilePath | None
    save_model: FilePath | None
    strategy: Literal["automatic", "reference", "cpu", "cuda"] | None
    precision: Literal["full", "fast"] | None


class AssembliesOptions(_WithTStart, _WithEpochs, _WithMinCount, total=False):
    bins: Times | None
    max_lag: int | None
    reference_lag: int | None
    alpha: float | None
    correct_bins: bool | None
    chunk: int | None
    max_assemblies: int | None
    across_bins: Literal["every", "best", "largest"] | None
    threads: int | None


class BurstsOptions(_WithTStart, _WithEpochs, total=False):
    method: Literal["max-interval", "log-isi"] | None
    min_spikes: int | None
    begin_interval: Time | None
    end_interval: Time | None
    min_separation: Time | None
    min_duration: Time | None
    core_interval: Time | None
    network_share: float | None
    threads: int | None


class CircuitStabilityOptions(TypedDict, total=False):
    exchanges: int | None
    seed: int | None


class CompareOptions(
    _WithMinCount,
    _WithBlock,
    _WithDelays,
    _WithStrategy,
    _WithCorrection,
    total=False,
):
    findings: Literal["together", "either"] | None
    seed: int | None
    change_alpha: float | None
    ties: Literal["time", "order"] | None
    alpha: float | None
    threads: int | None
    device: str | None


class ComparePatternsOptions(_WithBlock, _WithSurrogates, total=False):
    seed: int | None
    change_alpha: float | None
    threads: int | None


class CountEpisodesOptions(_WithStrategy, total=False):
    ties: Literal["time", "order"] | None
    threads: int | None
    device: str | None


class CountOptions(
    _WithTStart,
    _WithEpochs,
    _WithStrategy,
    _WithCorrection,
    _WithSurrogates,
    total=False,
):
    ties: Literal["time", "order"] | None
    alpha: float | None
    surrogate_method: _SurrogateMethod | None
    seed: int | None
    threads: int | None
    device: str | None


class CultureOptions(_WithChains, total=False):
    length: Time | None
    channels: int | None
    background_rate: float | None
    burst_every: Time | None
    burst_length: Time | None
    burst_low: float | None
    burst_high: float | None
    seed: int | None


class DetectorOptions(TypedDict, total=False):
    ties: Literal["time", "order"] | None


class EpisodesOptions(
    _WithTStart,
    _WithEpochs,
    _WithMinCount,
    _WithDelays,
    _WithStrategy,
    _WithCorrection,
    _WithSurrogates,
    _WithHoldOut,
    total=False,
):
    ties: Literal["time", "order"] | None
    alpha: float | None
    surrogate_method: _SurrogateMethod | None
    seed: int | None
    threads: int | None
    device: str | None


class FeaturesOptions(TypedDict, total=False):
    spikes: int | None
    units: int | None
    channels: int | None
    features_per_channel: int | None
    low_height: float | None
    high_height: float | None
    width: float | None
    jitter: float | None
    separation: float | None
    of_no_unit: float | None
    spike_rate: float | None
    sample_rate: float | None
    seed: int | None


class LiveOptions(
    _WithMinCount,
    _WithDelays,
    _WithStrategy,
    _WithTemplates,
    _WithWindow,
    total=False,
):
    speed: FloatOrMax | None
    order: str | None
    stream: str | None
    sources: int | None
    format: (
        Literal[
            "auto",
            "text",
            "wagenaar",
            "meabench",
            "npy",
            "npz",
            "phy",
            "klustakwik",
            "nwb",
            "session",
            "alf",
            "open-ephys",
            "kwik",
            "eglen",
        ]
        | None
    )
    time_unit: str | None
    allow_negative: bool | None
    labels: str | None
    only_units: str | None
    drop_duplicates_of_units: bool | None
    drop_synchronous: int | None
    synchrony_window: Time | None
    max_rate: float | None
    min_snr: float | None
    groups: FilePath | None
    group_window: Time | None
    layout: FilePath | None
    learn: Time | None
    sample_rate: float | None
    channels: int | None
    gain: float | None
    header_bytes: int | None
    probe: FilePath | None
    episodes: Armed | None
    fire_at: int | None
    patterns: FilePath | None
    arm: Literal["auto"] | None
    arm_after: int | None
    arm_windows: int | None
    max_armed: int | None
    to: Destinations | None
    stats_every: Time | None
    metrics: int | None
    window_table: FilePath | None
    record: FilePath | None
    resume: FilePath | None
    verify: bool | None
    track_every: Time | None
    hold_off: Time | None
    max_triggers: str | None
    mute_above: str | None
    mute_window: Time | None
    max_false_alarms: str | None
    rates_from: Time | None
    windows: bool | None
    hop: Time | None
    ties: Literal["time", "order"] | None
    window_budget: Time | None
    threads: int | None
    device: str | None
    realtime: bool | None


class NetworkOptions(TypedDict, total=False):
    length: Time | None
    neurons: int | None
    units: int | None
    excitatory: float | None
    epsp: float | None
    epsp_spread: float | None
    epsp_probability: float | None
    epsp_low_delay: Time | None
    epsp_high_delay: Time | None
    ipsp: float | None
    ipsp_probability: float | None
    ipsp_low_delay: Time | None
    ipsp_high_delay: Time | None
    drive: float | None
    rhythms: Numbers | None
    rhythmic: float | None
    rhythm_depth: float | None
    burst_rate: float | None
    seed: int | None


class PatternsOptions(TypedDict, total=False):
    length: Time | None
    units: int | None
    patterns: Numbers | None
    occurrences: int | None
    lag: Time | None
    rate: float | None
    rates: Literal["constant", "spread", "steps", "wave"] | None
    gamma: int | None
    dead_time: Time | None
    seed: int | None


class PoissonOptions(TypedDict, total=False):
    length: Time | None
    units: int | None
    rate: float | None
    seed: int | None


class RecordingOptions(TypedDict, total=False):
    length: Time | None
    channels: int | None
    columns: int | None
    pitch: Length | None
    sample_rate: float | None
    gain: float | None
    units: int | None
    spikes: FilePath | None
    low_rate: float | None
    high_rate: float | None
    dead_time: Time | None
    low_peak: float | None
    high_peak: float | None
    jitter: float | None
    drift: Length | None
    drift_shape: Literal["linear", "zigzag", "jump"] | None
    drift_period: Time | None
    drift_start: Time | None
    session: int | None
    turnover: float | None
    session_drift: Length | None
    session_change: float | None
    noise: float | None
    noise_reach: Length | None
    difficulty: Literal["easy", "realistic"] | None
    distribution: Literal["uniform", "lognormal"] | None
    waveforms: Literal["alike", "varied"] | None
    similar: float | None
    bursting: float | None
    background: float | None
    noise_spectrum: Literal["white", "coloured"] | None
    seed: int | None


class ReplayOptions(_WithTStart, _WithEpochs, _WithSurrogates, total=False):
    events: Epochs | None
    event_threshold: float | None
    event_min: Time | None
    event_max: Time | None
    scales: str | None
    null: Literal["identities", "surrogates"] | None
    ties: Literal["time", "order"] | None
    alpha: float | None
    surrogate_method: _SurrogateMethod | None
    seed: int | None
    threads: int | None


class SlidingWindowOptions(_WithMinCount, _WithDelays, _WithStrategy, _WithWindow, total=False):
    hop: Time | None
    ties: Literal["time", "order"] | None


class SortFeaturesOptions(_WithStartingClusters, total=False):
    mask: Literal["mad", "seed", "all"] | None
    time_column: bool | None
    channel_group: int | None
    features_per_channel: int | None
    sample_rate: float | None
    seed: int | None
    refractory: Time | None
    threads: int | None
    device: str | None


class SortOptions(_WithTemplates, _WithStartingClusters, total=False):
    low_corner: float | None
    high_corner: float | None
    filter_order: int | None
    reference: Literal["auto", "none", "median"] | None
    whiten: bool | None
    weak_threshold: float | None
    strong_threshold: float | None
    sign: Literal["negative", "positive", "both"] | None
    before: Time | None
    after: Time | None
    neighbours: Length | None
    features_per_channel: int | None
    drift_bin: Time | None
    stages: Literal["cluster", "templates"] | None
    merge: Literal["none", "auto"] | None
    match_threshold: float | None
    least_amplitude: float | None
    most_amplitude: float | None
    least_spikes: int | None
    kept_traces: IntOrAuto | None
    save_templates: FilePath | None
    seed: int | None
    refractory: Time | None
    threads: int | None
    device: str | None


class SpadeOptions(_WithTStart, _WithEpochs, _WithSurrogates, _WithHoldOut, total=False):
    bin: Time | None
    window: Bins | None
    separation: Time | None
    min_occ: MinOcc | None
    min_spikes: int | None
    max_spikes: int | None
    min_neu: int | None
    rules: Rules | None
    max_occ: int | None
    subset_filter: bool | None
    surrogate_method: _SurrogateMethod | None
    seed: int | None
    edges: Literal["drop", "clamp"] | None
    refractory: Time | None
    sliding: bool | None
    isi_truncation: Time | None
    isi_bins: int | None
    isi_sigma: Time | None
    isi_steps: Literal["window", "fast"] | None
    isi_refractory: Time | None
    isi_sqrt: bool | None
    isi_alternate: bool | None
    isi_cutoff: bool | None
    spectrum: Literal["#", "3d#"] | None
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
            "fdr_tsbh",
            "fdr_tsbky",
        ]
        | None
    )
    reduce: Triple | None
    stability: Stability | None
    stability_threshold: Pair | None
    compat: Literal["none", "elephant", "elephant-ms"] | None
    strategy: Literal["automatic", "fp-growth", "first-bin"] | None
    threads: int | None
    device: str | None


class Sym26Options(_WithChains, total=False):
    length: Time | None
    units: int | None
    rest_rate: float | None
    jitter: Time | None
    background: bool | None
    seed: int | None


class TrackOptions(TypedDict, total=False):
    min_probability: float | None


class WindowsOptions(
    _WithTStart,
    _WithMinCount,
    _WithDelays,
    _WithStrategy,
    _WithCorrection,
    _WithSurrogates,
    total=False,
):
    ties: Literal["time", "order"] | None
    alpha: float | None
    surrogate_method: _SurrogateMethod | None
    seed: int | None
    threads: int | None
    device: str | None
    window: Required[Time]
    hop: Time | None
    change_points: bool | None
    change_permutations: int | None
    change_alpha: float | None
    change_seed: int | None
