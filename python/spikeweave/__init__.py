"""Repeated patterns in the firing of neurons.

`episodes` finds chains of units that fire one after another, `spade` spatio-temporal spike
patterns; `sort` finds units in recordings; `simulate` makes data with known ground truth. Functions
accept spikes of other packages (`SpikeSequence.of` lists the forms) and times in seconds.
"""

from . import simulate
from ._circuit import Circuit
from ._core import DeviceError
from ._core import version as _version
from ._devices import Device, devices
from ._episodes import Episode, EpisodeResult, count_episodes, episode_strategies, episodes
from ._files import read, write
from ._recording import Recording, read_recording
from ._sort import SortResult, sort, sort_features
from ._spade import Pattern, PatternResult, spade
from ._spikes import SpikeSequence

__version__ = _version()

__all__ = [
    "Circuit",
    "Device",
    "DeviceError",
    "Episode",
    "EpisodeResult",
    "Pattern",
    "PatternResult",
    "Recording",
    "SortResult",
    "SpikeSequence",
    "count_episodes",
    "devices",
    "episode_strategies",
    "episodes",
    "read",
    "read_recording",
    "simulate",
    "sort",
    "sort_features",
    "spade",
    "write",
]
