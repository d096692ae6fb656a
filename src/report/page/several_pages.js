// The pages of several results of episodes: side by side, and one after another.

import { episodeSources } from "./episodes_page.js";
import { makeExports, withNumbers } from "./exports.js";
import { el, grouped, nameElement, shownName } from "./format.js";
import { findOccurrences } from "./occurrences.js";
import { makePlayer } from "./player.js";
import { makeRaster } from "./raster.js";
import { makeComparedAbout } from "./several_about.js";
import { changeLegend, directBox, makeComparedCircuit, noEdges } from "./several_circuit.js";
import { bestIn, makeShown, readSeveral, sourcesOfSeveral } from "./several_data.js";
import { makeChanges, makeComparedTable } from "./several_tables.js";
import { makeState } from "./state.js";

function partsOf(data, redraw) {
  const edges = data.rows.filter((row) => row.isEdge);
  return {
    data,
    edges,
    redraw,
    rows: { episode: data.rows },
    found: `${grouped(data.recordings.length)} recordings of ${grouped(data.names.length)} units, ` +
      `${grouped(edges.length)} edges and ${grouped(data.rows.length - edges.length)} chains`,
    about: ["about", "About", makeComparedAbout(data, [...sourcesOfSeveral, ...episodeSources]), "About these results"],
  };
}

export function sideBySidePage(raw) {
  const data = readSeveral(raw);
  const parts = partsOf(data, () => {});
  const state = makeState(data, () => new Float64Array(0));
  const table = makeComparedTable(state);
  const circuits = data.recordings.map(({ name }) => makeComparedCircuit(state, parts.edges, `Circuit of ${shownName(name)}`));
  const frames = circuits.map(({ picture }, k) => el("figure", { class: "frame" }, el("figcaption", {}, nameElement(data.recordings[k].name)), picture));
  const beside = el("div", {}, el("p", { class: "controls" }, directBox(circuits)), el("div", { class: "beside" }, frames), changeLegend());
  return {
    ...parts, state,
    views: [
      ["circuits", "Circuits", parts.edges.length === 0 ? noEdges("recordings") : withNumbers(beside, table.numbers)],
      ["episodes", "Episodes", table.element],
      ["changes", "Changes", makeChanges(state, ({ row }) => state.pick("episode", row)), `Changes from ${shownName(data.recordings[0].name)}`],
      parts.about,
    ],
    start() {
      circuits.forEach((circuit, k) => circuit.show(k));
      const best = bestIn(data.rows, data.recordings.length - 1);
      if (best) state.pick("episode", best);
    },
  };
}

export function seriesPage(raw) {
  const data = readSeveral(raw);
  const ties = data.recordings[0].run.search?.ties ?? "time";
  const { state, recording, showRecording } = makeShown(data, ({ trains }, row) => findOccurrences(trains, row.units, row.delays_ms, ties));
  const raster = makeRaster(state);
  const parts = partsOf(data, raster.redraw);
  const circuit = makeComparedCircuit(state, parts.edges, "Circuit: units, and edges to pick");
  const names = data.recordings.map(({ name }) => name);
  const player = makePlayer(names, (position) => {
    showRecording(Math.round(position));
    circuit.show(position);
  });
  const scene = () => ({ picture: circuit.picture, raster: raster.element.querySelector("canvas"), title: shownName(names[recording.number]) });
  const graph = el("div", {}, el("p", { class: "controls" }, directBox([circuit])), el("div", { class: "frame" }, circuit.picture), changeLegend());
  const pictures = el("div", { class: "two" },
    el("div", {}, parts.edges.length === 0 ? noEdges("recordings") : graph),
    el("div", { id: "raster" }, raster.element));
  return {
    ...parts, state,
    linked: [["series"]],
    steps: { name: "recording", count: names.length, shown: () => recording.number, go: player.seek },
    views: [
      ["series", "Series", el("div", {}, player.element, pictures, makeExports(scene))],
      ["changes", "Changes", makeChanges(state, ({ row, to }) => {
        player.pause();
        player.seek(to);
        state.pick("episode", row);
      }, { shown: () => recording.number }), "What changed"],
      ["episodes", "Episodes", makeComparedTable(state).element],
      parts.about,
    ],
    start() {
      player.seek(names.length - 1);
      const best = bestIn(data.rows, names.length - 1);
      if (best) state.pick("episode", best);
      raster.showFirst();
    },
  };
}
