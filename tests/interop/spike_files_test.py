"""spikeweave and pynwb, numpy and pynapple read each other's files.

Usage: spike_files_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without those packages.
"""

import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import h5py
    import numpy as np
    import pynapple as nap
    import pynwb
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

SPIKEWEAVE = sys.argv.pop(1)
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
TRAINS = {3: [0.000001, 0.25, 1.5], 7: [0.1, 0.25], 12: []}


def convert(source, target):
    subprocess.run([SPIKEWEAVE, "convert", "--overwrite", source, target], check=True, stdout=subprocess.PIPE)


def read_text(path):
    """Parses the trains, span and silent units of a text file without spikeweave."""
    trains, span = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("# span_s:"):
            span = [float(word) for word in line.split(":")[1].split()]
        elif line.startswith("# unit_without_spikes:"):
            trains[line.split(": ")[1]] = []
        elif line != "time_s\tunit":
            time, unit = line.split("\t")
            trains.setdefault(unit, []).append(float(time))
    return trains, span


def write_text(path, names=str):
    rows = sorted((t, names(u)) for u, times in TRAINS.items() for t in times)
    silent = [names(u) for u, times in TRAINS.items() if not times]
    path.write_text("# span_s: 0 2.5\n" + "".join(f"# unit_without_spikes: {u}\n" for u in silent)
                    + "time_s\tunit\n" + "".join(f"{t:.6f}\t{u}\n" for t, u in rows))


def named(unit):
    return f"µ{unit}"


class SpikeFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.text = self.folder / "a.tsv"

    def check_read(self, path, span, names=str):
        out = self.folder / "out.tsv"
        convert(path, out)
        trains, read_span = read_text(out)
        self.assertEqual(trains, {names(u): times for u, times in TRAINS.items()})
        self.assertEqual(read_span, span)

    def check_nwb(self, names):
        write_text(self.text, names)
        path = self.folder / "a.nwb"
        convert(self.text, path)

        with pynwb.NWBHDF5IO(path, "r") as io:
            self.assertEqual(pynwb.validate(io=io), [])
        with pynwb.NWBHDF5IO(path, "r") as io:
            units = io.read().units
            self.assertEqual(units.resolution, 1e-6)
            for row, (unit, times) in enumerate(TRAINS.items()):
                np.testing.assert_array_equal(units.get_unit_spike_times(row), times)
                np.testing.assert_array_equal(units.get_unit_obs_intervals(row), [[0, 2.5]])
                if names is named:
                    self.assertEqual(units["unit_name"][row], names(unit))
                else:
                    self.assertEqual(units.id[row], unit)
        self.check_read(path, [0, 2.5], names)

    def test_pynwb_opens_and_validates_what_spikeweave_writes(self):
        self.check_nwb(str)

    def test_pynwb_opens_named_units(self):
        self.check_nwb(named)

    def write_pynwb(self, path, observed):
        nwb = pynwb.NWBFile("a test", "a", EPOCH)
        nwb.add_unit_column("unit_name", "a name that repeats")
        for unit, times in TRAINS.items():
            observation = {"obs_intervals": [[0, 1], [1.25, 2]]} if observed else {}
            nwb.add_unit(spike_times=times, id=unit, unit_name="good", **observation)
        with pynwb.NWBHDF5IO(path, "w") as io:
            io.write(nwb)

    def test_spikeweave_reads_what_pynwb_writes(self):
        path = self.folder / "a.nwb"
        self.write_pynwb(path, observed=True)
        self.check_read(path, [0, 2])

    def test_units_are_where_their_electrodes_are(self):
        path = self.folder / "electrodes.nwb"
        nwb = pynwb.NWBFile("a test", "a", EPOCH)
        group = nwb.create_electrode_group("probe", description="a probe", location="here", device=nwb.create_device("device"))
        for i in range(4):
            nwb.add_electrode(x=float(i), y=10.0 * i, location="here", group=group, rel_x=100.0 * i, rel_y=-5.0 * i)
        for i, electrodes in enumerate(([1], [0, 2], [3])):
            nwb.add_unit(spike_times=[0.1 + i, 0.2 + i], electrodes=electrodes)
        with pynwb.NWBHDF5IO(path, "w") as io:
            io.write(nwb)

        told = subprocess.run([SPIKEWEAVE, "info", path, "--json"], check=True, capture_output=True, text=True)

        self.assertEqual([(unit["x_um"], unit["y_um"]) for unit in json.loads(told.stdout)["units"]], [(100, -5), (100, -5), (300, -15)])

    def test_spikeweave_takes_epochs_from_tables_of_intervals(self):
        path = self.folder / "trials.nwb"
        nwb = pynwb.NWBFile("a test", "a", EPOCH)
        nwb.add_unit(id=1, spike_times=np.arange(0.05, 20, 0.1), obs_intervals=[[0.0, 20.0]])
        for begin in (12.0, 2.0, 7.0):
            nwb.add_trial(start_time=begin, stop_time=begin + 1.5)
        light = pynwb.epoch.TimeIntervals(name="light", description="when the light was on")
        for begin in (4.0, 9.0):
            light.add_interval(start_time=begin, stop_time=begin + 0.1)
        nwb.add_time_intervals(light)
        with pynwb.NWBHDF5IO(path, "w") as io:
            io.write(nwb)

        def epochs(*arguments):
            told = subprocess.run([SPIKEWEAVE, "episodes", path, "--min-count", "5", "--json", *arguments], check=True, capture_output=True, text=True)
            return json.loads(told.stdout)["run"]["input"]["epochs_s"]

        self.assertEqual(epochs("--epochs", path), [[2, 3.5], [7, 8.5], [12, 13.5]])
        self.assertEqual(epochs("--around", "trials:-500ms..1s"), [[1.5, 3], [6.5, 8], [11.5, 13]])
        self.assertEqual(epochs("--around", "light:0ms..1s"), [[4, 5], [9, 10]])
        for verb in ("episodes", "spade"):
            refused = subprocess.run([SPIKEWEAVE, verb, path, "--around", "sound:0ms..1s"], capture_output=True, text=True)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("no table of intervals 'sound'", refused.stderr)

    def test_spikeweave_takes_labels_of_epochs_from_tables_of_intervals(self):
        path = self.folder / "labels.nwb"
        nwb = pynwb.NWBFile("a test", "a", EPOCH)
        nwb.add_unit(id=1, spike_times=np.arange(0.05, 20, 0.1), obs_intervals=[[0.0, 20.0]])
        for name in ("contrast", "condition"):
            nwb.add_trial_column(name, f"the {name}")
        for begin, contrast, condition in ((12.0, 0.5, "late"), (2.0, 0.25, "early"), (7.0, 1.0, "late")):
            nwb.add_trial(start_time=begin, stop_time=begin + 1.5, contrast=contrast, condition=condition)
        for begin, tags in ((4.0, ["light", "left"]), (9.0, ["dark"])):
            nwb.add_epoch(begin, begin + 0.1, tags)
        with pynwb.NWBHDF5IO(path, "w") as io:
            io.write(nwb)

        def labels(*arguments):
            subprocess.run([SPIKEWEAVE, "episodes", path, "--min-count", "5", "-o", self.folder / "found", "--overwrite", *arguments], check=True, capture_output=True)
            return json.loads((self.folder / "found/result.json").read_text())["spikes"].get("epoch_labels")

        self.assertEqual(labels("--epochs", path), ["early", "late", "late"])
        self.assertEqual(labels("--epochs", path, "--epoch-labels", "contrast"), ["0.25", "1", "0.5"])
        self.assertEqual(labels("--around", "trials:-500ms..1s"), ["early", "late", "late"])
        self.assertEqual(labels("--around", "epochs:0ms..1s"), ["light, left", "dark"])
        for column, says in (("side", "/intervals/trials: has no column 'side', expected the labels"), ("timeseries", "has no column 'timeseries'")):
            refused = subprocess.run([SPIKEWEAVE, "episodes", path, "--epochs", path, "--epoch-labels", column], capture_output=True, text=True)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(says, refused.stderr)
        with h5py.File(path, "r+") as file:
            file["intervals/trials/condition"][1] = "a\x07b"
        refused = subprocess.run([SPIKEWEAVE, "episodes", path, "--epochs", path], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("item 1: found 'a\\x07b', expected printable text", refused.stderr)

    def test_spikeweave_reads_packed_columns_and_an_index_of_one_byte(self):
        path = self.folder / "a.nwb"
        self.write_pynwb(path, observed=False)
        with h5py.File(path, "r+") as file:
            units = file["units"]
            times = units["spike_times"][:]
            attributes = dict(units["spike_times"].attrs)
            self.assertEqual(units["spike_times_index"].dtype, np.uint8)
            del units["spike_times"]
            packed = units.create_dataset("spike_times", data=times, compression="gzip", shuffle=True, chunks=(2,))
            packed.attrs.update(attributes)
        self.check_read(path, [0.000001, 1.5])

    def arrays(self):
        rows = sorted((t, u) for u, times in TRAINS.items() for t in times)
        return {"times": np.array([t for t, _ in rows]), "units": np.array([u for _, u in rows])}

    def test_spikeweave_reads_what_numpy_saves(self):
        path = self.folder / "a.npz"
        spoken = {str(u): times for u, times in TRAINS.items() if times}
        for save in (np.savez, np.savez_compressed):
            for kind in (np.int16, np.uint8, np.float64, "U3", "S3"):
                arrays = self.arrays()
                save(path, times=arrays["times"], units=arrays["units"].astype(kind))
                out = self.folder / "out.tsv"
                convert(path, out)
                self.assertEqual(read_text(out)[0], spoken)

    def test_spikeweave_reads_npy_in_both_orders(self):
        path = self.folder / "a.npy"
        arrays = self.arrays()
        rows = np.column_stack([arrays["times"], arrays["units"]])
        for array in (rows, np.asfortranarray(rows)):
            np.save(path, array)
            out = self.folder / "out.tsv"
            convert(path, out)
            self.assertEqual(read_text(out)[0], {str(u): times for u, times in TRAINS.items() if times})

    def test_spikeweave_reads_what_savetxt_writes(self):
        path = self.folder / "a.txt"
        arrays = self.arrays()
        np.savetxt(path, np.column_stack([arrays["times"], arrays["units"]]))
        out = self.folder / "out.tsv"
        convert(path, out)
        self.assertEqual(read_text(out)[0], {str(u): times for u, times in TRAINS.items() if times})

    def test_spikeweave_reads_what_pynapple_saves(self):
        path = self.folder / "a.npz"
        group = nap.TsGroup({u: nap.Ts(np.array(times)) for u, times in TRAINS.items()},
                            time_support=nap.IntervalSet(0, 2.5))
        group.save(str(path))
        self.check_read(path, [0, 2.5])

    def check_pynapple(self, names):
        write_text(self.text, names)
        path = self.folder / "a.npz"
        convert(self.text, path)

        group = nap.load_file(str(path))

        self.assertIsInstance(group, nap.TsGroup)
        keys = list(TRAINS) if names is str else [0, 1, 2]
        self.assertEqual(list(group.keys()), keys)
        for key, times in zip(keys, TRAINS.values()):
            np.testing.assert_array_equal(group[key].t, times)
        np.testing.assert_array_equal(group.time_support.values, [[0, 2.5]])
        if names is named:
            self.assertEqual(list(group["unit_name"]), [named(u) for u in TRAINS])
        self.check_read(path, [0, 2.5], names)

    def test_pynapple_loads_what_spikeweave_writes(self):
        self.check_pynapple(str)

    def test_pynapple_loads_named_units(self):
        self.check_pynapple(named)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
