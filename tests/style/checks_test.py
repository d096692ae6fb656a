"""The checks of layers, docs and test results must catch what they are there for."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run_tool(self, name, *arguments):
        return subprocess.run([sys.executable, TOOLS / name, *arguments], capture_output=True, text=True)

    def assert_caught(self, tool, where, what):
        result = self.run_tool(tool, self.root)
        self.assertEqual(result.returncode, 1, result)
        self.assertIn(where, result.stderr)
        self.assertIn(what, result.stderr)


class Layers(Planted):
    tool = "check_layers.py"

    def test_allows_what_is_allowed(self):
        self.plant("src/mine/episode/count.cpp",
                   '#include "synfire/spikes/spike_trains.hpp"\n#include "parallel/parallel_for.hpp"\n'
                   '#include "core/stop.hpp"\n#include "mine/episode/counters.hpp"\n#include <vector>\n')
        self.plant("apps/synfire/main.cpp", '#include "cli.hpp"\n#include "synfire/synfire.hpp"\n')

        result = self.run_tool(self.tool, self.root)

        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_catches_a_lower_stage_that_uses_a_higher(self):
        self.plant("src/spikes/a.cpp", '\n#include "synfire/mine/episode.hpp"\n')
        self.assert_caught(self.tool, "src/spikes/a.cpp:2", "spikes may not use mine")

    def test_catches_the_private_header_of_another_stage(self):
        self.plant("src/report/a.cpp", '#include "mine/episode/counters.hpp"\n')
        self.assert_caught(self.tool, "src/report/a.cpp:1", "public headers only")

    def test_catches_a_private_header_in_a_public_one(self):
        self.plant("include/synfire/mine/a.hpp", '#include "parallel/parallel_for.hpp"\n')
        self.assert_caught(self.tool, "include/synfire/mine/a.hpp:1", "private")

    def test_catches_a_library_in_a_public_header(self):
        self.plant("include/synfire/spikes/a.hpp", "#include <hdf5.h>\n")
        self.assert_caught(self.tool, "include/synfire/spikes/a.hpp:1", "library")

    def test_catches_a_command_that_reaches_inside(self):
        self.plant("apps/synfire/a.cpp", '#include "core/stop.hpp"\n')
        self.assert_caught(self.tool, "apps/synfire/a.cpp:1", "only <include/synfire>")

    def test_catches_a_folder_that_is_no_stage(self):
        self.plant("src/utils/a.cpp", "\n")
        self.assert_caught(self.tool, "src/utils/a.cpp", "no stage utils")


class Docs(Planted):
    tool = "check_docs.py"
    quotation = "<!-- examples/a.cpp [all] -->\n```cpp\nint x = 1;\n```\n"

    def test_allows_a_true_quotation(self):
        self.plant("examples/a.cpp", "int main() {\n    // [all]\n    int x = 1;\n    // [all]\n}\n")
        self.plant("docs/a.md", self.quotation)

        result = self.run_tool(self.tool, self.root)

        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_catches_a_quotation_that_is_out_of_date(self):
        self.plant("examples/a.cpp", "// [all]\nint x = 2;\n// [all]\n")
        self.plant("docs/a.md", self.quotation)
        self.assert_caught(self.tool, "docs/a.md", "has changed")

    def test_catches_a_link_to_nowhere(self):
        self.plant("README.md", "[formats](docs/formats.md)")
        self.assert_caught(self.tool, "README.md", "docs/formats.md")

    def test_catches_a_script_that_is_not_there(self):
        self.plant("README.md", "Run `script/fly` now.")
        self.assert_caught(self.tool, "README.md", "script/fly")


class Summary(Planted):
    def summary(self, xml, *arguments):
        self.plant("ci.xml", xml)
        return self.run_tool("test_summary.py", "--seconds", "372", *arguments, self.root)

    def test_counts_and_ends_with_the_line_that_machines_read(self):
        result = self.summary('<testsuite><testcase name="a" status="run"/><testcase name="b" status="notrun"/></testsuite>')

        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.splitlines(), [
            "skipped  ci: b", "synfire: 1 tests passed, 0 failed, 1 skipped (listed above) in 6 min 12 s",
            "1 passed, 0 failed, 1 skipped"])

    def test_a_failure_is_named(self):
        result = self.summary('<testsuite><testcase name="a" status="fail"/></testsuite>')

        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED   ci: a", result.stdout)

    def test_a_build_that_broke_and_a_run_that_did_not_end_are_failures(self):
        result = self.summary("", "--broken=build asan")

        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.splitlines()[-1], "0 passed, 2 failed")


if __name__ == "__main__":
    unittest.main()
