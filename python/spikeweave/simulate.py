"""Spikes with known ground truth. The same seed gives the same spikes on every machine and any
number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._adapters.progress import Progress, reporting
from ._values.arguments import given, options_in
from ._values.recording import Recording
from ._values.spikes import SpikeSequence
from ._values.types import RateProfile, Time

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
        Probability that a spike of the source makes the target fire.
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
        Spikes of each unit, at the troughs on its nearest contact.
    channel : ndarray of uint32, shape (units,)
        That contact.
    peak_uv, rate : ndarray of float64, shape (units,)
        Size of the trough there, and spikes per second.
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
        The unit of each spike, from 1; 0 means none.
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
    return SimulatedSpikes(
        SpikeSequence._from_core(made["spikes"]), chains=made["chains"], **made["edges"]
    )


def sym26(
    *,
    units: int = 26,
    length: Time = 60.0,
    chains: Sequence[int] = (4, 8),
    rest_rate: float = 20.0,
    probability: float = 0.8,
    delay: Time = 0.005,
    jitter: Time = 0.0,
    background: bool = False,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> SimulatedSpikes:
    """Neurons coupled in chains: the benchmark of the episode papers.

    Parameters
    ----------
    units
        Named n0, n1, …
    length
        Length of the recording: seconds, a text such as ``"1min"`` or a quantity.
    chains
        Units of each planted chain, which takes consecutive units.
    rest_rate
        Rate of an uncoupled unit, in Hz.
    probability
        Probability that a spike makes the next unit of its chain fire.
    delay, jitter
        Delay from a spike to the one that it causes, and its uniform variation.
    background
        Connect other pairs, too, at about chance level.
    seed
        Random seed; the same seed gives the same result.
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
    channels: int = 60,
    length: Time = 300.0,
    background_rate: float = 0.5,
    burst_every: Time = 5.0,
    burst_length: Time = 0.4,
    burst_low: float = 30.0,
    burst_high: float = 150.0,
    chains: Sequence[int] = (),
    probability: float = 0.8,
    delay: Time = 0.005,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> SimulatedSpikes:
    """A dissociated culture: quiet channels, and bursts of the whole network.

    Parameters
    ----------
    channels
        Named 0, 1, …
    length
        Length of the recording.
    background_rate
        Rate of a channel between bursts, in Hz.
    burst_every, burst_length
        Mean time between bursts, and how long each is.
    burst_low, burst_high
        Range of a channel's rate in a burst, drawn for each burst, in Hz.
    chains, probability, delay
        As in `sym26`.
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
    units: int = 26,
    length: Time = 60.0,
    rate: float = 20.0,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> SimulatedSpikes:
    """Independent Poisson units: the null hypothesis of ``episodes(test="exact")``.

    Parameters
    ----------
    units
        Named n0, n1, …
    length
        Length of the recording.
    rate
        Rate of each unit, in Hz.
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
    units: int = 100,
    length: Time = 10.0,
    patterns: Sequence[int] = (5,),
    occurrences: int = 10,
    lag: Time = 0.005,
    rate: float = 15.0,
    rates: RateProfile = "constant",
    gamma: int = 1,
    dead_time: Time = 0.0,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> SimulatedPatterns:
    """Independent units with spike patterns planted among them, for `spikeweave.spade`.

    Parameters
    ----------
    units
        Named n0, n1, …
    length
        Length of the recording.
    patterns
        Spikes of each planted pattern, which takes consecutive units from the first on.
    occurrences
        Occurrences of each pattern.
    lag
        Time from one spike of a pattern to the next.
    rate
        Mean rate of a unit, not counting planted spikes, in Hz.
    rates
        ``"constant"``; ``"spread"``: each unit its own; ``"steps"``: all faster
        together, for 100 ms of each second; ``"wave"``: one after the other.
    gamma
        Order of the intervals' gamma distribution: 1 is Poisson; more is more regular.
    dead_time
        Dead time between two spikes of a unit.
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
        SpikeSequence._from_core(made["spikes"]),
        [PlantedPattern(**one) for one in made["patterns"]],
    )


def recording(
    *,
    length: Time = 60.0,
    channels: int = 32,
    columns: int = 2,
    pitch: float = 20.0,
    sample_rate: float = 30000.0,
    gain: float = 0.195,
    units: int = 20,
    low_rate: float = 2.0,
    high_rate: float = 12.0,
    dead_time: Time = 0.004,
    low_peak: float = 50.0,
    high_peak: float = 250.0,
    jitter: float = 0.1,
    noise: float = 8.0,
    noise_reach: float = 30.0,
    drift: float = 0.0,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> SimulatedRecording:
    """Voltages of units around a probe, in memory.

    Parameters
    ----------
    length
        Length of the recording.
    channels, columns, pitch
        Number of contacts, number side by side, and distance between neighbours in micrometres.
    sample_rate, gain
        Sample rate in Hz, and microvolts per count.
    units
        Named 0, 1, …
    low_rate, high_rate
        Range of the units' mean rates, in Hz.
    dead_time
        Dead time between two spikes of a unit.
    low_peak, high_peak
        Range of the units' trough on the nearest contact, in microvolts.
    jitter
        Standard deviation of each spike's amplitude, as a fraction of the mean.
    noise, noise_reach
        Standard deviation on each channel in microvolts, and micrometres: channels further apart
        than twice this are independent.
    drift
        How far the units move along the probe, in micrometres.
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
        Recording(made.pop("recording")), SpikeSequence._from_core(made.pop("spikes")), **made
    )


def features(
    *,
    spikes: int = 10000,
    units: int = 30,
    channels: int = 32,
    features_per_channel: int = 3,
    separation: float = 6.0,
    of_no_unit: float = 0.03,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> SimulatedFeatures:
    """Features of spikes without a recording, for `spikeweave.sort_features`.

    Parameters
    ----------
    spikes, units, channels, features_per_channel
        Number of each.
    separation
        Minimum distance of two units in standard deviations of the noise.
    of_no_unit
        Fraction of spikes that belong to no unit.
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
