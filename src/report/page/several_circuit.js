// The circuit of one of several recordings, or of a time between two of them. Units have the same places in all:
// those of their electrodes, if these are those of an array.

import { el, intervalText, shownName } from "./format.js";
import { arrowElement, arrowHead, bar, curve, graphElement, graphPlaces, isInhibitory, markPicked, nodeElements, numbersOfWays, probePlaces } from "./graph.js";
import { isFlat } from "./layout.js";
import { changesTo } from "./several_data.js";

const changeKinds = [["new", "new"], ["stronger", "stronger"], ["weaker", "weaker"], ["gone", "gone"], ["same", "no significant change"]];
let circuitCount = 0;

export function changeLegend() {
  return el("p", { class: "note" }, "Width: rate. A bar instead of a head: inhibition, which is stronger if the rate is lower. ", changeKinds.flatMap(([kind, words]) => [el("span", { class: `key ${kind}` }, words), " "]));
}

export const noEdges = (where) => el("p", { class: "note" }, `No pair of units is significant in any of the ${where}, so there is no circuit.`);

export function directBox(circuits) {
  const box = el("input", { type: "checkbox", id: "only-direct", onchange: () => circuits.forEach((one) => one.showOnlyDirect(box.checked)) });
  return el("label", { for: "only-direct" }, box, " only direct edges");
}

// The look of an arrow in a recording: null if it is not there.
function lookOf(row, k, { change, from } = {}, most) {
  const width = (rate) => 1 + 5 * Math.sqrt(rate / most);
  const look = (kind, at, scale, opacity) => ({ kind, width: scale * width(row.rate[at]), opacity, edge: row.kind[at], end: isInhibitory(row.sign[at]) ? "bar" : "head" });
  if (row.significant[k]) return look(change || "same", k, 1, 0.8);
  if (change === "gone") return look("gone", from, 0.5, 0.6);
  return null;
}

// The look between two looks.
function between(before, after, share) {
  if (share === 0) return before;
  const shown = (share < 0.5 ? before : after) ?? before ?? after;
  if (!shown) return null;
  const mean = (key) => (1 - share) * (before?.[key] ?? 0) + share * (after?.[key] ?? 0);
  return { ...shown, opacity: mean("opacity"), width: before && after ? mean("width") : shown.width };
}

// `show(position)`: 1.5 is half way from the second to the third recording. `changesOf(k)` has the changes to a
// recording by the numbers of rows, less 1.
export function makeComparedCircuit(state, edges, label, changesOf = (k) => changesTo(state.data, k)) {
  const { data } = state;
  const id = ++circuitCount;
  const places = (isFlat(data.places) && probePlaces(edges, data.places)) || graphPlaces(edges);
  const most = edges.reduce((high, row) => row.rate.reduce((rate, one, k) => (row.significant[k] ? Math.max(rate, one) : rate), high), 0) || 1;
  const last = data.recordings.length - 1;
  const looks = new Map();  // of the recordings that were shown last
  const looksIn = (k) => {
    if (!looks.has(k)) {
      if (looks.size > 9) looks.clear();
      const changes = changesOf(k);
      looks.set(k, edges.map((row) => lookOf(row, k, changes[row.number - 1], most)));
    }
    return looks.get(k);
  };
  const numbers = numbersOfWays(edges);
  const arrows = edges.map((row, i) => {
    const [from, to] = row.units;
    const words = `${shownName(data.names[from])} to ${shownName(data.names[to])}, ${intervalText(row.delays_ms[0])}`;
    return arrowElement(words, curve(places.get(from), places.get(to), numbers[i]), {}, { "data-number": row.number }, () => state.pick("episode", row));
  });
  const nodes = nodeElements(places, data.names);
  const picture = graphElement(label, changeKinds.flatMap(([kind]) => [arrowHead(kind, `head-${kind}-${id}`), bar(kind, `bar-${kind}-${id}`)]), arrows, nodes);
  let onlyDirect = false;
  let position = 0;

  function show(at) {
    position = at;
    const k = Math.min(Math.floor(at), last);
    const before = looksIn(k);
    const after = at > k ? looksIn(Math.min(k + 1, last)) : before;
    arrows.forEach((arrow, i) => {
      const look = between(before[i], after[i], at - k);
      const isShown = look !== null && !(onlyDirect && look.edge !== "direct");
      arrow.style.display = isShown ? "" : "none";
      if (!isShown) return;
      arrow.setAttribute("class", `edge ${look.kind}`);
      arrow.setAttribute("opacity", look.opacity);
      const line = arrow.lastChild;
      line.setAttribute("stroke-width", look.width);
      line.setAttribute("marker-end", `url(#${look.end}-${look.kind}-${id})`);
    });
    mark();
  }

  const mark = () => markPicked(arrows, edges, nodes, state.now.picked);

  state.listen((what) => {
    if (what === "picked") mark();
  });
  return {
    picture,
    show,
    showOnlyDirect(only) {
      onlyDirect = only;
      show(position);
    },
  };
}
