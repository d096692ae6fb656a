"""Checks the names that a shared library exports: they are names of the installed headers without their private parts,
and include the types of all exceptions.

Usage: check_exports.py LIBRARY HEADERS
"""

import re
import subprocess
import sys
from pathlib import Path


def exported_by(library):
    """The demangled names: `a::b::c(int) const`, `vtable for a::b`."""
    listing = subprocess.run(["nm", "-D", "--defined-only", "--demangle", "--format=posix", library], check=True,
                             capture_output=True, text=True).stdout
    return {re.sub(r" \w [0-9a-f ]*$", "", line) for line in listing.splitlines()}


def scopes_of(symbol):
    """The names before the arguments: a, b and c of `a::b::c(int) const`; operators have none of their own."""
    bare = re.sub(r"^(vtable|VTT|typeinfo|typeinfo name) for ", "", symbol)
    while (shorter := re.sub(r"<[^<>]*>", "", bare)) != bare:
        bare = shorter
    # A function template has its return type in front: `spikeweave::table spikeweave::names()`.
    name = re.findall(r"[\w:~]+", bare.split("(")[0].split("[abi:")[0].split("operator")[0])
    return [scope.lstrip("~") for scope in name[-1].split("::") if scope] if name else []


def main():
    library, headers = sys.argv[1:]
    text = "".join(re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8")) for path in Path(headers).rglob("*.hpp"))
    private_parts = set(re.findall(r"\bSPIKEWEAVE_LOCAL (\w+);", text))
    public = set(re.findall(r"\w+", text)) - private_parts
    exported = exported_by(library)

    found = [f"exported, but not in a public header: {symbol}" for symbol in sorted(exported)
             if scopes_of(symbol)[:1] != ["spikeweave"] or not public.issuperset(scopes_of(symbol))]
    found += [f"not exported, so that nobody can catch it: {name}"
              for name in re.findall(r"^struct SPIKEWEAVE_API (\w+) : std::", text, re.MULTILINE)
              if f"typeinfo for spikeweave::{name}" not in exported]
    print(f"{len(exported)} names are exported")
    for line in found:
        print(line)
    return 1 if found or not exported else 0


if __name__ == "__main__":
    sys.exit(main())
