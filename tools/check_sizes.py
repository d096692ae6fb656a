#!/usr/bin/env python3
"""Checks that files have at most 500 lines and functions at most 60, tests and generated files aside.

Usage: check_sizes.py [ROOT]

clang-tidy has a check of functions, but does not read CUDA, so braces are counted here for both. Comments before a
function do not count; nor do the signature and the docstring of a Python function, which document its arguments.
"""

import ast
import re
import sys
from pathlib import Path

MOST_FILE = 500
MOST_FUNCTION = 60
PLACES = ("src", "include", "apps", "python", "tools", "benchmarks")
GENERATED = ("python/spikeweave/_core.pyi", "python/spikeweave/_values/options.py")
CODE = {".cpp", ".hpp", ".cu", ".cuh"}
SKIPPED = {"tests", "build", "__pycache__"}
LITERALS = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/',
                      re.DOTALL)
# The words that open a block other than a function: these contain functions, or are contained in
# them.
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|concept)\b|=\s*$|^\s*(extern\b[^(]*)?$")
CONTROL = re.compile(r"^(else\s+)?(if|for|while|switch|do|else|try|catch)\b")
NAME = re.compile(r"([~\w:]+|operator\s*\S+)\s*(<[^<>]*>)?\s*\(")


def blanked(text):
    """Returns the text with strings, comments and preprocessor lines as spaces, line by line."""
    text = LITERALS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    text = re.sub(r"__launch_bounds__\([^)]*\)", lambda found: " " * len(found[0]), text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.MULTILINE)


def cpp_functions(text):
    """Yields (line, name, lines) of each function; what is in a function, such as a lambda, belongs to it."""
    text = blanked(text)
    inside = []  # of each open brace: None, or (start, name) of a function
    start = 0  # of the current declaration
    parentheses = 0
    for at, letter in enumerate(text):
        if letter in "()":
            parentheses += 1 if letter == "(" else -1
        elif letter == "{":
            head = text[start:at].strip()
            begin = start + len(text[start:at]) - len(text[start:at].lstrip())
            nested = parentheses > 0 or any(inside)
            name = NAME.search(head)
            is_scope = SCOPE.search(re.sub(r"<[^<>]*>", "", head).split("(")[0]) or not name
            inside.append(None if nested or is_scope or CONTROL.match(head) else (begin, name[1]))
            start = at + 1
        elif letter == "}":
            opened = inside.pop() if inside else None
            if opened:
                first, last = text.count("\n", 0, opened[0]) + 1, text.count("\n", 0, at) + 1
                yield first, opened[1], last - first + 1
            start = at + 1
        elif letter == ";" and parentheses == 0:
            start = at + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.lineno, node.name, node.end_lineno - body[0].lineno + 1 if body else 0


def breaches(root):
    for place in PLACES:
        for path in sorted((root / place).rglob("*")):
            name = path.relative_to(root)
            if path.suffix not in CODE | {".py"} or SKIPPED & set(name.parts) or str(name) in GENERATED:
                continue
            text = path.read_text(encoding="utf-8")
            lines = text.count("\n")
            if lines > MOST_FILE:
                yield name, 1, f"{lines} lines, {MOST_FILE} are allowed"
            for line, function, length in (python_functions if path.suffix == ".py" else cpp_functions)(text):
                if length > MOST_FUNCTION:
                    yield name, line, f"{function} has {length} lines, {MOST_FUNCTION} are allowed"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(breaches(root))
    for name, line, text in found:
        print(f"{name}:{line}: {text}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
