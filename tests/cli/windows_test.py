"""spikeweave windows."""

import csv
import json
import unittest

from support import CliTest


class Windows(CliTest):
    search = ("--delays", "4-6ms", "--min-count", "8")

    def rows(self, name):
        with (self.folder / "out" / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

    def test_writes_a_table_of_each_window(self):
        path = self.chain_file()
        out = self.ok("windows", path, *self.search, "--window", "2s", "--hop", "1s", "-o", self.folder / "out").stdout

        self.assertEqual(sorted(one.name for one in (self.folder / "out").iterdir()),
                         ["report.html", "result.json", "run.json", "window_circuits.tsv", "window_episodes.tsv", "windows.tsv"])
        windows = self.rows("windows.tsv")
        self.assertEqual([(one["window"], one["begin_s"], one["end_s"]) for one in windows],
                         [(str(k), f"{k}.000000", f"{k + 2}.000000") for k in range(3)])
        self.assertEqual([one["spikes"] for one in windows], ["80"] * 3)
        self.assertEqual(len(out.splitlines()), 5)
        self.assertEqual([(one["since"], one["stability"]) for one in windows[:2]], [("-", "-")] * 2)
        self.assertEqual((windows[2]["since"], windows[2]["jaccard"], windows[2]["stability"]), ("0", "1", "-"))
        chains = [one for one in self.rows("window_episodes.tsv") if one["episode"] == "a 4-6ms b 4-6ms c"]
        self.assertEqual([one["count"] for one in chains], ["20"] * 3)
        edges = {(one["window"], one["from"], one["to"]) for one in self.rows("window_circuits.tsv")}
        self.assertLessEqual({(str(k), *pair) for k in range(3) for pair in ("ab", "bc")}, edges)
        parameters = json.loads((self.folder / "out/run.json").read_text(encoding="utf-8"))["parameters"]
        self.assertEqual((parameters["window"], parameters["hop"]), ("2 s", "1 s"))

    def test_prints_windows_as_json(self):
        options = (*self.search, "--window", "500ms", "--change-points")
        self.ok("windows", self.chain_file(), *options, "-o", self.folder / "out")

        document = json.loads(self.ok("windows", self.chain_file(), *options, "--json").stdout)

        self.assertEqual(len(document["windows"]), len(self.rows("windows.tsv")))
        for window, row in zip(document["windows"], self.rows("windows.tsv"), strict=True):
            self.assertEqual((window["window"], window["spikes"], len(window["episodes"]), len(window["edges"])),
                             tuple(int(row[name]) for name in ("window", "spikes", "episodes", "edges")))
            self.assertEqual(sum(one["significant"] for one in window["episodes"]), int(row["significant"]))
            self.assertEqual(str(window["stability"] and window["stability"]["since"]), "None" if row["since"] == "-" else row["since"])
        counts = [(window["window"], one["count"]) for window in document["windows"] for one in window["episodes"]]
        self.assertEqual(counts, [(int(row["window"]), int(row["count"])) for row in self.rows("window_episodes.tsv")])
        rows = [row for row in self.rows("change_points.tsv") if row["of"] == "excess"]
        self.assertEqual([one["excess"]["q"] for one in document["changes"]], [float(row["q"]) for row in rows])
        self.assertIn("search", document["run"])

    def test_change_points_are_a_table(self):
        path = self.chain_file()
        out = self.ok("windows", path, "--delays", "4-6ms", "--min-count", "3", "--window", "500ms", "--hop", "100ms", "--change-points",
                      "--change-permutations", "99", "-o", self.folder / "out").stdout

        rows = self.rows("change_points.tsv")
        self.assertEqual({one["of"] for one in rows}, {"firing-rates", "circuit", "rate", "excess"})
        self.assertEqual({one["significant"] for one in rows}, {"no"})
        self.assertEqual({one["units"] for one in rows} - {"-"}, {"a→b", "b→c", "a→b→c"})
        self.assertIn("circuit: no significant change", out)
        record = json.loads((self.folder / "out/run.json").read_text(encoding="utf-8"))
        self.assertEqual(record["search"]["change_points"]["circuit"]["found"], [])
        self.assertEqual(record["parameters"]["change_permutations"], 99)

    def test_has_what_live_finds(self):
        path, live = self.chain_file(), self.folder / "live.tsv"
        self.ok("windows", path, *self.search, "--window", "2s", "--hop", "1s", "-o", self.folder / "out")
        self.ok("live", path, "--speed", "max", *self.search, "--window", "2s", "--hop", "1s", "--window-table", live)

        found = [list(one.values())[:8] for one in self.rows("window_episodes.tsv")]
        recorded = [line.split("\t") for line in live.read_text(encoding="utf-8").splitlines()[1:]]
        self.assertGreater(len(recorded), 20)
        self.assertEqual(found[:len(recorded)], recorded)

    def test_files_do_not_depend_on_threads(self):
        path = self.chain_file()
        for threads in ("1", "2"):
            self.ok("windows", path, *self.search, "--window", "1s", "--hop", "50ms", "--threads", threads, "-o", self.folder / threads)
        for name in ("windows.tsv", "window_episodes.tsv", "window_circuits.tsv"):
            self.assertEqual((self.folder / "1" / name).read_bytes(), (self.folder / "2" / name).read_bytes())

    def test_without_a_folder_lists_the_windows(self):
        out = self.ok("windows", self.chain_file(), *self.search, "--window", "1s").stdout
        self.assertRegex(out.splitlines()[2], r"^ +0 s +1 s +40 +8 ")
        self.assertEqual(self.names(), ["chain.tsv"])

    def test_replaces_a_result_of_the_whole_recording(self):
        path, out = self.chain_file(), self.folder / "out"
        self.ok("episodes", path, *self.search, "-o", out)
        self.ok("windows", path, *self.search, "--window", "2s", "-o", out, "--overwrite", "--no-report")
        self.assertEqual(sorted(one.name for one in out.iterdir()), ["result.json", "run.json", "window_circuits.tsv", "window_episodes.tsv", "windows.tsv"])
        self.ok("episodes", path, *self.search, "-o", out, "--overwrite")
        self.assertFalse((out / "windows.tsv").exists())

    def test_is_not_compared(self):
        path = self.chain_file()
        for name in ("a", "b"):
            self.ok("windows", path, *self.search, "--window", "2s", "-o", self.folder / name)
        self.refused("report", self.folder / "a", self.folder / "b", "-o", self.folder / "page.html", says="cannot be compared")

    def test_refuses_what_cannot_be(self):
        path, to = self.chain_file(), ("-o", self.folder / "out")
        for options, words in ((("--hop", "1s"), "--window is missing"), (("--window", "0s"), "--window"), (("--window", "-1s"), "--window"),
                               (("--window", "2"), "--window"), (("--window", "6s"), "shorter than a window"),
                               (("--window", "2s", "--hop", "0s"), "--hop"), (("--change-points",), "--window is missing"),
                               (("--window", "2s", "--change-seed", "2"), "--change-points"),
                               (("--window", "2s", "--change-points", "--change-alpha", "0"), "--change-alpha")):
            with self.subTest(options):
                self.refused("windows", path, *self.search, *options, *to, says=words)

    def test_has_no_options_of_whole_recordings(self):
        path = self.chain_file()
        for option in ("--occurrences", "--epochs", "--around", "--trial-length", "--trial-separation", "--hold-out", "--hold-out-block",
                       "--confirm", "--part", "--stream"):
            with self.subTest(option):
                self.refused("windows", path, *self.search, "--window", "2s", option, "1s", says=f"there is no option {option}")

    def test_takes_a_window_from_a_configuration(self):
        path, config = self.chain_file(), self.file("study.toml", '[windows]\nwindow = "2s"\ndelays = "4-6ms"\nmin-count = 8\n')
        typed = self.ok("windows", path, *self.search, "--window", "2s").stdout
        self.assertEqual(self.ok("windows", path, "--config", config).stdout, typed)

    def test_options_of_the_search_name_the_command(self):
        path = self.chain_file()
        for option in (("--window", "2s"), ("--window=2s",), ("--hop", "1s"), ("--change-points",), ("--change-permutations", "9"),
                       ("--change-alpha", "0.1"), ("--change-seed", "2")):
            with self.subTest(option):
                name = option[0].split("=")[0]
                hint = f"there is no option {name}: spikeweave windows FILE --window TIME does this"
                self.refused("episodes", path, *self.search, *option, says=hint)
                self.refused("episodes", path, *option, "--no-such-option", says="there is no option")
        for written in ('window = "2s"', "change-points = true", "change_points = true"):
            config = self.file("old.toml", f"# a study\n[episodes]\n{written}\n")
            self.refused("episodes", path, "--config", config, says=("old.toml, line 3", "spikeweave windows FILE --window TIME"))
        self.assertNotIn("--window", self.ok("episodes", "--help").stdout)
        self.assertNotIn("--count-only", self.ok("manual", "episodes").stdout.replace("\\-", "-"))


if __name__ == "__main__":
    unittest.main()
