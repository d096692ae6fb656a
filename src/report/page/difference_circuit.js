// The circuit of the pairs that were compared between two conditions, by what changed.

import { withNumbers } from "./exports.js";
import { el, intervalText, shownName } from "./format.js";
import { arrowElement, arrowHead, curve, graphElement, graphPlaces, markPicked, nodeElements, numbersOfWays, wideSize } from "./graph.js";

export const looks = { up: "stronger", down: "weaker", same: "same" };
const legendOf = (b) => [["stronger", `more in ${b}`], ["weaker", `less in ${b}`], ["same", "no significant change"]];

// The change in words.
export function changeText({ change, direction }, b) {
  if (change === "none") return "no significant change";
  return `${change}, ${direction === "up" ? "more" : "less"} in ${b}`;
}

function differenceArrow(state, row, number, places) {
  const { names, sides } = state.data;
  const [from, to] = row.units;
  const look = looks[row.direction];
  const words = `${shownName(names[from])} to ${shownName(names[to])}, ${intervalText(row.delays_ms[0])}, ${changeText(row, sides[1])}`;
  const line = { "stroke-width": row.change === "excess" ? 4 : 2, "marker-end": `url(#head-${look})` };
  return arrowElement(words, curve(places.get(from), places.get(to), number), line, { class: `edge ${look}`, "data-number": row.number },
    () => state.pick("finding", row));
}

export function makeDifferenceCircuit(state) {
  const { names, rows, sides } = state.data;
  const legend = legendOf(sides[1]);
  const pairs = rows.filter(({ units, delays_ms: delays }) => delays && units.length === 2);
  if (pairs.length === 0) return null;
  const size = wideSize(pairs);
  const places = graphPlaces(pairs, size);
  const numbers = numbersOfWays(pairs);
  const arrows = pairs.map((row, i) => differenceArrow(state, row, numbers[i], places));
  const nodes = nodeElements(places, names);
  const picture = graphElement("Differences: units, and pairs to pick", legend.map(([kind]) => arrowHead(kind)), arrows, nodes, size);
  const box = el("input", { type: "checkbox", id: "only-different", onchange: () =>
    pairs.forEach((row, i) => { arrows[i].style.display = box.checked && row.change === "none" ? "none" : ""; }) });
  state.listen((what) => {
    if (what === "picked") markPicked(arrows, pairs, nodes, state.now.picked);
  });
  withNumbers(picture, () => ({ heads: ["from", "to", "delay", "change", "rate_ratio", "rate_q", "excess_difference", "excess_q"],
    rows: pairs.map((row) => [...row.units.map((unit) => names[unit]), intervalText(row.delays_ms[0]), changeText(row, sides[1]), row.rate_ratio, row.rate_q, row.excess_difference, row.excess_q]) }));
  return el("div", {}, el("p", { class: "controls" }, el("label", { for: "only-different" }, box, " only pairs that changed")),
    el("div", { class: "frame" }, picture),
    el("p", { class: "note" }, "Thick: the connection changed. Thin: nothing did, or only the firing rates. ", legend.flatMap(([kind, words]) => [el("span", { class: `key ${kind}` }, words), " "])));
}
