"""``python -m spikeweave``, and the command ``spikeweave`` of an installed package."""

import os
import sys
from pathlib import Path

from . import __path__ as folders


def main() -> None:
    """Becomes the program that was installed with the package, with the arguments given."""
    programs = [Path(folder) / "bin" / "spikeweave" for folder in folders]
    program = next((one for one in programs if one.exists()), None)
    if program is None:
        sys.exit(f"spikeweave: the command is not installed at {programs[-1]}")
    os.execv(program, ["spikeweave", *sys.argv[1:]])


if __name__ == "__main__":
    main()
