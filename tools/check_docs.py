#!/usr/bin/env python3
"""Checks the pages of the root and of docs against the tree: links have targets and headings, files that are named exist, and quoted
code equals the example's. Names with a word in capitals stand for several, and the changelog may name what there was. Lines of README.md and docs are not too long.

A quotation is a line `<!-- FILE [name] -->` followed by a code block; FILE has the same lines between two `// [name]` or `# [name]`.
Usage: check_docs.py [ROOT]
"""

import re
import sys
import textwrap
from pathlib import Path

LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
FOLDERS = ("apps benchmarks cmake container docs examples include packaging python script src tests tools workflows").split()
NAMED = re.compile(rf"(?<![\w./-])((?:{'|'.join(FOLDERS)})/[\w./-]*\w)")
SEVERAL = re.compile(r"[A-Z]{4}|_$")
CODE = re.compile(r"^([ \t]*)```.*?^\1```[ \t]*$", re.DOTALL | re.MULTILINE)
QUOTATION = re.compile(r"<!-- (\S+) \[(\w+)\] -->\n```\w*\n(.*?)```", re.DOTALL)
MOST_IN_LINE = 120
FENCE = re.compile(r"[ \t]*(?:```|~~~|:::)")
# Rows of tables, headings, pictures and HTML cannot be broken.
ONE_LINE = re.compile(r"[ \t>]*(?:\||#|!\[|\[!\[|<)")


def overlong(text):
    """The numbers of the lines that could be broken and are too long; not those of code."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            in_code = not in_code
        elif len(line) > MOST_IN_LINE and not in_code and not ONE_LINE.match(line):
            # A first word, such as a link, that is too long has no place for a break before it.
            marker = re.match(r"\s*(?:[-*>] |\d+\. )?\s*", line).end()
            if " " in line[marker:]:
                yield number


def marked(source, name):
    parts = re.split(rf"^[ \t]*(?://|#) \[{name}\][ \t]*\n", source, flags=re.MULTILINE)
    return textwrap.dedent(parts[1]) if len(parts) == 3 else None


def anchors(page):
    """The names by which the headings of a page are linked."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def complaints(root, path):
    text = path.read_text(encoding="utf-8")
    for target, anchor in LINK.findall(text):
        file = path.parent / target if target else path
        if not file.exists():
            yield f"links to {target}, which does not exist"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"links to {target}#{anchor}, and there is no such heading"
    for name in sorted(set(NAMED.findall(text))) if path.name != "CHANGELOG.md" else []:
        if not SEVERAL.search(name) and not (root / name).exists():
            yield f"names {name}, which does not exist"
    if path.parent != root or path.name == "README.md":
        for number in overlong(text):
            yield f"line {number} has more than {MOST_IN_LINE} characters"
    for file, name, quoted in QUOTATION.findall(text):
        original = marked((root / file).read_text(encoding="utf-8"), name) if (root / file).exists() else None
        if original is None:
            yield f"quotes [{name}] of {file}, which is not there"
        elif original != quoted:
            yield f"[{name}] of {file} has changed since it was quoted"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = [f"{path.relative_to(root)}: {text}"
             for path in [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]
             for text in complaints(root, path)]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
