// The page of two sortings of one recording: which units are the same in both.

import { makeAgreement } from "./agreement.js";
import { rowsOf } from "./data.js";
import { el, figureOrText, grouped, shownName } from "./format.js";
import { makeRaster } from "./raster.js";
import { makeComparedAbout } from "./several_about.js";
import { sortSources } from "./sort_page.js";
import { readSorting } from "./sorting_data.js";
import { makeState } from "./state.js";
import { boxFilter, figureColumn, flagColumn, makeList, plainTable } from "./table.js";
import { nameOfColumn } from "./units.js";
import { drawWaveforms } from "./waveforms.js";

const sortComparisonSources = [
  "A. P. Buccino, C. L. Hurwitz, S. Garcia et al., “SpikeInterface, a unified framework for spike sorting”, eLife 9:e61834 (2020)",
];

// The spikes of both units that match, each one at most once, one pair after another.
function sharedSpikes(first, second, within) {
  const shared = [];
  let j = 0;
  for (const time of first) {
    while (j < second.length && second[j] < time - within) ++j;
    if (j < second.length && second[j] <= time + within) shared.push(time, second[j++]);
  }
  return Float64Array.from(shared);
}

function readSortings(raw) {
  const sortings = raw.sortings.map((one) => ({ name: one.name, ...readSorting(one) }));
  const rows = rowsOf(raw.rows);
  // Pairs are numbered after the rows, so that the address of the page has one number for whatever is picked.
  const pairs = rowsOf(raw.pairs).map((pair) => ({ ...pair, number: rows.length + pair.number }));
  return { run: {}, names: [], spikeCount: 0, sortings, rows, pairs, within: 1000 * raw.within_ms, matched: raw.matched_agreement };
}

// The pair that is picked has the raster: a row for each of its units.
function makePairState(data) {
  const [first, second] = data.sortings;
  const shown = { ...data, trains: [], begin: Math.min(first.begin, second.begin), end: Math.max(first.end, second.end) };
  const state = makeState(shown, ({ units }) => (units.length === 2 ? sharedSpikes(shown.trains[0].times, shown.trains[1].times, data.within) : new Float64Array(0)));
  const pick = state.pick;
  state.pick = (kind, row) => {
    const sides = [row.one, row.other].map((unit, k) => ({ unit, sorting: data.sortings[k] })).filter(({ unit }) => unit !== null);
    shown.names = sides.map(({ unit, sorting }) => `${sorting.name}: ${sorting.names[unit]}`);
    shown.trains = sides.map(({ unit, sorting }) => sorting.trains[unit]);
    pick(kind, Object.assign(row, { units: sides.map((_, k) => k), sides }));
  };
  state.pickPair = ({ one, other }) => {
    const isIt = (pair) => pair.one === one && pair.other === other;
    state.pick("pair", data.rows.find(isIt) ?? data.pairs.find(isIt));
  };
  return state;
}

function pairColumns({ sortings }) {
  const unit = (key, k) => ({ label: `${shownName(sortings[k].name)}: unit`, value: (row) => row[key],
    cell: (row) => (row[key] === null ? "–" : shownName(sortings[k].names[row[key]])), isNumber: true });
  const spikes = (key, k) => ({ label: `${shownName(sortings[k].name)}: spikes`, value: (row) => sortings[k].trains[row[key]]?.times.length, cell: (row) => figureOrText(sortings[k].trains[row[key]]?.times.length), isNumber: true });
  return [unit("one", 0), unit("other", 1), flagColumn("match", (row) => row.matched),
    figureColumn("agreement", "matches, by the spikes of both without counting matches twice"),
    figureColumn("matches", "spikes of both that match"), spikes("one", 0), spikes("other", 1)];
}

function makePairs(state) {
  const { data } = state;
  const { element } = makeList(state, "pair", { caption: "Units and their best matches", columns: pairColumns(data), rows: data.rows,
    filters: [boxFilter("only-unmatched", "only units without a match", (row) => !row.matched)] });
  element.append(el("p", { class: "note" }, `Each unit with its best match: the one with the largest agreement, if that is at least 0.1. It is a match if the agreement is at least ${data.matched} and each is the best match of the other. ` +
      `Spikes match if they are at most ${data.within / 1000} ms apart.`));
  return element;
}

// Both units of the pair: the columns of their tables, and their waveforms.
function makePair(state) {
  const { data } = state;
  const element = el("div", { id: "pair-view" }, el("p", { class: "note" }, "Pick a pair."));
  const columns = [...new Set(data.sortings.flatMap((sorting) => sorting.columns))].filter((key) => key !== "unit" && nameOfColumn(key));
  const quality = ({ unit, sorting }, key) => figureOrText(sorting.units.find((row) => row.number === unit + 1)?.[key]);
  const waveform = ({ unit, sorting }, name) => el("div", {}, el("h3", {}, name),
    sorting.waveforms ? el("div", { class: "frame" }, drawWaveforms(sorting, unit + 1)) : el("p", { class: "note" }, "There are no waveforms: features were sorted, not a recording."));
  state.listen((what) => {
    if (what !== "picked") return;
    const { sides } = state.now.picked;
    const names = data.names.map(shownName);
    element.replaceChildren(plainTable("Both units", ["", ...names], columns.map((key) => [nameOfColumn(key), ...sides.map((side) => quality(side, key))])),
      el("div", { class: "two" }, sides.map((side, k) => waveform(side, names[k]))));
  });
  return element;
}

export function severalSortPage(raw) {
  const state = makePairState(readSortings(raw));
  const { data } = state;
  const { sortings, rows } = data;
  const raster = makeRaster(state);
  const units = sortings.map(({ name, names }) => `${shownName(name)} has ${grouped(names.length)} units`);
  return {
    data,
    state,
    rows: { pair: [...rows, ...data.pairs] },
    redraw: raster.redraw,
    found: `${units.join(", ")}, ${grouped(rows.filter((row) => row.matched).length)} match`,
    views: [
      ["units", "Units", makePairs(state), "Units and their best matches"],
      ["agreement", "Agreement", el("div", { class: "frame" }, makeAgreement(state))],
      ["pair", "Pair", makePair(state), "The pair that is picked"],
      ["raster", "Raster", el("div", {}, raster.element, el("p", { class: "note" }, "Orange: spikes that both units have."))],
      ["about", "About", makeComparedAbout({ recordings: sortings }, [...sortComparisonSources, ...sortSources]), "About these results"],
    ],
    start() {
      if (rows.length > 0) state.pickPair(rows.find((row) => row.matched) ?? rows[0]);
      raster.redraw();
    },
  };
}
