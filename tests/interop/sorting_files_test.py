"""Files of klusta that spikeweave sort reads, and files of spikeweave sort that other programs read.

Usage: sorting_files_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without h5py, numpy and pynwb; tests with
SpikeInterface and phylib are skipped by name where these are missing.
"""

import contextlib
import csv
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import h5py
    import numpy as np
    import pynwb
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)
try:
    from spikeinterface import extractors
except ImportError:
    extractors = None
try:
    from phylib.io.model import load_model
except ImportError:
    load_model = None

SPIKEWEAVE = sys.argv.pop(1)
RATE = 20000.0
UNITS, CHANNELS, COMPONENTS, SPIKES = 4, 5, 3, 900


def spikes(seed=3):
    """Makes features, masks, times in samples and true units; each unit is on two neighbouring channels."""
    draw = np.random.default_rng(seed)
    unit = draw.integers(UNITS, size=SPIKES)
    features = draw.normal(size=(SPIKES, CHANNELS * COMPONENTS))
    masks = np.zeros_like(features)
    for u in range(UNITS):
        own = slice(u * COMPONENTS, (u + 2) * COMPONENTS)
        features[unit == u, own] += np.linspace(9, -12, 2 * COMPONENTS)
        masks[unit == u, own] = 1
    return features.astype(np.float32), masks.astype(np.float32), 100 + 41 * np.arange(SPIKES), unit


def write_kwik(folder, groups=(1,), name="probe"):
    """Writes the parts of klusta 3's files that are read here."""
    features, masks, times, unit = spikes()
    with h5py.File(folder / f"{name}.kwx", "w") as kwx, h5py.File(folder / f"{name}.kwik", "w") as kwik:
        kwik.attrs["kwik_version"] = 2
        kwik.create_group("recordings/0").attrs["sample_rate"] = RATE
        for group in groups:
            kwx[f"channel_groups/{group}/features_masks"] = np.stack((features + group, masks), axis=2)
            at = kwik.create_group(f"channel_groups/{group}")
            at.attrs["channel_order"] = np.arange(CHANNELS, dtype=np.int32) + 8
            for channel in range(CHANNELS):
                one = at.create_group(f"channels/{channel + 8}")
                one.attrs["name"] = str(channel)
                one.attrs["position"] = np.array((3, 25 * channel), dtype=np.float32)
            at["spikes/time_samples"] = times.astype(np.uint64)
            at["spikes/time_fractional"] = (np.arange(SPIKES) % 256).astype(np.uint8)
            at["spikes/recording"] = np.zeros(SPIKES, dtype=np.int32)
            at["spikes/clusters/main"] = (10 * unit + 2).astype(np.int32)
            for cluster in range(UNITS):
                # The last cluster was labelled as noise.
                at.create_group(f"clusters/main/{10 * cluster + 2}").attrs["cluster_group"] = 0 if cluster == 3 else 2
    return folder / f"{name}.kwik"


def labels_of(folder):
    with np.load(folder / "sorting.npz") as file:
        return file["labels"], file["samples"]


def trains_of(labels, samples):
    return {unit: samples[labels == unit] for unit in np.unique(labels[labels > 0])}


@contextlib.contextmanager
def silent():
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


class SortingFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"

    def sort(self, path, *options):
        subprocess.run([SPIKEWEAVE, "sort", path, "-o", self.out, "--overwrite", *map(str, options)], check=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return labels_of(self.out)

    def refused(self, *arguments):
        done = subprocess.run([SPIKEWEAVE, *map(str, arguments), "-o", self.out], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse(self.out.exists())
        return done.stderr

    def same_partition(self, labels, unit):
        self.assertEqual(len(set(zip(labels, unit))), UNITS)
        self.assertEqual(len(np.unique(labels)), UNITS)

    def check_trains(self, sorting, labels, samples, names=int):
        expected = trains_of(labels, samples)
        found = {names(unit): np.sort(sorting.get_unit_spike_train(unit)) for unit in sorting.unit_ids}
        self.assertEqual(sorted(found), sorted(expected))
        for unit, train in expected.items():
            np.testing.assert_array_equal(found[unit], np.sort(train))

    def test_kwik_goes_in_and_comes_out(self):
        kwik = write_kwik(self.folder)
        before = {path: path.read_bytes() for path in self.folder.iterdir()}

        labels, samples = self.sort(kwik)

        self.same_partition(labels, spikes()[3])
        np.testing.assert_array_equal(samples, spikes()[2])
        self.assertEqual({path: path.read_bytes() for path in before}, before)
        with h5py.File(self.out / "sorting.kwik") as file:
            group = file["channel_groups/1"]
            np.testing.assert_array_equal(group["spikes/clusters/main"], labels)
            np.testing.assert_array_equal(group["spikes/time_samples"], samples)
            np.testing.assert_array_equal(group["spikes/time_fractional"], np.arange(SPIKES) % 256)
            self.assertEqual(file["recordings/0"].attrs["sample_rate"], RATE)
            self.assertEqual(group["clusters/main/1"].attrs["cluster_group"], 3)
            self.assertEqual(group["cluster_groups/main/0"].attrs["name"], "Noise")
            np.testing.assert_array_equal(group["channels/4"].attrs["position"], (3, 100))
            # klusta cannot open a file without these.
            self.assertEqual(file["application_data/spikedetekt"].attrs["sample_rate"], RATE)
            self.assertEqual(file["application_data/spikedetekt"].attrs["n_channels"], CHANNELS)
            np.testing.assert_array_equal(group.attrs["adjacency_graph"], [(c, c + 1) for c in range(CHANNELS - 1)])
            self.assertGreater(group["clusters/main/1/quality_measures"].attrs["isolation_distance"], 10)
        with h5py.File(self.out / "sorting.kwx") as file:
            np.testing.assert_array_equal(file["channel_groups/1/features_masks"][:, :, 0], spikes()[0] + 1)
        with np.load(self.out / "spikes.npz") as file:
            np.testing.assert_allclose(file["t"], (samples + np.arange(SPIKES) % 256 / 255) / RATE, atol=1e-6)

    def test_what_was_written_is_read_again(self):
        first, _ = self.sort(write_kwik(self.folder))
        shutil.copytree(self.out, self.folder / "first")
        second, _ = self.sort(self.folder / "first/sorting.kwik")
        np.testing.assert_array_equal(first, second)

    def test_result_can_be_sorted_into_its_own_folder(self):
        kwik = write_kwik(self.folder)
        self.sort(kwik)
        own = self.out / "sorting.kwik"
        for cluster in ("1", "2"):  # the second reads what the first wrote into its file
            self.sort(own, "--start", own, "--only-clusters", cluster)
        with h5py.File(self.out / "sorting.kwx") as file:
            np.testing.assert_array_equal(file["channel_groups/1/features_masks"][:, :, 0], spikes()[0] + 1)

    def test_kwx_alone_has_no_times(self):
        kwik = write_kwik(self.folder)
        kwik.unlink()
        subprocess.run([SPIKEWEAVE, "sort", kwik.with_suffix(".kwx"), "-o", self.out], check=True, stdout=subprocess.PIPE)
        self.assertFalse((self.out / "sorting.kwik").exists())
        self.assertTrue((self.out / "sorting.clu.1").exists())

    def test_begins_with_the_clusters_of_the_file(self):
        kwik = write_kwik(self.folder)
        self.sort(kwik, "--start", kwik, "--max-iterations", 1)
        with open(self.out / "iterations.tsv", encoding="utf-8") as file:
            first = next(csv.DictReader(file, delimiter="\t"))
        self.assertEqual(first["clusters"], "3")  # the fourth is noise

    def test_finds_units_in_clusters_that_are_named_as_in_the_file(self):
        kwik = write_kwik(self.folder)
        labels, _ = self.sort(kwik, "--start", kwik, "--only-clusters", "12")
        # Units 0 to 3 are clusters 2, 12, 22 and noise.
        self.assertEqual(set(zip(spikes()[3], labels)), {(0, 1), (1, 4), (2, 3), (3, 0)})
        shutil.rmtree(self.out)
        self.assertIn("no spike of", self.refused("sort", kwik, "--start", kwik, "--only-clusters", "13"))

    def test_one_of_several_groups(self):
        kwik = write_kwik(self.folder, groups=(0, 3))
        self.assertIn("--channel-group", self.refused("sort", kwik))
        self.assertIn("has no channel group 2, expected one of 0, 3", self.refused("sort", kwik, "--channel-group", 2))
        self.sort(kwik, "--channel-group", 3)
        with h5py.File(self.out / "sorting.kwik") as file:
            self.assertEqual(list(file["channel_groups"]), ["3"])

    def test_says_what_is_wrong_with_kwik(self):
        def spoiled(change, *words):
            kwik = write_kwik(self.folder)
            change(kwik)
            text = self.refused("sort", kwik)
            for word in words:
                self.assertIn(word, text)

        def in_kwx(change):
            def spoil(kwik):
                with h5py.File(kwik.with_suffix(".kwx"), "r+") as file:
                    change(file["channel_groups/1"])
            return spoil

        def in_kwik(change):
            def spoil(kwik):
                with h5py.File(kwik, "r+") as file:
                    change(file["channel_groups/1"])
            return spoil

        def replace(name, values):
            def change(group):
                del group[name]
                group[name] = values
            return change

        def set_item(at, value):
            def change(group):
                group["features_masks"][at] = value
            return change

        spoiled(lambda kwik: kwik.with_suffix(".kwx").unlink(), "probe.kwx", "beside")
        spoiled(lambda kwik: kwik.with_suffix(".kwx").write_bytes(b"\x89HDF\r\n\x1a\n1234"), "probe.kwx", "damaged")
        spoiled(in_kwx(set_item((4, 2, 0), np.nan)), "spike 5, column 3", "found nan")
        spoiled(in_kwx(set_item((4, 2, 1), 1.5)), "spike 5, column 3", "found 1.5", "mask")
        spoiled(in_kwx(replace("features_masks", np.zeros((5, 4)))), "5 x 4", "spikes x features x 2")
        spoiled(in_kwx(replace("features_masks", np.zeros((0, 4, 2)))), "no spikes")
        spoiled(in_kwik(replace("spikes/time_samples", np.arange(5))), "probe.kwik", "time_samples", "holds 5 numbers, expected 900")
        spoiled(in_kwik(replace("spikes/clusters/main", np.arange(5))), "probe.kwik", "clusters/main", "holds 5 numbers, expected 900")
        spoiled(in_kwik(lambda group: group.attrs.__setitem__("channel_order", np.arange(4))), "4 channels", "15 features")
        spoiled(lambda kwik: kwik.write_bytes(kwik.read_bytes()[:600]), "probe.kwik", "damaged")

    @unittest.skipUnless(extractors, "no SpikeInterface")
    def test_spikeinterface_reads_kwik(self):
        labels, samples = self.sort(write_kwik(self.folder))
        with silent():
            sorting = extractors.KlustaSortingExtractor(self.out / "sorting.kwik")
        self.assertEqual(sorting.get_sampling_frequency(), RATE)
        self.check_trains(sorting, labels, samples)

    @unittest.skipUnless(extractors, "no SpikeInterface")
    def test_spikeinterface_reads_clu_and_res(self):
        labels, samples = self.sort(write_kwik(self.folder))
        (self.out / "sorting.xml").write_text(
            f"<parameters><acquisitionSystem><nBits>16</nBits><nChannels>{CHANNELS}</nChannels>"
            f"<samplingRate>{RATE}</samplingRate></acquisitionSystem></parameters>")
        with silent():
            sorting = extractors.NeuroScopeSortingExtractor(
                resfile_path=self.out / "sorting.res.1", clufile_path=self.out / "sorting.clu.1",
                xml_file_path=self.out / "sorting.xml")
        # It numbers units by the rank of their labels in the file.
        self.check_trains(sorting, labels, samples, lambda unit: int(unit) - (1 if 0 in labels else 0))

    @unittest.skipUnless(extractors, "no SpikeInterface")
    def test_spikeinterface_reads_phy(self):
        labels, samples = self.sort(write_kwik(self.folder))
        with silent():
            sorting = extractors.PhySortingExtractor(self.out / "phy", exclude_cluster_groups="noise")
        self.assertEqual(sorting.get_sampling_frequency(), RATE)
        self.check_trains(sorting, labels, samples)
        self.assertTrue(np.all(sorting.get_property("isolation_distance") > 10))

    def check_phylib(self, raw):
        with silent():
            model = load_model(self.out / "phy/params.py")
        labels, samples = labels_of(self.out)
        np.testing.assert_array_equal(model.spike_samples, samples)
        np.testing.assert_array_equal(model.spike_clusters, labels)
        self.assertEqual(model.traces is not None, raw)
        self.assertIn("l_ratio", model.metadata)
        chosen = np.flatnonzero(labels == 1)[:7]
        found = model.get_features(chosen, np.arange(model.n_channels))
        self.assertEqual(found.shape, (7, model.n_channels, COMPONENTS))
        self.assertGreater(np.abs(found).max(), 1)
        return model

    @unittest.skipUnless(load_model, "no phylib")
    def test_phylib_opens_phy(self):
        features = spikes()[0] + 1
        self.sort(write_kwik(self.folder))
        model = self.check_phylib(raw=False)
        everything = model.get_features(np.arange(SPIKES), np.arange(CHANNELS))
        np.testing.assert_array_equal(everything, features.reshape(SPIKES, CHANNELS, COMPONENTS))
        np.testing.assert_array_equal(model.channel_positions[:, 1], 25 * np.arange(CHANNELS))

    @unittest.skipUnless(load_model, "no phylib")
    def test_phylib_opens_phy_of_a_recording(self):
        recording = self.folder / "rec"
        subprocess.run([SPIKEWEAVE, "simulate", "recording", "--channels", "8", "--units", "4", "--length", "20s", "--low-rate", "10",
                        "--high-rate", "20", "--seed", "2", "-o", recording], check=True, stdout=subprocess.PIPE)
        self.sort(recording)

        model = self.check_phylib(raw=True)

        labels, samples = labels_of(self.out)
        with open(self.out / "units.tsv", encoding="utf-8") as file:
            units = list(csv.DictReader(file, delimiter="\t"))
        self.assertGreater(len(units), 1)
        traces = np.fromfile(recording / "traces.raw", np.int16).reshape(-1, 8)
        for unit in units:
            own = samples[labels == int(unit["unit"])][5:200]
            mean = np.mean([traces[at - 15:at + 25] for at in own], axis=0)
            template = model.get_template(int(unit["unit"]))
            self.assertEqual(template.best_channel, np.argmax(np.ptp(mean, axis=0)))
            self.assertGreater(float(unit["snr"]), 4)
            # Depths come from the first component of each channel, if that is above 0.
            depths = model.get_depths()[labels == int(unit["unit"])]
            self.assertLess(np.mean(np.isnan(depths)), 0.02)
            self.assertLess(abs(np.nanmedian(depths) - model.channel_positions[template.best_channel, 1]), 30)
        waveforms = model.get_waveforms(np.flatnonzero(labels == 1)[:5], np.arange(8))
        self.assertEqual(waveforms.shape[0], 5)

    def test_phy_goes_to_episodes_and_comes_back(self):
        labels, _ = self.sort(write_kwik(self.folder))
        shutil.copytree(self.out / "phy", self.folder / "phy")
        subprocess.run([SPIKEWEAVE, "episodes", self.folder / "phy", "--min-count", "100"], check=True, stdout=subprocess.PIPE)

        again, _ = self.sort(self.folder / "phy")

        self.same_partition(again, labels)

    def test_pynwb_reads_units_with_their_quality(self):
        labels, samples = self.sort(write_kwik(self.folder), "--nwb")
        path = self.out / "spikes.nwb"
        with pynwb.NWBHDF5IO(path, "r") as file:
            self.assertEqual(pynwb.validate(io=file), [])
        with open(self.out / "units.tsv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        with pynwb.NWBHDF5IO(path, "r") as file:
            units = file.read().units
            self.assertEqual(len(units), len(rows))
            self.assertIn("l_ratio", units["isolation_distance"].description)
            self.assertEqual([column.name for column in units.columns if "`" in column.description], [])
            for i, row in enumerate(rows):
                self.assertEqual(units.id[i], int(row["unit"]))
                self.assertEqual(len(units["spike_times"][i]), int(row["spikes"]))
                self.assertAlmostEqual(units["isolation_distance"][i] / float(row["isolation_distance"]), 1, places=4)
                self.assertAlmostEqual(units["firing_rate"][i] / float(row["rate_hz"]), 1, places=4)
                self.assertTrue(np.isnan(units["snr"][i]))
                self.assertEqual(row["snr"], "")

    def test_the_series_of_an_nwb_with_units_is_sorted(self):
        recording = self.folder / "rec"
        subprocess.run([SPIKEWEAVE, "simulate", "recording", "--channels", "8", "--units", "3", "--length", "5s", "--seed", "2",
                        "-o", recording], check=True, stdout=subprocess.PIPE)
        samples = np.fromfile(recording / "traces.raw", np.int16).reshape(-1, 8)
        import datetime
        file = pynwb.NWBFile("both", "1", datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc))
        group = file.create_electrode_group("a", "a shank", "somewhere", file.create_device("probe"))
        for channel in range(8):
            file.add_electrode(group=group, location="somewhere", rel_x=0.0, rel_y=20.0 * channel)
        file.add_acquisition(pynwb.ecephys.ElectricalSeries(
            name="raw", data=samples, electrodes=file.create_electrode_table_region(list(range(8)), "all"), rate=30000.0,
            conversion=0.195e-6))
        file.add_unit(spike_times=[0.5, 1.0])
        path = self.folder / "both.nwb"
        with pynwb.NWBHDF5IO(path, "w") as io_:
            io_.write(file)

        labels, _ = self.sort(path)

        self.assertGreater(len(labels), 50)
        shutil.rmtree(self.out)
        only = pynwb.NWBFile("units", "2", datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc))
        only.add_unit(spike_times=[0.5, 1.0])
        with pynwb.NWBHDF5IO(self.folder / "units.nwb", "w") as io_:
            io_.write(only)
        self.assertIn("ElectricalSeries", self.refused("sort", self.folder / "units.nwb"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
