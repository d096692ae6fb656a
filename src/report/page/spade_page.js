// The page of a result of SPADE.

import { makeAbout } from "./about.js";
import { makeAligned } from "./aligned.js";
import { makeCounts } from "./counts.js";
import { savePng } from "./exports.js";
import { el, grouped } from "./format.js";
import { makePatterns, patternElements, readPatterns } from "./patterns.js";
import { makeRaster } from "./raster.js";
import { makeFunnel, makeSpectrum } from "./spectrum.js";
import { makeState } from "./state.js";

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

// The views that need spikes.
function viewsOfSpikes(state, raster, aligned) {
  const { data } = state;
  if (data.spikeCount === 0) {
    const none = "Windows were searched, of which the times are not known: there is no raster.";
    return [[["raster", "Raster", el("p", { class: "note" }, none)]], []];
  }
  const pictureOfSpikes = el("div", {}, raster.element, savePng("raster", raster.element.querySelector("canvas")));
  return [[["raster", "Raster", pictureOfSpikes], ["aligned", "Occurrences", aligned.element, "Occurrences of a pattern, aligned"]],
    [["counts", "Count over time", makeCounts(state, (row) => patternElements(data.names, row), "Pick a pattern.")]]];
}

export function spadePage(raw) {
  const data = readPatterns(raw);
  const state = makeState(data, (row) => {
    row.found ??= data.occurrencesOf(row);
    return row.found.times;
  });
  const raster = makeRaster(state);
  const patterns = makePatterns(state);
  const aligned = makeAligned(state);
  const redraw = () => {
    if (data.spikeCount === 0) return;
    raster.redraw();
    aligned.redraw();
  };
  const [before, after] = viewsOfSpikes(state, raster, aligned);
  return {
    data,
    found: `${grouped(data.patternTotal)} pattern${data.patternTotal === 1 ? "" : "s"}`,
    views: [...before, ["patterns", "Patterns", patterns.element], ...after,
      ["spectrum", "Spectrum", makeSpectrum(data, patterns.choose), "Spectrum and signatures"], ["funnel", "Funnel", makeFunnel(data), "What each step removed"],
      ["about", "About", makeAbout(data, ranSpade(data.run), spadeSources), "About this result"]],
    redraw,
    start() {
      if (data.patterns.length > 0) state.pick("pattern", data.patterns[0]);
      redraw();
    },
  };
}
