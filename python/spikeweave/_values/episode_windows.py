"""Frequent serial episodes in windows of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .circuit import Circuit
from .conversions import converted
from .episode_rows import of_table
from .episodes import EpisodeResult
from .page import HasReport
from .spikes import SpikeSequence
from .tables import counted, short, short_span

if TYPE_CHECKING:
    import pandas

_TESTS = ("expected", "p", "q", "strength")


@dataclass(frozen=True, repr=False, eq=False)
class WindowedEpisodeResult(HasReport, Sequence[EpisodeResult]):
    """The result of `windows`; also a sequence of an `EpisodeResult` a window.

    ``found[3]`` is what `episodes` finds in a recording that has the spikes of this window and its
    length. Its ``q`` has the surrogates in it, if there are any, but ``by_surrogates`` and
    ``pairs`` are None, and its ``levels`` have no times.

    Attributes
    ----------
    spikes : SpikeSequence
        The spikes of the whole recording.
    parameters : dict
        The arguments of `windows` with their resolved values: ``windows(found.spikes,
        **found.parameters)`` repeats the run.
    warnings : list of str
        Warnings of the run.
    seconds : float
        Time taken by the library.
    version : str
        Version of the library.
    """

    spikes: SpikeSequence
    seconds: float
    _windows: list[dict[str, Any]]
    _changes: dict[str, Any] | None = None

    def _column(self, name: str, kind: type) -> NDArray[Any]:
        return np.array([one[name] for one in self._windows], kind)

    @property
    def number(self) -> NDArray[np.int64]:
        """Numbers of the windows: window ``k`` begins at ``k`` times the hop."""
        return self._column("number", np.int64)

    @property
    def begin(self) -> NDArray[np.float64]:
        """Begins of the windows in seconds."""
        return self._column("begin", np.float64)

    @property
    def end(self) -> NDArray[np.float64]:
        """Ends of the windows in seconds; a spike there is in the next window."""
        return self._column("end", np.float64)

    @property
    def spike_count(self) -> NDArray[np.int64]:
        """Spikes of each window."""
        return self._column("spike_count", np.int64)

    @property
    def stability(self) -> NDArray[np.float64]:
        """The similarity of the circuit of each window to that of the last one before.

        0 is the similarity that the roles of the units explain, 1 is the same circuit. NaN if no
        window ends before this one begins, or one of both has no edge
        (docs/algorithms/circuit-stability.md).
        """
        return self._stabilities("stability")

    def _stabilities(self, name: str) -> NDArray[np.float64]:
        each = [one["stability"] or {} for one in self._windows]
        return np.array([one.get(name, np.nan) for one in each], np.float64)

    def _called(self) -> str:
        return "windows(spikes"

    def __getstate__(self) -> dict[str, Any]:
        windows = [one | {"report": self[i]._copied()} for i, one in enumerate(self._windows)]
        return super().__getstate__() | {"_windows": windows}

    def __len__(self) -> int:
        return len(self._windows)

    @overload
    def __getitem__(self, index: int) -> EpisodeResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[EpisodeResult]: ...
    def __getitem__(self, index: int | slice) -> EpisodeResult | list[EpisodeResult]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        one = self._windows[index]
        circuit = {name: values for name, values in one["circuit"].items() if name != "chains"}
        return EpisodeResult(
            spikes=self._spikes_of(one),
            **{name: one[name] for name in ("offsets", "units", "delays", "counts", *_TESTS)},
            by_surrogates=None,
            search=None,
            circuit=Circuit._of(self.spikes.unit_names, circuit),
            chains=one["circuit"]["chains"],
            levels=one["levels"],
            threshold=one["threshold"],
            _report=one["report"],
            parameters=self._parameters_of(one),
            seconds=float("nan"),
            warnings=self.warnings,
            version=self.version,
        )

    def _spikes_of(self, one: dict[str, Any]) -> SpikeSequence:
        times = self.spikes.times_us
        first, last = np.searchsorted(times, [round(1e6 * one[at]) for at in ("begin", "end")])
        return SpikeSequence.of(
            (self.spikes.times[first:last], self.spikes.units[first:last]),
            unit_names=self.spikes.unit_names,
            t_start=one["begin"],
            t_stop=one["end"],
        )

    def _parameters_of(self, one: dict[str, Any]) -> dict[str, Any]:
        of_windows = ("window", "hop", *(name for name in self.parameters if "change" in name))
        parameters = {k: value for k, value in self.parameters.items() if k not in of_windows}
        threshold = {"min_fraction": None, "min_rate": None, "min_count": one["threshold"]}
        return parameters | threshold

    def to_dataframe(
        self, of: Literal["windows", "episodes", "circuits", "changes"] = "windows"
    ) -> pandas.DataFrame:
        """A pandas data frame.

        Parameters
        ----------
        of
            What has a row: each window (``number``, ``begin``, ``end``, ``spikes``, ``threshold``,
            and how many ``episodes``, ``significant`` ones of two units or more, ``edges`` and
            ``chains`` it has; then what its circuit has in common with the one before), each
            frequent episode of a window, or each edge of the circuit of a window. These two have
            the columns of `EpisodeResult` and `Circuit` after the ``window`` with its ``begin`` and
            ``end``. ``"changes"`` has the rows of ``change_points.tsv`` and needs `change_points`.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ValueError
            If there is no such table, or changes were not searched for.
        """
        if of == "windows":
            return converted(self._columns(), "dataframe")
        if of == "changes":
            return converted(self._change_columns(), "dataframe")
        if of not in ("episodes", "circuits"):
            known = "'windows', 'episodes', 'circuits' or 'changes'"
            raise ValueError(f"of: expected {known}, found {of!r}")
        parts = [one.circuit if of == "circuits" else one for one in self]
        columns = [part._columns() for part in parts]
        rows = [len(part) for part in parts]
        table = converted(
            {
                "window": np.repeat(self.number, rows),
                "begin": np.repeat(self.begin, rows),
                "end": np.repeat(self.end, rows),
                **{name: [v for one in columns for v in one[name]] for name in columns[0]},
            },
            "dataframe",
        )
        return table if of == "circuits" else table.sort_values(["window", "episode"])

    def _columns(self) -> dict[str, Any]:
        alpha = self.parameters["alpha"]
        return {
            "number": self.number,
            "begin": self.begin,
            "end": self.end,
            "spikes": self.spike_count,
            "threshold": self._column("threshold", np.int64),
            "episodes": [len(one["counts"]) for one in self._windows],
            "significant": [
                int(np.sum((one["q"] < alpha) & (np.diff(one["offsets"]) > 1)))
                for one in self._windows
            ],
            "edges": [len(one["circuit"]["source"]) for one in self._windows],
            "chains": [len(one["circuit"]["chains"]) for one in self._windows],
            "since": [self.number[int(k)] if k == k else None for k in self._stabilities("since")],
            **{
                name: self._stabilities(name)
                for name in ("common", "jaccard", "jaccard_expected", "stability")
            },
            "stability_p": self._stabilities("p"),
        }

    def _change_columns(self) -> dict[str, list[Any]]:
        if self._changes is None:
            raise ValueError(
                "of: the changes are in change_points.tsv of the folder"
                if self.parameters["change_points"]
                else "of: changes were not searched for: give change_points=True"
            )
        alpha = self.parameters["change_alpha"]
        names = ("of", "units", "delays", "time", "before", "after", "p", "q", "significant")
        nothing = float("nan")
        rows: list[tuple[Any, ...]] = []
        for of, key in (("firing-rates", "firing_rates"), ("circuit", "circuit")):
            points = self._changes[key]
            for i, (time, p) in enumerate(zip(points["time"], points["p"], strict=True)):
                is_found = i < points["significant"]
                rows.append((of, (), (), time, nothing, nothing, p, nothing, is_found))
        findings = self._changes["findings"]
        for i, one in enumerate(of_table(self._changes["table"], self.spikes.unit_names)):
            for of in ("rate", "excess"):
                values = (findings[f"{of}_{name}"][i] for name in ("time", "before", "after", "p"))
                q = findings[f"{of}_q"][i]
                rows.append((of, one.units, one.delays, *values, q, bool(q < alpha)))
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def to_html(self, *, alpha: float = 0.05) -> str:
        """A page that plays the windows in a browser, as ``spikeweave report`` makes it.

        The page needs no other file and no network.

        Parameters
        ----------
        alpha
            Level at which the rate of an episode differs between two windows.

        Returns
        -------
        str
            To be written to a file: ``Path("page.html").write_text(found.to_html(), "utf-8")``.

        Raises
        ------
        ValueError
            If `alpha` is not above 0 and at most 1.
        """
        if not 0 < alpha <= 1:
            raise ValueError(f"alpha: expected a level above 0 and up to 1, found {alpha!r}")
        whole = _core.ResultDocument("", self._document())
        return _core.page_of_results([whole], {"alpha": alpha})

    def __repr__(self) -> str:
        return (
            f"<WindowedEpisodeResult: {counted(len(self), 'window')} from "
            f"{short_span(self.begin[0], self.end[-1])}>"
        )

    def _rows(self, most: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
        names = ("number", "begin", "end", "spikes", "episodes", "significant", "edges", "chains")
        columns = self._columns()
        shown = [columns[name][:most] for name in (*names, "stability")]
        rows = [tuple(short(float(value)) for value in row) for row in zip(*shown, strict=True)]
        return [*names, "stability"], rows, len(self)
