"""tools/run_docs.py catches every way in which a page can show something else than what happens."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import run_docs  # noqa: E402


class RunDocs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)
        self.command = self.folder / "spikeweave"
        self.command.write_text('#!/bin/sh\n[ "$1" != fail ] || exit 2\nprintf "%s\\n" "$@"\n', encoding="utf-8")
        self.command.chmod(0o755)

    def check(self, text, write=False):
        path = self.folder / "page.md"
        path.write_text(text, encoding="utf-8")
        return run_docs.check(path, self.command, write=write)

    def assert_right(self, text):
        self.assertEqual(self.check(text).complaints, [])

    def assert_wrong(self, text, line, words):
        complaints = self.check(text).complaints
        self.assertEqual(len(complaints), 1, complaints)
        self.assertEqual(complaints[0][0], line)
        self.assertIn(words, complaints[0][1])

    def test_allows_a_page_that_shows_what_is_printed(self):
        self.assert_right("Text.\n\n```sh\nspikeweave a b\n```\n\n```\na\nb\n```\n")

    def test_runs_the_blocks_of_a_page_in_one_folder(self):
        self.assert_right("```sh\nspikeweave a >made\n```\n\nThen\n\n```sh\ncat made\n```\n```\na\n```\n")

    def test_catches_output_that_has_changed(self):
        self.assert_wrong("# T\n\n```sh\nspikeweave a b\n```\n```\na\nc\n```\n", 3, "-c\n+b")

    def test_catches_output_that_lacks_a_line_without_a_mark(self):
        self.assert_wrong("```sh\nspikeweave a b\n```\n```\na\n```\n", 1, "+b")

    def test_catches_output_that_has_a_line_too_many(self):
        self.assert_wrong("```sh\nspikeweave a\n```\n```\na\nb\n```\n", 1, "-b")

    def test_catches_output_that_nothing_prints(self):
        self.assert_wrong("```sh\nspikeweave a\n```\n\nText between.\n\n```\na\n```\n", 7, "no command right before")
        self.assert_wrong("```text\nspikeweave a\n```\n```\na\n```\n", 4, "no command right before")

    def test_catches_a_command_that_fails(self):
        self.assert_wrong("```sh\nspikeweave fail\nspikeweave a\n```\n", 1, "status 2")
        self.assert_wrong("```sh\nsudo-of-no-computer a\n```\n", 1, "status 127")

    def test_allows_an_error_that_the_page_shows(self):
        self.command.write_text('#!/bin/sh\necho "spikeweave: error: no $1"; exit 2\n', encoding="utf-8")
        self.assert_right("```sh\nspikeweave a\n```\n```\nspikeweave: error: no a\n```\n")
        self.assert_wrong("```sh\nspikeweave a\n```\n```\nno a\n```\n", 1, "status 2")

    def test_catches_commands_in_a_block_of_another_kind(self):
        self.assert_wrong("```console\n$ spikeweave a\na\n```\n", 1, "console")

    def test_allows_lines_and_parts_of_lines_to_be_left_out(self):
        for shown in ("…\nc 3\nd 4", "a 1\n…\nd 4", "a 1\nb 2\n…", "  …\nc …\nd 4", "a …\nb 2\n…", "…\nb 2\n…", "a …1\n…"):
            self.assert_right(f'```sh\nspikeweave "a 1" "b 2" "c 3" "d 4"\n```\n```\n{shown}\n```\n')

    def test_catches_lines_that_are_not_where_they_are_shown(self):
        for shown in ("…\nc 3", "b 2\n…", "a 1\n…\nb 2\nd 4", "…\nd 4\n…", "a …\nc …\n…", "…\na 1\n…", "…\nc 3\n…\nb 2\n…", "a 1\nb 2\n…\nc 3\nd 4"):
            self.assert_wrong(f'```sh\nspikeweave "a 1" "b 2" "c 3" "d 4"\n```\n```\n{shown}\n```\n', 1, "something else")

    def test_does_not_run_what_is_marked_with_a_reason(self):
        self.assert_right("<!-- not run: installs packages -->\n```sh\nspikeweave fail\n```\n")
        self.assert_wrong("<!-- not run -->\n```sh\nspikeweave fail\n```\n", 2, "says nothing")
        self.assert_wrong("<!-- not run: no -->\n\n```sh\nspikeweave a\n```\n", 1, "not on the line before a block")

    def test_catches_output_of_what_is_not_run(self):
        self.assert_wrong("<!-- not run: no -->\n```sh\nspikeweave a\n```\n```\na\n```\n", 2, "not run")

    def test_runs_commands_before_a_block(self):
        self.assert_right("<!-- before: echo a >made; reader() { cat \"$1\"; }\necho b >>made -->\n```sh\nreader made\n```\n```\na\nb\n```\n")

    def test_leaves_out_a_block_whose_recording_is_absent(self):
        page = '<!-- before: cat "$SPIKEWEAVE_SHARED_DATA/a" -->\n```sh\nspikeweave b\n```\n```\na\nb\n```\n'
        with mock.patch.object(run_docs, "SHARED", self.folder / "absent"):
            found = self.check(page)
        self.assertEqual((found.complaints, [line for line, _ in found.left_out]), ([], [2]))
        (self.folder / "a").write_text("a\n", encoding="utf-8")
        with mock.patch.object(run_docs, "SHARED", self.folder):
            found = self.check(page)
        self.assertEqual((found.complaints, found.left_out), ([], []))

    def test_shows_the_value_of_the_last_line_of_python(self):
        page = "```python\nfor x in (1, 2):\n    print(x)\nx + 1\n```\n```\n1\n2\n{}\n```\n"
        with mock.patch.object(run_docs, "has_package", return_value=True):
            self.assert_right(page.format(3))
            self.assert_wrong(page.format(4), 1, "-4\n+3")
        with mock.patch.object(run_docs, "has_package", return_value=False):
            self.assertEqual([line for line, _ in self.check(page.format(4)).left_out], [1])

    def test_writes_what_is_printed_and_keeps_what_is_left_out(self):
        page = '```sh\nspikeweave "a 1" "b 2" "c 3" "d 4" "e 5"\n```\n```\n{}\n```\n\n```sh\nspikeweave x\n```\n```\n{}\n```\n'
        for before, after in (("a 0", "a 1\nb 2\nc 3\nd 4\ne 5"), ("…\nc 0\n…", "…\nc 3\n…"), ("a 1\n…\nd 7", "a 1\n…\nd 4\ne 5"),
                              ("a …\nd 0\n…", "a …\nb 2\nc 3\nd 4\n…"), ("z\n…", "a 1\n…"), ("a 1\nz\n…\ny\ne 5", "a 1\nb 2\n…\nd 4\ne 5")):
            self.assertEqual(self.check(page.format(before, "y"), write=True).complaints, [])
            text = (self.folder / "page.md").read_text(encoding="utf-8")
            self.assertEqual(text, page.format(after, "x"))
            self.assert_right(text)

    def test_does_not_write_what_a_failed_command_prints(self):
        page = "```sh\nspikeweave a; spikeweave fail\n```\n```\nb\n```\n"
        self.assertEqual(len(self.check(page, write=True).complaints), 1)
        self.assertEqual((self.folder / "page.md").read_text(encoding="utf-8"), page)

    def test_reads_every_page(self):
        for name in ("README.md", "docs/cli.md", "docs/tutorials/sort.md"):
            self.assertIn(run_docs.ROOT / name, run_docs.pages())


if __name__ == "__main__":
    os.environ.pop("SPIKEWEAVE_SHARED_DATA", None)
    unittest.main()
