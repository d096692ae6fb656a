"""Code that the tests of the command share: running it, and input files."""

import json
import os
import re
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

SPIKEWEAVE = os.environ["SPIKEWEAVE"]
ROOT = Path(__file__).resolve().parents[2]


def run(*arguments, **options):
    """Runs `spikeweave ARGUMENTS`; stdout and stderr are pipes by default."""
    settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                "timeout": 120}
    return subprocess.run([SPIKEWEAVE, *map(str, arguments)], **{**settings, **options})


def query(path, sql):
    """Reads a session as any program can."""
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    rows = database.execute(sql).fetchall()
    database.close()
    return rows


def content(path):
    """Returns the content of a file without the parts that differ between runs."""
    if path.name not in ("run.json", "result.json", "report.html"):
        return path.read_bytes()

    def timeless(value):
        if isinstance(value, dict):
            return {key: timeless(one) for key, one in value.items()
                    if not key.endswith("seconds") and key not in ("peak_memory_bytes", "command")}
        return [timeless(one) for one in value] if isinstance(value, list) else value

    text = path.read_text(encoding="utf-8")
    return json.dumps(timeless(json.loads(text if path.suffix == ".json" else page_data(text))))


def page_data(page):
    """Returns the data of a page of `report`, as JSON."""
    return re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]


def state(folder):
    """Returns the content of every file below a folder by its name."""
    return {str(path.relative_to(folder)): content(path) for path in folder.rglob("*") if path.is_file()}


needs_full_speed = unittest.skipIf(os.environ.get("SPIKEWEAVE_SANITIZE"), "shorter sorts run the same code under a sanitizer")
# Under a sanitizer every allocation takes more memory than the command counts.
needs_plain_memory = unittest.skipIf(os.environ.get("SPIKEWEAVE_SANITIZE"), "a sanitizer takes memory of its own")


def run_for_peak(*arguments):
    """Like `run`, and also returns the command's peak resident memory in bytes."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen([SPIKEWEAVE, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out, stderr=err) as running:
            _, status, used = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        result = subprocess.CompletedProcess(running.args, running.returncode, out.read(), err.read())
    return result, 1024 * used.ru_maxrss


def on_terminal(*arguments, **environment):
    """The bytes sent to a terminal that shows both outputs of the command."""
    primary, secondary = os.openpty()
    running = subprocess.Popen([SPIKEWEAVE, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=secondary, stderr=secondary,
                               env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment})
    os.close(secondary)
    text = b""
    try:
        while block := os.read(primary, 1 << 16):
            text += block
    except OSError:  # the other end is closed and everything is read
        pass
    finally:
        os.close(primary)
        running.wait(timeout=120)
    return text.decode()


def screen(text):
    """The lines that a terminal of enough columns shows after these bytes."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[\d*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", text):
        if part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.endswith("A") and part.startswith("\x1b"):
            row -= int(part[2:-1])
        elif part in ("\x1b[J", "\x1b[K"):
            lines[row] = lines[row][:column]
            if part == "\x1b[J":
                del lines[row + 1:]
        else:
            lines[row] = lines[row][:column] + part + lines[row][column + len(part):]
            column += len(part)
    return lines


class CliTest(unittest.TestCase):
    """A test with its own empty folder `self.folder`."""

    maxDiff = None

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def chain_file(self, name="chain.tsv"):
        """Writes a, b and c in turn, 5 ms apart, 50 times, and d at other times: 200 spikes in 5 s."""
        spikes = []
        for i in range(50):
            spikes += [(0.1 * i, "a"), (0.1 * i + 0.005, "b"), (0.1 * i + 0.010, "c"), (0.1 * i + 0.05 + i % 7 * 0.003, "d")]
        spikes.sort()
        return self.file(name, "time\tunit\n" + "".join(f"{time:.6f}\t{unit}\n" for time, unit in spikes))

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def ok(self, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, 0, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def assert_same(self, objects, rows):
        """Compares the objects of a document of --json with the rows of a table."""
        self.assertEqual(len(objects), len(rows))
        for one, row in zip(objects, rows, strict=True):
            for name, value in one.items():
                if isinstance(value, float):
                    self.assertAlmostEqual(float(row[name]), value, delta=1e-4 * abs(value) + 1e-9, msg=name)
                elif name == "units":
                    self.assertEqual(row[name], "→".join(value), name)
                elif name == "delays_ms":
                    self.assertEqual(row["delays"], " ".join(f"({low:g},{high:g}]" for low, high in value) + " ms")
                else:
                    self.assertEqual(row[name], {"True": "yes", "False": "no", "None": "-"}.get(str(value), str(value)), name)

    def refused(self, *arguments, says=(), **options):
        """Expects exit status 2, one line on stderr with these words, no output on stdout and no new file."""
        before = self.names()
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, 2, f"{arguments}\n{result.stdout}\n{result.stderr}")
        self.assertTrue(result.stderr.startswith("spikeweave: error: "), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for words in (says,) if isinstance(says, str) else says:
            self.assertIn(words, result.stderr)
        self.assertFalse(result.stdout)
        self.assertEqual(self.names(), before)
        return result
