"""SpikeInterface reads what spikeweave simulates and sorts, and spikeweave what SpikeInterface saves.

Usage: spikeinterface_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without that package.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import spikeinterface.core as si
    from spikeinterface.comparison import compare_sorter_to_ground_truth
    from spikeinterface.extractors import read_nwb_sorting
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

SPIKEWEAVE = sys.argv.pop(1)
RATE = 30000


def run(*arguments):
    command = [SPIKEWEAVE, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout


def true_spikes(path):
    """Reads the file as docs/formats.md describes it."""
    truth = np.load(path)
    return si.NumpySorting.from_samples_and_labels(np.rint(truth["t"] * RATE).astype(int), truth["index"], RATE)


class Spikeinterface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.path = cls.folder / "rec"
        run("simulate", "recording", "--channels", "16", "--units", "4", "--length", "20s", "--low-rate", "8", "--high-rate", "16",
            "--low-peak", "120", "--seed", "5", "-o", cls.path)

    def test_opens_a_simulated_recording(self):
        about = json.loads(run("info", "--json", self.path))

        for open_ in (si.read_binary_folder, si.load):
            with self.subTest(open_.__name__):
                self.is_the_simulated_one(open_(self.path), about)

    def is_the_simulated_one(self, recording, about):
        self.assertEqual(recording.get_num_samples(), about["samples"])
        self.assertEqual(recording.get_sampling_frequency(), about["sample_rate_hz"])
        self.assertEqual([str(name) for name in recording.channel_ids], [c["name"] for c in about["channels"]])
        self.assertEqual(list(recording.get_channel_gains()), [c["gain_uv"] for c in about["channels"]])
        self.assertEqual(recording.get_channel_locations().tolist(), [[c["x_um"], c["y_um"]] for c in about["channels"]])
        self.assertEqual(recording.get_channel_groups().tolist(), [0] * 16)
        samples = np.fromfile(self.path / "traces.raw", "<i2").reshape(-1, 16)
        self.assertTrue(np.array_equal(recording.get_traces(), samples))

    def test_takes_the_truth_whose_times_are_those_of_the_troughs(self):
        run("convert", self.path / "truth.npz", self.folder / "truth.nwb")
        recording = si.read_binary_folder(self.path)
        truth = true_spikes(self.path / "truth.npz")

        by_nwb = read_nwb_sorting(self.folder / "truth.nwb", sampling_frequency=RATE, t_start=0)

        units = [line.split("\t") for line in (self.path / "units.tsv").read_text().splitlines()[1:]]
        self.assertEqual((len(truth.unit_ids), len(by_nwb.unit_ids)), (4, 4))
        for unit, other, line in zip(truth.unit_ids, by_nwb.unit_ids, units):
            train = truth.get_unit_spike_train(unit)
            self.assertTrue(np.array_equal(train, by_nwb.get_unit_spike_train(other)))
            channel, peak_uv = int(line[1]), float(line[6])
            whole = train[(train > 30) & (train < recording.get_num_samples() - 30)]
            traces = recording.get_traces(return_in_uV=True)[:, channel]
            mean = np.mean([traces[frame - 30:frame + 30] for frame in whole], axis=0)
            self.assertEqual(mean.argmin(), 30)
            self.assertAlmostEqual(mean.min() / -peak_uv, 1, delta=0.1)

    def test_judges_a_sorting(self):
        run("sort", self.path, "-o", self.folder / "sorted")
        found = np.load(self.folder / "sorted/sorting.npz")
        units = found["labels"] > 0

        tested = si.NumpySorting.from_samples_and_labels(found["samples"][units], found["labels"][units].astype(int), RATE)

        judged = compare_sorter_to_ground_truth(true_spikes(self.path / "truth.npz"), tested, exhaustive_gt=True)
        accuracy = judged.get_performance()["accuracy"].astype(float)
        self.assertGreater(accuracy.min(), 0.7, accuracy)  # overlaps cost the rest

    def test_saves_folders_that_spikeweave_reads(self):
        samples = np.arange(3000, dtype=np.int16).reshape(1000, 3)
        recording = si.NumpyRecording([samples], RATE)
        recording.set_channel_gains([0.1, 0.2, 0.3])
        recording.set_channel_offsets(0)
        recording.set_dummy_probe_from_locations(np.array([[0, 40], [0, 20], [15, 0]]))
        recording.save(folder=self.folder / "saved", verbose=False, progress_bar=False)

        about = json.loads(run("info", "--json", self.folder / "saved"))

        self.assertEqual((about["format"], about["samples"], about["positions"]), ("binary", 1000, "file"))
        self.assertEqual([(c["gain_uv"], c["x_um"], c["y_um"]) for c in about["channels"]],
                         [(0.1, 0, 40), (0.2, 0, 20), (0.3, 15, 0)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
