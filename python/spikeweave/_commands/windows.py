"""Frequent serial episodes in windows of a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._adapters.progress import Progress, reporting
from .._values.episode_windows import WindowedEpisodeResult
from .._values.spikes import SpikeSequence
from .._values.types import SpikesLike
from .described import described, run_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import WindowsOptions


@described(_core.windows_options)
def windows(
    spikes: SpikesLike,
    *,
    progress: Progress = None,
    **options: Unpack[WindowsOptions],
) -> WindowedEpisodeResult:
    """Finds chains in windows of a recording, each searched and tested by itself.

    Each window is analysed as `episodes` analyses a recording that has the spikes of this window
    and its length. Windows begin at the multiples of `hop`. With `change_points`, the times are
    found at which the circuit changes, as by ``spikeweave windows`` on the command line.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    {options}

    Returns
    -------
    WindowedEpisodeResult
        It has an `EpisodeResult` of each window.

    {raises}
    DeviceError
        If a GPU is missing or has too little memory.

    Warns
    -----
    UserWarning
        As listed in `WindowedEpisodeResult.warnings`.

    Examples
    --------
    >>> import spikeweave
    >>> sym26 = spikeweave.simulate.sym26(seed=1)
    >>> found = spikeweave.windows(sym26.spikes, window="20s", delays="4-6ms", min_count=60)
    >>> [len(one.circuit) for one in found]
    [10, 10, 10]
    """
    sequence = SpikeSequence.of(spikes)
    with reporting(progress) as callback:
        found = _core.find_episodes_in_windows(sequence._core, {**options, "progress": callback})
    return WindowedEpisodeResult(
        _windows=found["windows"],
        _changes=found.get("changes"),
        **run_of(found, sequence),
    )
