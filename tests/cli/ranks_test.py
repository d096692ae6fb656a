"""Runs under a launcher such as mpirun: which commands run, and which rank writes."""

import os
import subprocess
import unittest

from support import SPIKEWEAVE, CliTest, run

LAUNCH = os.environ.get("LAUNCH", "").split()


def launched(**variables):
    """Returns the environment that a launcher gives to a process."""
    return {**os.environ, **variables}


class Launched(CliTest):
    def test_a_command_that_cannot_share_its_work_is_refused(self):
        path = self.chain_file()
        for variables in ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"},
                          {"PMI_SIZE": "4", "PMI_RANK": "0"},
                          {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}):
            for arguments in (("info", path), ("convert", path, self.folder / "out.npz"),
                              ("simulate", "sym26", "-o", self.folder / "out.tsv")):
                with self.subTest(variables=variables, command=arguments[0]):
                    result = run(*arguments, env=launched(**variables))

                    self.assertEqual((result.returncode, result.stdout), (2, ""))
                    self.assertEqual(result.stderr, f"spikeweave: rank 0: error: {arguments[0]} cannot share its work, and "
                                     "4 processes were started: run it without the launcher (mpirun, srun)\n")
                    self.assertEqual(self.names(), ["chain.tsv"])

    def test_what_is_no_launcher_changes_nothing(self):
        path = self.chain_file()
        alone = self.ok("info", path).stdout
        for variables in ({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"},
                          {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"},  # as in a batch script
                          {"OMPI_COMM_WORLD_SIZE": "many"}):
            with self.subTest(variables):
                self.assertEqual(self.ok("info", path, env=launched(**variables)).stdout, alone)

    def test_the_others_say_who_they_are(self):
        result = run("info", env=launched(OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_RANK="2"))
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertTrue(result.stderr.startswith("spikeweave: rank 2: error: "), result.stderr)


@unittest.skipUnless(LAUNCH, "built without MPI (SPIKEWEAVE_MPI)")
class Mpirun(CliTest):
    def launch(self, *arguments):
        return subprocess.run([*LAUNCH, "2", SPIKEWEAVE, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def test_a_refusal_is_said_once(self):
        for arguments, words in ((("info", self.chain_file()), "info cannot share its work"),
                                 (("windows", self.chain_file(), "--window", "1s"), "windows cannot share its work"),
                                 (("episodes", self.chain_file(), "--stream"), "processes can only share the search"),
                                 (("info",), "FILE is missing")):
            with self.subTest(words):
                result = self.launch(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertEqual(result.stderr.count(words), 1, result.stderr)

    def test_help_is_printed_once(self):
        result = self.launch("--help")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, self.ok("--help").stdout)


if __name__ == "__main__":
    unittest.main()
