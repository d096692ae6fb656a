"""Presses Ctrl-C in a script that runs in a process of its own."""

import signal
import time


def interrupt(process):
    """Interrupts a script soon after it has printed "ready".

    Returns what it printed then, its messages, and the seconds that it took to end.
    """
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.7)
    assert process.poll() is None
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    return out, errors, time.monotonic() - began
