"""spikeweave sort for recordings."""

import array
import bisect
import functools
import json
import random
import re
import shutil
import tempfile
import unittest
import zipfile
from pathlib import Path

from support import CliTest, needs_full_speed, needs_plain_memory, run, run_for_peak, state

TOLERANCE_S = 0.0004


def matched(truth, found):
    """Counts pairs of times within the tolerance, with each time in at most one pair; both lists ascend."""
    pairs, at = 0, 0
    for time in truth:
        at = bisect.bisect_left(found, time - TOLERANCE_S, at)
        if at < len(found) and found[at] <= time + TOLERANCE_S:
            pairs, at = pairs + 1, at + 1
    return pairs


def accuracies(truth, found):
    """Returns each true unit's best share of matched pairs among all spikes of it and a found unit."""
    best = []
    for own in truth.values():
        pairs = [(matched(own, other), len(other)) for other in found.values()]
        best.append(max(n / (len(own) + size - n) for n, size in pairs))
    return sorted(best)


def values_of(npy):
    """The bytes of an array after the head of its file."""
    return npy[10 + int.from_bytes(npy[8:10], "little"):]


def entries_of(archive):
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def write_entries(archive, entries):
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in entries.items():
            opened.writestr(name, content)


def npy_of_texts(texts):
    longest = max(1, *map(len, texts))
    about = f"{{'descr': '<U{longest}', 'fortran_order': False, 'shape': ({len(texts)},), }}"
    about += " " * (-(len(about) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + len(about).to_bytes(2, "little") + about.encode() +
            b"".join(text.ljust(longest, "\0").encode("utf-32-le") for text in texts))


def table(path):
    names, *rows = (line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#"))
    return [dict(zip(names, row)) for row in rows]


class SortRecording(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.recording = cls.place / "rec"
        made = run("simulate", "recording", "--length", "20s", "--units", "6", "--low-rate", "10", "--high-rate",
                   "20", "--seed", "1", "-o", cls.recording)
        assert made.returncode == 0, made.stderr

    @classmethod
    @functools.cache
    def halves(cls):
        """A folder with the halves of the recording, `first` and `second`, and the sorting `a` of the first with its templates."""
        folder = cls.place / "halves"
        samples = (cls.recording / "traces.raw").read_bytes()
        for name, part in (("first", samples[:len(samples) // 2]), ("second", samples[len(samples) // 2:])):
            shutil.copytree(cls.recording, folder / name)
            (folder / name / "traces.raw").write_bytes(part)
        made = run("sort", folder / "first", "--save-templates", folder / "rig.templates", "-o", folder / "a")
        assert made.returncode == 0, made.stderr
        assert "found by given templates" not in made.stdout
        return folder

    def units(self, path):
        """Returns {unit: times in seconds}."""
        table = self.folder / "spikes.tsv"
        self.ok("convert", path, table, "--overwrite")
        times = {}
        for line in table.read_text().splitlines():
            if line[0].isdigit():
                time, unit = line.split("\t")
                times.setdefault(unit, []).append(float(time))
        return times

    @needs_full_speed
    def test_finds_the_units_on_any_number_of_threads(self):
        contents = []
        for threads in ("1", "2"):
            out = self.folder / threads
            text = self.ok("sort", self.recording, "--threads", threads, "-o", out).stdout
            self.assertIn("masks from detection", text)
            contents.append({file.name: file.read_bytes() for file in out.rglob("*")
                             if file.is_file() and file.name not in ("run.json", "result.json", "report.html")})
        truth, found = self.units(self.recording / "truth.npz"), self.units(self.folder / "1/spikes.npz")
        accuracy = accuracies(truth, found)

        self.assertEqual(contents[0], contents[1])
        self.assertIn("templates.npy", contents[0])
        self.assertIn(f"dat_path = '{self.recording / 'traces.raw'}'", contents[0]["params.py"].decode())
        header, *rows = [line.split("\t") for line in contents[0]["units.tsv"].decode().splitlines()]
        snr = [float(row[header.index("snr")]) for row in rows]
        self.assertGreater(sorted(snr)[-6], 8)  # true units have 8.1 and more before the filter
        self.assertEqual(len(truth), 6)
        # The worst unit of the first eight seeds has 0.878, that of this one 0.953; overlaps cost the rest.
        self.assertGreater(accuracy[0], 0.87, accuracy)

    @needs_plain_memory
    def test_takes_memory_for_spikes_and_not_for_samples(self):
        found = {}
        # From 9 s on there are as many excerpts for the noise as there ever are.
        for seconds in (10, 20):
            made = self.folder / f"rec{seconds}"
            self.ok("simulate", "recording", "--channels", "16", "--units", "6", "--low-rate", "5", "--high-rate", "10",
                    "--length", f"{seconds}s", "--seed", "2", "-o", made)
            result, peak = run_for_peak("sort", made, "--threads", "1", "--kept-traces", "none", "-o", f"{made}.out")
            self.assertEqual(result.returncode, 0, result.stderr)
            found[seconds] = peak
        more = (found[20] - found[10]) / (10 * 16)
        # Traces that are kept would be 64,000 bytes a second and channel.
        self.assertLess(more, 15000)

        self.ok("sort", self.folder / "rec10", "--threads", "2", "-o", self.folder / "kept.out")
        self.assertEqual(*({name: content for name, content in state(self.folder / out).items() if name not in ("run.json", "result.json", "report.html")}
                           for out in ("rec10.out", "kept.out")))

    def test_other_commands_read_what_it_writes(self):
        self.ok("sort", self.recording, "--max-iterations", "5", "-o", self.folder / "out")

        described = json.loads(self.ok("info", self.folder / "out/spikes.npz", "--json").stdout)
        self.assertEqual(described["span_s"], [0, 20])
        self.ok("episodes", self.folder / "out/spikes.npz", "--max-size", "2", "-o", self.folder / "chains")
        # The folder is read by its spikes.
        self.ok("episodes", self.folder / "out", "--max-size", "2", "-o", self.folder / "of_folder")
        for name in ("circuit.tsv", "episodes.tsv"):
            self.assertEqual((self.folder / "of_folder" / name).read_bytes(), (self.folder / "chains" / name).read_bytes())
        record = json.loads((self.folder / "out/run.json").read_text())
        self.assertTrue(record["input"]["path"].endswith("traces.raw"))
        self.assertEqual(record["input"]["bytes"], 2 * 32 * 20 * 30000)
        self.assertEqual(len(record["input"]["more_files"]), 2)
        self.assertEqual([record["parameters"][name] for name in ("reference", "filter_order", "whiten")], ["none", 3, False])

    def test_times_are_by_the_clock_of_the_recording(self):
        late = self.folder / "late"
        shutil.copytree(self.recording, late)
        about = json.loads((late / "binary.json").read_text())
        about["kwargs"]["t_starts"] = [12.5]
        (late / "binary.json").write_text(json.dumps(about))
        options = ("--stages", "cluster", "--max-iterations", "1", "--drift", "rigid")

        self.ok("sort", self.recording, *options, "-o", self.folder / "usual")
        said = self.ok("sort", late, *options, "-o", self.folder / "out").stderr

        self.assertIn("Spike times are those of the recording's clock, like those of its events and trials: its first sample is at 12.500000 s.", said)
        usual, found = (self.units(self.folder / name / "spikes.npz") for name in ("usual", "out"))
        self.assertEqual({unit: [round(time + 12.5, 6) for time in times] for unit, times in usual.items()},
                         {unit: [round(time, 6) for time in times] for unit, times in found.items()})
        self.assertEqual(json.loads(self.ok("info", self.folder / "out/spikes.npz", "--json").stdout)["span_s"], [12.5, 32.5])
        whole = self.units(self.folder / "out/phy")  # in whole samples
        self.assertLess(max(abs(a - b) for unit in found for a, b in zip(found[unit], whole[unit], strict=True)), 1 / 30000)
        first = [float((self.folder / name / "motion.tsv").read_text().splitlines()[1].split()[0]) for name in ("usual", "out")]
        self.assertEqual(first, [0.5, 13])
        self.assertEqual(json.loads(self.ok("info", late, "--json").stdout)["begin_s"], 12.5)
        self.assertIn("begins at      12.5 s", self.ok("info", late).stdout)
        # The page that is made again has the same times.
        self.ok("report", self.folder / "out", "-o", self.folder / "page.html")
        self.assertEqual((self.folder / "page.html").read_bytes(), (self.folder / "out/report.html").read_bytes())

    def test_steps_are_numbered(self):
        short = self.folder / "short"
        shutil.copytree(self.recording, short)
        (short / "traces.raw").write_bytes((short / "traces.raw").read_bytes()[:2 * 32 * 5 * 30000])
        for options, steps in ((("--stages", "cluster", "--max-iterations", "1"), 4), (("--drift", "none"), 4)):
            said = self.ok("sort", short, *options, "--progress", "plain", "-o", self.folder / str(options[1])).stderr
            numbers = [tuple(map(int, found)) for found in re.findall(r"^step (\d+) of (\d+), \w", said, re.MULTILINE)]
            self.assertEqual(numbers, sorted(numbers))
            self.assertEqual(set(numbers), {(step, steps) for step in range(1, steps + 1)}, said)

    def test_takes_raw_samples_and_what_decides_on_spikes(self):
        raw = self.file("r.dat", (self.recording / "traces.raw").read_bytes()[:2 * 32 * 2 * 30000])
        layout = ("--sample-rate", "30000", "--channels", "32", "--gain", "0.195", "--probe", self.recording / "probe.json")

        # Templates would find the same spikes again at ten times the cost.
        def found(*options):
            document = json.loads(self.ok("sort", raw, *layout, "--stages", "cluster", "--max-iterations", "1", "--json",
                                          *options).stdout)
            return document["run"]["input"]["spikes"], document["units"], document["iterations"]

        usual = found()
        self.assertGreater(usual[0], 50)
        self.assertEqual(found("--low-corner", "300", "--high-corner", "6000", "--weak-threshold", "2",
                               "--strong-threshold", "4.5", "--sign", "negative", "--reference", "none", "--neighbours", "30um",
                               "--filter-order", "3", "--before", "500us", "--after", "800us"), usual)
        self.assertLess(found("--strong-threshold", "20")[0], usual[0])
        for options in (("--low-corner", "900"), ("--high-corner", "2000"), ("--filter-order", "1"), ("--whiten",),
                        ("--weak-threshold", "3.5"), ("--sign", "both"), ("--reference", "median"), ("--neighbours", "500um"),
                        ("--before", "300us"), ("--after", "500us"), ("--features-per-channel", "2")):
            self.assertNotEqual(found(*options), usual, options)

    def test_dead_channels_have_no_part_in_the_median(self):
        samples = array.array("h", bytes(2 * 64 * 30000))
        draw = random.Random(1)
        for at in range(len(samples)):
            samples[at] = 0 if 10 <= at % 64 < 14 else int(draw.gauss(0, 40))
        raw = self.file("d.dat", samples.tobytes())
        result = self.ok("sort", raw, "--sample-rate", "30000", "--channels", "64", "--gain", "0.195", "--stages",
                         "cluster", "--max-iterations", "1", "--json")
        self.assertIn("4 of 64 channels show no noise", result.stderr)
        self.assertIn(": 10, 11, 12, 13.", result.stderr)
        # Only chance crossings remain. Dead channels used to get the median of the others, and some 130 crossings a
        # second.
        self.assertLess(json.loads(result.stdout)["run"]["input"]["spikes"], 60)

    @needs_full_speed
    def test_a_model_is_of_its_recordings_components(self):
        samples = (self.recording / "traces.raw").read_bytes()
        half = 2 * 32 * 30000 * 10
        layout = ("--sample-rate", "30000", "--channels", "32", "--gain", "0.195", "--probe", self.recording / "probe.json")
        first, second = self.file("first.dat", samples[:half]), self.file("second.dat", samples[half:])
        model = self.folder / "model.npz"
        # Spikes that a model assigns are not matched to templates, so both halves are clustered only.
        self.ok("sort", first, *layout, "--stages", "cluster", "--save-model", model, "-o", self.folder / "first")
        self.ok("sort", second, *layout, "--model", model, "-o", self.folder / "second")
        truth = self.units(self.recording / "truth.npz")
        early, late = ({unit: [time - at for time in times if at <= time < at + 10] for unit, times in truth.items()}
                       for at in (0, 10))
        known, found = (self.units(self.folder / half / "spikes.npz") for half in ("first", "second"))
        # Units that were sorted well in the first half are sorted well in the second.
        for before, after in zip(accuracies(early, known), accuracies(late, found)):
            self.assertGreater(after, before - 0.05)
        # The same neurons have the same numbers.
        names = [{unit: max(truth, key=lambda true: matched(truth[true], times)) for unit, times in units.items()}
                 for units, truth in ((known, early), (found, late))]
        large = {unit for unit, times in found.items() if len(times) > 50}
        self.assertGreater(len(large), 4)
        self.assertEqual({unit: names[0].get(unit) for unit in large}, {unit: names[1][unit] for unit in large})

        features = self.folder / "features.npz"
        self.ok("simulate", "features", "--spikes", "500", "--units", "4", "--channels", "32", "-o", features)
        other = self.folder / "other.npz"
        self.ok("sort", features, "--save-model", other)
        for arguments, words in (
                ((second, *layout, "--low-corner", "500", "--model", model), ("second.dat", "model.npz", "300", "500")),
                ((second, "--sample-rate", "30000", "--channels", "16", "--model", model), ("32 channels", "16 channels")),
                ((second, *layout[:-2], "--model", model), ("whose channel 2 is at",)),
                ((second, *layout, "--model", other), ("other.npz", "components of its features")),
                ((features, "--model", model), ("model.npz", "features.npz", "components of a recording"))):
            self.refused("sort", *arguments, says=words)

    def test_says_why_a_very_short_recording_has_no_units(self):
        short = self.file("s.dat", (self.recording / "traces.raw").read_bytes()[:2 * 32 * 3000])
        result = self.ok("sort", short, "--sample-rate", "30000", "--channels", "32", "--gain", "0.195", "--probe",
                         self.recording / "probe.json")
        self.assertRegex(result.stderr, "No unit was found: no cluster of the \\d+ spikes|There are \\d+ spikes, which are too few")

    def test_names_what_is_wrong(self):
        cut = self.folder / "cut"
        shutil.copytree(self.recording, cut)
        (cut / "traces.raw").write_bytes((cut / "traces.raw").read_bytes()[:-10])
        silence = self.file("silence.dat", array.array("h", [0] * 4 * 30000).tobytes())
        raw = ("--sample-rate", "30000", "--channels", "4")
        header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3000, 4), }".ljust(127) + b"\n"
        saved = self.file("saved.dat", header + bytes(4 * 4 * 3000))
        features = self.file("a.fet.1", "2\n1 2\n3 4\n")
        out = ("-o", self.folder / "out")
        for arguments, words in (
                ((cut,), ("traces.raw", "found 54 bytes", "cut")),
                ((silence, *raw), ("silence.dat", "contains no spikes", "4.5", "no noise")),
                ((self.recording, "--strong-threshold", "90"), ("contains no spikes", "90")),
                ((saved, *raw), ("saved.dat", "array of numpy", "int16")),
                ((silence, "--channels", "4"), ("silence.dat", "sample rate")),
                ((silence,), ("silence.dat", "number of channels")),
                ((silence, *raw, "--high-corner", "200"), ("200",)),
                ((silence, *raw, "--filter-order", "0"), ("--filter-order", "'0'")),
                ((silence, *raw, "--filter-order", "9"), ("--filter-order", "'9'", "at most 8")),
                ((silence, *raw, "--before", "1s"), ("before its peak", "20 ms")),
                ((silence, *raw, "--after", "8"), ("--after", "8")),
                ((silence, *raw, "--whiten"), ("silence.dat", "contains no spikes")),
                ((silence, *raw, "--weak-threshold", "5"), ("5", "4.5")),
                ((silence, *raw, "--sign", "up"), ("--sign", "up", "negative")),
                ((silence, *raw, "--reference", "mean"), ("--reference", "mean", "median")),
                ((silence, *raw, "--features-per-channel", "99"), ("99 features",)),
                ((self.recording, "--mask", "mad"), ("a recording", "--mask does not apply")),
                ((self.recording, "--sample-rate", "20000"), ("rec", "states its rate")),
                ((features, "--strong-threshold", "4", "--probe", features), ("features", "--strong-threshold", "--probe")),
                ((self.folder / "none", "--drift", "none"), ("none", "No such file")),
                ((features, "--whiten", "--filter-order", "2"), ("features", "--whiten", "--filter-order")),
        ):
            with self.subTest(arguments):
                self.refused("sort", *arguments, *out, says=words)

    @needs_full_speed
    def test_templates_find_the_same_units_in_batch_and_live(self):
        """The second half of the recording by the templates of the first."""
        halves = self.halves()
        rig, second = halves / "rig.templates", halves / "second"
        text = self.ok("sort", second, "--templates", rig, "-o", self.folder / "b", "--threads", "1").stdout
        self.ok("sort", second, "--templates", rig, "-o", self.folder / "c", "--threads", "3")

        self.assertIn("found by given templates", text)
        spikes = self.folder / "b/spikes.npz"
        self.assertEqual(spikes.read_bytes(), (self.folder / "c/spikes.npz").read_bytes())
        truth = {unit: [time - 10 for time in times if time >= 10]
                 for unit, times in self.units(self.recording / "truth.npz").items()}
        found = self.units(spikes)
        self.assertGreater(accuracies(truth, found)[0], 0.85)
        # Unit 1 is the same neuron in both.
        before = self.units(halves / "a/spikes.npz")
        nearest = {unit: max(truth, key=lambda one: matched(truth[one], found[unit])) for unit in found}
        all_true = self.units(self.recording / "truth.npz")
        self.assertEqual(nearest, {unit: max(all_true, key=lambda one: matched(all_true[one], before[unit]))
                                   for unit in before})
        record = json.loads((self.folder / "b/run.json").read_text())
        self.assertEqual(record["parameters"]["templates"], str(rig))
        self.assertIn("rig.templates", json.dumps(record["more_input"] if "more_input" in record else record))

        armed = self.file("armed.txt", "1 0-20ms 2\n2 0-20ms 1\n")
        shared = ("--episodes", armed, "--window", "3s", "--min-count", "20", "--delays", "0-5ms")
        batch, live = (self.ok("live", source, *templates, "--speed", "max", *shared).stdout
                       for source, templates in ((spikes, ()), (second, ("--templates", rig))))
        self.assertEqual(live, batch)
        self.assertIn('"type":"window"', live)
        self.assertIn('"type":"detection"', live)
        gain = json.loads((second / "binary.json").read_text())["kwargs"]["gain_to_uV"][0]
        with (second / "traces.raw").open("rb") as samples:
            piped = self.ok("live", "-", "--templates", rig, "--gain", gain, "--window-budget", "none", *shared,
                            stdin=samples).stdout
        # Samples that arrive do not wait for windows to be mined, so the order of the two kinds depends on the machine.
        for kind in ("window", "detection"):
            self.assertEqual(*([line for line in text.splitlines() if f'"type":"{kind}"' in line] for text in (piped, batch)))

    @needs_full_speed
    def test_units_that_templates_lack_are_reported_apart(self):
        """Of six neurons, two fire in the second half only."""
        generator = random.Random(4)
        spikes = []
        for unit in range(6):
            time = 15.0 if unit in (1, 4) else 0.0
            while (time := time + 0.003 + generator.expovariate(12)) < 29.9:
                spikes.append((time, unit))
        late = self.file("late.tsv", "time_s\tunit\n" + "".join(f"{time:.6f}\tn{unit}\n" for time, unit in sorted(spikes)))
        self.ok("simulate", "recording", "--spikes", late, "--channels", "16", "--seed", "5", "-o", self.folder / "rec")
        samples = (self.folder / "rec/traces.raw").read_bytes()
        half = 15 * 30000 * 16 * 2
        for name, part in (("first", samples[:half]), ("second", samples[half:])):
            shutil.copytree(self.folder / "rec", self.folder / name)
            (self.folder / name / "traces.raw").write_bytes(part)
        rig, second = self.folder / "rig.templates", self.folder / "second"
        known = len(table(self.sorted("first", "--save-templates", rig) / "units.tsv"))
        self.assertEqual(known, 4)
        both = self.folder / "both.templates"
        made = self.ok("sort", second, "--templates", rig, "--save-templates", both, "-o", self.folder / "b", "--threads", "1")
        self.ok("sort", second, "--templates", rig, "-o", self.folder / "c", "--threads", "2")
        for name in ("spikes.npz", "units.tsv", "merges.tsv"):
            self.assertEqual((self.folder / "b" / name).read_bytes(), (self.folder / "c" / name).read_bytes())
        self.assertIn("2 new units are not of the templates", made.stdout)
        origins = {row["unit"]: row["origin"] for row in table(self.folder / "b/units.tsv")}
        self.assertEqual(origins, {"1": "templates", "2": "templates", "3": "templates", "4": "templates", "5": "new", "6": "new"})
        times = self.units(self.folder / "rec/truth.npz")
        truth = {unit: [time - 15 for time in times[unit] if time > 15] for unit in ("n1", "n4")}
        found = self.units(self.folder / "b/spikes.npz")
        self.assertGreater(accuracies(truth, {unit: found[unit] for unit in ("5", "6")})[0], 0.95)

        session = self.folder / "a.session"
        live = self.ok("live", second, "--templates", rig, "--labels", "all", "--speed", "max", "--window", "3s", "--min-count", "20",
                       "--record", session, "--to", self.folder / "lines.jsonl")
        said = re.compile(r"[\d,]+ detections are explained by no template, \d+ per minute")
        self.assertEqual(said.findall(live.stderr), said.findall(made.stderr))
        self.assertEqual(len(said.findall(live.stderr)), 1)
        self.assertEqual(self.units(session), {unit: times for unit, times in found.items() if unit not in ("5", "6")})
        # Of the first half, every spike is explained.
        self.assertNotIn("explained by no", self.ok("sort", self.folder / "first", "--templates", rig, "-o", self.folder / "d").stderr)
        self.assertNotIn("new", {row["origin"] for row in table(self.folder / "d/units.tsv")})

        # The saved templates are those of the four units as they were, and of the two new ones.
        before, after = entries_of(rig), entries_of(both)
        for name in ("spatial.npy", "temporal.npy", "norms.npy", "least_scores.npy", "sizes.npy"):
            numbers, more = (values_of(entries[name]) for entries in (before, after))
            self.assertEqual(more[:len(numbers)], numbers, name)
        again = self.ok("sort", second, "--templates", both, "-o", self.folder / "e")
        self.assertNotIn("explained by no", again.stderr)
        self.assertEqual([row["origin"] for row in table(self.folder / "e/units.tsv")], 6 * ["templates"])
        found = self.units(self.folder / "e/spikes.npz")
        self.assertGreater(accuracies(truth, {unit: found[unit] for unit in ("5", "6")})[0], 0.95)

    def sorted(self, recording, *options):
        self.ok("sort", self.folder / recording, *options, "-o", self.folder / f"sorted_{recording}")
        return self.folder / f"sorted_{recording}"

    @needs_full_speed
    def test_units_keep_the_labels_of_their_templates(self):
        """A copy of the templates in which unit 1 was labelled by hand."""
        halves = self.halves()
        entries = entries_of(halves / "rig.templates")
        rows = table(halves / "a/units.tsv")
        labels, reasons = ([row[name] for row in rows] for name in ("label", "reason"))
        self.assertEqual(entries["label.npy"], npy_of_texts(labels))
        self.assertEqual(entries["reason.npy"], npy_of_texts(reasons))

        entries["label.npy"] = npy_of_texts(["mua", *labels[1:]])
        entries["reason.npy"] = npy_of_texts(["by hand", *reasons[1:]])
        write_entries(self.folder / "mine.templates", entries)
        sorts = "sort", halves / "second", "-o", self.folder / "b", "--overwrite", "--templates"
        self.ok(*sorts, self.folder / "mine.templates")
        unit = table(self.folder / "b/units.tsv")[0]
        self.assertEqual((unit["label"], unit["reason"]), ("mua", "by hand"))
        lives = "live", halves / "second", "--speed", "max", "--window", "3s", "--min-count", "20", "--templates"
        kept = self.ok(*lives, self.folder / "mine.templates")
        self.assertRegex(kept.stderr, r"Of \d units, the \d labelled good are used; --labels all uses every unit")
        self.assertEqual(kept.stdout, self.ok("live", self.folder / "b/spikes.npz", *lives[2:-1]).stdout)
        every = self.ok(*lives, self.folder / "mine.templates", "--labels", "all")
        self.assertNotIn("used", every.stderr)
        self.assertEqual(every.stdout, self.ok(*lives, halves / "rig.templates").stdout)
        armed = self.file("armed.txt", "1 0-20ms 2\n")
        self.refused(*lives, self.folder / "mine.templates", "--episodes", armed, says=("unit 1", "mua", "--labels"))

        del entries["label.npy"], entries["reason.npy"]
        version = entries["templates_version.npy"]
        entries["templates_version.npy"] = version[:-8] + (1).to_bytes(8, "little")
        self.assertEqual(int.from_bytes(version[-8:], "little"), 2)
        write_entries(self.folder / "old.templates", entries)
        self.assertEqual(self.ok(*lives, self.folder / "old.templates").stdout, every.stdout)
        self.ok(*sorts, self.folder / "old.templates")
        self.assertNotEqual(table(self.folder / "b/units.tsv")[0]["reason"], "by hand")

        entries["templates_version.npy"] = version
        for name, texts, says in (("label", ["bad"] * len(labels), ("bad", "good, mua")), ("reason", ["a\tb"] * len(labels), ("a\\x09b", "printable"))):
            entries |= {"label.npy": npy_of_texts(labels), "reason.npy": npy_of_texts(reasons)}
            entries[f"{name}.npy"] = npy_of_texts(texts)
            write_entries(self.folder / "bad.templates", entries)
            self.refused(*lives, self.folder / "bad.templates", says=("bad.templates", f"'{name}'", *says))

    @needs_full_speed
    def test_plays_samples_at_a_speed_and_states_the_delay(self):
        rig = self.halves() / "rig.templates"
        counts = self.folder / "counts.jsonl"
        out = self.ok("live", self.recording, "--templates", rig, "--speed", "10", "--window", "5s", "--delays", "0-5ms",
                      "--min-count", "20", "--to", counts)
        self.assertRegex(out.stderr, r"found after their last sample: median \d+\.\d\d ms, 99 % .*, 99.9 % ")
        self.assertGreater(json.loads(counts.read_text().splitlines()[-1])["spikes"], 1000)

    def test_refuses_templates_that_do_not_fit(self):
        foreign = self.folder / "foreign.templates"
        foreign.write_text("no templates\n")
        self.refused("sort", self.recording, "--templates", foreign, "-o", self.folder / "out", says="foreign.templates")
        self.assertFalse((self.folder / "out").exists())
        self.refused("live", self.recording, "--templates", foreign, says="foreign.templates")
        self.refused("live", "lsl:spikes", "--templates", foreign, says="--templates")
        self.refused("sort", self.recording, "--templates", foreign, "--low-corner", "200", says="--low-corner")
        existing = self.file("rig.templates", "")
        self.refused("sort", self.recording, "--save-templates", existing, says=("rig.templates", "exists"))


if __name__ == "__main__":
    unittest.main()
