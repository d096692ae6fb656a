"""`spikeweave live --record`: sessions as Python reads them, converted, verified, killed and resumed."""

import json
import signal
import sqlite3
import struct
import subprocess
import time
import unittest

from support import SPIKEWEAVE, CliTest, page_data, query, run

SEARCH = ("--delays", "4-6ms", "--min-count", "10", "--max-size", "3", "--threads", "1")


def lines_of(spikes):
    return "".join(json.dumps({"t_us": time, "unit": unit}) + "\n" for time, unit in spikes)


class Sessions(CliTest):
    def setUp(self):
        super().setUp()
        self.session = self.folder / "today.session"
        self.armed = self.file("armed.txt", "n0 4-6ms n1 4-6ms n2 4-6ms n3\n")
        data = self.folder / "s.tsv"
        self.ok("simulate", "sym26", "--length", "6s", "--seed", "1", "-o", data)
        self.spikes = []
        for line in data.read_text(encoding="utf-8").splitlines():
            time, _, unit = line.partition("\t")
            if time[:1].isdigit():
                self.spikes.append((round(float(time) * 1e6), unit))
        self.stream = self.file("s.jsonl", lines_of(self.spikes) + '{"watermark_us":6000000}\n')
        self.analysis = ("--episodes", self.armed, "--window", "2s", "--hop", "1s", *SEARCH)

    def record(self):
        text = self.ok("live", self.stream, *self.analysis, "--record", self.session).stdout
        return [json.loads(line) for line in text.splitlines()]

    def test_python_reads_what_came_and_what_was_found(self):
        results = self.record()

        units = [name for name, in query(self.session, "SELECT name FROM unit ORDER BY id")]
        came = [(time, units[unit]) for blob, in query(self.session, "SELECT spikes FROM input ORDER BY seq")
                for time, unit in struct.iter_unpack("<qI", blob)]
        self.assertEqual(came, self.spikes)
        detections = [list(struct.unpack(f"<{len(blob) // 8}q", blob))
                      for blob, in query(self.session, "SELECT times FROM detection ORDER BY seq")]
        self.assertEqual(detections, [one["spikes_us"] for one in results if one["type"] == "detection"])
        self.assertGreater(len(detections), 10)
        windows = [(begin, [[count, [one for one in chain if isinstance(one, str)]] for count, chain in json.loads(table)])
                   for begin, table in query(self.session, "SELECT begin_us, episodes FROM window ORDER BY seq")]
        self.assertEqual([(begin, sorted(table)) for begin, table in windows],
                         [(one["t_us"][0], sorted([chain["count"], chain["units"]] for chain in one["episodes"]))
                          for one in results if one["type"] == "window"])
        self.assertEqual(query(self.session, "PRAGMA integrity_check"), [("ok",)])
        stats = json.loads(query(self.session, "SELECT value FROM meta WHERE name = 'counts'")[0][0])
        self.assertEqual(stats["accepted"], len(self.spikes))

    def test_a_session_is_a_spike_file(self):
        self.record()
        converted = self.folder / "spikes.tsv"

        self.ok("convert", self.session, converted)
        about = json.loads(self.ok("info", self.session, "--json").stdout)

        rows = [line.split("\t") for line in converted.read_text(encoding="utf-8").splitlines() if line[:1].isdigit()]
        self.assertEqual([(round(float(time) * 1e6), unit) for time, unit in rows], self.spikes)
        self.assertEqual(about["format"], "session")

    def test_verification_says_the_first_difference(self):
        self.record()

        text = self.ok("live", self.session, "--verify").stdout
        self.assertEqual(json.loads(text)["windows"], 5)
        database = sqlite3.connect(self.session)
        database.execute("UPDATE window SET threshold = 11 WHERE seq = 3")
        database.commit()
        database.close()
        failed = run("live", self.session, "--verify")

        self.assertEqual(failed.returncode, 2)
        self.assertRegex(failed.stderr, r"^spikeweave: error: '.*today\.session': window 3: its digest is \w{32}, but what it holds "
                                        r"has \w{32}\n$")

    def test_killed_and_resumed_it_goes_on(self):
        half = len(self.spikes) // 2
        command = [SPIKEWEAVE, "live", "-", *map(str, self.analysis), "--record", str(self.session)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            process.stdin.write(lines_of(self.spikes[:half]).encode())
            process.stdin.flush()
            for _ in range(1000):
                time.sleep(0.02)
                if self.session.exists() and self.recorded_spikes() == half:
                    break
            process.send_signal(signal.SIGKILL)
        self.assertEqual(self.recorded_spikes(), half)
        self.ok("convert", self.session, self.folder / "half.tsv")
        self.assertEqual(sum(line[:1].isdigit() for line in (self.folder / "half.tsv").read_text(encoding="utf-8").splitlines()), half)
        rest = lines_of(self.spikes[half:]) + '{"watermark_us":6000000}\n'
        result = run("live", "-", "--resume", self.session, input=rest, stdin=None)

        self.assertEqual(result.returncode, 1, result.stderr)  # what was sent meanwhile is lost
        self.assertIn("1 message was lost", result.stderr)
        self.assertEqual(self.recorded_spikes(), len(self.spikes))
        self.ok("live", self.session, "--verify")
        resumed = query(self.session, "SELECT digest, times FROM detection LEFT JOIN window USING (seq)")
        windows = query(self.session, "SELECT number, spikes, episodes FROM window")
        gaps = [gap for gap, in query(self.session, "SELECT has_gap FROM window")]
        self.session.unlink()
        self.record()
        self.assertEqual(windows, query(self.session, "SELECT number, spikes, episodes FROM window"))
        whole = query(self.session, "SELECT digest, times FROM detection LEFT JOIN window USING (seq)")
        self.assertEqual([times for _, times in resumed], [times for _, times in whole])
        self.assertIn(1, gaps)

    def recorded_spikes(self):
        try:
            return query(self.session, "SELECT coalesce(sum(length(spikes)), 0) FROM input")[0][0] // 12
        except sqlite3.OperationalError:  # it is being made
            return None

    def test_a_page_plays_it(self):
        self.record()
        page, other = self.folder / "page.html", self.folder / "other.html"

        self.ok("report", self.session, "-o", page)

        data = json.loads(page_data(page.read_text(encoding="utf-8")))
        self.assertEqual((data["kind"], data["has_ended"], data["epochs"][0]["number"]), ("session", True, len(self.spikes)))
        self.assertEqual([(one["begin_us"], one["spikes"]) for one in data["windows"]],
                         query(self.session, "SELECT begin_us, spikes FROM window ORDER BY seq"))
        self.assertEqual(len(data["detections"]["times_us"]), query(self.session, "SELECT count(*) FROM detection")[0][0])
        self.ok("episodes", self.folder / "s.tsv", *SEARCH, "-o", self.folder / "out")
        self.refused("report", self.session, "-o", page, says="exists")
        self.refused("report", self.session, "-o", other, "--as", "series", says="--as is for a page of several results")
        self.refused("report", self.session, self.folder / "out", "-o", other, says=("today.session", "no result of spikeweave episodes"))
        self.refused("report", self.stream, "-o", other, says=("s.jsonl", "no result of spikeweave"))
        self.session.write_bytes(self.session.read_bytes()[:5000])
        self.refused("report", self.session, "-o", other, says="today.session")

    def test_errors_are_one_line(self):
        self.record()

        for arguments, expected in (
            ((self.stream, "--record", self.session), r"today\.session': exists already, expected a new file"),
            ((self.stream, "--resume", self.session), r"today\.session': is a session that was ended, expected an"),
            ((self.session, "--resume", self.session), r"--resume: only a stream goes on"),
            ((self.stream, "--verify"), r"s\.jsonl': file is not a database"),
            ((self.session, "--verify", "--record", "x"), r"--verify"),
        ):
            failed = run("live", *arguments)
            self.assertEqual(failed.returncode, 2, failed.stderr)
            self.assertRegex(failed.stderr, expected)
            self.assertEqual(failed.stderr.count("\n"), 1, failed.stderr)


if __name__ == "__main__":
    unittest.main()
