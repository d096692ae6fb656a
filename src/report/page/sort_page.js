// The page of a sorting.

import { makeAbout } from "./about.js";
import { el, grouped } from "./format.js";
import { makeProbe } from "./probe.js";
import { makeRaster } from "./raster.js";
import { makeAmplitudes, makeDepths } from "./scatter.js";
import { followOther, makeSimilar } from "./similar_units.js";
import { readSorting } from "./sorting_data.js";
import { makeState } from "./state.js";
import { makeUnitCorrelograms } from "./unit_correlograms.js";
import { makeMerges, makeUnits } from "./units.js";
import { makeWaveforms } from "./waveforms.js";

const shownAtFirst = 5e6;  // microseconds

export const sortSources = [
  "C. Rossant et al., “Spike sorting for large, dense electrode arrays”, Nature Neuroscience 19:634 (2016)",
  "S. N. Kadir, D. F. M. Goodman, K. D. Harris, “High-dimensional cluster analysis with the masked EM algorithm”, Neural Computation 26:2379 (2014)",
  "M. Pachitariu, S. Sridhar, J. Pennington, C. Stringer, “Spike sorting with Kilosort4”, Nature Methods 21:914 (2024)",
];

function ranSort(run) {
  const { sorting = {}, input = {} } = run;
  return [["features", input.features], ["masks from", input.masks_from], ["strategy", sorting.strategy], ["stopped", sorting.stopped], ["iterations", sorting.iterations],
    ["spikes in noise", sorting.noise_spikes], ["score", sorting.score ?? undefined]];
}

function aboutPhy({ spikeCount, run }) {
  const text = spikeCount === 0 ? "Phy needs the times of the spikes, which are not known." : run.parameters?.phy === false ? "The folder phy was not written (--no-phy)."
    : run.parameters?.phy === undefined ? "In Python, result.to_phy(\"phy\") writes the folder. Then:" : "In the folder of this result:";
  const command = spikeCount === 0 || run.parameters?.phy === false ? [] : el("pre", { id: "phy", tabindex: "0" }, "phy template-gui phy/params.py");
  return el("section", {}, el("h3", {}, "How to open it in Phy"), el("p", {}, text), command);
}

export function sortPage(raw) {
  const data = readSorting(raw);
  const state = makeState(data, (row) => data.trains[row.number - 1]?.times ?? new Float64Array(0));
  followOther(state);
  const raster = makeRaster(state);
  const [amplitudes, depths] = [makeAmplitudes(state), makeDepths(state)];
  const timed = data.spikeCount > 0;
  const redraw = () => {
    if (timed) raster.redraw();
    amplitudes.redraw();
    depths.redraw();
  };
  return {
    data, state, redraw,
    linked: [["units", "raster"], ["shapes", "correlograms"]],
    rows: { unit: data.units },
    found: `${grouped(data.units.length)} unit${data.units.length === 1 ? "" : "s"}`,
    views: [
      ["units", "Units", makeUnits(state), "Units and their quality"],
      ["shapes", "Waveforms", el("div", { class: "aside" }, makeProbe(state), makeWaveforms(state)), "Probe and waveforms"],
      ["similar", "Similar", makeSimilar(state), "Similar units"],
      ["correlograms", "Correlograms", makeUnitCorrelograms(state)],
      ["amplitudes", "Amplitude", amplitudes.element, "Amplitude over time"],
      ["depths", "Depth", depths.element, "Depth over time"],
      ["raster", "Raster", timed ? raster.element : el("p", { class: "note" }, "The times of the spikes are not known.")],
      ["merges", "Merges", makeMerges(state), "Merges and other decisions"],
      ["about", "About", makeAbout(data, ranSort(data.run), sortSources, [aboutPhy(data)]), "About this result"],
    ],
    start() {
      const good = data.units.filter(({ label }) => label === "good");
      const units = good.length > 0 ? good : data.units;
      const [best] = units.toSorted((a, b) => (b.snr ?? 0) - (a.snr ?? 0) || b.spikes - a.spikes);
      if (best) state.pick("unit", best);
      if (timed) state.show(data.begin, data.begin + shownAtFirst);
    },
  };
}
