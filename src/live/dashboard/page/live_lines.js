// The counts of the tracked episodes over time, with the threshold of the windows.

import { axesOf, axisMarks } from "./chart.js";
import { el, svg } from "./format.js";

const chartFrame = { width: 760, height: 220, left: 56, right: 12, top: 14, bottom: 44 };
const mostLines = 8;
const lineColours = ["var(--blue)", "var(--green)", "var(--text)", "var(--band)"];

// The episodes with the largest counts now.
export function mostFrequent(counts) {
  return counts.map((count, armed) => ({ count, armed })).sort((a, b) => b.count - a.count || a.armed - b.armed).slice(0, mostLines);
}

export function lineChart(points, nameOf) {
  const { width, height, left, right, top, bottom } = chartFrame;
  if (points.length < 2) return el("p", { class: "note" }, "No episodes are tracked (--track-every), or no counts have come yet.");
  const lines = mostFrequent(points.at(-1).counts);
  const [low, high] = [points[0].t_us[1] / 1e6, points.at(-1).t_us[1] / 1e6];
  const highest = 1.05 * Math.max(1, ...points.map(({ threshold }) => threshold ?? 0), ...lines.flatMap(({ armed }) => points.map(({ counts }) => counts[armed] ?? 0)));
  const x = (seconds) => left + ((width - left - right) * (seconds - low)) / (high - low || 1);
  const y = (value) => height - bottom - ((height - top - bottom) * value) / highest;
  const path = (value) => points.filter((point) => value(point) !== null).map((point, i) => `${i ? "L" : "M"}${x(point.t_us[1] / 1e6).toFixed(1)},${y(value(point)).toFixed(1)}`).join("");
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "lines", role: "img", "aria-label": "Counts of tracked episodes over time" },
    lines.map(({ armed }, i) => svg("path", { class: "count", "data-armed": armed, stroke: lineColours[i % lineColours.length], "stroke-dasharray": i < lineColours.length ? false : "6 2", d: path(({ counts }) => counts[armed] ?? 0) },
      svg("title", {}, nameOf(armed)))),
    svg("path", { class: "threshold", d: path(({ threshold }) => threshold) }, svg("title", {}, "threshold")),
    axesOf({ left, right: width - right, top, bottom: height - bottom }, { title: "time in s", marks: axisMarks(low, high || 1, 8).marks, at: x },
      { title: "count", marks: axisMarks(0, highest, 4).marks, at: y }));
  return el("div", { class: "frame" }, chart);
}
