// What a session was asked for, what ran and what was lost.

import { listOf } from "./about.js";
import { el, firstOf, grouped, shownName } from "./format.js";

const section = (title, ...content) => el("section", {}, el("h3", {}, title), ...content);

// What was lost, as [words, number]; empty if nothing was.
function lostOf({ raw, steps }) {
  const windows = steps.filter(({ window }) => window !== null).map(({ window }) => window);
  const all = [["messages that never came", raw.losses?.missing], ["messages and spikes that could not be read", raw.losses?.unreadable],
    ["spikes that came too late", raw.losses?.late], ["records that are not in the file", raw.losses?.unrecorded],
    ["windows that were skipped", windows.filter((one) => one.complete_to_size === 0).length],
    ["windows that may lack spikes", windows.filter((one) => one.has_gap).length],
    ["windows whose search ended early", windows.filter((one) => one.complete_to_size > 0).length]];
  return all.filter(([, number]) => number > 0);
}

export function makeSessionAbout(data, sources) {
  const { raw, run } = data;
  const lost = lostOf(data);
  const triggers = data.detections.filter((one) => !one.suppressed).length;
  return el("div", { class: "about" },
    section("What ran", listOf([["file", run.input?.path], ["digest", run.input?.digest], ["program", run.spikeweave],
      ["state", raw.has_ended ? "ended" : "not ended"], ["spikes that were analysed", grouped(data.spikeCount + data.leftOut)], ["epochs", String(data.epochs.length)],
      ["windows", grouped(raw.window_total)], ["detections", grouped(raw.detections.total)], ["triggers", `${grouped(triggers)} of ${firstOf(data.detections.length, raw.detections.total)} detections`]])),
    section("What was lost", lost.length === 0 ? el("p", {}, "Nothing is known to be lost.") : el("ul", { id: "lost", class: "lost-text" }, lost.map(([words, number]) => el("li", {}, `${grouped(number)} ${words}`))),
      listOf([["second spikes of a unit at a time, left out", grouped(raw.duplicates)], ["messages that came twice, left out", grouped(raw.repeated)]])),
    section("What was asked", listOf(Object.entries(run.parameters ?? {}))),
    section("How to check", el("pre", { id: "command", tabindex: "0" }, `spikeweave live ${shownName(run.input?.path ?? "")} --verify`)),
    section("How to cite", el("ul", {}, sources.map((text) => el("li", {}, text)))));
}
