"""Spatio-temporal spike patterns: SPADE."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._adapters.inputs import epochs_of
from .._adapters.progress import Progress, reporting
from .._values.arguments import given, options_in
from .._values.indexing import Several, Single, chosen, ragged
from .._values.spikes import SpikeSequence
from .._values.tables import data_frame, html_table
from .._values.types import (
    Bins,
    Compat,
    Edges,
    Epochs,
    SpadeCorrection,
    SpadeStrategy,
    Spectrum,
    SpikesLike,
    Steps,
    SurrogateMethod,
    Time,
)

if TYPE_CHECKING:
    import pandas

_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Pattern:
    """A spike pattern that repeats.

    Attributes
    ----------
    units : tuple of str
        Names, in the order of firing.
    lags : ndarray of float64, shape (size,)
        Seconds from the first spike; the first is 0.
    times : ndarray of float64, shape (count,)
        Times of the first spikes: left edges of their bins, in seconds.
    p, q : float
        Those of its signature; NaN if not tested.
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
    """The result of `spade`, as flat arrays; also a sequence of `Pattern`.

    ``found[3]`` is a `Pattern`; a slice, an array of indices or a mask, such as
    ``found[found.sizes > 3]``, selects part of the result.

    Attributes
    ----------
    spikes : SpikeSequence
        The spikes that were mined.
    offsets : ndarray of int64, shape (patterns + 1,)
        Pattern ``i`` has ``units[offsets[i]:offsets[i + 1]]`` and as many `lag_bins`.
    units : ndarray of uint32
        Indices into `spikes.unit_names`, in time order.
    lag_bins : ndarray of int64
        Bins from the first spike, which has 0.
    counts : ndarray of int64, shape (patterns,)
        Occurrences.
    occurrence_offsets : ndarray of int64, shape (patterns + 1,)
        Pattern ``i`` has ``times[occurrence_offsets[i]:occurrence_offsets[i + 1]]``.
    windows : ndarray of int64
        The bin in which each occurrence starts.
    times : ndarray of float64
        Left edge of that bin in seconds of the recording.
    p, q : ndarray of float64, shape (patterns,), or None
        p of the pattern's signature, and corrected for all signatures tested; None without
        surrogates.
    intensional_stability, extensional_stability : ndarray of float64, or None
        If requested.
    signatures : dict of arrays
        All signatures found: ``size``, ``count``, ``duration`` (bins; 0 with spectrum "#"),
        ``patterns``; with surrogates also ``reached`` (surrogates with a pattern that large, that
        frequent), ``p``, ``q``, ``tested``, ``significant`` and ``reason``.
    pvalue_spectrum : dict of arrays, or None
        ``size``, ``count``, ``duration``, ``reached``, ``p`` = reached / surrogates, as published.
    funnel : list of dict
        Number of patterns removed by each step and left after it: ``step``, ``removed``, ``left``,
        ``why``.
    parameters : dict
        The arguments of `spade` with their resolved values, the thresholds as ``rules``:
        ``spade(found.spikes, **found.parameters)`` repeats the run.
    input : dict
        Input of the search: ``origin`` (left edge of the first bin, seconds), ``beginning``
        (the same in words), ``trials``, ``spikes``, ``clipped`` (spikes that share a bin with
        another of their unit), ``outside`` (in no bin), ``bins``, ``windows``.
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
    lag_bins: NDArray[np.int64]
    counts: NDArray[np.int64]
    occurrence_offsets: NDArray[np.int64]
    windows: NDArray[np.int64]
    times: NDArray[np.float64]
    signatures: dict[str, Any]
    funnel: list[dict[str, Any]]
    parameters: dict[str, Any]
    input: dict[str, Any]
    seconds: float
    p: NDArray[np.float64] | None = None
    q: NDArray[np.float64] | None = None
    intensional_stability: NDArray[np.float64] | None = None
    extensional_stability: NDArray[np.float64] | None = None
    pvalue_spectrum: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
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

    @overload
    def __getitem__(self, index: Single) -> Pattern: ...
    @overload
    def __getitem__(self, index: Several) -> PatternResult: ...
    def __getitem__(self, index: Single | Several) -> Pattern | PatternResult:
        some = chosen(index, len(self))
        if some is not None:
            return self._only(some)
        i = range(len(self))[index]  # type: ignore[index]
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

    def _only(self, some: NDArray[np.int64]) -> PatternResult:
        offsets, items = ragged(self.offsets, some)
        occurrence_offsets, starts = ragged(self.occurrence_offsets, some)
        if not len(self.windows):  # nor times: occurrences were not asked for
            starts = np.empty(0, dtype=np.int64)

        def part(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
            return None if values is None else values[some]

        return replace(
            self,
            offsets=offsets,
            units=self.units[items],
            lag_bins=self.lag_bins[items],
            counts=self.counts[some],
            occurrence_offsets=occurrence_offsets,
            windows=self.windows[starts],
            times=self.times[starts],
            p=part(self.p),
            q=part(self.q),
            intensional_stability=part(self.intensional_stability),
            extensional_stability=part(self.extensional_stability),
        )

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per pattern: ``size``, ``units`` (names), ``lags`` and
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
        """Patterns in the format of Elephant's SPADE, which Viziphant draws.

        Returns
        -------
        list of dict
            With keys ``itemset``, ``windows_ids``, ``neurons``, ``lags``, ``times``,
            ``signature``, ``pvalue`` (-1 if not tested); lags and times are quantities.
        """
        from .._adapters.elephant import pattern_dict

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

    def to_nwb(self, target: Any, *, overwrite: bool = False, append: bool = False) -> Any:
        """The patterns as a table ``spade_patterns`` in the processing module ``ecephys``.

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
        from .._adapters.nwb_results import patterns_to_nwb

        return patterns_to_nwb(self, target, overwrite, append)

    def __repr__(self) -> str:
        largest = int(self.sizes.max()) if len(self) else 0
        tested = self.parameters["surrogates"]
        found = f"{len(self)} pattern{'' if len(self) == 1 else 's'}" if len(self) else "no pattern"
        sizes = f" of up to {largest} spikes" if len(self) else ""
        how = f"{found} significant against {tested} surrogates" if tested else f"{found}"
        return f"<PatternResult: {how}{sizes}{'' if tested else ', not tested'}>"

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
    bin: Time | None = None,
    window: Bins = 20,
    t_start: Time | None = None,
    t_stop: Time | None = None,
    epochs: Epochs | None = None,
    separation: Time | None = None,
    min_occ: int | Literal["auto"] | Mapping[int, int] | None = "auto",
    min_spikes: int | None = None,
    max_spikes: int | None = None,
    min_neu: int | None = None,
    rules: Sequence[Mapping[str, int]] | None = None,
    max_occ: int | None = None,
    keep_window_subsets: bool = False,
    strategy: SpadeStrategy = "automatic",
    surrogates: int = 0,
    surrogate_method: SurrogateMethod | None = None,
    dither: Time = 0.015,
    refractory: Time | None = None,
    edges: Edges = "drop",
    sliding: bool = False,
    trial_length: Time | None = None,
    trial_separation: Time = 0.0,
    isi_truncation: Time = 0.1,
    isi_bins: int = 100,
    isi_sigma: Time = 0.002,
    isi_alternate: bool = True,
    isi_sqrt: bool = False,
    isi_cutoff: bool = True,
    isi_refractory: Time = 0.004,
    isi_steps: Steps = "window",
    spectrum: Spectrum = "#",
    alpha: float = 0.01,
    correction: SpadeCorrection = "fdr_bh",
    reduce: Sequence[int] | None = None,
    stability: int | tuple[float, float] | None = None,
    stability_threshold: tuple[float, float] | None = None,
    compat: Compat = "none",
    seed: int = 0,
    threads: int = 0,
    device: Literal["cpu", "automatic"] = "automatic",
    progress: Progress = None,
) -> PatternResult:
    """Finds spatio-temporal spike patterns (SPADE) and tests them by surrogates.

    Closed patterns of spikes at fixed lags in a sliding window, tested by their signatures against
    surrogates, and reduced to those that no other explains, as by ``spikeweave spade`` on the
    command line. `spikeweave.elephant` offers this under the functions of `elephant.spade`.

    Parameters
    ----------
    spikes
        Spikes in any form that `SpikeSequence.of` accepts. An Elephant ``BinnedSpikeTrain`` is
        mined in its own bins.
    bin
        Width of a bin; by default 5 ms, for binned trains their bin. Times are in seconds, texts
        such as ``"5ms"``, or quantities.
    window
        Longest pattern: a number of bins, or a text or quantity of time that is a whole number of
        bins.
    t_start, t_stop
        Earlier or later spikes are ignored.
    epochs : array of shape (epochs, 2)
        Beginning and end of each in seconds: only these are mined, one after another, and each is a
        trial. Also a pynapple ``IntervalSet``, a neo ``Epoch``, or a table with columns ``start``
        and ``end``, or ``start_time`` and ``stop_time``.
    separation
        Gap between two epochs; two windows by default.
    min_occ
        Minimum number of occurrences; a mapping from sizes to numbers holds for each size up to
        the next; ``"auto"`` estimates them from the rates (Stella et al. 2022).
    min_spikes, max_spikes
        Minimum and maximum number of spikes; 2 and unlimited by default.
    min_neu
        Minimum number of different units; 1 by default, with ``"auto"`` the number of spikes.
    rules
        Instead of these: mappings with ``min_occ``, ``min_spikes``, ``max_spikes``, ``min_neu``;
        a pattern is reported if it meets one of them.
    max_occ
        Patterns that occur more often are omitted; unlimited by default.
    keep_window_subsets
        Keep patterns that are part of a longer pattern that begins earlier.
    strategy
        ``"automatic"``, ``"first-bin"`` or ``"fp-growth"``; the result is the same.
    surrogates
        Number of surrogates; 0: nothing is tested.
    surrogate_method
        A method of docs/algorithms/surrogates.md. By default ``"trial_shifting"`` if there are
        trials, else ``"dither_spikes_with_refractory_period"``.
    dither
        How far surrogates may move spikes.
    refractory, edges, sliding, trial_length, trial_separation
        Options of single methods: dead time, by default one bin; ``"drop"`` or ``"clamp"``; sliding
        blocks of bin shuffling; length of trials and the gap between them.
    isi_truncation, isi_bins, isi_sigma, isi_alternate, isi_sqrt, isi_cutoff, isi_refractory, \
isi_steps
        Options of the interval-based methods, with Elephant's defaults.
    spectrum
        ``"#"``: signatures are (size, count); ``"3d#"``: with the duration.
    alpha
        Significance level.
    correction
        Multiple-testing correction over the signatures, named as in statsmodels.
    reduce
        ``(h, k, l)`` of the pattern set reduction; by default nothing is reduced.
    stability
        Number of subsets, or ``(delta, epsilon)``, used to compute stabilities.
    stability_threshold
        Keep patterns with at least one stability (intensional, extensional) above this.
    compat
        ``"elephant"`` or ``"elephant-ms"`` (trains in milliseconds) reproduces Elephant where it
        deviates from the correct result.
    seed
        Random seed of surrogates and stabilities.
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
        As listed in `PatternResult.warnings`: spikes that share a bin or lie in none, too few
        surrogates.

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
    options = options_in(locals() | {"epochs": epochs_of(epochs)}, "spikes", "progress")
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
    for warning in found["warnings"][found["told"] :]:
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
        parameters=found["parameters"],
        input=found["input"],
        seconds=found["seconds"],
        warnings=found["warnings"],
        pvalue_spectrum=found.get("pvalue_spectrum"),
    )
