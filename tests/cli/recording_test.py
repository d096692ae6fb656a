"""Recordings: spikeweave simulate recording, and spikeweave info for them."""

import array
import gzip
import json
import unittest
import wave

from support import CliTest


class SimulateRecording(CliTest):
    small = ("simulate", "recording", "--channels", "4", "--units", "3", "--length", "500ms", "--seed", "7")

    def test_one_seed_gives_one_folder_on_any_number_of_threads(self):
        for name, threads in (("a", "1"), ("b", "3")):
            self.ok(*self.small, "--threads", threads, "-o", self.folder / name)
        files = sorted(str(path.relative_to(self.folder / "a")) for path in (self.folder / "a").rglob("*") if path.is_file())

        self.assertEqual(files, ["binary.json", "probe.json", "properties/group.npy", "si_folder.json", "traces.raw", "truth.npz",
                                 "units.tsv"])
        for name in files:
            self.assertEqual((self.folder / "a" / name).read_bytes(), (self.folder / "b" / name).read_bytes(), name)
        self.assertEqual((self.folder / "a" / "traces.raw").stat().st_size, 2 * 4 * 15000)
        self.assertEqual(len((self.folder / "a" / "units.tsv").read_text().splitlines()), 4)

    def test_takes_its_options(self):
        out = self.ok("simulate", "recording", "--channels", "6", "--columns", "3", "--pitch", "30um", "--sample-rate", "20000",
                      "--gain", "0.5", "--units", "2", "--low-rate", "5", "--high-rate", "6", "--dead-time", "3ms",
                      "--low-peak", "60", "--high-peak", "90", "--jitter", "0", "--drift", "10um", "--noise", "5",
                      "--noise-reach", "0um", "--length", "1s", "-o", self.folder / "r").stdout
        found = json.loads(self.ok("info", "--json", self.folder / "r").stdout)

        self.assertIn("wrote 1 s of 6 channels", out)
        self.assertEqual((found["sample_rate_hz"], found["samples"], found["channel_count"]), (20000, 20000, 6))
        self.assertEqual([(c["x_um"], c["y_um"]) for c in found["channels"]][2:4], [(60, 0), (0, 30)])
        self.assertEqual({c["gain_uv"] for c in found["channels"]}, {0.5})

    def test_makes_harder_recordings(self):
        kinds = ("broad", "narrow", "early-peak", "triphasic", "positive")
        self.ok(*self.small, "--difficulty", "realistic", "--similar", "1", "-o", self.folder / "r")
        self.ok(*self.small, "--distribution", "lognormal", "--waveforms", "varied", "--similar", "1", "--bursting", "0.3",
                "--background", "2", "--noise-spectrum", "coloured", "-o", self.folder / "same")

        header, *rows = [line.split("\t") for line in (self.folder / "r" / "units.tsv").read_text().splitlines()]

        self.assertEqual(header[-3:], ["waveform", "bursting", "like"])
        self.assertEqual([row[-1] for row in rows][:2], ["-", "0"])
        self.assertTrue({row[-3] for row in rows} <= set(kinds))
        for name in ("traces.raw", "truth.npz", "units.tsv"):
            self.assertEqual((self.folder / "r" / name).read_bytes(), (self.folder / "same" / name).read_bytes(), name)

    def test_writes_how_the_units_move(self):
        self.ok(*self.small, "--drift", "20um", "--drift-shape", "zigzag", "--drift-period", "1s", "--drift-start", "250ms",
                "-o", self.folder / "r")

        rows = [line.split("\t") for line in (self.folder / "r" / "motion.tsv").read_text().splitlines()]

        self.assertEqual(rows[0], ["time_s", "displacement_um"])
        self.assertEqual([[float(x) for x in row] for row in rows[1:]], [[0, 0], [0.25, 0], [0.5, 10]])
        self.ok(*self.small, "--overwrite", "-o", self.folder / "r")
        self.assertFalse((self.folder / "r" / "motion.tsv").exists())

    def test_the_truth_is_a_file_of_spikes(self):
        self.ok(*self.small, "-o", self.folder / "r")

        found = json.loads(self.ok("info", "--json", self.folder / "r" / "truth.npz").stdout)

        self.assertEqual((found["unit_count"], found["span_s"]), (3, [0, 0.5]))

    def test_replaces_only_when_asked_and_only_its_own(self):
        self.ok(*self.small, "-o", self.folder / "r")
        self.refused(*self.small, "-o", self.folder / "r", says="exists")
        self.ok(*self.small, "--overwrite", "-o", self.folder / "r")
        (self.folder / "r" / "notes").write_text("mine")
        self.refused(*self.small, "--overwrite", "-o", self.folder / "r", says="notes")

    def test_refuses_nonsense(self):
        for arguments, words in ((("--channels", "0"), "--channels"), (("--columns", "9"), "9 columns"),
                                 (("--low-rate", "90"), "--low-rate"), (("--dead-time", "1s"), "dead time"),
                                 (("--jitter", "2"), "--jitter"), (("--low-peak", "900"), "--high-peak"),
                                 (("--sample-rate", "9"), "--sample-rate"), (("--noise", "x"), "--noise"),
                                 (("--difficulty", "hard"), "--difficulty"), (("--similar", "2"), "--similar"),
                                 (("--distribution", "lognormal", "--low-peak", "0"), "--low-peak"),
                                 (("--drift-shape", "jump"), "--drift"),
                                 (("--drift", "9um", "--drift-shape", "sine"), "--drift-shape"),
                                 (("--drift", "9um", "--drift-start", "1s"), "begin to move")):
            with self.subTest(arguments):
                self.refused(*self.small, *arguments, "-o", self.folder / "r", says=words)


class InfoOfRecordings(CliTest):
    def raw(self, name="r.bin", count=12):
        return self.file(name, array.array("h", range(count)).tobytes())

    def test_takes_raw_samples_when_told_what_they_are(self):
        path = self.raw()

        out = self.ok("info", path, "--sample-rate", "30000", "--channels", "3", "--gain", "0.195").stdout
        found = json.loads(self.ok("info", path, "--sample-rate", "30000", "--channels", "2", "--header-bytes", "4",
                                   "--json").stdout)

        self.assertIn("3 channels, 30,000 samples a second", out)
        self.assertIn("0.195 uV a count", out)
        self.assertEqual((found["format"], found["samples"], found["positions"]), ("raw", 5, "assumed"))
        self.assertEqual(self.ok("info", path, "--sample-rate", "1e3", "--channels", "3", "--quiet").stdout, "")

    def test_takes_positions_from_a_probe_file(self):
        probe = self.file("p.json", '{"probes": [{"si_units": "um", "contact_positions": [[1, 2], [3, 4], [5, 6]]}]}')

        found = json.loads(self.ok("info", self.raw(), "--sample-rate", "30000", "--channels", "3", "--probe", probe,
                                   "--json").stdout)

        self.assertEqual([(c["x_um"], c["y_um"]) for c in found["channels"]], [(1, 2), (3, 4), (5, 6)])

    def test_says_which_file_and_key_is_wrong(self):
        path = self.raw()
        options = ("--sample-rate", "30000", "--channels")
        self.refused("info", path, *options, "5", says=("r.bin", "frame 2", "found 4 bytes", "5 channels"))
        self.refused("info", path, *options, "3", "--probe", self.folder / "none.json", says="none.json")
        self.refused("info", path, "--channels", "3", says=("r.bin", "both"))
        self.refused("info", self.file("empty.bin", ""), *options, "3", says="holds no samples")
        self.refused("info", self.chain_file(), "--probe", path, says="file of spikes")
        meta = self.file("r.meta", "nSavedChans=3\nsnsApLfSy=3,0,0\nacqApLfSy=3,0,0\n")
        self.refused("info", meta, says=("r.meta", "obSampRate", "missing"))
        (self.folder / "b").mkdir()
        self.file("b/binary.json", "{}")
        self.refused("info", self.folder / "b", says=("binary.json", "kwargs"))
        (self.folder / "o").mkdir()
        self.file("o/structure.oebin", '{"continuous": []}')
        self.refused("info", self.folder / "o", says=("structure.oebin", "no stream"))

    def test_advice_about_files_of_other_kinds_works(self):
        options = ("--sample-rate", "30000", "--channels", "3", "--gain", "1")
        samples = array.array("h", range(12)).tobytes()
        packed = self.file("r.gz", gzip.compress(samples))
        self.refused("info", packed, *options, says=("r.gz", "gunzip"))
        self.ok("info", self.file("r", gzip.decompress(packed.read_bytes())), *options)
        sound = self.folder / "r.wav"
        with wave.open(str(sound), "wb") as file:
            file.setnchannels(3)
            file.setsampwidth(2)
            file.setframerate(30000)
            file.writeframes(samples)
        self.refused("info", sound, *options, says=("r.wav", "--header-bytes", "44 in most files"))
        found = json.loads(self.ok("info", sound, *options, "--header-bytes", "44", "--json").stdout)
        self.assertEqual(found["samples"], 4)

    def test_files_of_other_programs_are_named_with_what_reads_them(self):
        options = ("--sample-rate", "30000", "--channels", "1")
        for name, begin, words in (("CSC1.ncs", "######## Neuralynx", "spikeweave.read_recording"),
                                   ("SE1.nse", "######## Neuralynx", "spikeweave.read"), ("a.mat", "MATLAB 5.0", "fwrite"),
                                   ("a.pl2", "", "Plexon's library"), ("a.edf", "0       ", "read_edf")):
            path = self.file(name, begin.encode() + bytes(4000))
            with self.subTest(name):
                self.refused("info", path, says=(name, words))
                self.refused("info", path, *options, says=(name, words))
                self.refused("sort", path, "-o", self.folder / "out", says=(name, words))
                self.refused("sort", path, *options, "-o", self.folder / "out", says=(name, words))
                self.refused("convert", path, self.folder / "out.tsv", says=(name, words))
        self.assertFalse((self.folder / "out").exists() or (self.folder / "out.tsv").exists())

    def test_a_recording_of_spikeglx_that_was_cut_or_is_read_as_raw_samples(self):
        samples = self.raw("r.ap.bin", 10)
        self.file("r.ap.meta", "nSavedChans=3\nsnsApLfSy=2,0,1\nacqApLfSy=2,0,1\nimSampRate=30000\nimAiRangeMax=0.5\n"
                  "imDatPrb_pn=NP2000\n~imroTbl=(21,2)(0 1 0 0)(1 1 0 1)\n")

        cut = self.ok("info", samples)
        found = json.loads(self.ok("info", samples, "--sample-rate", "1000", "--channels", "5", "--gain", "2", "--json").stdout)

        self.assertIn("'r.ap.meta' does not state the length of the file", cut.stdout + cut.stderr)
        self.assertIn("0.7629 uV a count", cut.stdout)
        self.assertEqual((found["format"], found["samples"], found["channels"][0]["gain_uv"]), ("raw", 2, 2))
        self.refused("info", samples, "--channels", "5", says=("r.ap.bin", "both"))


if __name__ == "__main__":
    unittest.main()
