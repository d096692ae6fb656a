// The page of a comparison of two conditions: what differs, and by how much.

import { askedSection, citeSection, listOf, repeatSection } from "./about.js";
import { axisMarks } from "./chart.js";
import { rowsOf } from "./data.js";
import { changeText, looks, makeDifferenceCircuit } from "./difference_circuit.js";
import { episodeSources, pathElements } from "./episodes_page.js";
import { el, firstOf, grouped, noteOnFirst, shownName, shownNumber, svg } from "./format.js";
import { patternElements } from "./patterns.js";
import { spadeSources } from "./spade_page.js";
import { makeState } from "./state.js";
import { boxFilter, figureColumn, makeList, numberColumn, plainTable } from "./table.js";

const conditionSources = [
  "A. Janssen, “Studentized permutation tests for non-i.i.d. hypotheses and the generalized Behrens–Fisher problem”, Statistics and Probability Letters 36 (1997)",
  "B. Phipson, G. K. Smyth, “Permutation p-values should never be zero”, Statistical Applications in Genetics and Molecular Biology 9:39 (2010)",
];

const elementsOf = ({ names }, row) => (row.delays_ms ? pathElements(names, row) : patternElements(names, row));

// An estimate with its interval, as far as they are known.
function estimateText(value, low, high) {
  if (value === null) return "–";
  return low === null ? shownNumber(value) : `${shownNumber(value)} (${shownNumber(low)} to ${shownNumber(high)})`;
}

const ratioText = (row) => estimateText(row.rate_ratio, row.rate_ratio_low, row.rate_ratio_high);
const excessText = (row) => estimateText(row.excess_difference, row.excess_difference_low, row.excess_difference_high);

// Columns of a table that are a forest plot: estimates with their 95 % intervals on one scale.
const [forestWidth, forestHeight, forestMargin] = [220, 18, 14];
const forestMarks = [0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100, 1000];

// `isRatio`: the scale is logarithmic and 1 means no change, otherwise 0. `of(row)`: {value, low, high}, null where they are
// not known. `text(row)` has the digits, and `look(row)` a class. Intervals that leave the range of the estimates by more
// than their width are cut.
function forestColumn({ label, help, rows, isRatio, of, text, look }) {
  const on = isRatio ? Math.log : (value) => value;
  const none = isRatio ? 1 : 0;
  const values = [none, ...rows.map((row) => of(row).value).filter((value) => value !== null && on(value) > -Infinity)].map(on);
  const ends = (choose, key) => [choose(...values), choose(...rows.map((row) => of(row)[key]).filter((end) => end !== null).map(on))];
  const reach = Math.max(Math.max(...values) - Math.min(...values), isRatio ? 0.5 : 1e-6);
  const [[least, lowest], [most, highest]] = [ends(Math.min, "low"), ends(Math.max, "high")];
  const [low, high] = [Math.max(least - reach, Math.min(least - reach / 9, lowest)), Math.min(most + reach, Math.max(most + reach / 9, highest))];
  const x = (value) => forestMargin + ((forestWidth - 2 * forestMargin) * (Math.min(Math.max(on(value), low), high) - low)) / (high - low);
  const seen = forestMarks.filter((one) => on(one) >= low && on(one) <= high);
  const marks = !isRatio ? axisMarks(low, high, 6).marks : seen.length > 6 ? seen.filter((one) => Number.isInteger(Math.log10(one))) : seen;
  const axis = svg("svg", { viewBox: `0 0 ${forestWidth} ${forestHeight}`, class: "forest", "aria-hidden": "true" },
    marks.map((mark) => svg("text", { x: x(mark), y: 13, "text-anchor": "middle" }, shownNumber(mark))));
  const cell = (row) => {
    const { value, low: from, high: to } = of(row);
    if (value === null) return "–";
    const picture = svg("svg", { viewBox: `0 0 ${forestWidth} ${forestHeight}`, class: `forest ${look(row)}`, role: "img", "aria-label": text(row) },
      svg("title", {}, text(row)), svg("path", { class: "none", d: `M${x(none)},0V${forestHeight}` }),
      from === null ? [] : svg("path", { d: `M${x(from)},${forestHeight / 2}H${x(to)}` }), svg("circle", { cx: x(value), cy: forestHeight / 2, r: 4 }));
    return el("div", {}, picture);
  };
  return { label, help, value: (row) => of(row).value, cell, axis };
}

function makeFindings(state) {
  const { data } = state;
  const { rows, sides: [a, b] } = data;
  const figures = (key) => (row) => ({ value: row[key], low: row[`${key}_low`], high: row[`${key}_high`] });
  const is = (kinds) => (row) => (kinds.includes(row.change) ? looks[row.direction] : "same");
  const { element } = makeList(state, "finding", { caption: "Findings", rows, sorted: 1, notes: noteOnFirst(rows, data.total, "findings; differences.tsv has all"),
    filters: [boxFilter("only-changed", "only what changed", (row) => row.change !== "none")], columns: [
    numberColumn("finding"),
    { label: "change", isLong: true, help: "of the excess beyond the rates of the units, or of the rate only; by the smaller q", value: (row) => Math.min(row.rate_q, row.excess_q), cell: (row) => changeText(row, b) },
    { label: "units", isLong: true, value: (row) => row.units.map((unit) => data.names[unit]).join(" "), cell: (row) => elementsOf(data, row) },
    forestColumn({ label: `excess, ${b} less ${a}`, help: `how much more often a first spike is followed beyond chance in ${b}, with its 95 % interval`, rows, isRatio: false, of: figures("excess_difference"), text: excessText, look: is(["excess"]) }),
    figureColumn("excess_q", "p of the excess, corrected for all findings"),
    forestColumn({ label: `rate, ${b} by ${a}`, help: `how many times as often in ${b}, with its 95 % interval`, rows, isRatio: true, of: figures("rate_ratio"), text: ratioText, look: is(["rate", "excess"]) }),
    figureColumn("rate_q", "p of the rate, corrected for all findings"),
    { ...figureColumn("count_a", `occurrences in ${a}`), label: `count, ${a}` }, { ...figureColumn("count_b", `occurrences in ${b}`), label: `count, ${b}` }] });
  element.append(el("p", { class: "note" }, "Dots are estimates and lines their 95 % intervals; grey ones did not change significantly. Rate: occurrences in a second. Excess: the share of first spikes that is " +
    "followed beyond what the rates of the units explain. If the excess changed, so did the connection; if only the rate did, the units fire more or less. A pointer on a dot shows its numbers."));
  return element;
}

// All that is known of the finding that is picked.
function makeFinding(state) {
  const element = el("div", { id: "finding-view" }, el("p", { class: "note" }, "Pick a finding."));
  state.listen((what) => {
    if (what !== "picked") return;
    const row = state.now.picked;
    const sides = (key) => ["a", "b"].map((side) => shownNumber(row[`${key}_${side}`]));
    const rows = [["occurrences", ...sides("count"), "", "", ""], ["expected by chance", ...sides("expected"), "", "", ""], ["first spikes", ...sides("first_spikes"), "", "", ""],
      ["rate (1/s)", shownNumber(row.rate_a_hz), shownNumber(row.rate_b_hz), `ratio ${ratioText(row)}`, shownNumber(row.rate_p), shownNumber(row.rate_q)],
      ["excess", ...sides("excess"), `difference ${excessText(row)}`, shownNumber(row.excess_p), shownNumber(row.excess_q)],
      ...(row.found_a === undefined ? [] : [["searches that found it", ...sides("found"), "", "", ""]])];
    element.replaceChildren(el("h3", {}, elementsOf(state.data, row), `: ${changeText(row, state.data.sides[1])}`),
      plainTable("The finding that is picked", ["", ...state.data.sides, `${state.data.sides.toReversed().join(" compared with ")}, 95 %`, "p", "q"], rows));
  });
  return element;
}

function makeCompareAbout({ run, names, sides }, sources) {
  const { a, b } = run.input;
  const { samples, labellings, all_labellings: areAll, smallest_p: smallest } = run.comparison;
  const of = (label, text) => [label, text(a), text(b)];
  return el("div", { class: "about" },
    el("section", {}, el("h3", {}, "Conditions"), plainTable("Conditions", ["", ...sides], [
      of("files", ({ files }) => files.map(({ path }) => shownName(path)).join(", ")), of("digests", ({ files }) => files.map(({ digest }) => digest).join(", ")),
      of("recordings", (one) => grouped(one.recordings)), of("samples", (one) => grouped(one.samples)), of("seconds", (one) => shownNumber(one.observed_s, 4)), of("spikes", (one) => grouped(one.spikes))])),
    repeatSection(shownName(run.command ?? "")),
    el("section", {}, el("h3", {}, "What ran"), listOf([["units", names.length], ["samples are", samples], ["labellings", `${areAll ? "all" : "random"} ${grouped(labellings)}`],
      ["smallest p that they can give", smallest], ["seed", run.seed], ["time taken", `${Number(run.seconds.toPrecision(3))} s`]])),
    askedSection(run),
    citeSection(run.spikeweave, sources));
}

export function comparePage(raw) {
  const data = { run: raw.run, names: raw.unit_names, sides: [raw.run.input.a, raw.run.input.b].map(({ name }) => shownName(name)), spikeCount: 0, begin: 0, end: 0, rows: rowsOf(raw.differences, "finding"), total: raw.differences.total };
  const state = makeState(data, () => new Float64Array(0));
  const changed = data.rows.filter(({ change }) => change !== "none");
  const circuit = makeDifferenceCircuit(state);
  const arePatterns = Boolean(raw.differences.lags_ms);
  return {
    data, state,
    rows: { finding: data.rows },
    redraw: () => {},
    linked: circuit ? [["differences", "findings"]] : [],
    found: `${firstOf(data.rows.length, data.total)} findings in two conditions, ${grouped(changed.length)} changed`,
    views: [
      ...(circuit ? [["differences", "Differences", circuit, `What differs between ${data.sides.join(" and ")}`]] : []),
      ["findings", "Findings", makeFindings(state)],
      ["finding", "Finding", makeFinding(state), "The finding that is picked"],
      ["about", "About", makeCompareAbout(data, [...conditionSources, ...(arePatterns ? spadeSources : episodeSources)]), "About this comparison"],
    ],
    start() {
      const q = (row) => Math.min(row.rate_q, row.excess_q);
      if (data.rows.length > 0) state.pick("finding", data.rows.reduce((best, row) => (q(row) < q(best) ? row : best)));
    },
  };
}
