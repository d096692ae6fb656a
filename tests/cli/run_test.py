"""spikeweave run: the whole way from a file to its circuit, and the commands that give the same."""

import json
import re
import shlex
import shutil
import unittest

from support import CliTest, needs_full_speed, page_data


STILL = ("--drift", "none")
# What each kind of electrodes adds to `sort` and to `episodes`.
PRESETS = {
    None: ((), ()),
    "culture": (STILL, ()),
    "neuropixels": ((), ("--max-rate", "70")),
    "tetrode": (("--neighbours", "100um", *STILL), ()),
    "utah": (("--neighbours", "1um", *STILL), ()),
}


def whole_files(folder):
    """Returns all files below a folder by their names, without the seconds and the memory that they took."""
    taken = re.compile(rb'("\w*seconds"|"peak_memory_bytes"): ?[\d.e+-]+')
    return {str(path.relative_to(folder)): taken.sub(rb"\1", path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


class Run(CliTest):
    def same_as_single_commands(self, *words):
        """Analyses, and again with the commands of the dry run, which are returned."""
        planned = self.ok("run", *words, "-o", "out", "--dry-run", cwd=self.folder).stdout
        self.ok("run", *words, "-o", "out", cwd=self.folder)
        together = whole_files(self.folder / "out")
        shutil.rmtree(self.folder / "out")
        lines = [shlex.split(line) for line in planned.splitlines() if not line.startswith("# ")]
        for program, *line in lines:
            self.assertEqual(program, "spikeweave")
            self.ok(*line, cwd=self.folder)
        self.assertEqual(together.pop("steps.txt").decode(), planned)
        self.assert_page(json.loads(page_data(together.pop("index.html").decode())), planned)
        singly = whole_files(self.folder / "out")
        self.assertEqual(sorted(together), sorted(singly))
        self.assertEqual([name for name in singly if singly[name] != together[name]], [])
        shutil.rmtree(self.folder / "out")
        return [line[1:] for line in lines]

    def same_with_every_preset(self, path, *words):
        """Returns the commands of each preset."""
        out = {}
        for preset in PRESETS:
            with self.subTest(preset):
                out[preset] = self.same_as_single_commands(path, *words, *(("--preset", preset) if preset else ()))
        return out

    def assert_page(self, page, planned):
        """The page has the steps as they are printed, and what the folders record of them."""
        records = [json.loads((self.folder / "out" / step["folder"] / "run.json").read_text()) for step in page["steps"]]
        self.assertEqual("".join(f"# {step['why']}\n{step['command']}\n" for step in page["steps"]), planned)
        self.assertEqual([step["summary"] for step in page["steps"]], [record["summary"] for record in records])
        self.assertEqual([step["has_page"] for step in page["steps"]], [True] * len(records))
        self.assertEqual(page["steps"][-1]["picture"], (self.folder / "out/circuit/circuit.svg").read_text())
        self.assertEqual(page["run"]["summary"], records[-1]["summary"])
        self.assertEqual(page["run"]["input"]["warnings"], [text for record in records for text in record["input"].get("warnings", [])])

    def test_spikes_are_searched_as_by_episodes(self):
        self.ok("simulate", "sym26", "--length", "20s", "--seed", "1", "-o", self.folder / "a b.tsv")

        for preset, lines in self.same_with_every_preset("a b.tsv", "--only-units", "n0,n1,n2,n3,n9").items():
            (line,) = lines
            self.assertEqual([*line[:2], *line[-2:]], ["episodes", "a b.tsv", "-o", "out/circuit"])
            self.assertEqual(sorted(line[2:-2]), sorted(("--only-units", "n0,n1,n2,n3,n9", *PRESETS[preset][1])))

    @needs_full_speed
    def test_voltages_are_sorted_first(self):
        self.ok("simulate", "recording", "--units", "2", "--channels", "4", "--length", "8s", "--seed", "2", "-o", self.folder / "rec")

        for preset, (sort, episodes) in self.same_with_every_preset("rec").items():
            of_sort, of_episodes = PRESETS[preset]
            self.assertEqual(sort, ["sort", "rec", *of_sort, "-o", "out/sorted"])
            self.assertEqual(sorted(episodes), sorted(["episodes", "out/sorted/spikes.npz", *of_episodes, "--drop-duplicates-of-units", "-o", "out/circuit"]))

    def test_finds_the_chain(self):
        self.ok("simulate", "sym26", "--length", "20s", "--seed", "1", "-o", self.folder / "s.tsv")
        self.assertIn("1 chain of 4 units", self.ok("run", "s.tsv", "--only-units", "n0,n1,n2,n3,n9", cwd=self.folder).stdout)

    def test_raw_samples_need_their_description(self):
        (self.folder / "raw.dat").write_bytes(bytes(2 * 4 * 30000))
        self.refused("run", self.folder / "raw.dat", "--dry-run", says="channels")
        told = self.ok("run", self.folder / "raw.dat", "--channels", "4", "--sample-rate", "30000", "--gain", "0.195", "--dry-run").stdout
        self.assertIn("--sample-rate 30000 --channels 4 --gain 0.195", told)
        self.assertIn("holds 1 s of voltages on 4 channels", told)

    def test_the_folder_has_the_name_of_the_file(self):
        self.ok("simulate", "sym26", "--length", "2s", "-o", self.folder / "s.tsv")
        self.assertIn(" -o s-result/circuit", self.ok("run", "s.tsv", "--dry-run", cwd=self.folder).stdout)
        self.assertEqual(self.names(), ["s.truth.tsv", "s.tsv"])

    def test_says_what_is_wrong_before_it_begins(self):
        self.ok("simulate", "sym26", "--length", "2s", "-o", self.folder / "s.tsv")
        self.refused("run", self.folder / "s.tsv", "--gain", "2", says=("s.tsv", "file of spikes"))
        self.refused("run", "-", says="standard input")
        self.refused("run", self.folder / "s.tsv", "--preset", "utha", says=("utha", "utah"))
        (self.folder / "out/circuit").mkdir(parents=True)
        (self.folder / "out/circuit/mine.txt").write_text("x")
        self.refused("run", self.folder / "s.tsv", "-o", self.folder / "out", "--overwrite", says="mine.txt")


if __name__ == "__main__":
    unittest.main()
