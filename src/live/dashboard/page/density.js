// The spikes of all units over time, as counts in columns, with the detections.

import { axisMarks } from "./chart.js";
import { el, shownName, timeText } from "./format.js";
import { coloursOf, drawMarks, drawNames, drawOccurrences } from "./canvas.js";

const [densityAxis, namesWide, detectionHeight] = [34, 90, 14];

function paintDensity(context, history, { from, to, units }, width, height, colours) {
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const rows = Math.min(units, height);
  const sums = new Uint16Array(width * rows);
  const scale = width / (to - from);
  const wide = Math.max(1, Math.floor(scale));
  history.visit(from, to, (column, unit, count) => {
    const row = units > height ? Math.floor((unit * height) / units) : unit;
    const x = Math.floor((column - from) * scale);
    for (let k = 0; k < wide && x + k < width; ++k) sums[row * width + x + k] += count;
  });
  const shade = Array.from({ length: 9 }, (_, count) => {
    const share = count === 0 ? 0 : 0.45 + 0.55 * (Math.log2(count) / 3);
    const [r, g, b] = colours.ink.map((ink, i) => Math.round(share * ink + (1 - share) * colours.paper[i]));
    return (255 << 24) | (b << 16) | (g << 8) | r;
  });
  for (let y = 0; y < height; ++y) {
    const row = Math.floor((y * rows) / height) * width;
    for (let x = 0; x < width; ++x) pixels[y * width + x] = shade[Math.min(8, sums[row + x])];
  }
  context.putImageData(image, namesWide, 0);
}

// The spikes of detections, joined by lines; those of one chain or pattern together.
function drawChains(context, history, { from, to, units, armed, column_us: step }, width, height, colours) {
  const span = { from: from * step, to: to * step };
  const chains = new Map();
  for (const { armed: number, begin, end, epoch, times } of history.detections) {
    if (epoch !== history.epoch || end < span.from || begin > span.to || !armed[number]) continue;
    if (!chains.has(number)) chains.set(number, { picked: { units: armed[number].units.slice(0, times.length) }, occurrences: [] });
    chains.get(number).occurrences.push(...times);
  }
  const rowOf = new Map(Array.from({ length: units }, (_, unit) => [unit, unit]));
  for (const chain of chains.values()) drawOccurrences(context, { ...span, ...chain }, rowOf, height / units, namesWide, width, colours);
}

export const noSpikes = "No spikes have arrived yet.";

export function makeDensity(history) {
  const canvas = el("canvas", { role: "img", "aria-label": "Spikes of all units over time" });
  const element = el("div", { class: "raster" }, el("p", { class: "note" }, noSpikes));

  // `view`: [from, to) in columns, the numbers of units and of all spikes, the names, what is armed, and the width of a column in microseconds.
  function draw(view) {
    const { from, to, units, spikes, names, column_us: step } = view;
    if (units === 0 || spikes === 0) return;
    if (!canvas.isConnected) element.replaceChildren(canvas);
    const context = canvas.getContext("2d");
    const width = Math.max(50, element.clientWidth - namesWide - 12);
    const height = Math.max(160, Math.min(560, 12 * units));
    canvas.width = namesWide + width + 12;
    canvas.height = height + densityAxis;
    canvas.style.height = `${height + densityAxis}px`;
    const colours = coloursOf(canvas);
    paintDensity(context, history, view, width, height, colours);
    drawNames(context, Array.from({ length: units }, (_, unit) => shownName(names[unit] ?? `#${unit}`)), height / units, namesWide, colours);
    const { marks, step: between } = axisMarks(from * step, to * step, Math.max(2, width / 110));
    drawMarks(context, marks, [from * step, to * step], { left: namesWide, width, top: height }, (mark) => timeText(mark, between), colours);
    context.save();
    context.beginPath();
    context.rect(namesWide, 0, width, height);
    context.clip();
    drawChains(context, history, view, width, height, colours);
    context.restore();
    context.fillStyle = colours.mark;
    for (const { end, epoch } of history.detections) {
      const x = namesWide + ((end / step - from) / (to - from)) * width;
      if (epoch === history.epoch && x >= namesWide && x <= namesWide + width) context.fillRect(x - 1, 0, 2, detectionHeight);
    }
  }
  return { element, draw };
}
