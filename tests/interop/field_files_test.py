"""Files of laboratories: folders of sorters and acquisition systems, NWB and other HDF5, and what is said about them.

Usage: field_files_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without h5py, numpy and pynwb; tests
of real files are skipped by name where ../shared is absent.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy as np
    import pynwb
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

SPIKEWEAVE = sys.argv.pop(1)
SHARED = pathlib.Path(os.environ.get("SPIKEWEAVE_SHARED_DATA", pathlib.Path(__file__).resolve().parents[3] / "shared/data"))
CULTURES, LABS = SHARED / "cultures", SHARED / "labs"
RATE = 30000
draw = np.random.default_rng(4)
# Ten seconds of three units at about 20 Hz.
SAMPLES = np.sort(draw.choice(10 * RATE, 600, replace=False)).astype(np.int64)
CLUSTERS = draw.integers(3, size=600).astype(np.int32)


def trains_of(lists):
    """Returns the times of all units one after another, and where each ends."""
    return np.concatenate(lists), np.cumsum([len(one) for one in lists])


class FieldFiles(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def run_command(self, *arguments, rc=0):
        done = subprocess.run([SPIKEWEAVE, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, rc, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def info(self, path, *options):
        return json.loads(self.run_command("info", path, "--json", *options).stdout)

    def refused(self, *arguments, says=()):
        error = self.run_command(*arguments, rc=2).stderr
        for words in (says,) if isinstance(says, str) else says:
            self.assertIn(words, error)
        return error

    def counts(self, found):
        return {unit["name"]: unit["spikes"] for unit in found["units"]}

    def times(self, path, *options):
        """Returns the times of each unit in seconds."""
        out = self.folder / "times.tsv"
        self.run_command("convert", path, out, "--overwrite", *options)
        times = {}
        with open(out, encoding="utf-8") as lines:
            for row in csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"):
                times.setdefault(row["unit"], []).append(float(row["time_s"]))
        return {unit: np.array(train) for unit, train in times.items()}

    def assert_times(self, path, expected, *options):
        found = self.times(path, *options)
        self.assertEqual(sorted(found), sorted(expected))
        for unit, train in expected.items():
            np.testing.assert_allclose(found[unit], np.sort(train), atol=0.6e-6, rtol=0, err_msg=unit)

    def phy(self, name="phy", times=SAMPLES, clusters=CLUSTERS, **files):
        folder = self.folder / name
        folder.mkdir(parents=True)
        (folder / "params.py").write_text(f"sample_rate = {RATE}.0\n", encoding="utf-8")
        np.save(folder / "spike_times.npy", times)
        np.save(folder / "spike_clusters.npy", clusters)
        for stem, text in files.items():
            (folder / stem.replace("__", ".")).write_text(text, encoding="utf-8")
        return folder

    def table(self, name, header, columns):
        path = self.folder / name
        rows = "".join(",".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))
        path.write_text(header + "\n" + rows, encoding="utf-8")
        return path

    # Times

    def open_ephys(self, folder, clusters=None, version=5):
        folder.mkdir(parents=True)
        names = (("spike_times", "spike_electrode_indices", "spike_clusters") if version == 5
                 else ("sample_numbers", "electrode_indices", "clusters"))
        arrays = (SAMPLES, CLUSTERS.astype(np.uint16) + 1, np.zeros(600, np.uint16) if clusters is None else clusters)
        for file, array in zip(names, arrays, strict=True):
            np.save(folder / f"{file}.npy", array)
        return folder

    def test_spikes_of_open_ephys_are_those_of_its_electrodes(self):
        for version in (5, 6):
            folder = self.open_ephys(self.folder / f"v{version}/spikes/Detector-1.0/group_1", version=version)
            self.refused("info", folder, says=("structure.oebin", "--time-unit samples:RATE"))
            expected = {str(e + 1): SAMPLES[CLUSTERS == e] / RATE for e in range(3)}
            self.assert_times(folder, expected, "--time-unit", f"samples:{RATE}")
            (folder.parents[2] / "structure.oebin").write_text(json.dumps({
                "continuous": [{"folder_name": "A/", "sample_rate": 1000}],
                "spikes": [{"folder_name": "Detector-1.0/group_1/", "sample_rate": RATE}]}), encoding="utf-8")
            found = self.info(folder)
            self.assertEqual((found["format"], found["duplicates_dropped"], found["warnings"]), ("open-ephys", 0, []))
            self.assert_times(folder, expected)

    def test_spikes_of_open_ephys_are_of_several_groups_and_sorted_units(self):
        clusters = (np.arange(600) % 2).astype(np.uint16)
        self.open_ephys(self.folder / "spikes/Detector-1.0/a", clusters)
        self.open_ephys(self.folder / "spikes/Detector-1.0/b")
        found = self.info(self.folder / "spikes", "--time-unit", f"samples:{RATE}")
        names = [f"Detector-1.0/{one}" for one in ("a/1", "a/1_1", "a/2", "a/2_1", "a/3", "a/3_1", "b/1", "b/2", "b/3")]
        self.assertEqual([unit["name"] for unit in found["units"]], names)
        self.assertEqual(found["units"][1]["label"], "sorted")
        only = self.info(self.folder / "spikes", "--time-unit", f"samples:{RATE}", "--labels", "sorted")
        self.assertEqual(only["unit_count"], 3)
        np.save(self.folder / "spikes/Detector-1.0/b/spike_clusters.npy", clusters[:-1])
        self.refused("info", self.folder / "spikes", "--time-unit", f"samples:{RATE}",
                     says=("Detector-1.0/b", "600 times, 600 electrodes and 599 clusters"))

    def test_spikes_on_standard_input_are_called_so(self):
        said = subprocess.run([SPIKEWEAVE, "episodes", "-", "--only-units", "c"], input="0.1 a\n0.2 b\n", capture_output=True,
                              text=True, check=False)
        self.assertEqual(said.returncode, 2)
        self.assertIn("standard input: no unit is named 'c'", said.stderr)
        self.assertNotIn("/proc", said.stderr)

    def test_a_folder_of_alf_is_read_in_seconds(self):
        folder = self.folder / "alf"
        folder.mkdir()
        np.save(folder / "spikes.times.npy", SAMPLES / RATE)
        self.refused("info", folder, says="has no spikes.clusters.npy")
        np.save(folder / "_ibl_spikes.clusters.probe00.npy", CLUSTERS)
        self.assert_times(folder, {str(c): SAMPLES[CLUSTERS == c] / RATE for c in range(3)})
        self.assertEqual(self.info(folder)["format"], "alf")
        np.save(folder / "spikes.times.probe01.npy", SAMPLES / RATE)
        self.refused("info", folder, says=("several files of ALF", "spikes.times.probe01.npy"))

    def test_seconds_are_no_samples(self):
        folder = self.phy(times=SAMPLES / RATE)
        says = ("spike_times.npy", "item 0", f"found {SAMPLES[0] / RATE:.17g}"[:12], "whole number of samples", "--time-unit s")
        self.refused("info", folder, says=says)
        self.assert_times(folder, {str(c): SAMPLES[CLUSTERS == c] / RATE for c in range(3)}, "--time-unit", "s")
        np.save(self.folder / "rows.npy", np.column_stack((SAMPLES / RATE, CLUSTERS)))
        self.refused("info", self.folder / "rows.npy", "--time-unit", f"samples:{RATE}", says="whole number of samples")
        np.save(folder / "spike_times.npy", SAMPLES.astype(float))  # whole numbers of another type
        self.assert_times(folder, {str(c): SAMPLES[CLUSTERS == c] / RATE for c in range(3)})

    def trials(self, trials=30, units=5, spikes=8):
        times, of_trial, of_unit = [], [], []
        for trial in range(trials):
            for unit in range(units):
                times += sorted(draw.uniform(0, 2, spikes).round(4))
                of_trial += [trial] * spikes
                of_unit += [f"u{unit}"] * spikes
        return times, of_trial, of_unit

    def test_trials_over_one_another_are_noticed(self):
        times, trial, unit = self.trials()
        column = self.table("column.csv", "trial,time_s,unit", (trial, times, unit))
        (warning,) = [one for one in self.info(column)["warnings"] if "begin again" in one]
        self.assertIn("The column trial is not used. The times of 5 units begin again, up to 29 times each", warning)
        self.assertIn("begin again", self.run_command("episodes", column).stderr)
        without = self.table("without.csv", "time_s,unit", (times, unit))
        self.assertTrue(any("The times of 5 units begin again" in one for one in self.info(without)["warnings"]))
        order = np.lexsort((times, trial))
        by_time = self.table("by_time.csv", "time_s,unit,Sweep", (np.take(times, order), np.take(unit, order), np.take(trial, order)))
        self.assertTrue(any("The column sweep is not used" in one for one in self.info(by_time)["warnings"]))
        np.save(self.folder / "rows.npy", np.column_stack((times, [int(one[1:]) for one in unit])))
        self.assertTrue(any("begin again" in one for one in self.info(self.folder / "rows.npy")["warnings"]))

    def test_spikes_in_another_order_are_no_trials(self):
        times, units = SAMPLES / RATE, CLUSTERS
        for name, order in (("by_unit", np.lexsort((times, units))), ("none", draw.permutation(600)), ("back", np.arange(600)[::-1])):
            path = self.table(f"{name}.csv", "time_s,unit", (times[order], units[order]))
            self.assertEqual([one for one in self.info(path)["warnings"] if "again" in one], [], name)
        trial = (times // 2).astype(int)
        path = self.table("recorded.csv", "trial,time_s,unit", (trial, times, units))  # times of the recording
        self.assertEqual([one for one in self.info(path)["warnings"] if "again" in one], [])

    def test_times_of_32_bits_are_too_coarse_for_long_recordings(self):
        late = (SAMPLES / RATE + 40000).astype(np.float32)
        np.save(self.folder / "rows.npy", np.column_stack((late, CLUSTERS.astype(np.float32))))
        np.savez(self.folder / "arrays.npz", t=late, index=CLUSTERS)
        self.nwb(self.folder / "units.nwb", [late[CLUSTERS == c] for c in range(3)], dtype="f4")
        phy = self.phy(times=(SAMPLES + 2**25).astype(np.float32))
        for path, step in ((self.folder / "rows.npy", "3.90"), (self.folder / "arrays.npz", "3.90"),
                           (self.folder / "units.nwb", "3.90"), (phy, "133 us")):
            (warning,) = [one for one in self.info(path)["warnings"] if "32 bits" in one]
            self.assertIn(f"which are {step}", warning)
        np.save(self.folder / "short.npy", np.column_stack((SAMPLES / RATE, CLUSTERS)).astype(np.float32))
        self.assertEqual(self.info(self.folder / "short.npy")["warnings"], [])

    def test_nanoseconds_are_a_unit(self):
        expected = {str(c): SAMPLES[CLUSTERS == c] / RATE for c in range(3)}
        ns = np.rint(SAMPLES / RATE * 1e9).astype(np.int64)
        for heading in ("time_ns", "Time (ns)", "timestamps [nanoseconds]"):
            self.assert_times(self.table("ns.csv", f"{heading},unit", (ns, CLUSTERS)), expected)
        plain = self.table("plain.csv", "time,unit", (ns, CLUSTERS))
        self.assert_times(plain, expected, "--time-unit", "ns")
        np.save(self.folder / "rows.npy", np.column_stack((ns, CLUSTERS)))
        self.assert_times(self.folder / "rows.npy", expected, "--time-unit", "ns")
        milliseconds = self.table("ms.csv", "spike_time_milliseconds,unit", (SAMPLES / RATE * 1e3, CLUSTERS))
        self.assert_times(milliseconds, expected)
        self.assertIn("5-10ms", self.run_command("episodes", plain, "--time-unit", "ns", "--delays", "5000000ns-10ms").stdout)

    # Units and labels

    def test_units_without_a_ratio_are_named(self):
        folder = self.phy(clusters=np.where(CLUSTERS == 0, 9, CLUSTERS).astype(np.int32),
                          cluster_snr__tsv="cluster_id\tsnr\n0\t9\n1\t8\n2\tbad\n")
        error = self.run_command("episodes", folder, "--min-snr", "5").stderr
        self.assertIn("The signal-to-noise ratio of units 2, 9 is not known", error)
        self.assertIn("cluster_snr.tsv', cluster 2: found \"bad\"", error.replace("'bad'", '"bad"'))
        self.nwb(self.folder / "units.nwb", [SAMPLES[CLUSTERS == c] / RATE for c in range(3)], snr=[9.0, np.nan, 1.0])
        found = self.info(self.folder / "units.nwb", "--min-snr", "5")
        self.assertEqual(list(self.counts(found)), ["0", "1"])
        self.assertTrue(any("unit 1 is not known" in one for one in found["left_out"]), found["left_out"])

    def test_only_units_that_are_used_are_compared(self):
        times = {"good": SAMPLES[:400] / RATE, "mua": np.sort(np.concatenate((SAMPLES / RATE, draw.uniform(0, 10, 300))))}
        rows = sorted((time, unit) for unit, train in times.items() for time in train)
        path = self.table("pair.csv", "time_s,unit", tuple(zip(*rows, strict=True)))
        drop = "--drop-duplicates-of-units"
        self.assertEqual(list(self.counts(self.info(path, drop))), ["mua"])
        for options in (("--only-units", "good"), ("--only-units", "left", "--groups", self.folder / "groups.csv")):
            (self.folder / "groups.csv").write_text("good,left\n", encoding="utf-8")
            found = self.info(path, drop, *options)
            self.assertEqual((found["unit_count"], found["spikes"]), (1, 400))
            self.assertEqual(found["units_dropped"], [])

    def test_labels_are_found_in_the_files_of_sorters(self):
        rows = ("0", "noise"), ("1", "good"), ("2", "mua")
        tables = {
            "cluster_group__tsv": "cluster_id\tgroup\n" + "".join(f"{c}\t{label}\n" for c, label in rows),
            "cluster_group__csv": "cluster_id,group\n" + "".join(f"{c},{label}\n" for c, label in rows),
            "cluster_KSLabel__tsv": "cluster_id\tKSLabel\n" + "".join(f"{c}\t{label}\n" for c, label in rows),
            "cluster_info__tsv": "id\tamp\tgroup\n" + "".join(f"{c}\t7\t{label}\n" for c, label in rows),
            "cluster_labels__csv": '"","cluster_id","label"\n' + "".join(f'"9","{c}","{label}"\n' for c, label in rows),
        }
        pandas = "\tcluster_id\tgroup\n" + "".join(f"7\t{c}.0\t{label.upper()}\n" for c, label in rows)
        for i, (name, text) in enumerate([*tables.items(), ("cluster_group__tsv", pandas)]):
            folder = self.phy(f"phy{i}", **{name: text})
            found = self.info(folder)
            self.assertEqual([unit["label"] for unit in found["units"]], ["noise", "good", "mua"], name)
            self.assertIn("Of 3 units, the one labelled good is used", self.run_command("episodes", folder).stderr)

    def test_the_labels_of_a_person_come_before_those_of_the_sorter(self):
        folder = self.phy(cluster_group__tsv="cluster_id\tgroup\n1\tgood\n",
                          cluster_KSLabel__tsv="cluster_id\tKSLabel\n0\tgood\n1\tmua\n2\tgood\n")
        self.assertEqual([unit["label"] for unit in self.info(folder)["units"]], ["unsorted", "good", "unsorted"])

    def test_a_bad_row_beside_the_spikes_ends_nothing(self):
        folder = self.phy(cluster_group__tsv="cluster_id\tgroup\nfive\tnoise\n1.5\tmua\n\n1\tgood\n2\n")
        found = self.info(folder)
        self.assertEqual([unit["label"] for unit in found["units"]], ["unsorted", "good", "unsorted"])
        self.assertEqual(len(found["warnings"]), 2)
        self.assertIn("cluster_group.tsv', line 2: found", found["warnings"][0])
        self.assertIn("is not used", found["warnings"][1])

    def test_clusters_are_no_electrodes(self):
        clusters = (np.arange(600) % 62).astype(np.int32)
        self.assertEqual(self.info(self.phy(clusters=clusters))["warnings"], [])
        path = self.table("clusters.csv", "time_s,cluster_id", (SAMPLES / RATE, clusters))
        self.assertEqual(self.info(path)["warnings"], [])
        path = self.table("channels.csv", "time_s,channel", (SAMPLES / RATE, clusters))
        self.assertTrue(any("the stimulus" in one for one in self.info(path)["warnings"]))

    # NWB

    def nwb(self, path, trains, dtype="f8", ids=None, trials=None, **columns):
        times, ends = trains_of(trains)
        with h5py.File(path, "w") as file:
            units = file.create_group("units")
            units.attrs["colnames"] = np.array(["spike_times", *columns], dtype=h5py.string_dtype())
            units["spike_times"] = times.astype(dtype)
            units["spike_times_index"] = ends.astype("u4")
            units["id"] = np.arange(len(trains)) if ids is None else ids
            for name, values in columns.items():
                units[name] = values
            if trials is not None:
                table = file.create_group("intervals/trials")
                table.attrs["colnames"] = np.array(["start_time", "stop_time"], dtype=h5py.string_dtype())
                table["start_time"], table["stop_time"] = np.array(trials, dtype="f8").T
        return path

    def three(self):
        return [SAMPLES[CLUSTERS == c] / RATE for c in range(3)]

    def test_units_of_nwb_with_the_same_ids_are_numbered(self):
        path = self.nwb(self.folder / "ids.nwb", self.three() + self.three(), ids=[0, 1, 2, 0, 1, 2])
        found = self.info(path)
        self.assertEqual(list(self.counts(found)), list("012345"))
        self.assertIn("The ids of the units repeat", found["warnings"][0])
        self.assertIn("numbered from 0", found["warnings"][0])

    def test_trials_in_nwb_are_noticed(self):
        trains = [np.concatenate([np.sort(draw.uniform(0, 2, 20)) for _ in range(20)]) for _ in range(3)]
        found = self.info(self.nwb(self.folder / "trials.nwb", trains))
        self.assertTrue(any("The times of 3 units begin again, up to 19 times each" in one for one in found["warnings"]))

    def test_labels_of_nwb_are_in_a_column_of_several_names(self):
        for name in ("quality", "label", "ks2_label", "group"):
            path = self.nwb(self.folder / f"{name}.nwb", self.three(), **{name: np.array(["Good", "MUA", "noise"], dtype="S5")})
            self.assertEqual([unit["label"] for unit in self.info(path)["units"]], ["good", "mua", "noise"], name)
            self.assertEqual(self.info(path, "--labels", "good,mua")["unit_count"], 2)
        path = self.nwb(self.folder / "areas.nwb", self.three(), label=np.array(["CA1", "CA3", "DG"], dtype="S5"))
        self.assertNotIn("label", self.info(path)["units"][0])

    def test_an_open_trial_is_left_out_where_its_end_is_needed(self):
        path = self.nwb(self.folder / "open.nwb", self.three(), trials=[(0, 2), (3, 5), (6, np.nan)])
        around = self.run_command("episodes", path, "--around", "trials:0s..1s", "--json")
        self.assertEqual(around.stderr.count("left out"), 0)
        self.assertEqual(len(json.loads(around.stdout)["run"]["input"]["epochs_s"]), 3)
        epochs = self.run_command("episodes", path, "--epochs", path, "--json")
        self.assertIn("Of 3 intervals in /intervals/trials, the begin or the end of one is not known", epochs.stderr)
        self.assertEqual(len(json.loads(epochs.stdout)["run"]["input"]["epochs_s"]), 2)
        none = self.nwb(self.folder / "none.nwb", self.three(), trials=[(0, np.nan)])
        self.refused("episodes", none, "--epochs", none, says="at least 1 of both")

    # Messages

    def test_folders_of_phy_below_are_named(self):
        self.phy("run/imec0/sorter_output")
        self.phy("run/imec1/sorter_output")
        self.refused("info", self.folder / "run", says=("imec0/sorter_output'", "imec1/sorter_output'", "folders of Phy below"))

    def test_files_of_other_programs_are_named(self):
        for name, head, says in (("spikes.mat", b"MATLAB 5.0 MAT-file, Platform: PCWIN64" + bytes(90), "a file of MATLAB"),
                                 ("v73.mat", b"MATLAB 7.3 MAT-file" + bytes(600), "a file of MATLAB"),
                                 ("x.pl2", b"PLXE" + bytes(300), "only with Plexon's library for Windows"),
                                 ("x.NEV", b"NEURALEV" + bytes(300), "spikeweave.read"),
                                 ("t.parquet", b"PAR1" + bytes(80), "Parquet"),
                                 ("t.xlsx", b"PK\x03\x04" + bytes(80), ".csv")):
            path = self.folder / name
            path.write_bytes(head)
            error = self.refused("info", path, says=(name, says))
            if name != "x.NEV":
                self.assertNotIn("--channels", error)

    # HDF5 of cultures and of klusta

    def culture(self, path, names, by_row=False):
        trains = [np.sort(draw.uniform(0, 60, 40)) for _ in names]
        places = np.array([(200.0 * i, 50.0) for i in range(len(names))])
        times, ends = trains_of(trains)
        with h5py.File(path, "w") as file:
            file["spikes"], file["sCount"] = times, np.diff(ends, prepend=0).astype("i4")
            file["names"] = np.array(names, dtype="S14")
            file["epos"] = places if by_row else places.T
            file["recordingtime"] = [0.0, 90.0]
        return trains, places

    def test_a_culture_of_eglen_is_read(self):
        path = self.folder / "culture.h5"
        for by_row in (False, True):
            names = ["ch_21A", "ch_12B", "ch_13B"]
            trains, places = self.culture(path, names, by_row)
            self.assert_times(path, dict(zip(names, trains, strict=True)))
            found = self.info(path)
            self.assertEqual((found["format"], found["span_s"]), ("eglen", [0, 90]))
            self.assertEqual({unit["name"]: (unit["x_um"], unit["y_um"]) for unit in found["units"]},
                             dict(zip(names, map(tuple, places.tolist()), strict=True)))

    def test_units_of_doses_are_no_table_of_nwb(self):
        path = self.folder / "plate.h5"
        trains, _ = self.culture(path, ["A1_11", "A1_12"])
        with h5py.File(path, "a") as file:
            file["well"], file["units"] = np.array(["A1", "A2"], "S2"), np.array(["ug/ml"] * 2, "S5")
        self.assert_times(path, {"A1_11": trains[0], "A1_12": trains[1]})

    def test_wells_of_a_plate_are_not_taken_for_one_culture_in_silence(self):
        path = self.folder / "plate.h5"
        trains, _ = self.culture(path, ["A1_11", "A1_12", "B2_11", "C12_88"])
        says = "The units come from 3 wells of a plate, which are separate cultures (A1, B2, C12)"
        self.assertIn(says, self.run_command("episodes", path).stderr)
        self.assertIn("--only-units A1 uses those of one well", self.run_command("episodes", path).stderr)
        one = self.info(path, "--only-units", "A1")
        self.assertEqual(self.counts(one), {"A1_11": len(trains[0]), "A1_12": len(trains[1])})
        self.assertEqual(one["warnings"], [])
        self.refused("info", path, "--only-units", "D4", says="no unit is named 'D4'")

    def test_a_damaged_culture_is_refused(self):
        path = self.folder / "culture.h5"
        for name, values, says in (("sCount", [40, 41], "expected all units together to have 80"),
                                   ("sCount", [40, 39], "found 79 spikes of units, expected all 80"),
                                   ("sCount", [-1, 81], "found -1"),
                                   ("epos", np.zeros((3, 3)), "the x and y of each unit"),
                                   ("names", np.array(["a"], dtype="S1"), "expected 2 texts"),
                                   ("recordingtime", [1.0], "the begin and the end"),
                                   ("spikes", np.full(80, np.nan), "found nan, expected a time in seconds")):
            self.culture(path, ["a", "b"])
            with h5py.File(path, "a") as file:
                del file[name]
                file[name] = values
            self.refused("info", path, says=("culture.h5", says))

    def test_clusters_of_klusta_are_units(self):
        path = self.folder / "a.kwik"
        with h5py.File(path, "w") as file:
            file.create_group("recordings/0").attrs["sample_rate"] = float(RATE)
            for group in (0, 3):
                at = file.create_group(f"channel_groups/{group}")
                at["spikes/time_samples"] = (SAMPLES + group).astype("u8")
                at["spikes/clusters/main"] = CLUSTERS
                for cluster, number in enumerate((0, 1, 2)):
                    at.create_group(f"clusters/main/{cluster}").attrs["cluster_group"] = number
        expected = {f"{g}_{c}": (SAMPLES[CLUSTERS == c] + g) / RATE for g in (0, 3) for c in range(3)}
        self.assert_times(path, expected)
        found = self.info(path)
        self.assertEqual([unit["label"] for unit in found["units"]], ["noise", "mua", "good"] * 2)
        with h5py.File(path, "a") as file:
            del file["channel_groups/3"]
        self.assertEqual(list(self.counts(self.info(path))), ["0", "1", "2"])
        with h5py.File(path, "a") as file:
            del file["recordings"]
        self.refused("info", path, says=("no sample rate", "samples:RATE"))

    def test_other_hdf5_is_refused_by_what_is_in_it(self):
        path = self.folder / "other.h5"
        with h5py.File(path, "w") as file:
            file["Data/Recording_0/x"] = [1]
        self.refused("episodes", path, says=("HDF5 with 'Data'", "Multi Channel DataManager", "/units (NWB)"))
        self.refused("sort", path, says=("other.h5': is HDF5, expected a recording in NWB", "spikeweave.read_recording"))

    # Real files

    @unittest.skipUnless(CULTURES.is_dir(), "there are no shared data")
    def test_real_cultures_have_the_counts_and_places_that_h5py_reads(self):
        for path in sorted(CULTURES.glob("*.h5")):
            with self.subTest(path.name), h5py.File(path) as file:
                names = [name.decode() for name in file["names"][:]]
                found = self.info(path)
                units = {unit["name"]: unit for unit in found["units"]}
                self.assertEqual({name: unit["spikes"] for name, unit in units.items()},
                                 dict(zip(names, file["sCount"][:].tolist(), strict=True)))
                self.assertEqual([(units[name]["x_um"], units[name]["y_um"]) for name in names],
                                 [tuple(place) for place in file["epos"][:].T.tolist()])
                ends = np.cumsum(file["sCount"][:])
                self.assert_times(path, dict(zip(names, np.split(file["spikes"][:], ends[:-1]), strict=True)))
                wells = {name[:2] for name in names} if path.name.startswith("ON_") else {""}
                self.assertEqual(any("wells of a plate" in one for one in found["warnings"]), len(wells) > 1)

    @unittest.skipUnless(LABS.is_dir(), "there are no shared data")
    def test_files_of_laboratories_are_read(self):
        phy = LABS / "phy/phy_example_0"
        clusters, samples = (np.load(phy / f"spike_{name}.npy").ravel() for name in ("clusters", "times"))
        self.assert_times(phy, {str(c): samples[clusters == c] / 32000 for c in np.unique(clusters)})
        groups = dict(line.split("\t") for line in (phy / "cluster_group.tsv").read_text().splitlines()[1:])
        self.assertEqual({unit["name"]: unit["label"] for unit in self.info(phy)["units"]}, groups)
        with h5py.File(LABS / "kwik/neo.kwik") as file:
            rate = file["recordings/0"].attrs["sample_rate"]
            expected = {}
            for group, at in file["channel_groups"].items():
                main, times = at["spikes/clusters/main"][:], at["spikes/time_samples"][:]
                expected |= {f"{group}_{c}": times[main == c] / rate for c in np.unique(main)}
        self.assert_times(LABS / "kwik/neo.kwik", expected)
        nwb = LABS / "nwb/ecephys_tutorial_v2.5.0.nwb"
        with pynwb.NWBHDF5IO(str(nwb), "r") as io:
            units = io.read().units
            self.assert_times(nwb, {str(units.id[i]): units["spike_times"][i] for i in range(len(units))})
        spikes = LABS / "openephysbinary/v0.4.4.1_with_spikes/experiment1/recording1/spikes/Spike_Viewer-125_124.0/spike_group_1"
        electrodes, samples = np.load(spikes / "spike_electrode_indices.npy"), np.load(spikes / "spike_times.npy")
        self.assert_times(spikes, {str(e): np.unique(samples[electrodes == e]) / 30000 for e in np.unique(electrodes)})

    @unittest.skipUnless(LABS.is_dir(), "there are no shared data")
    def test_files_of_nest_are_read_or_the_reason_is_said(self):
        steps = np.loadtxt(LABS / "nest/0gid-1time_in_steps-1258-0.gdf")
        expected = {str(int(unit)): steps[steps[:, 0] == unit, 1] * 1e-4 for unit in np.unique(steps[:, 0])}
        self.assert_times(LABS / "nest/0gid-1time_in_steps-1258-0.gdf", expected, "--time-unit", "samples:10000")
        for name in ("0time-1255-0.gdf", "0time_in_steps-1257-0.gdf"):
            self.refused("info", LABS / "nest" / name, says=(name, "line 1", "found 1 columns", "expected 2 (a time and a unit)"))

    @unittest.skipUnless(LABS.is_dir(), "there are no shared data")
    def test_files_that_only_the_package_reads_say_so(self):
        for path in (LABS / "blackrock/blackrock_3_0/file_spec_3_0.nev",
                     LABS / "neuralynx/Cheetah_v5.5.1/original_data/STet3a.nse",
                     LABS / "openephys/OpenEphys_SampleData_1/STp106.0n0.spikes"):
            self.refused("info", path, says=(path.name, "spikeweave.read"))


if __name__ == "__main__":
    unittest.main()
