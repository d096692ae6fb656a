"""Recordings of Plexon (``.plx``), as neo 0.14 reads them, corrected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

#: Of the blocks of a file, those with samples.
_SIGNALS = 5


def correct(recording: Any, path: Path) -> None:
    """Corrects gains and the places of blocks.

    Raises
    ------
    ValueError
        If the recording was paused: neo puts its parts one after another.
    """
    from neo.rawio.plexonrawio import GlobalHeader

    reader = recording.neo_reader
    if any(reader.header["signal_channels"]["units"]):
        return  # a later version of neo, which states that gains are in millivolts
    head = np.fromfile(path, dtype=GlobalHeader, count=1)[0]
    # Neo's gains are millivolts for the bits of spikes, which signals need not have.
    factor = 1000.0
    if head["Version"] >= 103:
        factor *= 2.0 ** (int(head["BitsPerSpikeSample"]) - int(head["BitsPerSlowSample"]))
    recording.set_channel_gains(factor * recording.get_channel_gains())

    ticks = float(head["ADFrequency"]) / recording.get_sampling_frequency()
    channels = reader.header["signal_channels"]
    blocks = reader._data_blocks[_SIGNALS]
    for channel in channels[np.isin(channels["name"], recording.get_channel_ids())]:
        number = int(channel["id"])
        known = blocks[number]
        # Neo misplaces blocks of unequal lengths, and reads a block to its end only if one follows.
        begins = np.cumsum([0, *known["size"] // 2])
        late = known["timestamp"] - known["timestamp"][0] - begins[:-1] * ticks
        if np.abs(late).max() >= ticks:
            raise ValueError(f"{channel['name']} was paused, and times after that are not known")
        known = np.append(known, np.zeros(1, known.dtype))
        known["cumsum"] = begins
        blocks[number] = known
