"""Checks runs that divide the surrogates of an analysis (--part) and spikeweave merge."""

import json
import shutil
import unittest

from spade_files import SpadeFiles
from support import state

SPADE = ("spade", "--min-occ", "4", "--surrogates", "20", "--alpha", "0.1", "--seed", "3")
EPISODES = ("episodes", "--delays", "0-20ms", "--min-count", "20", "--surrogates", "25", "--seed", "3")


class Parts(SpadeFiles):
    def divide(self, verb, data, *more, parts=3, only=None):
        """Writes parts and returns their folders."""
        folders = []
        for k in only or range(1, parts + 1):
            folders.append(self.folder / f"part-{k}")
            self.ok(verb[0], data, *verb[1:], *more, "--part", f"{k}/{parts}", "-o", folders[-1])
        return folders


class Merge(Parts):
    def same(self, verb, data, *more, parts=3, at_least=1, table):
        """Expects that the merged result is that of one run, to the byte but for times and command lines."""
        self.ok(verb[0], data, *verb[1:], *more, "-o", self.folder / "whole")
        folders = self.divide(verb, data, *more, parts=parts)
        # In no particular order.
        self.ok("merge", *reversed(folders), "-o", self.folder / "merged")
        self.assertEqual(state(self.folder / "merged"), state(self.folder / "whole"))
        rows = (self.folder / "whole" / table).read_text(encoding="utf-8").count("\n") - 1
        self.assertGreaterEqual(rows, at_least)
        for folder in folders + [self.folder / "merged", self.folder / "whole"]:
            shutil.rmtree(folder)

    def test_parts_of_spade_give_one_run(self):
        data = self.planted_file()
        for parts, more in ((3, ("--spectrum", "#")),
                            (7, ("--spectrum", "3d#", "--surrogate-method", "joint-isi-dithering")),
                            (20, ("--reduce", "0,0,2", "--stability", "100", "--nwb", "--occurrences")),
                            (2, ("--stability", "100", "--stability-threshold", "0.2,0.2"))):
            with self.subTest(more):
                self.same(SPADE, data, *more, parts=parts, table="spectrum.tsv")

    def test_prints_the_whole_result_as_json(self):
        data = self.planted_file()
        for verb, name in ((SPADE, "patterns"), (EPISODES, "episodes")):
            with self.subTest(verb[0]):
                parts = self.divide(verb, data, parts=2)
                merged = json.loads(self.ok("merge", *parts, "-o", self.folder / f"all-{name}", "--json").stdout)
                whole = json.loads(self.ok(verb[0], data, *verb[1:], "--json").stdout)
                self.assertTrue(whole[name])
                self.assertEqual(merged[name], whole[name])
                for folder in parts:
                    shutil.rmtree(folder)

    def test_parts_of_epochs(self):
        epochs = self.file("epochs.csv", "".join(f"{2 * i},{2 * i + 1.5}\n" for i in range(10)))
        self.same(SPADE, self.planted_file(), "--epochs", epochs, table="spectrum.tsv")

    def test_parts_of_episodes_give_one_run(self):
        data = self.planted_file()
        for parts, more in ((2, ()), (25, ("--max-size", "3", "--occurrences")), (3, ("--only-units", "a,b,c"))):
            with self.subTest(more):
                self.same(EPISODES, data, *more, parts=parts, table="episodes.tsv", at_least=3)

    def test_a_job_of_an_array_may_use_other_threads_and_paths(self):
        data = self.planted_file()
        self.ok(*EPISODES[:1], data, *EPISODES[1:], "-o", self.folder / "whole")
        first = self.divide(EPISODES, data, "--threads", "1", parts=2, only=[1])
        second = self.divide(EPISODES, data.rename(self.folder / "moved.tsv"), "--threads", "2", parts=2, only=[2])
        self.refused("merge", *first, *second, "-o", self.folder / "merged", says="planted.tsv")
        self.ok("merge", *first, *second, "--input", self.folder / "moved.tsv", "-o", self.folder / "merged")
        tables = ["episodes.tsv", "circuit.tsv", "lags.tsv", "circuit.graphml", "circuit.svg"]
        for name in tables:
            self.assertEqual((self.folder / "merged" / name).read_bytes(), (self.folder / "whole" / name).read_bytes())

    def test_a_part_says_what_it_is(self):
        folder = self.divide(SPADE, self.planted_file(), parts=3, only=[2])[0]
        self.assertEqual([path.name for path in folder.iterdir()], ["part.json"])
        record = json.loads((folder / "part.json").read_text(encoding="utf-8"))
        self.assertEqual((record["verb"], record["part"], record["parts"], record["seed"]), ("spade", 2, 3, 3))
        self.assertEqual(record["parameters"]["surrogates"], 20)


class Refused(Parts):
    def merge(self, *folders, says):
        self.refused("merge", *folders, "-o", self.folder / "merged", says=says)

    def test_parts_that_are_missing_or_doubled(self):
        data = self.planted_file()
        one, three = self.divide(EPISODES, data, parts=4, only=[1, 3])
        self.merge(one, three, says="2 of 4 parts are missing: 2, 4")
        copy = self.folder / "copy"
        shutil.copytree(one, copy)
        self.merge(one, three, copy, says=("part 1 of 4 is there twice", str(one), str(copy)))

    def test_parts_of_another_analysis(self):
        data = self.planted_file()
        one = self.divide(EPISODES, data, parts=2, only=[1])[0]
        two = self.folder / "part-2"
        part = ("--part", "2/2", "-o", two, "--overwrite")
        self.ok("episodes", data, *EPISODES[1:-1], "4", *part)
        self.merge(one, two, says=(str(two), "a part of another analysis", "--seed is 4, not 3"))
        self.ok("episodes", data, *EPISODES[1:], "--max-size", "3", *part)
        self.merge(one, two, says="--max-size is 3, not null")
        self.ok("episodes", data, *EPISODES[1:], *("--part", "2/3", "-o", two, "--overwrite"))
        self.merge(one, two, says="the number of parts is 3, not 2")
        self.ok("spade", data, *SPADE[1:], *part)
        self.merge(one, two, says="the command is spade, not episodes")
        other = self.file("other.tsv", data.read_text(encoding="utf-8") + "19.9\ta\n")
        self.ok("episodes", other, *EPISODES[1:], *part)
        self.merge(one, two, says="other.tsv had another content")

    def test_spikes_that_have_changed(self):
        data = self.planted_file()
        folders = self.divide(SPADE, data, parts=2)
        data.write_text(data.read_text(encoding="utf-8") + "19.9\ta\n", encoding="utf-8")
        self.merge(*folders, says=("planted.tsv", "its content differs"))

    def test_parts_of_another_version(self):
        """Those with an option that there is no more are not merged, and have to be made again."""
        folders = self.divide(EPISODES, self.planted_file(), parts=2)
        for folder in folders:
            part = json.loads((folder / "part.json").read_text(encoding="utf-8"))
            part["spikeweave"] = "0.0.9"
            part["parameters"]["former_option"] = None
            (folder / "part.json").write_text(json.dumps(part), encoding="utf-8")
        self.refused("merge", *folders, "-o", self.folder / "merged",
                     says=("these parts are of spikeweave 0.0.9", "there is no option 'former_option'", "make them again"))

    def test_damaged_parts(self):
        folder = self.divide(SPADE, self.planted_file(), parts=2)[0]
        path = folder / "part.json"
        good = json.loads(path.read_text(encoding="utf-8"))
        for change, words in (({"tally": "0"}, "damaged"), ({"tally": "zz"}, "damaged"), ({"tally": "0000"}, "ends too early"),
                              ({"part": 3}, "there is no part 3 of 2"), ({"part": "x"}, "part.json"),
                              ({"parameters": {"unheard": 1}}, "unheard"), ({"verb": None}, "part.json': type must be string, but is null")):
            with self.subTest(change):
                path.write_text(json.dumps({**good, **change}), encoding="utf-8")
                self.merge(folder, self.folder / "part-2", says=words)
        path.write_text(json.dumps(good)[:-9], encoding="utf-8")
        self.merge(folder, self.folder / "part-2", says="part.json")
        self.merge(self.folder, says="expected part.json")

    def test_parts_that_cannot_be_made(self):
        data = self.planted_file()
        for verb in (EPISODES, SPADE):
            def asked(part, *more, says):
                self.refused(verb[0], data, *verb[1:], "--part", part, *more, says=says)
            place = ("-o", self.folder / "part")
            asked("1/2", says="--part needs --output")
            for bad in ("0/2", "3/2"):
                asked(bad, *place, says=f"there is no part {bad[0]} of 2")
            for bad in ("1", "1/", "/2", "1/2/3", "x/2", "1/-2"):
                asked(bad, *place, says="such as 3/20")
            asked("1/30", *place, says="surrogates cannot be divided among 30 runs")
        self.refused("episodes", data, "--part", "1/2", *place, says="--surrogates")


if __name__ == "__main__":
    unittest.main()
