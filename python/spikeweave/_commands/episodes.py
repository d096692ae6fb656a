"""Frequent serial episodes: chains of units that fire one after another at repeated delays."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._adapters.progress import Progress, reporting
from .._values.circuit import Circuit
from .._values.indexing import Several, Single, chosen, ragged
from .._values.spikes import SpikeSequence
from .._values.tables import data_frame, html_table
from .._values.types import SpikesLike
from .described import described

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from .._values.options import CountEpisodesOptions, EpisodesOptions

_SHOWN = 10


def _delay_text(low: float, high: float) -> str:
    return f"({low * 1e3:g},{high * 1e3:g}] ms"


@dataclass(frozen=True)
class Episode:
    """A chain of units with a delay interval on each step.

    Attributes
    ----------
    units : tuple of str
        Names, in the order of firing.
    delays : tuple of (float, float)
        ``(low, high)`` of each step in seconds; a delay ``d`` fits if ``low < d <= high``.
    count : int or None
        The largest number of occurrences that do not overlap.
    expected, p, q, strength : float
        As in `EpisodeResult`; NaN if not tested.
    """

    units: tuple[str, ...]
    delays: tuple[tuple[float, float], ...]
    count: int | None = None
    expected: float = float("nan")
    p: float = float("nan")
    q: float = float("nan")
    strength: float = float("nan")

    @property
    def size(self) -> int:
        """Its number of units."""
        return len(self.units)

    def __str__(self) -> str:
        steps = (
            f" →{_delay_text(*delay)}→ {unit}"
            for delay, unit in zip(self.delays, self.units[1:], strict=True)
        )
        return self.units[0] + "".join(steps)


@dataclass(frozen=True, repr=False, eq=False)
class EpisodeResult(Sequence[Episode]):
    """The result of `episodes`, as flat arrays; also a sequence of `Episode`.

    ``found[3]`` is an `Episode`; a slice, an array of indices or a mask, such as
    ``found[found.q < 0.01]``, selects part of the result.

    Attributes
    ----------
    spikes : SpikeSequence
        The spikes that were mined.
    offsets : ndarray of int64, shape (episodes + 1,)
        Episode ``i`` has ``units[offsets[i]:offsets[i + 1]]``.
    units : ndarray of uint32
        Indices into `spikes.unit_names`.
    delays : ndarray of float64, shape (steps, 2)
        ``(low, high]`` in seconds of each step, those of episode ``i`` from ``offsets[i] - i`` on.
    counts : ndarray of int64, shape (episodes,)
        The largest number of occurrences that do not overlap; at least `threshold`.
    expected : ndarray of float64, shape (episodes,)
        Mean count under the null of `test`, or over the surrogates. Where a step of a longer
        episode is likely by chance, it is estimated from that step.
    p, q : ndarray of float64, shape (episodes,)
        Probability of the count under the same null, and corrected for all candidates of the size;
        with surrogates `q` is the larger of ``tail_q`` and their rank ``p``.
    strength : ndarray of float64, shape (episodes,)
        Probability of each step that would give this count on average, in [0, 1].
    by_surrogates : dict or None
        For runs with surrogates: arrays ``mean_count``, ``p``, ``q`` (by rank), ``tail_p``,
        ``tail_q`` (by a renewal model with their mean).
    circuit : Circuit
        The significant delays between pairs of units.
    chains : ndarray of int64
        Indices of the episodes that are significant chains along the circuit, longest first.
    levels : list of dict
        For each level of the search: size, candidates, frequent, seconds.
    threshold : int
        Minimum count of a frequent episode.
    parameters : dict
        The arguments of `episodes` with their resolved values, among these the threshold as
        ``min_count`` and the strategy and device that ran: ``episodes(found.spikes,
        **found.parameters)`` repeats the run.
    warnings : list of str
        Warnings of the run.
    seconds : float
        Time taken by the library.
    version : str
        Version of the library.
    """

    spikes: SpikeSequence
    offsets: NDArray[np.int64]
    units: NDArray[np.uint32]
    delays: NDArray[np.float64]
    counts: NDArray[np.int64]
    expected: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    strength: NDArray[np.float64]
    by_surrogates: dict[str, NDArray[np.float64]] | None
    circuit: Circuit
    chains: NDArray[np.int64]
    levels: list[dict[str, Any]]
    threshold: int
    parameters: dict[str, Any]
    seconds: float
    warnings: list[str] = field(default_factory=list)
    version: str = field(default_factory=_core.version)

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def _names(self) -> list[str]:
        return self.spikes.unit_names

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Units of each episode: shape (episodes,)."""
        return np.diff(self.offsets)

    @overload
    def __getitem__(self, index: Single) -> Episode: ...
    @overload
    def __getitem__(self, index: Several) -> EpisodeResult: ...
    def __getitem__(self, index: Single | Several) -> Episode | EpisodeResult:
        some = chosen(index, len(self))
        if some is not None:
            return self._only(some)
        i = range(len(self))[index]  # type: ignore[index]
        names = self._names
        units, delays = self._parts(i)
        return Episode(
            tuple(names[unit] for unit in units),
            tuple((float(low), float(high)) for low, high in delays),
            int(self.counts[i]),
            float(self.expected[i]),
            float(self.p[i]),
            float(self.q[i]),
            float(self.strength[i]),
        )

    def __iter__(self) -> Iterator[Episode]:
        return (self[i] for i in range(len(self)))

    def _only(self, some: NDArray[np.int64]) -> EpisodeResult:
        offsets, nodes = ragged(self.offsets, some)
        # An episode has one delay fewer than units.
        _, steps = ragged(self.offsets - np.arange(len(self) + 1), some)
        place = {int(index): new for new, index in reversed(list(enumerate(some)))}
        by = self.by_surrogates
        return replace(
            self,
            offsets=offsets,
            units=self.units[nodes],
            delays=self.delays[steps],
            counts=self.counts[some],
            expected=self.expected[some],
            p=self.p[some],
            q=self.q[some],
            strength=self.strength[some],
            by_surrogates=None if by is None else {name: by[name][some] for name in by},
            chains=np.array([place[i] for i in self.chains.tolist() if i in place], np.int64),
        )

    def _parts(self, i: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        begin, end = self.offsets[i], self.offsets[i + 1]
        return self.units[begin:end], self.delays[begin - i : end - i - 1]

    def occurrences(self, index: int) -> NDArray[np.float64]:
        """When an episode occurs.

        If several occurrences end at the same spike, the one that starts latest is returned.

        Parameters
        ----------
        index
            Index of the episode.

        Returns
        -------
        ndarray of float64, shape (count, size)
            The time of each spike of each occurrence, seconds.
        """
        i = range(len(self))[index]
        units, delays = self._parts(i)
        return _core.find_occurrences(
            self.spikes._core,
            np.array([0, len(units)], dtype=np.int64),
            np.ascontiguousarray(units),
            np.ascontiguousarray(delays),
            self.parameters["ties"],
        )

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per episode: ``size``, ``units`` and ``delays`` as
        tuples, ``count``, ``expected``, ``p``, ``q``, ``strength``."""
        episodes = list(self)
        return data_frame(
            {
                "size": self.sizes,
                "units": [one.units for one in episodes],
                "delays": [one.delays for one in episodes],
                "count": self.counts,
                "expected": self.expected,
                "p": self.p,
                "q": self.q,
                "strength": self.strength,
            }
        )

    def to_elephant(self, indices: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """Patterns in the format of Elephant's SPADE, which Viziphant draws.

        Lags are the middle of each delay interval.

        Parameters
        ----------
        indices
            Which episodes; by default those of two units or more.

        Returns
        -------
        list of dict
            With keys ``itemset``, ``windows_ids``, ``neurons``, ``lags``, ``times``,
            ``signature``, ``pvalue``; lags and times are quantities.
        """
        from .._adapters.elephant import pattern_dict

        if indices is None:
            indices = np.flatnonzero(self.sizes > 1).tolist()
        out = []
        for i in indices:
            units, delays = self._parts(range(len(self))[i])
            lags = np.cumsum(delays.mean(axis=1))
            times = self.occurrences(i)[:, 0]
            out.append(pattern_dict(units.tolist(), lags, times, self.p[i]))
        return out

    def to_networkx(self) -> Any:
        """The circuit as a `networkx.MultiDiGraph`; see `Circuit.to_networkx`."""
        return self.circuit.to_networkx()

    def to_nwb(self, target: Any, *, overwrite: bool = False, append: bool = False) -> Any:
        """The episodes as a table ``episodes`` in the processing module ``ecephys``.

        Parameters
        ----------
        target
            A `pynwb.NWBFile` to add the table to, or the path of a file. Units of `spikes` are
            those of the same name in the file's table of units; a file without such a table gets
            them.
        overwrite, append
            Whether to replace an existing file, or to add the table to it.

        Returns
        -------
        pynwb.NWBFile
            Closed if a path was given.

        Raises
        ------
        FileExistsError
            If there is a file at the path, and neither `overwrite` nor `append` is given.
        ValueError
            If the file's table of units lacks a unit of `spikes`.
        """
        from .._adapters.nwb_results import episodes_to_nwb

        return episodes_to_nwb(self, target, overwrite, append)

    def __repr__(self) -> str:
        longest = int(self.sizes.max()) if len(self) else 0
        return (
            f"<EpisodeResult: {len(self)} frequent episodes of up to {longest} units "
            f"(count >= {self.threshold}), {len(self.circuit)} significant delays, "
            f"{len(self.chains)} chains>"
        )

    def _repr_html_(self) -> str:
        chosen = self.chains[:_SHOWN] if len(self.chains) else range(min(_SHOWN, len(self)))
        rows = []
        for i in chosen:
            one = self[int(i)]
            rows.append((one, one.count, f"{one.expected:.3g}", f"{one.q:.2g}"))
        return html_table(repr(self).strip("<>"), ["episode", "count", "expected", "q"], rows)


@described(_core.episodes_options)
def episodes(
    spikes: SpikesLike, *, progress: Progress = None, **options: Unpack[EpisodesOptions]
) -> EpisodeResult:
    """Finds chains of units that fire one after another at repeated delays.

    Frequent serial episodes with a delay interval on every step, counted without overlap and mined
    level by level: complete, and independent of the order and names of the units. Each is tested
    against jittered spikes, or against surrogates, and the significant pairs are joined to a
    circuit, as by ``spikeweave episodes`` on the command line.

    Times are in seconds, texts such as ``"5ms"``, or quantities. `delays` is a list of pairs of
    times ``(low, high)``, of texts such as ``"4-6ms"``, or one of these. The same seed gives the
    same result on any number of threads.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    {options}
    progress
        True, False, or a function of (task, done, total). By default a bar on a terminal and in a
        notebook.

    Returns
    -------
    EpisodeResult

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected.
    DeviceError
        If a GPU is missing or has too little memory.

    Warns
    -----
    UserWarning
        As listed in `EpisodeResult.warnings`.

    References
    ----------
    Y. Cao, D. Patnaik, S. Ponce, J. Archuleta, P. Butler, W. Feng, N. Ramakrishnan, "Parallel
    Mining of Neuronal Spike Streams on Graphics Processing Units", Int. J. Parallel Programming
    40 (2012); K. P. Unnikrishnan, P. S. Sastry et al. (arXiv:0808.3511) for the significance.

    Examples
    --------
    >>> import spikeweave
    >>> sym26 = spikeweave.simulate.sym26(seed=1)
    >>> found = spikeweave.episodes(sym26.spikes, delays="4-6ms", min_count=200)
    >>> print(found[found.chains[1]])
    n0 →(4,6] ms→ n1 →(4,6] ms→ n2 →(4,6] ms→ n3
    >>> len(found.circuit)
    10
    """
    sequence = SpikeSequence.of(spikes)
    with reporting(progress) as callback:
        found = _core.find_episodes(sequence._core, {**options, "progress": callback})
    for warning in found["warnings"][found["told"] :]:
        warnings.warn(warning, stacklevel=2)
    circuit = found["circuit"]
    chains = circuit.pop("chains")
    return EpisodeResult(
        spikes=sequence,
        **found["table"],
        **found["assessed"],
        by_surrogates=found.get("by_surrogates"),
        circuit=Circuit(sequence.unit_names, **circuit),
        chains=chains,
        levels=found["levels"],
        threshold=found["threshold"],
        parameters=found["parameters"],
        seconds=found["seconds"],
        warnings=found["warnings"],
    )


@described(_core.count_episodes_options)
def count_episodes(
    spikes: SpikesLike,
    episodes: Sequence[Any],
    *,
    progress: Progress = None,
    **options: Unpack[CountEpisodesOptions],
) -> NDArray[np.int64]:
    """Counts given episodes without overlap.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts.
    episodes
        Each an `Episode`, or ``(units, delays)``: names of units, or their indices, and for each
        step ``(low, high]`` in seconds.
    {options}
    progress
        As in `episodes`.

    Returns
    -------
    ndarray of int64, shape (episodes,)

    Raises
    ------
    TypeError, ValueError
        Naming what was found and what was expected.

    Examples
    --------
    >>> import spikeweave
    >>> spikes = spikeweave.SpikeSequence.of({"A": [0.100, 0.200], "B": [0.105, 0.205]})
    >>> spikeweave.count_episodes(spikes, [(["A", "B"], [(0.004, 0.006)])]).tolist()
    [2]
    """
    sequence = SpikeSequence.of(spikes)
    offsets, units, delays = _flat(episodes, sequence.unit_names)
    with reporting(progress) as callback:
        return _core.count_episodes(
            sequence._core,
            offsets,
            units,
            delays,
            {**options, "progress": callback},
        )


def episode_strategies(device: Literal["cpu", "cuda"] = "cpu") -> list[str]:
    """Lists the counting strategies of this build; all are exact.

    Parameters
    ----------
    device
        ``"cpu"`` or ``"cuda"``; a GPU is not required.

    Returns
    -------
    list of str
    """
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device: expected 'cpu' or 'cuda', found {device!r}")
    return _core.episode_strategies(device == "cuda")


def _flat(
    episodes: Sequence[Any], names: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64]]:
    index = {name: i for i, name in enumerate(names)}
    offsets, units, delays = [0], [], []
    for number, one in enumerate(episodes):
        try:
            nodes, steps = (one.units, one.delays) if isinstance(one, Episode) else one
            nodes = list(nodes)
            steps = [(_core.seconds(low), _core.seconds(high)) for low, high in steps]
        except (TypeError, ValueError):
            raise TypeError(
                f"episodes: number {number}: expected (units, delays), found {one!r}"
            ) from None
        if len(steps) != len(nodes) - 1:
            raise ValueError(
                f"episodes: number {number}: found {len(steps)} delays, "
                f"expected {len(nodes) - 1} for {len(nodes)} units"
            )
        for node in nodes:
            unit = index.get(node) if isinstance(node, str) else int(node)
            if unit is None or not 0 <= unit < len(names):
                raise ValueError(f"episodes: number {number}: there is no unit {node!r}")
            units.append(unit)
        delays.extend(steps)
        offsets.append(len(units))
    return (
        np.array(offsets, dtype=np.int64),
        np.array(units, dtype=np.uint32),
        np.array(delays, dtype=np.float64).reshape(-1, 2),
    )
