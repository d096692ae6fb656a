#!/usr/bin/env python3
"""Runs the commands of pages as a reader would, and compares what they print with the output that the pages show.

Usage: run_docs.py [--write] SPIKEWEAVE [PAGE...]    without PAGE: those of the root and of docs

The ```sh blocks of a page run in order in one empty folder, with SPIKEWEAVE first in PATH. A block without a language is
the output of the block right before it; a line `…` in it stands for one or more lines, and `…` within a line for any
text. A ```python block with output runs in a new process of the Python of this program, and shows the value of its last
expression. Where that has no package, such blocks and those that call python are left out. Two marks are known, on the line before a block:

  <!-- not run: REASON -->     the block is not run, so it may have no output
  <!-- before: COMMANDS -->    are run first and not shown, such as those that make an input; a block that names
                               $SPIKEWEAVE_SHARED_DATA here is left out where there is no such folder;
                               $SPIKEWEAVE_SOURCE is the folder of the source

--write puts what is printed into the pages. Lines that a block left out stay left out.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SPIKEWEAVE_SHARED_DATA", ROOT.parent / "shared" / "data"))
SECONDS = 120
# The site executes `{…}`, tools/check_docs.py compares cpp, and the others are contents of files.
LEFT_ALONE = re.compile(r"\{.*|cpp|cmake|json|toml|r|text")
MARK = re.compile(r"<!-- (not run|before)(?:: *((?:(?!-->)[\s\S])*?))? *-->")
BLOCK = re.compile(rf"(?:^[ \t]*{MARK.pattern}\n)?^([ \t]*)```(.*)\n((?:.*\n)*?)\3```[ \t]*$", re.MULTILINE)
VALUE = """
import ast, sys
lines = ast.parse(sys.stdin.read()).body
last = lines.pop() if isinstance(lines[-1], ast.Expr) else None
names = {}
exec(compile(ast.Module(lines, []), "page", "exec"), names)
value = eval(compile(ast.Expression(last.value), "page", "eval"), names) if last else None
if value is not None:
    print(value)
"""


@dataclass
class Block:
    line: int
    language: str
    text: str
    begin: int  # where `text` is in the page
    end: int
    mark: str | None = None
    words: str = ""
    output: "Block | None" = None


@dataclass
class Page:
    path: Path
    blocks: list = field(default_factory=list)  # those to run
    complaints: list = field(default_factory=list)  # (line, text)
    left_out: list = field(default_factory=list)  # (line, why)


def parse(path):
    page = Page(path)
    text = path.read_text(encoding="utf-8")
    last = None
    for match in BLOCK.finditer(text):
        mark, words, _, language, inside = match.groups()
        block = Block(text.count("\n", 0, match.start(4)) + 1, language.strip(), inside, match.start(5), match.end(5), mark, words)
        follows = last and not text[last.end:match.start()].strip(" \t\n`")
        if mark and not words:
            page.complaints.append((block.line, f"the mark `{mark}` before the block says nothing: `<!-- {mark}: … -->`"))
        if block.language in ("sh", "python"):
            page.blocks.append(block)
        elif not block.language and follows and last.language in ("sh", "python") and not mark:
            last.output = block
        elif not block.language:
            page.complaints.append((block.line, "the block has no language, and no command right before it prints it: give the command "
                                                "as ```sh, or call the block text"))
        elif not LEFT_ALONE.fullmatch(block.language):
            page.complaints.append((block.line, f"a block of {block.language} is not run: commands are ```sh, and their output follows"))
        last = block
    if MARK.search(BLOCK.sub("", text)):
        page.complaints.append((1, "a mark `not run` or `before` is not on the line before a block"))
    return page


def is_left_out(line):
    return line.strip() == "…"


def line_matches(shown, printed):
    return re.fullmatch(".*".join(map(re.escape, shown.rstrip().split("…"))), printed.rstrip()) is not None


def matches(shown, printed):
    """Whether lines are those of a block, in which `…` stands for one or more lines."""
    *parts, last = [[]]
    for line in shown:
        if is_left_out(line):
            parts.append(last)
            last = []
        else:
            last.append(line)

    def stands_at(part, place):
        return 0 <= place <= len(printed) - len(part) and all(map(line_matches, part, printed[place:]))

    end = 0
    for number, part in enumerate(parts):
        places = range(end + 1, len(printed)) if number else [0]
        end = next((place + len(part) for place in places if stands_at(part, place)), None)
        if end is None:
            return False
    place = len(printed) - len(last)
    return stands_at(last, place) and (place > end if parts else place == 0)


def gap(shown, printed):
    """Returns printed lines, of which as many are left out as the shown ones leave room for: their others have changed."""
    marks = [at for at, line in enumerate(shown) if is_left_out(line)]
    if not marks:
        return printed
    end = len(printed) - (len(shown) - 1 - marks[-1])
    return [*printed[:marks[0]], shown[marks[0]], *printed[end:]] if marks[0] < end else printed


def shortened(shown, printed):
    """Returns the printed lines with `…` for those that `shown` leaves out between lines that both have."""
    kept = [(at, line) for at, line in enumerate(shown) if not is_left_out(line)]
    with_gaps = [line for _, line in kept if "…" in line]
    lines = [next((line for line in with_gaps if line_matches(line, one)), one) for one in printed]

    def alike(line):
        return re.sub(r"[\d\s.,]+", "0", line)

    matcher = difflib.SequenceMatcher(None, [alike(line) for _, line in kept], list(map(alike, lines)), autojunk=False)
    pairs = [(kept[a + i][0], b + i) for a, b, size in matcher.get_matching_blocks() for i in range(size)]
    result = []
    before = (-1, -1)
    for at, to in [*pairs, (len(shown), len(lines))]:
        between = lines[before[1] + 1:to]
        result += gap(shown[before[0] + 1:at], between)
        result += lines[to:to + 1]
        before = (at, to)
    return result


def run_block(block, folder, command):
    """Returns the exit status, and what a terminal would show."""
    path = f"{command.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(folder), "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
                   "SPIKEWEAVE_SOURCE": str(ROOT), "SPIKEWEAVE_SHARED_DATA": str(SHARED)}
    if block.language == "python":
        arguments, text = [sys.executable, "-c", VALUE], block.text
    else:
        arguments, text = ["bash", "-eu", "-c", f"{block.words if block.mark else ''}\n{block.text}"], ""
    try:
        done = subprocess.run(arguments, input=text, cwd=folder, env=environment, timeout=SECONDS, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def complaint(block, status, printed):
    """Returns what is wrong with a block that has run, or None."""
    shown = block.output.text.splitlines() if block.output else None
    if status is None:
        return f"it takes more than {SECONDS} s: use smaller data, or mark it with `<!-- not run: REASON -->`"
    if status != (2 if shown and any("spikeweave: error: " in line for line in shown) else 0):
        last = "\n".join(printed.splitlines()[-5:])
        return f"it ends with status {status}; a block that no test can run has the mark `<!-- not run: REASON -->`\n{last}"
    if shown is not None and not matches(shown, printed.splitlines()):
        changes = "\n".join(difflib.unified_diff(shown, printed.splitlines(), "shown", "printed", lineterm="", n=1))[:4000]
        return f"it prints something else than the page shows; tools/run_docs.py --write SPIKEWEAVE PAGE puts it there\n{changes}"
    return None


def needs_package(block):
    return block.language == "python" or re.search(r"^python3? ", block.text, re.MULTILINE)


def has_package():
    return subprocess.run([sys.executable, "-c", "import spikeweave, pandas"], capture_output=True).returncode == 0


def lacking(block):
    """Returns what a block needs that this computer does not have, or None."""
    if needs_package(block) and not has_package():
        return f"{sys.executable} has no spikeweave with pandas"
    if "$SPIKEWEAVE_SHARED_DATA" in (block.words or "") and not SHARED.is_dir():
        return f"there are no shared data in {SHARED}"
    return None


def check(path, command, write=False):
    """Runs the blocks of a page; returns the page with complaints and omissions."""
    page = parse(path)
    written = []
    with tempfile.TemporaryDirectory() as folder:
        for block in page.blocks:
            if block.mark == "not run":
                if block.output:
                    page.complaints.append((block.line, "output is shown of a block that is not run"))
                continue
            if block.language == "python" and not block.output:
                continue
            if why := lacking(block):
                page.left_out.append((block.line, why))
                continue
            status, printed = run_block(block, Path(folder), command)
            wrong = complaint(block, status, printed)
            if wrong and write and status == 0 and block.output:
                lines = shortened(block.output.text.splitlines(), printed.splitlines())
                written.append((block.output.begin, block.output.end, "".join(f"{line.rstrip()}\n" for line in lines)))
            elif wrong:
                page.complaints.append((block.line, wrong))
    if written:
        text = path.read_text(encoding="utf-8")
        for begin, end, lines in reversed(written):
            text = text[:begin] + lines + text[end:]
        path.write_text(text, encoding="utf-8")
    return page


def pages(root=ROOT):
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("command", metavar="SPIKEWEAVE", type=lambda text: Path(text).resolve(strict=True))
    parser.add_argument("pages", metavar="PAGE", nargs="*", type=lambda text: Path(text).resolve(strict=True))
    arguments = parser.parse_args()
    found = 0
    for path in arguments.pages or pages():
        page = check(path, arguments.command, write=arguments.write)
        name = os.path.relpath(path)
        for line, why in page.left_out:
            print(f"{name}:{line}: left out: {why}")
        for line, text in page.complaints:
            print(f"{name}:{line}: {text}", file=sys.stderr)
        found += len(page.complaints)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
