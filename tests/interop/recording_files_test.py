"""spikeweave reads recordings that pynwb wrote, and the same samples as neo from folders.

Usage: recording_files_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without those packages.
"""

import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import neo
    import numpy as np
    import probeinterface
    import pynwb
    from pynwb.ecephys import ElectricalSeries
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

SPIKEWEAVE = sys.argv.pop(1)
BANK = 384
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def info(path, *options):
    done = subprocess.run([SPIKEWEAVE, "info", "--json", path, *options], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def neuropixels_meta(part, probe, random):
    """A .meta of 384 channels at random contacts of a probe of ProbeTable, of which some are saved; and their numbers."""
    kind = probe["imro_table_format_type"]
    contacts, shanks = int(probe["cols_per_shank"]) * int(probe["rows_per_shank"]), int(probe["num_shanks"])
    channels = min(BANK, contacts)
    gains = [int(gain) for gain in probe["ap_gain_list"].split(",")]
    head = f"({part},{channels})"
    if kind == "imro_np1110":
        head = f"({part},{random.integers(3)},0,{random.choice(gains)},{random.choice(gains)},1)"
        rows = [f"({group} {random.integers(16)} {random.integers(16)})" for group in range(24)]
    elif kind == "imro_np1000":
        banks = [random.integers((contacts - 1 - channel) // BANK + 1) for channel in range(channels)]
        rows = [f"({channel} {bank} {random.integers(2)} {random.choice(gains)} {random.choice(gains)} 1)"
                for channel, bank in enumerate(banks)]
    else:
        # On four shanks, a number of a contact may occur on each.
        numbers = random.permutation(contacts * shanks)[:channels]
        fields = {"imro_np2000": "{c} 1 {r} {e}", "imro_np2003": "{c} 1 {r} {e}", "imro_np3010": "{c} 0 {r} {e}"}
        rows = ["(" + fields.get(kind, "{c} {s} 0 {r} {e}").format(c=channel, s=number // contacts, r=random.integers(1, 3),
                                                                  e=number % contacts) + ")"
                for channel, number in enumerate(numbers)]
    saved = sorted(random.choice(channels, 20, replace=False))
    subset = ",".join(map(str, [*saved, BANK]))
    maps = "".join(f"(AP{channel};{channel}:{i})" for i, channel in enumerate(saved)) + f"(SY0;{BANK}:20)"
    return (f"typeThis=imec\nnSavedChans=21\nimSampRate=30000\nsnsApLfSy=20,0,1\nacqApLfSy={channels},0,1\n"
            f"snsSaveChanSubset={subset}\nimAiRangeMax=0.6\nimMaxInt={2 ** (int(probe['adc_bit_depth']) - 1)}\n"
            f"imDatPrb_pn={part}\n~imroTbl={head}{''.join(rows)}\n~snsChanMap=({channels},0,1){maps}\n"), saved


class RecordingFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_pynwb_electrical_series(self):
        file = pynwb.NWBFile("a recording", "1", EPOCH)
        probe = file.create_device("probe")
        groups = [file.create_electrode_group(name, "a shank", "somewhere", probe) for name in ("a", "b")]
        for y in (40.0, 0.0, 20.0):
            file.add_electrode(group=groups[y == 40], location="somewhere", rel_x=5.0, rel_y=y)
        samples = np.arange(300, dtype=np.int16).reshape(100, 3)
        rows = file.create_electrode_table_region([2, 0, 1], "all")
        file.add_acquisition(ElectricalSeries(name="raw", data=samples, electrodes=rows, rate=25000.0, conversion=1e-7,
                                              offset=2e-6))
        path = self.folder / "a.nwb"
        with pynwb.NWBHDF5IO(path, "w") as io:
            io.write(file)

        found = info(path)

        self.assertEqual((found["format"], found["samples"], found["sample_rate_hz"]), ("nwb", 100, 25000))
        self.assertEqual([c["y_um"] for c in found["channels"]], [20, 40, 0])
        self.assertEqual([c["shank"] for c in found["channels"]], [0, 1, 0])
        self.assertTrue(np.allclose([c["gain_uv"] for c in found["channels"]], 0.1))
        self.assertTrue(np.allclose([c["offset_uv"] for c in found["channels"]], 2))
        refused = subprocess.run([SPIKEWEAVE, "info", path, "--sample-rate", "25000", "--channels", "3"], stderr=subprocess.PIPE,
                                 text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("NWB is read without --channels and --sample-rate", refused.stderr)

    def test_spikeglx_gains_and_names_are_those_of_neo(self):
        name = "run_g0_t0.imec0.ap"
        np.arange(400, dtype=np.int16).tofile(self.folder / f"{name}.bin")
        table = "".join(f"({c} 0 0 {500 + 250 * (c % 2)} 250 1)" for c in range(3))
        (self.folder / f"{name}.meta").write_text(
            f"typeThis=imec\nfileName=C:/{name}.bin\nfileSizeBytes=800\nfirstSample=0\nnSavedChans=4\nimSampRate=30000.4\n"
            "snsApLfSy=3,0,1\nacqApLfSy=3,0,1\nsnsSaveChanSubset=0:3\nimAiRangeMax=0.6\nimAiRangeMin=-0.6\n"
            f"imDatPrb_type=0\nimDatPrb_pn=NP1000\nimDatPrb_sn=1\nimDatPrb_slot=2\nimDatPrb_port=1\n~imroTbl=(0,3){table}\n"
            "~snsChanMap=(3,0,1)(AP0;0:0)(AP1;1:1)(AP2;2:2)(SY0;3:3)\n"
            "~snsGeomMap=(NP1000,1,0,70)(0:27:0:1)(0:59:0:1)(0:11:20:1)\n")
        reader = neo.rawio.SpikeGLXRawIO(dirname=self.folder)
        reader.parse_header()
        signals = [c for c in reader.header["signal_channels"] if "SY" not in c["name"]]

        found = info(self.folder / f"{name}.bin")

        self.assertEqual([c["name"] for c in found["channels"]], [c["name"].split("#")[-1] for c in signals])
        self.assertTrue(np.allclose([c["gain_uv"] for c in found["channels"]], [c["gain"] for c in signals]))
        self.assertEqual(found["samples"], reader.get_signal_size(0, 0, 0))
        self.assertAlmostEqual(found["sample_rate_hz"], signals[0]["sampling_rate"])

    def test_neuropixels_of_every_part_number_have_the_places_and_gains_of_probeinterface_and_neo(self):
        random = np.random.default_rng(1)
        folder = pathlib.Path(probeinterface.__file__).parent / "resources"
        table = json.loads((folder / "neuropixels_probe_features.json").read_text())
        name = "run_g0_t0.imec0.ap"
        compared = 0
        for part, probe in table["neuropixels_probes"].items():
            with self.subTest(part=part):
                meta, saved = neuropixels_meta(part, probe, random)
                np.zeros(2 * (len(saved) + 1), np.int16).tofile(self.folder / f"{name}.bin")
                (self.folder / f"{name}.meta").write_text(f"fileName=C:/{name}.bin\nfileSizeBytes={4 * len(saved) + 4}\n{meta}")

                found = info(self.folder / f"{name}.bin")

                places = probeinterface.read_spikeglx(self.folder / f"{name}.meta")
                self.assertEqual(found["positions"], "file")
                self.assertTrue(np.allclose([(c["x_um"], c["y_um"]) for c in found["channels"]], places.contact_positions))
                shanks = [int(shank or 0) for shank in places.shank_ids] if places.shank_ids is not None else [0] * len(saved)
                self.assertEqual([c["shank"] for c in found["channels"]], shanks)
                steps = 2 ** (int(probe["adc_bit_depth"]) - 1)
                gains = places.contact_annotations.get("ap_gains", [places.annotations["ap_gain"]] * len(saved))
                self.assertTrue(np.allclose([c["gain_uv"] for c in found["channels"]], [6e5 / steps / gain for gain in gains]))
                # Neo takes the gains of saved channels for those of the first ones, which have gains of their own here.
                if len(probe["ap_gain_list"].split(",")) == 1:
                    reader = neo.rawio.SpikeGLXRawIO(dirname=self.folder)
                    reader.parse_header()
                    signals = [c for c in reader.header["signal_channels"] if "SY" not in c["name"]]
                    self.assertTrue(np.allclose([c["gain_uv"] for c in found["channels"]], [c["gain"] for c in signals]))
                    compared += 1
        self.assertGreater(compared, 15)

    def test_open_ephys_channels_are_those_of_neo(self):
        recording = self.folder / "Record Node 101" / "experiment1" / "recording1"
        stream = recording / "continuous" / "Rhythm-100.0"
        stream.mkdir(parents=True)
        np.arange(600, dtype=np.int16).tofile(stream / "continuous.dat")
        np.save(stream / "sample_numbers.npy", np.arange(200))
        np.save(stream / "timestamps.npy", np.arange(200) / 30000)
        names = (("CH1", 0.195, "uV"), ("CH2", 0.195, "uV"), ("ADC1", 0.000152, "V"))
        (recording / "structure.oebin").write_text(json.dumps({
            "GUI version": "0.6.7", "events": [], "spikes": [], "continuous": [{
                "folder_name": "Rhythm-100.0/", "sample_rate": 30000, "source_processor_name": "Rhythm", "num_channels": 3,
                "source_processor_id": 100, "stream_name": "Rhythm", "recorded_processor": "Record Node",
                "recorded_processor_id": 101,
                "channels": [{"channel_name": name, "bit_volts": volts, "units": unit} for name, volts, unit in names]}]}))
        reader = neo.rawio.OpenEphysBinaryRawIO(dirname=str(self.folder))
        reader.parse_header()
        signals = [c for c in reader.header["signal_channels"] if c["units"] == "uV"]

        found = info(self.folder)

        self.assertEqual([c["name"] for c in found["channels"]], [c["name"] for c in signals])
        self.assertEqual([c["gain_uv"] for c in found["channels"]], [c["gain"] for c in signals])
        self.assertEqual(found["samples"], 200)

    def test_simulated_samples_are_what_numpy_reads(self):
        path = self.folder / "rec"
        subprocess.run([SPIKEWEAVE, "simulate", "recording", "--channels", "4", "--units", "2", "--length", "2s", "--noise", "10",
                        "--seed", "1", "-o", path], check=True, stdout=subprocess.PIPE)
        about = json.loads((path / "binary.json").read_text())
        kwargs = about["kwargs"]
        traces = np.fromfile(path / kwargs["file_paths"][0], kwargs["dtype"]).reshape(-1, kwargs["num_channels"])

        self.assertTrue(about["class"].endswith(".BinaryRecordingExtractor") and about["relative_paths"])
        self.assertEqual(len(traces), 2 * kwargs["sampling_frequency"])
        deviation = np.median(np.abs(traces), axis=0) / 0.6745 * kwargs["gain_to_uV"]
        self.assertTrue(np.allclose(deviation, 10, rtol=0.1), deviation)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
