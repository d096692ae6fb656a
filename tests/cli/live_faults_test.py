"""`spikeweave live --record` when the disk is full from the n-th write on, or for one write (fault_shim.c)."""

import json
import os
import random
import unittest

from support import CliTest, run

SHIM = os.environ["SPIKEWEAVE_FAULT_SHIM"]


class FullDisk(CliTest):
    def test_ends_with_one_line_and_keeps_what_was_written(self):
        armed = self.file("armed.txt", "n0 0-1ms n1\n")
        stream = self.file("s.jsonl", "".join(
            json.dumps({"t_us": 50 * i, "unit": f"n{i % 20}"}) + "\n" + (f'{{"watermark_us":{50 * i}}}\n' if i % 20 == 0 else "")
            for i in range(4000)))
        session, counts = self.folder / "s.session", self.folder / "counts"
        command = ("live", stream, "--no-windows", "--episodes", armed, "--record", session)
        environment = {**os.environ, "LD_PRELOAD": SHIM}
        self.ok(*command, env={**environment, "SPIKEWEAVE_FAULT_COUNTS": str(counts)})
        writes = int(dict(line.split() for line in counts.read_text(encoding="ascii").splitlines())["write"])
        read = 0

        for call in sorted(random.Random(4).sample(range(1, writes + 1), 8)):
            for rest in ("", ":on"):
                for path in self.folder.glob("s.session*"):
                    path.unlink()
                with self.subTest(call=call, rest=rest):
                    ended = run(*command, env={**environment, "SPIKEWEAVE_FAULT": f"write:{call}:28{rest}"})
                    self.assertIn(ended.returncode, (0, 2), ended.stderr)
                    if ended.returncode == 2:
                        self.assertRegex(ended.stderr, r"^spikeweave: error: '.*s\.session': .*\n$")
                    if not session.exists():
                        self.assertEqual(ended.returncode, 2, "it failed before there were tables")
                        continue
                    self.ok("live", session, "--verify")
                    read += 1
        self.assertGreater(read, 3)


if __name__ == "__main__":
    unittest.main()
