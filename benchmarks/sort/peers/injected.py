"""Recordings that are made of noise and the spikes of known units, for generate.py.

- one: a single channel, on which two to four units differ by their size.
- bursts: neurons a third of whose spikes begin bursts, in which each is smaller than the one before.
- utah: electrodes 400 um apart, each with none to three near units, and six far ones.
  Many far units of these two are above 4 times the noise, so all are in the truth.
- hybrid: the spikes of a real tetrode, locust_trial_01.raw, moved to other channels and to other
  sizes, and added to that recording. Only the added units are known.
"""

import numpy as np
import probeinterface as pi
import spikeinterface.full as si
from scipy.signal import butter, sosfiltfilt

GAIN_UV = 0.195
BEFORE_MS, AFTER_MS = 1.5, 3.0
PARTS = 10  # of a frame, at which spikes are placed
REFRACTORY_S = 0.003
BURST_GAPS_S = (0.003, 0.008)
JITTER = 0.08  # standard deviation of sizes


def later(waveform, frames):
    """Moves a waveform (frames x channels) by a part of a frame."""
    turn = np.exp(-2j * np.pi * np.fft.rfftfreq(len(waveform)) * frames)
    return np.fft.irfft(np.fft.rfft(waveform, axis=0) * turn[:, None], len(waveform), axis=0)


def train(random, seconds, rate_hz, bursts=0.0, fall=0.85, most=4):
    """Returns times in seconds, and sizes; a spike begins a burst with the probability `bursts`."""
    times, sizes, at = [], [], 0.0
    while True:
        at += REFRACTORY_S + random.exponential(1 / rate_hz)
        if at > seconds - 0.02:
            return np.array(times), np.array(sizes)
        times.append(at)
        sizes.append(1.0)
        if random.random() >= bursts:
            continue
        for number in range(random.integers(1, most)):
            at += random.uniform(*BURST_GAPS_S)
            times.append(at)
            sizes.append(fall ** (number + 1))


def add(traces, waveform, before, frames, sizes):
    """Adds spikes to traces (frames x channels), and returns the frames of those that fit."""
    placed = [later(waveform, part / PARTS) for part in range(PARTS)]
    kept = []
    for frame, size in zip(frames, sizes, strict=True):
        begin = int(frame) - before
        if begin < 0 or begin + len(waveform) > len(traces):
            continue
        traces[begin : begin + len(waveform)] += size * placed[int(frame % 1 * PARTS)]
        kept.append(round(frame))
    return kept


class Scene:
    """Traces in microvolts, and the spikes that were added."""

    def __init__(self, recipe, traces, rate, places):
        self.random = np.random.default_rng(recipe["seed"])
        self.traces, self.rate, self.places = traces, rate, np.asarray(places, dtype=float)
        self.samples, self.labels = [], []

    def seconds(self):
        return len(self.traces) / self.rate

    def fire(self, waveform, before, label, rate_hz, **bursts):
        """Adds a unit."""
        reached = np.flatnonzero(np.abs(waveform).max(axis=0) > 0.3)
        if not len(reached):
            return
        times, sizes = train(self.random, self.seconds(), rate_hz, **bursts)
        sizes = sizes * self.random.normal(1, JITTER, len(sizes))
        part = np.ascontiguousarray(self.traces[:, reached])
        kept = add(part, waveform[:, reached], before, times * self.rate, sizes)
        self.traces[:, reached] = part
        self.samples += kept
        self.labels += [label] * len(kept)

    def recording(self):
        counts = np.clip(np.rint(self.traces / GAIN_UV), -32768, 32767).astype("int16")
        recording = si.NumpyRecording([counts], self.rate)
        probe = pi.Probe(ndim=2)
        probe.set_contacts(self.places, shapes="circle", shape_params={"radius": 6})
        probe.set_device_channel_indices(np.arange(len(self.places)))
        recording.set_probe(probe)
        recording.set_channel_gains(GAIN_UV)
        recording.set_channel_offsets(0)
        order = np.argsort(self.samples, kind="stable")
        samples, labels = np.array(self.samples)[order], np.array(self.labels)[order]
        return recording, si.NumpySorting.from_samples_and_labels(samples, labels, self.rate)


def grid(columns, rows, pitch):
    return [(column * pitch, row * pitch) for row in range(rows) for column in range(columns)]


def noisy(recipe, places, noise, rate=30000):
    random = np.random.default_rng(recipe["seed"] + 1_000_000)
    shape = (recipe["seconds"] * rate, len(places))
    return Scene(recipe, noise * random.standard_normal(shape, dtype="float32"), rate, places)


def fire_all(scene, recipe, units, **bursts):
    """Gives SpikeInterface's templates to units (x, y, z in um)."""
    templates = si.generate_templates(
        scene.places, np.array(units), scene.rate, BEFORE_MS, AFTER_MS, seed=recipe["seed"]
    )
    before = int(BEFORE_MS * scene.rate / 1000)
    for index, template in enumerate(templates):
        rate_hz = scene.random.uniform(2, 12) / (1 + 2 * bursts.get("bursts", 0))
        scene.fire(template, before, index, rate_hz, **bursts)


def one(recipe):
    scene = noisy(recipe, [(0, 0)], 8)
    random = scene.random
    snr = np.exp(np.sort(random.uniform(np.log(5.5), np.log(22), random.integers(2, 5))))
    for index in range(1, len(snr)):
        snr[index] = max(snr[index], 1.5 * snr[index - 1])
    places = np.array([[0, 0, random.uniform(15, 25)] for _ in snr])
    templates = si.generate_templates(
        scene.places, places, scene.rate, BEFORE_MS, AFTER_MS, seed=recipe["seed"]
    )
    for index, template in enumerate(templates):
        sized = template / np.abs(template).max() * snr[index] * 8
        scene.fire(sized, int(BEFORE_MS * scene.rate / 1000), index, random.uniform(3, 10))
    return scene.recording()


def bursts(recipe):
    scene = noisy(recipe, grid(2, 16, 20), 6)
    near = scene.random.uniform((-10, -10, 12), (30, 310, 40), (18, 3))
    far = scene.random.uniform((-60, -50, 50), (80, 350, 100), (60, 3))
    fire_all(scene, recipe, [*near, *far], bursts=0.35, fall=recipe["fall"], most=6)
    return scene.recording()


def utah(recipe):
    scene = noisy(recipe, grid(10, 10, 400), 6)
    random = scene.random

    def beside(place, nearest, furthest, depth):
        angle, distance = random.uniform(0, 2 * np.pi), random.uniform(nearest, furthest)
        offset = distance * np.array([np.cos(angle), np.sin(angle)])
        return [*(place + offset), random.uniform(*depth)]

    near, far = [], []
    for place in scene.places:
        for _ in range(random.choice(4, p=(0.35, 0.4, 0.2, 0.05))):
            near.append(beside(place, 0, 25, (15, 60)))
        far += [beside(place, 40, 90, (40, 90)) for _ in range(6)]
    fire_all(scene, recipe, near + far, bursts=0.1)
    return scene.recording()


def hybrid(recipe):
    rate, units = 15000, 3
    raw = np.fromfile(recipe["file"], "<i2").reshape(-1, 4).astype(float)
    band = butter(3, (300, 6000), "bandpass", fs=rate, output="sos")
    filtered = sosfiltfilt(band, raw, axis=0)
    noise = np.median(np.abs(filtered), axis=0) / 0.6745
    depth = (filtered / noise).min(axis=1)
    lowest = (depth[1:-1] < -7) & (depth[1:-1] <= depth[:-2]) & (depth[1:-1] < depth[2:])
    peaks = np.flatnonzero(lowest) + 1
    apart = np.diff(peaks, prepend=-100, append=len(raw) + 100) > 30
    peaks = peaks[apart[:-1] & apart[1:] & (peaks > 60) & (peaks < len(raw) - 90)]
    main = (filtered[peaks] / noise).argmin(axis=1)
    fade = np.interp(np.arange(60), (0, 6, 48, 59), (0, 1, 1, 0))[:, None]
    shapes = []
    for channel in range(4):
        own = peaks[main == channel]
        if len(own) < 20:
            continue
        order = own[np.argsort(depth[own])]
        for some in (order[: len(order) // 3], order[-len(order) // 3 :]):
            mean = np.mean([raw[peak - 20 : peak + 40] for peak in some], axis=0)
            shapes.append((mean - np.median(mean[:8], axis=0)) * fade)
    scene = Scene(recipe, raw * GAIN_UV, rate, grid(2, 2, 20))
    random = scene.random
    for label in range(units):
        shape = shapes[random.integers(len(shapes))][:, random.permutation(4)]
        padded = sosfiltfilt(band, np.pad(shape, ((200, 200), (0, 0))), axis=0) / noise
        trough, _ = np.unravel_index(padded.argmin(), padded.shape)
        size = np.exp(random.uniform(np.log(4.5), np.log(25))) / -padded.min()
        share = random.choice((0, 0.1, 0.4))
        rate_hz = random.uniform(4, 20) / (1 + 2 * share)
        scene.fire(shape * size * GAIN_UV, trough - 200, label, rate_hz, bursts=share, most=5)
    return scene.recording()


MAKERS = {"one": one, "bursts": bursts, "utah": utah, "hybrid": hybrid}
