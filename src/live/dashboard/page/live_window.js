// The circuit of the last window, and what changed since the one before.

import { el, grouped, intervalText, nameElement, shownNumber, shownName, svg, timeText } from "./format.js";
import { arrowHead, curve, graphElement, graphPlaces, nodeElements } from "./graph.js";

const windowChanges = ["new", "stronger", "weaker", "gone", "same"];
const mostPairsShown = 40;

// Pairs of two windows, each with its count now and before, and how it changed. A count is weaker or stronger beyond what
// chance does to it often: twice the root of the larger one.
export function changesOf(now, before) {
  const key = ([from, to, low, high]) => `${from} ${to} ${low} ${high}`;
  const counts = new Map((before?.pairs ?? []).map((pair) => [key(pair), pair[4]]));
  const row = ([from, to, low, high, count, expected, isSignificant], was, change) => ({ from, to, delay_ms: [low / 1000, high / 1000], count, was, change, expected, isSignificant });
  const rows = now.pairs.map((pair) => {
    const was = counts.get(key(pair)) ?? 0;
    counts.delete(key(pair));
    const margin = 2 * Math.sqrt(Math.max(was, pair[4]));
    return row(pair, was, !before ? "" : was === 0 ? "new" : pair[4] > was + margin ? "stronger" : pair[4] < was - margin ? "weaker" : "");
  });
  const gone = (before?.pairs ?? []).filter((pair) => counts.has(key(pair))).map((pair) => row([...pair.slice(0, 4), 0, ...pair.slice(5)], pair[4], "gone"));
  return [...rows, ...gone];
}

// An episode that is not in a window's table is not frequent in it, and its count is unknown.
const knownCount = (count) => (count ? grouped(count) : "–");

// The counts and what is expected, by their columns.
const isNumber = (column) => ([3, 4, 6].includes(column) ? { class: "number" } : {});

// Places stay as they are until units come that have none.
export function makeWindowView(nameOf) {
  const element = el("div", {}, el("p", { class: "note" }, "No window has been mined yet."));
  let places = new Map();
  let shown = null;
  let shownNames = null;

  function picture(rows) {
    if (rows.some(({ from, to }) => !places.has(from) || !places.has(to)))
      places = graphPlaces(rows.map((row) => ({ ...row, units: [row.from, row.to] })));
    const most = Math.max(1, ...rows.map(({ count, was }) => Math.max(count, was)));
    const arrows = rows.map(({ from, to, count, was, change }) => svg("g", { class: `edge ${change || "same"}` }, svg("title", {}, `${shownName(nameOf(from))} to ${shownName(nameOf(to))}: ${knownCount(count)}, before ${knownCount(was)}`),
      svg("path", { class: "line", d: curve(places.get(from), places.get(to)), "stroke-width": 1 + (5 * Math.max(count, was)) / most, "marker-end": `url(#head-${change || "same"})` })));
    const names = new Map([...places.keys()].map((unit) => [unit, nameOf(unit)]));
    return graphElement("Circuit of the last window", windowChanges.map((change) => arrowHead(change)), arrows, nodeElements(places, Object.fromEntries(names)));
  }

  function table(rows) {
    const cells = ({ from, to, delay_ms: delay, count, was, change, expected }) =>
      [nameElement(nameOf(from)), nameElement(nameOf(to)), intervalText(delay), knownCount(count), knownCount(was), change, shownNumber(expected)].map((cell, i) => el("td", isNumber(i), cell));
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "pairs of the last window" }, el("table", { class: "plain", id: "pairs" },
      el("thead", {}, el("tr", {}, ["from", "to", "delay", "count", "before", "change", "expected by chance"].map((name, i) => el("th", { scope: "col", ...isNumber(i) }, name)))),
      el("tbody", {}, rows.slice(0, mostPairsShown).map((row) => el("tr", {}, cells(row))))));
  }

  // The last windows, the newest one last, and the names of units, which may come after the window that has them.
  function draw(windows, names) {
    const [now, before] = [windows.at(-1), windows.at(-2)];
    if (!now || (now === shown && names === shownNames)) return;
    [shown, shownNames] = [now, names];
    const rows = changesOf(now, before?.epoch === now.epoch ? before : null);
    const sizes = now.by_size.map((count, i) => `${grouped(count)} of ${i + 1}`).join(", ");
    const notes = `${now.has_gap ? ", messages were lost in it" : ""}${now.complete_to_size === null ? "" : `, complete to size ${now.complete_to_size}`}`;
    const significant = rows.filter(({ isSignificant }) => isSignificant);
    const changed = significant.filter(({ change }) => change);
    element.replaceChildren(
      el("p", { class: "note", id: "window", "data-window": now.window },
        `Window ${now.window}, ${timeText(now.t_us[0], 1e4)} to ${timeText(now.t_us[1], 1e4)}: ${grouped(now.spikes)} spikes, threshold ${now.threshold}; episodes by size: ${sizes || "none"}${notes}. ` +
        `${before ? `Changed since window ${before.window}: ${changed.length} of ${significant.length} significant pairs.` : ""}`),
      el("div", { class: "two" }, el("div", {}, el("div", { class: "frame" }, picture(significant)), el("p", { class: "note" }, `Drawn are the ${grouped(significant.length)} pairs that occur more often than independent units with as many spikes would give (1 %, Bonferroni).`)), table([...changed, ...significant.filter(({ change }) => !change)])));
  }
  return { element, draw };
}
