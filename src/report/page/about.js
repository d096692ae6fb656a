// What was asked and what ran, warnings, how to cite and how to repeat.

import { el, grouped, shownName } from "./format.js";

const sources = [
  "Y. Cao, D. Patnaik, S. Ponce, J. Archuleta, P. Butler, W. Feng, N. Ramakrishnan, “Parallel Mining of Neuronal Spike Streams on Graphics Processing Units”, Int. J. Parallel Programming 40 (2012)",
  "K. P. Unnikrishnan, P. S. Sastry et al., “Statistical significance of sequential firing patterns in multi-neuronal spike trains”, arXiv:0808.3511",
];

function valueText(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "object") return shownName(JSON.stringify(value));
  return shownName(String(value));
}

function listOf(rows) {
  return el("dl", {}, rows.filter(([, value]) => value !== undefined).flatMap(([name, value]) => [el("dt", {}, shownName(name)), el("dd", {}, valueText(value))]));
}

function ran({ run, spikeCount, names, begin, end }) {
  const { input = {}, search = {} } = run;
  const seconds = run.seconds === undefined ? undefined : `${Number(run.seconds.toPrecision(3))} s`;
  return [["input", input.path], ["digest", input.digest && `${input.digest_algorithm} ${input.digest}`], ["spikes", grouped(spikeCount)], ["units", names.length],
    ["recording", `${begin / 1e6} s to ${end / 1e6} s`], ["duplicates dropped", input.duplicates_dropped], ["stimulus markers", input.stimulus_markers],
    ["strategy", search.strategy], ["threshold", search.threshold], ["test", run.significance?.test], ["alpha", run.significance?.alpha],
    ["surrogates", run.surrogates?.number], ["surrogate method", run.surrogates?.method], ["seed", run.seed], ["threads", run.threads], ["time taken", seconds]];
}

export function makeAbout({ data }) {
  const { run } = data;
  const warnings = run.input?.warnings ?? [];
  const levels = run.search?.levels ?? [];
  return el("div", { class: "about" },
    el("section", {}, el("h3", {}, "Warnings"), warnings.length === 0 ? el("p", {}, "There were none.") : el("ul", { id: "warnings" }, warnings.map((text) => el("li", {}, shownName(text))))),
    el("section", {}, el("h3", {}, "How to repeat"), el("pre", { id: "command", tabindex: "0" }, shownName(run.command ?? ""))),
    el("section", {}, el("h3", {}, "What ran"), listOf(ran(data)),
      el("ul", {}, levels.map((level) => el("li", {}, `size ${level.size}: ${grouped(level.candidates)} candidates, ${grouped(level.frequent)} frequent`)))),
    el("section", {}, el("h3", {}, "What was asked"), listOf(Object.entries(run.parameters ?? {}))),
    el("section", {}, el("h3", {}, "How to cite"), el("p", {}, `spikeweave ${valueText(run.spikeweave)}, with the methods of:`), el("ul", {}, sources.map((text) => el("li", {}, text)))));
}
