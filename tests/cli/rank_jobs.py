"""Jobs of mpirun that fail or are stopped.

Debian's mpirun often waits for ever after a job has failed (tests/parallel/failing_rank_test.py), so such jobs are
tested by their ranks and messages.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from support import SPIKEWEAVE, CliTest

LAUNCH = os.environ.get("LAUNCH", "").split()


class RankJobs(CliTest):
    def ranks_alive(self):
        """Returns the processes that run spikeweave on files of this test."""
        found = []
        for line in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = line.read_bytes().decode(errors="replace").split("\0")
            except OSError:  # it has just ended
                continue
            if words[0] == SPIKEWEAVE and any(str(self.folder) in word for word in words):
                found.append(int(line.parent.name))
        return found

    def job(self, ranks, *arguments, until=None, then=None, limit=20, **options):
        """Starts a job, calls `then(process)` once `until()`, waits until all ranks end and returns the output."""
        before = self.names()
        with tempfile.TemporaryFile() as output, \
                subprocess.Popen([*LAUNCH, str(ranks), SPIKEWEAVE, *map(str, arguments)],
                                 stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                 start_new_session=True, **options) as process:
            def said():
                return os.pread(output.fileno(), 1 << 20, 0).decode(errors="replace")
            end = time.monotonic() + limit
            seen = 0
            while until and not until() and time.monotonic() < end and process.poll() is None:
                time.sleep(0.05)
            if then:
                self.assertIsNone(process.poll(), f"it was over before anything could happen to it\n{said()}")
                then(process)
            while time.monotonic() < end:
                now = len(self.ranks_alive())
                seen = max(seen, now)
                if now == 0 and (seen > 0 or said()):
                    break
                time.sleep(0.05)
            left = self.ranks_alive()
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
            self.assertEqual(left, [], f"ranks go on\n{said()}")
            self.assertEqual(self.names(), before)
            return said(), process.returncode
