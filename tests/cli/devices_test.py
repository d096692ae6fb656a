"""spikeweave devices, and episodes on GPUs: messages without a GPU, and results with one."""

import json
import os
import shutil
import unittest

from support import CliTest, run

GPUS = json.loads(run("devices", "--json").stdout)["devices"]
SEARCH = ("--delays", "4-6ms", "--min-count", "40")


class Devices(CliTest):
    def test_are_listed_or_it_is_said_why_there_are_none(self):
        text = self.ok("devices").stdout
        document = json.loads(self.ok("devices", "--json").stdout)

        if GPUS:
            self.assertRegex(text, r"^cuda:0  .+ of memory .+ free\), compute capability \d+\.\d, .+ driver ")
            self.assertNotIn("why_none", document)
            self.assertGreater(document["devices"][0]["memory_bytes"], 10**9)
        else:
            self.assertRegex(text, r"^No usable GPU: .+\.\nEverything runs on the CPU\.\n$")
            self.assertIn(document["why_none"], text)

    def test_quiet_says_nothing(self):
        self.assertEqual(self.ok("devices", "-q").stdout, "")


class Doctor(CliTest):
    def test_tells_of_each_part_and_of_devices(self):
        text = self.ok("doctor").stdout
        document = json.loads(self.ok("doctor", "--json").stdout)

        self.assertIn(self.ok("--version").stdout.splitlines()[0], text)
        self.assertEqual([part["name"] for part in document["parts"]], ["GPUs", "MPI", "NWB", "live"])
        for part in document["parts"]:
            self.assertIn(part["details"], text)
            self.assertIn("built with" if part["built"] else part["purpose"], text)
        self.assertGreaterEqual(document["cores"], 1)
        self.assertEqual([one["device"] for one in document["devices"]], [one["device"] for one in GPUS])
        if not GPUS:
            self.assertIn(document["why_no_device"], text)

    def test_says_what_starts_ranks(self):
        document = json.loads(self.ok("doctor", "--json").stdout)
        self.assertEqual(document.get("mpirun"), shutil.which("mpirun"))
        has_mpi = any(part["name"] == "MPI" and part["built"] for part in document["parts"])
        without = self.ok("doctor", env={**os.environ, "PATH": ""}).stdout
        self.assertEqual("mpirun is missing" in without, has_mpi)

    def test_quiet_says_nothing(self):
        self.assertEqual(self.ok("doctor", "-q").stdout, "")


class OnDevices(CliTest):
    def test_what_names_no_device_is_refused(self):
        path = self.chain_file()
        for text in ("gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0,", "cuda:0,,1", "", "cpu:0", "cuda:0.5", "CUDA",
                     "cuda:99999999999"):
            self.refused("episodes", path, *SEARCH, "--device", text, says=("--device", "cuda:0,1"))

    def test_a_gpu_that_is_not_there_is_an_error_that_says_so(self):
        path = self.chain_file()
        self.refused("episodes", path, *SEARCH, "--device", "cuda:1000", "-o", self.folder / "out", says="no GPU 1000"
                     if GPUS else json.loads(run("devices", "--json").stdout)["why_none"])
        self.refused("episodes", path, *SEARCH, "--strategy", "thread-per-episode", says="runs on GPUs only")
        self.refused("episodes", path, *SEARCH, "--strategy", "state-machine", "--device", "cuda",
                     says="runs on the CPU only")

    def test_the_run_says_that_it_was_the_cpu(self):
        document = json.loads(self.ok("episodes", self.chain_file(), *SEARCH, "--device", "cpu", "--json").stdout)

        self.assertEqual(document["run"]["devices"], [])
        self.assertEqual(document["run"]["parameters"]["device"], "cpu")
        self.assertEqual([level["kernel_seconds"] for level in document["run"]["search"]["levels"]], [0] * 4)

    def test_automatic_takes_the_cpu_for_few_spikes(self):
        document = json.loads(self.ok("episodes", self.chain_file(), *SEARCH, "--device", "automatic", "--json").stdout)

        self.assertEqual(document["run"]["devices"], [])
        self.assertEqual(document["run"]["parameters"]["device"], "cpu")

    def test_surrogates_of_patterns(self):
        path = self.chain_file()
        tested = ("spade", path, "--min-occ", "3", "--surrogates", "120", "--seed", "1")
        self.refused("spade", path, "--min-occ", "3", "--strategy", "fp-growth", "--device", "cuda",
                     says=("--device", "--surrogates"))
        self.refused(*tested, "--device", "cuda:1000", "-o", self.folder / "out", says="no GPU 1000"
                     if GPUS else json.loads(run("devices", "--json").stdout)["why_none"])
        self.ok(*tested, "--device", "cpu", "-o", self.folder / "cpu")
        record = json.loads((self.folder / "cpu/run.json").read_text())
        self.assertEqual(record["devices"], [])
        self.assertEqual(record["parameters"]["device"], "cpu")
        if not GPUS:
            return
        for device in ("cuda", "cuda:0,0", "cuda:all", "automatic"):
            out = self.folder / device
            self.assertIn("on cuda:0", self.ok(*tested, "--device", device, "-o", out).stdout)
            self.assertEqual(json.loads((out / "run.json").read_text())["devices"][0]["name"], GPUS[0]["name"])
            for file in ("patterns.tsv", "signatures.tsv", "spectrum.tsv"):
                self.assertEqual((out / file).read_bytes(), (self.folder / "cpu" / file).read_bytes())

    @unittest.skipUnless(GPUS, "no GPU")
    def test_every_strategy_of_gpus_gives_the_files_of_the_cpu(self):
        path = self.chain_file()
        self.ok("episodes", path, *SEARCH, "-o", self.folder / "cpu")
        expected = (self.folder / "cpu/episodes.tsv").read_bytes()
        listed = [line.split()[:2] for line in self.ok("episodes", "--list-strategies").stdout.splitlines()[:-1]]
        strategies = [name for name, where in listed if "cuda" in where.split(",")]
        self.assertGreater(len(strategies), 0)
        for strategy in ["automatic", *strategies]:
            for device in ("cuda", "cuda:0,0", "cuda:all"):
                out = self.folder / f"{strategy} {device}"
                text = self.ok("episodes", path, *SEARCH, "--strategy", strategy, "--device", device, "-o", out).stdout
                self.assertEqual((out / "episodes.tsv").read_bytes(), expected)
                if strategy != "automatic":
                    self.assertIn(f"{strategy} on cuda:0", text)
                    record = json.loads((out / "run.json").read_text())
                    self.assertEqual(record["devices"][0]["name"], GPUS[0]["name"])


if __name__ == "__main__":
    unittest.main()
