"""Checks sessions of `spikeweave live --record` after a system call or an allocation failed: fault_shim.c lets the n-th
call of one kind fail, or all from there on. What is left is no session, the first part of one, or the whole one.

live_faults_test.py          a seeded sample of calls
live_faults_test.py --all    every call (of malloc every 50th); prints the outcomes
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import unittest
from collections import Counter

from support import CliTest, run

SHIM = os.environ["SPIKEWEAVE_FAULT_SHIM"]
ALL = "--all" in sys.argv
# The kinds of calls and the error with which they fail; how many of them fail for each command.
FAULTS = {("write", 28): 4, ("write", 5): 3, ("fsync", 5): 4, ("rename", 2): 1, ("open", 24): 3, ("close", 5): 2, ("malloc", 12): 4}
SEARCH = ("--delays", "4-6ms", "--min-count", "10", "--max-size", "3", "--threads", "1", "--window-budget", "none")
TABLES = {"input": "epoch, watermark_us, missing, unreadable, spikes, left_out", "detection": "*", "window": "*"}


def rows_of(session):
    """The rows of each table without the times of arrival, and whether the session has ended."""
    database = sqlite3.connect(session)
    tables = {name: database.execute(f"SELECT {columns} FROM {name} ORDER BY seq").fetchall()
              for name, columns in TABLES.items()}
    ended = database.execute("SELECT count(*) FROM meta WHERE name = 'counts'").fetchone()[0] == 1
    database.close()
    return tables, ended


class LiveFaults(CliTest):
    def setUp(self):
        super().setUp()
        self.outcomes = Counter()
        self.random = random.Random(self.id().rsplit(".", maxsplit=1)[-1])
        self.session, self.results = self.folder / "s.session", self.folder / "found.jsonl"
        self.armed = self.file("armed.txt", "n0 4-6ms n1 4-6ms n2\n")
        data = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "5s", "--seed", "1", "-o", data, "-q")
        self.lines = []
        for line in data.read_text(encoding="utf-8").splitlines():
            time, _, unit = line.partition("\t")
            if time[:1].isdigit():
                self.lines.append(json.dumps({"t_us": round(float(time) * 1e6), "unit": unit}) + "\n")
        self.analysis = ("--episodes", self.armed, "--window", "2s", "--hop", "1s", *SEARCH)

    def tearDown(self):
        if ALL:
            print(self.id().rsplit(".", maxsplit=1)[-1], dict(self.outcomes), file=sys.stderr)

    def environment(self, **more):
        return {**os.environ, "LD_PRELOAD": SHIM, **more}

    def restore(self, before):
        for path in (*self.folder.glob("s.session*"), self.results):
            path.unlink(missing_ok=True)
        if before is not None:
            shutil.copy(before, self.session)

    def check(self, command, before=None, status=0):
        """Runs a command that writes the session and the results, also with failing calls."""
        self.restore(before)
        counts_file = self.folder / "counts"
        ended = run(*command, env=self.environment(SPIKEWEAVE_FAULT_COUNTS=str(counts_file)))
        self.assertEqual(ended.returncode, status, ended.stderr)
        whole = rows_of(self.session)
        self.assertTrue(whole[1])
        self.assertTrue(all(whole[0].values()))
        lines = sorted(self.results.read_text(encoding="utf-8").splitlines())
        counts = {line.split()[0]: int(line.split()[1]) for line in counts_file.read_text(encoding="ascii").splitlines()}
        self.assertGreater(min(counts["write"], counts["fsync"]), 3)
        for (kind, number), sample in FAULTS.items():
            calls = range(1, counts[kind] + 1)
            points = calls[:: 50 if kind == "malloc" else 1] if ALL else sorted(self.random.sample(calls, min(sample, len(calls))))
            for call in points:
                for rest in ("", ":on"):
                    with self.subTest(fault=f"{kind}:{call}:{number}{rest}"):
                        self.restore(before)
                        ended = run(*command, env=self.environment(SPIKEWEAVE_FAULT=f"{kind}:{call}:{number}{rest}"))
                        self.outcomes[kind, number, ended.returncode] += 1
                        is_killed = self.is_told(ended, kind, status)
                        self.is_a_part_of(whole, before, is_killed)
                        has_lost = "found.jsonl did not take" in ended.stderr
                        if ended.returncode == status or has_lost:
                            self.assertEqual(rows_of(self.session), whole)
                        if has_lost:
                            written = self.results.read_text(encoding="utf-8").rpartition("\n")[0].splitlines()
                            self.assertLessEqual({one for one in written if '"stats"' not in one}, set(lines))
                        elif ended.returncode == status:
                            written = self.results.read_text(encoding="utf-8").splitlines()
                            # A disk that was full for a moment is reported, too.
                            self.assertEqual(sorted(one for one in written if not one.startswith('{"type":"alarm","to"')), lines)

    def is_told(self, ended, kind, status):
        """Returns whether the process was killed, as libraries do if they cannot allocate."""
        if kind == "malloc" and ended.returncode in (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, 127, 255):
            return True
        has_lost = "found.jsonl did not take" in ended.stderr
        self.assertIn(ended.returncode, (1 if has_lost else status, 2), ended.stderr)
        if ended.returncode == 2:
            self.assertRegex(ended.stderr, r"\A(spikeweave: warning: [^\n]+\n)*spikeweave: error: [^\n]+\n\Z")
        return False

    def is_a_part_of(self, whole, before, is_killed):
        """The remaining session can be verified and resumed."""
        if not self.session.exists():
            self.assertIsNone(before, "the old session is gone")
            self.assertEqual(list(self.folder.glob("s.session*")), [])
            return
        verified = run("live", self.session, "--verify")
        if is_killed and before is None and "is a database, but no session" in verified.stderr:
            return  # it was killed before there were tables
        self.assertEqual(verified.returncode, 0, verified.stderr)
        rows, has_ended = rows_of(self.session)
        for table, expected in whole[0].items():
            self.assertEqual(rows[table], expected[:len(rows[table])], table)
        if has_ended:
            self.assertEqual(rows, whole[0])
        else:
            copy = self.folder / "s.session.copy"
            for path in (self.session, self.session.with_name("s.session-wal")):
                if path.exists():
                    shutil.copy(path, copy.with_name(path.name.replace("s.session", copy.name)))
            resumed = run("live", self.file("nothing.jsonl", ""), "--resume", copy, "--threads", "1")
            self.assertEqual(resumed.returncode, 1, resumed.stderr)  # as what came meanwhile is lost
            self.ok("live", copy, "--verify")

    def test_a_new_session(self):
        stream = self.file("stream.jsonl", "".join(self.lines))
        self.check(("live", stream, *self.analysis, "--order", "lateness:50ms", "--record", self.session, "--to", self.results))

    def test_what_is_armed_automatically(self):
        # The armed episodes depend on the time that windows take, unless spikes wait for them.
        self.check(("live", self.folder / "s.tsv", "--speed", "max", "--arm", "auto", "--arm-after", "1", "--arm-windows", "1", "--window", "1s", *SEARCH,
                    "--episodes", self.armed, "--record", self.session, "--to", self.results))

    def test_a_session_that_goes_on(self):
        """It was killed when half of the stream had come."""
        half = len(self.lines) // 2
        rest = self.file("rest.jsonl", "".join(self.lines[half:]))
        self.record_a_part(self.lines[:half])
        before = self.folder / "before.session"
        shutil.copy(self.session, before)
        self.check(("live", rest, "--resume", self.session, "--threads", "1", "--window-budget", "none", "--to", self.results),
                   before, status=1)

    def record_a_part(self, lines):
        """Records a session, and takes its end off."""
        stream = self.file("half.jsonl", "".join(lines))
        self.ok("live", stream, *self.analysis, "--record", self.session)
        database = sqlite3.connect(self.session)
        database.execute("DELETE FROM meta WHERE name IN ('counts', 'unrecorded_at_end')")
        database.commit()
        database.execute("PRAGMA journal_mode = WAL")  # as it is while a session runs
        database.close()
        self.ok("live", self.session, "--verify")


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--all"])
