"""Pictures of spikes and of results, drawn with matplotlib (``spikeweave[plot]``).

Every function draws into `ax`, or into new axes if it is None, and returns the axes; none calls
``show()``. Colour-blind readers can distinguish the colours.
"""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError:
    raise ImportError(
        "spikeweave.plot draws with matplotlib: pip install 'spikeweave[plot]'"
    ) from None

from ._circuit import circuit
from ._compare import differences
from ._episodes import counts
from ._patterns import funnel, spectrum
from ._rasters import aligned, raster
from ._statistics import lags, occurrences, participation, sizes
from ._units import correlogram, waveforms

__all__ = [
    "aligned",
    "circuit",
    "correlogram",
    "counts",
    "differences",
    "funnel",
    "lags",
    "occurrences",
    "participation",
    "raster",
    "sizes",
    "spectrum",
    "waveforms",
]
