// Lines over time: the counts of the tracked episodes, with the threshold of the windows, and the motion of the tissue.

import { axesOf, axisMarks } from "./chart.js";
import { el, svg } from "./format.js";

const chartFrame = { width: 760, height: 220, left: 56, right: 12, top: 14, bottom: 44 };
const mostLines = 8;
const lineColours = ["var(--blue)", "var(--green)", "var(--text)", "var(--band)"];

// The episodes with the largest counts now.
export function mostFrequent(counts) {
  return counts.map((count, armed) => ({ count, armed })).sort((a, b) => b.count - a.count || a.armed - b.armed).slice(0, mostLines);
}

// Lines of { name, data, at: seconds and value of a point }; `more` are paths of the class that they name.
function linesOver(points, { label, yLabel, lines, more = [], range: [lowest, highest], seconds }) {
  const { width, height, left, right, top, bottom } = chartFrame;
  const [low, high] = [seconds(points[0]), seconds(points.at(-1))];
  const x = (at) => left + ((width - left - right) * (at - low)) / (high - low || 1);
  const y = (value) => height - bottom - ((height - top - bottom) * (value - lowest)) / (highest - lowest);
  const path = (value) => points.filter((point) => value(point) !== null).map((point, i) => `${i ? "L" : "M"}${x(seconds(point)).toFixed(1)},${y(value(point)).toFixed(1)}`).join("");
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "lines", role: "img", "aria-label": label },
    lines.map(({ name, data, value }, i) => svg("path", { class: "count", ...data, stroke: lineColours[i % lineColours.length], "stroke-dasharray": i < lineColours.length ? false : "6 2", d: path(value) },
      svg("title", {}, name))),
    more.map(({ name, value }) => svg("path", { class: name, d: path(value) }, svg("title", {}, name))),
    axesOf({ left, right: width - right, top, bottom: height - bottom }, { title: "time in s", marks: axisMarks(low, high || 1, 8).marks, at: x },
      { title: yLabel, marks: axisMarks(lowest, highest, 4).marks, at: y }));
  return el("div", { class: "frame" }, chart);
}

export function lineChart(points, nameOf) {
  if (points.length < 2) return el("p", { class: "note" }, "No episodes are tracked (--track-every), or no counts have come yet.");
  const lines = mostFrequent(points.at(-1).counts);
  const highest = 1.05 * Math.max(1, ...points.map(({ threshold }) => threshold ?? 0), ...lines.flatMap(({ armed }) => points.map(({ counts }) => counts[armed] ?? 0)));
  return linesOver(points, { label: "Counts of tracked episodes over time", yLabel: "count", range: [0, highest], seconds: ({ t_us }) => t_us[1] / 1e6,
    lines: lines.map(({ armed }) => ({ name: nameOf(armed), data: { "data-armed": armed }, value: ({ counts }) => counts[armed] ?? 0 })),
    more: [{ name: "threshold", value: ({ threshold }) => threshold }] });
}

// Steps of { column, values }, a value for each depth.
export function motionChart(points, depths, column_us) {
  if (points.length < 2) return el("p", { class: "note" }, "Motion is not followed, or nothing has come yet.");
  const all = points.flatMap(({ values }) => values);
  const range = [Math.min(-1, ...all) * 1.05, Math.max(1, ...all) * 1.05];
  return linesOver(points, { label: "Displacement of the tissue over time", yLabel: "displacement in µm", range, seconds: ({ column }) => (column * column_us) / 1e6,
    lines: depths.map((depth, i) => ({ name: `depth ${Math.round(depth)} µm`, data: { "data-depth": depth }, value: ({ values }) => values[i] })) });
}
