// Starts the page.

import { makeAbout } from "./about.js";
import { makeCircuit } from "./circuit.js";
import { makeCorrelogram } from "./correlogram.js";
import { makeCounts } from "./counts.js";
import { readData } from "./data.js";
import { makeEpisodes } from "./episodes.js";
import { el, grouped, shownName, timeText } from "./format.js";
import { makeRaster } from "./raster.js";
import { makeState } from "./state.js";

// The theme is that of the system until the button is pressed.
function makeThemeButton(redraw) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const button = document.getElementById("theme");
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    name();
    redraw();
  });
  dark.addEventListener("change", () => {
    name();
    redraw();
  });
  name();
}

function start() {
  const data = readData(document.getElementById("data").textContent);
  const state = makeState(data);
  const file = shownName(String(data.run.input?.path ?? "").split("/").pop());
  document.title = file ? `${file}: episodes` : "Episodes";
  document.getElementById("summary").append(
    el("bdi", {}, file), `${file ? ": " : ""}${grouped(data.spikeCount)} spikes of ${grouped(data.names.length)} units in ${timeText(data.end - data.begin, 1e5)}, ` +
    `${grouped(data.episodeTotal)} frequent episodes, ${grouped(data.edges.length)} edges`);
  const raster = makeRaster(state);
  const views = { raster: raster.element, episodes: makeEpisodes(state), circuit: makeCircuit(state), correlogram: makeCorrelogram(state), counts: makeCounts(state), about: makeAbout(state) };
  for (const [id, view] of Object.entries(views)) document.getElementById(id).append(view);
  makeThemeButton(raster.redraw);
  window.addEventListener("beforeprint", raster.redraw);
  const strongest = data.edges.filter((edge) => edge.kind === "direct").sort((a, b) => b.strength - a.strength)[0] ?? data.edges[0];
  if (strongest) state.pick("edge", strongest);
  const chain = data.episodes.find((row) => row.chain) ?? data.episodes[0];
  if (chain) state.pick("episode", chain);
  raster.redraw();
}

try {
  start();
} catch (error) {
  document.getElementById("summary").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
}
