// Columns of a table that are a forest plot: estimates with their 95 % intervals on one scale.

import { axisMarks } from "./chart.js";
import { el, shownNumber, svg } from "./format.js";

const [forestWidth, forestHeight, forestMargin] = [220, 18, 14];
const forestMarks = [0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100, 1000];

// `isRatio`: the scale is logarithmic and 1 means no change, otherwise 0. `of(row)`: {value, low, high}, null where they are
// not known. `text(row)` has the digits, and `look(row)` a class. Intervals that leave the range of the estimates by more
// than their width are cut.
export function forestColumn({ label, help, rows, isRatio, of, text, look }) {
  const on = isRatio ? Math.log : (value) => value;
  const none = isRatio ? 1 : 0;
  const values = [none, ...rows.map((row) => of(row).value).filter((value) => value !== null && on(value) > -Infinity)].map(on);
  const ends = (choose, key) => [choose(...values), choose(...rows.map((row) => of(row)[key]).filter((end) => end !== null).map(on))];
  const reach = Math.max(Math.max(...values) - Math.min(...values), isRatio ? 0.5 : 1e-6);
  const [[least, lowest], [most, highest]] = [ends(Math.min, "low"), ends(Math.max, "high")];
  const [low, high] = [Math.max(least - reach, Math.min(least - reach / 9, lowest)), Math.min(most + reach, Math.max(most + reach / 9, highest))];
  const x = (value) => forestMargin + ((forestWidth - 2 * forestMargin) * (Math.min(Math.max(on(value), low), high) - low)) / (high - low);
  const seen = forestMarks.filter((one) => on(one) >= low && on(one) <= high);
  const marks = !isRatio ? axisMarks(low, high, 6).marks : seen.length > 6 ? seen.filter((one) => Number.isInteger(Math.log10(one))) : seen;
  const axis = svg("svg", { viewBox: `0 0 ${forestWidth} ${forestHeight}`, class: "forest", "aria-hidden": "true" },
    marks.map((mark) => svg("text", { x: x(mark), y: 13, "text-anchor": "middle" }, shownNumber(mark))));
  const cell = (row) => {
    const { value, low: from, high: to } = of(row);
    if (value === null) return "–";
    const picture = svg("svg", { viewBox: `0 0 ${forestWidth} ${forestHeight}`, class: `forest ${look(row)}`, role: "img", "aria-label": text(row) },
      svg("title", {}, text(row)), svg("path", { class: "none", d: `M${x(none)},0V${forestHeight}` }),
      from === null ? [] : svg("path", { d: `M${x(from)},${forestHeight / 2}H${x(to)}` }), svg("circle", { cx: x(value), cy: forestHeight / 2, r: 4 }));
    return el("div", {}, picture);
  };
  return { label, help, value: (row) => of(row).value, cell, axis };
}
