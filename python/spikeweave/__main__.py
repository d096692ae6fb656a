"""``python -m spikeweave``, and the command ``spikeweave`` of an installed package."""

import os
import sys
from pathlib import Path

from . import __path__ as folders


def main() -> None:
    """Becomes the program that was installed with the package, with the arguments given."""
    program = Path(folders[0]) / "bin" / "spikeweave"
    if not program.exists():
        sys.exit(f"spikeweave: the command is not installed at {program}")
    os.execv(program, ["spikeweave", *sys.argv[1:]])


if __name__ == "__main__":
    main()
