"""Connections and repeated patterns in the firing of neurons.

`episodes` finds chains of units that fire one after another, `spade` spatio-temporal spike
patterns; `live` detects and finds chains while a recording runs; `sort` finds units in recordings;
`simulate` makes data with known ground truth. Functions accept spikes of other packages
(`SpikeSequence.of` lists the forms) and times in seconds.
"""

from . import _edition, simulate  # noqa: F401 - the edition before the extension
from ._adapters.files import read, write
from ._adapters.recordings import read_recording
from ._adapters.saved import load
from ._commands.assemblies import assemblies
from ._commands.bursts import bursts
from ._commands.compare import (
    compare,
    compare_epochs,
    compare_patterns,
    compare_patterns_in_epochs,
)
from ._commands.count import count
from ._commands.detector import Detector
from ._commands.devices import devices
from ._commands.episodes import (
    correlogram,
    count_episodes,
    episode_strategies,
    episodes,
    epochs_around,
)
from ._commands.live import LiveRun, live
from ._commands.replay import replay
from ._commands.report import report
from ._commands.sliding_window import SlidingWindow
from ._commands.sort import sort, sort_features
from ._commands.spade import spade
from ._commands.stability import circuit_stability
from ._commands.track import track
from ._commands.windows import windows
from ._core import DeviceError
from ._core import version as _version
from ._values.assemblies import Assembly, AssemblyResult
from ._values.bursts import BurstResult
from ._values.circuit import Circuit, Edge
from ._values.compare import ComparedPattern, ConditionComparison, PatternComparison
from ._values.devices import Device
from ._values.episode_rows import Episode
from ._values.episode_windows import WindowedEpisodeResult
from ._values.episodes import EpisodeResult
from ._values.live import (
    Alarm,
    Arming,
    Chance,
    Counts,
    Detection,
    Epoch,
    Skipped,
    Stats,
    Window,
)
from ._values.pair_tests import PairTests
from ._values.recording import Recording
from ._values.replay import ReplayResult
from ._values.report import Report
from ._values.sort import SortResult
from ._values.spade import Pattern, PatternResult
from ._values.spikes import SpikeSequence
from ._values.track import TrackResult
from .simulate import example

__version__ = _version()

__all__ = [
    "Alarm",
    "Arming",
    "Assembly",
    "AssemblyResult",
    "BurstResult",
    "Chance",
    "Circuit",
    "ComparedPattern",
    "ConditionComparison",
    "Counts",
    "Detection",
    "Detector",
    "Device",
    "DeviceError",
    "Edge",
    "Episode",
    "EpisodeResult",
    "Epoch",
    "LiveRun",
    "PairTests",
    "Pattern",
    "PatternComparison",
    "PatternResult",
    "Recording",
    "ReplayResult",
    "Report",
    "Skipped",
    "SlidingWindow",
    "SortResult",
    "SpikeSequence",
    "Stats",
    "TrackResult",
    "Window",
    "WindowedEpisodeResult",
    "assemblies",
    "bursts",
    "circuit_stability",
    "compare",
    "compare_epochs",
    "compare_patterns",
    "compare_patterns_in_epochs",
    "correlogram",
    "count",
    "count_episodes",
    "devices",
    "episode_strategies",
    "episodes",
    "epochs_around",
    "example",
    "live",
    "load",
    "read",
    "read_recording",
    "replay",
    "report",
    "simulate",
    "sort",
    "sort_features",
    "spade",
    "track",
    "windows",
    "write",
]
