// The page of an analysis of several steps: why each was chosen, what it found, and where its result is.

import { repeatSection } from "./about.js";
import { withNumbers } from "./exports.js";
import { el, grouped, shownName } from "./format.js";

function stepElement({ why, command, folder, summary, has_page: hasPage, picture }) {
  const link = hasPage ? el("p", {}, el("a", { href: `${encodeURIComponent(folder)}/report.html` }, "Explore this result")) : [];
  const image = picture === null ? [] : el("img", { src: `data:image/svg+xml,${encodeURIComponent(picture)}`, alt: `Circuit: ${shownName(summary)}` });
  return el("li", {}, el("p", {}, shownName(why)), el("pre", { tabindex: "0" }, shownName(command)), el("p", { class: "found" }, shownName(summary)), link, image);
}

export function runPage({ run, steps }) {
  const list = withNumbers(el("ol", {}, steps.map(stepElement)), () => ({ heads: ["why", "command", "found"], rows: steps.map(({ why, command, summary }) => [why, command, summary]) }));
  return {
    data: { run, spikeCount: 0 },
    found: `${grouped(steps.length)} step${steps.length === 1 ? "" : "s"}`,
    views: [["steps", "Steps", list, "What was decided, and what was found"],
      ["about", "About", repeatSection(steps.map(({ command }) => shownName(command)).join("\n")), "About this analysis"]],
    redraw() {},
    start() {},
  };
}
