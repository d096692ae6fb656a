"""The circuit as a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._values.circuit import Circuit
from ._axes import BLACK, COLOURS, GREY, RED, axes

_MOST_EDGES = 100
_MOST_LABELS = 40
_LABEL_SIZE = 6  # points
_MOST_NAMES = 200

# Space for arrows around the outermost units, as a multiple of the distance between units.
_ROOM = 0.6

_Places = dict[int, tuple[float, float]]
_Arc = tuple[NDArray[np.float64], NDArray[np.float64], float]
Layout = Literal["layered", "circular"] | Mapping[str, tuple[float, float]] | ArrayLike | None


def circuit(
    found: Any,
    *,
    layout: Layout = None,
    strongest: int | None = None,
    labels: bool | None = None,
    ax: Any = None,
) -> Any:
    """Draw significant delays between units as arrows whose width grows with the gain.

    The width grows with the logarithm of the gain (`Circuit.gain`), or of its inverse for
    inhibition, up to a factor of 8; weaker ones are paler and behind. Inhibition is red and ends in
    a bar. Edges that are not direct (`Circuit.kind`) are thin, dashed and behind the others. A unit
    that excites some units and inhibits others has a dashed circle. Units without connections are
    left out, as in every list of edges.

    Parameters
    ----------
    found
        A `Circuit`, or an `EpisodeResult` that has one.
    layout
        ``"layered"``: from left to right along the direct connections, which must not form a cycle;
        ``"circular"``; or the positions of the units, such as those of their electrodes: a mapping
        by name, or an array of shape (units, 2). By default the `SpikeSequence.positions` of an
        `EpisodeResult` if they are spread over an area; else layered if possible.
    strongest
        Largest number of connections to draw: direct ones first, each kind by gain. By default
        100, and the picture states how many there are.
    labels
        Whether direct connections are labelled with their delay intervals. By default if there are
        at most 40, and where a label covers no unit and no other label. An interval that all of
        them have is in the legend instead.
    ax
        Axes of matplotlib to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected.

    Examples
    --------
    >>> import spikeweave, spikeweave.plot
    >>> sym26 = spikeweave.simulate.sym26(length="10s", seed=1)
    >>> found = spikeweave.episodes(sym26.spikes, delays="4-6ms")
    >>> ax = spikeweave.plot.circuit(found)
    >>> len(ax.patches) == len(found.circuit)
    True
    """
    graph = found if isinstance(found, Circuit) else getattr(found, "circuit", None)
    if not isinstance(graph, Circuit):
        raise TypeError(f"found: expected a Circuit or an EpisodeResult, found {type(found)}")
    every = len(graph)
    dashed = _of_both_signs(graph)
    graph = _strongest(graph, _MOST_EDGES if strongest is None else strongest)
    ax = axes(ax)
    places = None if layout is not None else _of_electrodes(graph, getattr(found, "spikes", None))
    places = places or _places(graph, layout)
    step = _step(places)
    scale = _points_per_step(ax, places, step)
    width = float(np.clip(0.45 * scale, 4, 22))
    direct = [i for i, kind in enumerate(graph.kind) if kind == "direct"]
    delays = {_delay_text(graph, i) for i in direct}
    if labels is None and (len(direct) > _MOST_LABELS or len(delays) <= 1):
        labels = False
    _draw_edges(ax, graph, places, width / 2, scale / step, labels)
    _draw_units(ax, graph, places, width, _ROOM * step, dashed)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.05)
    ax.set_axis_off()
    note = "\ndashed units excite some and inhibit others" if dashed & places.keys() else ""
    _explain(ax, graph, every, (_common(delays) if labels is False else "") + note)
    return ax


def _delay_text(graph: Circuit, i: int) -> str:
    low, high = graph.best_delay[i] * 1e3
    return f"{low:g}-{high:g}ms"


def _common(delays: set[str]) -> str:
    """The legend's text about delays that label no arrow."""
    return f", all {next(iter(delays))}" if len(delays) == 1 else ""


def _log_gain(graph: Circuit) -> NDArray[np.float64]:
    """Return by how many factors of 2 there are more or fewer pairs of spikes than expected."""
    return np.abs(np.log2(np.maximum(graph.gain, 1e-3)))


def _of_both_signs(graph: Circuit) -> set[int]:
    """Return the units that excite some units and inhibit others."""
    signs: dict[int, set[str]] = {}
    for source, sign, kind in zip(graph.source.tolist(), graph.sign, graph.kind, strict=True):
        if kind == "direct":
            signs.setdefault(source, set()).add(sign)
    return {unit for unit, of_unit in signs.items() if len(of_unit) > 1}


def _strongest(graph: Circuit, most: int) -> Circuit:
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1:
        raise ValueError(f"strongest: expected a whole number from 1 on, found {most!r}")
    if len(graph) <= most:
        return graph
    explained = np.array([kind != "direct" for kind in graph.kind])
    kept = np.sort(np.lexsort((-_log_gain(graph), explained))[:most])

    def part(value: Any) -> Any:
        return value[kept] if isinstance(value, np.ndarray) else [value[i] for i in kept]

    columns = {name: part(values) for name, values in graph._table().items()}
    return Circuit._of(graph.unit_names, columns)


def _of_electrodes(graph: Circuit, spikes: Any) -> _Places | None:
    """Return where the units are, if all are known and spread over an area."""
    known = getattr(spikes, "positions", None)
    units = np.unique(np.concatenate([graph.source, graph.target])).tolist()
    if known is None or len(units) < 3 or not np.isfinite(known[units]).all():
        return None
    sides = np.ptp(known[units], axis=0)
    if sides.min() < sides.max() / 4 or sides.max() == 0:
        return None
    at: dict[tuple[float, float], list[int]] = {}
    for unit in units:
        at.setdefault((float(known[unit, 0]), float(known[unit, 1])), []).append(unit)
    around = 0.3 * _step(dict(enumerate(at)))  # units of one electrode
    places: _Places = {}
    for (x, y), there in at.items():
        radius = around if len(there) > 1 else 0.0
        for unit, angle in zip(there, 2 * np.pi * np.arange(len(there)) / len(there), strict=True):
            places[unit] = (x + radius * float(np.cos(angle)), y + radius * float(np.sin(angle)))
    return places


def _places(graph: Circuit, layout: Any) -> _Places:
    units = np.unique(np.concatenate([graph.source, graph.target])).tolist()
    if layout is not None and not isinstance(layout, (str, Mapping)):
        points = np.asarray(layout, dtype=np.float64)
        if points.shape != (len(graph.unit_names), 2):
            raise ValueError(
                f"layout: expected places of shape ({len(graph.unit_names)}, 2), one per unit, "
                f"found shape {points.shape}"
            )
        return {unit: (float(points[unit, 0]), float(points[unit, 1])) for unit in units}
    if isinstance(layout, Mapping):
        missing = [name for name in (graph.unit_names[u] for u in units) if name not in layout]
        if missing:
            raise ValueError(f"layout: unit {missing[0]!r} has no place")
        return {unit: layout[graph.unit_names[unit]] for unit in units}
    if layout not in (None, "layered", "circular"):
        raise ValueError(f"layout: expected 'layered', 'circular' or places, found {layout!r}")
    if layout != "circular":
        layers = _layers(graph, units)
        if layers is not None:
            return _in_rows(graph, layers)
        if layout == "layered":
            raise ValueError("layout: the direct connections go round in circles: try 'circular'")
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(units)) / max(len(units), 1)
    radius = max(1.0, len(units) / 6)
    return {
        unit: (radius * float(np.cos(angle)), radius * float(np.sin(angle)))
        for unit, angle in zip(units, angles, strict=True)
    }


def _direct(graph: Circuit) -> list[tuple[int, int]]:
    pairs = zip(graph.source.tolist(), graph.target.tolist(), graph.kind, strict=True)
    # A unit that follows itself does not affect its layer.
    return sorted({(a, b) for a, b, kind in pairs if kind == "direct" and a != b})


def _layers(graph: Circuit, units: list[int]) -> dict[int, int] | None:
    """Return the longest chain of direct connections to each unit; None if they form a cycle."""
    edges = _direct(graph)
    layer = dict.fromkeys(units, 0)
    open_edges = Counter(target for _, target in edges)
    ready = [unit for unit in units if not open_edges[unit]]
    for unit in ready:
        for source, target in edges:
            if source != unit:
                continue
            layer[target] = max(layer[target], layer[unit] + 1)
            open_edges[target] -= 1
            if not open_edges[target]:
                ready.append(target)
    return layer if len(ready) == len(units) else None


def _in_rows(graph: Circuit, layers: dict[int, int]) -> _Places:
    """Place connected units in the same rows; within a layer lower indices are above."""
    group = {unit: unit for unit in layers}

    def root(unit: int) -> int:
        while group[unit] != unit:
            unit = group[unit]
        return unit

    for source, target in zip(graph.source.tolist(), graph.target.tolist(), strict=True):
        a, b = sorted((root(source), root(target)))
        group[b] = a
    places: _Places = {}
    top = 0.0
    for base in sorted({root(unit) for unit in layers}):
        filled: Counter[int] = Counter()
        for unit in (unit for unit in layers if root(unit) == base):
            places[unit] = (float(layers[unit]), top - filled[layers[unit]])
            filled[layers[unit]] += 1
        top -= 0.5 + max(filled.values())
    return places


def _step(places: _Places) -> float:
    """Return the distance between neighbouring units: 1 unless positions are given."""
    points = np.array(list(places.values()), dtype=np.float64).reshape(-1, 2)
    if len(points) < 2:
        return 1.0
    apart = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    np.fill_diagonal(apart, np.inf)
    nearest = np.median(apart.min(axis=1))
    return float(nearest) if 0 < nearest < np.inf else 1.0


def _points_per_step(ax: Any, places: _Places, step: float) -> float:
    """Return the distance of neighbours in points."""
    points = np.array(list(places.values())).reshape(-1, 2)
    span = 2 * _ROOM + (np.ptp(points, axis=0) / step if len(points) else np.zeros(2))
    return float(min(ax.bbox.width / span[0], ax.bbox.height / span[1]) * 72 / ax.figure.dpi)


def _draw_edges(
    ax: Any, graph: Circuit, places: _Places, gap: float, scale: float, labels: bool | None
) -> None:
    from matplotlib.patches import FancyArrowPatch

    parallel: Counter[tuple[int, int]] = Counter()
    weights = np.minimum(_log_gain(graph) / 3, 1)
    widths = 0.5 + 3 * weights
    arcs: dict[int, _Arc] = {}
    for i in range(len(graph)):
        source, target = int(graph.source[i]), int(graph.target[i])
        begin, end = np.array(places[source]), np.array(places[target])
        bend = _bend(begin, end, graph.kind[i]) + 0.15 * parallel[source, target]
        if source == target:  # from the left to the right half of the circle, above it
            half = np.array([0.7 * gap / scale, 0])
            begin, end, bend = begin - half, end + half, -4 - bend
        parallel[source, target] += 1
        is_direct = graph.kind[i] == "direct"
        style = _style(graph.sign[i], is_direct)
        # add_patch() would compute the limits again for every arrow.
        ax.add_artist(
            FancyArrowPatch(
                tuple(begin),
                tuple(end),
                connectionstyle=f"arc3,rad={bend}",
                mutation_scale=min(10, max(5, 2 * gap)),
                shrinkA=0 if source == target else gap,
                shrinkB=0 if source == target else gap,
                clip_on=False,
                in_layout=False,
                linewidth=float(widths[i]) if is_direct else 0.7,
                zorder=2 + 0.4 * float(weights[i]) if is_direct else 1,
                alpha=0.4 + 0.6 * float(weights[i]) if is_direct else 1.0,
                **style,
            )
        )
        if is_direct:
            arcs[i] = (begin, end, bend)
    if labels is not False:
        _label_arcs(ax, graph, arcs, places, gap, scale, all_of_them=labels is True)


def _label_arcs(
    ax: Any,
    graph: Circuit,
    arcs: dict[int, _Arc],
    places: _Places,
    gap: float,
    scale: float,
    all_of_them: bool,
) -> None:
    """Label arrows, the strongest first where not all have room."""
    units = np.array(list(places.values())).reshape(-1, 2)
    at: dict[int, NDArray[np.float64]] = {}
    for i in sorted(arcs, key=lambda i: -_log_gain(graph)[i]):
        half = np.array([0.3 * len(_delay_text(graph, i)) + 0.3, 0.6]) * _LABEL_SIZE / scale
        beside = _beside(*arcs[i], half[1])
        free = (place for place in beside if _is_free(place, half, units, gap / scale, at.values()))
        place = next(free, beside[0] if all_of_them else None)
        if place is not None:
            at[i] = place
    for i, (x, y) in sorted(at.items()):
        ax.text(
            x,
            y,
            _delay_text(graph, i),
            fontsize=_LABEL_SIZE,
            ha="center",
            va="center",
            zorder=2.5,
            # A background hides lines behind the text.
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )


def _beside(
    begin: NDArray[np.float64], end: NDArray[np.float64], bend: float, height: float
) -> list[NDArray[np.float64]]:
    """Return places above and below an arrow, which may be no longer than its label."""
    dx, dy = end - begin
    control = (begin + end) / 2 + bend * np.array([dy, -dx])  # of matplotlib's ``arc3``
    return [
        (1 - t) ** 2 * begin + 2 * t * (1 - t) * control + t**2 * end + np.array([0, side * height])
        for side in (1.5, -1.5)
        for t in (0.5, 0.4, 0.6, 0.3, 0.7)
    ]


def _is_free(
    place: NDArray[np.float64],
    half: NDArray[np.float64],
    units: NDArray[np.float64],
    radius: float,
    labelled: Iterable[NDArray[np.float64]],
) -> bool:
    """Whether a label of this half size covers no unit and no label."""
    outside = np.maximum(np.abs(units - place) - half, 0)
    covers_label = any((np.abs(other - place) < 2 * half).all() for other in labelled)
    return not covers_label and bool((np.hypot(*outside.T) > radius).all())


def _style(sign: str, direct: bool) -> dict[str, Any]:
    line = "-" if direct else "--"
    if sign == "inhibitory":
        return {"arrowstyle": "|-|,widthA=0,widthB=0.4", "linestyle": line, "color": RED}
    return {
        "arrowstyle": "-|>",
        "linestyle": line,
        "color": COLOURS[1] if direct else GREY,
    }


def _bend(begin: NDArray[np.float64], end: NDArray[np.float64], kind: str) -> float:
    """Return the curvature: 0 between neighbours in a row, otherwise arrows avoid units between."""
    if kind == "direct" and begin[1] == end[1] and end[0] - begin[0] == 1:
        return 0.0
    return 0.25 if kind == "direct" else 0.4


def _explain(ax: Any, graph: Circuit, every: int, delays: str) -> None:
    from matplotlib.lines import Line2D

    styles = (
        ("direct", "-", COLOURS[1], any(kind == "direct" for kind in graph.kind)),
        ("not direct", "--", GREY, any(kind != "direct" for kind in graph.kind)),
        ("inhibitory", "-", RED, "inhibitory" in graph.sign),
    )
    lines = [
        Line2D([], [], ls=style, color=colour, label=label)
        for label, style, colour, there in styles
        if there
    ]
    if lines:
        number = f"the {len(graph)} strongest of {every} " if len(graph) < every else ""
        ax.legend(
            handles=lines,
            title=f"{number}significant delays{delays}",
            loc="lower center",
            bbox_to_anchor=(0.5, 1),
            ncols=len(lines),
            frameon=False,
        )


def _draw_units(
    ax: Any, graph: Circuit, places: _Places, width: float, room: float, dashed: set[int]
) -> None:
    points = np.array(list(places.values())).reshape(-1, 2)
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=width**2,
        facecolors="white",
        edgecolors=BLACK,
        linestyles=[(0, (2, 2)) if unit in dashed else "-" for unit in places] or "-",
        zorder=3,
    )
    # Arrows around the units need space, but do not affect the limits.
    ax.update_datalim(np.concatenate([points - room, points + room]))
    if len(places) > _MOST_NAMES:
        return
    for unit, (x, y) in places.items():
        ax.text(
            x,
            y,
            graph.unit_names[unit],
            fontsize=min(8, width / 2.2),
            ha="center",
            va="center",
            zorder=4,
        )
