"""Graphs of networkx."""

from __future__ import annotations

from typing import Any

from .._values.circuit import Circuit
from .._values.compare import ConditionComparison
from .._values.conversions import converts
from .._values.spade import PatternResult


@converts(Circuit, "networkx")
def circuit_to_graph(circuit: Circuit) -> Any:
    """A `networkx.MultiDiGraph` with an edge per significant delay."""
    try:
        import networkx
    except ImportError:
        raise ImportError("to_networkx() makes a networkx graph: pip install networkx") from None
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(circuit.unit_names)
    columns = {
        name: values.tolist() if hasattr(values, "tolist") else values
        for name, values in circuit._columns().items()
    }
    sources, targets = columns.pop("source"), columns.pop("target")
    for i, pair in enumerate(zip(sources, targets, strict=True)):
        attributes = {name: values[i] for name, values in columns.items()}
        if attributes["via"] is None:
            del attributes["via"]
        graph.add_edge(*pair, **attributes)
    return graph


@converts(ConditionComparison, "networkx")
def comparison_to_graph(found: ConditionComparison) -> Any:
    """A `networkx.MultiDiGraph` with an edge per finding of two units, and what changed of it."""
    try:
        import networkx
    except ImportError:
        raise ImportError("to_networkx() makes a networkx graph: pip install networkx") from None
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(found.unit_names)
    measures = ("rate_ratio", "rate_q", "excess_a", "excess_b", "excess_q")
    for i, pair in enumerate(found):
        if pair.size != 2:
            continue
        graph.add_edge(
            *pair.units,
            delay_low=pair.delays[0][0],
            delay_high=pair.delays[0][1],
            change=found.columns["change"][i],
            direction=found._direction(i),
            **{name: float(found.columns[name][i]) for name in measures},
        )
    return graph


@converts(PatternResult, "networkx")
def patterns_to_graph(result: PatternResult) -> Any:
    """A `networkx.MultiDiGraph` with an edge from each spike of a pattern to its next."""
    try:
        import networkx
    except ImportError:
        raise ImportError("to_networkx() makes a networkx graph: pip install networkx") from None
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(result.spikes.unit_names)
    for i, pattern in enumerate(result):
        for step in range(pattern.size - 1):
            graph.add_edge(
                pattern.units[step],
                pattern.units[step + 1],
                pattern=i,
                delay=float(pattern.lags[step + 1] - pattern.lags[step]),
                count=pattern.count,
            )
    return graph
