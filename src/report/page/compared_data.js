// Reads results that are compared: the spikes of each recording, and what each result says of an episode.

import { rowsOf, spikesOf } from "./data.js";

export function readComparison(raw) {
  const recordings = raw.recordings.map(({ name, run, spikes }) => ({ name, ...spikesOf({ run, units: raw.units, spikes }) }));
  const rows = rowsOf(raw.episodes).map((row) => ({
    ...row,
    from: row.units[0],
    to: row.units[1],
    isEdge: row.kind.some(Boolean),
    rate: row.count.map((count, k) => (1e6 * count) / (recordings[k].end - recordings[k].begin)),
  }));
  const changes = raw.changes.map(({ from, to, p, q, change }) => rows.map((row, i) => ({ row, from, to, p: p[i], q: q[i], change: change[i] })));
  return { run: {}, names: raw.units, spikeCount: 0, recordings, rows, changes, alpha: raw.alpha };
}

// The changes that led to a recording, one for each row; none for the first one.
export function changesTo(data, k) {
  return data.changes.find((list) => list[0]?.to === k) ?? [];
}

export const sourcesOfComparison = [
  "J. Przyborowski, H. Wilenski, “Homogeneity of results in testing samples from Poisson series”, Biometrika 31 (1940)",
  "Y. Benjamini, Y. Hochberg, “Controlling the false discovery rate”, J. R. Statist. Soc. B 57 (1995)",
];
