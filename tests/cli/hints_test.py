"""Hints of messages: each is followed on the situation that shows it, and helps."""

import gzip
import random
import struct
import unittest

from support import CliTest


def samples(count=4000):
    draw = random.Random(1)
    return struct.pack(f"<{count}h", *(draw.randrange(-40, 40) for _ in range(count)))


def npy_header(shape, kind):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n"


class Hints(CliTest):
    def chains(self, name="a.tsv", *more):
        path = self.folder / name
        self.ok("simulate", "sym26", "--length", "20s", "--seed", "1", *more, "-o", path)
        return path

    def follow(self, command, says, *hints):
        """The command is refused with these words, and each of the hints is enough."""
        self.refused(*command, says=says)
        for hint in hints:
            with self.subTest(hint):
                self.ok(*command, *hint, "--overwrite")

    def warned(self, *command, of):
        """Whether the command, which succeeds, warns so."""
        return of in self.ok(*command).stderr

    def test_trials(self):
        command = ("spade", self.chains(), "--min-occ", "200", "--surrogates", "5", "--surrogate-method", "trial-shifting",
                   "-o", self.folder / "out")
        epochs = self.file("epochs.tsv", "begin_s\tend_s\n0\t10\n10\t20\n")
        self.follow(command, "give --epochs or --trial-length", ("--trial-length", "5s"), ("--epochs", epochs))
        command = ("episodes", command[1], "--delays", "4-6ms", "--max-size", "2", "--surrogates", "5",
                   "--surrogate-method", "trial-shifting", "-o", self.folder / "chains")
        self.follow(command, "give --epochs or --trial-length", ("--trial-length", "5s"), ("--epochs", epochs))

    def test_thresholds_of_short_windows(self):
        command = ("spade", self.chains(), "--min-spikes", "3", "--window", "1", "-o", self.folder / "out")
        self.refused(*command, says="give --min-occ as a number, or a longer --window")
        self.ok(*command, "--min-occ", "5")
        self.ok(*command[:-4], "--window", "10", *command[-2:], "--min-occ", "200", "--overwrite")

    def test_a_search_of_days(self):
        data = self.folder / "dense.tsv"
        self.ok("simulate", "poisson", "--units", "100", "--rate", "30", "--length", "60s", "-o", data)
        command = ("spade", data, "--min-spikes", "2", "-q", "-o", self.folder / "out")
        long = {"--window": "40", "--min-occ": "2", "--bin": "5ms"}
        said = self.refused(*command, *sum(long.items(), ()), says="which is too long to begin").stderr
        for option, value in (("--min-occ", "400"), ("--window", "1"), ("--t-stop", "0.2s")):
            with self.subTest(option):
                self.assertIn(option, said)
                shorter = {**long, option: value}
                self.ok(*command, *sum(shorter.items(), ()), "--overwrite")

    def test_delays_that_make_everything_frequent(self):
        draw = random.Random(1)
        spikes = sorted((draw.uniform(0, 118), unit) for unit in "abcdef" for _ in range(1180))
        data = self.file("dense.tsv", "time_s\tunit\n" + "".join(f"{time:.6f}\t{unit}\n" for time, unit in spikes))
        command = ("episodes", data)
        self.refused(*command, "--delays", "0-200ms", says="give shorter --delays, a larger --min-count or a --max-size")
        for way in (("--delays", "0-20ms"), ("--delays", "0-200ms", "--min-count", "1000"),
                    ("--delays", "0-200ms", "--max-size", "2")):
            with self.subTest(way):
                self.ok(*command, *way)

    def test_a_threshold_that_no_unit_reaches(self):
        data = self.chains()
        high = ("episodes", data, "--min-count", "1000000")
        self.assertTrue(self.warned(*high, of="so no chain can be found"))
        # The threshold does not concern the connections.
        self.assertRegex(self.ok(*high).stdout, r"^[1-9]\d* connections? ")
        self.assertTrue(self.warned(*high, "--test", "exact", of="so no episode can be found"))
        self.assertFalse(self.warned("episodes", data, "--min-count", "100", of="can be found"))

    def test_raw_samples(self):
        raw = self.file("raw.bin", samples())
        self.refused("info", raw, says="need --channels and --sample-rate")
        self.refused("sort", raw, "-o", self.folder / "out", says="give both --channels and --sample-rate")
        self.ok("info", raw, "--channels", "4", "--sample-rate", "20000")

    def test_samples_behind_a_header(self):
        how = ("--channels", "4", "--sample-rate", "20000")
        for name, head, says in (("x.wav", b"RIFF".ljust(44, b"\0"), "--header-bytes"),
                                 ("x.npy", npy_header((1000, 4), "<i2"), "--header-bytes")):
            with self.subTest(name):
                path = self.file(name, head + samples())
                self.refused("info", path, *how, says=says)
                out = self.ok("info", path, *how, "--header-bytes", str(len(head))).stdout
                self.assertIn("1,000 samples", out)

    def test_packed_samples(self):
        path = self.file("raw.bin.gz", gzip.compress(samples()))
        how = ("--channels", "4", "--sample-rate", "20000")
        self.refused("info", path, *how, says="unpack it with gunzip")
        self.ok("info", self.file("raw.bin", gzip.decompress(path.read_bytes())), *how)

    def test_two_probes(self):
        for number in (0, 1):
            probe = self.folder / "run" / f"probe_{number}"
            probe.mkdir(parents=True)
            (probe / "run.imec.ap.bin").write_bytes(samples(40))
            (probe / "run.imec.ap.meta").write_text(
                "acqApLfSy=4,0,0\nfileSizeBytes=80\nimAiRangeMax=0.5\nimAiRangeMin=-0.5\nimDatPrb_type=21\n"
                "imMaxInt=8192\nimSampRate=30000\nimChan0apGain=80\nnSavedChans=4\nsnsApLfSy=4,0,0\n"
                "snsSaveChanSubset=0:3\ntypeThis=imec\n~imroTbl=(21,4)(0 1 0 0)(1 1 0 1)(2 1 0 2)(3 1 0 3)\n"
                "~snsGeomMap=(NP2000,1,0,70)(0:27:0:1)(0:59:0:1)(0:27:15:1)(0:59:15:1)\n", encoding="utf-8")
        self.refused("info", self.folder / "run", says=("name one with --stream", "probe_0/run.imec.ap"))
        self.ok("info", self.folder / "run", "--stream", "probe_0/run.imec.ap")

    def test_conditions(self):
        a, b = self.chains("a.tsv"), self.chains("b.tsv", "--probability", "0.4")
        halves = (self.file("early.tsv", "begin_s\tend_s\n" + "".join(f"{i}\t{i + 1}\n" for i in range(0, 20, 2))),
                  self.file("late.tsv", "begin_s\tend_s\n" + "".join(f"{i}\t{i + 1}\n" for i in range(1, 20, 2))))
        how = ("--delays", "4-6ms", "--max-size", "2", "--block", "2s", "--permutations", "99", "-o", self.folder / "out",
               "--overwrite")
        self.refused("compare", a, *how, says=("give two files", "--group-a and --group-b", "--epochs-a"))
        self.ok("compare", a, b, *how)
        self.ok("compare", a, "--epochs-a", halves[0], "--epochs-b", halves[1], *how)
        self.ok("compare", "--group-a", a, "--group-b", b, *how)
        self.assertTrue(self.warned("compare", a, b, *how, of="give more --permutations"))
        more = [("999" if each == "99" else each) for each in how]
        self.assertFalse(self.warned("compare", a, b, *more, of="give more --permutations"))

    def test_tests_of_rates_that_change(self):
        data = self.folder / "culture.tsv"
        self.ok("simulate", "culture", "--channels", "8", "--length", "60s", "--seed", "1", "-o", data)
        says = "assumes constant rates"
        self.assertTrue(self.warned("episodes", data, "--test", "exact", "--max-size", "2", of=says))
        for way in (("--test", "jitter"), ("--surrogates", "20")):
            with self.subTest(way):
                self.assertFalse(self.warned("episodes", data, *way, "--max-size", "2", of=says))

    def test_orders_of_windows(self):
        command = ("windows", self.chains(), "--window", "2s", "--change-points", "--delays", "4-6ms", "--max-size", "2",
                   "-o", self.folder / "out", "--overwrite")
        said = self.ok(*command, "--change-permutations", "5").stderr
        self.assertIn("use --change-permutations of ", said)
        enough = said.split("use --change-permutations of ")[1].split(" or more")[0]
        self.assertFalse(self.warned(*command, "--change-permutations", enough.replace(",", ""), of="use --change-permutations"))

    def test_bins_in_which_nothing_can_be_tested(self):
        draw = random.Random(2)
        spikes = sorted((draw.uniform(0, 118), f"u{unit}") for unit in range(24) for _ in range(60))
        data = self.file("slow.tsv", "time_s\tunit\n" + "".join(f"{time:.6f}\t{unit}\n" for time, unit in spikes))
        command = ("assemblies", data, "-o", self.folder / "out", "--overwrite")
        said = self.ok(*command, "--bins", "5ms").stderr
        self.assertIn("Wider --bins, such as ", said)
        wider = said.split("Wider --bins, such as ")[1].split(",")[0]
        self.assertFalse(self.warned(*command, "--bins", wider, of="Pairs of units could not be tested"))

    def test_times_in_another_unit(self):
        draw = random.Random(3)
        times = sorted(draw.uniform(0, 100) for _ in range(3000))
        data = self.file("ms.tsv", "time_s\tunit\n" + "".join(f"{1000 * time:.1f}\tu{i % 3}\n" for i, time in enumerate(times)))
        said = self.ok("info", data).stdout
        self.assertIn("If so, give --time-unit ms, or --time-unit samples:RATE", said)
        self.assertNotIn("warning", self.ok("info", data, "--time-unit", "ms").stdout)
        fast = self.file("s.tsv", "time_ms\tunit\n" + "".join(f"{time:.5f}\tu{i % 3}\n" for i, time in enumerate(times)))
        self.assertIn("If so, give --time-unit s.", self.ok("info", fast).stdout)
        self.assertNotIn("warning", self.ok("info", fast, "--time-unit", "s").stdout)

    def test_files_that_are_there(self):
        a, b = self.chains("a.tsv"), self.chains("b.npz")
        self.follow(("convert", a, b), "(--overwrite replaces it)", ())


if __name__ == "__main__":
    unittest.main()
