"""Learns the sequences of RT-Sort in the first part of a recording and sorts the rest as it comes, in blocks of 100 frames
(3.3 ms at 30 kHz), its own size. Runs in the environment `rt_sort`, on one thread of a CPU unless a GPU is named.

Usage: rt_sort.py FOLDER LEARNED_S WEIGHTS OUT.json [--device cuda]
FOLDER has binary.json, as SpikeInterface reads it. WEIGHTS is a folder of RT-Sort's own (init_dict.json, state_dict.pt).
OUT.json has the spikes of each sequence in seconds, of each spike the time from its peak to the end of the block in which
it was found, and the times that blocks took.
"""

import argparse
import functools
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import spikeinterface.full as si
import torch

IS_CPU = "cuda" not in sys.argv
if IS_CPU:
    torch.float16 = torch.float32  # RT-Sort computes in halves, which take processors a hundred times as long

from spikelab.spike_sorting.rt_sort import _algorithm  # noqa: E402

BLOCK = 100


def learn(recording, weights, device, folder):
    """Returns the object that sorts. The weights name a device of their own, which may not be there."""
    copied = folder / "weights"
    shutil.copytree(weights, copied)
    described = copied / "init_dict.json"
    described.write_text(json.dumps(json.loads(described.read_text()) | {"device": device}))
    state = copied / "state_dict.pt"
    torch.save(torch.load(state, map_location=device, weights_only=True), state)
    _algorithm.RTSort = functools.partial(_algorithm.RTSort, device=device)
    return _algorithm.detect_sequences(recording, folder / "inter", copied, device=device, num_processes=1, delete_inter=True, verbose=False,
                                       **_algorithm.neuropixels_params)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", type=Path)
    parser.add_argument("learned_s", type=float)
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    recording = si.bandpass_filter(si.load(chosen.recording), 300, 6000, dtype="float32")
    rate = recording.get_sampling_frequency()
    cut = round(chosen.learned_s * rate)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        sorter = learn(recording.frame_slice(0, cut), chosen.weights, chosen.device, Path(folder))
        learned_s = time.perf_counter() - began
        if sorter is None:
            chosen.out.write_text(json.dumps({"learning_s": learned_s, "sequences": 0, "spikes": {}}))
            return
        sorter.reset()
        traces = recording.get_traces(start_frame=cut, return_in_uV=True)
        spikes, waits_ms, delays_ms, blocks_ms = {}, [], [], []
        with torch.inference_mode():
            for first in range(0, len(traces) - BLOCK + 1, BLOCK):
                began = time.perf_counter()
                found = sorter.running_sort(traces[first:first + BLOCK])
                took_ms = 1e3 * (time.perf_counter() - began)
                blocks_ms.append(took_ms)
                for sequence, at_ms in found:
                    spikes.setdefault(str(sequence), []).append(chosen.learned_s + at_ms / 1e3)
                    waits_ms.append(1e3 * (first + BLOCK) / rate - at_ms)
                    delays_ms.append(waits_ms[-1] + took_ms)
    chosen.out.write_text(json.dumps({"learning_s": learned_s, "sequences": len(sorter._seq_root_elecs), "spikes": spikes,
                                      "waits_ms": waits_ms, "delays_ms": delays_ms, "blocks_ms": blocks_ms,
                                      "seconds": len(traces) / rate}))


if __name__ == "__main__":
    main()
