// The agreement of the units of two sortings as a matrix.

import { withNumbers } from "./exports.js";
import { shownName, shownNumber, svg } from "./format.js";

const [matrixSide, matrixLeft, matrixTop] = [560, 54, 40];

// Units of the second sorting in the order of those of the first one that they match, so that matches lie on a diagonal.
function columnsInOrder(rows, units) {
  const order = [...new Set(rows.filter((row) => row.matched).map((row) => row.other)), ...Array(units).keys()];
  return [...new Set(order)];
}

// Every step-th name, so that they do not overlap.
function namesAlong(names, side, textOf) {
  const step = Math.ceil(14 / side);
  return names.flatMap((name, i) => (i % step === 0 ? [textOf(shownName(name), (i + 0.5) * side)] : []));
}

export function makeAgreement(state) {
  const { sortings, rows, pairs } = state.data;
  const [ours, others] = sortings.map(({ names }) => names);
  const columns = columnsInOrder(rows, others.length);
  const columnOf = new Map(columns.map((unit, i) => [unit, i]));
  const side = Math.min(24, (matrixSide - matrixLeft) / Math.max(1, ours.length, others.length));
  const cells = pairs.map((pair) => svg("rect", { class: "cell", "data-pair": `${pair.one} ${pair.other}`, x: matrixLeft + columnOf.get(pair.other) * side, y: matrixTop + pair.one * side,
    width: side, height: side, "fill-opacity": Math.max(0.04, pair.agreement), onclick: () => state.pickPair(pair) },
  svg("title", {}, `${shownName(sortings[0].name)}, unit ${shownName(ours[pair.one])} and ${shownName(sortings[1].name)}, unit ${shownName(others[pair.other])}: agreement ${shownNumber(pair.agreement)}`)));
  const marked = svg("rect", { class: "marked", width: side, height: side, visibility: "hidden" });
  const [width, height] = [others.length * side, ours.length * side];
  state.listen((what) => {
    if (what !== "picked") return;
    const { one, other } = state.now.picked;
    const isPair = one !== null && other !== null;
    marked.setAttribute("visibility", isPair ? "visible" : "hidden");
    if (!isPair) return;
    marked.setAttribute("x", matrixLeft + columnOf.get(other) * side);
    marked.setAttribute("y", matrixTop + one * side);
  });
  const title = `units of ${shownName(sortings[1].name)} →, of ${shownName(sortings[0].name)} ↓`;
  const wide = matrixLeft + Math.max(width, 9 * title.length) + 10;  // a small matrix is narrower than its title
  const picture = svg("svg", { viewBox: `0 0 ${wide} ${matrixTop + height + 10}`, class: "agreement", role: "img",
    "aria-label": "Agreement of each unit of the first sorting, downwards, with each of the second one. The table has the best matches." },
  svg("rect", { class: "ground", x: matrixLeft, y: matrixTop, width, height }), cells, marked,
  namesAlong(ours, side, (name, at) => svg("text", { x: matrixLeft - 5, y: matrixTop + at + 4, "text-anchor": "end" }, name)),
  namesAlong(columns.map((unit) => others[unit]), side, (name, at) => svg("text", { x: matrixLeft + at, y: matrixTop - 5, "text-anchor": "middle" }, name)),
  svg("text", { class: "title", x: matrixLeft, y: 14 }, title));
  picture.style.maxWidth = `${1.4 * wide}px`;
  return withNumbers(picture, () => ({ heads: [...sortings.map(({ name }) => name), "agreement"], rows: pairs.map(({ one, other, agreement }) => [ours[one], others[other], agreement]) }));
}
