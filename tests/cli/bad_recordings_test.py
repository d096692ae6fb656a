"""spikeweave sort with truncated, mislabelled, silent or clipped recordings: one clear line, or warnings with counts."""

import array
import itertools
import json
import math
import re
import shutil
import tempfile
import unittest
import zipfile
from pathlib import Path

from support import CliTest, run

CHANNELS = 8
RATE = 30000
SHANK_MAP = f"~snsShankMap=(1,2,640){''.join(f'(0:{c % 2}:{c // 2}:1)' for c in range(CHANNELS))}\n"
SECONDS = 5


class BadRecordings(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.good = cls.place / "good"
        made = run("simulate", "recording", "--channels", CHANNELS, "--units", "3", "--length", f"{SECONDS}s", "--low-rate",
                   "10", "--high-rate", "20", "--seed", "1", "-o", cls.good)
        assert made.returncode == 0, made.stderr
        cls.samples = array.array("h", (cls.good / "traces.raw").read_bytes())

    def changed(self, name, samples=None, probe=None, **kwargs):
        """Changes samples (`samples(frame, channel, value)`), probe or keys of the good recording; None removes a key."""
        folder = self.folder / name
        shutil.copytree(self.good, folder)
        if samples is not None:
            places = itertools.product(range(SECONDS * RATE), range(CHANNELS))
            new = array.array("h", (samples(*place, value) for place, value in zip(places, self.samples)))
            (folder / "traces.raw").write_bytes(new.tobytes())
        if probe is not None:
            (folder / "probe.json").write_text(json.dumps(probe))
        about = json.loads((folder / "binary.json").read_text())
        about["kwargs"].update(kwargs)
        about["kwargs"] = {key: value for key, value in about["kwargs"].items() if value is not None}
        (folder / "binary.json").write_text(json.dumps(about))
        return folder

    def refused_sorting(self, path, *options, says):
        self.refused("sort", path, *options, "-o", self.folder / "out", says=says)

    def sorted_with_warnings(self, path, *options):
        """Checks that all output is finite, and returns the warnings."""
        out = self.folder / "out"
        result = self.ok("sort", path, "-o", out, *options)
        for file in filter(Path.is_file, out.rglob("*")):
            if file.suffix == ".npz":
                with zipfile.ZipFile(file) as archive:
                    for name in archive.namelist():
                        self.finite_array(archive.read(name), name)
            elif file.suffix == ".npy":
                self.finite_array(file.read_bytes(), file)
            elif file.name == "report.html":  # its scripts may name Infinity
                data = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read_text(), re.DOTALL)
                json.loads(data[1], parse_constant=self.fail)
            else:
                self.assertIsNone(re.search(r"(?i)(?<![a-z])-?(nan|inf|infinity)(?![a-z])", file.read_text()), file)
        return result.stderr

    def finite_array(self, content, name):
        for kind, letter in ((b"'<f8'", "d"), (b"'<f4'", "f")):
            if kind in content[:128]:
                begin = 10 + int.from_bytes(content[8:10], "little")
                self.assertTrue(all(map(math.isfinite, array.array(letter, content[begin:]))), name)

    def test_cut_files_are_named_with_what_is_missing(self):
        cut = self.changed("shorter")
        content = (cut / "traces.raw").read_bytes()
        (cut / "traces.raw").write_bytes(content[:-3])
        self.refused_sorting(cut, says=("traces.raw", "frame 149999", "found 13 bytes, expected 16", "cut"))
        (cut / "traces.raw").write_bytes(b"")
        self.refused_sorting(cut, says=("traces.raw", "holds no samples"))
        (cut / "traces.raw").unlink()
        self.refused_sorting(cut, says="traces.raw")
        self.file("run.bin", content[:-160])
        meta = f"nSavedChans=8\nimSampRate=30000\nfileSizeBytes={len(content)}\nsnsApLfSy=8,0,0\nacqApLfSy=8,0,0\n" \
               "imAiRangeMax=0.6\nimDatPrb_pn=NP2000\n" + SHANK_MAP
        self.file("run.meta", meta)
        warnings = self.sorted_with_warnings(self.folder / "run.bin")
        for part in ("The file is cut", str(len(content) - 160), str(len(content)), "run.meta"):
            self.assertIn(part, warnings)

    def test_the_wrong_number_of_channels_is_found_wherever_it_shows(self):
        raw = ("--sample-rate", RATE)
        self.refused_sorting(self.good / "traces.raw", *raw, "--channels", 7, says=("frame 171428", "7 channels"))
        self.refused_sorting(self.good, "--channels", 4, says=("good", "states its rate, channels"))
        self.refused_sorting(self.changed("ids", num_channels=7), says=("binary.json", "channel_ids", "found 8", "7"))
        self.refused_sorting(self.changed("gains", gain_to_uV=[1] * 5), says=("binary.json", "gain_to_uV", "found 5"))
        probe = {"probes": [{"si_units": "um", "contact_positions": [[0, 0], [0, 20]]}]}
        self.refused_sorting(self.changed("probe", probe=probe), says=("probe.json", "2", "8"))

    def test_missing_keys_are_named(self):
        content = (self.good / "traces.raw").read_bytes()
        self.file("run.bin", content)
        keys = {"nSavedChans": "8", "imSampRate": "30000", "snsApLfSy": "8,0,0", "acqApLfSy": "8,0,0", "imAiRangeMax": "0.6",
                "imMaxInt": "512", "imChan0apGain": "80"}

        def meta_without(missing):
            text = "".join(f"{key}={value}\n" for key, value in keys.items() if key != missing)
            self.file("run.meta", f"{text}~snsGeomMap=(NP9999,1,0,70){''.join(f'(0:0:{20 * c}:1)' for c in range(CHANNELS))}\n")

        meta_without(None)
        self.sorted_with_warnings(self.folder / "run.bin")
        shutil.rmtree(self.folder / "out")
        for key in keys:
            # Without these keys the file is one of another kind of device, which has other keys.
            named = {"imSampRate": "obSampRate", "snsApLfSy": "snsXaDwSy"}.get(key, key)
            meta_without(key)
            with self.subTest(key):
                self.refused_sorting(self.folder / "run.bin", says=("run.meta", named, "missing"))
        (self.folder / "run.meta").unlink()
        self.refused_sorting(self.folder / "run.bin", says=("run.bin", "number of channels"))
        for number, key in enumerate(("sampling_frequency", "num_channels", "channel_ids", "file_paths", "dtype")):
            with self.subTest(key):
                self.refused_sorting(self.changed(f"without{number}", **{key: None}), says=("binary.json", key))

    def test_silence_is_an_error_and_so_is_a_recording_of_clipped_channels(self):
        for name, level in (("silent", 0), ("stuck", 11), ("clipped", -32768)):
            with self.subTest(name):
                path = self.changed(name, samples=lambda frame, channel, value, level=level: level)
                self.refused_sorting(path, says=(name, "contains no spikes", "8 of 8 channels show no noise"))
        for frames in (1, 10):
            short = self.changed(f"frames{frames}")
            (short / "traces.raw").write_bytes(self.samples[:frames * CHANNELS].tobytes())
            with self.subTest(frames):
                self.refused_sorting(short, says="contains no spikes")

    def test_clipped_channels_are_counted_and_left_out(self):
        path = self.changed("some", samples=lambda frame, channel, value: 32767 if channel in (2, 5) else value)
        for options in ((), ("--whiten",), ("--reference", "median")):
            with self.subTest(options):
                warnings = self.sorted_with_warnings(path, *options, "--overwrite")
                self.assertIn("2 of 8 channels show no noise", warnings)
                self.assertIn("left out: 2, 5.", warnings)

    def faults_in_info(self, path):
        """Returns the warnings of info, which are those of sort about the rig."""
        text = self.ok("info", path).stdout
        warnings = [line.removeprefix("warning: ") for line in text.splitlines() if line.startswith("warning: ")]
        self.assertEqual(json.loads(self.ok("info", path, "--json").stdout)["warnings"], warnings)
        return " ".join(warnings)

    def test_info_and_sort_say_what_is_wrong_with_the_rig(self):
        def noise(frame):
            return frame * frame * 7 % 31 % 3 - 1

        cases = {
            "inverted": (lambda frame, channel, value: -value, "the recording may be inverted"),
            "loud": (lambda frame, channel, value: value + (noise(frame) * 2000 if channel == 4 else 0),
                     "1 of 8 channels have more than five times the noise of most, and are left out: 4."),
            "open": (lambda frame, channel, value: noise(frame) if channel == 4 else value,
                     "1 of 8 channels show no noise, or next to none, as if they were not connected, and are left out: 4."),
            "blanked": (lambda frame, channel, value: 0 if frame % 60000 < 15000 else value, "No channel changes during"),
            "one_blanked": (lambda frame, channel, value: 0 if channel == 4 and frame % 60000 < 15000 else value,
                            "1 of 8 channels do not change for a part of the time in which others do"),
            "limited": (lambda frame, channel, value: max(-150, min(150, 4 * value)) if channel == 4 else value,
                        "1 of 8 channels stand at the limit of their range"),
            "unsigned": (lambda frame, channel, value: (value + 65536) % 65536 - 32768, "numpy.fromfile(FILE, '<u2') ^ 0x8000"),
        }
        for name, (samples, says) in cases.items():
            with self.subTest(name):
                path = self.changed(name, samples=samples)
                self.assertIn(says, self.faults_in_info(path))
                if name == "unsigned":
                    self.refused_sorting(path, "--overwrite", says=says)
                else:
                    self.assertIn(says, self.sorted_with_warnings(path, "--overwrite"))
        self.assertEqual(self.faults_in_info(self.good), "")

    def test_units_in_step_with_the_mains_are_noise(self):
        path = self.changed("mains", samples=lambda frame, channel, value: value - (900 if channel == 4 and frame % 600 < 9 else 0),
                            sampling_frequency=30000)
        warnings = self.sorted_with_warnings(path)
        self.assertIn("1 unit fires in step with the mains (50 Hz), as interference does, and is labelled noise: ", warnings)
        self.assertIn("noise\tin step with the mains, 50 Hz", (self.folder / "out/units.tsv").read_text())

    def test_samples_at_both_ends_of_the_range_give_numbers(self):
        def jumps(frame, channel, value):
            return value if channel != 3 else 32767 if frame * frame % 7 < 3 else -32768

        self.sorted_with_warnings(self.changed("jumping", samples=jumps))
        self.sorted_with_warnings(self.changed("loud", samples=lambda frame, channel, value: max(-99, min(99, value))),
                                  "--overwrite")

    def test_a_scale_that_is_none_is_refused(self):
        for number, (key, value, says) in enumerate((("gain_to_uV", [0] * CHANNELS, "gain 0"), ("gain_to_uV", [1e999] * CHANNELS, "binary.json"),
                                 ("sampling_frequency", 0, "found 0"), ("sampling_frequency", -1, "found -1"),
                                 ("sampling_frequency", 500, "500 samples"))):
            with self.subTest(key=key, value=value):
                self.refused_sorting(self.changed(f"scale{number}", **{key: value}), says=says)


if __name__ == "__main__":
    unittest.main()
