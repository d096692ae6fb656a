// The circuit: units, and edges between them that can be picked, as a picture and as a table.

import { el, intervalText, nameElement, shownName, sixDigits, testFigure } from "./format.js";
import { arrowElement, arrowHead, curve, graphElement, graphPlaces, markArrow, moveArrow, moveNode, nodeElements, probePlaces } from "./graph.js";
import { makeTable } from "./table.js";

const kinds = ["direct", "indirect", "common-input", "shared-spikes", "synchronous", "dead-time"];

function edgeElement(state, edge, places) {
  const { names } = state.data;
  const [low, high] = edge.delay_ms;
  const words = `${shownName(names[edge.from])} to ${shownName(names[edge.to])}, ${low}–${high} ms, ${edge.kind}, strength ${sixDigits(edge.strength)}`;
  return arrowElement(words, curve(places.get(edge.from), places.get(edge.to)),
    { "stroke-width": 1 + 5 * Math.sqrt(Math.min(1, edge.strength)), "marker-end": `url(#head-${edge.kind})` },
    { class: `edge ${edge.kind}`, "data-number": edge.number }, () => state.pick("edge", edge));
}

function makePicture(state) {
  const { names, edges } = state.data;
  const places = graphPlaces(edges);
  const arrows = edges.map((edge) => edgeElement(state, edge, places));
  const nodes = nodeElements(places, names);
  const picture = graphElement("Circuit: units, and edges to pick", kinds.map((kind) => arrowHead(kind)), arrows, nodes);

  function mark() {
    const { kind, picked } = state.now;
    arrows.forEach((arrow, i) => markArrow(arrow, kind === "edge" && picked === edges[i]));
    for (const [unit, node] of nodes) node.classList.toggle("picked", Boolean(picked?.units.includes(unit)));
  }

  // Hides edges of the kinds that are not chosen.
  function show(chosen) {
    edges.forEach((edge, i) => { arrows[i].style.display = chosen.has(edge.kind) ? "" : "none"; });
  }

  const onProbe = probePlaces(edges, state.data.places);
  function placeOnProbe(wanted) {
    const at = wanted ? onProbe : places;
    edges.forEach((edge, i) => moveArrow(arrows[i], curve(at.get(edge.from), at.get(edge.to))));
    for (const [unit, node] of nodes) moveNode(node, at.get(unit));
  }
  return { picture, mark, show, placeOnProbe: onProbe && placeOnProbe };
}

function columnsOfEdges({ names }) {
  const unit = (key) => ({ label: key, value: (row) => (row[key] === undefined ? "" : names[row[key]]), cell: (row) => (row[key] === undefined ? "–" : nameElement(names[row[key]])) });
  const interval = (key, label) => ({ label, value: (row) => row[key][0], cell: (row) => intervalText(row[key]) });
  const number = (key) => ({ label: key, value: (row) => row[key], cell: (row) => testFigure(key, row[key]) });
  return [{ label: "edge", value: (row) => row.number }, unit("from"), unit("to"), interval("delay_ms", "delay"), interval("best_delay_ms", "best delay"),
    ...["count", "expected", "p", "q", "strength"].map(number), { label: "kind", value: (row) => row.kind }, unit("via")];
}

export function makeCircuit(state) {
  const { edges } = state.data;
  if (edges.length === 0) return el("p", { class: "note" }, "No pair of units is significant, so there is no circuit.");
  const { picture, mark, show, placeOnProbe } = makePicture(state);
  const table = makeTable({ caption: "Edges", columns: columnsOfEdges(state.data), rows: edges, pick: (row) => state.pick("edge", row) });
  const has = (kind) => edges.some((edge) => edge.kind === kind);
  const boxes = kinds.filter((kind, i) => i < 3 || has(kind)).map((kind) => [kind, el("input", { type: "checkbox", id: `kind-${kind}`, checked: true, onchange: apply })]);

  function apply() {
    const chosen = new Set(boxes.filter(([, box]) => box.checked).map(([kind]) => kind));
    show(chosen);
    table.show(edges.filter((edge) => chosen.has(edge.kind)));
  }

  const onProbe = el("input", { type: "checkbox", id: "on-probe", onchange: () => placeOnProbe(onProbe.checked) });

  state.listen((what) => {
    if (what !== "picked") return;
    mark();
    table.mark(state.now.kind === "edge" ? state.now.picked : null);
  });
  return el("div", {},
    el("p", { class: "controls" }, boxes.map(([kind, box]) =>
      el("label", { for: `kind-${kind}`, class: `key ${kind}` }, box, ` ${kind} (${edges.filter((edge) => edge.kind === kind).length})`)),
      placeOnProbe ? el("label", { for: "on-probe" }, onProbe, " units at their places on the probe") : []),
    el("div", { class: "two" }, el("div", { class: "frame" }, picture), table.element));
}
