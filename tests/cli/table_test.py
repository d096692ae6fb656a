"""spikeweave table: the findings of many recordings in one table."""

import csv
import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from support import ROOT, CliTest


class TableCase(CliTest):
    def chains(self, name, *more, text=None, where=None, least=40):
        """Writes a result of episodes of this name: a, b and c in turn, 50 times."""
        path = self.chain_file(f"{name}.tsv") if text is None else self.file(f"{name}.tsv", text)
        folder = (where or self.folder) / name
        self.ok("episodes", path, "--delays", "4-6ms", "--min-count", least, *more, "-o", folder)
        return folder

    def nothing(self, name):
        return self.chains(name, text="time\tunit\n" + "".join(f"{i}\ta\n" for i in range(5)))

    def table(self, *arguments, to="cohort.tsv"):
        """Returns what the command printed, the columns and the rows of the table."""
        result = self.ok("table", *arguments, "-o", self.folder / to)
        columns, rows = self.rows(self.folder / to)
        return result, columns, rows

    @staticmethod
    def rows(path):
        with path.open(encoding="utf-8", newline="") as lines:
            table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            return table.fieldnames, list(table)


class Table(TableCase):
    def test_has_the_rows_of_every_result(self):
        folders = [self.chains("a"), self.chains("b", "--max-size", "2")]

        result, columns, rows = self.table(*folders)

        self.assertEqual(columns[:2], ["recording", "observed_s"])
        expected = [{"recording": folder.name, "observed_s": "4.950000", **{key: "" if value == "-" else value for key, value in row.items()}}
                    for folder in folders for row in self.rows(folder / "episodes.tsv")[1]]
        self.assertEqual(rows, expected)
        self.assertEqual([row["units"] for row in rows if row["size"] == "3"], ["a→b→c"])
        self.assertIn(f"{len(rows)} rows of 2 recordings\n", result.stdout)
        self.assertIn("different options: --max-size", result.stderr)

    def test_is_of_assemblies_replay_and_comparisons_too(self):
        spikes = self.chain_file("spikes.tsv")
        chains = self.file("chains.txt", "a 4-6ms b 4-6ms c\n")
        events = self.file("events.tsv", "begin\tend\n0.99\t1.05\n1.99\t2.05\n")
        sequence = self.folder / "sequence.tsv"
        self.ok("simulate", "sym26", "--length", "30s", "--seed", "1", "-o", sequence)
        for command, tables in ((("assemblies", sequence, "--bins", "5ms"), ("assemblies", "activations", "search")),
                                (("replay", chains, spikes, "--surrogates", "20", "--events", events), ("replay", "events")),
                                (("compare", spikes, spikes, "--block", "500ms", "--min-count", "10"), ("differences",))):
            folders = [self.folder / command[0] / name for name in "AB"]
            for folder in folders:
                folder.parent.mkdir(exist_ok=True)
                self.ok(*command, "-o", folder)
            self.refused("report", *folders, "-o", self.folder / "page.html",
                         says=f"is a result of {command[0]}, which cannot be compared with another one")
            for name in tables:
                with self.subTest(name):
                    _, columns, rows = self.table("--of", name, *folders, to=f"table-{name}.tsv")
                    header, each = self.rows(folders[0] / f"{name}.tsv")
                    self.assertEqual([column for column in columns if column not in ("recording", "observed_s")], header)
                    self.assertEqual(len(rows), 2 * len(each))
                    self.assertTrue(each)

    def test_takes_what_changed_of_comparisons(self):
        at = self.chain_file("spikes.tsv")
        late = self.file("late.tsv", "time\tunit\n" + "".join(f"{t / 100:.3f}\t{unit}\n" for t in range(500) for unit in "abcd"[t % 4]))
        folder = self.folder / "compared"
        self.ok("compare", at, late, "--block", "250ms", "--delays", "4-6ms", "--min-count", "10", "-o", folder)
        every = self.rows(folder / "differences.tsv")[1]
        changed = [row["units"] for row in every if row["change"] != "none"]
        self.assertTrue(changed)

        rows = self.table("--significant", folder)[2]

        self.assertEqual([row["units"] for row in rows], changed)

    def test_says_which_recordings_have_no_row(self):
        result, _, rows = self.table(self.chains("a"), self.nothing("none"), "--significant")

        self.assertEqual({row["recording"] for row in rows}, {"a"})
        self.assertEqual({row["significant"] for row in rows}, {"yes"})
        self.assertIn("; 1 without a row: none", result.stdout)
        self.assertFalse(result.stderr)

    def test_is_merged_with_a_sheet_as_the_page_says(self):
        page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
        lines = re.search(r"```python\n(.*?sheet\.merge.*?)```", page, re.DOTALL)[1].rpartition("```python\n")[2]
        self.table(self.chains("1"), self.chains("2"), self.chains("none-in-the-sheet"))
        self.file("sheet.csv", "recording,group,day\n2,ko,3\n1,wt,\nno-result,wt,5\n")

        self.with_pandas("import pandas\n" + lines + "cohort.to_csv('merged.csv', index=False)")

        with (self.folder / "merged.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({(row["recording"], row["group"], row["day"], row["_merge"]) for row in rows},
                         {("1", "wt", "", "both"), ("2", "ko", "3.0", "both"), ("no-result", "wt", "5.0", "left_only"), ("none-in-the-sheet", "", "", "right_only")})
        self.assertEqual([row["units"] for row in rows if row["recording"] == "1"], [row["units"] for row in self.rows(self.folder / "1/episodes.tsv")[1]])

    def with_pandas(self, text):
        """Runs Python code where there is pandas: here, or in the environment of script/bootstrap."""
        for python in (sys.executable, ROOT / ".venv/bin/python"):
            if Path(python).exists() and subprocess.run([python, "-c", "import pandas"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
                subprocess.run([python, "-c", text], cwd=self.folder, check=True)
                return
        self.skipTest("there is no pandas")

    def test_calls_folders_of_one_name_by_their_paths(self):
        for day in ("1", "2"):
            (self.folder / day).mkdir()
            self.chains("chains", where=self.folder / day)

        self.ok("table", "1/chains", "2/chains", "-o", "cohort.tsv", cwd=self.folder)

        self.assertEqual({row["recording"] for row in self.rows(self.folder / "cohort.tsv")[1]}, {"1/chains", "2/chains"})

    def test_leaves_cells_empty_where_a_result_has_no_such_column(self):
        tested = self.chains("tested", "--surrogates", "20", "--seed", "1")

        _, columns, rows = self.table(self.chains("plain"), tested)

        self.assertIn("surrogate_p", columns)
        for row in rows:
            self.assertEqual(row["surrogate_p"] == "", row["recording"] == "plain")
            self.assertNotIn(None, row.values())

    def test_takes_other_tables(self):
        folders = [self.chains("a"), self.chains("b")]
        _, columns, rows = self.table(*folders, "--of", "circuit")
        self.assertEqual(columns[:4], ["recording", "observed_s", "from", "to"])
        self.assertEqual([(row["recording"], row["from"], row["to"], row["via"]) for row in rows],
                         [(name, *edge, "") for name in "ab" for edge in (("a", "b"), ("b", "c"))])

    def test_keeps_units_that_are_called_as_an_empty_cell(self):
        text = self.chain_file("x.tsv").read_text(encoding="utf-8").replace("\ta\n", "\t-\n")
        _, _, rows = self.table(self.chains("a", text=text), "--of", "circuit")
        self.assertIn(("-", "b"), [(row["from"], row["to"]) for row in rows])

    def test_is_of_spade_and_sort_and_windows_too(self):
        data = self.chain_file()
        for name in ("one", "two"):
            self.ok("spade", data, "--min-occ", "30", "--surrogates", "20", "--alpha", "0.2", "--seed", "1", "-o", self.folder / name)
            self.ok("simulate", "features", "--spikes", "500", "--units", "2", "--channels", "4", "-o", self.folder / f"{name}.npz")
            self.ok("sort", self.folder / f"{name}.npz", "-o", self.folder / f"{name}-sorted")
            self.ok("windows", data, "--delays", "4-6ms", "--min-count", "10", "--window", "2s", "-o", self.folder / f"{name}-windows")
        for suffix, of, table, column in (("", (), "patterns", "lags_ms"), ("", ("--of", "signatures"), "signatures", "reason"),
                                          ("-sorted", (), "units", "l_ratio"), ("-windows", (), "windows", "threshold"),
                                          ("-windows", ("--of", "window_episodes"), "window_episodes", "chain")):
            with self.subTest(table):
                folders = [self.folder / f"{name}{suffix}" for name in ("one", "two")]
                _, columns, rows = self.table(*folders, *of, to=f"{table}.tsv")
                self.assertIn(column, columns)
                self.assertEqual("observed_s" in columns, suffix != "-sorted")
                self.assertEqual(len(rows), sum(len(self.rows(folder / f"{table}.tsv")[1]) for folder in folders))
                self.assertGreater(len(rows), 1)

    def test_observes_the_time_held_out(self):
        _, _, rows = self.table(self.chains("a", "--hold-out", "0.5", "--hold-out-block", "1s", least=10))
        run = json.loads((self.folder / "a/run.json").read_text(encoding="utf-8"))
        self.assertEqual({float(row["observed_s"]) for row in rows}, {run["hold_out"]["tested_s"]})


class Refused(TableCase):
    def table_refused(self, *arguments, says):
        self.refused("table", *arguments, "-o", self.folder / "cohort.tsv", says=says)

    def test_the_option_for_sheets_that_is_gone(self):
        folder = self.chains("a")
        for words in (("--sheet", "sheet.csv"), ("--sheet=sheet.csv",), ("--sheet",)):
            with self.subTest(words):
                self.table_refused(folder, *words, says=("there is no option --sheet: merge the table with your sheet", "pandas.merge"))
        config = self.file("options.toml", "[table]\nsheet = 'sheet.csv'\n")
        self.table_refused(folder, "--config", config, says=("options.toml, line 2: there is no option --sheet", "pandas.merge"))
        self.refused("info", self.folder / "a.tsv", "--sheet", "sheet.csv", says="there is no option --sheet")

    def test_results_that_do_not_fit(self):
        folder = self.chains("a")
        self.ok("spade", self.folder / "a.tsv", "--min-occ", "30", "-o", self.folder / "spade")
        self.table_refused(folder, self.folder / "spade", says=("is a result of episodes", "one of spade", "one kind"))
        self.table_refused(folder, f"{folder}/.", says="given twice")
        self.table_refused(folder, self.folder, says="no result")
        self.table_refused(folder, "--of", "patterns", says=("results of episodes have no table 'patterns', but episodes, circuit", "--of"))
        self.table_refused(folder, "--of", "circuit", "--significant", says=("--significant", "does not say what is significant"))
        self.table_refused(self.folder / "spade", "--significant", says=("patterns.tsv", "does not say what is significant"))
        self.refused("table", folder, says="--output")

    def test_damaged_results(self):
        good = self.chains("good")
        for file, change in (("episodes.tsv", lambda text: text + "7\n"), ("episodes.tsv", lambda _: ""), ("run.json", lambda text: text[:-9]),
                             ("run.json", lambda _: "{}"), ("run.json", lambda _: '{"parameters": 3, "input": {}}'),
                             ("run.json", lambda _: '{"parameters": {}, "input": {"observed_s": "x"}}')):
            with self.subTest(file):
                shutil.rmtree(self.folder / "bad", ignore_errors=True)
                path = shutil.copytree(good, self.folder / "bad") / file
                path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
                self.table_refused(good, self.folder / "bad", says="bad")

    def test_replaces_only_on_request(self):
        folder = self.chains("a")
        to = self.file("cohort.tsv", "old")
        self.table_refused(folder, says="exists")
        self.refused("table", folder, self.folder / "none", "--overwrite", "-o", to, says="none")
        self.assertEqual(to.read_text(encoding="utf-8"), "old")
        self.ok("table", folder, "--overwrite", "-o", to)
        self.assertGreater(len(self.rows(to)[1]), 1)


if __name__ == "__main__":
    unittest.main()
