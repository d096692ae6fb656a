"""The graph of significant delays between units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .conversions import converted
from .tables import html_table

if TYPE_CHECKING:
    import pandas

_SHOWN = 10


@dataclass(frozen=True, repr=False, eq=False)
class Circuit:
    """The significant delays between pairs of units.

    Attributes
    ----------
    unit_names : list of str
    source, target : ndarray of uint32, shape (edges,)
        Indices into `unit_names`.
    delay : ndarray of float64, shape (edges, 2)
        ``(low, high]`` in seconds: the best interval, widened by adjacent significant ones.
    best_delay : ndarray of float64, shape (edges, 2)
        The best single interval, to which counts and probabilities refer.
    count : ndarray of int64, shape (edges,)
    expected, p, q, strength : ndarray of float64, shape (edges,)
        As in `EpisodeResult`.
    kind : list of str
        ``"direct"``, ``"indirect"`` (explained by a path over one other unit) or
        ``"common-input"`` (by a unit that drives both ends at different delays).
    via : list of (int or None)
        The unit that explains an edge which is not direct.
    """

    unit_names: list[str]
    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    delay: NDArray[np.float64]
    best_delay: NDArray[np.float64]
    count: NDArray[np.int64]
    expected: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    strength: NDArray[np.float64]
    kind: list[str]
    via: list[int | None]

    def __len__(self) -> int:
        return len(self.source)

    def _names(self, units: NDArray[np.uint32]) -> list[str]:
        return [self.unit_names[unit] for unit in units]

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per edge; units by their names, times in seconds."""
        return converted(self._columns(), "dataframe")

    def _columns(self) -> dict[str, Any]:
        return {
            "source": self._names(self.source),
            "target": self._names(self.target),
            "delay_low": self.delay[:, 0],
            "delay_high": self.delay[:, 1],
            "count": self.count,
            "expected": self.expected,
            "p": self.p,
            "q": self.q,
            "strength": self.strength,
            "kind": self.kind,
            "via": [None if unit is None else self.unit_names[unit] for unit in self.via],
        }

    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph`: a node per unit, by name, and an edge per significant delay.

        Edges have ``delay_low`` and ``delay_high`` in seconds, ``count``, ``expected``, ``p``,
        ``q``, ``strength``, ``kind`` and, where one explains them, ``via``.
        """
        return converted(self, "networkx")

    def __repr__(self) -> str:
        direct = sum(kind == "direct" for kind in self.kind)
        return (
            f"<Circuit: {len(self)} significant delays between {len(self.unit_names)} units, "
            f"{direct} of them direct>"
        )

    def _repr_html_(self) -> str:
        order = np.argsort(-self.strength, kind="stable")[:_SHOWN]
        rows = [
            (
                self.unit_names[self.source[i]],
                self.unit_names[self.target[i]],
                f"({self.delay[i, 0] * 1e3:g},{self.delay[i, 1] * 1e3:g}]",
                self.count[i],
                f"{self.strength[i]:.2f}",
                f"{self.q[i]:.2g}",
                self.kind[i],
            )
            for i in order
        ]
        headers = ["from", "to", "delay (ms)", "count", "strength", "q", "kind"]
        return html_table(repr(self).strip("<>"), headers, rows)
