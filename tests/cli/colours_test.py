"""Colours are for terminals, and only if the user does not mind."""

import unittest

from support import CliTest, on_terminal


class Colours(CliTest):
    def commands(self):
        return (("--help",), ("no-such-command",), ("info", self.folder / "none.tsv"),
                ("episodes", self.chain_file(), "--min-count", "40", "--progress", "none"))

    def test_are_shown_on_a_terminal(self):
        for command in self.commands():
            with self.subTest(command):
                self.assertIn("\x1b[", on_terminal(*command))

    def test_are_not_shown_where_they_are_not_wanted(self):
        for command in self.commands():
            for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
                with self.subTest((command, environment)):
                    self.assertNotIn("\x1b[", on_terminal(*command, **environment))

    def test_change_nothing_but_colours(self):
        with_colours = on_terminal("--help")
        for code in ("\x1b[1m", "\x1b[0m"):
            with_colours = with_colours.replace(code, "")
        self.assertEqual(with_colours, on_terminal("--help", NO_COLOR="1"))

    def test_are_not_in_pipes(self):
        self.assertNotIn("\x1b", self.ok("episodes", self.chain_file(), "--min-count", "40").stdout)
        self.assertNotIn("\x1b", self.refused("info", "none.tsv").stderr)


if __name__ == "__main__":
    unittest.main()
