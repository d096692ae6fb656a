// At which speed each chain stands out, and by how much.

import { axesOf, axisMarks } from "./chart.js";
import { firstOf, shownName, shownNumber, svg } from "./format.js";

const [scaleWidth, scaleHeight, scaleLeft, scaleRight, scaleTop, scaleBottom] = [760, 298, 56, 16, 14, 44];
const marksOfScales = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

// Triangles point to the right for chains that run forward, to the left in reverse; those that are significant are filled.
function triangle(x, y, isReverse) {
  const tip = isReverse ? -7 : 7;
  return `M${x + tip},${y}L${x - tip * 0.6},${y - 6}V${y + 6}Z`;
}

function bounds(values, room) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return [low - room, high + room];
}

// Returns the element, and a function that marks a row; `pick(row)` is called when one is picked.
export function makeScaleChart({ tests, testTotal, names }, pick) {
  const [left, right] = bounds(tests.map((row) => Math.log(row.scale)), 0.5);  // there is a mark in any factor of 2.5
  const [low, high] = bounds([0, ...tests.map((row) => row.z)], 0.5);
  const x = (scale) => scaleLeft + ((scaleWidth - scaleLeft - scaleRight) * (Math.log(scale) - left)) / (right - left);
  const y = (z) => scaleHeight - scaleBottom - ((scaleHeight - scaleTop - scaleBottom) * (z - low)) / (high - low);
  const picture = svg("svg", { viewBox: `0 0 ${scaleWidth} ${scaleHeight}`, class: "scales", role: "img",
    "aria-label": `Score z against scale factor of ${firstOf(tests.length, testTotal)} tests, one for each chain and direction, of which ${tests.filter((row) => row.significant).length} are significant. The table has them.` });
  picture.append(svg("path", { class: "axis zero", d: `M${scaleLeft},${y(0)}H${scaleWidth - scaleRight}` }),
    ...axesOf({ left: scaleLeft, right: scaleWidth - scaleRight, top: scaleTop, bottom: scaleHeight - scaleBottom },
      { title: "scale factor of the delays: below 1 faster, above 1 slower", marks: marksOfScales.filter((one) => Math.log(one) >= left && Math.log(one) <= right), at: x },
      { title: "score z", marks: axisMarks(low, high, 5).marks, at: y }));
  const points = tests.map((row) => {
    const words = `${row.chainUnits.map((unit) => shownName(names[unit])).join("→")}, ${row.direction}: scale ${row.scale}, z ${shownNumber(row.z)}, q ${shownNumber(row.q)}`;
    return svg("path", { class: `test ${row.direction}${row.significant ? " significant" : ""}`, d: triangle(x(row.scale), y(row.z), row.isReverse), "data-number": row.number,
      onclick: () => pick(row) }, svg("title", {}, words));
  });
  picture.append(...points);
  return { element: picture, mark: (row) => tests.forEach((one, i) => points[i].classList.toggle("picked", one === row)) };
}
