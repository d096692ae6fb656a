// The units of a sorting: their quality, waveforms, and the amplitude and the depth of some of their spikes.

import { bytesOf, numbersOf, rowsOf, spikesOf } from "./data.js";

// Whole numbers of two bytes, times a scale.
function scaledNumbers({ scale, values }) {
  const view = new DataView(bytesOf(values).buffer);
  const all = new Float32Array(view.byteLength / 2);
  for (let i = 0; i < all.length; ++i) all[i] = scale * view.getInt16(2 * i, true);
  return all;
}

// Those of neurons have no deviations.
export function readWaveforms(raw) {
  if (!raw) return null;
  const { frames, channels_per_unit: width } = raw;
  const mean = scaledNumbers(raw.mean_uv);
  const deviation = raw.deviation_uv ? scaledNumbers(raw.deviation_uv) : new Float32Array(mean.length);
  const ms = (frame) => (1000 * (frame - raw.before)) / raw.sample_rate_hz;
  return {
    frames,
    begin: ms(0),
    end: ms(frames - 1),
    hasDeviation: Boolean(raw.deviation_uv),
    // The waveforms of a unit, numbered from 1, one for each channel around its peak.
    of(unit) {
      const first = (unit - 1) * frames * width;
      const column = (values, k) => {
        const own = new Float32Array(frames);
        for (let frame = 0; frame < frames; ++frame) own[frame] = values[first + frame * width + k];
        return own;
      };
      return raw.channels.slice((unit - 1) * width, unit * width).map((channel, k) => ({ channel, mean: column(mean, k), deviation: column(deviation, k) }));
    },
    averaged: (unit) => raw.averaged[unit - 1],
  };
}

// Points of a unit are decoded when they are first drawn.
function pointsReader(raw) {
  if (!raw) return null;
  const known = new Map();
  const read = (unit) => {
    const own = raw.units[unit - 1];
    const amplitudes = scaledNumbers(own.amplitudes);
    let ms = 0;
    const times = numbersOf(own.times_ms, amplitudes.length).map((step) => (ms += step) / 1000);
    return { times, amplitudes, depths: scaledNumbers(own.depths_um) };
  };
  return {
    most: raw.most,
    amplitudeUnit: raw.amplitude_unit,
    units: raw.units.length,
    of(unit) {
      if (!known.has(unit)) known.set(unit, read(unit));
      return known.get(unit);
    },
  };
}

function readMotion(raw) {
  if (!raw) return [];
  const windows = new Map();
  for (const { time_s: time, depth_um: depth, displacement_um: moved } of rowsOf(raw)) {
    if (!windows.has(depth)) windows.set(depth, { depth, times: [], displacements: [] });
    windows.get(depth).times.push(time);
    windows.get(depth).displacements.push(moved);
  }
  return [...windows.values()];
}

// Options have times as text with a unit; Python has seconds.
function millisecondsOf(value) {
  if (typeof value === "number") return 1000 * value;
  const found = /^([\d.]+) ?(us|ms|s)$/.exec(value ?? "");
  return found ? Number(found[1]) * { us: 0.001, ms: 1, s: 1000 }[found[2]] : null;
}

export const readChannels = ({ x_um: x, y_um: y, shank }) => x.map((_, i) => ({ number: i, x: x[i], y: y[i], shank: shank[i] }));

export function readSorting(raw) {
  const waveforms = readWaveforms(raw.waveforms);
  const height = (unit) => waveforms && waveforms.of(unit).reduce((most, { mean }) => mean.reduce((best, value) => Math.max(best, Math.abs(value)), most), 0);
  return {
    ...spikesOf(raw),
    units: rowsOf(raw.units, "unit").map((row) => ({ ...row, units: [row.unit - 1], amplitude: row.amplitude_median ?? height(row.unit) })),
    columns: Object.keys(raw.units).filter((name) => name !== "total"),
    channels: readChannels(raw.channels),
    waveforms,
    points: pointsReader(raw.points),
    motion: readMotion(raw.motion),
    merges: raw.merges && rowsOf(raw.merges),
    refractory: millisecondsOf(raw.run.parameters?.refractory),
  };
}
