"""Replay: chains at other speeds and in reverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from .._adapters.progress import Progress, reporting
from .._values.episode_rows import flat, named
from .._values.episodes import EpisodeResult
from .._values.replay import ReplayResult
from .._values.spikes import SpikeSequence
from .._values.types import SpikesLike
from .described import described, run_of, with_epochs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import ReplayOptions


@described(_core.replay_options)
def replay(
    chains: Sequence[Any] | EpisodeResult,
    spikes: SpikesLike,
    *,
    progress: Progress = None,
    **options: Unpack[ReplayOptions],
) -> ReplayResult:
    """Looks for chains at other speeds and in reverse, such as in sleep.

    All delays of a chain are multiplied by each of `scales`, and its occurrences are counted in
    both directions and compared with shuffles; and in each event the order of the chain's units is
    compared with all orders of these units, as by ``spikeweave replay`` on the command line.
    Chains have to be found elsewhere, such as in another epoch.

    Parameters
    ----------
    chains
        Each an `Episode`, or ``(units, delays)`` as for `count_episodes`; of an `EpisodeResult`,
        its `EpisodeResult.chains`.
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    {options}

    Returns
    -------
    ReplayResult

    {raises}

    Warns
    -----
    UserWarning
        As listed in `ReplayResult.warnings`.

    References
    ----------
    W. E. Skaggs, B. L. McNaughton, Science 271:1870 (1996); Z. Nádasdy, H. Hirase, A. Czurkó,
    J. Csicsvári, G. Buzsáki, J. Neurosci. 19:9497 (1999); A. K. Lee, M. A. Wilson, Neuron 36:1183
    (2002).

    Examples
    --------
    >>> import spikeweave
    >>> step = 0.005  # in sleep; 0.05 while the animal ran
    >>> trains = {unit: [e + i * step for e in range(1, 41)] for i, unit in enumerate("abcd")}
    >>> trains["other"] = [0, 42]
    >>> events = [(e - 0.05, e + 0.1) for e in range(1, 41)]
    >>> chain = (list("abcd"), [(0.04, 0.06)] * 3)
    >>> found = spikeweave.replay([chain], trains, events=events, seed=1)
    >>> [(d, int(n)) for d, n in zip(found.direction, found.events_significant)]
    [('forward', 40), ('reverse', 0)]
    """
    given = with_epochs(options, "events")
    sequence = SpikeSequence.of(spikes)
    names = sequence.unit_names
    if isinstance(chains, EpisodeResult):
        chains = [chains[int(i)] for i in chains.chains]
    wanted = named(chains, names)
    with reporting(progress) as callback:
        found = _core.find_replay(
            sequence._core, flat(wanted, names), {**given, "progress": callback}
        )
    return ReplayResult(
        chains=wanted,
        **found["tests"],
        event_times=found["event_times"],
        events=found["events"],
        **run_of(found, sequence),
    )
