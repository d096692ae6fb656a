// At which speed each chain stands out, and by how much.

import { axisMarks } from "./chart.js";
import { firstOf, shortNumber, shownName, sixDigits, svg } from "./format.js";

const [scaleWidth, scaleHeight, scaleLeft, scaleRight, scaleTop, scaleBottom] = [760, 300, 56, 16, 14, 46];
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
  picture.append(svg("path", { class: "axis", d: `M${scaleLeft},${scaleTop}V${scaleHeight - scaleBottom}H${scaleWidth - scaleRight}` }),
    svg("path", { class: "axis zero", d: `M${scaleLeft},${y(0)}H${scaleWidth - scaleRight}` }));
  for (const scale of marksOfScales.filter((one) => Math.log(one) >= left && Math.log(one) <= right))
    picture.append(svg("text", { x: x(scale), y: scaleHeight - scaleBottom + 16, "text-anchor": "middle" }, String(scale)));
  for (const z of axisMarks(low, high, 5).marks)
    picture.append(svg("text", { x: scaleLeft - 6, y: y(z) + 4, "text-anchor": "end" }, shortNumber(z, 6)));
  picture.append(svg("text", { class: "title", x: (scaleLeft + scaleWidth - scaleRight) / 2, y: scaleHeight - 8, "text-anchor": "middle" }, "scale factor of the delays: below 1 faster, above 1 slower"),
    svg("text", { class: "title", transform: `translate(14 ${(scaleTop + scaleHeight - scaleBottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, "score z"));
  const points = tests.map((row) => {
    const words = `${row.chainUnits.map((unit) => shownName(names[unit])).join("→")}, ${row.direction}: scale ${row.scale}, z ${sixDigits(row.z)}, q ${sixDigits(row.q)}`;
    return svg("path", { class: `test ${row.direction}${row.significant ? " significant" : ""}`, d: triangle(x(row.scale), y(row.z), row.isReverse), "data-number": row.number,
      onclick: () => pick(row) }, svg("title", {}, words));
  });
  picture.append(...points);
  return { element: picture, mark: (row) => tests.forEach((one, i) => points[i].classList.toggle("picked", one === row)) };
}
