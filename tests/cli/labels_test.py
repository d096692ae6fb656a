"""Labels of units: good, mua, noise, unsorted."""

import json
import random
import unittest

from support import CliTest


class Labels(CliTest):
    def sorted_folder(self):
        """Sorts the spikes of three units, each on its own channel; returns the folder."""
        draw = random.Random(1)
        features, masks, times = [], [], []
        for n in range(600):
            own = draw.randrange(3)
            features.append([draw.gauss(0, 1) + (12 if i // 2 == own else 0) for i in range(6)])
            masks.append([1.0 if i // 2 == own else 0.0 for i in range(6)])
            times.append(1000 + 40 * n)
        for ending, rows in (("fet", features), ("fmask", masks)):
            self.file(f"a.{ending}.1", f"{len(rows[0])}\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows))
        self.file("a.res.1", "".join(f"{time}\n" for time in times))
        out = self.folder / "out"
        self.ok("sort", self.folder / "a.fet.1", "--sample-rate", "20000", "--nwb", "-o", out)
        return out

    def curated(self, labels=("good", "mua", "unsorted")):
        """Returns a Phy folder whose units 1, 2, … were given these labels."""
        phy = self.sorted_folder() / "phy"
        rows = "".join(f"{unit}\t{label}\n" for unit, label in enumerate(labels, 1))
        (phy / "cluster_group.tsv").write_text("cluster_id\tgroup\n" + rows, encoding="utf-8")
        return phy

    def units(self, path, *options):
        """Returns the units that an analysis uses, and what it says about that."""
        out = self.folder / "found"
        said = self.ok("episodes", path, "--min-count", "100", *options, "-o", out, "--overwrite").stderr
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        self.ok("report", out, "-o", self.folder / "page.html", "--overwrite")  # reads the same spikes
        return run["input"]["units"], said

    def test_sort_labels_every_unit_in_all_its_files(self):
        out = self.sorted_folder()
        rows = [line.split("\t") for line in (out / "units.tsv").read_text().splitlines()]
        self.assertEqual(rows[0][-5:], ["label", "reason", "possibly_one_neuron_with", "cross_talk_with", "origin"])
        self.assertEqual({tuple(row[-5:]) for row in rows[1:]}, {("good", "no limit broken", "", "", "")})
        self.assertEqual((out / "phy/cluster_group.tsv").read_text(), "cluster_id\tgroup\n1\tgood\n2\tgood\n3\tgood\n")
        for name in ("spikes.npz", "spikes.nwb", "phy"):
            found = json.loads(self.ok("info", out / name, "--json").stdout)
            self.assertEqual([unit["label"] for unit in found["units"]], ["good"] * 3, name)
            self.assertEqual(self.units(out / name), (3, ""), name)

    def test_good_units_are_used_by_default(self):
        phy = self.curated()
        says = "Of 3 units, the one labelled good is used; --labels all uses every unit."
        for path in (phy, self.folder / "units.npz", self.folder / "units.nwb"):
            if path != phy:
                self.ok("convert", phy, path)  # which keeps labels
            units, said = self.units(path)
            self.assertEqual(units, 1, path)
            self.assertIn(says, said.splitlines()[0])
            self.assertEqual(self.units(path, "--labels", "all")[0], 3)
            units, said = self.units(path, "--labels", "good,mua")
            self.assertEqual(units, 2)
            self.assertIn("Of 3 units, the 2 labelled good or mua are used.", said)
        self.assertIn(says, self.ok("spade", phy).stderr)
        self.assertIn("labels         1 good, 1 mua, 1 unsorted", self.ok("info", phy).stdout)

    def test_labels_that_no_unit_has_are_refused(self):
        phy = self.curated(("mua", "noise", "mua"))
        self.refused("episodes", phy, says=("--labels", "no unit is labelled good", "2 mua, 1 noise", "all uses every unit"))
        self.refused("episodes", phy, "--labels", "muo", says=("--labels", "no unit is labelled muo"))
        self.refused("episodes", phy, "--labels", "all,mua", says=("--labels", "must be the only one"))
        plain = self.file("plain.tsv", "0.1\ta\n0.2\tb\n")
        self.refused("episodes", plain, "--labels", "good", says=("plain.tsv", "no labels of units", "--labels"))
        self.ok("info", plain, "--labels", "all")

    def test_everything_but_noise_is_used_without_good_units(self):
        phy = self.curated(("unsorted", "noise", "unsorted"))
        units, said = self.units(phy)
        self.assertEqual(units, 2)
        self.assertIn("the 2 not labelled noise are used", said)
        (phy / "cluster_group.tsv").unlink()
        self.assertEqual(self.units(phy), (3, ""))

    def test_a_unit_that_is_asked_for_is_missed_with_the_reason(self):
        self.refused("episodes", self.curated(), "--only-units", "2", says=("2 (it is labelled mua", "--labels"))


if __name__ == "__main__":
    unittest.main()
