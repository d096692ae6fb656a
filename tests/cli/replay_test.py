"""spikeweave replay: chains at other speeds and in reverse."""

import csv
import json
import random
import unittest

from support import CliTest

STEP = 0.05


def spikes_of(begin, step, number=40):
    """Events in which a, b, c, d and e fire one after another, one a second."""
    return [(begin + i + 0.3 + unit * step, name) for i in range(number) for unit, name in enumerate("abcde")]


class ReplayCase(CliTest):
    def setUp(self):
        super().setUp()
        # The animal runs from 0 to 40 s and sleeps from 50 s on, when all is ten times as fast, and from 100 s on in reverse.
        spikes = spikes_of(0, STEP) + spikes_of(50, STEP / 10) + [(190 - t, name) for t, name in spikes_of(50, STEP / 10)]
        self.data = self.file("day.tsv", "time\tunit\n" + "".join(f"{t:.6f}\t{name}\n" for t, name in sorted(spikes)))
        self.chains = self.file("chains.txt", "a 40-60ms b 40-60ms c 40-60ms d 40-60ms e\n")
        self.sleep = self.file("sleep.tsv", "begin\tend\n50\t95\n")
        self.rest = self.file("rest.tsv", "begin\tend\n96\t145\n")

    def rows(self, folder, name="replay.tsv"):
        with (self.folder / folder / name).open(encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))

    def replay(self, *arguments, to="out"):
        self.ok("replay", self.chains, self.data, "--seed", "1", *arguments, "-o", self.folder / to)
        return self.rows(to)


class SharedRates(ReplayCase):
    def test_are_told_if_surrogates_do_not_keep_them(self):
        draw = random.Random(1)
        spikes = set()
        for burst in range(60):  # of 40 ms, in which all units fire
            spikes |= {(round(burst + draw.uniform(0, 0.04), 6), unit) for unit in "abcdefgh" for _ in range(5)}
        data = self.file("bursts.tsv", "time\tunit\n" + "".join(f"{t:.6f}\t{unit}\n" for t, unit in sorted(spikes)))
        chains = self.file("one.txt", "a 0-20ms b 0-20ms c\n")
        result = self.ok("replay", chains, data, "--null", "surrogates", "--surrogates", "50")
        self.assertIn("rates rise and fall together within 200 ms", result.stderr)
        self.assertIn("--null identities", result.stderr)
        self.assertNotIn("rates rise", self.ok("replay", chains, data, "--surrogates", "50").stderr)


class Replay(ReplayCase):
    def test_finds_a_compressed_chain_in_sleep(self):
        forward, reverse = self.replay("--epochs", self.sleep)

        self.assertEqual((forward["units"], forward["direction"], forward["significant"]), ("a→b→c→d→e", "forward", "yes"))
        self.assertTrue(0.08 < float(forward["scale"]) < 0.13, forward["scale"])
        self.assertEqual((forward["count"], forward["events_significant"], forward["events_scored"]), ("40", "40", "40"))
        self.assertLess(float(forward["events_q"]), 1e-9)
        self.assertEqual((reverse["direction"], reverse["significant"], reverse["events_significant"]), ("reverse", "no", "0"))
        for event in self.rows("out", "events.tsv"):
            self.assertEqual((event["active"], event["tau"]), ("5", "1"))
            self.assertTrue(50 <= float(event["begin_s"]) < float(event["end_s"]) <= 95)
        run = json.loads((self.folder / "out/run.json").read_text(encoding="utf-8"))
        events = self.rows("out", "events.tsv")
        self.assertEqual(run["replay"], {"chains": 1, "events": 40, "events_s": [[float(event["begin_s"]), float(event["end_s"])] for event in events]})
        self.assertEqual((run["parameters"]["chains"], run["parameters"]["null"]), (str(self.chains), "identities"))

    def test_prints_what_the_files_have_as_json(self):
        tests = self.replay("--epochs", self.sleep)
        events = self.rows("out", "events.tsv")

        document = json.loads(self.ok("replay", self.chains, self.data, "--seed", "1", "--epochs", self.sleep, "--json").stdout)

        self.assertEqual((document["run"]["replay"]["chains"], document["run"]["replay"]["events"]), (1, 40))
        self.assertEqual(document["chains"], [{"chain": 1, "units": ["a", "b", "c", "d", "e"], "delays_ms": [[40, 60]] * 4}])
        for found, rows in ((document["tests"], tests), (document["events"], events)):
            self.assert_same(found, rows)

    def test_finds_reverse_replay(self):
        """The recording ends within the last event, which is then too short to be found."""
        forward, reverse = self.replay("--epochs", self.rest)
        self.assertEqual((forward["significant"], reverse["significant"], reverse["count"]), ("no", "yes", "39"))

    def test_takes_the_result_of_episodes(self):
        self.data = self.chain_file()
        self.chains = self.folder / "chains"
        self.ok("episodes", self.data, "--delays", "4-6ms", "--min-count", "40", "-o", self.chains)
        events = self.file("events.tsv", "".join(f"{i / 10}\t{i / 10 + 0.04}\n" for i in range(50)))
        forward, _ = self.replay("--events", events, "--scales", "1:1:1")
        self.assertEqual((forward["units"], forward["delays"], forward["count"]), ("a→b→c", "(4,6] (4,6] ms", "50"))

    def test_takes_given_events(self):
        events = self.file("events.tsv", "begin\tend\n" + "".join(f"{50 + i}.2\t{50 + i}.5\n" for i in range(20)))
        forward, _ = self.replay("--events", events, "--epochs", self.sleep)
        self.assertEqual((forward["events_scored"], forward["count"]), ("20", "20"))

    def test_warns_of_events_outside_and_of_short_chains(self):
        events = self.file("events.tsv", "1.2\t1.5\n50.2\t50.5\n")
        self.chains = self.file("chains.txt", "a 40-60ms b 40-60ms c\n")
        result = self.ok("replay", self.chains, self.data, "--events", events, "--t-start", "50s", "--surrogates", "9")
        self.assertIn("1 of 2 events are not within", result.stderr)
        self.assertIn("The longest chain has 3 units, which have 6 orders", result.stderr)
        self.assertIn("--alpha 0.05", result.stderr)
        self.assertIn("; 1 event in 89.7", result.stdout)

    def test_warns_of_too_few_shuffles(self):
        def said(number, chains=self.chains):
            return self.ok("replay", chains, self.data, "--epochs", self.sleep, "--surrogates", number).stderr

        self.assertIn("With 19 surrogates nothing can be significant at alpha 0.05: no p is below 0.05. Use at least 20.", said("19"))
        self.assertIn("No count of a chain is significant, and with 39 surrogates no single one of the 2 tested could be: 40 would be enough for any one of them", said("39"))
        self.assertNotIn("surrogates", said("40"))
        # One of six tests would need 120, but three are significant together.
        three = self.file("three.txt", "".join(" 40-60ms ".join(chain) + "\n" for chain in ("abcde", "abcd", "bcde")))
        self.assertNotIn("surrogates", said("99", three))

    def test_counts_in_all_of_the_time_with_surrogates(self):
        forward, reverse = self.replay("--epochs", self.sleep, "--null", "surrogates", "--dither", "50ms")
        self.assertEqual((forward["count"], forward["significant"], reverse["significant"]), ("40", "yes", "no"))

    def test_is_the_same_on_any_number_of_threads(self):
        self.replay("--threads", "1", to="one")
        self.replay("--threads", "3", to="three")
        for name in ("replay.tsv", "events.tsv"):
            self.assertEqual((self.folder / "one" / name).read_bytes(), (self.folder / "three" / name).read_bytes())


class Refused(ReplayCase):
    def test_chains_that_cannot_be_there(self):
        for text, says in (("a 4-6ms x\n", ("line 1", "'x'")), ("a\n", "at least two units"), ("", "no episode"), ("a 6-4ms b\n", "line 1")):
            with self.subTest(text):
                self.refused("replay", self.file("bad.txt", text), self.data, "-o", self.folder / "out", says=says)
        self.refused("replay", self.folder / "absent", self.data, says="absent")

    def test_chains_of_units_that_were_left_out(self):
        self.refused("replay", self.chains, self.data, "--max-rate", "0.5", says=("the unit a is needed", "Hz, above --max-rate"))

    def test_times_without_events(self):
        self.refused("replay", self.chains, self.data, "--event-threshold", "99", "-o", self.folder / "out", says=("no event was found", "--event-threshold"))
        for text, says in (("200\t201\n", "none of them is within"), ("1\t3\n2\t4\n", "line 2"), ("x\ty\n", "bad-events.tsv")):
            with self.subTest(text):
                self.refused("replay", self.chains, self.data, "--events", self.file("bad-events.tsv", text), says=says)

    def test_options_out_of_range(self):
        for words, says in ((("--scales", "2:1:3"), "LEAST:MOST:STEPS"), (("--scales", "0.1:1"), "0.1:1"), (("--surrogates", "0"), "--surrogates"),
                            (("--null", "none"), "identities"), (("--event-min", "2s"), "--event-max"), (("--alpha", "0.9"), "--alpha")):
            with self.subTest(words):
                self.refused("replay", self.chains, self.data, *words, says=says)

    def test_makes_no_page_of_a_result_without_the_times_of_its_events(self):
        self.replay()
        file = self.folder / "out/result.json"
        document = json.loads(file.read_text(encoding="utf-8"))
        del document["run"]["replay"]["events_s"]
        file.write_text(json.dumps(document), encoding="utf-8")
        self.refused("report", self.folder / "out", "-o", self.folder / "page.html", says=("result.json", "events_s"))
        self.assertFalse((self.folder / "page.html").exists())

    def test_replaces_only_on_request(self):
        self.replay()
        self.refused("replay", self.chains, self.data, "-o", self.folder / "out", says="exists")
        self.assertTrue((self.folder / "out/report.html").exists())
        self.replay("--overwrite", "--no-report")
        self.assertFalse((self.folder / "out/report.html").exists())


if __name__ == "__main__":
    unittest.main()
