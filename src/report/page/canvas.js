// What several views draw on canvases: names of units, marks of axes and occurrences.

import { contextOf } from "./svg_context.js";

export function coloursOf(element) {
  const style = getComputedStyle(element);
  const colour = (name) => style.getPropertyValue(name).trim();
  const parts = (name) => [1, 3, 5].map((at) => parseInt(colour(name).slice(at, at + 2), 16));
  return { ink: parts("--ink"), paper: parts("--paper"), text: colour("--text"), mark: colour("--mark"), blue: colour("--blue"), violet: colour("--violet"), soft: colour("--soft"), lost: colour("--lost"), shade: colour("--shade"), rule: colour("--rule"), band: colour("--band"), font: style.fontFamily };
}

// The context of a canvas of this size, as sharp as the screen.
export function sizedContext(canvas, width, height) {
  const other = contextOf(canvas, width, height);
  if (other) return other;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// The parts of the picture that are drawn as lines and text: names, axis and occurrences.
export function drawNames(context, names, rowHeight, left, colours, down = 0) {
  const step = Math.ceil(11 / rowHeight);
  context.fillStyle = colours.text;
  context.font = `11px ${colours.font}`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let row = 0; row < names.length; row += step) context.fillText(names[row], left - 6, Math.max(6, (row + 0.5) * rowHeight) + down, left - 8);
}

// The share of its usual height that a picture has among linked views.
export const fitOf = (element) => Number(getComputedStyle(element).getPropertyValue("--fit") || 1);

// A line with marks and their texts below a chart. The last text ends before the picture does.
export function drawMarks(context, marks, [from, to], { left, width, top }, textOf, colours) {
  context.strokeStyle = context.fillStyle = colours.text;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(left, top + 0.5);
  context.lineTo(left + width, top + 0.5);
  const [end, perLetter] = [left + width + 10, 6];
  for (const mark of marks) {
    const x = left + ((mark - from) / (to - from)) * width;
    const text = textOf(mark);
    const isCut = x + (perLetter * text.length) / 2 > end;
    context.moveTo(x, top);
    context.lineTo(x, top + 5);
    context.textAlign = isCut ? "right" : "center";
    context.fillText(text, isCut ? end : x, top + 8);
  }
  context.textAlign = "center";
  context.stroke();
}

// Occurrences on the same column of pixels are drawn once. Lines join spikes that are far enough apart to see them.
export function drawOccurrences(context, { occurrences, picked, from, to }, rowOf, rowHeight, left, width, colours) {
  const size = picked.units.length;
  const scale = width / (to - from);
  const x = (time) => Math.round(left + (time - from) * scale);
  const y = picked.units.map((unit) => Math.round((rowOf.get(unit) + 0.5) * rowHeight));
  const thick = Math.round(Math.max(3, Math.min(rowHeight, 14)));
  context.strokeStyle = context.fillStyle = colours.mark;
  context.lineWidth = 1.5;
  context.beginPath();
  let column = -1;
  for (let at = 0; at < occurrences.length; at += size) {
    if (occurrences[at + size - 1] < from || occurrences[at] > to) continue;
    const here = x(occurrences[at]);
    if (here === column) continue;
    column = here;
    const joined = (occurrences[at + size - 1] - occurrences[at]) * scale > 4;
    for (let k = 0; k < size; ++k) {
      const place = x(occurrences[at + k]);
      context.fillRect(place - 1, y[k] - (thick >> 1), 2, thick);
      if (!joined) continue;
      if (k === 0) context.moveTo(place, y[0]);
      else context.lineTo(place, y[k]);
    }
  }
  context.stroke();
}
