"""--help, --version, and the completeness of docs/cli.md."""

import functools
import json
import re
import shlex
import unittest

from support import ROOT, CliTest, run

COMMANDS = (("run",), ("example",), ("info",), ("convert",), ("simulate", "sym26"), ("simulate", "culture"), ("simulate", "poisson"),
            ("simulate", "patterns"), ("simulate", "network"), ("simulate", "recording"), ("simulate", "features"), ("sort",),
            ("episodes",), ("windows",), ("count",),
            ("spade",), ("assemblies",), ("bursts",), ("merge",), ("live",), ("replay",), ("report",), ("compare",), ("table",), ("track",), ("devices",), ("doctor",), ("completion",), ("manual",))
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


@functools.cache  # several tests read the help of every command
def help_of(*command):
    result = run(*command, "--help")
    assert result.returncode == 0, result.stderr
    return result.stdout


def declared(*command):
    """Returns the options at the beginning of the lines of --help."""
    lines = help_of(*command).splitlines()
    return {option for line in lines if re.match(r"  -", line) for option in OPTION.findall(line.split()[0])}


class Help(CliTest):
    def test_every_command_has_help_with_an_example(self):
        for command in COMMANDS:
            self.assertIn("Example", help_of(*command), command)

    def test_short_help_is_short_and_says_where_the_rest_is(self):
        for command in ((), ("simulate",), *COMMANDS):
            lines = self.ok(*command, "-h").stdout.splitlines()
            self.assertLessEqual(len(lines), 25, command)
            self.assertLessEqual(max(map(len, lines)), 80, command)
            self.assertEqual(lines[-1], f"{' '.join(['spikeweave', *command])} --help describes all options.")
            self.assertNotIn("Not with", "\n".join(lines))
            short = {option for line in lines if re.match(r"  -", line) for option in OPTION.findall(line.split()[0])}
            self.assertLessEqual(short, declared(*command), command)

    def test_short_help_has_the_options_of_a_first_use(self):
        for command, wanted in ((("episodes",), {"--output", "--delays", "--min-count", "--surrogates", "--dither", "--epochs"}),
                                (("sort",), {"--output", "--sample-rate", "--channels", "--gain", "--probe", "--device"}),
                                (("spade",), {"--output", "--bin", "--window", "--surrogates", "--reduce", "--min-occ"}),
                                (("live",), {"--episodes", "--arm", "--to", "--dashboard", "--record"}),
                                (("compare",), {"--epochs-a", "--group-b", "--patterns"}),
                                (("doctor",), {"--json"})):
            text = self.ok(*command, "-h").stdout
            for option in wanted:
                self.assertRegex(text, rf"(?m)^  (-o,)?{option}\b", command)
        self.assertNotIn("--compaction", self.ok("episodes", "-h").stdout)

    def test_long_help_has_every_option(self):
        """Those that the parser takes, which completion lists; the help of the program has what all commands take."""
        completed = re.findall(r'(?m)^    "([a-z0-9 ]*)"\) commands=".*?"; options="(.*?)"', self.ok("completion", "--shell", "bash").stdout)
        self.assertLessEqual({*COMMANDS}, {tuple(command.split()) for command, _ in completed})
        for command, options in completed:
            taken = {option for option in options.split() if option.startswith("--")}
            self.assertGreater(len(taken), 4, command)
            self.assertLessEqual(taken - declared(), declared(*command.split()), command)

    def test_short_help_of_the_program_names_every_command(self):
        text = self.ok("-h").stdout
        for command in {words[0] for words in COMMANDS}:
            self.assertRegex(text, rf"\b{command}\b")

    def test_version_names_the_program_and_what_it_was_built_with(self):
        first, *parts = self.ok("--version").stdout.splitlines()
        self.assertRegex(first, r"^spikeweave \d+\.\d+\.\d+(\+[0-9a-f]+)?$")
        built = {part["name"]: part["details"] if part["built"] else "no"
                 for part in json.loads(self.ok("doctor", "--json").stdout)["parts"]}
        self.assertEqual(parts, [f"{name}: {details}" for name, details in built.items()])


class Docs(CliTest):
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")

    def test_tell_of_every_command_and_option(self):
        for command in COMMANDS:
            options = declared(*command)
            self.assertGreater(len(options), 1, command)
            for option in options:
                self.assertRegex(self.page, rf"`[^`\n]*(?<![\w-]){re.escape(option)}(?![\w-])", command)
            self.assertIn(f"## spikeweave {' '.join(command)}", self.page)

    def test_tell_of_no_option_that_there_is_not(self):
        known = set().union(*(declared(*command) for command in COMMANDS), declared())
        told = set(OPTION.findall(" ".join(re.findall(r"^\| `([^`]*)` \|", self.page, re.MULTILINE))))

        self.assertGreater(len(told), 30)
        self.assertLessEqual(told, known)

    def test_show_commands_that_are_understood(self):
        """Each command of the docs is parsed with a missing file: errors may only be about files."""
        commands = []
        for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
            for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
                commands += re.findall(r"^(?:\S*/)?spikeweave (.*)$", block.replace("\\\n", " "), re.MULTILINE)
        self.assertGreater(len(commands), 5)
        for number, command in enumerate(commands):
            # Each command gets its own folder, so that none finds a file that a previous one has made.
            folder = self.folder / str(number)
            folder.mkdir()
            words = shlex.split(command, comments=True)
            if {"--help", "--version", "--list-strategies"} & set(words):
                self.ok(*words)
                continue
            parsed = run(*words, cwd=folder, timeout=60)
            self.assertNotIn("--help)", parsed.stderr, command)


if __name__ == "__main__":
    unittest.main()
