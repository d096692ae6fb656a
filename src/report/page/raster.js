// The spikes of all units over time, with the occurrences of what is picked, and the rate of all units below them.

import { coloursOf, drawMarks, drawNames, drawOccurrences, fitOf } from "./canvas.js";
import { axisMarks } from "./chart.js";
import { withNumbers } from "./exports.js";
import { el, grouped, shownName, timeText } from "./format.js";
import { countColumns, drawSpikes, firstAtOrAfter } from "./raster_image.js";
import { makeRateStrip } from "./rate_strip.js";
import { contextOf, withDrawing } from "./svg_context.js";
import { tellUnderPointer } from "./tip.js";

const mostNamesWide = 120;
const axisHeight = 34;

function drawAxis(context, from, to, left, width, top, colours) {
  const { marks, step } = axisMarks(from, to, Math.max(2, width / 110));
  drawMarks(context, marks, [from, to], { left, width, top }, (mark) => timeText(mark, step), colours);
}

// The spikes as lines of a picture; those on the same column of pixels are one.
function drawSpikeLines(context, trains, [from, to], { left, width, height }, colour) {
  const columns = new Uint32Array(Math.ceil(width));
  const rowHeight = height / Math.max(1, trains.length);
  context.fillStyle = colour;
  let total = 0;
  trains.forEach(({ times }, row) => {
    total += countColumns(times, from, to, columns);
    columns.forEach((count, x) => {
      if (count > 0) context.fillRect(left + x, (row + 0.12) * rowHeight, 1, 0.76 * rowHeight);
    });
  });
  return total;
}

// `decorate(context, area)` draws what else there is over the spikes.
export function makeRaster(state, decorate = () => {}) {
  const { data, now } = state;
  const canvas = el("canvas", { tabindex: "0", role: "application", "aria-label": "Raster of spikes. Arrow keys move, plus and minus zoom, 0 shows everything, n and p go to the next and previous occurrence." });
  const where = el("output", { class: "where", "data-view": "" });
  const onlyPicked = el("input", { type: "checkbox", id: "only-picked", onchange: () => redraw() });
  const strip = makeRateStrip(state);
  let area = { left: 60, width: 1, height: 1, ratio: 1 };
  let image = null;
  let waiting = false;
  const times = { frames: 0, spikes: 0 };

  const shownUnits = () => (onlyPicked.checked && now.picked ? [...new Set(now.picked.units)] : data.names.map((_, unit) => unit));

  function resize(context, rows) {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.parentElement.clientWidth;
    const fit = fitOf(canvas);
    const height = Math.round(Math.max(110, 160 * fit, Math.min(560, 12 * rows, 0.32 * window.innerHeight * fit))) + axisHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    context.font = "11px sans-serif";
    const widest = Math.max(...data.names.slice(0, 2000).map((name) => Math.min(name.length, 30)));
    const left = Math.min(mostNamesWide, 16 + 7 * widest);
    area = { left, width: Math.max(50, width - left - 12), height: height - axisHeight, ratio };
  }

  function draw() {
    waiting = false;
    if (!canvas.isConnected) return;
    const units = shownUnits();
    resize(canvas.getContext("2d"), units.length);
    const { left, width, height, ratio } = area;
    const context = contextOf(canvas, left + width + 12, height + axisHeight) ?? canvas.getContext("2d");
    const colours = coloursOf(canvas);
    const trains = units.map((unit) => data.trains[unit]);
    const to = now.to < data.end ? now.to : data.end + 1;  // a spike at the end of the recording is in it
    if (context.isSvg) times.spikes = drawSpikeLines(context, trains, [now.from, to], area, colours.text);
    else drawPixels(context, trains, to, colours);
    const rowHeight = height / Math.max(1, units.length);
    drawRest(context, units, rowHeight, colours);
    if (!context.isSvg) strip.draw();
  }

  function drawPixels(context, trains, to, colours) {
    const { left, width, height, ratio } = area;
    const size = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (!image || image.width !== size[0] || image.height !== size[1]) image = context.createImageData(...size);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    times.spikes = drawSpikes(image, trains, now.from, to, colours.ink, colours.paper, ratio);
    context.putImageData(image, Math.round(left * ratio), 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  function drawRest(context, units, rowHeight, colours) {
    const { left, width, height } = area;
    drawNames(context, units.map((unit) => shownName(data.names[unit])), rowHeight, left, colours);
    drawAxis(context, now.from, now.to, left, width, height, colours);
    const rowOf = new Map(units.map((unit, row) => [unit, row]));
    context.save();
    context.beginPath();
    context.rect(left, 0, width, height);
    context.clip();
    decorate(context, { rowOf, rowHeight, left, width, height, colours });
    if (now.picked) drawOccurrences(context, now, rowOf, rowHeight, left, width, colours);
    context.restore();
    ++times.frames;
    const step = (now.to - now.from) / 1000;
    where.textContent = `${timeText(now.from, step)} to ${timeText(now.to, step)}, ${grouped(times.spikes)} spikes`;
    where.dataset.view = `${now.from} ${now.to} ${times.spikes} ${times.frames}`;
  }

  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
  }

  const length = () => now.to - now.from;
  const move = (share) => state.show(now.from + share * length(), now.to + share * length());
  const zoom = (factor, at = 0.5) => {
    const centre = now.from + at * length();
    state.show(centre - at * factor * length(), centre + (1 - at) * factor * length());
  };

  // Shows an occurrence that begins at a time.
  function showAt(start) {
    const duration = now.occurrences[now.picked.units.length - 1] - now.occurrences[0];
    const reach = Math.min(length(), Math.max(200000, 4 * duration)) / 2;
    state.show(start - reach, start + reach);
  }

  // Goes to the next occurrence that begins after the middle of the view, or the one before.
  function jump(direction) {
    if (!state.occurrenceCount()) return;
    const size = now.picked.units.length;
    const starts = now.occurrences.filter((_, i) => i % size === 0);
    const middle = (now.from + now.to) / 2;
    const after = firstAtOrAfter(starts, middle + 1);
    const place = direction > 0 ? after : firstAtOrAfter(starts, middle - 1) - 1;
    showAt(starts[Math.max(0, Math.min(place, starts.length - 1))]);
  }

  const all = () => state.show(data.begin, data.end);
  const keys = { ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), PageUp: () => move(-1), PageDown: () => move(1), "+": () => zoom(0.5),
    "=": () => zoom(0.5), "-": () => zoom(2), 0: all, Home: all, n: () => jump(1), p: () => jump(-1) };
  canvas.addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  const share = (event) => Math.max(0, Math.min(1, (event.offsetX - area.left) / area.width));
  canvas.addEventListener("wheel", (event) => {
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move((event.deltaX || event.deltaY) / area.width);
    else if (event.ctrlKey || document.activeElement === canvas) zoom(1.0015 ** event.deltaY, share(event));
    else return;
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) move(-event.movementX / area.width);
  });
  canvas.addEventListener("dblclick", (event) => zoom(0.25, share(event)));
  tellUnderPointer(canvas, (event) => {
    const units = shownUnits();
    const unit = units[Math.floor((event.offsetY / area.height) * units.length)];
    if (unit === undefined || event.offsetX < area.left) return "";
    const time = now.from + share(event) * length();
    const near = (3 * length()) / area.width;
    const { times } = data.trains[unit];
    const [first, end] = [firstAtOrAfter(times, time - near), firstAtOrAfter(times, time + near)];
    const spikes = end - first === 1 ? `spike at ${timeText(times[first], 1)}` : `${grouped(end - first)} spikes at ${timeText(time, near)}`;
    return `${shownName(data.names[unit])}: ${spikes}`;
  });
  withDrawing(canvas, draw);
  withNumbers(canvas, () => ({ heads: ["time_s", "unit"], rows: shownUnits().flatMap((unit) => {
    const { times } = data.trains[unit];
    const end = now.to < data.end ? firstAtOrAfter(times, now.to) : times.length;
    return Array.from(times.slice(firstAtOrAfter(times, now.from), end), (time) => [time / 1e6, data.names[unit]]);
  }).sort((a, b) => a[0] - b[0]) }));
  state.listen(redraw);
  window.addEventListener("resize", redraw);

  const button = (text, label, act) => el("button", { type: "button", "aria-label": label, onclick: act }, text);
  const controls = el("p", { class: "controls" },
    button("◂", "Earlier", () => move(-0.5)), button("▸", "Later", () => move(0.5)), button("+", "Zoom in", () => zoom(0.5)),
    button("−", "Zoom out", () => zoom(2)), button("All", "Show the whole recording", all),
    button("Previous occurrence", "Previous occurrence", () => jump(-1)), button("Next occurrence", "Next occurrence", () => jump(1)),
    el("label", { for: "only-picked" }, onlyPicked, " only units of what is picked"), where);
  return { element: el("div", {}, controls, el("div", { class: "raster" }, canvas), strip.element), redraw,
    showFirst() {
      if (state.occurrenceCount() > 0) showAt(now.occurrences[0]);
    } };
}
