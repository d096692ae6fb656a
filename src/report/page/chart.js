// Charts of bars over a labelled axis.

import { withNumbers } from "./exports.js";
import { el, grouped, shownNumber, svg } from "./format.js";
import { tellUnderPointer } from "./tip.js";

// Multiples of 1, 2 or 5 times a power of ten between two values.
export function axisMarks(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999999);
  const marks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) marks.push(k * step);
  return { marks, step };
}

// The axes of a chart, with marks and titles. `x` and `y`: {title, marks, at(mark)}, and `x` may have `text(mark)`.
export function axesOf({ left, right, top, bottom }, x, y, textOf = (mark) => shownNumber(mark, 6)) {
  return [svg("path", { class: "axis", d: `M${left},${top}V${bottom}H${right}` }),
    ...x.marks.map((mark) => svg("text", { x: x.at(mark), y: bottom + 16, "text-anchor": "middle" }, (x.text ?? textOf)(mark))),
    ...y.marks.map((mark) => svg("text", { x: left - 6, y: y.at(mark) + 4, "text-anchor": "end" }, textOf(mark))),
    svg("text", { class: "title", x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, x.title),
    svg("text", { class: "title", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, y.title)];
}

const [width, height, left, right, top, bottom] = [560, 220, 56, 18, 14, 44];

// The places of bins of equal width from `low` to `high`, and of values up to `highest`.
function scalesOf(low, high, bins, highest) {
  const x = (value) => left + ((width - left - right) * (value - low)) / (high - low);
  const y = (value) => height - bottom - ((height - top - bottom) * value) / highest;
  const bin = (high - low) / bins;
  const at = (i) => x(low + i * bin);
  const ends = (i) => [low + i * bin, low + (i + 1) * bin].map((end) => Number(end.toPrecision(9)));
  return { x, y, at, ends };
}

const emptyChart = (label) => svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label });

// Titles and scales of a chart of bins.
const axesOfBins = ({ x, y }, { low, high, highest, xLabel, yLabel, xText, areCounts }) => axesOf({ left, right: width - right, top, bottom: height - bottom },
  { title: xLabel, marks: axisMarks(low, high, 8).marks, at: x, text: xText }, { title: yLabel, marks: axisMarks(0, highest, 4).marks.filter((mark) => !areCounts || Number.isInteger(mark)), at: y });

const meanLine = ({ y, at }, values) => values.map((value, i) => `${at(i)},${y(value)} ${at(i + 1)},${y(value)}`).join(" ");

// Tells what `textAt` says of the bin under the pointer.
function tellBins(chart, { at, ends }, bins, textAt) {
  tellUnderPointer(chart, (event) => {
    const { a: scale, e: begin } = chart.getScreenCTM();
    const i = Math.floor(((event.clientX - begin) / scale - left) / (at(1) - at(0)));
    return i >= 0 && i < bins ? `${ends(i).map((end) => shownNumber(end, 6)).join(" to ")}: ${textAt(i)}` : "";
  });
}

// A stepped line for each of `lines`: {name, kind, values}, in bins of equal width from `low` to `high`.
export function stepChart({ label, xLabel, yLabel, low, high, lines }) {
  const bins = lines[0].values.length;
  const highest = Math.max(1, ...lines.flatMap(({ values }) => values)) * 1.05;
  const scales = scalesOf(low, high, bins, highest);
  const chart = emptyChart(label);
  chart.append(...lines.map(({ kind, values }) => svg("polyline", { class: `step ${kind}`, points: meanLine(scales, values) })), ...axesOfBins(scales, { low, high, highest, xLabel, yLabel }));
  tellBins(chart, scales, bins, (i) => lines.map(({ name, values }) => `${name} ${shownNumber(values[i])}`).join(", "));
  withNumbers(chart, () => ({ heads: ["from", "to", ...lines.map(({ name }) => name)], rows: Array.from({ length: bins }, (_, i) => [...scales.ends(i), ...lines.map(({ values }) => values[i])]) }));
  return el("div", { class: "frame" }, chart);
}

// `bars` are counts in bins of equal width from `low` to `high`; `band` has a range for each, `line` a mean; `shade` is an
// interval of the axis. A marker, if there is one, can be moved.
export function barChart({ label, xLabel, yLabel, low, high, bars, band, line, shade, marker, xText }) {
  const highest = Math.max(1, ...bars, ...(band ?? []).map((range) => range[1])) * 1.05;
  const scales = scalesOf(low, high, bars.length, highest);
  const { x, y, at, ends } = scales;
  const chart = emptyChart(label);
  if (shade)
    chart.append(svg("rect", { class: "shade", x: x(shade[0]), width: Math.max(1, x(shade[1]) - x(shade[0])), y: top, height: height - top - bottom }));
  const bar = (i) => svg("rect", { class: "bar", x: at(i), width: Math.max(0.3, at(1) - at(0) - 0.4), y: y(bars[i]), height: height - bottom - y(bars[i]) });
  chart.append(...bars.map((_, i) => bar(i)));
  if (band) {
    const upper = band.map((range, i) => `${at(i)},${y(range[1])} ${at(i + 1)},${y(range[1])}`);
    const lower = band.map((range, i) => `${at(i + 1)},${y(range[0])} ${at(i)},${y(range[0])}`).reverse();
    chart.append(svg("polygon", { class: "band", points: [...upper, ...lower].join(" ") }));
  }
  if (line)
    chart.append(svg("polyline", { class: "mean", points: meanLine(scales, line) }));
  if (marker) chart.append(svg("g", { class: "marker" }, svg("line", { y1: top, y2: height - bottom })));
  chart.append(...axesOfBins(scales, { low, high, highest, xLabel, yLabel, xText, areCounts: bars.every(Number.isInteger) }));
  tellBins(chart, scales, bars.length, (i) => `${grouped(bars[i])}${line ? `, ${shownNumber(line[i])} by chance` : ""}`);
  withNumbers(chart, () => ({ heads: ["from", "to", "count", ...(line ? ["by_chance"] : [])], rows: bars.map((count, i) => [...ends(i), count, ...(line ? [line[i]] : [])]) }));
  return { element: el("div", { class: "frame" }, chart), moveMarker: (value) => chart.querySelector(".marker").setAttribute("transform", `translate(${x(value)})`) };
}
