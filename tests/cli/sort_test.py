"""spikeweave sort."""

import json
import random
import struct
import unittest
import zipfile
from collections import Counter

from support import CliTest


def clouds(spikes=600, seed=1):
    """Makes features, masks and times of three units, each unmasked on one of three channels with two features."""
    draw = random.Random(seed)
    features, masks, times = [], [], []
    for n in range(spikes):
        own = draw.randrange(3)
        row = [draw.gauss(0, 1) for _ in range(6)]
        row[2 * own] += 12
        row[2 * own + 1] -= 9
        features.append(row)
        masks.append([1.0 if i // 2 == own else 0.0 for i in range(6)])
        times.append(1000 + 40 * n)
    return features, masks, times


def table(rows):
    return f"{len(rows[0])}\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows)


class Sort(CliTest):
    def probe(self, name="a"):
        """Writes name.fet.1 with its masks and times beside it."""
        features, masks, times = clouds()
        self.file(f"{name}.fmask.1", table(masks))
        self.file(f"{name}.res.1", "".join(f"{time}\n" for time in times))
        return self.file(f"{name}.fet.1", table(features))

    def labels(self, folder):
        with zipfile.ZipFile(self.folder / folder / "sorting.npz") as archive:
            data = archive.read("labels.npy")
        return list(struct.unpack("<600I", data[-2400:]))

    def test_finds_the_units_and_writes_the_folder(self):
        out = self.ok("sort", self.probe(), "--sample-rate", "20000", "-o", self.folder / "out").stdout

        self.assertRegex(out, "^3 units: .* 600 of 600 spikes in units")
        self.assertIn("converged", out)
        self.assertIn("600 spikes of units", out)
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()),
                         ["iterations.tsv", "phy", "report.html", "result.json", "run.json", "sorting.clu.1", "sorting.npz", "sorting.res.1", "spikes.npz",
                          "units.tsv", "waveforms.npz"])
        own = clouds()[1]
        self.assertEqual({(label, tuple(mask)) for label, mask in zip(self.labels("out"), own)},
                         set(zip(self.labels("out"), map(tuple, own))))
        self.assertEqual(len(set(zip(self.labels("out"), map(tuple, own)))), 3)

    def test_other_commands_read_what_it_writes(self):
        self.ok("sort", self.probe(), "--sample-rate", "20000", "-o", self.folder / "out")

        described = json.loads(self.ok("info", self.folder / "out/spikes.npz", "--json").stdout)
        self.assertEqual(described["spikes"], 600)
        self.ok("episodes", self.folder / "out/spikes.npz", "--min-count", "100")
        clusters = self.ok("info", self.folder / "out/sorting.res.1", "--time-unit", "samples:20000", "--json").stdout
        self.assertEqual(json.loads(clusters)["spikes"], 600)

    def test_the_quality_of_units_is_in_the_table(self):
        self.ok("sort", self.probe(), "--sample-rate", "20000", "--refractory", "3ms", "-o", self.folder / "out")
        rows = [line.split("\t") for line in (self.folder / "out/units.tsv").read_text().splitlines()]
        self.assertEqual(rows[0][5:], ["rate_hz", "quality_features", "l_ratio", "isolation_distance",
                                       "refractory_violations", "contamination", "snr", "presence_ratio", "firing_range",
                                       "amplitude_median", "amplitude_cv", "amplitude_cutoff", "separation", "peak_channel", "label", "reason",
                                       "possibly_one_neuron_with", "cross_talk_with", "origin"])
        self.assertEqual(len(rows), 4)
        for row in rows[1:]:
            self.assertAlmostEqual(float(row[5]), float(row[2]) * 20000 / (599 * 40), places=2)
            self.assertEqual(row[6], "2")
            self.assertLess(float(row[7]), 1e-6)
            self.assertGreater(float(row[8]), 50)
            # Spikes are 2 ms apart, and a third of them belong to the unit.
            self.assertAlmostEqual(float(row[9]), 1 / 3, delta=0.1)
            self.assertEqual(row[11], "")
            self.assertEqual(row[12], "1")
            # A third of the intervals is within the refractory period.
            self.assertEqual(row[19], "mua")
            self.assertRegex(row[20], "^contamination .*, limit 0.1$")

    def test_phy_is_read_by_other_commands_and_can_be_left_out(self):
        self.ok("sort", self.probe(), "--sample-rate", "20000", "--features-per-channel", "2", "-o", self.folder / "out")
        self.ok("episodes", self.folder / "out/phy", "--min-count", "100")
        again = self.ok("sort", self.folder / "out/phy", "-o", self.folder / "again").stdout
        self.assertIn("6 features, masks from mad", again)
        pairs = Counter(zip(self.labels("out"), self.labels("again")))
        self.assertGreater(sum(count for _, count in pairs.most_common(3)), 590)  # masks by rule are different
        self.assertEqual(len({found for (_, found), _ in pairs.most_common(3)}), 3)
        self.ok("sort", self.probe(), "--sample-rate", "20000", "--no-phy", "-o", self.folder / "without")
        self.assertFalse((self.folder / "without/phy").exists())
        (self.folder / "out/phy/phy.log").write_text("curated")
        self.refused("sort", self.probe(), "-o", self.folder / "out", "--overwrite", says="phy/phy.log")

    def test_says_why_there_are_no_times(self):
        path = self.probe()
        out = self.ok("sort", path, "-o", self.folder / "out").stdout
        self.assertIn("without --sample-rate", out)
        self.assertFalse((self.folder / "out/spikes.npz").exists())
        (self.folder / "a.res.1").unlink()
        self.assertIn("not known", self.ok("sort", path, "-o", self.folder / "out2").stdout)
        self.assertFalse((self.folder / "out2/sorting.res.1").exists())

    def test_json_parses_and_holds_the_run(self):
        result = self.ok("sort", self.probe(), "--json")

        run = json.loads(result.stdout)
        self.assertEqual(result.stderr, "")
        self.assertEqual(run["run"]["sorting"]["units"], 3)
        self.assertEqual(len(run["run"]["input"]["more_files"]), 2)
        self.assertEqual(sum(unit["spikes"] for unit in run["units"]), 600)
        self.assertEqual(run["iterations"][-1]["changed"], 0)
        self.assertEqual(self.names(), ["a.fet.1", "a.fmask.1", "a.res.1"])

    def test_files_do_not_depend_on_threads_or_strategy(self):
        path = self.probe()
        contents = []
        for i, options in enumerate((("--threads", "1"), ("--threads", "16"), ("--strategy", "reference"))):
            self.ok("sort", path, "--sample-rate", "20000", *options, "-o", self.folder / str(i))
            contents.append({file.name: file.read_bytes() for file in (self.folder / str(i)).rglob("*")
                             if file.is_file() and file.name not in ("run.json", "result.json", "report.html", "iterations.tsv")})
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(contents[0], contents[2])
        self.assertEqual((self.folder / "0/iterations.tsv").read_bytes(), (self.folder / "1/iterations.tsv").read_bytes())

    def test_begins_with_given_clusters(self):
        path = self.probe()
        start = self.file("start.clu.1", "2\n" + "".join(f"{2 + n % 2}\n" for n in range(600)))

        run = json.loads(self.ok("sort", path, "--start", start, "--max-iterations", "1", "--json").stdout)

        self.assertEqual(run["iterations"][0]["clusters"], 2)
        self.refused("sort", path, "--start", self.file("few.clu.1", "1\n2\n"), says=("few.clu.1", "600"))
        self.refused("sort", path, "--start", self.file("bad.clu.1", "1\n" + "-2\n" * 600), says=("bad.clu.1", "-2"))
        self.refused("sort", path, "--start", start, "--starting-clusters", "5", says="--starting-clusters")

    def test_begins_with_the_labels_of_an_archive(self):
        path = self.probe()
        self.ok("sort", path, "-o", self.folder / "first")
        run = json.loads(self.ok("sort", path, "--start", self.folder / "first/sorting.npz", "--json").stdout)
        self.assertEqual(run["iterations"][0]["changed"], 0)
        self.refused("sort", path, "--start", self.archive("few.npz", [1, 2]), says=("few.npz", "2 spikes", "600"))
        self.refused("sort", path, "--start", self.archive("bad.npz", [1] * 599 + [-1]), says=("spike 600", "-1"))

    def archive(self, name, labels):
        header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(labels)},), }}"
        header += " " * (53 - len(header) % 64 + 64 - 1) + "\n"
        with zipfile.ZipFile(self.folder / name, "w") as out:
            out.writestr("labels.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                         + struct.pack(f"<{len(labels)}q", *labels))
        return self.folder / name

    def test_finds_units_in_some_clusters_only(self):
        path = self.probe()
        own = [row.index(1.0) // 2 for row in clouds()[1]]
        joined = self.file("joined.clu.1", "2\n" + "".join("7\n" if unit == 0 else "4\n" for unit in own))

        out = self.ok("sort", path, "--start", joined, "--only-clusters", "4", "-o", self.folder / "out").stdout

        self.assertIn("3 units", out)
        labels = [int(line) for line in (self.folder / "out/sorting.clu.1").read_text().split()][1:]
        self.assertEqual({label for label, unit in zip(labels, own) if unit == 0}, {7})
        self.assertEqual(sorted(set(labels)), [7, 8, 9])
        self.assertEqual(len(set(zip(labels, own))), 3)
        table = (self.folder / "out/units.tsv").read_text().splitlines()[1:]
        self.assertEqual([line.split("\t")[:2] for line in table], [["6", "7"], ["7", "8"], ["8", "9"]])
        again = json.loads(self.ok("sort", path, "--start", self.folder / "out/sorting.npz", "--only-clusters", "6,7",
                                   "--json").stdout)
        self.assertEqual([unit["unit"] for unit in again["units"]], [8, 9, 10])
        for options, words in ((("--only-clusters", "5"), ("joined.clu.1", "cluster 5")),
                               (("--only-clusters", "4,x"), ("--only-clusters", "x")),
                               (("--only-clusters", "4", "--kk2-labels", "-o", self.folder / "no"), ("--kk2-labels",)),
                               (("--only-clusters", "4", "--incremental"), ("--incremental",))):
            with self.subTest(options):
                self.refused("sort", path, "--start", joined, *options, says=words)
        self.refused("sort", path, "--only-clusters", "4", says="--start")

    def test_sorts_spikes_as_they_come_and_by_a_model(self):
        path = self.probe()
        model = self.folder / "model.npz"
        out = self.ok("sort", path, "--incremental", "--first-fit", "200", "--save-model", model, "-o",
                      self.folder / "a").stdout
        self.assertIn("3 units", out)
        self.assertIn("fitted at spike 200 (first): 3 units", out)
        run = json.loads((self.folder / "a/run.json").read_text())
        self.assertEqual(run["sorting"]["stopped"], "assigned")
        self.assertEqual(run["sorting"]["fits"][0]["spikes"], 200)

        self.ok("sort", path, "--model", model, "-o", self.folder / "b")

        self.assertEqual(self.labels("a"), self.labels("b"))
        self.refused("sort", path, "--save-model", model, says=("model.npz", "exists"))
        self.refused("sort", path, "--model", path, says="a.fet.1")
        self.refused("sort", path, "--refit-above", "3", says="--incremental")
        self.refused("sort", path, "--incremental", "--refit-above", "0", says="--refit-above")
        few = self.file("few.fet.1", "2\n" + "1 2\n" * 5)
        self.refused("sort", few, "--mask", "all", "--model", model, says=("2", "6"))

    def test_labels_are_numbered_as_asked(self):
        path = self.probe()
        self.ok("sort", path, "-o", self.folder / "2")
        self.ok("sort", path, "--kk2-labels", "-o", self.folder / "3")
        first = [int(line) for line in (self.folder / "2/sorting.clu.1").read_text().split()]
        second = [int(line) for line in (self.folder / "3/sorting.clu.1").read_text().split()]
        self.assertEqual((first[0], second[0]), (3, 3))
        self.assertEqual([label + 1 for label in first[1:]], second[1:])

    def test_warns_of_masks_that_are_made_and_of_an_early_stop(self):
        path = self.probe()
        made = self.ok("sort", path, "--mask", "mad", "--features-per-channel", "2")
        self.assertIn("masks from mad", made.stdout)
        self.assertIn("miss units that fire often", self.ok("sort", path, "--mask", "seed").stderr)
        start = self.file("start.clu.1", "2\n" + "".join(f"{2 + n % 2}\n" for n in range(600)))
        early = self.ok("sort", path, "--start", start, "--max-iterations", "1")
        self.assertIn("warning: Stopped before convergence (max-iterations)", early.stderr)

    def test_lists_the_strategies_of_its_build(self):
        listed = [line.split()[0] for line in self.ok("sort", "--list-strategies").stdout.splitlines()[:-1]]
        with_cuda = "built without CUDA" not in self.ok("devices").stdout
        self.assertEqual(listed, ["automatic", "reference", "cpu", *(["cuda"] if with_cuda else [])])

    def test_records_every_parameter_as_it_was_resolved(self):
        path = self.probe()
        self.ok("sort", path, "--starting-clusters", "auto", "--save-model", self.folder / "model.npz", "-o", self.folder / "out",
                "--device", "cpu", "--no-splits")
        parameters = json.loads((self.folder / "out/run.json").read_text())["parameters"]
        self.assertEqual([parameters[name] for name in ("starting_clusters", "deletions", "splits", "start", "refractory")],
                         ["auto", "one", False, None, "1.5 ms"])
        self.assertEqual([parameters[name] for name in ("strategy", "device", "features_per_channel", "sample_rate")],
                         ["cpu", "cpu", 3, None])
        self.assertEqual(parameters["save_model"], str(self.folder / "model.npz"))
        self.assertNotIn("strong_threshold", parameters)

    def test_names_what_is_wrong(self):
        path = self.probe()
        broken = self.file("b.fet.1", "2\n1 2\n3 oops\n")
        for arguments, words in (
                ((broken,), ("b.fet.1", "line 3, column 2", "oops")),
                ((self.folder / "none.fet.1",), ("none.fet.1",)),
                ((self.file("c.fet.1", ""),), ("c.fet.1", "empty")),
                ((path, "--masks", broken), ("b.fet.1",)),
                ((path, "--masks", broken, "--mask", "mad"), ("--mask",)),
                ((path, "--mask", "magic"), ("--mask", "magic", "mad")),
                ((path, "--mask", "mad", "--features-per-channel", "4"), ("6 features", "4")),
                ((path, "--features-per-channel", "0"), ("--features-per-channel",)),
                ((path, "--time-column", "perhaps"), ("--time-column", "perhaps")),
                ((path, "--sample-rate", "-1"), ("--sample-rate",)),
                ((path, "--starting-clusters", "0"), ("--starting-clusters",)),
                ((path, "--stop", "magic"), ("--stop", "magic", "klustakwik2")),
                ((path, "--points-for-cluster-mask", "0"), ("--points-for-cluster-mask",)),
                ((path, "--prior-point", "0"), ("--prior-point",)),
                ((path, "--no-splits", "--split-first", "3"), ("--no-splits",)),
                ((path, "--deletions", "some"), ("--deletions", "some", "one")),
                ((path, "--split-start", "magic"), ("--split-start", "magic")),
                ((path, "--strategy", "magic"), ("--strategy", "magic", "cpu")),
                ((path, "--kk2-labels"), ("--output",)),
                ((path, "--no-phy"), ("--output",)),
                ((path, "--nwb"), ("--output",)),
                ((path, "--nwb", "-o", self.folder / "out"), ("--nwb", "--sample-rate")),
                ((path, "--channel-group", "1"), ("is not a .kwik or .kwx",)),
                ((path, "--refractory", "2"), ("--refractory",)),
                ((path, "--start", path), ("holds no clusters",)),
                ((self.file("d.kwx", "text"),), ("d.kwx",)),
                ((self.folder,), ("has no pc_features.npy",)),
                ((path, "--overwrite"), ("--output",)),
                ((path, "--threads", "-1"), ("--threads",)),
                ((path, "-o", path / "such"), ("no folder",)),
        ):
            with self.subTest(arguments):
                self.refused("sort", *arguments, says=words)

    def test_replaces_its_own_folder_only_when_asked(self):
        path = self.probe()
        self.ok("sort", path, "-o", self.folder / "out")
        self.refused("sort", path, "-o", self.folder / "out", says="--overwrite")
        self.ok("sort", path, "-o", self.folder / "out", "--overwrite")
        (self.folder / "out" / "thesis.tex").write_text("years of work")
        self.refused("sort", path, "-o", self.folder / "out", "--overwrite", says="thesis.tex")


if __name__ == "__main__":
    unittest.main()
