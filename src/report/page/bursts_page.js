// The page of a result of bursts.

import { makeAbout } from "./about.js";
import { makeAligned } from "./aligned.js";
import { barChart } from "./chart.js";
import { makeCounts } from "./counts.js";
import { numbersOf, rowsOf, spikesOf } from "./data.js";
import { el, grouped, nameElement, noteOnFirst, shownName, shownNumber } from "./format.js";
import { makeRaster } from "./raster.js";
import { firstAtOrAfter } from "./raster_image.js";
import { makeState } from "./state.js";
import { figureColumn, leastFilter, makeList, numberColumn, unitFilter } from "./table.js";

export const burstSources = {
  "max-interval": "Nex Technologies, “NeuroExplorer manual”: burst analysis (MaxInterval)",
  "log-isi": "V. Pasquale, S. Martinoia, M. Chiappalone, “A self-adapting approach for the detection of bursts and network bursts in neuronal cultures”, J. Comput. Neurosci. 29:213 (2010)",
};
export const burstComparison = "E. Cotterill, P. Charlesworth, C. W. Thomas, O. Paulsen, S. J. Eglen, “A comparison of computational methods for detecting bursts in neuronal spike trains and their application to human stem cell-derived neuronal networks”, J. Neurophysiol. 116:306 (2016)";

// The beginnings and ends of the bursts of each unit, in microseconds.
function readBurstMarks({ number, units, steps_us, durations_us }, begin, unitCount) {
  const marks = Array.from({ length: unitCount }, () => ({ begins: [], ends: [] }));
  const [whose, steps, durations] = [units, steps_us, durations_us].map((text) => numbersOf(text, number));
  for (let i = 0, at = begin; i < number; ++i) {
    at += steps[i];
    marks[whose[i]].begins.push(at);
    marks[whose[i]].ends.push(at + durations[i]);
  }
  return marks;
}

// A network burst with the units that take part, in the order of the first spikes of their bursts. Bursts that began long
// before take part from a little before the network burst on.
const lead = 200000;
function readNetworkBurst(row, marks, trains) {
  const [begin, end] = [row.begin_s, row.end_s].map((seconds) => Math.round(1e6 * seconds));
  const parts = marks.flatMap(({ begins, ends }, unit) => {
    const { times } = trains[unit];
    const time = times[firstAtOrAfter(times, Math.max(begins[firstAtOrAfter(ends, begin)] ?? Infinity, begin - lead))];
    return time <= end ? [{ unit, time }] : [];
  });
  parts.sort((a, b) => a.time - b.time || a.unit - b.unit);
  return { ...row, span: [begin, end], count: 1, units: parts.map(({ unit }) => unit), times: parts.map(({ time }) => time) };
}

// A line for each burst in the row of its unit, and a shade for each burst of the network. Bursts on the same column of pixels are one.
function drawBursts({ data, now }, context, { rowOf, rowHeight, left, width, colours }) {
  const x = (time) => left + ((time - now.from) / (now.to - now.from)) * width;
  context.fillStyle = colours.violet;
  context.globalAlpha = 0.16;
  for (const { span: [begin, end] } of data.network)
    if (end >= now.from && begin <= now.to) context.fillRect(x(begin), 0, Math.max(1, x(end) - x(begin)), rowHeight * rowOf.size);
  context.globalAlpha = 1;
  context.fillStyle = colours.blue;
  const thick = Math.max(1, Math.min(3, Math.round(0.12 * rowHeight)));
  for (const [unit, row] of rowOf) {
    const { begins, ends } = data.marks[unit];
    let drawn = -1;
    for (let i = firstAtOrAfter(ends, now.from); i < ends.length && begins[i] < now.to; ++i) {
      const [from, to] = [Math.max(x(begins[i]), drawn), x(ends[i])];
      if (to <= drawn) continue;
      context.fillRect(from, (row + 1) * rowHeight - thick, Math.max(1, to - from), thick);
      drawn = Math.max(from + 1, to);
    }
  }
}

// Bins of a tenth of a power of ten, over all that there is.
function logHistogram(seconds, more) {
  const bins = seconds.map((value) => Math.floor(10 * Math.log10(value) + 1e-9));
  const [low, high] = [bins.reduce((a, b) => Math.min(a, b), 0), bins.reduce((a, b) => Math.max(a, b), 0) + 1];
  const bars = new Array(high - low).fill(0);
  for (const bin of bins) ++bars[bin - low];
  return barChart({ low: low / 10, high: high / 10, bars, xText: (mark) => shownNumber(10 ** mark), ...more(low / 10) }).element;
}

// The intervals between spikes, and the durations of the bursts, of the unit that is picked.
function makeHistograms(state) {
  const { data } = state;
  const element = el("div", { id: "histograms-view" }, el("p", { class: "note" }, "Pick a unit."));
  state.listen((what) => {
    if (what !== "picked" || state.now.kind !== "unit") return;
    const row = state.now.picked;
    const { apart } = data.trains[row.units[0]];
    const intervals = Array.from(apart.slice(1), (time, i) => (time - apart[i]) / 1e6).filter((seconds) => seconds < 5000);
    const { begins, ends } = data.marks[row.units[0]];
    const longest = row.longest_interval_ms === null ? {} : { longest: row.longest_interval_ms / 1e3 };
    const charts = [];
    if (intervals.length > 0)
      charts.push(logHistogram(intervals, (low) => ({ label: "Intervals between spikes", xLabel: "interval between spikes (s)", yLabel: "intervals", shade: longest.longest && [low, Math.log10(longest.longest)] })));
    if (begins.length > 0)
      charts.push(logHistogram(begins.map((begin, i) => (ends[i] - begin) / 1e6), () => ({ label: "Durations of bursts", xLabel: "duration of a burst (s)", yLabel: "bursts" })));
    element.replaceChildren(el("h3", {}, nameElement(data.names[row.units[0]])),
      ...(longest.longest ? [el("p", { class: "note" }, `Shaded: up to ${shownNumber(row.longest_interval_ms)} ms, the longest interval in its bursts.`)] : []), ...charts);
  });
  return element;
}

const shareColumn = (key, help) => ({ ...figureColumn(key, help, (share) => `${shownNumber(100 * share, 3)} %`), label: "in bursts" });

const makeBurstingUnits = (state) => makeList(state, "unit", { caption: "Units", rows: state.data.units,
  columns: [{ label: "unit", value: (row) => state.data.names[row.unit], cell: (row) => shownName(state.data.names[row.unit]) }, figureColumn("rate_hz", "mean rate"), figureColumn("bursts"),
    figureColumn("bursts_per_minute"), shareColumn("share_in_bursts", "share of its spikes in bursts"), figureColumn("mean_duration_s", "of its bursts"), figureColumn("mean_rate_hz", "within its bursts"),
    figureColumn("mean_interval_s", "from a burst to the next one"), figureColumn("interval_variation", "standard deviation of these intervals by their mean"), figureColumn("spike_variation", "the same of the intervals between its spikes: 1 for random spikes, more with bursts"), figureColumn("longest_interval_ms", "in its bursts")],
  filters: [unitFilter(state.data.names)] }).element;

const makeNetworkBursts = (state) => makeList(state, "network", { caption: "Network bursts", rows: state.data.network,
  notes: noteOnFirst(state.data.network, state.data.networkTotal, "network bursts; network_bursts.tsv has all"),
  columns: [numberColumn("network burst"), figureColumn("begin_s", "when enough units are in a burst"), figureColumn("duration_ms"), figureColumn("participating", "number of units with a burst in it"),
    figureColumn("spikes", "of all units"), figureColumn("peak_rate_hz", "the most spikes of all units in 10 ms"), figureColumn("interval_s", "since the one before")],
  filters: [leastFilter("participating-filter", "units at least", (row) => row.participating)] }).element;

function readBursts(raw) {
  const data = spikesOf(raw);
  const marks = readBurstMarks(raw.marks, data.begin, data.names.length);
  const units = rowsOf(raw.units).map((row) => ({ ...row, units: [row.unit], count: row.bursts, times: marks[row.unit].begins }));
  return { ...data, marks, units, network: rowsOf(raw.network_bursts, "network_burst").map((row) => readNetworkBurst(row, marks, data.trains)), networkTotal: raw.network_bursts.total };
}

export function burstsPage(raw) {
  const data = readBursts(raw);
  const { parameters = {}, bursts } = data.run;
  const state = makeState(data, (row) => Float64Array.from(row.times));
  const raster = makeRaster(state, (context, area) => drawBursts(state, context, area));
  const isUnit = () => state.now.kind === "unit";
  const path = (row) => (isUnit() ? ["Bursts of ", nameElement(data.names[row.unit])] : [`Network burst ${grouped(row.number)}`]);
  // A burst of usual length takes half of the picture.
  const look = (row) => {
    const length = isUnit() ? 1e6 * (row.mean_duration_s || 0.1) : Math.max(1e4, row.span[1] - row.times[0]);
    return { starts: isUnit() ? state.now.occurrences : [row.times[0]], shaded: [], range: [-0.5 * length, 1.5 * length], axis: "time from the first spike of the burst (ms)" };
  };
  const aligned = makeAligned(state, { hint: "Pick a unit or a network burst.", path, look });
  const most = data.units.reduce((best, row) => (best && best.bursts >= row.bursts ? best : row), null);
  return {
    data, state,
    rows: { unit: data.units, network: data.network },
    linked: [["raster"], ["aligned"]],
    found: `${grouped(bursts.bursts)} ${bursts.bursts === 1 ? "burst" : "bursts"}, ${grouped(bursts.network_bursts)} of the network`,
    views: [
      ["raster", "Raster", el("div", {}, raster.element, el("p", { class: "note" }, "Blue: bursts of a unit. Violet: bursts of the network. Orange: the first spike of each burst of what is picked."))],
      ["aligned", "Bursts", aligned.element, "Bursts of a unit, aligned"],
      ["units", "Units", makeBurstingUnits(state)],
      ["network", "Network bursts", makeNetworkBursts(state)],
      ["histograms", "Intervals", makeHistograms(state), "Intervals and durations of bursts of a unit"],
      ["counts", "Bursts over time", makeCounts(state, path, "Pick a unit or a network burst.")],
      ["about", "About", makeAbout(data, [["bursts", bursts.bursts], ["network bursts", bursts.network_bursts], ["units of a network burst, at least", bursts.units_of_network]],
        [burstSources[parameters.method] ?? burstSources["max-interval"], burstComparison]), "About this result"],
    ],
    redraw() {
      for (const one of [raster, aligned]) one.redraw();
    },
    start() {
      if (most) state.pick("unit", most);
    },
  };
}
