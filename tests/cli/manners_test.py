"""User interaction: typos, help, closed pipes, numbers in JSON."""

import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import SPIKEWEAVE, CliTest, run, state

COMMANDS = (("info",), ("convert",), ("simulate",), ("simulate", "sym26"), ("simulate", "culture"),
            ("simulate", "poisson"), ("simulate", "patterns"), ("simulate", "network"), ("simulate", "recording"),
            ("simulate", "features"),
            ("sort",), ("episodes",), ("spade",), ("assemblies",), ("replay",), ("report",), ("compare",), ("table",), ("devices",), ("doctor",), ("completion",), ("manual",))


class Typos(CliTest):
    def test_name_the_command_that_may_be_meant(self):
        for words, meant in ((("epsiodes",), "episodes"), (("spdae", "x.tsv"), "spade"), (("epsiodes", "--help"), "episodes"),
                             (("help", "epsiodes"), "episodes"), (("-q", "inof", "x.tsv"), "info"),
                             (("--progress", "none", "sorts"), "sort"), (("simulate", "sym62", "-o", "x.tsv"), "sym26")):
            with self.subTest(words):
                self.refused(*words, says=f"; did you mean {meant}?")

    def test_list_the_commands_where_none_is_near(self):
        self.refused("fly", says="there is no command 'fly' "
                                 "(there are info, convert, simulate, sort, episodes, spade, assemblies, merge, live, replay, report, compare, table, devices, doctor, completion, manual)")
        self.refused(says="expected one of info, convert, simulate, sort, episodes, spade, assemblies, merge, live, replay, report, compare, table, devices, doctor, completion, manual")
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
        self.assertIn("Not with --count-only, --delay-grid", " ".join(self.ok("episodes", "--help").stdout.split()))

    def test_is_asked_for_in_several_ways(self):
        wanted = self.ok("episodes", "--help").stdout

        self.assertEqual(self.ok("help", "episodes").stdout, wanted)
        self.assertEqual(self.ok("episodes", "-h").stdout, wanted)
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


if __name__ == "__main__":
    unittest.main()
