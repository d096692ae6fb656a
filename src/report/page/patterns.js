// The patterns of SPADE, their table, and where they occur: in every bin from which on all their spikes are in the bins of
// their lags.

import { rowsOf, spikesOf } from "./data.js";
import { el, grouped, nameElement, noteOnFirst, shownNumber } from "./format.js";
import { boxFilter, figureColumn, flagColumn, inWords, leastFilter, makeList, numberColumn, unitFilter, unitsColumn } from "./table.js";

// Names with the times between them; spikes in one bin are joined by a plus.
export function patternElements(names, { units, lags_ms: lags }) {
  return units.flatMap((unit, k) => {
    if (k === 0) return [nameElement(names[unit])];
    const step = Number((lags[k] - lags[k - 1]).toFixed(3));
    return [" ", el("span", { class: "delay" }, step > 0 ? `→${shownNumber(step)}ms→` : "+"), " ", nameElement(names[unit])];
  });
}

// Names the picked pattern, whose spikes are orange in the raster.
export function makePatternLegend(state) {
  const legend = el("p", { class: "note legend" });
  state.listen((what) => {
    if (what === "picked") legend.replaceChildren("Orange: ", ...patternElements(state.data.names, state.now.picked), ".");
  });
  return legend;
}

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

const patternHelps = {
  count: "windows that hold the pattern", "duration (ms)": "from the first spike to the last", p: "share of surrogates that reach the pattern's signature",
  q: "p, corrected for all signatures tested", "stability intensional": "against the loss of occurrences", "stability extensional": "against the loss of spikes",
};

function columnsOfPatterns({ names, patterns }) {
  const more = Object.keys(patterns[0] ?? {}).filter((key) => !["pattern", "size", "units", "lags_ms", "number", "significant"].includes(key));
  const figures = (keys) => keys.map((key) => figureColumn(key, patternHelps[inWords(key)]));
  const first = ["count", "q"].filter((key) => more.includes(key));
  return [numberColumn("pattern"), sizeColumn, ...figures(first), unitsColumn(names, "lags", (row) => patternElements(names, row)),
    ...figures(more.filter((key) => !first.includes(key))), ...(patterns[0]?.significant === undefined ? [] : [flagColumn("significant")])];
}

function signatureText({ size, count, duration_ms: duration }) {
  return `${size} spikes, ${grouped(count)} occurrences${duration === null || duration === undefined ? "" : `, ${duration} ms`}`;
}

// Returns the element, and a function that shows only the patterns of a signature.
export function makePatterns(state) {
  const { names, patterns, patternTotal } = state.data;
  let signature = null;
  const hasSignature = (row) => !signature || (row.units.length === signature.size && row.count === signature.count &&
    (typeof signature.duration_ms !== "number" || row.duration_ms === signature.duration_ms));
  const drop = el("button", { type: "button", id: "drop-signature", hidden: true, onclick: () => choose(null) });
  const { element, list } = makeList(state, "pattern", { caption: "Patterns", columns: columnsOfPatterns(state.data), rows: patterns,
    notes: noteOnFirst(patterns, patternTotal, "patterns; patterns.tsv has all"),
    filters: [unitFilter(names), leastFilter("size-filter", "size at least", (row) => row.units.length), leastFilter("count-filter", "count at least", (row) => row.count),
      ...(patterns.some((row) => row.significant === false) ? [boxFilter("only-significant", "significant", (row) => row.significant, true)] : []),
      { input: drop, element: drop, keeps: hasSignature }] });

  function choose(one) {
    signature = one;
    drop.hidden = !one;
    drop.textContent = one ? `× ${signatureText(one)}` : "";
    list();
  }
  return { element, choose };
}
