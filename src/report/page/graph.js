// The parts of a picture of a circuit: units in their places, and arrows between them.

import { shownName, svg } from "./format.js";
import { placesOf, placesOnProbe } from "./layout.js";

export const graphSide = 560;
const square = [graphSide, graphSide];
const [border, radius] = [46, 13];

// The size of a wide picture in which names can be read: small if there are few units.
export function wideSize(edges) {
  const height = Math.min(graphSide, 200 + 6 * new Set(edges.flatMap(({ units }) => units)).size);
  return [1.75 * height, height];
}

function onPicture(places, [width, height]) {
  for (const place of places?.values() ?? []) {
    place.x = border + place.x * (width - 2 * border);
    place.y = border + place.y * (height - 2 * border);
  }
  return places;
}

// Places on the picture for the units of some edges.
export const graphPlaces = (edges, size = square) => onPicture(placesOf(edges), size);

// The same by their places on the probe; null if these are not known.
export const probePlaces = (edges, places, size = square) => onPicture(placesOnProbe(edges, places, (2.5 * radius) / (Math.min(...size) - 2 * border)), size);

// A curve from one unit to another that leaves room for the way back. Each further one between them, by its number, is
// bent more.
export function curve(from, to, number = 0) {
  if (from === to) return `M${from.x - 8},${from.y - 8}c${-24 - 8 * number},-34 ${40 + 8 * number},-34 16,0`;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const bend = Math.min(30, 0.18 * length) * (1 + 0.7 * number);
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const away = (end) => {
    const reach = Math.hypot(middle.x - end.x, middle.y - end.y) || 1;
    return `${end.x + ((middle.x - end.x) / reach) * (radius + 3)},${end.y + ((middle.y - end.y) / reach) * (radius + 3)}`;
  };
  return `M${away(from)}Q${middle.x},${middle.y} ${away(to)}`;
}

function marker(kind, id, refX, d) {
  return svg("marker", { id, class: kind, viewBox: "0 0 10 10", refX, refY: "5", markerWidth: "9", markerHeight: "9",
    markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d }));
}

export const isInhibitory = (sign) => sign === "inhibitory";

// The end of an arrow, and that of one of inhibition.
export const arrowHead = (kind, id = `head-${kind}`) => marker(kind, id, "8", "M0,0L10,5L0,10z");
export const bar = (kind, id = `bar-${kind}`) => marker(kind, id, "5", "M3.5,-1H6.5V11H3.5z");

// An arrow that can be picked; `line` has the attributes of what is seen of it.
export function arrowElement(words, path, line, attributes, pick) {
  return svg("g", { tabindex: "0", role: "button", "aria-label": words, "aria-pressed": "false", ...attributes, onclick: pick,
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick();
    } },
  svg("title", {}, words), svg("path", { class: "target", d: path }), svg("path", { class: "line", d: path, ...line }));
}

// The width of an arrow, in [0, 1]: it grows with the logarithm of the gain or of its inverse, up to a factor of 8.
export const gainWeight = (gain) => Math.min(1, Math.abs(Math.log2(Math.max(1e-3, gain))) / 3);

export function moveArrow(arrow, path) {
  for (const line of arrow.querySelectorAll("path")) line.setAttribute("d", path);
}

export function moveNode(node, { x, y }) {
  node.setAttribute("transform", `translate(${x} ${y})`);
}

const hasStep = (picked, { units: [from, to] }) => picked.units.some((unit, k) => unit === from && picked.units[k + 1] === to);

// Marks the arrow of a row that is picked, and the units and arrows of what is picked.
export function markPicked(arrows, rows, nodes, picked) {
  arrows.forEach((arrow, i) => {
    arrow.classList.toggle("picked", picked === rows[i] || (picked?.units.length > 2 && hasStep(picked, rows[i])));
    arrow.setAttribute("aria-pressed", String(picked === rows[i]));
  });
  for (const [unit, node] of nodes) node.classList.toggle("picked", Boolean(picked?.units.includes(unit)));
}

// The number of each row among those from one unit to another.
export function numbersOfWays(rows) {
  const ways = new Map();
  return rows.map(({ units }) => {
    const way = units.join(" ");
    ways.set(way, (ways.get(way) ?? -1) + 1);
    return ways.get(way);
  });
}

// The units as a map from unit to element. The named ones are of both signs: they excite some units and inhibit others.
export function nodeElements(places, names, ofBothSigns = []) {
  return new Map([...places].map(([unit, { x, y }]) => [unit,
    svg("g", { class: ofBothSigns.includes(names[unit]) ? "node both-signs" : "node", transform: `translate(${x} ${y})` }, svg("title", {}, shownName(names[unit])), svg("circle", { r: radius }),
      svg("text", { y: 4, "text-anchor": "middle" }, [...shownName(names[unit])].slice(0, 7).join("")))]));
}

export function graphElement(label, heads, arrows, nodes, size = square) {
  return svg("svg", { viewBox: `0 0 ${size.join(" ")}`, class: "circuit", role: "group", "aria-label": label },
    svg("defs", {}, heads), arrows, [...nodes.values()]);
}
