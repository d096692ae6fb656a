"""The page of episodes in windows."""

from __future__ import annotations

import json

from .. import _core
from .._values.conversions import converts
from .._values.episode_windows import WindowedEpisodeResult
from .page_parts import call_of


@converts(WindowedEpisodeResult, "html")
def windows_to_html(found: WindowedEpisodeResult, alpha: float) -> str:
    """The page of a result."""
    asked = found.parameters
    record = {
        "spikeweave": found.version,
        "command": call_of("episodes(spikes", asked),
        "parameters": asked,
        "input": {"warnings": found.warnings},
        "search": {"windows": len(found), "ties": asked["ties"], **found._course()},
        "significance": {name: asked[name] for name in ("test", "correction", "alpha")},
        "seed": asked["seed"],
        "seconds": found.seconds,
    }
    text = json.dumps(record, default=str)
    return _core.page_of(_core.windows_page_data(found.spikes._core, found._windows, text, alpha))
