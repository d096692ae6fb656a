// The page of several results of SPADE: patterns that are found in all of them or in some only.

import { makeCounts } from "./counts.js";
import { rowsOf, spikesOf } from "./data.js";
import { el, grouped, noteOnFirst, shownName, shownNumber } from "./format.js";
import { makePatternLegend, occurrenceFinder, patternElements } from "./patterns.js";
import { makeRaster } from "./raster.js";
import { makeComparedAbout } from "./several_about.js";
import { makeShown, readChanges, sourcesOfSeveral } from "./several_data.js";
import { makeChanges } from "./several_tables.js";
import { spadeSources } from "./spade_page.js";
import { boxFilter, flagColumn, makeList, numberColumn, sizeColumn, unitFilter, unitsColumn } from "./table.js";

const noteOnPatterns = {
  what: "patterns",
  steps: "lags",
  found: "found in one of the two results only",
  caveat: "Windows overlap, and an event that lasts fills several bins, so counts vary more than Poisson counts do and p is too small: look at the " +
    "ratio of the rates first. A rate also rises if the units only fire more. A pattern that is not found can still occur, as part of another one or as often as by chance.",
};

function readRecording({ name, run, spikes, windows, patterns }, units) {
  const read = { name, windows, patternTotal: patterns, ...spikesOf({ run, unit_names: units, spikes }) };
  return { ...read, seconds: (windows.bin_us * windows.bins) / 1e6, occurrencesOf: occurrenceFinder(read) };
}

function readComparedPatterns(raw) {
  const recordings = raw.recordings.map((one) => readRecording(one, raw.unit_names));
  const rows = rowsOf(raw.patterns).map((row) => ({ ...row, rate: row.count.map((count, k) => count / recordings[k].seconds) }));
  const path = (row) => patternElements(raw.unit_names, row);
  return { run: {}, names: raw.unit_names, spikeCount: 0, recordings, rows, total: raw.patterns.total, changes: readChanges(raw, rows), alpha: raw.alpha, path, note: noteOnPatterns };
}

function patternColumns({ recordings, names, path }) {
  return [numberColumn("pattern"), sizeColumn, unitsColumn(names, "lags", path),
    ...recordings.flatMap(({ name }, k) => [
      { label: `${shownName(name)}: count`, help: "windows that hold the pattern", isNumber: true, value: (row) => row.count[k] },
      { label: "per second", help: "count, by the time that was binned", isNumber: true, value: (row) => row.rate[k], cell: (row) => shownNumber(row.rate[k], 4) },
      { label: "p", help: "share of surrogates that reach the pattern's signature; a dash: not found, or not tested", isNumber: true, value: (row) => row.p[k], cell: (row) => shownNumber(row.p[k]) },
      { label: "q", help: "p, corrected for all signatures tested", isNumber: true, value: (row) => row.q[k], cell: (row) => shownNumber(row.q[k]) },
      flagColumn("found", (row) => row.found[k], "significant, or without surrogates frequent, and left after reduction"),
    ])];
}

function notesOnTables({ recordings, rows, total }) {
  const some = recordings.filter(({ patternTotal }) => patternTotal > 10000).map(({ name }) => shownName(name));
  return [...noteOnFirst(rows, total, "patterns"),
    ...(some.length > 0 ? [el("p", { class: "note" }, `Only the first 10,000 patterns of ${some.join(" and ")} are compared; others count as not found.`)] : [])];
}

function makeComparedPatterns(state) {
  const { data } = state;
  return makeList(state, "pattern", { caption: "Patterns of all results", columns: patternColumns(data), rows: data.rows, notes: notesOnTables(data),
    filters: [unitFilter(data.names), boxFilter("only-some", "not found in all", (row) => !row.found.every(Boolean))] }).element;
}

export function severalSpadePage(raw) {
  const data = readComparedPatterns(raw);
  const { state, recording, showRecording } = makeShown(data, ({ occurrencesOf }, row) => occurrencesOf(row).times);
  const raster = makeRaster(state);
  const choice = el("select", { id: "shown-recording", onchange: () => showRecording(Number(choice.value)) },
    data.recordings.map(({ name }, k) => el("option", { value: k }, shownName(name))));
  state.listen((what) => {
    if (what === "recording") choice.value = recording.number;
  });
  const inAll = data.rows.filter((row) => row.found.every(Boolean)).length;
  return {
    data, state,
    rows: { pattern: data.rows },
    linked: [["raster", "patterns"]],
    steps: { name: "recording", count: data.recordings.length, shown: () => recording.number, go: showRecording },
    redraw: raster.redraw,
    found: `${grouped(data.recordings.length)} results of ${grouped(data.names.length)} units, ${grouped(data.rows.length)} patterns, ${grouped(inAll)} found in all`,
    views: [
      ["raster", "Raster", el("div", {}, el("p", { class: "controls" }, el("label", { for: "shown-recording" }, "result ", choice)), raster.element, makePatternLegend(state))],
      ["patterns", "Patterns", makeComparedPatterns(state)],
      ["counts", "Count over time", makeCounts(state, data.path, "Pick a pattern.")],
      ["changes", "Changes", makeChanges(state, ({ row, to }) => {
        showRecording(to);
        state.pick("pattern", row);
      }), "What changed"],
      ["about", "About", makeComparedAbout(data, [...sourcesOfSeveral, ...spadeSources]), "About these results"],
    ],
    start() {
      if (data.rows.length > 0) state.pick("pattern", data.rows[0]);
      raster.showFirst();
    },
  };
}
