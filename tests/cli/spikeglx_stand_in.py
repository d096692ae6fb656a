"""A stand-in for SpikeGLX's command server, written from the documentation of its remote interface (SpikeGLX-CPP-SDK and
SpikeGLX-MATLAB-SDK): a command is a line, and its answer is lines and OK, or ERROR and a text."""

import array
import contextlib
import socket
import threading
import time


class SpikeGlx:
    """One probe, whose run has as many frames as a test says, or as come by the clock. Only the last ones are kept."""

    def __init__(self, samples, places_um, *, rate=30000, gain=500, volts=0.6, steps=512, saved=None, kept=8 * 30000, probes=1):
        self.rate, self.gain, self.volts, self.steps, self.kept, self.probes = rate, gain, volts, steps, kept, probes
        self.places_um = places_um  # (x, y) of each channel of the band of spikes
        self.channels = len(places_um)  # as many of the LF band and one of the digital word follow
        self.saved = list(range(self.channels)) if saved is None else saved
        self.begin_run(samples)
        self.is_running = True
        self.commands = []
        self.answers = {}  # a test's own, by command; each is given once
        self.connections = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def begin_run(self, samples, there=0):
        """Samples: array of int16, channels of the band of spikes fastest."""
        self.samples = samples
        self.there = there
        self.began = None

    def by_the_clock(self, speed=1):
        self.speed, self.first, self.began = speed, self.there, time.monotonic()

    @property
    def frames(self):
        """That the run has had."""
        whole = len(self.samples) // self.channels
        if self.began is None:
            return min(self.there, whole)
        return min(self.first + int((time.monotonic() - self.began) * self.rate * self.speed), whole)

    def close(self):
        with contextlib.suppress(OSError):  # it is closed
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.break_connections()

    def break_connections(self):
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self.connections.clear()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            for line in connection.makefile():
                words = line.split()
                self.commands.append(words[0])
                try:
                    answer = self.answers.pop(words[0], None) or self.answer(*words)
                    connection.sendall(answer + b"OK\n")
                except ValueError as refusal:
                    connection.sendall(f"ERROR {refusal}\n".encode())
        except OSError:
            pass

    def answer(self, command, *words):
        if command == "FETCH":
            return self.fetch(*words)
        if command in ("GETSTREAMSAMPLERATE", "GETSTREAMACQCHANS", "GETSTREAMSAVECHANS", "GETSTREAMVOLTAGERANGE", "GETSTREAMMAXINT",
                       "GETSTREAMSAMPLECOUNT") and (words[0] != "2" or not 0 <= int(words[1]) < self.probes):
            raise ValueError(f"{command}: imec stream-ip must be in range[0..{self.probes - 1}].")
        answers = {
            "ISRUNNING": lambda: int(self.is_running),
            "GETSTREAMNP": lambda: self.probes,
            "GETSTREAMSAMPLERATE": lambda: f"{self.rate:.6f}",
            "GETSTREAMACQCHANS": lambda: f"{self.channels} {self.channels} 1",
            "GETSTREAMSAVECHANS": lambda: " ".join(map(str, [*self.saved, 2 * self.channels])),
            "GETSTREAMVOLTAGERANGE": lambda: f"{-self.volts:g} {self.volts:g}",
            "GETSTREAMMAXINT": lambda: self.steps,
            "GETIMECCHANGAINS": lambda: f"{self.gain} 250",
            "GETSTREAMSAMPLECOUNT": lambda: self.frames if self.is_running else 0,
            "GETGEOMMAP": self.places,
        }
        if command not in answers:
            raise ValueError(f"CmdWorker: Unknown command [{command}].")
        return f"{answers[command]()}\n".encode()

    def places(self):
        lines = ["head_partNumber=NP1000", "head_numShanks=1", "head_shankPitch=0", "head_shankWidth=70"]
        for c, (x_um, y_um) in enumerate(self.places_um):
            lines += [f"ch{c}_s=0", f"ch{c}_x={x_um:g}", f"ch{c}_z={y_um:g}", f"ch{c}_u=1"]
        return "\n".join(lines)

    def fetch(self, js, ip, first, most, subset="-1#", step="1"):
        if not self.is_running:
            raise ValueError("FETCH: Not running or stream not enabled.")
        assert (js, step) == ("2", "1") and int(ip) < self.probes
        first = int(first)
        if first >= self.frames:
            time.sleep(0.001)  # it waits for some, but not for long
        there = self.frames
        if first < there - self.kept:
            raise ValueError("FETCH: Too late.")
        wanted = [int(c) for c in subset.split("#")[:-1]]
        frames = max(0, min(there - first, int(most)))
        block = self.samples[first * self.channels:(first + frames) * self.channels]
        if wanted != list(range(self.channels)):
            block = array.array("h", [block[f * self.channels + c] for f in range(frames) for c in wanted])
        return f"BINARY_DATA {len(wanted)} {frames} uint64({first})\n".encode() + block.tobytes()
