"""Files of HDF5 with spikes, in the form for ``_core.take_units``: the extension has no HDF5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from . import mcs, nwb

#: The groups of clusters in a ``.kwik``, by their numbers.
_LABELS_OF_KWIK = ("noise", "mua", "good", "unsorted")


def read_hdf5(path: Path) -> dict[str, Any]:
    """The units of an NWB file, a ``.kwik``, a culture as those of Eglen et al. 2014, or a file of
    Multi Channel DataManager."""
    try:
        import h5py
    except ImportError:
        raise ImportError(f"'{path.name}' is read by h5py: pip install pynwb h5py") from None
    try:
        with h5py.File(path) as file:
            names = set(file)
            if "units" not in names and "channel_groups" in names:
                return _read_kwik(file)
            if "units" not in names and {"spikes", "sCount"} <= names:
                return _read_eglen(file)
            if "units" not in names and mcs.is_mcs(file):
                return mcs.read_spikes(file)
            if "units" not in names and "nwb_version" not in file.attrs:
                raise ValueError(
                    f"found {', '.join(sorted(names)[:8])} in it, expected a table units (NWB), "
                    "channel_groups (.kwik), spikes and sCount (Eglen et al. 2014) or "
                    "Data/Recording_0 (Multi Channel DataManager)"
                )
    except Exception as error:  # of whatever kind a damaged file makes h5py raise
        raise OSError(f"'{path}' cannot be read: {error}") from error
    return nwb.read_units(path)


def is_mcs_file(path: Path) -> bool:
    """Whether a file of HDF5 is of Multi Channel DataManager."""
    try:
        import h5py

        with h5py.File(path) as file:
            return "units" not in file and mcs.is_mcs(file)
    except (ImportError, OSError):  # the reader that opens it reports it
        return False


def _read_kwik(file: Any) -> dict[str, Any]:
    rate = _rate_of_kwik(file)
    if rate is None:
        raise ValueError("it states no sample rate in /recordings/0, expected one")
    groups = [name for name in sorted(file["channel_groups"], key=int) if _has_spikes(file, name)]
    names, labels, trains = [], [], []
    for number in groups:
        group = file["channel_groups"][number]
        samples = np.asarray(group["spikes/time_samples"][:], dtype=np.float64)
        clusters = np.asarray(group["spikes/clusters/main"][:])
        if clusters.shape != samples.shape:
            raise ValueError(
                f"group {number} has {samples.size} times and {clusters.size} clusters, "
                "expected equal numbers"
            )
        for cluster in np.unique(clusters):
            names.append(f"{number}_{cluster}" if len(groups) > 1 else str(cluster))
            labels.append(_label_in_kwik(group, cluster))
            # Whole microseconds, ties to even, as the command rounds samples.
            trains.append(np.rint(samples[clusters == cluster] * 1e6 / rate) / 1e6)
    return {**listed(trains), "names": names, "columns": {"label": labels}}


def _has_spikes(file: Any, group: str) -> bool:
    return "time_samples" in file["channel_groups"][group].get("spikes", ())


def _rate_of_kwik(file: Any) -> float | None:
    for place in ("recordings/0", "application_data/spikedetekt"):
        if place in file and "sample_rate" in file[place].attrs:
            return float(np.ravel(file[place].attrs["sample_rate"])[0])
    return None


def _label_in_kwik(group: Any, cluster: Any) -> str:
    place = f"clusters/main/{cluster}"
    number = group[place].attrs.get("cluster_group", 3) if place in group else 3
    known = 0 <= int(number) < len(_LABELS_OF_KWIK)
    return _LABELS_OF_KWIK[int(number)] if known else "unsorted"


def _read_eglen(file: Any) -> dict[str, Any]:
    times = file["spikes"]
    units = {
        "times_s": np.ascontiguousarray(times[:], dtype=np.float64),
        "ends": np.cumsum(file["sCount"][:], dtype=np.uint64),
        "are_32_bit": times.dtype == np.float32,
        "are_clusters": False,
    }
    for name, place in (("names", "names"), ("ids", "channels")):
        if place in file:
            units[name] = [nwb.text_of(text) for text in file[place][:]]
    if "epos" in file:
        places = np.asarray(file["epos"][:], dtype=np.float64)
        # R, which wrote these files, has the electrodes in rows, and HDF5 then in columns.
        rows = places.T if places.shape == (2, len(units["ends"])) else places
        units["places"] = [tuple(row) for row in rows.tolist()]
    if "recordingtime" in file:
        units["observed_s"] = [float(time) for time in file["recordingtime"][:]]
    return units


def listed(trains: list[np.ndarray]) -> dict[str, Any]:
    """The times of units, one after another, and where each ends."""
    whole = [np.asarray(train) for train in trains]
    return {
        "times_s": np.ascontiguousarray(np.concatenate([np.empty(0), *whole]), dtype=np.float64),
        "ends": np.cumsum([len(train) for train in whole], dtype=np.uint64),
        "are_32_bit": any(train.dtype == np.float32 for train in whole),
    }
