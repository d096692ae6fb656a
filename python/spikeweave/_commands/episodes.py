"""Frequent serial episodes: chains of units that fire one after another at repeated delays."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._adapters.epochs import labels_of
from .._adapters.progress import Progress, reporting
from .._values.arrays import array
from .._values.circuit import Circuit
from .._values.episode_rows import Episode, flat, named
from .._values.episodes import EpisodeResult
from .._values.pair_tests import PairTests
from .._values.spikes import SpikeSequence
from .._values.types import SpikesLike, Time
from .described import described, run_of, with_epochs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import CountEpisodesOptions, EpisodesOptions


@described(_core.episodes_options)
def episodes(
    spikes: SpikesLike,
    *,
    confirm: SpikesLike | None = None,
    progress: Progress = None,
    **options: Unpack[EpisodesOptions],
) -> EpisodeResult:
    """Finds chains of units that fire one after another at repeated delays.

    Frequent serial episodes with a delay interval on every step, counted without overlap and mined
    level by level: complete, and independent of the order and names of the units. Each is tested
    against jittered spikes, or against surrogates. All pairs of units are tested for excitation and
    inhibition at synaptic delays, and the significant ones are joined to a circuit, as by
    ``spikeweave episodes`` on the command line.

    Times are in seconds, texts such as ``"5ms"``, or quantities. `delays` is a list of pairs of
    times ``(low, high)``, of texts such as ``"4-6ms"``, or one of these. `epochs` are pairs of a
    begin and an end, a pynapple ``IntervalSet``, a neo ``Epoch`` or a table; `epochs_around` makes
    them from events. The page of the result compares epochs by their labels, such as conditions: a
    third text after begin and end, the labels of neo, or a column ``condition``, ``label``,
    ``stimulus`` or ``trial_type``. The same seed gives the same result on any number of threads.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    {options}
    confirm
        Another recording of the same units, which are those of the same name. Episodes with a `p`
        below `alpha` in `spikes` are tested there, corrected for these episodes only, and all
        figures of the result refer to it, except `EpisodeResult.search`.

    Returns
    -------
    EpisodeResult

    {raises}
    DeviceError
        If a GPU is missing or has too little memory.

    Warns
    -----
    UserWarning
        As listed in `EpisodeResult.warnings`.

    References
    ----------
    Y. Cao, D. Patnaik, S. Ponce, J. Archuleta, P. Butler, W. Feng, N. Ramakrishnan, "Parallel
    Mining of Neuronal Spike Streams on Graphics Processing Units", Int. J. Parallel Programming
    40 (2012); K. P. Unnikrishnan, P. S. Sastry et al. (arXiv:0808.3511) for the significance;
    A. Amarasingham, M. T. Harrison, N. G. Hatsopoulos, S. Geman, "Conditional modeling and the
    jitter method of spike resampling", J. Neurophysiol. 107 (2012) for the test of pairs.

    Examples
    --------
    >>> import spikeweave
    >>> sym26 = spikeweave.simulate.sym26(seed=1)
    >>> found = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=200)
    >>> print(found[found.chains[1]])
    n0 →4-6ms→ n1 →4-6ms→ n2 →4-6ms→ n3
    >>> len(found.circuit)
    10
    """
    sequence = SpikeSequence.of(spikes)
    labels = labels_of(options.get("epochs"))
    with reporting(progress) as callback:
        found = _core.find_episodes(
            sequence._core,
            {**with_epochs(options), "progress": callback},
            None if confirm is None else SpikeSequence.of(confirm)._core,
        )
    if confirm is None:
        found["report"].label_epochs(labels)
    return result_of(found, run_of(found, sequence))


def result_of(found: dict[str, Any], run: dict[str, Any]) -> EpisodeResult:
    """The result of a search, or of counting given episodes."""
    search = found.get("search")
    if search is not None and "untested" in search:
        search["untested"] = [_untested(*row) for row in search["untested"]]
    names = run["spikes"].unit_names
    circuit = found["circuit"]
    chains = circuit.pop("chains")
    pairs = found.get("pairs")
    return EpisodeResult(
        **found["table"],
        **found["assessed"],
        by_surrogates=found.get("by_surrogates"),
        search=search,
        circuit=Circuit._of(names, circuit),
        pairs=PairTests(names, **pairs) if pairs is not None else None,
        chains=chains,
        levels=found["levels"],
        threshold=found["threshold"],
        **run,
    )


def _untested(units: list[str], delays: NDArray[np.float64], *figures: Any) -> Episode:
    """An episode that a recording without one of its units cannot confirm."""
    return Episode(tuple(units), tuple((float(low), float(high)) for low, high in delays), *figures)


@described(_core.count_episodes_options)
def count_episodes(
    spikes: SpikesLike,
    episodes: Sequence[Any],
    *,
    progress: Progress = None,
    **options: Unpack[CountEpisodesOptions],
) -> NDArray[np.int64]:
    """Counts given episodes without overlap; `count` also tests them.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    episodes
        Each an `Episode`, or ``(units, delays)``: names of units, or their indices, and for each
        step ``(low, high]`` in seconds.
    {options}

    Returns
    -------
    ndarray of int64, shape (episodes,)

    {raises}

    Examples
    --------
    >>> import spikeweave
    >>> spikes = spikeweave.SpikeSequence.of({"A": [0.100, 0.200], "B": [0.105, 0.205]})
    >>> spikeweave.count_episodes(spikes, [(["A", "B"], [(0.004, 0.006)])]).tolist()
    [2]
    """
    sequence = SpikeSequence.of(spikes)
    names = sequence.unit_names
    arrays = flat(named(episodes, names), names)
    with reporting(progress) as callback:
        return _core.count_episodes(sequence._core, arrays, {**options, "progress": callback})


def epochs_around(events: Any, start: Time, stop: Time) -> NDArray[np.float64]:
    """Makes an epoch around each event, such as a stimulus, for `episodes` and `spade`.

    An epoch that would reach into that of the next event ends where that begins, with a warning.

    Parameters
    ----------
    events
        Times of the events, ascending, seconds, such as `SpikeSequence.stimulus_times`.
    start, stop : float, str or quantity
        Begin and end of an epoch after its event; before it if negative.

    Returns
    -------
    ndarray of float64, shape (epochs, 2)
        Begin and end, seconds.

    Raises
    ------
    ValueError
        If `stop` is not after `start`, or events are not in order.

    Warns
    -----
    UserWarning
        If epochs end where the next one begins, or events have the same time.

    Examples
    --------
    >>> import spikeweave
    >>> spikeweave.epochs_around([1.0, 2.0, 2.5], start="-100ms", stop="400ms").tolist()
    [[0.9, 1.4], [1.9, 2.4], [2.4, 2.9]]

    With labels of the events, such as those of a neo ``Event``, the page compares conditions:

    >>> epochs = spikeweave.epochs_around([1.0, 2.0], start="-100ms", stop="400ms")
    >>> [(*epoch, label) for epoch, label in zip(epochs.tolist(), ["left", "right"])]
    [(0.9, 1.4, 'left'), (1.9, 2.4, 'right')]
    """
    epochs, shortened = _core.epochs_around(array("events", events, np.float64), start, stop)
    for text in shortened:
        warnings.warn(text, stacklevel=2)
    return epochs


def correlogram(
    spikes: SpikesLike,
    source: str | int,
    target: str | int,
    *,
    bin: Time = "0.5ms",
    reach: Time = "30ms",
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Counts how often the spikes of one unit follow those of another after each lag.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts. If the spikes have epochs, lags are
        those between spikes of one epoch.
    source, target : str or int
        Names of units, or their indices. For a unit with itself, a spike does not form a pair with
        itself.
    bin : float, str or quantity
        Width of a bin.
    reach : float, str or quantity
        Longest lag on both sides, a whole number of bins.

    Returns
    -------
    counts : ndarray of int64, shape (bins,)
        Pairs of spikes with lags above the lower edge of a bin and up to its upper one.
    edges : ndarray of float64, shape (bins + 1,)
        Edges of the bins, seconds.

    Raises
    ------
    ValueError
        If there is no such unit, or `reach` is not a whole number of bins.

    Examples
    --------
    >>> import spikeweave
    >>> spikes = spikeweave.SpikeSequence.of({"A": [0.100, 0.200], "B": [0.105, 0.205]})
    >>> counts, edges = spikeweave.correlogram(spikes, "A", "B", bin="5ms", reach="10ms")
    >>> counts.tolist(), edges.tolist()
    ([0, 0, 2, 0], [-0.01, -0.005, 0.0, 0.005, 0.01])
    """
    sequence = SpikeSequence.of(spikes)
    (first,), (second,) = sequence._indices([source]), sequence._indices([target])
    counts, edges = _core.correlogram(sequence._core, first, second, bin, reach)
    return counts, edges


def episode_strategies(device: Literal["cpu", "cuda"] = "cpu") -> list[str]:
    """Lists the counting strategies of this build; all are exact.

    Parameters
    ----------
    device
        ``"cpu"`` or ``"cuda"``; a GPU is not required.

    Returns
    -------
    list of str
    """
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device: expected 'cpu' or 'cuda', found {device!r}")
    return _core.episode_strategies(device == "cuda")
