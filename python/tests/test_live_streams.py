"""`live` with streams and recorded sessions, in a build that has them. Others refuse them in words.

SPIKEWEAVE_REQUIRE_STREAMS says that this build has them, so that no test is skipped.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import spikeweave
from spikeweave import Alarm, Detection, Epoch, Stats, Window

sys.path.insert(0, str(Path(__file__).parent))
from live_inputs import ARMED, events_of, of_kind, table_of

LINES = """{"t_us":1000,"unit":"a"}
{"t_us":3000,"unit":"b"}
nonsense
{"t_us":3600000000000,"unit":"a"}
"""
PAIR = [(["n0", "n1"], [(0.004, 0.006)])]


@pytest.fixture(scope="module")
def has_streams(tmp_path_factory):
    file = tmp_path_factory.mktemp("streams") / "empty.jsonl"
    file.touch()
    try:
        events_of(file, episodes=ARMED, windows=False)
    except ValueError as error:
        refusal = str(error)
    else:
        return True
    assert "this build of spikeweave cannot read streams" in refusal
    assert "SPIKEWEAVE_REQUIRE_STREAMS" not in os.environ
    return False


@pytest.fixture
def streams(has_streams):
    if not has_streams:
        pytest.skip("this build has no streams")


def test_a_build_without_streams_says_so(has_streams, sym26, tmp_path):
    if has_streams:
        pytest.skip("this build has streams")
    with pytest.raises(ValueError, match="cannot read streams.*pip install .*SPIKEWEAVE_LIVE=ON"):
        events_of("open-ephys-zmq://localhost:5556", windows=False, episodes=ARMED)
    with pytest.raises(OSError, match="this build of spikeweave has no sessions"):
        events_of(sym26.spikes, record=tmp_path / "one.session", episodes=PAIR, windows=False)


@pytest.mark.usefixtures("streams")
def test_lines_of_json_are_read_and_the_others_counted(tmp_path):
    file = tmp_path / "spikes.jsonl"
    file.write_text(LINES, encoding="utf-8")

    events = events_of(file, episodes=ARMED[:1], windows=False)

    assert of_kind(Detection, events) == [Detection(0, ("a", "b"), (0.001, 0.003), 0.001)]
    assert of_kind(Alarm, events) == [Alarm(0, 1, 0)]
    assert of_kind(Epoch, events) == [Epoch(1)]
    assert events[-1].unreadable == 1


@pytest.mark.usefixtures("streams")
def test_sessions_are_recorded_and_verified(sym26, tmp_path):
    file = tmp_path / "one.session"
    options = {"episodes": PAIR, "speed": "max", "window": "20s", "delays": "4-6ms"}
    options |= {"min_count": 60}

    recorded = events_of(sym26.spikes, record=file, **options)

    again = events_of(file, **options)
    assert of_kind(Detection, again) == of_kind(Detection, recorded)
    # A session does not say how long the recording is, so that its last window is not complete.
    assert [table_of(one) for one in of_kind(Window, again)] == [
        table_of(one) for one in of_kind(Window, recorded)[:-1]
    ]
    (verified,) = events_of(file, verify=True)
    assert verified.detections == len(of_kind(Detection, recorded)) > 500
    assert verified.windows == len(of_kind(Window, recorded)) > 1
    with pytest.raises(OSError, match="exists already"):
        events_of(sym26.spikes, record=file, **options)


class FollowedPipe:
    """A named pipe that gives the spikes of two units, and stays open until it is closed."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self._may_close = threading.Event()
        self._writer = threading.Thread(target=self._write)
        self._writer.start()

    def _write(self):
        with self.path.open("w", encoding="utf-8") as lines:
            print(*LINES.splitlines()[:2], sep="\n", file=lines, flush=True)
            self._may_close.wait(30)

    def close(self):
        self._may_close.set()
        self._writer.join()


@pytest.mark.usefixtures("streams")
def test_a_named_pipe_is_followed_while_it_is_open(tmp_path):
    pipe = FollowedPipe(tmp_path / "pipe")
    with spikeweave.live(pipe.path, episodes=ARMED[:1], windows=False) as run:
        first = next(run)
        pipe.close()
        (last,) = run

    assert first == Detection(0, ("a", "b"), (0.001, 0.003), 0.001)
    assert isinstance(last, Stats)
    assert last.spikes == 2


RECORDING = """
import spikeweave, sys, time
pipe, session = sys.argv[1:]
armed = [(["a", "b"], [(0.0, 0.004)])]
run = spikeweave.live(pipe, record=session, episodes=armed, windows=False)
print(next(run).begin, flush=True)
time.sleep(60)
"""


@pytest.mark.usefixtures("streams")
def test_a_session_that_was_killed_goes_on(tmp_path):
    session = tmp_path / "today.session"
    pipe = FollowedPipe(tmp_path / "pipe")
    process = subprocess.Popen(
        [sys.executable, "-c", RECORDING, pipe.path, session], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "0.001\n"
    time.sleep(0.5)  # it is recorded within 10 ms
    process.kill()
    process.communicate()
    pipe.close()
    more = tmp_path / "more.jsonl"
    more.write_text('{"t_us":1001000,"unit":"a"}\n{"t_us":1003000,"unit":"b"}\n', "utf-8")

    events = events_of(more, resume=session)

    assert [one.begin for one in of_kind(Detection, events)] == [1.001]
    (verified,) = events_of(session, verify=True)
    assert verified.detections == 2
