// The compared recordings, the search of each, and how to repeat it.

import { repeatSection, sourceList } from "./about.js";
import { el, grouped, shownName, shownNumber } from "./format.js";
import { plainTable } from "./table.js";

export const asText = (value) => (value === null || value === undefined ? "–" : shownName(typeof value === "string" ? value : JSON.stringify(value)));

// The options that do not have the same value in all runs.
function differences(recordings) {
  const asked = recordings.map(({ run }) => run.parameters ?? {});
  const names = [...new Set(asked.flatMap(Object.keys))];
  return names.filter((name) => new Set(asked.map((one) => JSON.stringify(one[name]))).size > 1)
    .map((name) => [name, ...asked.map((one) => asText(one[name]))]);
}

const figure = (value, digits = 3) => (value === null ? "–" : shownNumber(value, digits));

// The overlap of each circuit with the one that it is compared with.
function stabilityOf({ recordings, stability }) {
  const name = (k) => shownName(recordings[k].name);
  const heads = ["", "pairs before", "pairs after", "common", "Jaccard index", "by chance", "stability", "p"];
  const rows = stability.map((one) => [`${name(one.from)} → ${name(one.to)}`, ...[one.before, one.after, one.common].map(grouped),
    figure(one.jaccard), figure(one.jaccard_expected), figure(one.stability), figure(one.p)]);
  return el("section", {}, el("h3", {}, "Stability of the circuit"), plainTable("Stability of the circuit", heads, rows),
    el("p", { class: "note" }, "Of pairs of units with a direct edge, whatever its delay. 0: they have in common what they have by chance if every unit keeps its numbers of incoming and outgoing edges; " +
      "1: they are the same. Pairs that a test misses lower it, too."));
}

export function makeComparedAbout(data, sources) {
  const { recordings } = data;
  const heads = ["", ...recordings.map(({ name }) => shownName(name))];
  const of = (label, text) => [label, ...recordings.map(text)];
  const others = differences(recordings);
  const commands = recordings.map(({ run }) => shownName(run.command ?? "")).join("\n");
  return el("div", { class: "about" },
    el("section", {}, el("h3", {}, "Recordings"), plainTable("Recordings", heads, [
      of("file", ({ run }) => asText(run.input?.path)),
      of("digest", ({ run }) => asText(run.input?.digest)),
      of("spikes", ({ spikeCount }) => grouped(spikeCount)),
      of("seconds", ({ begin, end }) => shownNumber((end - begin) / 1e6, 4)),
      of("units that fire", ({ trains }) => `${trains.filter(({ times }) => times.length > 0).length} of ${trains.length}`),
      of("spikeweave", ({ run }) => asText(run.spikeweave))])),
    data.stability ? stabilityOf(data) : [],
    el("section", {}, el("h3", {}, "Options that differ"),
      others.length === 0 ? el("p", {}, "All were searched alike.") : plainTable("Options that differ", heads, others)),
    repeatSection(commands),
    el("section", {}, el("h3", {}, "How to cite"), sourceList(sources)));
}
