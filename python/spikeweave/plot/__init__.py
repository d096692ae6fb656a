"""Pictures of spikes and of what was found in them, by matplotlib (``spikeweave[plot]``).

Every function draws into `ax`, or into new axes where that is None, and returns them; none calls
``show()``. Colours are told apart by colour-blind readers as well.
"""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError:
    raise ImportError(
        "spikeweave.plot draws with matplotlib: pip install 'spikeweave[plot]'"
    ) from None

from ._circuit import circuit
from ._episodes import counts
from ._patterns import funnel, spectrum
from ._rasters import aligned, raster
from ._statistics import lags, occurrences, participation, sizes

__all__ = [
    "aligned",
    "circuit",
    "counts",
    "funnel",
    "lags",
    "occurrences",
    "participation",
    "raster",
    "sizes",
    "spectrum",
]
