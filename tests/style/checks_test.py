"""The checks of layers, sizes, docs, commits and test results must detect planted errors."""

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


class Commits(Planted):
    tool = "check_commits.py"

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], check=True,
                       capture_output=True)

    def commit(self, message):
        self.git("commit", "--allow-empty", "-m", message)

    def setUp(self):
        super().setUp()
        self.git("init")
        self.commit("Whatever was before the rule.")
        self.plant("tools/check_commits.py", "")
        self.git("add", ".")
        self.commit("tools: check the messages of commits\n\nSo that history can be searched.")

    def test_allows_an_area_a_summary_and_a_body(self):
        self.commit("mine: count pairs by merging\n\nIt takes half the time.")
        result = self.run_tool(self.tool, self.root)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_catches_a_subject_without_an_area(self):
        self.commit("Count pairs by merging\n\nIt takes half the time.")
        self.assert_caught(self.tool, "Count pairs", "area: summary")

    def test_catches_a_long_subject(self):
        self.commit("mine: " + 70 * "a" + "\n\nIt takes half the time.")
        self.assert_caught(self.tool, "mine: aaa", "76 characters")

    def test_catches_a_commit_that_does_not_say_why(self):
        self.commit("mine: count pairs by merging")
        self.assert_caught(self.tool, "by merging", "says why")


class Layers(Planted):
    tool = "check_layers.py"

    def test_allows_what_is_allowed(self):
        self.plant("src/mine/episodes/search/count.cpp",
                   '#include "spikeweave/spikes/spike_trains.hpp"\n#include "parallel/parallel_for.hpp"\n'
                   '#include "core/stop.hpp"\n#include "mine/episodes/search/counters.hpp"\n#include <vector>\n')
        self.plant("apps/spikeweave/main.cpp", '#include "cli/output.hpp"\n#include "spikeweave/spikeweave.hpp"\n')

        result = self.run_tool(self.tool, self.root)

        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_catches_a_lower_stage_that_uses_a_higher(self):
        self.plant("src/spikes/a.cpp", '\n#include "spikeweave/mine/episodes.hpp"\n')
        self.assert_caught(self.tool, "src/spikes/a.cpp:2", "spikes may not use mine")

    def test_catches_a_stage_that_uses_a_whole_analysis(self):
        self.plant("src/assess/a.cpp", '#include "spikeweave/pipeline/episodes.hpp"\n')
        self.assert_caught(self.tool, "src/assess/a.cpp:1", "assess may not use pipeline")

    def test_catches_a_stage_that_knows_elephant(self):
        self.plant("src/assess/a.cpp", '#include "spikeweave/elephant/order.hpp"\n')
        self.assert_caught(self.tool, "src/assess/a.cpp:1", "assess may not use elephant")

    def test_catches_an_algorithm_that_knows_streams(self):
        self.plant("src/mine/a.cpp", '#include "spikeweave/live/source.hpp"\n')
        self.assert_caught(self.tool, "src/mine/a.cpp:1", "mine may not use live")

    def test_catches_an_analysis_that_writes_its_report(self):
        self.plant("src/pipeline/a.cpp", '#include "spikeweave/report/run_record.hpp"\n')
        self.assert_caught(self.tool, "src/pipeline/a.cpp:1", "pipeline may not use report")

    def test_catches_the_private_header_of_another_stage(self):
        self.plant("src/report/a.cpp", '#include "mine/episodes/search/counters.hpp"\n')
        self.assert_caught(self.tool, "src/report/a.cpp:1", "public headers only")

    def test_catches_a_private_header_in_a_public_one(self):
        self.plant("include/spikeweave/mine/a.hpp", '#include "parallel/parallel_for.hpp"\n')
        self.assert_caught(self.tool, "include/spikeweave/mine/a.hpp:1", "private")

    def test_catches_a_library_in_a_public_header(self):
        self.plant("include/spikeweave/spikes/a.hpp", "#include <hdf5.h>\n")
        self.assert_caught(self.tool, "include/spikeweave/spikes/a.hpp:1", "library")

    def test_catches_a_command_that_reaches_inside(self):
        self.plant("apps/spikeweave/a.cpp", '#include "core/stop.hpp"\n')
        self.assert_caught(self.tool, "apps/spikeweave/a.cpp:1", "only <include/spikeweave>")

    def test_catches_bindings_that_reach_inside(self):
        self.plant("python/bindings/core/a.cpp", '#include "bindings/core/a.hpp"\n#include "core/stop.hpp"\n')
        self.assert_caught(self.tool, "python/bindings/core/a.cpp:2", "only <include/spikeweave>")

    def test_catches_bindings_of_elephant_that_use_those_of_an_analysis(self):
        self.plant("python/bindings/elephant/a.cpp", '#include "bindings/pipeline/sorted_data.hpp"\n')
        self.assert_caught(self.tool, "python/bindings/elephant/a.cpp:1", "bindings/elephant may not use bindings/pipeline")

    def test_catches_private_code_in_the_public_namespace(self):
        self.plant("src/record/a.hpp", "namespace spikeweave::record {}\n\nnamespace spikeweave {\n")
        self.assert_caught(self.tool, "src/record/a.hpp:3", "spikeweave::record")

    def test_catches_a_folder_that_is_no_stage(self):
        self.plant("src/utils/a.cpp", "\n")
        self.assert_caught(self.tool, "src/utils/a.cpp", "no stage utils")

    def test_catches_a_command_that_uses_another(self):
        self.plant("src/assess/spade/a.cpp", '#include "spikeweave/mine/episodes.hpp"\n')
        self.assert_caught(self.tool, "src/assess/spade/a.cpp:1", "assess/spade and mine/episodes do not know each other")
        self.plant("src/assess/spade/a.cpp", '#include "assess/episodes/a.hpp"\n')
        self.assert_caught(self.tool, "src/assess/spade/a.cpp:1", "assess/spade and assess/episodes do not know each other")

    def test_catches_a_file_for_all_commands_that_is_for_one(self):
        self.plant("src/report/spade_json.cpp", "\n")
        self.assert_caught(self.tool, "src/report/spade_json.cpp", "names the folder")

    def test_catches_a_folder_with_another_name_than_the_command(self):
        self.plant("tests/mine/episode/a_test.cpp", "\n")
        self.assert_caught(self.tool, "tests/mine/episode", "names the folder")

    def test_allows_a_command_that_is_built_on_another(self):
        self.plant("src/pipeline/compare/a.cpp", '#include "pipeline/episodes/a.hpp"\n')
        result = self.run_tool(self.tool, self.root)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.plant("src/pipeline/episodes/a.cpp", '#include "spikeweave/pipeline/compare.hpp"\n')
        self.assert_caught(self.tool, "src/pipeline/episodes/a.cpp:1", "pipeline/episodes and pipeline/compare do not know each other")

    def test_catches_another_word_for_what_a_command_does(self):
        for path in ("src/pipeline/conditions.cpp", "src/report/cohort_table.cpp", "include/spikeweave/report/inputs.hpp",
                     "tests/report/session_page_test.cpp", "src/report/comparison.cpp"):
            with self.subTest(path):
                self.plant(path, "\n")
                self.assert_caught(self.tool, path, "names the folder")

    def test_catches_a_command_that_it_does_not_know(self):
        self.plant("apps/spikeweave/commands/weave.cpp", "\n")
        self.assert_caught(self.tool, "apps/spikeweave/commands/weave.cpp", "does not have this command")

    def test_catches_a_command_without_a_report(self):
        self.plant("include/spikeweave/pipeline/spade.hpp", "\n")
        self.plant("src/pipeline/spade/run.cpp", "\n")
        self.assert_caught(self.tool, "src/report", "no spade here")

    def test_catches_a_use_of_cuda_outside_its_files(self):
        self.plant("src/mine/a.cpp", "#include <cuda_runtime_api.h>\n")
        self.assert_caught(self.tool, "src/mine/a.cpp:1", "needs CUDA")
        self.plant("src/mine/a.cpp", '#include "mine/episodes/two_pass/cuda/a.hpp"\n')
        self.assert_caught(self.tool, "src/mine/a.cpp:1", "needs CUDA")

    def test_catches_a_source_in_the_wrong_list(self):
        self.plant("src/mine/CMakeLists.txt", "target_sources(a PRIVATE x/cuda/a.cpp)\n")
        self.assert_caught(self.tool, "src/mine/CMakeLists.txt:1", "x/cuda/a.cpp needs CUDA")
        self.plant("src/mine/CMakeLists.txt", "if(SPIKEWEAVE_CUDA)\n  target_sources(a PRIVATE x/a.cpp)\nendif()\n")
        self.assert_caught(self.tool, "src/mine/CMakeLists.txt:2", "x/a.cpp is built with CUDA only")


class Api(Planted):
    tool = "check_api.py"

    def plant_header(self, declarations):
        self.plant("include/spikeweave/mine/a.hpp", f"namespace spikeweave {{\n{declarations}\n}}  // namespace spikeweave\n")

    def test_allows_what_is_marked_and_what_needs_no_mark(self):
        self.plant_header("SPIKEWEAVE_API int f(options how = {}, int x = 3);\n"
                          "[[nodiscard]] SPIKEWEAVE_API bool operator==(const a& x, const a& y);\n"
                          "struct plain {\n    int f() const { return 3; }\n    plain() = default;\n"
                          "    std::function<void(int)> call = {};\n    bool operator==(const plain&) const = default;\n};\n"
                          "class SPIKEWEAVE_API full {\n public:\n    int f() const;\n};\n"
                          "template <class T>\nT twice(T x);\nclass full;\n"
                          "inline int g(int x) {\n    return f(x);\n}\nusing call = int (*)(int);\n")

        result = self.run_tool(self.tool, self.root)

        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_catches_a_function(self):
        self.plant_header("SPIKEWEAVE_API int f();\nstd::vector<int> g(\n    const a& x = {});")
        self.assert_caught(self.tool, "include/spikeweave/mine/a.hpp:3", "g is not marked")

    def test_catches_an_operator(self):
        self.plant_header("bool operator<(const a& x, const a& y);")
        self.assert_caught(self.tool, "include/spikeweave/mine/a.hpp:2", "is not marked")

    def test_catches_a_class_with_code_elsewhere(self):
        for member in ("int f() const;", "a();", "virtual ~a() = default;", "int x = 0;\n private:\n    void f(int y = 3);"):
            self.plant_header(f"class a {{\n public:\n    {member}\n}};")
            self.assert_caught(self.tool, "include/spikeweave/mine/a.hpp:2", "a is not marked")

    def test_catches_a_specialization(self):
        self.plant_header("template <>\ntable<kind> names<kind>();")
        self.assert_caught(self.tool, "include/spikeweave/mine/a.hpp:2", "is not marked")

    def test_catches_what_is_in_a_nested_namespace(self):
        self.plant_header("namespace detail {\nint f();\n}  // namespace detail")
        self.assert_caught(self.tool, "include/spikeweave/mine/a.hpp:3", "f is not marked")

    def test_catches_an_exception(self):
        self.plant_header("struct a : std::runtime_error {\n    using std::runtime_error::runtime_error;\n};")
        self.assert_caught(self.tool, "include/spikeweave/mine/a.hpp:2", "a is not marked")

    def test_catches_private_code_that_is_marked(self):
        self.plant("src/mine/a.hpp", "SPIKEWEAVE_API int f();")
        self.assert_caught(self.tool, "src/mine/a.hpp", "public headers")


class Sizes(Planted):
    tool = "check_sizes.py"

    def test_allows_what_is_short(self):
        self.plant("src/mine/a.cpp", "namespace a {\n" + 30 * "int f() {\n    return '{';  // {\n}\n" + "}\n")
        self.plant("src/mine/b.hpp", "class b {\n" + 90 * "    int f(int x = {}) const { return {}; }\n" + "};\n")
        self.plant("python/a.py", "def f(\n" + "".join(f"    x{i},\n" for i in range(70)) + '):\n    """Help."""\n    return 1\n')
        self.plant("tests/mine/a.cpp", 501 * "\n")

        result = self.run_tool(self.tool, self.root)

        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_catches_a_long_file(self):
        self.plant("src/mine/a.cu", 501 * "\n")
        self.assert_caught(self.tool, "src/mine/a.cu:1", "501 lines")

    def test_catches_a_long_function(self):
        self.plant("src/mine/a.cpp", "namespace a {\n\n// Why.\nint f(const b& x) {\n" + 59 * "    if (x) { g(); }\n" + "}\n}\n")
        self.assert_caught(self.tool, "src/mine/a.cpp:4", "f has 61 lines")

    def test_catches_a_long_kernel(self):
        self.plant("src/mine/a.cu", "template <class T>\n__global__ void __launch_bounds__(32)\n    k(T* __restrict__ x) {\n"
                   + 58 * "    x[0] = {};\n" + "}\n")
        self.assert_caught(self.tool, "src/mine/a.cu:1", "k has 62 lines")

    def test_catches_a_long_member_and_a_function_of_lambdas(self):
        for body in (60 * "        g();\n", "        const auto h = [&] {\n" + 58 * "            g();\n" + "        };\n"):
            self.plant("include/spikeweave/a.hpp", "class a {\n    a() : x(3) {\n" + body + "    }\n};\n")
            self.assert_caught(self.tool, "include/spikeweave/a.hpp:2", "a has 62 lines")

    def test_catches_a_long_python_function(self):
        self.plant("tools/a.py", 'def f(x):\n    """Help."""\n' + 61 * "    x()\n")
        self.assert_caught(self.tool, "tools/a.py:1", "f has 61 lines")


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
        for page in ("README.md", "SECURITY.md"):
            self.plant(page, "[formats](docs/formats.md)")
            self.assert_caught(self.tool, page, "docs/formats.md")

    def test_catches_a_script_that_is_not_there(self):
        self.plant("README.md", "Run `script/fly` now.")
        self.assert_caught(self.tool, "README.md", "script/fly")

    def test_catches_a_file_that_is_not_there(self):
        for page in ("README.md", "docs/a.md"):
            self.plant(page, "The rules are in `src/mine/rules.cpp`.")
            self.assert_caught(self.tool, page, "src/mine/rules.cpp")

    def test_allows_a_name_that_stands_for_several_files(self):
        self.plant("docs/a.md", "`tests/STAGE/*_test.cpp`, `src/mine/pattern_…` and `include/spikeweave/NAME.hpp`")
        self.plant("CHANGELOG.md", "`src/mine/rules.cpp` is gone.")
        result = self.run_tool(self.tool, self.root)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_catches_a_link_to_a_heading_that_is_not_there(self):
        self.plant("docs/a.md", "# A page\n\n## `spikeweave` [does](b.md) this, and that\n\n```sh\n# no heading\n```\n")
        self.plant("docs/b.md", "[a](a.md#spikeweave-does-this-and-that), [b](#there)\n\n# There\n")
        result = self.run_tool(self.tool, self.root)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for anchor in ("spikeweave", "no-heading"):
            self.plant("docs/b.md", f"[a](a.md#{anchor})\n")
            self.assert_caught(self.tool, "docs/b.md", f"a.md#{anchor}")

    def test_catches_a_line_that_is_too_long(self):
        for page in ("README.md", "docs/a.md"):
            with self.subTest(page):
                self.plant(page, "short\n" + 20 * "words " + "end\n")
                self.assert_caught(self.tool, page, "line 2 has more than 120 characters")

    def test_allows_long_lines_that_cannot_be_broken(self):
        long = 20 * "words " + "end"
        self.plant("docs/a.md", f"# {long}\n\n| {long} |\n\n```\n{long}\n```\n\n- <https://{120 * 'a'}>\n\n![{long}](a.md)\n")

        result = self.run_tool(self.tool, self.root)

        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Kernels(Planted):
    def notes(self, kernel="_ZN10spikeweave8episodes12_GLOBAL__N_19find_mostEv", registers=30, stack=0, spill=0):
        return (f"ptxas info    : Compiling entry function '{kernel}' for 'sm_90'\n"
                f"ptxas info    : Function properties for {kernel}\n"
                f"    {stack} bytes stack frame, {spill} bytes spill stores, {spill} bytes spill loads\n"
                f"ptxas info    : Used {registers} registers, 400 bytes cmem[0]\n")

    def check(self, notes, budget, *arguments, folder="x"):
        self.plant(f"build/united/{folder}/kernels.cu.o.ptxas", notes)
        self.plant("budget.tsv", budget)
        return self.run_tool("check_kernels.py", self.root / "build", "--budget", self.root / "budget.tsv", *arguments)

    def test_allows_what_is_within_the_budget(self):
        result = self.check(self.notes(), "# text\nx\tfind_most\t30\t0\n")

        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_catches_registers_stack_and_spills(self):
        for notes, words in ((self.notes(registers=31), "31 registers, 30"), (self.notes(stack=8), "8 bytes of stack"),
                             (self.notes(spill=4), "spills 8 bytes on sm_90")):
            result = self.check(notes, "x\tfind_most\t30\t0\n")
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)

    def test_takes_the_worst_gpu(self):
        result = self.check(self.notes() + self.notes(registers=40).replace("sm_90", "sm_80"), "x\tfind_most\t30\t0\n")
        self.assertIn("40 registers", result.stderr)

    def test_catches_a_kernel_that_nobody_expected_and_one_that_is_gone(self):
        result = self.check(self.notes(), "x\tother\t30\t0\n")

        self.assertEqual(result.returncode, 1)
        self.assertIn("find_most is not in the budget", result.stderr)
        self.assertIn("other is in the budget, but was not built", result.stderr)

    def test_catches_a_contraction_that_would_change_results(self):
        budget = "record/filter\tfind_most\t30\t0\n"

        contracted = self.check(self.notes(), budget, folder="record/filter")
        self.assertEqual(contracted.returncode, 1)
        self.assertIn("record/filter: was compiled with contraction", contracted.stderr)
        exact = self.check("without contraction\n" + self.notes(), budget, folder="record/filter")
        self.assertEqual((exact.returncode, exact.stderr), (0, ""))

    def test_a_build_without_kernels_is_no_success(self):
        self.plant("budget.tsv", "")
        self.assertEqual(self.run_tool("check_kernels.py", self.root, "--budget", self.root / "budget.tsv").returncode, 1)

    def test_writes_the_budget(self):
        self.assertEqual(self.check(self.notes(), "", "--update").returncode, 0)
        self.assertIn("x\tfind_most\t30\t0\n", (self.root / "budget.tsv").read_text())


class Recorded(Planted):
    def test_keeps_what_ptxas_says_and_passes_the_rest_on(self):
        self.plant("nvcc.py", "import sys\nsys.stderr.write(\"ptxas info    : Used 3 registers\\nx.cu(1): warning\\n\")\n"
                              "sys.exit(int(sys.argv[1]))\n")
        for status in ("0", "3"):
            result = self.run_tool("record_kernels.py", sys.executable, self.root / "nvcc.py", status, "-o",
                                   self.root / f"x{status}.o")
            self.assertEqual((result.returncode, result.stderr), (int(status), "x.cu(1): warning\n"))
        self.assertEqual((self.root / "x0.o.ptxas").read_text(), "ptxas info    : Used 3 registers\n")
        self.assertFalse((self.root / "x3.o.ptxas").exists())
        self.run_tool("record_kernels.py", sys.executable, self.root / "nvcc.py", "0", "--fmad=false", "-o", self.root / "x.o")
        self.assertEqual((self.root / "x.o.ptxas").read_text(), "without contraction\nptxas info    : Used 3 registers\n")


class Summary(Planted):
    def summary(self, xml, *arguments):
        self.plant("ci.xml", xml)
        return self.run_tool("test_summary.py", "--seconds", "372", *arguments, self.root)

    def test_counts_and_ends_with_the_line_that_machines_read(self):
        result = self.summary('<testsuite><testcase name="a" status="run"/><testcase name="b" status="notrun"/></testsuite>')

        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.splitlines(), [
            "skipped  ci: b", "spikeweave: 1 tests passed, 0 failed, 1 skipped (listed above) in 6 min 12 s",
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
