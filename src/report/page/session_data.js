// Reads the data of a recording in windows: a session, with what it detected and lost, or a result of episodes.

import { rowsOf, spikesOf } from "./data.js";
import { pathElements } from "./episodes_page.js";
import { timeText } from "./format.js";

const [stepWithoutWindows, mostStepsOfAnEpoch] = [10e6, 1000];  // microseconds

function nameOf({ epoch, begin, end }, epochCount) {
  const interval = `${timeText(begin, end - begin)} to ${timeText(end, end - begin)}`;
  return epochCount > 1 ? `epoch ${epoch}, ${interval}` : interval;
}

// The spikes of each epoch, at least as long as its windows.
function readEpochs(raw) {
  return raw.epochs.map((spikes, epoch) => {
    const read = { ...spikesOf({ run: raw.run, unit_names: raw.unit_names, spikes }), leftOut: spikes.left_out ?? 0 };
    for (const window of raw.windows.filter((one) => one.epoch === epoch)) {
      read.begin = Math.min(read.begin, window.begin_us);
      read.end = Math.max(read.end, window.end_us);
    }
    return read;
  });
}

// The steps of the player: the windows, or without any equal parts of the time.
function stepsOf(raw, epochs) {
  if (raw.windows.length > 0)
    return raw.windows.map((window) => ({ epoch: window.epoch, begin: window.begin_us, end: window.end_us, window }));
  return epochs.flatMap(({ begin, end, spikeCount, leftOut }, epoch) => {
    const length = Math.max(stepWithoutWindows, Math.ceil((end - begin) / mostStepsOfAnEpoch));
    const count = spikeCount + leftOut > 0 ? Math.ceil((end - begin) / length) : 0;
    return Array.from({ length: count }, (_, i) => ({ epoch, begin: begin + i * length, end: Math.min(end, begin + (i + 1) * length), window: null }));
  });
}

const wasMined = (window) => window !== null && window.complete_to_size !== 0;

// Whether all episodes of this size are known in a window.
function isComplete(window, size) {
  return wasMined(window) && (window.complete_to_size === null || size <= window.complete_to_size);
}

// The rows of all windows, with a value for each: null where a window was not mined or its search ended before that size.
function readRows(raw, steps) {
  const rows = rowsOf(raw.episodes).map((row) => {
    const count = steps.map(({ window }) => window?.counts[row.number - 1] ?? null);
    const isEdge = row.units.length === 2;
    const q = steps.map(({ window }, k) => (!isEdge && isComplete(window, row.units.length) && count[k] >= window.threshold ? 1 : null));
    return { ...row, from: row.units[0], to: row.units[1], isEdge, count, q,
      rate: steps.map(({ begin, end }, k) => (count[k] === null ? null : (1e6 * count[k]) / (end - begin))),
      significant: steps.map(() => false), kind: steps.map(() => null), sign: steps.map(() => null) };
  });
  steps.forEach(({ window }, k) => {
    for (const [i, q, isSignificant, kind, sign] of window?.found ?? []) {
      rows[i].q[k] = q;
      rows[i].significant[k] = isSignificant;
      rows[i].kind[k] = kind;
      rows[i].sign[k] = sign;
    }
  });
  return rows;
}

function readArmed(one, unitOf, number) {
  return { ...one, number, units: one.units.map((name) => unitOf.get(name)), isPattern: one.delays_ms.length + 1 !== one.units.length };
}

export function readSession(raw) {
  const unitOf = new Map(raw.unit_names.map((name, unit) => [name, unit]));
  const epochs = readEpochs(raw);
  const steps = stepsOf(raw, epochs);
  const rows = readRows(raw, steps);
  const armed = (raw.armed ?? []).map((one, i) => readArmed(one, unitOf, i));
  const detections = rowsOf(raw.detections ?? {}).map((one) => ({ ...one, begin: Math.min(...one.times_us), end: Math.max(...one.times_us) }));
  return {
    ...epochs[0], raw, epochs, steps, rows, armed, detections, one: "window", alpha: raw.alpha,
    path: (row) => pathElements(raw.unit_names, row), note: { what: "comparisons", steps: "delays" },
    spikeCount: epochs.reduce((sum, epoch) => sum + epoch.spikeCount, 0), leftOut: epochs.reduce((sum, epoch) => sum + epoch.leftOut, 0),
    recordings: steps.map((step) => ({ name: nameOf(step, epochs.length), ...step })),
    changes: steps.map(({ window }, to) => (window?.changes ?? []).map(([i, p, q, change]) => ({ row: rows[i], from: window.since, to, p, q, change }))),
    arming: (raw.arming?.rows ?? []).map((one, i) => ({ ...one, number: i + 1, what: readArmed(one.what, unitOf, one.armed) })),
    losses: (raw.losses?.rows ?? []).map((one, i) => ({ ...one, number: i + 1 })),
  };
}

// The first step that ends at this time of an epoch or later, else its last one.
export function stepAt(steps, epoch, time) {
  const at = steps.findIndex((step) => step.epoch === epoch && step.end >= time);
  return at >= 0 ? at : Math.max(0, steps.findLastIndex((step) => step.epoch === epoch));
}
