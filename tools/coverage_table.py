"""Prints the share of lines reached in each folder of src/: coverage_table.py SUMMARY of `gcovr --json-summary`."""

import json
import sys
from collections import defaultdict
from pathlib import Path


def main() -> None:
    summary = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    lines: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file in summary["files"]:
        folder = "/".join(Path(file["filename"]).parts[:2])
        for name in (folder, "src"):
            lines[name][0] += file["line_covered"]
            lines[name][1] += file["line_total"]
    print("| folder | lines | reached |\n|---|---|---|")
    for name in sorted(lines):
        reached, total = lines[name]
        print(f"| `{name}` | {total:,} | {100 * reached / total:.1f} % |")


if __name__ == "__main__":
    main()
