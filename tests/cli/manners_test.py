"""User interaction: typos, help, closed pipes, numbers in JSON."""

import json
import os
import random
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import SPIKEWEAVE, CliTest, run, state

COMMANDS = (("info",), ("convert",), ("simulate",), ("simulate", "sym26"), ("simulate", "culture"),
            ("simulate", "poisson"), ("simulate", "patterns"), ("simulate", "network"), ("simulate", "recording"),
            ("simulate", "features"),
            ("sort",), ("episodes",), ("windows",), ("count",), ("spade",), ("assemblies",), ("bursts",), ("replay",), ("report",), ("compare",), ("table",), ("track",), ("devices",), ("doctor",), ("completion",), ("manual",))


class Typos(CliTest):
    def test_name_the_command_that_may_be_meant(self):
        for words, meant in ((("epsiodes",), "episodes"), (("spdae", "x.tsv"), "spade"), (("epsiodes", "--help"), "episodes"),
                             (("help", "epsiodes"), "episodes"), (("-q", "inof", "x.tsv"), "info"),
                             (("--progress", "none", "sorts"), "sort"), (("simulate", "sym62", "-o", "x.tsv"), "sym26")):
            with self.subTest(words):
                self.refused(*words, says=f"; did you mean {meant}?")

    def test_list_the_commands_where_none_is_near(self):
        self.refused("fly", says="there is no command 'fly' "
                                 "(there are run, example, info, convert, simulate, sort, track, episodes, windows, count, spade, assemblies, bursts, merge, live, replay, report, compare, table, devices, doctor, completion, manual)")
        self.refused("simulate", says=("expected one of sym26, culture", "spikeweave simulate --help"))

    def test_name_the_option_that_may_be_meant(self):
        path = self.chain_file()
        for words, meant in ((("--min-cuont", "5"), "--min-count"), (("--min-cuont=5",), "--min-count"),
                             (("--delay", "4-6ms"), "--delays"), (("--max-szie", "5", "--min-count", "5"), "--max-size"),
                             (("--quite",), "--quiet")):
            with self.subTest(words):
                typed = words[0].split("=")[0]
                self.refused("episodes", path, *words, says=f"there is no option {typed}; did you mean {meant}?")
        for typed, meant in (("--bin_size", "--bin"), ("--bin-size", "--bin"), ("--winlen", "--window"),
                             ("--n-surr", "--surrogates"), ("--n_surr", "--surrogates"), ("--psr_param", "--reduce")):
            with self.subTest(typed):
                self.refused("spade", path, typed, "5", says=f"there is no option {typed}; did you mean {meant}?")
        self.refused("episodes", path, "--winlen", "5", says="there is no option --winlen")
        self.refused("episodes", path, "--no-such-thing", says="there is no option --no-such-thing (see spikeweave episodes")

    def test_are_no_values_of_options(self):
        """The value of an option is not compared with commands and options."""
        self.ok("--progress", "none", "info", self.chain_file("episode"))
        self.refused("episodes", self.chain_file(), "--delays", "-5-5ms", says="found -5 ms to 5 ms")


class Help(CliTest):
    def test_fits_eighty_columns_where_there_is_no_terminal(self):
        for command in ((), *COMMANDS):
            for line in self.ok(*command, "--help").stdout.splitlines():
                self.assertLessEqual(len(line), 80, command)

    def test_fits_the_terminal(self):
        primary, secondary = os.openpty()
        self.addCleanup(os.close, primary)
        subprocess.run(["stty", "cols", "100"], stdin=secondary, check=True)
        # It is read while it is written, because a terminal holds less than the help is long.
        command = subprocess.Popen([SPIKEWEAVE, "spade", "--help"], stdout=secondary)
        os.close(secondary)
        text = b""
        while True:
            try:
                text += (block := os.read(primary, 1 << 16))
            except OSError:  # the other end is closed and everything is read
                break
            if not block:
                break
        self.assertEqual(command.wait(), 0)
        longest = max(len(line.rstrip("\r")) for line in text.decode().split("\n"))
        self.assertTrue(80 < longest <= 100, longest)

    def test_has_groups_and_no_conditions_among_the_names(self):
        for command, groups in ((("episodes",), ("Input:", "Output:", "Search:", "Significance:", "Options:")),
                                (("spade",), ("Input:", "Output:", "Bins and windows:", "Surrogates:", "Significance:")),
                                (("sort",), ("Input:", "Output:", "Input (recordings only):", "Search:",
                                             "Computation:"))):
            text = self.ok(*command, "--help").stdout
            lines = text.splitlines()
            for group in groups:
                self.assertIn(group, lines, command)
            names = [line for line in lines if line.startswith("  -")]
            self.assertFalse([line for line in names if "Excludes" in line or "Needs:" in line])
        self.assertIn("Not with --min-count, --min-rate", " ".join(self.ok("episodes", "--help").stdout.split()))

    def test_is_asked_for_in_several_ways(self):
        wanted = self.ok("episodes", "--help").stdout

        self.assertEqual(self.ok("help", "episodes").stdout, wanted)
        self.assertEqual(self.ok("help", "simulate", "sym26").stdout, self.ok("simulate", "sym26", "--help").stdout)
        self.assertEqual(self.ok("help").stdout, self.ok("--help").stdout)
        self.assertEqual(self.ok("-V").stdout, self.ok("--version").stdout)


class Pipes(CliTest):
    def test_one_that_closes_early_is_no_error(self):
        path = self.chain_file()
        for arguments in (("--help",), ("info", path), ("episodes", path, "--only-units", "a,b,c", "--delays", "4-6ms", "--json"), ("spade", path),
                          ("episodes", "--list-strategies")):
            with self.subTest(arguments):
                reading, writing = os.pipe()
                os.close(reading)
                result = run(*arguments, stdout=writing)
                os.close(writing)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_what_head_takes_is_whole(self):
        path = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "20s", "--seed", "1", "-o", path)
        shell = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" episodes "$1" --max-size 2 --json | head -n 3',
                                SPIKEWEAVE, str(path)], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((shell.returncode, shell.stderr), (0, ""))
        self.assertEqual(len(shell.stdout.splitlines()), 3)


    def test_spikes_are_read_from_standard_input(self):
        path = self.chain_file()
        for arguments in (("info",), ("episodes", "--min-count", "40"), ("spade", "--min-occ", "5")):
            with self.subTest(arguments), path.open(encoding="utf-8") as file:
                command, *options = arguments
                wanted = self.ok(command, path, *options).stdout
                told = self.ok(command, "-", *options, stdin=file).stdout
                # The file's name and the seconds of each level are left out.
                without = re.compile(r"^file .*$|\d\.\d{3}$", re.MULTILINE)
                self.assertEqual(without.sub("", told), without.sub("", wanted))
        with path.open(encoding="utf-8") as file:
            self.ok("episodes", "-", "-o", self.folder / "out", stdin=file)
        with (self.folder / "out" / "run.json").open(encoding="utf-8") as record:
            self.assertEqual(json.load(record)["input"]["path"], "-")

    def test_standard_input_that_holds_none_is_called_by_its_name(self):
        with self.file("words.tsv", "time\tunit\nsoon\ta\n").open(encoding="utf-8") as file:
            self.refused("info", "-", stdin=file, says="standard input, line 2: found 'soon'")
        self.refused("sort", "-", says="not standard input")
        self.refused("episodes", self.chain_file(), "-o", "-", says="standard output")


class Numbers(CliTest):
    def test_are_numbers_among_the_parameters(self):
        path = self.chain_file()
        self.ok("episodes", path, "--min-count", "40", "-o", self.folder / "out")
        run_json = json.loads((self.folder / "out" / "run.json").read_text(encoding="utf-8"))["parameters"]
        self.assertEqual([run_json[name] for name in ("min_count", "alpha", "self_repeats", "max_size", "surrogates")],
                         [40, 0.01, False, None, 0])
        spade = json.loads(self.ok("spade", path, "--min-occ", "5", "--json").stdout)["run"]["parameters"]
        self.assertEqual([spade[name] for name in ("window", "bin", "min_occ", "rules", "max_occ", "subset_filter")],
                         [20, "5 ms", None, "5:2", None, True])


    @unittest.skipIf(os.environ.get("SPIKEWEAVE_SANITIZE"), "the C++ library keeps what it allocates for a locale")
    @unittest.skipUnless(shutil.which("localedef") and Path("/usr/share/i18n/locales/de_DE").exists(),
                         "no locale with a decimal comma can be made here")
    def test_have_a_point_in_every_language(self):
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", self.folder / "de_DE.UTF-8"], check=True)
        german = {**os.environ, "LOCPATH": str(self.folder), "LC_ALL": "de_DE.UTF-8"}
        written = {}
        for name, settings in (("C", {**os.environ, "LC_ALL": "C"}), ("de", german)):
            out = self.folder / name
            command = ("episodes", self.chain_file(), "--delays", "4.5-6.5ms", "--min-fraction", "0.1", "-o", out)
            told = self.ok(*command, env=settings).stdout
            written[name] = (re.sub(r"\d\.\d{3}$|/(C|de)\b", "", told, flags=re.MULTILINE), state(out))
        self.assertEqual(written["de"], written["C"])


class Messages(CliTest):
    def test_name_the_option_or_the_way_out(self):
        early = self.file("early.tsv", "-0.5\ta\n0.5\tb\n")
        self.refused("info", early, says="--allow-negative")
        self.refused("info", self.file("comma.tsv", "time\tunit\n0,5\ta\n"), says="a point, not a comma")
        self.refused("info", self.file("large.tsv", "time\tunit\n1e20\ta\n"), says="of at most 2305843009213 s")
        self.refused("sort", self.chain_file(), says=("chain.tsv", "sort takes a recording or features"))
        self.refused("info", self.chain_file(), "--format", "phy", says=("chain.tsv", "expected a folder of Phy"))

    def test_say_what_is_expected_in_plain_english(self):
        path = self.chain_file()
        self.refused("episodes", path, path, says="is one argument too many")
        self.refused("episodes", path, "--min-count", says="--min-count: expected a value, found none")
        self.refused("episodes", path, "--min-count", "2", "--min-rate", "1", says="cannot be given together with")
        self.refused("episodes", path, "--overwrite", says="is only for runs with --output")
        self.refused("info", says="FILE is missing")
        self.refused("report", self.folder, "-o", "x.html", "--as", "foo", says="--as: expected one of side-by-side, series, found 'foo'")

    def test_tell_of_a_threshold_that_nothing_reaches(self):
        result = self.ok("episodes", self.chain_file(), "--delays", "4-6ms", "--min-count", "100000000")
        self.assertIn("No unit has the 100,000,000 spikes that --min-count requires", result.stderr)

    def test_refuse_delays_that_make_everything_frequent(self):
        draw = random.Random(1)
        spikes = sorted((draw.uniform(0, 118), unit) for unit in "abcdef" for _ in range(1180))
        data = self.file("dense.tsv", "time_s\tunit\n" + "".join(f"{time:.6f}\t{unit}\n" for time, unit in spikes))
        self.refused("episodes", data, "--delays", "0-200ms",
                     says=("--delays: they are so long for these rates", "--min-count", "--max-size"))
        self.ok("episodes", data, "--delays", "0-200ms", "--max-size", "2")

    def test_refuse_a_search_of_days(self):
        data = self.folder / "culture.tsv"
        self.ok("simulate", "poisson", "--units", "100", "--rate", "30", "--length", "300s", "-o", data)
        self.refused("spade", data, "--window", "40", "--min-occ", "2", "--min-spikes", "2", "-q",
                     says=("which is too long to begin", "--min-occ", "--window"))

    def test_a_search_of_any_length_has_an_estimate(self):
        """One whose numbers are beyond 64 bits, as in a culture, is not reported as a small one."""
        data = self.folder / "dense.tsv"
        self.ok("simulate", "poisson", "--units", "60", "--rate", "100", "--length", "60s", "-o", data)
        self.refused("spade", data, "--window", "100", "--min-occ", "2", "--min-spikes", "2", "-q",
                     says=("more than 1,000,000,000,000,000 candidates", "more than 10,000 years",
                           "which is too long to begin"))


class HostileText(CliTest):
    """Names and texts of files control no terminal."""

    nasty = "\x1b[31m\u202e\u009b\x07"

    def assert_harmless(self, result):
        for text in (result.stdout, result.stderr):
            for character in "\x1b\u202e\u009b\x07\udc80":
                self.assertNotIn(character, text)

    def test_of_lists_of_episodes(self):
        listed = self.file("list.txt", f"a 4-6ms {self.nasty}\n")
        spikes = self.chain_file()
        for command in (("count", spikes, listed), ("replay", listed, spikes),
                        ("live", spikes, "--no-windows", "--speed", "max", "--episodes", listed)):
            self.assert_harmless(self.refused(*command, says="\\x1b"))

    def test_of_names_of_files(self):
        for name in (self.nasty, "\udc80bad"):
            path = self.folder / name
            self.assert_harmless(run("info", path, errors="surrogateescape"))
            self.assert_harmless(run("episodes", self.chain_file(), "--epochs", path, errors="surrogateescape"))

    def test_of_configurations(self):
        path = self.file("study.toml", f'[episodes]\nmin-count = "{self.nasty}"\n')
        self.assert_harmless(run("episodes", self.chain_file(), "--config", path))

    def test_of_results_that_somebody_sent(self):
        out = self.folder / "out"
        self.ok("episodes", self.chain_file(), "--delays", "4-6ms", "-o", out)
        table = out / "episodes.tsv"
        text = table.read_text(encoding="utf-8")
        table.write_text(text.replace("a→b", f"a→{self.nasty}"), encoding="utf-8")
        for command in (("table", out, "-o", self.folder / "t.tsv"), ("replay", out, self.chain_file())):
            result = self.refused(*command, says=("episodes.tsv", "line"))
            self.assert_harmless(result)
        document = out / "result.json"
        text = document.read_text(encoding="utf-8")
        for change in ({"unit_names": [self.nasty + "x" * 100_000, "b", "c", "d"]}, {"kind": self.nasty + "x" * 100_000}):
            document.write_text(json.dumps(json.loads(text) | change), encoding="utf-8")
            result = self.refused("report", out, "-o", self.folder / "p.html", says="result.json")
            self.assert_harmless(result)
            self.assertLess(len(result.stderr), 10_000)


class FirstSteps(CliTest):
    def test_the_program_alone_prints_its_help(self):
        self.assertEqual(self.ok().stdout, self.ok("-h").stdout)

    def test_the_version_may_be_asked_for_in_three_ways(self):
        for word in ("version", "-v"):
            self.assertEqual(self.ok(word).stdout, self.ok("--version").stdout)

    def test_the_window_of_spade_may_be_a_time(self):
        data = self.chain_file()
        bins = self.ok("spade", data, "--bin", "5ms", "--window", "20", "--min-occ", "20", "--json").stdout
        time = self.ok("spade", data, "--window", "100ms", "--bin", "5ms", "--min-occ", "20", "--json").stdout
        self.assertEqual(json.loads(time)["patterns"], json.loads(bins)["patterns"])
        self.assertEqual(json.loads(time)["run"]["parameters"]["window"], 20)
        for window in ("7ms", "1ms", "0", "x", "-3"):
            self.refused("spade", data, "--bin", "5ms", f"--window={window}", says="--window")

    def test_synchronous_patterns_need_a_threshold(self):
        data = self.chain_file()
        self.refused("spade", data, "--window", "1", "--min-spikes", "3", says="--min-occ auto needs a window of more bins")
        self.ok("spade", data, "--window", "1", "--min-spikes", "2", "--min-occ", "2")

    def test_a_recording_without_units_is_written_only_where_it_can_be_read(self):
        empty = self.file("empty.tsv", "# span_s: 0 10\ntime_s\tunit\n")
        self.refused("convert", empty, self.folder / "o.nwb", says=("without units", ".npz"))
        for name in ("o.tsv", "o.npz"):
            self.ok("convert", empty, self.folder / name)
            self.ok("info", self.folder / name)


if __name__ == "__main__":
    unittest.main()
