"""Spatio-temporal spike patterns: SPADE."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._call import Progress, given, options_in, reporting
from ._spikes import SpikeSequence, SpikesLike
from ._tables import data_frame, html_table

_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Pattern:
    """Spikes that come back together.

    Attributes
    ----------
    units : tuple of str
        Names, in the order of firing.
    lags : ndarray of float64, shape (size,)
        Seconds from the first spike; the first is 0.
    times : ndarray of float64, shape (count,)
        Of the first spikes: left edges of their bins, seconds.
    p, q : float
        Of its signature; NaN where nothing was tested.
    """

    units: tuple[str, ...]
    lags: NDArray[np.float64]
    times: NDArray[np.float64]
    p: float = float("nan")
    q: float = float("nan")

    @property
    def size(self) -> int:
        """Its number of spikes."""
        return len(self.units)

    @property
    def count(self) -> int:
        """How often it occurs."""
        return len(self.times)

    def __str__(self) -> str:
        return " ".join(
            f"{unit}+{lag * 1e3:g}ms" if lag else unit
            for unit, lag in zip(self.units, self.lags, strict=True)
        )


@dataclass(frozen=True, repr=False, eq=False)
class PatternResult(Sequence[Pattern]):
    """What `spade` found, as flat arrays; also a sequence of `Pattern`.

    Attributes
    ----------
    spikes : SpikeSequence
        What was mined.
    offsets : ndarray of int64, shape (patterns + 1,)
        Pattern ``i`` has ``units[offsets[i]:offsets[i + 1]]`` and as many `lag_bins`.
    units : ndarray of uint32
        Indices into `spikes.unit_names`, in time order.
    lag_bins : ndarray of uint32
        Bins from the first spike, which has 0.
    counts : ndarray of uint32, shape (patterns,)
        Occurrences.
    occurrence_offsets : ndarray of int64, shape (patterns + 1,)
        Pattern ``i`` has ``times[occurrence_offsets[i]:occurrence_offsets[i + 1]]``.
    windows : ndarray of uint32
        The bin in which each occurrence starts.
    times : ndarray of float64
        Left edge of that bin in seconds of the recording.
    p, q : ndarray of float64, shape (patterns,), or None
        Of the pattern's signature, and corrected for all that were tested; None without surrogates.
    intensional_stability, extensional_stability : ndarray of float64, or None
        Where they were asked for.
    signatures : dict of arrays
        All signatures found: ``size``, ``count``, ``duration`` (bins; 0 with spectrum "#"),
        ``patterns``; with surrogates also ``reached`` (surrogates with a pattern that large, that
        frequent), ``p``, ``q``, ``tested``, ``significant`` and ``reason``.
    pvalue_spectrum : dict of arrays, or None
        ``size``, ``count``, ``duration``, ``reached``, ``p`` = reached / surrogates, as published.
    funnel : list of dict
        What each step removed and left: ``step``, ``removed``, ``left``, ``why``.
    parameters : dict
        All parameters with their resolved values.
    seconds : float
        That the library took.
    version : str
        Of the library.
    """

    spikes: SpikeSequence
    offsets: NDArray[np.int64]
    units: NDArray[np.uint32]
    lag_bins: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    occurrence_offsets: NDArray[np.int64]
    windows: NDArray[np.uint32]
    times: NDArray[np.float64]
    signatures: dict[str, Any]
    funnel: list[dict[str, Any]]
    parameters: dict[str, Any]
    seconds: float
    p: NDArray[np.float64] | None = None
    q: NDArray[np.float64] | None = None
    intensional_stability: NDArray[np.float64] | None = None
    extensional_stability: NDArray[np.float64] | None = None
    pvalue_spectrum: dict[str, Any] | None = None
    version: str = field(default_factory=_core.version)

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def _names(self) -> list[str]:
        return self.spikes.unit_names

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Spikes of each pattern: shape (patterns,)."""
        return np.diff(self.offsets)

    @property
    def lags(self) -> NDArray[np.float64]:
        """`lag_bins` in seconds."""
        return self.lag_bins * self.parameters["bin"]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        names = self._names
        items = slice(self.offsets[i], self.offsets[i + 1])
        starts = slice(self.occurrence_offsets[i], self.occurrence_offsets[i + 1])
        return Pattern(
            tuple(names[unit] for unit in self.units[items]),
            self.lag_bins[items] * self.parameters["bin"],
            self.times[starts],
            float("nan") if self.p is None else float(self.p[i]),
            float("nan") if self.q is None else float(self.q[i]),
        )

    def __iter__(self) -> Iterator[Pattern]:
        return (self[i] for i in range(len(self)))

    def to_dataframe(self) -> Any:
        """A pandas data frame with a row a pattern: ``size``, ``units`` (names), ``lags`` and
        ``times`` (seconds) as tuples and arrays, ``count``, and where known ``p``, ``q`` and
        stabilities."""
        patterns = list(self)
        columns: dict[str, Any] = {
            "size": self.sizes,
            "units": [one.units for one in patterns],
            "lags": [tuple(one.lags.tolist()) for one in patterns],
            "count": self.counts,
            "times": [one.times for one in patterns],
        }
        for name in ("p", "q", "intensional_stability", "extensional_stability"):
            if getattr(self, name) is not None:
                columns[name] = getattr(self, name)
        return data_frame(columns)

    def to_elephant(self) -> list[dict[str, Any]]:
        """Patterns as Elephant's SPADE gives them, which Viziphant draws.

        Returns
        -------
        list of dict
            With keys ``itemset``, ``windows_ids``, ``neurons``, ``lags``, ``times``,
            ``signature``, ``pvalue`` (-1 where nothing was tested); lags and times are quantities.
        """
        from ._elephant_patterns import pattern_dict

        window = self.parameters["window"]
        out = []
        for i in range(len(self)):
            items = slice(self.offsets[i], self.offsets[i + 1])
            starts = slice(self.occurrence_offsets[i], self.occurrence_offsets[i + 1])
            bins = self.lag_bins[items].astype(np.int64)
            units = self.units[items].astype(np.int64)
            signature: tuple[int, ...] = (len(units), int(self.counts[i]))
            if self.parameters["spectrum"] == "3d#":
                signature += (int(bins[-1]),)
            out.append(
                pattern_dict(
                    units.tolist(),
                    bins[1:] * self.parameters["bin"],
                    self.times[starts],
                    -1 if self.p is None else self.p[i],
                    (units * window + bins).tolist(),
                    self.windows[starts].tolist(),
                    signature,
                )
            )
        return out

    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph`: an edge from each spike of a pattern to its next, with
        ``pattern`` (its index), ``delay`` in seconds and ``count``."""
        try:
            import networkx
        except ImportError:
            raise ImportError(
                "to_networkx() makes a networkx graph: pip install networkx"
            ) from None
        graph = networkx.MultiDiGraph()
        graph.add_nodes_from(self.spikes.unit_names)
        for i, pattern in enumerate(self):
            for step in range(pattern.size - 1):
                graph.add_edge(
                    pattern.units[step],
                    pattern.units[step + 1],
                    pattern=i,
                    delay=float(pattern.lags[step + 1] - pattern.lags[step]),
                    count=pattern.count,
                )
        return graph

    def to_nwb(self, target: Any) -> Any:
        """The patterns as a table ``spade_patterns`` in the processing module ``ecephys``.

        Parameters
        ----------
        target
            A `pynwb.NWBFile` to add the table to, with its units in the order of `spikes` or
            without any; or the path of a file to write with the spikes and the table.

        Returns
        -------
        pynwb.NWBFile
        """
        from ._nwb_results import patterns_to_nwb

        return patterns_to_nwb(self, target)

    def __repr__(self) -> str:
        largest = int(self.sizes.max()) if len(self) else 0
        tested = self.parameters["surrogates"]
        how = f"significant against {tested} surrogates" if tested else "not tested"
        return f"<PatternResult: {len(self)} patterns of up to {largest} spikes, {how}>"

    def _repr_html_(self) -> str:
        order = np.lexsort((-self.counts.astype(np.int64), -self.sizes))[:_SHOWN]
        rows = []
        for i in order:
            one = self[int(i)]
            rows.append((one, one.size, one.count, f"{one.p:.3g}", f"{one.q:.3g}"))
        headers = ["pattern", "spikes", "occurrences", "p", "q"]
        return html_table(repr(self).strip("<>"), headers, rows)


def spade(
    spikes: SpikesLike,
    *,
    bin: Any = None,
    window: int | None = None,
    t_start: Any = None,
    t_stop: Any = None,
    epochs: ArrayLike | None = None,
    separation: Any = None,
    min_occ: int | str | Mapping[int, int] | None = None,
    min_spikes: int | None = None,
    max_spikes: int | None = None,
    min_neu: int | None = None,
    rules: Sequence[Mapping[str, int]] | None = None,
    max_occ: int | None = None,
    keep_window_subsets: bool | None = None,
    strategy: str | None = None,
    surrogates: int | None = None,
    surrogate_method: str | None = None,
    dither: Any = None,
    refractory: Any = None,
    edges: str | None = None,
    sliding: bool | None = None,
    trial_length: Any = None,
    trial_separation: Any = None,
    isi_truncation: Any = None,
    isi_bins: int | None = None,
    isi_sigma: Any = None,
    isi_alternate: bool | None = None,
    isi_sqrt: bool | None = None,
    isi_cutoff: bool | None = None,
    isi_refractory: Any = None,
    isi_steps: str | None = None,
    spectrum: str | None = None,
    alpha: float | None = None,
    correction: str | None = None,
    reduce: Sequence[int] | None = None,
    stability: int | tuple[float, float] | None = None,
    stability_threshold: tuple[float, float] | None = None,
    compat: str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    device: str | None = None,
    progress: Progress = None,
) -> PatternResult:
    """Finds spatio-temporal spike patterns (SPADE) and tests them by surrogates.

    Closed patterns of spikes at fixed lags in a sliding window, tested by their signatures against
    surrogates, reduced to those that no other explains. What ``spikeweave spade`` does on the
    command line; None is the library's default. `spikeweave.elephant` has the same behind the
    functions of `elephant.spade`.

    Parameters
    ----------
    spikes
        As `SpikeSequence.of` takes them. An Elephant ``BinnedSpikeTrain`` is mined in its own bins.
    bin
        Width of a bin; 5 ms by default. Times are in seconds, texts such as ``"5ms"``, or
        quantities.
    window
        Longest pattern, in bins; 20 by default.
    t_start, t_stop
        What is earlier or later is left out.
    epochs : array of shape (epochs, 2)
        Begin and end of each in seconds: only these are mined, one after another, and each is a
        trial.
    separation
        Between two epochs; two windows by default.
    min_occ
        Least occurrences of a pattern; a mapping from sizes to numbers holds for each size up to
        the next; ``"auto"``, the default, estimates them from the rates (Stella et al. 2022).
    min_spikes, max_spikes
        Spikes of a pattern; 2 and no bound by default.
    min_neu
        Different units of a pattern; 1 by default, with ``"auto"`` as many as spikes.
    rules
        In place of these: mappings with ``min_occ``, ``min_spikes``, ``max_spikes``, ``min_neu``;
        a pattern is wanted when one of them takes it.
    max_occ
        Patterns that occur more often are left out; no bound by default.
    keep_window_subsets
        Keep what is a part of a longer pattern that begins earlier. By default not.
    strategy
        ``"automatic"`` (the default), ``"first-bin"`` or ``"fp-growth"``; the answer is the same.
    surrogates
        How many; with 0, the default, nothing is tested.
    surrogate_method
        A method of docs/algorithms/surrogates.md. By default ``"trial_shifting"`` where there are
        trials, else ``"dither_spikes_with_refractory_period"``.
    dither
        How far a surrogate moves a spike; 15 ms by default.
    refractory, edges, sliding, trial_length, trial_separation
        Of single methods: dead time; ``"drop"`` or ``"clamp"``; of bin shuffling; the recording is
        trials of this length, so far apart.
    isi_truncation, isi_bins, isi_sigma, isi_alternate, isi_sqrt, isi_cutoff, isi_refractory, \
isi_steps
        Of the methods by intervals, with Elephant's defaults.
    spectrum
        ``"#"`` (the default): signatures are (size, count); ``"3d#"``: with the duration.
    alpha
        Significance level; 0.01 by default.
    correction
        ``"fdr_bh"`` by default; the names of statsmodels.
    reduce
        ``(h, k, l)`` of the pattern set reduction; by default nothing is reduced.
    stability
        Number of subsets, or ``(delta, epsilon)``, to compute stabilities by.
    stability_threshold
        Keep patterns of which one stability (intensional, extensional) is above this.
    compat
        ``"elephant"`` or ``"elephant-ms"`` (trains in milliseconds) decides as Elephant does where
        it differs from what is right. ``"none"`` by default.
    seed
        Of surrogates and stabilities; 0 by default.
    threads, progress
        As in `episodes`.
    device
        ``"cpu"`` or ``"automatic"``: patterns are mined on the CPU.

    Returns
    -------
    PatternResult

    Raises
    ------
    TypeError, ValueError
        Naming the argument, what was found and what was expected.

    Warns
    -----
    UserWarning
        If spikes share a bin or lie in none, or surrogates are too few.

    References
    ----------
    E. Torre et al., Front. Comput. Neurosci. 7:132 (2013), doi:10.3389/fncom.2013.00132;
    P. Quaglio et al., Front. Comput. Neurosci. 11:41 (2017), doi:10.3389/fncom.2017.00041;
    A. Stella et al., BioSystems 185:104022 (2019), doi:10.1016/j.biosystems.2019.104022;
    A. Stella et al., eNeuro 9(3) (2022), doi:10.1523/ENEURO.0505-21.2022.

    Examples
    --------
    >>> import spikeweave
    >>> made = spikeweave.simulate.patterns(units=30, patterns=(5,), seed=1)
    >>> found = spikeweave.spade(made.spikes, surrogates=200, reduce=(0, 0, 0), seed=1)
    >>> print(found[0])
    n0 n1+5ms n2+10ms n3+15ms n4+20ms
    """
    options = options_in(locals(), "spikes", "progress")
    sequence = SpikeSequence.of(spikes)
    if hasattr(spikes, "bin_size"):
        own = _core.seconds(spikes.bin_size)
        exact = float(spikes.bin_size.rescale("us"))
        if abs(exact - own * 1e6) > 1e-6 * exact:
            raise ValueError(
                f"spikes: expected bins of whole microseconds, found {exact} us "
                "(spikeweave.elephant mines any; or give the trains and bin=)"
            )
        if bin is not None and _core.seconds(bin) != own:
            raise ValueError(f"bin: expected {own:g} s, as the trains are binned, found {bin}")
        options["bin"] = own
    with reporting(progress) as callback:
        found = _core.spade(
            sequence._core,
            {**options, **given(progress=callback)},
        )
    for warning in found["warnings"]:
        warnings.warn(warning, stacklevel=2)
    signatures = found["signatures"]
    for name in ("tested", "significant"):
        if name in signatures:
            signatures[name] = signatures[name].astype(bool)
    return PatternResult(
        spikes=sequence,
        **found["table"],
        signatures=signatures,
        funnel=found["funnel"],
        parameters=found["facts"],
        seconds=found["seconds"],
        pvalue_spectrum=found.get("pvalue_spectrum"),
    )
