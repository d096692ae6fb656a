// The circuit: units, and edges between them that can be picked, as a picture and as a table.

import { withNumbers } from "./exports.js";
import { el, intervalText, nameElement, shownName, shownNumber, testFigure } from "./format.js";
import { arrowElement, arrowHead, bar, curve, gainWeight, graphElement, graphPlaces, isInhibitory, markPicked, moveArrow, moveNode, nodeElements, probePlaces, wideSize } from "./graph.js";
import { isFlat } from "./layout.js";
import { figureColumn, makeList, numberColumn } from "./table.js";

const signs = ["excitatory", "inhibitory"];
const kinds = ["direct", "indirect", "common-input", "undecided", "slow", "shared-spikes", "synchronous", "dead-time", "stimulus-locked", "possibly-one-neuron", "cross-talk"];
const shownAlways = new Set(kinds.slice(0, 3));

function edgeElement(state, edge, places) {
  const { names } = state.data;
  const words = `${shownName(names[edge.from])} to ${shownName(names[edge.to])}, ${intervalText(edge.delay_ms)}, ${edge.sign}, ${edge.kind}, gain ${shownNumber(edge.gain[0])}`;
  const end = isInhibitory(edge.sign) ? "bar-inhibitory" : `head-${edge.kind}`;
  return arrowElement(words, curve(places.get(edge.from), places.get(edge.to)),
    { "stroke-width": 1 + 5 * gainWeight(edge.gain[0]), "marker-end": `url(#${end})` },
    { class: `edge ${edge.kind} ${edge.sign}`, "data-number": edge.number }, () => state.pick("edge", edge));
}

const ofBothSigns = ({ data }) => data.run.circuit?.units_of_both_signs ?? [];

function makePicture(state) {
  const { names, edges } = state.data;
  const size = wideSize(edges);
  const places = graphPlaces(edges, size);
  const arrows = edges.map((edge) => edgeElement(state, edge, places));
  const nodes = nodeElements(places, names, ofBothSigns(state));
  const picture = graphElement("Circuit: units, and edges to pick", [...kinds.map((kind) => arrowHead(kind)), bar("inhibitory")], arrows, nodes, size);

  state.listen((what) => {
    if (what === "picked") markPicked(arrows, edges, nodes, state.now.picked);
  });

  function show(isShown) {
    edges.forEach((edge, i) => { arrows[i].style.display = isShown(edge) ? "" : "none"; });
  }

  const onProbe = probePlaces(edges, state.data.places, size);
  function placeOnProbe(wanted) {
    const at = wanted ? onProbe : places;
    edges.forEach((edge, i) => moveArrow(arrows[i], curve(at.get(edge.from), at.get(edge.to))));
    for (const [unit, node] of nodes) moveNode(node, at.get(unit));
  }
  return { picture, show, placeOnProbe: onProbe && placeOnProbe };
}

const gainHelp = "count, divided by expected: above 1 for excitation, below 1 for inhibition";
const transmissionHelp = "(count − expected), divided by the spikes of the first unit: how much more or less likely one of its spikes makes a spike of the second one";

function columnsOfEdges({ names }) {
  const unit = (key) => ({ label: key, value: (row) => (row[key] === undefined ? "" : names[row[key]]), cell: (row) => (row[key] === undefined ? "–" : nameElement(names[row[key]])) });
  const interval = (key, label) => ({ label, value: (row) => row[key][0], cell: (row) => intervalText(row[key]) });
  const figure = (key) => figureColumn(key, undefined, testFigure);
  const text = (key) => ({ label: key, value: (row) => row[key] });
  const estimate = (key, help) => ({ label: key, help, isNumber: true, value: (row) => row[key][0], cell: (row) => shownNumber(row[key][0]) });
  return [numberColumn("edge"), unit("from"), unit("to"), figure("count"), figure("q"), interval("delay_ms", "delay"), text("sign"), text("kind"),
    figure("expected"), estimate("gain", gainHelp), estimate("transmission", transmissionHelp), figure("p"),
    interval("best_delay_ms", "best delay"), { ...unit("via"), help: "the unit that explains most of it" }];
}

const widthNote = "Arrows excite; red lines with a bar inhibit. Width: the logarithm of the gain, or of its inverse, up to a factor of 8.";

const noCircuit = "No pair of units is significant, so there is no circuit.";

// The picture and the table, which share the boxes of signs and kinds.
export function makeCircuit(state) {
  const { edges } = state.data;
  if (edges.length === 0) return { picture: el("p", { class: "note" }, noCircuit), list: el("p", { class: "note" }, noCircuit) };
  const { picture, show, placeOnProbe } = makePicture(state);
  const numberOf = (key, value) => edges.filter((edge) => edge[key] === value).length;
  const box = (key, value) => {
    const input = el("input", { type: "checkbox", id: `${key}-${value}`, checked: true, onchange: () => show(isShown) });
    return { input, element: el("label", { for: input.id, class: `key ${value}` }, input, ` ${value} (${numberOf(key, value)})`), keeps: (edge) => input.checked || edge[key] !== value };
  };
  const filters = [...(numberOf("sign", "inhibitory") > 0 ? signs : []).map((sign) => box("sign", sign)),
    ...kinds.filter((kind) => shownAlways.has(kind) || numberOf("kind", kind) > 0).map((kind) => box("kind", kind))];
  const isShown = (edge) => filters.every((one) => one.keeps(edge));
  const { table } = makeList(state, "edge", { caption: "Edges", columns: columnsOfEdges(state.data), rows: edges, filters });
  const onProbe = el("input", { type: "checkbox", id: "on-probe", checked: isFlat(state.data.places), onchange: () => placeOnProbe(onProbe.checked) });
  if (placeOnProbe) placeOnProbe(onProbe.checked);
  withNumbers(picture, table.numbers);
  return {
    picture: el("div", {},
      el("p", { class: "controls" }, filters.map(({ element }) => element), placeOnProbe ? el("label", { for: "on-probe" }, onProbe, " units where their electrodes are") : []),
      el("div", { class: "frame" }, picture), el("p", { class: "note" }, widthNote, ofBothSigns(state).length > 0 ? " A dashed unit excites some units and inhibits others." : "")),
    list: table.element,
  };
}
