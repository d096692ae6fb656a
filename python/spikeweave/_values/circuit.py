"""The graph of significant delays between units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .conversions import converted
from .tables import html_table, short, short_p

if TYPE_CHECKING:
    import pandas

_SHOWN = 10


@dataclass(frozen=True)
class Edge:
    """A significant delay between two units, with the figures of `Circuit`; units by their names,
    delays ``(low, high)`` in seconds."""

    source: str
    target: str
    sign: str
    kind: str
    delay: tuple[float, float]
    best_delay: tuple[float, float]
    count: int
    expected: float
    q: float
    transmission: float

    def __str__(self) -> str:
        low, high = (1e3 * time for time in self.best_delay)
        arrow = "→" if self.sign == "excitatory" else "⊣"
        return f"{self.source} {arrow}{low:g}-{high:g}ms{arrow} {self.target}"


@dataclass(frozen=True, repr=False, eq=False)
class Circuit:
    """The significant delays between pairs of units, excitatory and inhibitory.

    Pairs are tested as described in `PairTests`. Whether other units explain an edge is decided
    without the spikes near those of stronger drivers. Figures are of the window `best_delay`.

    Attributes
    ----------
    unit_names : list of str
    source, target : ndarray of uint32, shape (edges,)
        Indices into `unit_names`.
    delay : ndarray of float64, shape (edges, 2)
        ``(low, high]`` in seconds: the lags of the whole peak or trough of the correlogram; where
        episodes decide, as with surrogates, the best interval, widened by adjacent significant
        ones.
    best_delay : ndarray of float64, shape (edges, 2)
        The best single window in seconds, to which counts and probabilities refer.
    sign : list of str
        ``"excitatory"`` or ``"inhibitory"``. Inhibition is found only if all pairs were tested
        (`EpisodeResult.pairs`).
    count : ndarray of int64, shape (edges,)
        Pairs of spikes whose lag is in `best_delay`.
    expected : ndarray of float64, shape (edges,)
        The number expected without a connection.
    p, q : ndarray of float64, shape (edges,)
        As in `PairTests`, or in `EpisodeResult` if the circuit is that of its episodes; in [0, 1].
    gain, gain_low, gain_high : ndarray of float64, shape (edges,)
        ``count / expected`` and its 95 % confidence interval: above 1 for excitation, in [0, 1) for
        inhibition.
    transmission, transmission_low, transmission_high : ndarray of float64, shape (edges,)
        ``(count - expected)`` by the spikes of the source, and its 95 % confidence interval: how
        much more likely one of its spikes makes the target fire; negative for inhibition. This is
        the efficacy or spike transmission probability (English et al. 2017, Neuron 96:505).
    strength : ndarray of float64, shape (edges,)
        The share of the source's spikes that one of the target follows in `best_delay`, in [0, 1].
        It includes chance.
    kind : list of str
        ``"direct"``, ``"indirect"`` (explained by units that fire in between), ``"common-input"``
        (by units that fire before both), ``"undecided"`` (too few spikes are left without those of
        units that could explain it), ``"slow"`` (not explained, but the delay is longer than a
        synaptic one, 8.5 ms), ``"shared-spikes"`` (one unit repeats spikes of the other),
        ``"synchronous"`` (most of it is within 1 ms, too fast for a synapse), ``"dead-time"``
        (most synchronous spikes are missing, as after the dead time of a detector),
        ``"stimulus-locked"`` (spikes of other trials are as related), ``"possibly-one-neuron"`` or
        ``"cross-talk"`` (`SpikeSequence.doubtful_pairs`). Only direct edges count as
        connections.
    via : list of (int or None)
        The unit that explains most of an edge that is indirect, by common input or undecided.
    mean_delay, mean_delay_low, mean_delay_high : ndarray of float64, shape (edges,)
        Mean delay in seconds of the pairs of spikes in `delay` beyond chance, and its 95 %
        confidence interval; NaN if there are no more pairs than beside `delay`.
    asymmetry : ndarray of float64, shape (edges,)
        In [-1, 1]: 1 if the target only follows, 0 if the correlogram is symmetric.
    cut : list of str
        The ends of `delay` at which the peak or trough continues: ``"no"``, ``"low"``, ``"high"``
        or ``"both"``. If one is cut, search with further delays.
    synchronous : ndarray of int64, shape (edges,)
    synchronous_expected : ndarray of float64, shape (edges,)
        Pairs of spikes at most 0.5 ms apart, and the number expected from lags of 0.5 to 5 ms, or
        from those behind `delay` if it is among these.
    more : dict
        Further columns of ``circuit.tsv``, by name.
    """

    unit_names: list[str]
    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    sign: list[str]
    delay: NDArray[np.float64]
    best_delay: NDArray[np.float64]
    count: NDArray[np.int64]
    expected: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    gain: NDArray[np.float64]
    gain_low: NDArray[np.float64]
    gain_high: NDArray[np.float64]
    transmission: NDArray[np.float64]
    transmission_low: NDArray[np.float64]
    transmission_high: NDArray[np.float64]
    strength: NDArray[np.float64]
    kind: list[str]
    via: list[int | None]
    mean_delay: NDArray[np.float64]
    mean_delay_low: NDArray[np.float64]
    mean_delay_high: NDArray[np.float64]
    asymmetry: NDArray[np.float64]
    cut: list[str]
    synchronous: NDArray[np.int64]
    synchronous_expected: NDArray[np.float64]
    more: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def _of(cls, unit_names: list[str], columns: dict[str, Any]) -> Circuit:
        own = {one.name for one in fields(cls)}
        more = {name: values for name, values in columns.items() if name not in own}
        known = {name: values for name, values in columns.items() if name in own}
        return cls(unit_names, more=more, **known)

    def _table(self) -> dict[str, Any]:
        names = [one.name for one in fields(self) if one.name not in ("unit_names", "more")]
        return {name: getattr(self, name) for name in names} | self.more

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[Edge]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Edge:
        i = range(len(self))[index]
        return Edge(
            self.unit_names[self.source[i]],
            self.unit_names[self.target[i]],
            self.sign[i],
            self.kind[i],
            (float(self.delay[i, 0]), float(self.delay[i, 1])),
            (float(self.best_delay[i, 0]), float(self.best_delay[i, 1])),
            int(self.count[i]),
            float(self.expected[i]),
            float(self.q[i]),
            float(self.transmission[i]),
        )

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per edge; units by their names, delays in
        milliseconds."""
        return converted(self._columns(), "dataframe")

    def _columns(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, values in self._table().items():
            if name in ("delay", "best_delay"):
                out |= {f"{name}_low": values[:, 0], f"{name}_high": values[:, 1]}
            elif name in ("source", "target", "via"):
                out[name] = [None if unit is None else self.unit_names[unit] for unit in values]
            else:
                out[name] = values
        return out

    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph`: a node per unit, by name, and an edge per significant delay.

        Edges have the columns of `to_dataframe`; ``via`` only where a unit explains them.
        """
        return converted(self, "networkx")

    def __repr__(self) -> str:
        direct = [sign for sign, kind in zip(self.sign, self.kind, strict=True) if kind == "direct"]
        return (
            f"<Circuit: {len(self):,} significant delays between {len(self.unit_names)} units, "
            f"{len(direct):,} of them direct, {direct.count('inhibitory'):,} of these inhibitory>"
        )

    def _repr_html_(self) -> str:
        order = np.argsort(-np.abs(self.transmission), kind="stable")[:_SHOWN]
        rows = [
            (
                self.unit_names[self.source[i]],
                self.unit_names[self.target[i]],
                self.sign[i],
                "{:g}-{:g}ms".format(*(1e3 * self.best_delay[i])),
                short(self.count[i]),
                short(self.gain[i]),
                short(self.transmission[i]),
                short_p(self.q[i]),
                self.kind[i],
            )
            for i in order
        ]
        headers = ["from", "to", "sign", "delay", "count", "gain", "transmission", "q", "kind"]
        return html_table(repr(self).strip("<>"), headers, rows)
