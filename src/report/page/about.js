// The request and the run of a result, its citation, and how to repeat it.

import { el, grouped, shownName, shownNumber } from "./format.js";

function valueText(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "number") return shownNumber(value, 4);
  if (typeof value === "object") return shownName(JSON.stringify(value));
  return shownName(String(value));
}

export function listOf(rows) {
  return el("dl", {}, rows.filter(([, value]) => value !== undefined).flatMap(([name, value]) => [el("dt", {}, shownName(name)), el("dd", {}, valueText(value))]));
}

// The facts of a run for every kind of result, with those of its own kind.
function ran({ run, spikeCount, names, begin, end, spans, observed }, more) {
  const { input = {} } = run;
  const seconds = run.seconds === undefined ? undefined : `${shownNumber(run.seconds)} s`;
  return [["input", input.path], ["digest", input.digest && `${input.digest_algorithm} ${input.digest}`], ["spikes", grouped(spikeCount)], ["units", names.length],
    ["recording", `${shownNumber(begin / 1e6, 4)} s to ${shownNumber(end / 1e6, 4)} s`],
    ["epochs", spans && `${grouped(spans.length)}, ${shownNumber(observed / 1e6, 4)} s together`], ["duplicates dropped", input.duplicates_dropped], ["stimulus markers", input.stimulus_markers],
    ...more, ["seed", run.seed], ["threads", run.threads], ["time taken", seconds]];
}

export const repeatSection = (command) => el("section", {}, el("h3", {}, "How to repeat"), el("pre", { id: "command", tabindex: "0" }, command));

// Each source once.
export const sourceList = (sources) => el("ul", {}, [...new Set(sources)].map((text) => el("li", {}, text)));

export const citeSection = (version, sources) => el("section", {}, el("h3", {}, "How to cite"), el("p", {}, `spikeweave ${valueText(version)}, with the methods of:`),
  sourceList(sources));

// The options that the command, or the call, names, of a session those that have a value; all others can be opened.
export function askedSection({ parameters = {}, command = "" }) {
  const named = new Set(command.split(/[\s(,]+/).map((word) => word.replace(/^--(no-)?/, "").split("=")[0].replaceAll("-", "_")));
  const isAsked = ([name, value]) => (command === "" ? ![null, false, "", "automatic"].includes(value) : named.has(name));
  const [asked, others] = [true, false].map((is) => Object.entries(parameters).filter((one) => isAsked(one) === is));
  return el("section", {}, el("h3", {}, "What was asked"), el("div", { id: "asked" }, listOf(asked),
    el("details", { open: asked.length === 0 || named.has("config") }, el("summary", {}, command === "" ? `${others.length} options without a value of their own` : `${others.length} options that it does not name, as they were used`), listOf(others))));
}

// `more`: names and values of what ran; `sources`: what is to be cited; `further`: more sections.
export function makeAbout(data, more, sources, further = []) {
  const { run } = data;
  return el("div", { class: "about" },
    repeatSection(shownName(run.command ?? "")),
    further, el("section", {}, el("h3", {}, "What ran"), listOf(ran(data, more))),
    askedSection(run),
    citeSection(run.spikeweave, sources));
}
