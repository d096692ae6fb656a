"""The page of a comparison of two conditions."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._values.compare import ComparedPattern, ConditionComparison, PatternComparison
from .._values.conversions import converts
from .page_parts import LISTED, call_of, digits, document_of, milliseconds


def _findings(found: ConditionComparison | PatternComparison) -> dict[str, Any]:
    """The columns of the command's `differences.tsv`."""
    unit = {name: number for number, name in enumerate(found.unit_names)}
    listed = found.findings[:LISTED]
    out: dict[str, Any] = {
        "total": len(found),
        "finding": list(range(1, len(listed) + 1)),
        "size": [len(one.units) for one in listed],
        "units": [[unit[name] for name in one.units] for one in listed],
        "change": found.columns["change"][:LISTED],
        "direction": [found._direction(i) for i in range(len(listed))],
    }
    for one in listed:
        if isinstance(one, ComparedPattern):
            out.setdefault("lags_ms", []).append(milliseconds(one.lags))
        else:
            out.setdefault("delays_ms", []).append([milliseconds(step) for step in one.delays])
    for name, column in found.columns.items():
        if name != "change":
            out[f"{name}_hz" if name in ("rate_a", "rate_b") else name] = digits(column[:LISTED])
    return out


def _called(found: ConditionComparison | PatternComparison) -> str:
    """The function that was called, with what it needs."""
    in_epochs = found.samples == "epochs"
    if isinstance(found, PatternComparison):
        if in_epochs:
            return "compare_patterns_in_epochs(spikes, a, b, patterns"
        return "compare_patterns(a, b, patterns"
    return "compare_epochs(spikes, a, b" if in_epochs else "compare(a, b"


def _run(found: ConditionComparison | PatternComparison) -> dict[str, Any]:
    asked = found.parameters
    sides = [
        {
            "files": [],
            "recordings": one["recordings"],
            "samples": one["samples"],
            "observed_s": one["observed"],
            "spikes": one["spikes"],
        }
        for one in found.conditions
    ]
    return {
        "spikeweave": _core.version(),
        "command": call_of(_called(found), asked),
        "parameters": asked,
        "input": {"a": sides[0], "b": sides[1], "warnings": found.warnings},
        "comparison": {
            "samples": found.samples,
            "labellings": found.labellings,
            "all_labellings": found.all_labellings,
            "smallest_p": found.smallest_p,
        },
        "seed": asked["seed"],
        "seconds": found.seconds,
    }


@converts(ConditionComparison, "html")
@converts(PatternComparison, "html")
def comparison_to_html(found: ConditionComparison | PatternComparison) -> str:
    """The page of a comparison."""
    content = {"run": _run(found), "units": found.unit_names, "findings": _findings(found)}
    return _core.page_of(document_of("conditions", content))
