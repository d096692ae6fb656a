"""The page of a result of assemblies."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._values.assemblies import AssemblyResult
from .._values.conversions import converts
from .page_parts import LISTED, call_of, digits, document_of, milliseconds, spikes_in

#: As many activations as a page of the command has.
_ACTIVATIONS = 200_000


def _assemblies(found: AssemblyResult) -> dict[str, Any]:
    unit = {name: number for number, name in enumerate(found.spikes.unit_names)}
    listed = found.assemblies[:LISTED]
    begins, left = [], _ACTIVATIONS
    for one in listed:
        begins.append(np.rint(1e6 * one.times[:left]).astype(np.int64).tolist())
        left -= len(begins[-1])
    return {
        "total": len(found),
        "assembly": list(range(1, len(listed) + 1)),
        "units": [[unit[name] for name in one.units] for one in listed],
        "lags_ms": [milliseconds(one.lags) for one in listed],
        "bin_ms": milliseconds([one.bin for one in listed]),
        "count": [int(one.counts[-1]) for one in listed],
        "p": digits([one.p[-1] for one in listed]),
        "p_corrected": digits([one.p_corrected for one in listed]),
        "begins_us": begins,
        "activations": [len(one.times) for one in listed],
    }


def _steps(found: AssemblyResult) -> dict[str, Any]:
    """The rows of the command's `search.tsv`."""
    steps = {name: values[:LISTED] for name, values in found.steps.items()}
    return {
        "total": len(found.steps["bin"]),
        "bin_ms": milliseconds(steps.pop("bin")),
        **{name: values.tolist() for name, values in steps.items()},
    }


def _run(found: AssemblyResult) -> dict[str, Any]:
    asked = found.parameters
    return {
        "spikeweave": found.version,
        "command": call_of("assemblies(spikes", asked),
        "parameters": asked,
        "input": {"warnings": found.warnings},
        "assemblies": {"assemblies": len(found)},
        "seconds": found.seconds,
    }


@converts(AssemblyResult, "html")
def assemblies_to_html(found: AssemblyResult) -> str:
    """The page of a result."""
    content = {
        "run": _run(found),
        "units": found.spikes.unit_names,
        "spikes": spikes_in(found.spikes),
        "assemblies": _assemblies(found),
        "steps": _steps(found),
    }
    return _core.page_of(document_of("assemblies", content))
