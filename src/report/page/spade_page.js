// The page of a result of SPADE.

import { makeAbout } from "./about.js";
import { makeAligned } from "./aligned.js";
import { makeCounts } from "./counts.js";
import { el, grouped } from "./format.js";
import { makePatternLegend, makePatterns, patternElements, readPatterns } from "./patterns.js";
import { makeRaster } from "./raster.js";
import { makeFunnel, makeSpectrum } from "./spectrum.js";
import { leastQ, makeState } from "./state.js";

export const spadeSources = [
  "E. Torre, D. Picado-Muiño, M. Denker, C. Borgelt, S. Grün, “Statistical evaluation of synchronous spike patterns extracted by frequent item set mining”, Front. Comput. Neurosci. 7:132 (2013)",
  "P. Quaglio, A. Yegenoglu, E. Torre, D. M. Endres, S. Grün, “Detection and evaluation of spatio-temporal spike patterns in massively parallel spike train data with SPADE”, Front. Comput. Neurosci. 11:41 (2017)",
  "A. Stella, P. Quaglio, E. Torre, S. Grün, “3d-SPADE: significance evaluation of spatio-temporal patterns of various temporal extents”, BioSystems 185:104022 (2019)",
];

// "34 occurrences of 2 spikes, of 2 units or more"
function ruleText({ min_occ: occurrences, min_spikes: fewest, max_spikes: most, min_neu: units }) {
  const spikes = most === fewest ? fewest : most > 0 ? `${fewest} to ${most}` : `${fewest} or more`;
  return `${grouped(occurrences)} occurrences of ${spikes} spikes${units > 1 ? `, of ${units} units or more` : ""}`;
}

function ranSpade(run) {
  const { windows = {}, search = {}, significance = {} } = run;
  return [["bin", windows.bin_ms === undefined ? undefined : `${windows.bin_ms} ms`], ["window", windows.window_bins && `${windows.window_bins} bins`], ["windows", windows.windows],
    ["strategy", search.strategy], ...(search.rules ?? []).map((rule, i) => [i === 0 ? "at least" : "or", ruleText(rule)]), ["surrogates", significance.surrogates], ["surrogate method", significance.surrogate_method],
    ["spectrum", significance.spectrum], ["alpha", significance.alpha], ["correction", significance.correction]];
}

// The views that need spikes, and what draws them.
function viewsOfSpikes(state) {
  const { names, windows, spikeCount } = state.data;
  if (spikeCount === 0)
    return { views: [["raster", "Raster", el("p", { class: "note" }, "Windows were searched, of which the times are not known: there is no raster.")]], counts: [], linked: [], redraw() {}, showFirst() {} };
  const path = (row) => patternElements(names, row);
  const raster = makeRaster(state);
  const { bin_us: bin, length } = windows;
  const aligned = makeAligned(state, { hint: "Pick a pattern.", path, shadedText: "the bins of its lags", look: (row) => ({
    starts: row.found.starts, range: [-0.5 * length * bin, 1.5 * length * bin], axis: "time from the start of the window (ms)",
    shaded: row.lags_ms.map((ms) => [1000 * ms, 1000 * ms + bin]) }) });
  return {
    views: [["raster", "Raster", el("div", {}, raster.element, makePatternLegend(state))], ["aligned", "Occurrences", aligned.element, "Occurrences of a pattern, aligned"]],
    counts: [["counts", "Count over time", makeCounts(state, path, "Pick a pattern.")]],
    linked: [["raster"], ["aligned"]],
    showFirst: raster.showFirst,
    redraw() {
      for (const one of [raster, aligned]) one.redraw();
    },
  };
}

export function spadePage(raw) {
  const data = readPatterns(raw);
  const state = makeState(data, (row) => {
    row.found ??= data.occurrencesOf(row);
    return row.found.times;
  });
  const patterns = makePatterns(state);
  const { views, counts, linked, showFirst, redraw } = viewsOfSpikes(state);
  return {
    data, state, linked, redraw,
    rows: { pattern: data.patterns },
    found: `${grouped(data.patternTotal)} pattern${data.patternTotal === 1 ? "" : "s"}`,
    views: [...views, ["patterns", "Patterns", patterns.element], ...counts,
      ["spectrum", "Spectrum", makeSpectrum(data, patterns.choose), "Spectrum and signatures"], ["funnel", "Funnel", makeFunnel(data), "What each step removed"],
      ["about", "About", makeAbout(data, ranSpade(data.run), spadeSources), "About this result"]],
    start() {
      const best = leastQ(data.patterns.filter((row) => row.significant));
      if (best) state.pick("pattern", best);
      showFirst();
    },
  };
}
