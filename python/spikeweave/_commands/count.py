"""Counts and tests of given serial episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from .._adapters.epochs import labels_of
from .._adapters.progress import Progress, reporting
from .._values.episode_rows import flat, named
from .._values.episodes import EpisodeResult
from .._values.spikes import SpikeSequence
from .._values.types import SpikesLike
from .described import described, run_of, with_epochs
from .episodes import result_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import CountOptions


@described(_core.count_options)
def count(
    spikes: SpikesLike,
    episodes: Sequence[Any],
    *,
    progress: Progress = None,
    **options: Unpack[CountOptions],
) -> EpisodeResult:
    """Counts and tests given episodes, such as those that were found in another recording.

    Nothing is searched: the tests are corrected for these episodes only, and the circuit is that of
    the significant pairs among them, as by ``spikeweave count`` on the command line.
    `count_episodes` counts without a test.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    episodes
        An `EpisodeResult`, or episodes as for `count_episodes`.
    {options}

    Returns
    -------
    EpisodeResult
        The episodes in their order.

    {raises}
    DeviceError
        If a GPU is missing or has too little memory.

    Warns
    -----
    UserWarning
        As listed in `EpisodeResult.warnings`.

    Examples
    --------
    >>> import spikeweave
    >>> monday = spikeweave.simulate.sym26(seed=1).spikes
    >>> tuesday = spikeweave.simulate.sym26(seed=2).spikes
    >>> found = spikeweave.episodes(monday, delays="4-6ms", min_count=200)
    >>> again = spikeweave.count(tuesday, found[found.chains])
    >>> bool((again.q < 0.01).all())
    True
    """
    sequence = SpikeSequence.of(spikes)
    names = sequence.unit_names
    arrays = flat(named(episodes, names), names)
    labels = labels_of(options.get("epochs"))
    with reporting(progress) as callback:
        found = _core.count_and_test_episodes(
            sequence._core, arrays, {**with_epochs(options), "progress": callback}
        )
    found["report"].label_epochs(labels)
    return result_of(found, run_of(found, sequence))
