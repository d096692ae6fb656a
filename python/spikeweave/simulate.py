"""Spikes with known truth. One seed gives the same spikes on every machine and any number of
threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._call import Progress, given, options_in, reporting
from ._recording import Recording
from ._spikes import SpikeSequence

__all__ = [
    "PlantedPattern",
    "SimulatedFeatures",
    "SimulatedPatterns",
    "SimulatedRecording",
    "SimulatedSpikes",
    "culture",
    "features",
    "patterns",
    "poisson",
    "recording",
    "sym26",
]


@dataclass(frozen=True, eq=False)
class SimulatedSpikes:
    """Spikes whose connections are known.

    Attributes
    ----------
    spikes : SpikeSequence
    source, target : ndarray of uint32, shape (connections,)
        Planted connections, as indices into `spikes.unit_names`.
    delay : ndarray of float64, shape (connections,)
        Seconds.
    probability : ndarray of float64, shape (connections,)
        That a spike of the source makes the target fire.
    chains : list of ndarray of uint32
        Planted chains; their steps are among the connections.
    """

    spikes: SpikeSequence
    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    delay: NDArray[np.float64]
    probability: NDArray[np.float64]
    chains: list[NDArray[np.uint32]]


@dataclass(frozen=True, eq=False)
class PlantedPattern:
    """A planted pattern: indices of units, lag of each unit's spike and times of the first spikes
    in seconds."""

    units: NDArray[np.uint32]
    lags: NDArray[np.float64]
    times: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimulatedPatterns:
    """Spikes whose patterns are known."""

    spikes: SpikeSequence
    patterns: list[PlantedPattern]


@dataclass(frozen=True, eq=False)
class SimulatedRecording:
    """A recording whose units are known.

    Attributes
    ----------
    recording : Recording
    spikes : SpikeSequence
        When each unit fired: the troughs on its nearest contact.
    channel : ndarray of uint32, shape (units,)
        That contact.
    peak_uv, rate : ndarray of float64, shape (units,)
        Of the trough there, and spikes a second.
    """

    recording: Recording
    spikes: SpikeSequence
    channel: NDArray[np.uint32]
    peak_uv: NDArray[np.float64]
    rate: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimulatedFeatures:
    """Features of spikes whose units are known.

    Attributes
    ----------
    features, masks : ndarray of float64, shape (spikes, features)
    samples : ndarray of int64, shape (spikes,)
    sample_rate : float
    truth : ndarray of uint32, shape (spikes,)
        The unit of each spike from 1; 0 is of none.
    """

    features: NDArray[np.float64]
    masks: NDArray[np.float64]
    samples: NDArray[np.int64]
    sample_rate: float
    truth: NDArray[np.uint32]


def _made(make: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    with reporting(arguments["progress"]) as callback:
        return dict(make(options_in(arguments, "progress") | given(progress=callback)))


def _simulated(make: Any, arguments: dict[str, Any]) -> SimulatedSpikes:
    made = _made(make, arguments)
    return SimulatedSpikes(SpikeSequence(made["spikes"]), chains=made["chains"], **made["edges"])


def sym26(
    *,
    units: int | None = None,
    length: Any = None,
    chains: Sequence[int] | None = None,
    rest_rate: float | None = None,
    probability: float | None = None,
    delay: Any = None,
    jitter: Any = None,
    background: bool | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> SimulatedSpikes:
    """Neurons coupled in chains: the benchmark of the episode papers.

    Parameters
    ----------
    units
        26 by default, named n0, n1, …
    length
        Of the recording: seconds, a text such as ``"1min"`` or a quantity. 60 s by default.
    chains
        Units of each planted chain, which takes consecutive units. ``(4, 8)`` by default.
    rest_rate
        Of an uncoupled unit, in Hz; 20 by default.
    probability
        That a spike makes the next unit of its chain fire; 0.8 by default.
    delay, jitter
        From a spike to the one that it makes, and how far around that, uniformly; 5 ms and 0 by
        default.
    background
        Connect other pairs, too, at about chance level. By default not.
    seed
        0 by default.
    threads, progress
        As in `spikeweave.episodes`.

    Returns
    -------
    SimulatedSpikes

    Raises
    ------
    TypeError, ValueError
        Naming what was found and what was expected.

    References
    ----------
    D. Patnaik, P. S. Sastry, K. P. Unnikrishnan, "Inferring neuronal network connectivity from
    spike data", Scientific Programming 16 (2008).

    Examples
    --------
    >>> import spikeweave
    >>> made = spikeweave.simulate.sym26(length="10s", seed=1)
    >>> made.chains
    [array([0, 1, 2, 3], dtype=uint32), array([ 4,  5,  6,  7,  8,  9, 10, 11], dtype=uint32)]
    """
    return _simulated(_core.simulate_sym26, locals())


def culture(
    *,
    channels: int | None = None,
    length: Any = None,
    background_rate: float | None = None,
    burst_every: Any = None,
    burst_length: Any = None,
    burst_low: float | None = None,
    burst_high: float | None = None,
    chains: Sequence[int] | None = None,
    probability: float | None = None,
    delay: Any = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> SimulatedSpikes:
    """A dissociated culture: quiet channels, and bursts of the whole network.

    Parameters
    ----------
    channels
        60 by default, named 0, 1, …
    length
        300 s by default.
    background_rate
        Of a channel between bursts, in Hz; 0.5 by default.
    burst_every, burst_length
        Mean time between bursts, and how long each is; 5 s and 0.4 s by default.
    burst_low, burst_high
        Each channel fires at a rate between these in a burst, drawn anew for each, in Hz; 30 and
        150 by default.
    chains, probability, delay
        As in `sym26`; by default there are no chains.
    seed, threads, progress
        As in `sym26`.

    Returns
    -------
    SimulatedSpikes

    Raises
    ------
    TypeError, ValueError
        Naming what was found and what was expected.

    Examples
    --------
    >>> import spikeweave
    >>> len(spikeweave.simulate.culture(length="10s").spikes.unit_names)
    60
    """
    return _simulated(_core.simulate_culture, locals())


def poisson(
    *,
    units: int | None = None,
    length: Any = None,
    rate: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> SimulatedSpikes:
    """Independent Poisson units: the null of `spikeweave.episodes`.

    Parameters
    ----------
    units
        26 by default, named n0, n1, …
    length
        60 s by default.
    rate
        Of each unit, in Hz; 20 by default.
    seed, threads, progress
        As in `sym26`.

    Returns
    -------
    SimulatedSpikes
        Without connections.

    Raises
    ------
    TypeError, ValueError
        Naming what was found and what was expected.

    Examples
    --------
    >>> import spikeweave
    >>> spikeweave.simulate.poisson(units=3, length=1.0, seed=2).spikes.unit_names
    ['n0', 'n1', 'n2']
    """
    return _simulated(_core.simulate_poisson, locals())


def patterns(
    *,
    units: int | None = None,
    length: Any = None,
    patterns: Sequence[int] | None = None,
    occurrences: int | None = None,
    lag: Any = None,
    rate: float | None = None,
    rates: str | None = None,
    gamma: int | None = None,
    dead_time: Any = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> SimulatedPatterns:
    """Independent units with spike patterns planted among them, for `spikeweave.spade`.

    Parameters
    ----------
    units
        100 by default, named n0, n1, …
    length
        10 s by default.
    patterns
        Spikes of each planted pattern, which takes consecutive units from the first on. ``(5,)``
        by default.
    occurrences
        Of each pattern; 10 by default.
    lag
        From one spike of a pattern to the next; 5 ms by default.
    rate
        Mean of a unit without its planted spikes, in Hz; 15 by default.
    rates
        ``"constant"`` (the default); ``"spread"``: each unit its own; ``"steps"``: all faster
        together, for 100 ms of each second; ``"wave"``: one after the other.
    gamma
        Order of the intervals' gamma distribution: 1, the default, is Poisson; more is more
        regular.
    dead_time
        Between two spikes of a unit; 0 by default.
    seed, threads, progress
        As in `sym26`.

    Returns
    -------
    SimulatedPatterns

    Raises
    ------
    TypeError, ValueError
        Naming what was found and what was expected.

    Examples
    --------
    >>> import spikeweave
    >>> made = spikeweave.simulate.patterns(patterns=(3,), seed=1)
    >>> made.patterns[0].lags
    array([0.   , 0.005, 0.01 ])
    """
    made = _made(_core.simulate_patterns, locals())
    return SimulatedPatterns(
        SpikeSequence(made["spikes"]), [PlantedPattern(**one) for one in made["patterns"]]
    )


def recording(
    *,
    length: Any = None,
    channels: int | None = None,
    columns: int | None = None,
    pitch: float | None = None,
    sample_rate: float | None = None,
    gain: float | None = None,
    units: int | None = None,
    low_rate: float | None = None,
    high_rate: float | None = None,
    dead_time: Any = None,
    low_peak: float | None = None,
    high_peak: float | None = None,
    jitter: float | None = None,
    noise: float | None = None,
    noise_reach: float | None = None,
    drift: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> SimulatedRecording:
    """Voltages of units around a probe, in memory.

    Parameters
    ----------
    length
        60 s by default.
    channels, columns, pitch
        Contacts (32), side by side (2), and micrometres between neighbours (20).
    sample_rate, gain
        In Hz (30,000) and microvolts of a count (0.195).
    units
        20 by default, named 0, 1, …
    low_rate, high_rate
        Each unit's own mean rate lies between these, in Hz; 2 and 12 by default.
    dead_time
        Between two spikes of a unit; 4 ms by default.
    low_peak, high_peak
        Each unit's trough on its nearest contact lies between these, in microvolts; 50 and 250.
    jitter
        Standard deviation of each spike's size, as a part of it; 0.1 by default.
    noise, noise_reach
        Standard deviation on each channel in microvolts (8), and micrometres: channels further
        apart than twice this are independent (30).
    drift
        How far the units move along the probe, in micrometres; 0 by default.
    seed, threads, progress
        As in `sym26`.

    Returns
    -------
    SimulatedRecording

    Raises
    ------
    TypeError, ValueError
        Naming what was found and what was expected.

    Examples
    --------
    >>> import spikeweave
    >>> spikeweave.simulate.recording(channels=4, units=2, length="1s").recording
    <Recording: 4 channels, 1 s at 30000 Hz>
    """
    made = _made(_core.simulate_recording, locals())
    return SimulatedRecording(
        Recording(made.pop("recording")), SpikeSequence(made.pop("spikes")), **made
    )


def features(
    *,
    spikes: int | None = None,
    units: int | None = None,
    channels: int | None = None,
    features_per_channel: int | None = None,
    separation: float | None = None,
    of_no_unit: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> SimulatedFeatures:
    """Features of spikes without a recording around them, for `spikeweave.sort_features`.

    Parameters
    ----------
    spikes, units, channels, features_per_channel
        10,000, 30, 32 and 3 by default.
    separation
        Least distance of two units in standard deviations of the noise; 6 by default.
    of_no_unit
        Share of spikes of no unit; 0.03 by default.
    seed, threads, progress
        As in `sym26`.

    Returns
    -------
    SimulatedFeatures

    Raises
    ------
    TypeError, ValueError
        Naming what was found and what was expected.

    Examples
    --------
    >>> import spikeweave
    >>> spikeweave.simulate.features(spikes=100, units=2, channels=4).features.shape
    (100, 12)
    """
    made = _made(_core.simulate_features, locals())
    return SimulatedFeatures(**made)
