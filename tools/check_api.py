#!/usr/bin/env python3
"""Holds public headers to SPIKEWEAVE_API: whatever the library defines of them has it, or a shared library would not
export it; private headers do not.

Usage: check_api.py [ROOT]
"""

import re
import sys
from pathlib import Path

MARK = "SPIKEWEAVE_API"
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]")
DEFINED_HERE = re.compile(r"\b(template|inline|constexpr|consteval|using|typedef|friend|static_assert|namespace|enum)\b")
NOT_DEFINED = re.compile(r"=\s*(default|delete|0)\s*$")
FUNCTION = re.compile(r"^[^=(]*\boperator\b|^[^=(]*\w\s*\(")
CLASS = re.compile(r"^(?:struct|class) ((?:SPIKEWEAVE_API )?)(\w+)([^({]*)$")
SPECIALIZATION = re.compile(r"^template <> ")


def without(pattern, text):
    """The text with blanks in place of what matches, so that lines keep their numbers."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def without_template_arguments(text):
    """`std::function<void(int)> f` has parentheses, and is no function."""
    if re.search(r"\boperator\s*<", text):
        return text
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text


def statements(text, start, end):
    """(where, head, body) of each declaration in text[start:end]; body is the range in its outer braces, or None."""
    begin, parens, braces, body = start, 0, 0, None
    for i in range(start, end):
        c = text[i]
        parens += (c == "(") - (c == ")")
        if c == "{":
            if not braces and not parens:
                body = [i + 1, i + 1]
            braces += 1
        elif c == "}":
            braces -= 1
            if not braces and not parens and body:
                body[1] = i
        # A class ends with a semicolon; the body of a function or a namespace ends without one.
        ends = c == ";" or (c == "}" and body and re.match(r"[^;]*(\(|\bnamespace\b)", text[begin:body[0]])
                            and not re.match(r"\s*;", text[i + 1:]))
        if not parens and not braces and ends:
            head = text[begin:body[0] - 1 if body else i]
            where = begin + len(head) - len(head.lstrip())
            yield where, " ".join(head.split()), body
            begin, body = i + 1, None


def is_left_to_the_library(head, body):
    head = without_template_arguments(SPECIALIZATION.sub("", head))
    return (not body and not DEFINED_HERE.search(head) and not NOT_DEFINED.search(head) and bool(FUNCTION.match(head)))


def has_code_in_the_library(text, body):
    """Whether a class has members that are defined elsewhere, or a virtual table."""
    for _, head, inner in statements(text, *body):
        head = re.sub(r"^(?:(?:public|private|protected)\s*:\s*)+", "", head)
        if head.startswith("virtual ") or is_left_to_the_library(head, inner):
            return True
    return False


def unmarked(text, start, end):
    """(where, name) of each declaration that lacks a mark."""
    for where, head, body in statements(text, start, end):
        head = SPECIALIZATION.sub("", head)
        if head.startswith("namespace "):
            yield from unmarked(text, *body)
        elif body and (match := CLASS.match(without_template_arguments(head))):
            mark, name, bases = match.groups()
            if not mark and (" : std::" in bases or has_code_in_the_library(text, body)):
                yield where, name
        elif is_left_to_the_library(head, body) and not head.startswith(MARK):
            yield where, head.split("(")[0].split()[-1]


def complaints(text):
    for pattern in (COMMENT, DIRECTIVE, STRING, ATTRIBUTE):
        text = without(pattern, text)
    opening = re.search(r"^namespace spikeweave \{", text, re.MULTILINE)
    if not opening:
        return
    for where, name in unmarked(text, opening.end(), text.rfind("}")):
        yield text.count("\n", 0, where) + 1, f"{name} is not marked {MARK}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = []
    for path in sorted((root / "include").rglob("*.hpp*")):
        found += [f"{path.relative_to(root)}:{line}: {text}"
                  for line, text in complaints(path.read_text(encoding="utf-8"))]
    for path in sorted((root / "src").rglob("*.*")):
        if path.suffix in {".cpp", ".hpp", ".cu", ".cuh"} and MARK in path.read_text(encoding="utf-8"):
            found.append(f"{path.relative_to(root)}: {MARK} is for public headers")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
