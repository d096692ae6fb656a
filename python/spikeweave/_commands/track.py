"""One neuron in several recordings."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from .._adapters.progress import Progress, reporting
from .._values.track import TrackResult
from .described import described

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import TrackOptions


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


@described(_core.track_options)
def track(
    folders: Sequence[str | os.PathLike[str]],
    *,
    labels: Sequence[str] = (),
    progress: Progress = None,
    **options: Unpack[TrackOptions],
) -> TrackResult:
    """Finds the units of several sorted recordings that are one neuron.

    Recordings are of the same electrodes. Each pair of units gets the probability that they are
    one neuron, from waveforms, places, amplitudes and autocorrelograms after motion between the
    sessions was undone, as by ``spikeweave track`` on the command line.

    Parameters
    ----------
    folders
        Folders that ``spikeweave sort`` or `SortResult.save` wrote, in the order of time.
    labels
        Use only units with these labels, such as ``["good", "mua"]``; ``["all"]`` uses every unit.
        By default good ones, if units are labelled good or mua; else all but noise.
    {options}

    Returns
    -------
    TrackResult

    {raises}

    Warns
    -----
    UserWarning
        As listed in `TrackResult.warnings`.

    References
    ----------
    E. H. van Beest, C. Bimbard, J. M. J. Fabre, S. W. Dodgson, F. Takács, P. Coen, A. Lebedeva,
    K. D. Harris, M. Carandini, Nature Methods 22:778 (2025).

    Examples
    --------
    >>> import tempfile
    >>> import spikeweave
    >>> folders = [tempfile.mkdtemp() + "/monday", tempfile.mkdtemp() + "/tuesday"]
    >>> for session, folder in enumerate(folders, 1):
    ...     made = spikeweave.simulate.recording(
    ...         channels=16, units=6, length="10s", seed=4, session=session
    ...     )
    ...     spikeweave.sort(made.recording).save(folder)
    >>> found = spikeweave.track(folders)
    >>> found.relations["matched"]
    [5]
    """
    paths = [os.fspath(folder) for folder in folders]
    with reporting(progress) as callback:
        document, write = _core.track(paths, list(labels), {**options, "progress": callback})
    found = json.loads(document)
    for warning in found["run"].get("warnings", []):
        warnings.warn(warning, UserWarning, stacklevel=2)
    return TrackResult(
        **{name: _columns(found[name]) for name in ("neurons", "matches", "relations", "sessions")},
        parameters=found["run"]["parameters"],
        summary=found["run"]["summary"],
        warnings=found["run"].get("warnings", []),
        _write=write,
    )
