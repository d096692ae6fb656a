"""A rank that dies ends the whole job: within seconds, with a status that is not 0, and mpirun says which it was."""

import os
import subprocess
import sys
import time
import unittest

LAUNCH = os.environ["LAUNCH"].split()
PROGRAM = os.environ["PROGRAM"]


def launch(ranks, how):
    began = time.monotonic()
    done = subprocess.run([*LAUNCH, str(ranks), PROGRAM, how], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, time.monotonic() - began


class FailingRank(unittest.TestCase):
    def test_ends_the_job(self):
        # With how, what mpirun ends with (None: anything but 0) and what is said.
        for how, status, words in (("abort", 7, "rank"),
                                   ("throw", None, "thrown on the last rank"),
                                   ("kill", 128 + 9, "signal 9"),
                                   ("crash", 128 + 11, "signal 11"),
                                   ("vanish", 9, "9")):
            for ranks in (2, 3):
                with self.subTest(how=how, ranks=ranks):
                    found, said, seconds = launch(ranks, how)

                    self.assertNotEqual(found, 0, said)
                    if status is not None:
                        self.assertEqual(found, status, said)
                    self.assertIn(words, said)
                    self.assertLess(seconds, 20)

    def test_a_job_in_which_nobody_fails_ends_well(self):
        for ranks in (1, 3):
            found, said, _ = launch(ranks, "not at all")
            self.assertEqual((found, said), (0, ""))


if __name__ == "__main__":
    if not LAUNCH:
        print("skipped: built without MPI (SYNFIRE_MPI)")
        sys.exit(77)
    unittest.main()
