// The counts of the tracked episodes over time, with the threshold of the windows.

import { axisMarks } from "./chart.js";
import { el, shortNumber, svg } from "./format.js";

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
    svg("path", { class: "axis", d: `M${left},${top}V${height - bottom}H${width - right}` }),
    axisMarks(low, high || 1, 8).marks.map((value) => svg("text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, shortNumber(value, 6))),
    axisMarks(0, highest, 4).marks.map((value) => svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, shortNumber(value, 6))),
    svg("text", { class: "title", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, "time in s"));
  return el("div", { class: "frame" }, chart);
}
