"""The page of a result of replay."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._values.conversions import converts
from .._values.replay import ReplayResult
from .page_parts import LISTED, call_of, digits, document_of, intervals_ms, spikes_in


def _tests(found: ReplayResult) -> dict[str, Any]:
    """The rows of the command's `replay.tsv`."""
    unit = {name: number for number, name in enumerate(found.spikes.unit_names)}
    chain = found.chain[:LISTED]
    columns: dict[str, Any] = {
        "total": len(found),
        "chain": (chain + 1).tolist(),
        "units": [[unit[name] for name in found.chains[i].units] for i in chain],
        "delays_ms": [intervals_ms(np.array(found.chains[i].delays)) for i in chain],
        "direction": found.direction[:LISTED],
        "significant": (found.q[:LISTED] < found.parameters["alpha"]).tolist(),
    }
    for name in ("count", "events_scored", "events_significant"):
        columns[name] = getattr(found, name)[:LISTED].tolist()
    for name in ("scale", "expected", "z", "p", "q", "events_expected", "events_p", "events_q"):
        columns[name] = digits(getattr(found, name)[:LISTED])
    return columns


def _events(found: ReplayResult) -> dict[str, Any]:
    """The rows of the command's `events.tsv`."""
    listed = {name: values[:LISTED] for name, values in found.events.items()}
    times = found.event_times[listed["event"]]
    columns: dict[str, Any] = {
        "total": len(found.events["event"]),
        "event": (listed["event"] + 1).tolist(),
        "begin_s": times[:, 0].round(6).tolist(),
        "end_s": times[:, 1].round(6).tolist(),
        "chain": (listed["chain"] + 1).tolist(),
        "active": listed["active"].tolist(),
    }
    for name in ("tau", "p_forward", "p_reverse"):
        columns[name] = digits(listed[name])
    return columns


def _run(found: ReplayResult) -> dict[str, Any]:
    asked = found.parameters
    return {
        "spikeweave": found.version,
        "command": call_of("replay(chains, spikes", asked),
        "parameters": asked,
        "input": {"warnings": found.warnings},
        "replay": {
            "chains": len(found.chains),
            "events": len(found.event_times),
            "events_s": found.event_times.round(6).tolist(),
        },
        "seed": asked["seed"],
        "seconds": found.seconds,
    }


@converts(ReplayResult, "html")
def replay_to_html(found: ReplayResult) -> str:
    """The page of a result."""
    content = {
        "run": _run(found),
        "units": found.spikes.unit_names,
        "spikes": spikes_in(found.spikes),
        "tests": _tests(found),
        "events": _events(found),
    }
    return _core.page_of(document_of("replay", content))
