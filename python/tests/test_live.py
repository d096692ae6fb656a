"""`live`: what it finds is what batch analysis finds, and how a run ends."""

import gc
import os
import pty
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spikeweave
from spikeweave import (
    Alarm,
    Arming,
    Chance,
    Counts,
    Detection,
    Detector,
    Epoch,
    Skipped,
    SlidingWindow,
    Stats,
    Window,
)

sys.path.insert(0, str(Path(__file__).parent))
from interruption import interrupt
from live_inputs import (
    ARMED,
    MINING,
    NAMES,
    cuts,
    events_of,
    occurrences_of,
    of_kind,
    pieces_of,
    sequence_of,
    spike_lists,
    table_of,
    table_of_slice,
)


@settings(max_examples=25, deadline=None)
@given(spike_lists, cuts, st.sampled_from(["max", 1]))
def test_live_finds_what_batch_analysis_finds(spikes, at, speed):
    sequence = sequence_of(spikes, t_stop=0.13)
    options = {"episodes": ARMED, "window": "50ms", "hop": 0.01, **MINING}

    replayed = events_of(sequence, speed="max", **options)
    names = (np.array(NAMES)[units] for _, units in pieces_of(sequence, at))
    blocks = zip((times for times, _ in pieces_of(sequence, at)), names, strict=True)
    given_blocks = events_of(blocks, speed=speed, window_budget="none", **options)

    assert [type(event) for event in replayed].count(Stats) == 1
    assert of_kind(Detection, replayed) == occurrences_of(sequence, ARMED)
    assert of_kind(Detection, given_blocks) == of_kind(Detection, replayed)
    windows = of_kind(Window, replayed)
    for one in windows:
        assert table_of(one) == table_of_slice(sequence, one.begin, one.end)
    # Blocks do not say how long the recording is, so the windows at its end are not complete.
    assert [table_of(one) for one in of_kind(Window, given_blocks)] == [
        table_of(one) for one in windows[: len(of_kind(Window, given_blocks))]
    ]
    for events in (replayed, given_blocks):
        stats = events[-1]
        assert isinstance(stats, Stats)
        assert stats.spikes == len(sequence)
        assert not stats.has_losses
        assert stats.detections == stats.triggers == len(of_kind(Detection, events))
        assert stats.windows == len(of_kind(Window, events))


def test_a_file_gives_what_its_spikes_give(sym26, tmp_path):
    spikeweave.write(tmp_path / "spikes.tsv", sym26.spikes)
    (tmp_path / "armed.txt").write_text("n0 4-6ms n1 4-6ms n2 4-6ms n3\n", encoding="utf-8")
    options = {"speed": "max", "window": "20s", "delays": "4-6ms", "min_count": 60}

    of_file = events_of(tmp_path / "spikes.tsv", episodes=tmp_path / "armed.txt", **options)
    chain = (["n0", "n1", "n2", "n3"], [(0.004, 0.006)] * 3)
    of_spikes = events_of(sym26.spikes, episodes=[chain], **options)

    assert of_kind(Detection, of_file) == of_kind(Detection, of_spikes)
    assert len(of_kind(Detection, of_file)) > 200
    assert [table_of(one) for one in of_kind(Window, of_file)] == [
        table_of(one) for one in of_kind(Window, of_spikes)
    ]


def test_files_are_written_as_by_the_command(tmp_path):
    command = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not command.exists():
        pytest.skip("the command is not part of this build")
    spikes = spikeweave.simulate.sym26(length="5s", seed=1).spikes
    spikeweave.write(tmp_path / "spikes.npz", spikes)
    (tmp_path / "armed.txt").write_text("n0 4-6ms n1\n", encoding="utf-8")
    line = ["live", tmp_path / "spikes.npz", "--speed", "max", "--episodes", tmp_path / "armed.txt"]
    line += ["--window", "1s", "--delays", "4-6ms", "--min-count", "9"]
    line += ["--to", tmp_path / "command.jsonl", "--window-table", tmp_path / "command.tsv"]
    subprocess.run([sys.executable, "-m", "spikeweave", *line], check=True, capture_output=True)

    events_of(
        spikes,
        speed="max",
        episodes=tmp_path / "armed.txt",
        window="1s",
        delays="4-6ms",
        min_count=9,
        to=str(tmp_path / "package.jsonl"),
        window_table=tmp_path / "package.tsv",
    )

    for ending in ("jsonl", "tsv"):
        by_command = (tmp_path / f"command.{ending}").read_bytes()
        assert by_command.count(b"\n") > 5
        assert (tmp_path / f"package.{ending}").read_bytes() == by_command


def test_spikes_that_come_too_late_are_told():
    blocks = [([0.1, 0.2], [1, 2]), ([0.15, 0.3], [1, 1]), ([0.3, 0.31], [1, 2])]

    events = events_of(iter(blocks), episodes=[(["1", "2"], [(0, 1)])], windows=False)

    assert of_kind(Alarm, events) == [Alarm(missing=0, unreadable=0, late=1)]
    assert events[-1].late == 1
    assert events[-1].duplicates == 1
    assert events[-1].has_losses
    assert of_kind(Epoch, events) == []
    held_back = events_of(blocks, episodes=[(["1", "2"], [(0, 1)])], order="lateness:100ms")
    assert held_back[-1].late == 0
    assert of_kind(Alarm, held_back) == []


def test_a_destination_that_fails_is_told():
    other, device = pty.openpty()
    to = f"serial://{os.ttyname(device)}"

    def blocks():
        yield [0.0, 0.002], [0, 1]
        assert os.read(other, 1) == b"\x01"
        os.close(device)
        os.close(other)  # the device is gone
        for start in range(1, 5):
            yield [start, start + 0.002], [0, 1]
            time.sleep(0.05)  # the byte is written by another thread

    options = {"episodes": ARMED[:1], "unit_names": NAMES, "windows": False, "to": to}
    with pytest.warns(UserWarning, match=r"did not take [1-4] of 5 results"):
        events = events_of(blocks(), **options)

    alarm = of_kind(Alarm, events)[0]
    assert (alarm.to, alarm.missing, alarm.unreadable, alarm.late) == (to, 0, 0, 0)
    assert alarm.undelivered >= 1
    assert alarm.reason
    assert events[-1].undelivered >= alarm.undelivered


def test_detections_that_are_no_triggers_say_why():
    pairs = [10.0, 10.002, 10.1, 10.102, 11.0, 11.002]
    blocks = [([0.0, 0.002], [0, 1]), (pairs, [0, 1] * 3)]
    options = {"episodes": ARMED[:1], "unit_names": NAMES, "windows": False}

    events = events_of(iter(blocks), hold_off="500ms", **options)

    assert [one.suppressed for one in of_kind(Detection, events)] == [None, None, "hold-off", None]
    assert [one.is_trigger for one in of_kind(Detection, events)] == [True, True, False, True]
    assert (events[-1].detections, events[-1].triggers) == (4, 3)
    (chance,) = of_kind(Chance, events)
    assert (chance.begin, chance.end) == (0, 10)
    assert len(chance.per_minute) == 1
    with pytest.raises(ValueError, match="max_false_alarms"):
        events_of(iter(blocks), max_false_alarms="1/1000000s", **options)


def test_patterns_are_detected_where_spade_finds_them(tmp_path):
    command = Path(spikeweave.__file__).parent / "bin" / "spikeweave"
    if not command.exists():
        pytest.skip("the command is not part of this build")
    times = np.sort(np.concatenate([np.arange(10) * 0.5 + 0.0012, np.arange(10) * 0.5 + 0.0112]))
    spikes = spikeweave.SpikeSequence.of((times, np.arange(20) % 2), unit_names=["a", "b"])
    spikeweave.write(tmp_path / "spikes.npz", spikes)
    line = ["spade", tmp_path / "spikes.npz", "-o", tmp_path / "found", "--window", "5"]
    line += ["--bin", "5ms", "--min-spikes", "2", "--min-occ", "5"]
    subprocess.run([sys.executable, "-m", "spikeweave", *line], check=True, capture_output=True)

    events = events_of(spikes, speed="max", patterns=tmp_path / "found", windows=False)

    found = of_kind(Detection, events)
    assert len(found) >= 10
    assert all(one.episode is None and one.pattern == 0 for one in found)
    assert found[0].units == ("a", "b")
    assert found[0].times == (0.0012, 0.0112)
    assert found[0].begin <= found[0].times[0]


def test_counts_are_given_at_the_multiples_of_a_time(sym26):
    chain = (["n0", "n1", "n2", "n3"], [(0.004, 0.006)] * 3)
    options = {"speed": "max", "window": "10s", "delays": "4-6ms", "min_count": 500}

    events = events_of(sym26.spikes, episodes=[chain], track_every="20s", **options)

    found = of_kind(Counts, events)
    assert [(one.begin, one.end) for one in found[:2]] == [(10, 20), (30, 40)]
    for one in found:
        times = sym26.spikes.times
        inside = (times >= one.begin) & (times < one.end)
        part = spikeweave.SpikeSequence.of(
            (times[inside], sym26.spikes.units[inside]), unit_names=sym26.spikes.unit_names
        )
        assert one.counts == tuple(spikeweave.count_episodes(part, [chain]))
    count = found[0].counts[0]
    assert found[0].summary == f"{count:,} occurrences of 1 armed episode from 10 s to 20 s."


def test_chains_that_are_objects_may_be_detected_early(sym26):
    chain = (["n0", "n1", "n2", "n3"], [(0.004, 0.006)] * 3)
    whole, early = (
        of_kind(Detection, events_of(sym26.spikes, episodes=[chain], speed="max", **at))
        for at in ({}, {"fire_at": 2})
    )
    assert len(early) > len(whole) > 0


def test_chains_are_armed_while_they_last():
    draw = np.random.default_rng(20261125)
    times = [np.sort(draw.uniform(0, 80, 800)) for _ in range(6)]
    begins = np.sort(draw.uniform(24, 56, 200))
    times = [
        np.append(own, begins + 0.005 * unit) if unit < 3 else own for unit, own in enumerate(times)
    ]
    units = np.concatenate([np.full(len(own), unit) for unit, own in enumerate(times)])
    times = np.concatenate(times)
    order = np.argsort(times)
    spikes = spikeweave.SpikeSequence.of(
        (times[order], units[order]), unit_names=[f"n{unit}" for unit in range(6)]
    )
    options = {"speed": "max", "window": "4s", "delays": "4-6ms", "min_count": 5, "max_size": 3}

    events = events_of(spikes, arm="auto", **options)
    limited = events_of(spikes, arm="auto", max_armed=1, **options)

    chain = ("n0", "n1", "n2")
    armed, disarmed = (one for one in of_kind(Arming, events) if one.units == chain)
    # Three windows of 4 s from 24 s on, and the hop; two of the four from 48 s on lack the chain.
    assert (armed.change, armed.begin, armed.window, armed.is_late) == ("armed", 40, 8, False)
    assert armed.delays == ((0.004, 0.006), (0.004, 0.006))
    assert armed.per_minute < 1
    assert (disarmed.change, disarmed.begin, disarmed.per_minute) == ("disarmed", 68, None)
    assert disarmed.episode == armed.episode
    found = [one for one in of_kind(Detection, events) if one.episode == armed.episode]
    inside = (times[order] >= 40) & (times[order] < 68)
    part = spikeweave.SpikeSequence.of(
        (times[order][inside], units[order][inside]), unit_names=spikes.unit_names
    )
    assert len(found) == spikeweave.count_episodes(part, [(chain, armed.delays)])[0] > 60
    changes = {one.change for one in of_kind(Arming, limited)}
    assert changes == {"armed", "disarmed", "max-armed"}
    refused = next(one for one in of_kind(Arming, limited) if one.change == "max-armed")
    assert refused.episode is None


def test_windows_that_are_skipped_are_told():
    def blocks():
        yield [0.0], [0], 1

    events = events_of(
        blocks(), unit_names=NAMES, window="1ms", delays="1-4ms", window_budget=1e-6, threads=1
    )

    skipped = of_kind(Skipped, events)
    assert skipped
    assert skipped[0].end == pytest.approx(skipped[0].begin + 0.001)
    assert events[-1].skipped == len(skipped)
    assert events[-1].windows == len(of_kind(Window, events))
    assert events[-1].has_losses


def test_results_go_to_several_files_as_well(tmp_path):
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    options = {"episodes": ARMED[:1], "unit_names": NAMES, "windows": False}

    events = events_of([([0.1, 0.102], [0, 1])], to=[*files, "-"], **options)

    assert len(of_kind(Detection, events)) == 1
    lines = [file.read_text(encoding="utf-8").splitlines() for file in files]
    assert lines[0] == lines[1]
    assert '"type":"detection"' in lines[0][0]


def test_the_events_of_a_block_come_before_the_next_block_is_asked_for():
    asked = []

    def blocks():
        for number in range(3):
            asked.append(number)
            yield [number + 0.1, number + 0.102], [0, 1], number + 1

    seen = []
    options = {"episodes": ARMED, "unit_names": NAMES, "window": "1s", **MINING}
    with spikeweave.live(blocks(), speed="max", **options) as run:
        for event in run:
            seen.append((type(event), len(asked)))

    block = [(Detection, 1), (Window, 1)]
    assert seen == [*block, *((k, 2) for k, _ in block), *((k, 3) for k, _ in block), (Stats, 3)]


def test_leaving_the_loop_ends_the_run(sym26, tmp_path):
    before = threading.active_count()
    threads = len(list(Path("/proc/self/task").iterdir()))
    options = {"episodes": [(["n0", "n1"], [(0.004, 0.006)])], "windows": False}
    file = tmp_path / "found.jsonl"

    with spikeweave.live(sym26.spikes, speed=20, to=str(file), **options) as run:
        next(event for event in run if isinstance(event, Detection))
    assert list(run) == []
    assert '"type":"stats"' in file.read_text(encoding="utf-8").splitlines()[-1]
    run.close()
    for event in spikeweave.live(sym26.spikes, speed=20, **options):
        if isinstance(event, Detection):
            break
    with pytest.raises(KeyError), spikeweave.live(sym26.spikes, speed="max", **options) as run:
        raise KeyError
    del run, event
    gc.collect()

    assert threading.active_count() == before
    assert len(list(Path("/proc/self/task").iterdir())) <= threads


def test_ctrl_c_arrives_in_the_loop(interrupted_soon, sym26):
    run = spikeweave.live(sym26.spikes, episodes=[(["n0", "n1"], [(0.004, 0.006)])])

    with interrupted_soon():
        for _ in run:
            pass

    assert isinstance(next(run), (Detection, Window, Skipped))  # it goes on until it is closed
    run.close()


CTRL_C = """
import signal, spikeweave, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
spikes = spikeweave.simulate.sym26(seed=1).spikes
def blocks():
    yield spikes.times[:5], spikes.units[:5]
    {wait}
print("ready", flush=True)
try:
    with spikeweave.live({source}, window="1s", delays="4-6ms", min_count=20) as run:
        for event in run:
            pass
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize(
    ("source", "wait"), [("spikes", "pass"), ("blocks()", "import time; time.sleep(1000)")]
)
def test_ctrl_c_ends_a_script(source, wait):
    process = subprocess.Popen(
        [sys.executable, "-c", CTRL_C.format(source=source, wait=wait)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    out, errors, seconds = interrupt(process)

    assert out == "stopped\n", errors
    assert process.returncode == 0
    assert seconds < 5


NOT_CLOSED = """
import spikeweave, threading
spikes = spikeweave.simulate.sym26(seed=1).spikes
run = spikeweave.live(spikes)
next(run)
waiting = spikeweave.live(iter([]))
"""


@pytest.mark.parametrize(
    "more", ["", "threading.Thread(target=lambda: list(run), daemon=True).start()"]
)
def test_a_run_that_is_not_closed_does_not_hold_up_the_end(more):
    process = subprocess.run(
        [sys.executable, "-c", NOT_CLOSED + more], capture_output=True, timeout=30
    )

    assert process.returncode == 0, process.stderr
    # A daemon thread holds its run until the process ends.
    assert more or process.stderr == b""


def test_errors_of_the_source_arrive_in_the_loop(sym26, tmp_path):
    def broken():
        yield [0.1], [0]
        raise RuntimeError("the amplifier is off")

    with pytest.raises(RuntimeError, match="amplifier"):
        events_of(broken(), episodes=ARMED, unit_names=NAMES)
    (tmp_path / "spikes.tsv").write_text("0.1 a\nnonsense\n", encoding="utf-8")
    with pytest.raises(OSError, match=r"spikes\.tsv.*line 2"):
        events_of(tmp_path / "spikes.tsv")
    with pytest.raises(ValueError, match="'x'"):
        events_of(sym26.spikes, episodes=[(["n0", "x"], [(0, 1)])])
    bad = ([[0.1]], [([0.1], [0], 1, 2)], [([np.nan], [0])], [(["x"], [0])], [5])
    for block in bad:
        with pytest.raises((TypeError, ValueError), match=r"block 0|times"):
            events_of(block)


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "says"),
    [
        ((5,), {}, TypeError, "source: expected spikes"),
        (("nowhere.tsv",), {}, FileNotFoundError, "nowhere"),
        (("http://localhost",), {}, ValueError, "is no source"),
        (([],), {"speed": 2}, ValueError, "speed: blocks come at their own speed"),
        (([],), {"speed": -1}, ValueError, "speed: expected a number above 0, or max"),
        (([],), {"windows": False}, ValueError, "there is nothing to do"),
        (([],), {"resume": "x.session"}, ValueError, "resume"),
        (([],), {"verify": True}, ValueError, "verify"),
        (([],), {"order": "never"}, ValueError, "order"),
        (([],), {"min_count": 0}, ValueError, "min_count"),
        (([],), {"nonsense": 1}, TypeError, "nonsense"),
        (([],), {"progress": True}, TypeError, "progress"),
        (([],), {"episodes": [([0, 1], [(0, 1)])]}, TypeError, "expected the name of a unit"),
        (([],), {"unit_names": ["a", "a"]}, ValueError, "unit_names"),
        (([],), {"episodes": "nowhere.txt"}, OSError, "nowhere.txt"),
        (([],), {"patterns": "nowhere"}, OSError, "nowhere"),
        (([],), {"episodes": ARMED, "fire_at": 3}, ValueError, "fire_at"),
        (([],), {"max_triggers": "often"}, ValueError, "max_triggers"),
        (([],), {"to": 5}, TypeError, "to: expected"),
        (([],), {"to": ["a", "a"]}, ValueError, "to: 'a' is given twice"),
        (([],), {"to": "serial://tty"}, ValueError, "to: "),
        (([],), {"sources": 2}, ValueError, "sources"),
        (([],), {"track_every": "1s"}, ValueError, "track_every: no episodes are armed"),
        (([],), {"window_budget": "soon"}, ValueError, "window_budget"),
    ],
)
def test_arguments_of_live_are_named(arguments, options, kind, says):
    with pytest.raises(kind, match=says):
        events_of(*arguments, **options)


def test_names_are_only_for_blocks(sym26):
    with pytest.raises(ValueError, match="unit_names"):
        spikeweave.live(sym26.spikes, unit_names=NAMES)


def test_several_threads_can_take_the_events_of_a_run():
    blocks = (([0.1 * k, 0.1 * k + 0.002], [0, 1]) for k in range(500))
    found = []
    options = {"episodes": ARMED[:1], "unit_names": NAMES, "windows": False}
    with spikeweave.live(blocks, **options) as run:
        threads = [threading.Thread(target=lambda: found.extend(run)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(of_kind(Detection, found)) == 500
    assert len(of_kind(Stats, found)) == 1


def test_calls_from_several_threads_do_not_meet():
    detector = Detector([(["a", "b"], [(0, 0.001)])], units=NAMES)
    windows = SlidingWindow(NAMES, window="1s", **MINING)
    times = np.zeros(100_000)
    failures = []

    def add():
        try:
            for _ in range(5):
                detector.add(times, np.zeros(len(times), int))
                windows.add(times, np.zeros(len(times), int))
                detector.counts, windows.duplicates, list(windows)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert detector.duplicates == windows.duplicates == 20 * len(times) - 1
