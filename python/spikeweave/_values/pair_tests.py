"""The tests of all pairs of units for a connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .conversions import converted
from .tables import counted, html_table, short, short_p

if TYPE_CHECKING:
    import pandas

_SHOWN = 10


@dataclass(frozen=True, repr=False, eq=False)
class PairTests:
    """The tests of all ordered pairs of different units for excitation and inhibition.

    The lags of each pair are counted in overlapping windows of synaptic delays, 0.5 to 8.5 ms
    (English et al. 2017, Neuron 96:505), and compared with those of spikes that are jittered
    (Amarasingham et al. 2012, J. Neurophysiol. 107:517). Listed are the pairs with ``p`` below
    `listed_below`, by ``p``.

    Attributes
    ----------
    unit_names : list of str
    source, target : ndarray of uint32, shape (pairs,)
        Indices into `unit_names`.
    sign : list of str
        ``"excitatory"`` if the target fires more often after the source, else ``"inhibitory"``.
    slow : ndarray of bool, shape (pairs,)
        Whether the delay is longer than a synaptic one, 8.5 ms. Slow delays are tested separately.
    delay : ndarray of float64, shape (pairs, 2)
        ``(low, high]`` in seconds: the window with the smallest p.
    count : ndarray of int64, shape (pairs,)
        Pairs of spikes whose lag is in this window.
    expected : ndarray of float64, shape (pairs,)
        The number expected without a connection.
    gain : ndarray of float64, shape (pairs,)
        ``count / expected``: above 1 for excitation, below 1 for inhibition.
    p : ndarray of float64, shape (pairs,)
        In [0, 1], for all windows and both signs together (Simes 1986, Biometrika 73:751),
        weighted by the edges of other pairs (Genovese, Roeder, Wasserman 2006, Biometrika 93:509).
    q : ndarray of float64, shape (pairs,)
        ``p`` corrected for all pairs that were tested (Benjamini and Hochberg 1995, J. R. Statist.
        Soc. B 57:289).
    kind : list of (str or None)
        What the pair is in the circuit, as `Circuit.kind`; None if ``q`` is not below alpha.
    tested : int
        Ordered pairs that could have become significant (Tarone 1990, Biometrics 46:515).
    possible : int
        Ordered pairs of different units.
    untested_units : list of str
        Units that are in no tested pair, because they fire too rarely.
    listed_below : float
        1 if there are at most 10,000 ordered pairs, so that all are listed; else 0.05.
    """

    unit_names: list[str]
    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    sign: list[str]
    slow: NDArray[np.bool_]
    delay: NDArray[np.float64]
    count: NDArray[np.int64]
    expected: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    kind: list[str | None]
    tested: int
    possible: int
    untested_units: list[str]
    listed_below: float

    def __len__(self) -> int:
        return len(self.source)

    @property
    def gain(self) -> NDArray[np.float64]:
        """``count / expected``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.count / self.expected

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per pair; units by their names, delays in
        milliseconds."""
        return converted(self._columns(), "dataframe")

    def _columns(self) -> dict[str, Any]:
        return {
            "source": [self.unit_names[unit] for unit in self.source],
            "target": [self.unit_names[unit] for unit in self.target],
            "sign": self.sign,
            "slow": self.slow,
            "delay_low": self.delay[:, 0],
            "delay_high": self.delay[:, 1],
            "count": self.count,
            "expected": self.expected,
            "gain": self.gain,
            "p": self.p,
            "q": self.q,
            "kind": self.kind,
        }

    def __repr__(self) -> str:
        return (
            f"<PairTests: {self.tested:,} of {counted(self.possible, 'pair')} tested, "
            f"{len(self):,} listed>"
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                self.unit_names[self.source[i]],
                self.unit_names[self.target[i]],
                self.sign[i],
                f"({self.delay[i, 0] * 1e3:g},{self.delay[i, 1] * 1e3:g}]",
                self.count[i],
                short(self.expected[i]),
                short(self.gain[i]),
                short_p(self.q[i]),
                self.kind[i] or "-",
            )
            for i in range(min(_SHOWN, len(self)))
        ]
        headers = ["from", "to", "sign", "delay (ms)", "count", "expected", "gain", "q", "kind"]
        return html_table(repr(self).strip("<>"), headers, rows)
