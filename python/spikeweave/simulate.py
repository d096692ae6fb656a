"""Spikes with known ground truth. The same seed gives the same spikes on every machine and any
number of threads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._adapters.progress import Progress, reporting
from ._commands.described import described
from ._values.recording import Recording
from ._values.spikes import SpikeSequence
from ._values.tables import counted, html_result, short
from ._values.types import Time

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._values.options import (
        CultureOptions,
        FeaturesOptions,
        NetworkOptions,
        PatternsOptions,
        PoissonOptions,
        RecordingOptions,
        Sym26Options,
    )

__all__ = [
    "PlantedPattern",
    "SimulatedFeatures",
    "SimulatedNetwork",
    "SimulatedPatterns",
    "SimulatedRecording",
    "SimulatedSpikes",
    "culture",
    "features",
    "network",
    "patterns",
    "poisson",
    "recording",
    "sym26",
]

_SHOWN = 10


class _HasSpikes:
    """What has spikes: their trains, rates and parts can be had of it, too."""

    spikes: SpikeSequence

    def __getitem__(self, unit: str) -> NDArray[np.float64]:
        """The times of a unit in seconds."""
        return self.spikes[unit]

    @property
    def rates(self) -> NDArray[np.float64]:
        """Rates of the units in Hz."""
        return self.spikes.rates

    def select(
        self,
        units: Iterable[str | int] | str | None = None,
        *,
        t_start: Time | None = None,
        t_stop: Time | None = None,
    ) -> SpikeSequence:
        """Units or a part of the spikes, as by `SpikeSequence.select`."""
        return self.spikes.select(units, t_start=t_start, t_stop=t_stop)

    def _repr_html_(self) -> str:
        return self.spikes._repr_html_()


@dataclass(frozen=True, eq=False)
class SimulatedSpikes(_HasSpikes):
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

    def _repr_html_(self) -> str:
        names = self.spikes.unit_names
        shown = (self.source, self.target, self.delay, self.probability)
        rows = [
            (names[source], names[target], short(1000 * delay), short(probability))
            for source, target, delay, probability in zip(*(a[:_SHOWN] for a in shown), strict=True)
        ]
        summary = f"{repr(self.spikes).strip('<>')}; {counted(len(self.source), 'connection')}"
        headers = ["source", "target", "delay (ms)", "probability"]
        return html_result(summary, [], headers, rows, len(self.source))


@dataclass(frozen=True, eq=False)
class PlantedPattern:
    """A planted pattern: indices of units, lag of each unit's spike and times of the first spikes
    in seconds."""

    units: NDArray[np.uint32]
    lags: NDArray[np.float64]
    times: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimulatedPatterns(_HasSpikes):
    """Spikes whose patterns are known."""

    spikes: SpikeSequence
    patterns: list[PlantedPattern]


@dataclass(frozen=True, eq=False)
class SimulatedNetwork(_HasSpikes):
    """Spikes of recorded units of a network, and the synapses between them.

    Attributes
    ----------
    spikes : SpikeSequence
    source, target : ndarray of uint32, shape (synapses,)
        Synapses, as indices into `spikes.unit_names`.
    delay : ndarray of float64, shape (synapses,)
        Seconds.
    weight_mv : ndarray of float64, shape (synapses,)
        Peak of the postsynaptic potential; negative for inhibitory synapses.
    """

    spikes: SpikeSequence
    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    delay: NDArray[np.float64]
    weight_mv: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimulatedRecording(_HasSpikes):
    """A recording whose units are known.

    Attributes
    ----------
    recording : Recording
    spikes : SpikeSequence
        Spikes of each unit, at the troughs on its nearest contact.
    channel : ndarray of uint32, shape (units,)
        That contact, or where varied waveforms are largest.
    peak_uv, rate : ndarray of float64, shape (units,)
        Size of the trough there, and spikes per second.
    waveform : list of str
        Kind of each unit's waveform.
    bursting : ndarray of bool, shape (units,)
    like : ndarray of int64, shape (units,)
        The earlier unit that each unit resembles; -1: none.
    motion_time, motion_um : ndarray of float64, shape (points,)
        How far all units are up from where they began, in um, at these times in seconds. It is
        linear between two of them, and a jump has its time twice. Empty without drift.
    """

    recording: Recording
    spikes: SpikeSequence
    channel: NDArray[np.uint32]
    peak_uv: NDArray[np.float64]
    rate: NDArray[np.float64]
    waveform: list[str]
    bursting: NDArray[np.bool_]
    like: NDArray[np.int64]
    motion_time: NDArray[np.float64]
    motion_um: NDArray[np.float64]


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


def _made(make: Any, options: Any, threads: int, progress: Progress) -> dict[str, Any]:
    with reporting(progress) as callback:
        return dict(make({**options, "threads": threads, "progress": callback}))


def _simulated(make: Any, options: Any, threads: int, progress: Progress) -> SimulatedSpikes:
    made = _made(make, options, threads, progress)
    return SimulatedSpikes(
        SpikeSequence._from_core(made["spikes"]), chains=made["chains"], **made["edges"]
    )


@described(_core.sym26_options)
def sym26(
    *, threads: int = 0, progress: Progress = None, **options: Unpack[Sym26Options]
) -> SimulatedSpikes:
    """Neurons coupled in chains: the benchmark of the episode papers.

    Parameters
    ----------
    {options}

    Returns
    -------
    SimulatedSpikes

    {raises}

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
    return _simulated(_core.simulate_sym26, options, threads, progress)


@described(_core.culture_options)
def culture(
    *, threads: int = 0, progress: Progress = None, **options: Unpack[CultureOptions]
) -> SimulatedSpikes:
    """A dissociated culture: quiet channels, and bursts of the whole network.

    Parameters
    ----------
    {options}

    Returns
    -------
    SimulatedSpikes

    {raises}

    Examples
    --------
    >>> import spikeweave
    >>> len(spikeweave.simulate.culture(length="10s").spikes.unit_names)
    60
    """
    return _simulated(_core.simulate_culture, options, threads, progress)


@described(_core.poisson_options)
def poisson(
    *, threads: int = 0, progress: Progress = None, **options: Unpack[PoissonOptions]
) -> SimulatedSpikes:
    """Independent Poisson units: the null hypothesis of ``episodes(test="exact")``.

    Parameters
    ----------
    {options}

    Returns
    -------
    SimulatedSpikes
        Without connections.

    {raises}

    Examples
    --------
    >>> import spikeweave
    >>> spikeweave.simulate.poisson(units=3, length=1.0, seed=2).spikes.unit_names
    ['n0', 'n1', 'n2']
    """
    return _simulated(_core.simulate_poisson, options, threads, progress)


@described(_core.patterns_options)
def patterns(
    *, threads: int = 0, progress: Progress = None, **options: Unpack[PatternsOptions]
) -> SimulatedPatterns:
    """Independent units with spike patterns planted among them, for `spikeweave.spade`.

    Parameters
    ----------
    {options}

    Returns
    -------
    SimulatedPatterns

    {raises}

    Examples
    --------
    >>> import spikeweave
    >>> made = spikeweave.simulate.patterns(patterns=(3,), seed=1)
    >>> made.patterns[0].lags
    array([0.   , 0.005, 0.01 ])
    """
    made = _made(_core.simulate_patterns, options, threads, progress)
    return SimulatedPatterns(
        SpikeSequence._from_core(made["spikes"]),
        [PlantedPattern(**one) for one in made["patterns"]],
    )


@described(_core.network_options)
def network(
    *, threads: int = 0, progress: Progress = None, **options: Unpack[NetworkOptions]
) -> SimulatedNetwork:
    """Some neurons of a network of integrate-and-fire neurons with known synapses.

    Parameters
    ----------
    {options}

    Returns
    -------
    SimulatedNetwork

    {raises}

    References
    ----------
    D. Endo et al., "A convolutional neural network for estimating synaptic connectivity from spike
    trains", Scientific Reports 11 (2021).

    R. Kobayashi et al., "Reconstructing neuronal circuitry from parallel spike trains", Nature
    Communications 10 (2019).

    Examples
    --------
    >>> import spikeweave
    >>> made = spikeweave.simulate.network(neurons=40, units=40, epsp=2.0, length="10s", seed=1)
    >>> len(made.source) == len(made.weight_mv)
    True
    """
    made = _made(_core.simulate_network, options, threads, progress)
    return SimulatedNetwork(SpikeSequence._from_core(made["spikes"]), **made["synapses"])


@described(_core.recording_options)
def recording(
    *, threads: int = 0, progress: Progress = None, **options: Unpack[RecordingOptions]
) -> SimulatedRecording:
    """Voltages of units around a probe, in memory.

    Parameters
    ----------
    {options}

    Returns
    -------
    SimulatedRecording

    Raises
    ------
    OSError
        If `spikes` cannot be read.
    TypeError, ValueError
        Naming what was found and what was expected.

    Examples
    --------
    >>> import spikeweave
    >>> spikeweave.simulate.recording(channels=4, units=2, length="1s").recording
    <Recording: 4 channels, 1 s at 30,000 Hz>
    """
    made = _made(_core.simulate_recording, options, threads, progress)
    return SimulatedRecording(
        Recording(made.pop("recording")), SpikeSequence._from_core(made.pop("spikes")), **made
    )


@described(_core.features_options)
def features(
    *, threads: int = 0, progress: Progress = None, **options: Unpack[FeaturesOptions]
) -> SimulatedFeatures:
    """Features of spikes without a recording, for `spikeweave.sort_features`.

    Parameters
    ----------
    {options}

    Returns
    -------
    SimulatedFeatures

    {raises}

    Examples
    --------
    >>> import spikeweave
    >>> spikeweave.simulate.features(spikes=100, units=2, channels=4).features.shape
    (100, 12)
    """
    made = _made(_core.simulate_features, options, threads, progress)
    return SimulatedFeatures(**made)


@overload
def example(*, threads: int = 0, progress: Progress = None) -> dict[str, str]: ...
@overload
def example(
    name: Literal["recording"], *, threads: int = 0, progress: Progress = None
) -> SimulatedRecording: ...
@overload
def example(
    name: str, *, threads: int = 0, progress: Progress = None
) -> SimulatedSpikes | SimulatedPatterns | SimulatedNetwork | SimulatedRecording: ...
def example(
    name: str | None = None, *, threads: int = 0, progress: Progress = None
) -> SimulatedSpikes | SimulatedPatterns | SimulatedNetwork | SimulatedRecording | dict[str, str]:
    """A small recording with a known answer, to try the analyses with.

    The command ``spikeweave example`` lists the same, and writes them.

    Parameters
    ----------
    name
        ``"culture"``, ``"network"``, ``"chains"``, ``"patterns"`` or ``"recording"``. Without it,
        all are listed.
    threads, progress
        As in `sym26`.

    Returns
    -------
    SimulatedSpikes, SimulatedPatterns, SimulatedNetwork, SimulatedRecording, or a dictionary
        The dictionary has the names with the content and the answer of each.

    Raises
    ------
    ValueError
        If there is no such example.

    Examples
    --------
    >>> import spikeweave
    >>> list(spikeweave.example())
    ['culture', 'network', 'chains', 'patterns', 'recording']
    >>> spikeweave.example("chains").chains
    [array([0, 1, 2, 3], dtype=uint32), array([ 4,  5,  6,  7,  8,  9, 10, 11], dtype=uint32)]
    """
    if name is None:
        return dict(_core.examples())
    model, options = _core.example(name)
    make: Any = {
        "sym26": sym26,
        "culture": culture,
        "patterns": patterns,
        "network": network,
        "recording": recording,
    }[model]
    return make(threads=threads, progress=progress, **options)
