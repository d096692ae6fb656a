// The circuit: units, and edges between them that can be picked, as a picture and as a table.

import { el, intervalText, nameElement, shownName, sixDigits, svg } from "./format.js";
import { placesOf } from "./layout.js";
import { makeTable } from "./table.js";

const kinds = ["direct", "indirect", "common-input"];
const [side, border, radius] = [560, 46, 13];

function delayText([low, high]) {
  return `${low}–${high} ms`;
}

// A curve from one unit to another that leaves room for the way back.
function curve(from, to) {
  if (from === to) return `M${from.x - 8},${from.y - 8}c-24,-34 40,-34 16,0`;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const bend = Math.min(30, 0.18 * length);
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const away = (end) => {
    const reach = Math.hypot(middle.x - end.x, middle.y - end.y) || 1;
    return `${end.x + ((middle.x - end.x) / reach) * (radius + 3)},${end.y + ((middle.y - end.y) / reach) * (radius + 3)}`;
  };
  return `M${away(from)}Q${middle.x},${middle.y} ${away(to)}`;
}

function arrowHead(kind) {
  return svg("marker", { id: `head-${kind}`, class: kind, viewBox: "0 0 10 10", refX: "8", refY: "5", markerWidth: "9", markerHeight: "9",
    markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0,0L10,5L0,10z" }));
}

function edgeElement(state, edge, places) {
  const { names } = state.data;
  const path = curve(places.get(edge.from), places.get(edge.to));
  const words = `${shownName(names[edge.from])} to ${shownName(names[edge.to])}, ${delayText(edge.delay_ms)}, ${edge.kind}, strength ${sixDigits(edge.strength)}`;
  const pick = () => state.pick("edge", edge);
  return svg("g", { class: `edge ${edge.kind}`, tabindex: "0", role: "button", "aria-label": words, "aria-pressed": "false", "data-number": edge.number, onclick: pick,
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick();
    } },
  svg("title", {}, words), svg("path", { class: "target", d: path }),
  svg("path", { class: "line", d: path, "stroke-width": 1 + 5 * Math.sqrt(Math.min(1, edge.strength)), "marker-end": `url(#head-${edge.kind})` }));
}

function makePicture(state) {
  const { names, edges } = state.data;
  const places = placesOf(edges);
  for (const place of places.values()) {
    place.x = border + place.x * (side - 2 * border);
    place.y = border + place.y * (side - 2 * border);
  }
  const lines = edges.map((edge) => edgeElement(state, edge, places));
  const nodes = new Map([...places].map(([unit, { x, y }]) => [unit,
    svg("g", { class: "node", transform: `translate(${x} ${y})` }, svg("title", {}, shownName(names[unit])), svg("circle", { r: radius }),
      svg("text", { y: 4, "text-anchor": "middle" }, [...shownName(names[unit])].slice(0, 7).join("")))]));
  const picture = svg("svg", { viewBox: `0 0 ${side} ${side}`, class: "circuit", role: "group", "aria-label": "Circuit: units, and edges to pick" },
    svg("defs", {}, kinds.map(arrowHead)), lines, [...nodes.values()]);

  function mark() {
    const { kind, picked } = state.now;
    lines.forEach((line, i) => {
      const isPicked = kind === "edge" && picked === edges[i];
      line.classList.toggle("picked", isPicked);
      line.setAttribute("aria-pressed", String(isPicked));
    });
    for (const [unit, node] of nodes) node.classList.toggle("picked", Boolean(picked?.units.includes(unit)));
  }

  // Hides edges of the kinds that are not chosen.
  function show(chosen) {
    edges.forEach((edge, i) => { lines[i].style.display = chosen.has(edge.kind) ? "" : "none"; });
  }
  return { picture, mark, show };
}

function columnsOfEdges({ names }) {
  const unit = (key) => ({ label: key, value: (row) => (row[key] === undefined ? "" : names[row[key]]), cell: (row) => (row[key] === undefined ? "–" : nameElement(names[row[key]])) });
  const interval = (key, label) => ({ label, value: (row) => row[key][0], cell: (row) => intervalText(row[key]) });
  const number = (key) => ({ label: key, value: (row) => row[key], cell: (row) => sixDigits(row[key]) });
  return [{ label: "edge", value: (row) => row.number }, unit("from"), unit("to"), interval("delay_ms", "delay"), interval("best_delay_ms", "best delay"),
    ...["count", "expected", "p", "q", "strength"].map(number), { label: "kind", value: (row) => row.kind }, unit("via")];
}

export function makeCircuit(state) {
  const { edges } = state.data;
  if (edges.length === 0) return el("p", { class: "note" }, "No pair of units is significant, so there is no circuit.");
  const { picture, mark, show } = makePicture(state);
  const table = makeTable({ caption: "Edges", columns: columnsOfEdges(state.data), rows: edges, pick: (row) => state.pick("edge", row) });
  const boxes = kinds.map((kind) => [kind, el("input", { type: "checkbox", id: `kind-${kind}`, checked: true, onchange: apply })]);

  function apply() {
    const chosen = new Set(boxes.filter(([, box]) => box.checked).map(([kind]) => kind));
    show(chosen);
    table.show(edges.filter((edge) => chosen.has(edge.kind)));
  }

  state.listen((what) => {
    if (what !== "picked") return;
    mark();
    table.mark(state.now.kind === "edge" ? state.now.picked : null);
  });
  return el("div", {},
    el("p", { class: "controls" }, boxes.map(([kind, box]) =>
      el("label", { for: `kind-${kind}`, class: `key ${kind}` }, box, ` ${kind} (${edges.filter((edge) => edge.kind === kind).length})`))),
    el("div", { class: "two" }, el("div", { class: "frame" }, picture), table.element));
}
