"""Wells and recordings in files of MaxWell (``.raw.h5``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def well_and_recording(path: Path, stream: str | None) -> tuple[str | None, str | None]:
    """The names of the well and of its recording that `stream` names, or of the only ones; None for
    what the file does not name.

    Raises
    ------
    ValueError
        Listing the names if the choice is not unique.
    """
    import h5py

    with h5py.File(path) as file:
        if "wells" not in file:
            _check_compression(file.get("sig"))
            return stream, None
        found = [
            (well, recording)
            for well, recordings in file["wells"].items()
            for recording, content in recordings.items()
            if "routed" in content.get("groups", {})
        ]
        for well, recording in found:
            _check_compression(file[f"wells/{well}/{recording}/groups/routed"].get("raw"))
    several = {well for well, _ in found if sum(one == well for one, _ in found) > 1}
    names = {
        f"{well}/{recording}" if well in several else well: (well, recording)
        for well, recording in found
    }
    if stream is None and len(names) == 1:
        return next(iter(names.values()))
    choices = {**{f"{well}/{recording}": (well, recording) for well, recording in found}, **names}
    if stream in choices:
        return choices[stream]
    if not names:
        raise ValueError("it has no recording of routed electrodes")
    raise ValueError(
        "it has several recordings; `stream` is one of "
        f"{list(names)}" + ("" if stream is None else f", found '{stream}'")
    )


def _check_compression(samples: Any) -> None:
    """Refuses samples that HDF5 cannot decompress, which it reports only when they are read."""
    import h5py

    if samples is None:
        return
    filters = samples.id.get_create_plist()
    for index in range(filters.get_nfilters()):
        number, _, _, name = filters.get_filter(index)
        if not h5py.h5z.filter_avail(number):
            raise ValueError(
                f"its samples are compressed by the filter {name.decode(errors='replace')}, which "
                "HDF5 does not find: the environment variable HDF5_PLUGIN_PATH has to name the "
                "folder with MaxWell's library for it "
                "(https://share.mxwbio.com/d/7f2d1e98a1724a1b8b35)"
            )
