"""Which episodes or patterns differ between two conditions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._adapters.epochs import epochs_of
from .._adapters.progress import Progress, reporting
from .._values.arrays import numbers
from .._values.compare import ComparedPattern, ConditionComparison, PatternComparison
from .._values.episode_rows import of_table
from .._values.spade import PatternResult
from .._values.spikes import SpikeSequence
from .._values.types import Epochs, SpikesLike
from .described import described

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import CompareOptions, ComparePatternsOptions


def _recordings(name: str, given: Any) -> list[Any]:
    """The recordings of a condition; a single one need not be in a list."""
    recordings = given if isinstance(given, list) else [given]
    try:
        return [SpikeSequence.of(recording)._core for recording in recordings]
    except TypeError as error:
        raise TypeError(f"{name}: expected a recording or a list of recordings; {error}") from None


def _paths(a: Any, b: Any) -> list[str]:
    """The paths that the names of the conditions are taken from; empty where there is none."""
    given = [one[0] if isinstance(one, list) and len(one) == 1 else one for one in (a, b)]
    return [os.fspath(one) if isinstance(one, (str, os.PathLike)) else "" for one in given]


def _result(found: dict[str, Any]) -> ConditionComparison:
    for warning in found["warnings"]:
        warnings.warn(warning, stacklevel=3)
    findings = of_table(found.pop("table"), found["unit_names"])
    return ConditionComparison(findings=findings, _report=found.pop("report"), **found)


def _pairs_of_times(name: str, given: Epochs) -> Any:
    """The epochs of a condition in seconds: shape (epochs, 2)."""
    epochs = np.ascontiguousarray(numbers(name, epochs_of(given)), dtype=np.float64)
    if epochs.ndim != 2 or epochs.shape[1] != 2:
        raise ValueError(f"{name}: expected pairs of times, found shape {epochs.shape}")
    return epochs


def _named(patterns: PatternResult | Sequence[PatternResult]) -> list[Any]:
    """The bin, and the units and lags of the patterns, of each result."""
    results = [patterns] if isinstance(patterns, PatternResult) else patterns
    out = []
    for one in results:
        if not isinstance(one, PatternResult):
            raise TypeError(f"patterns: expected results of spade, found {type(one)}")
        names = one.spikes.unit_names
        items = [
            slice(begin, end) for begin, end in zip(one.offsets[:-1], one.offsets[1:], strict=True)
        ]
        rows = [([names[u] for u in one.units[i]], one.lag_bins[i].tolist()) for i in items]
        out.append((one.parameters["bin"], rows))
    return out


def _patterns(found: dict[str, Any]) -> PatternComparison:
    for warning in found["warnings"]:
        warnings.warn(warning, stacklevel=3)
    findings = [ComparedPattern(*one) for one in found.pop("findings")]
    return PatternComparison(findings=findings, _report=found.pop("report"), **found)


@described(_core.compare_options)
def compare(
    a: SpikesLike | list[SpikesLike],
    b: SpikesLike | list[SpikesLike],
    *,
    progress: Progress = None,
    **options: Unpack[CompareOptions],
) -> ConditionComparison:
    """Tests which connections and chains differ between two recordings or groups of recordings.

    Each is compared by the rate of its occurrences, and by their excess over what the rates of the
    units predict, as by ``spikeweave compare``. With one recording in each condition, labels are
    permuted between blocks of time, else between recordings.

    Parameters
    ----------
    a, b
        The recording of each condition, or a list of its recordings, in any form that
        `SpikeSequence.of` accepts. In a list each element is a recording. Units are the same if
        they have the same name.
    {options}

    Returns
    -------
    ConditionComparison

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected; also if there are so few samples
        that no p can be below `change_alpha`.

    Warns
    -----
    UserWarning
        As listed in `ConditionComparison.warnings`.

    References
    ----------
    A. Janssen, Statistics & Probability Letters 36:9 (1997); E. Chung and J. P. Romano, Annals of
    Statistics 41:484 (2013), for the test.

    Examples
    --------
    >>> import spikeweave
    >>> before = spikeweave.simulate.sym26(length="60s", probability=0.8, seed=1).spikes
    >>> after = spikeweave.simulate.sym26(length="60s", probability=0.3, seed=1).spikes
    >>> found = spikeweave.compare(before, after, delays="4-6ms", max_size=2)
    >>> found.samples, found.sample_counts
    ('blocks', (6, 6))
    >>> sorted(set(found.columns["change"]))
    ['excess']
    """
    recordings = [_recordings("a", a), _recordings("b", b)]
    with reporting(progress) as callback:
        found = _core.compare_episodes(
            recordings, [], _paths(a, b), {**options, "progress": callback}
        )
    return _result(found)


@described(_core.compare_options)
def compare_epochs(
    spikes: SpikesLike,
    a: Epochs,
    b: Epochs,
    *,
    progress: Progress = None,
    **options: Unpack[CompareOptions],
) -> ConditionComparison:
    """Tests which connections and chains differ between two sets of epochs of one recording.

    As `compare`, with each epoch as a sample.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    a, b
        The epochs of each condition in seconds, as `episodes` accepts them. Those of `a` and of `b`
        must not overlap.
    {options}

    Returns
    -------
    ConditionComparison

    Raises
    ------
    TypeError, ValueError
        As `compare`.

    Examples
    --------
    >>> import spikeweave
    >>> spikes = spikeweave.simulate.sym26(length="60s", seed=1).spikes
    >>> even = [(i, i + 1) for i in range(0, 60, 2)]
    >>> odd = [(i, i + 1) for i in range(1, 60, 2)]
    >>> found = spikeweave.compare_epochs(spikes, even, odd, delays="4-6ms", max_size=2)
    >>> found.samples, found.sample_counts
    ('epochs', (30, 30))
    """
    pairs = [_pairs_of_times("a", a), _pairs_of_times("b", b)]
    recordings = [[SpikeSequence.of(spikes)._core]]
    with reporting(progress) as callback:
        found = _core.compare_episodes(
            recordings, pairs, ["", ""], {**options, "progress": callback}
        )
    return _result(found)


@described(_core.compare_patterns_options)
def compare_patterns(
    a: SpikesLike | list[SpikesLike],
    b: SpikesLike | list[SpikesLike],
    patterns: PatternResult | Sequence[PatternResult],
    *,
    progress: Progress = None,
    **options: Unpack[ComparePatternsOptions],
) -> PatternComparison:
    """Tests which patterns of SPADE differ between two recordings or groups of recordings.

    Each is compared by the rate of its occurrences, and by their excess over the mean in
    surrogates, as by ``spikeweave compare --patterns``. The test is valid if the patterns were not
    chosen by how often they occur in one of the conditions: patterns of all spikes of both
    together, or of another recording.

    Parameters
    ----------
    a, b
        As in `compare`.
    patterns
        A result of `spade`, or several with the same bin; each of their patterns is compared once.
    {options}

    Returns
    -------
    PatternComparison

    Raises
    ------
    TypeError, ValueError
        As `compare`; also if results have bins of other widths, or no pattern is left.

    Examples
    --------
    >>> import spikeweave
    >>> made = [
    ...     spikeweave.simulate.patterns(
    ...         units=10, patterns=(4,), length="60s", occurrences=occurrences, seed=seed
    ...     ).spikes
    ...     for seed, occurrences in enumerate((40, 120, 100))
    ... ]
    >>> found = spikeweave.spade(made[2], min_occ=40, min_spikes=4, surrogates=99, alpha=0.05)
    >>> compared = spikeweave.compare_patterns(made[0], made[1], found)
    >>> print(compared[0], compared.columns["change"][0])
    n0 →5ms→ n1 →5ms→ n2 →5ms→ n3 excess
    """
    recordings = [_recordings("a", a), _recordings("b", b)]
    named = _named(patterns)
    with reporting(progress) as callback:
        found = _core.compare_patterns(
            recordings, [], _paths(a, b), named, {**options, "progress": callback}
        )
    return _patterns(found)


@described(_core.compare_patterns_options)
def compare_patterns_in_epochs(
    spikes: SpikesLike,
    a: Epochs,
    b: Epochs,
    patterns: PatternResult | Sequence[PatternResult],
    *,
    progress: Progress = None,
    **options: Unpack[ComparePatternsOptions],
) -> PatternComparison:
    """Tests which patterns of SPADE differ between two sets of epochs of one recording.

    As `compare_patterns`, with each epoch as a sample.

    Parameters
    ----------
    spikes, a, b
        As in `compare_epochs`.
    patterns
        As in `compare_patterns`.
    {options}

    Returns
    -------
    PatternComparison

    Raises
    ------
    TypeError, ValueError
        As `compare_patterns`.

    Examples
    --------
    >>> import spikeweave
    >>> spikes = spikeweave.simulate.patterns(
    ...     units=10, patterns=(4,), length="60s", occurrences=120, seed=1
    ... ).spikes
    >>> found = spikeweave.spade(spikes, min_occ=40, min_spikes=4, surrogates=99, alpha=0.05)
    >>> even = [(i, i + 1) for i in range(0, 60, 2)]
    >>> odd = [(i, i + 1) for i in range(1, 60, 2)]
    >>> compared = spikeweave.compare_patterns_in_epochs(spikes, even, odd, found)
    >>> compared.columns["change"]
    ['none']
    """
    pairs = [_pairs_of_times("a", a), _pairs_of_times("b", b)]
    recordings = [[SpikeSequence.of(spikes)._core]]
    named = _named(patterns)
    with reporting(progress) as callback:
        found = _core.compare_patterns(
            recordings, pairs, ["", ""], named, {**options, "progress": callback}
        )
    return _patterns(found)
