// The page of a result of assemblies.

import { makeAbout } from "./about.js";
import { makeAligned } from "./aligned.js";
import { makeCounts } from "./counts.js";
import { rowsOf, spikesOf } from "./data.js";
import { el, grouped, noteOnFirst, testFigure } from "./format.js";
import { patternElements } from "./patterns.js";
import { makeRaster } from "./raster.js";
import { firstAtOrAfter } from "./raster_image.js";
import { makeState } from "./state.js";
import { figureColumn, leastFilter, makeList, makeTable, numberColumn, sizeColumn, unitFilter, unitsColumn } from "./table.js";

const assemblySources = [
  "E. Russo, D. Durstewitz, “Cell assemblies at multiple time scales with arbitrary lag constellations”, eLife 6:e19428 (2017)",
];

// Units are shown in the order of their lags, not in that in which they were joined.
function readAssembly(row, { number, begins_us }, i) {
  const order = row.units.map((_, k) => k).sort((a, b) => row.lags_ms[a] - row.lags_ms[b] || a - b);
  return { ...row, units: order.map((k) => row.units[k]), lags_ms: order.map((k) => row.lags_ms[k]), activations: number[i], begins_us: begins_us[i] };
}

// In each bin in which an assembly is active: the first spike of each unit in the bin of its lag. `active` are these bins.
function findActivations({ trains }, row) {
  const { units, lags_ms: lags, bin_ms: bin, begins_us: begins } = row;
  const times = [];
  row.active = begins.filter((begin) => {
    const first = units.map((unit, k) => {
      const from = begin + Math.round(1000 * lags[k]);
      const time = trains[unit].times[firstAtOrAfter(trains[unit].times, from)];
      return time < from + 1000 * bin ? time : NaN;
    });
    const isWhole = first.every(Number.isFinite);
    if (isWhole) times.push(...first);
    return isWhole;
  });
  return Float64Array.from(times);
}

// The page opens on the assembly that is least likely by chance.
const leastP = (rows) => rows.reduce((best, row) => (row.p_corrected < best.p_corrected ? row : best));

const hasAll = (row) => row.begins_us.length === row.activations;
const activationsLeft = (row) => (hasAll(row) ? "" : ` of ${grouped(row.activations)}: there are too many for a page, and activations.tsv has all`);

function makeAssemblies(state) {
  const { names, assemblies, total } = state.data;
  const complete = assemblies.filter(hasAll).length;
  const notes = [...noteOnFirst(assemblies, total, "assemblies; assemblies.tsv has all"),
    ...(complete === assemblies.length ? [] : [el("p", { class: "note" }, `There are too many activations for a page: it has all of ${grouped(complete)} assemblies; activations.tsv has the others.`)])];
  return makeList(state, "assembly", { caption: "Assemblies", rows: assemblies, notes,
    columns: [numberColumn("assembly"), sizeColumn, figureColumn("count", "activations"), figureColumn("p_corrected", "p, corrected for the tests of its step", testFigure),
      { ...unitsColumn(names, "lags", (row) => patternElements(names, row)), help: "in the order of their lags; units in one bin are joined by a plus" },
      figureColumn("bin_ms", "width of the bins"), figureColumn("p", "of joining the last unit", testFigure)],
    filters: [unitFilter(names), leastFilter("size-filter", "size at least", (row) => row.units.length)] }).element;
}

// The bins of its lags, from the beginning of the first one on.
const lookOfAssembly = ({ now }) => ({ lags_ms: lags, bin_ms: bin }) => {
  const shaded = lags.map((ms) => [1000 * ms, 1000 * (ms + bin)]);
  const reach = shaded.at(-1)[1];
  return { starts: now.picked.active, shaded, range: [-0.75 * reach, 1.75 * reach], axis: "time from the start of the first bin (ms)" };
};

const makeSteps = (steps) => makeTable({ caption: "Search", rows: steps, columns: [figureColumn("bin_ms", "width of the bins"), figureColumn("size", "number of units"),
  figureColumn("tests", "of a smaller assembly and a unit"), figureColumn("significant"), figureColumn("kept", "different sets of units")] }).element;

export function assembliesPage(raw) {
  const data = { ...spikesOf(raw), assemblies: rowsOf(raw.assemblies, "assembly").map((row, i) => readAssembly(row, raw.active, i)), total: raw.assemblies.total };
  const state = makeState(data, (row) => findActivations(data, row));
  const raster = makeRaster(state);
  const path = (row) => [...patternElements(data.names, row), ` in bins of ${row.bin_ms} ms`];
  const aligned = makeAligned(state, { hint: "Pick an assembly.", path, shadedText: "the bins of its lags", look: lookOfAssembly(state) });
  return {
    data, state,
    rows: { assembly: data.assemblies },
    linked: [["raster"], ["aligned"]],
    found: `${grouped(data.total)} ${data.total === 1 ? "assembly" : "assemblies"}`,
    views: [
      ["raster", "Raster", raster.element],
      ["aligned", "Occurrences", aligned.element, "Activations of an assembly, aligned"],
      ["assemblies", "Assemblies", makeAssemblies(state)],
      ["counts", "Count over time", makeCounts(state, path, "Pick an assembly.", activationsLeft)],
      ["search", "Search", makeSteps(rowsOf(raw.search)), "What each step of the search found"],
      ["about", "About", makeAbout(data, [["assemblies", data.total]], assemblySources), "About this result"],
    ],
    redraw() {
      for (const one of [raster, aligned]) one.redraw();
    },
    start() {
      if (data.assemblies.length > 0) state.pick("assembly", leastP(data.assemblies));
      raster.showFirst();
    },
  };
}
