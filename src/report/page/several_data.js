// Reads results that are compared: the spikes of each recording, and what each result says of an episode.

import { rowsOf, spikesOf } from "./data.js";
import { pathElements } from "./episodes_page.js";
import { leastQ, makeState } from "./state.js";

export function readSeveral(raw) {
  const recordings = raw.recordings.map(({ name, run, spikes }) => ({ name, ...spikesOf({ run, unit_names: raw.unit_names, spikes }) }));
  const rows = rowsOf(raw.episodes).map((row) => ({
    ...row,
    from: row.units[0],
    to: row.units[1],
    isEdge: row.kind.some(Boolean),
    rate: row.count.map((count, k) => (1e6 * count) / recordings[k].observed),
  }));
  const path = (row) => pathElements(raw.unit_names, row);
  return { run: {}, names: raw.unit_names, places: raw.places, spikeCount: 0, recordings, rows, changes: readChanges(raw, rows), stability: raw.stability, alpha: raw.alpha, path, note: noteOnEpisodes };
}

// For each pair of recordings a list of the changes of all rows.
export function readChanges(raw, rows) {
  return raw.changes.map(({ from, to, p, q, change }) => rows.map((row, i) => ({ row, from, to, p: p[i], q: q[i], change: change[i] })));
}

const noteOnEpisodes = {
  what: "episodes",
  steps: "delays",
  found: "significant in one of the two circuits only",
  caveat: "Counts of a culture that bursts vary more than Poisson counts do, so p is too small there: look at the ratio of the rates first. " +
    "A rate also rises if the units only fire more, and then an edge can be gone because chance explains its higher count.",
};

// The significant row of a recording that a page opens on, if there is any: a chain before an edge, the least q first.
export function bestIn(rows, k) {
  const found = rows.filter(({ significant }) => significant[k]);
  const chains = found.filter(({ isEdge }) => !isEdge);
  return leastQ((chains.length > 0 ? chains : found).map((row) => ({ row, units: row.units, q: row.q[k], count: row.count[k] })))?.row;
}

// The changes that led to a recording, one for each row; none for the first one.
export function changesTo(data, k) {
  return data.changes.find((list) => list[0]?.to === k) ?? [];
}

export const sourcesOfSeveral = [
  "J. Przyborowski, H. Wilenski, “Homogeneity of results in testing samples from Poisson series”, Biometrika 31 (1940)",
  "Y. Benjamini, Y. Hochberg, “Controlling the false discovery rate”, J. R. Statist. Soc. B 57 (1995)",
];

// The raster shows one of the recordings, always the same part of each.
// `occurrencesIn(recording, row)` gives the times of the spikes of each occurrence there.
export function makeShown(data, occurrencesIn) {
  const shown = { ...data, ...data.recordings[0] };
  const state = makeState(shown, (row) => occurrencesIn(shown, row));
  const recording = { number: 0 };
  function showRecording(k) {
    if (k === recording.number) return;
    const [from, to] = [state.now.from - shown.begin, state.now.to - shown.begin];
    const isWhole = state.now.from === shown.begin && state.now.to === shown.end;
    recording.number = k;
    Object.assign(shown, data.recordings[k]);
    if (isWhole) state.show(shown.begin, shown.end);
    else state.show(shown.begin + from, shown.begin + to);
    state.tell("recording");
    if (state.now.picked) state.pick(state.now.kind, state.now.picked);
  }
  return { state, recording, showRecording };
}
