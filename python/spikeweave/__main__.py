"""``python -m spikeweave``, and the command ``spikeweave`` of an installed package."""

import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from . import __path__ as folders

#: Optional packages, their uses, and the extra that installs each.
_PACKAGES = (
    ("pandas", "tables", "frames"),
    ("matplotlib", "figures", "plot"),
    ("pynwb", "NWB and other HDF5 files", "nwb"),
    ("neo", "files of acquisition systems, and Elephant", "elephant"),
    ("spikeinterface", "recordings of acquisition systems", "spikeinterface"),
    ("networkx", "graphs", "graphs"),
    ("tqdm", "progress bars in notebooks", "progress"),
)


def main() -> None:
    """Becomes the program that was installed with the package, with the arguments given."""
    programs = [Path(folder) / "bin" / "spikeweave" for folder in folders]
    program = next((one for one in programs if one.exists()), None)
    if program is None:
        sys.exit(f"spikeweave: the command is not installed at {programs[-1]}")
    words = sys.argv[1:]
    # The program knows nothing about Python's packages.
    if words in (["doctor"], ["doctor", "--json"]):
        sys.exit(_doctor(program, words))
    os.execv(program, ["spikeweave", *words])


def _doctor(program: Path, words: list[str]) -> int:
    """The report of the program, and which optional packages there are."""
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, text=True)
    versions = {name: _version(name) for name, _, _ in _PACKAGES}
    report = done.stdout
    if done.returncode == 0 and "--json" in words:
        python = {"version": platform.python_version(), "packages": versions}
        report = json.dumps({**json.loads(report), "python": python}, indent=1) + "\n"
    elif done.returncode == 0:
        found = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
        lines = [f"Python   {platform.python_version()}{', with ' if found else ''}{found}"]
        lines += [
            f"         {name} is missing, for {purpose}: pip install {name} (the extra {extra})"
            for name, purpose, extra in _PACKAGES
            if versions[name] is None
        ]
        report += "\n".join(lines) + "\n"
    sys.stdout.write(report)
    return done.returncode


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
