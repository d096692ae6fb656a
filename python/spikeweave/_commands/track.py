"""One neuron in several recordings."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from .._adapters.progress import Progress, reporting
from .._adapters.saved_sorting import tracking_of
from .._values.track import TrackResult
from .described import described

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._values.options import TrackOptions


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
        text, report = _core.track(paths, list(labels), {**options, "progress": callback})
    document = json.loads(text)
    for warning in document["run"]["input"]["warnings"]:
        warnings.warn(warning, UserWarning, stacklevel=2)
    asked: dict[str, Any] = {"labels": list(labels)} if labels else {}
    return tracking_of(document, report, asked)
