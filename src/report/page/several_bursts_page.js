// The page of several results of bursts, one beside another in the given order, such as days.

import { burstComparison, burstSources } from "./bursts_page.js";
import { axesOf, axisMarks } from "./chart.js";
import { rowsOf } from "./data.js";
import { withNumbers } from "./exports.js";
import { el, grouped, nameElement, shownName, shownNumber, svg } from "./format.js";
import { makeComparedAbout } from "./several_about.js";
import { makeState } from "./state.js";
import { figureColumn, makeList } from "./table.js";

// Key of the summary, title, and whether each unit has it.
const burstFigures = [["rate_hz", "rate (Hz)", true], ["bursts_per_minute", "bursts per minute", true], ["share_in_bursts", "share of spikes in bursts", true], ["mean_duration_s", "duration of bursts (s)", true],
  ["mean_rate_hz", "rate within bursts (Hz)", true], ["network_bursts_per_minute", "network bursts per minute", false], ["network_duration_s", "duration of network bursts (s)", false], ["participating", "units in a network burst", false]];

// As the summary has it: the rate of units with spikes, all else of units with bursts.
const valuesOf = ({ units }, key) => units.filter((row) => (key === "rate_hz" ? row.spikes : row.bursts) > 0).map((row) => row[key]).filter((value) => value !== null).sort((a, b) => a - b);

function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

const [severalWidth, severalHeight, severalLeft, severalRight, severalTop, severalBottom] = [560, 240, 56, 14, 14, 44];

// The median of each recording, with the quartiles of its units.
function makeFigureChart(state, [key, title, isOfUnits]) {
  const { recordings } = state.data;
  const boxes = recordings.map((one) => {
    const values = isOfUnits ? valuesOf(one, key) : [];
    return values.length > 0 ? [quantile(values, 0.25), one.figures[key], quantile(values, 0.75)] : [one.figures[key], one.figures[key], one.figures[key]];
  });
  const highest = 1.05 * boxes.reduce((most, [, middle, high]) => Math.max(most, middle ?? 0, high ?? 0), 0) || 1;
  const step = (severalWidth - severalLeft - severalRight) / recordings.length;
  const x = (k) => severalLeft + (k + 0.5) * step;
  const y = (value) => severalHeight - severalBottom - ((severalHeight - severalTop - severalBottom) * value) / highest;
  const half = Math.min(12, 0.35 * step);
  const every = Math.ceil(recordings.length / 5);
  const marks = boxes.map(([low, middle, high], k) => (middle === null ? null : svg("g", { class: "recording", onclick: () => state.pick("recording", recordings[k].row) }, svg("title", {}, `${shownName(recordings[k].name)}: ${shownNumber(middle)}`),
    svg("rect", { x: x(k) - half, width: 2 * half, y: y(high), height: Math.max(1, y(low) - y(high)) }), svg("path", { d: `M${x(k) - half},${y(middle)}h${2 * half}` }))));
  const picture = svg("svg", { viewBox: `0 0 ${severalWidth} ${severalHeight}`, class: "chart boxes", role: "img", "aria-label": `${title} of each recording` },
    axesOf({ left: severalLeft, right: severalWidth - severalRight, top: severalTop, bottom: severalHeight - severalBottom },
      { title: "recording", marks: recordings.map((_, k) => k).filter((k) => k % every === 0), at: x, text: (k) => { const name = shownName(recordings[k].name); return name.length > 10 ? `${name.slice(0, 3)}…${name.slice(-6)}` : name; } },
      { title, marks: axisMarks(0, highest, 4).marks, at: y }), marks.filter(Boolean));
  state.listen((what) => {
    if (what === "picked") marks.forEach((mark, k) => mark?.classList.toggle("picked", recordings[k].row === state.now.picked));
  });
  return el("div", { class: "frame" }, withNumbers(picture, () => ({ heads: ["recording", "lower_quartile", key, "upper_quartile"], rows: boxes.map((box, k) => [recordings[k].name, ...box]) })));
}

function makeRecordings(state) {
  const { recordings } = state.data;
  const rows = recordings.map(({ row }) => row);
  const { element } = makeList(state, "recording", { caption: "Summaries", rows, columns: [{ label: "recording", value: (row) => row.number, cell: (row) => nameElement(recordings[row.number - 1].name) },
    figureColumn("unit_count", "number of units"), figureColumn("firing", "those with a spike"), figureColumn("bursting", "those with a burst"), ...burstFigures.slice(0, 5).map(([key]) => figureColumn(key, "median of the units")),
    figureColumn("interval_variation", "standard deviation of the intervals between bursts by their mean, median of the units"), figureColumn("network_bursts"), ...burstFigures.slice(5).map(([key]) => figureColumn(key)), figureColumn("peak_rate_hz", "the most spikes of all units in 10 ms, median of the network bursts")] });
  return element;
}

export function severalBurstsPage(raw) {
  const recordings = raw.recordings.map(({ name, run, unit_names: names, summary, units }, k) => {
    const [row] = rowsOf(summary);
    Object.assign(row, { number: k + 1, units: [] });
    const { spikes, begin_s, end_s } = run.input;
    const all = rowsOf(units);
    return { name, run, names, figures: row, row, units: all, spikeCount: spikes, begin: 1e6 * begin_s, end: 1e6 * end_s, trains: all.map((unit) => ({ times: { length: unit.spikes } })) };
  });
  const data = { run: {}, names: [], spikeCount: 0, begin: 0, end: 0, recordings };
  const state = makeState(data, () => new Float64Array(0));
  const methods = new Set(recordings.map(({ run }) => run.parameters?.method ?? "max-interval"));
  return {
    data, state,
    rows: { recording: recordings.map(({ row }) => row) },
    found: `${grouped(recordings.length)} recordings`,
    views: [
      ["figures", "Figures", el("div", {}, el("div", { class: "beside" }, burstFigures.map((one) => makeFigureChart(state, one))), el("p", { class: "note" }, "Line: median. Box: quartiles of the units with bursts, of rates those of the units with spikes.")), "Recordings in their order"],
      ["recordings", "Recordings", makeRecordings(state), "Summaries of the recordings"],
      ["about", "About", makeComparedAbout(data, [...[...methods].map((one) => burstSources[one]).filter(Boolean), burstComparison]), "About these results"],
    ],
    redraw() {},
    start() {
      state.pick("recording", recordings.at(-1).row);
    },
  };
}
