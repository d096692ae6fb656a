// The patterns of SPADE, and where they occur: in every bin from which on all their spikes are in the bins of their lags.

import { rowsOf, spikesOf } from "./data.js";

// Joined epochs have a time axis of their own, on which bins are counted: what is added to a time for each epoch.
function joinedTime({ segments_us: segments }, time) {
  if (segments.length === 0) return time;
  let at = segments.length - 1;
  while (at > 0 && segments[at][1] > time) --at;
  return segments[at][0] + (time - segments[at][1]);
}

// The bins that have a spike of a unit, ascending, and the first spike in each.
function binned(windows, times) {
  const bins = [];
  const spikes = [];
  for (let i = 0; i < times.length; ++i) {
    const bin = Math.floor((joinedTime(windows, times[i]) - windows.origin_us) / windows.bin_us);
    if (bin === bins[bins.length - 1] || bin < 0 || bin >= windows.bins) continue;
    bins.push(bin);
    spikes.push(i);
  }
  return { bins, spikes };
}

// Returns a function from a pattern to `starts`, the left edges of the bins in which it begins, and `times`, the times of
// the spikes of each occurrence. All are in microseconds of the recording.
export function occurrenceFinder({ trains, windows }) {
  const known = new Map();
  const binnedUnit = (unit) => {
    if (!known.has(unit)) known.set(unit, binned(windows, trains[unit].times));
    return known.get(unit);
  };
  return ({ units, lags_ms: lags }) => {
    const items = units.map((unit, k) => ({ ...binnedUnit(unit), times: trains[unit].times, lag: Math.round((1000 * lags[k]) / windows.bin_us), at: 0 }));
    const starts = [];
    const times = [];
    for (const start of items[0].bins) {
      const isWhole = items.every((item) => {
        while (item.at < item.bins.length && item.bins[item.at] < start + item.lag) ++item.at;
        return item.bins[item.at] === start + item.lag;
      });
      if (!isWhole) continue;
      const first = items[0].times[items[0].spikes[items[0].at]];
      starts.push(first - (joinedTime(windows, first) - windows.origin_us - start * windows.bin_us));
      for (const item of items) times.push(item.times[item.spikes[item.at]]);
    }
    return { starts: Float64Array.from(starts), times: Float64Array.from(times) };
  };
}

export function readPatterns(raw) {
  const data = {
    ...spikesOf(raw),
    windows: raw.windows,
    patterns: rowsOf(raw.patterns, "pattern"),
    patternTotal: raw.patterns.total,
    signatures: rowsOf(raw.signatures, "signature"),
    signatureTotal: raw.signatures.total,
    spectrum: raw.spectrum && { ...raw.spectrum, fields: rowsOf(raw.spectrum) },
    funnel: rowsOf(raw.funnel),
  };
  return { ...data, occurrencesOf: occurrenceFinder(data) };
}
