// The occurrences of what is picked under each other, each at its start.

import { coloursOf, drawMarks, drawNames, fitOf, sizedContext } from "./canvas.js";
import { axisMarks } from "./chart.js";
import { withNumbers } from "./exports.js";
import { el, grouped, shownName, shownNumber } from "./format.js";
import { firstAtOrAfter } from "./raster_image.js";
import { withDrawing } from "./svg_context.js";

const [alignedLeft, alignedRight, alignedBottom] = [110, 14, 40];
// Why fewer or more may be found than were counted.
const whyCountsDiffer = { pattern: ", because a spike on the edge of a bin may have been in another one", assembly: ", because it can be active several times in a bin" };

// Calls `take` with the lag of each spike of a train in [low, high) of each start, and the number of the occurrence.
function eachSpikeAround(times, starts, low, high, take) {
  let first = 0;
  starts.forEach((start, row) => {
    first = firstAtOrAfter(times, start + low, first);
    for (let i = first; i < times.length && times[i] < start + high; ++i) take(times[i] - start, row, i);
  });
}

function drawLags(context, [low, high], axis, { left, width, top }, colours) {
  const { marks } = axisMarks(low, high, Math.max(3, width / 90));
  drawMarks(context, marks, [low, high], { left, width, top }, (mark) => shownNumber(mark / 1000, 6), colours);
  context.fillText(axis, left + width / 2, top + 24);
}

// One band for each unit, in the order of their first spikes. In a band each occurrence has a row.
function bandsOf({ units }, shaded) {
  return [...new Set(units)].map((unit) => ({ unit, shaded: shaded.filter((_, k) => units[k] === unit) }));
}

// `look(row)` returns the `starts` of its occurrences, and from there on the `range` that is drawn and an interval for each of
// its spikes (`shaded`, `shadedText`; empty: none), all in microseconds, and the title of the `axis`. `path(row)` is the row as elements.
export function makeAligned(state, { hint, path, shadedText, look }) {
  const { data, now } = state;
  const canvas = el("canvas", { role: "img" });
  const title = el("h3");
  const element = el("div", { id: "aligned-view" }, el("p", { class: "note" }, hint));

  function drawBand(context, { unit, shaded }, { starts, range }, place, colours) {
    const { picked: { units }, occurrences } = now;
    const x = (lag) => place.left + ((lag - range[0]) / (range[1] - range[0])) * place.width;
    context.fillStyle = colours.shade;
    for (const [low, high] of shaded) context.fillRect(x(low), place.top, Math.max(2, x(high) - x(low)), place.height);
    const rowHeight = place.height / Math.max(1, starts.length);
    const thick = Math.max(1, Math.round(rowHeight) - (rowHeight > 4 ? 1 : 0));
    // Where many occurrences share a row of pixels, each place is drawn once.
    const across = Math.ceil(place.width) + 1;
    const taken = new Uint8Array(across * (Math.ceil(place.height) + 1));
    const mark = (lag, row) => {
      const [at, down] = [Math.round(x(lag) - place.left), Math.round(row * rowHeight)];
      if (taken[down * across + at]) return;
      taken[down * across + at] = 1;
      context.fillRect(place.left + at - 1, place.top + down, 2, thick);
    };
    let drawn = 0;
    context.fillStyle = colours.text;
    eachSpikeAround(data.trains[unit].times, starts, range[0], range[1], (lag, row) => {
      mark(lag, row);
      ++drawn;
    });
    taken.fill(0);
    context.fillStyle = colours.mark;
    occurrences.forEach((time, i) => {
      const row = Math.floor(i / units.length);
      if (units[i % units.length] === unit) mark(time - starts[row], row);
    });
    context.strokeStyle = colours.rule;
    context.strokeRect(place.left + 0.5, place.top + 0.5, place.width - 1, place.height - 1);
    return drawn;
  }

  function draw() {
    const { picked } = now;
    if (!picked || !canvas.isConnected) return;
    const { starts, range, shaded, axis } = look(picked);
    const bands = bandsOf(picked, shaded);
    const bandGap = bands.length > 6 ? 3 : 8;
    const bandHeight = Math.round(Math.max(11, Math.min(110, 4 * starts.length, Math.min(560, 0.18 * window.innerHeight * fitOf(canvas)) / bands.length - bandGap)));
    const top = bands.length * (bandHeight + bandGap);
    const width = element.clientWidth;
    const context = sizedContext(canvas, width, top + alignedBottom);
    const colours = coloursOf(canvas);
    const area = { left: alignedLeft, width: Math.max(50, width - alignedLeft - alignedRight) };
    const drawn = bands.map((band, i) => drawBand(context, band, { starts, range }, { ...area, top: i * (bandHeight + bandGap), height: bandHeight }, colours));
    drawNames(context, bands.map(({ unit }) => shownName(data.names[unit])), bandHeight + bandGap, alignedLeft, colours, -bandGap / 2);
    drawLags(context, range, axis, { ...area, top }, colours);
    canvas.dataset.drawn = drawn.join(" ");
  }

  withDrawing(canvas, draw);
  withNumbers(canvas, () => {
    const { picked: { units }, occurrences } = now;
    return { heads: ["occurrence", "unit", "time_s"], rows: Array.from(occurrences, (time, i) => [1 + Math.floor(i / units.length), data.names[units[i % units.length]], time / 1e6]) };
  });
  state.listen((what) => {
    if (what !== "picked") return;
    const found = state.occurrenceCount();
    const words = now.picked.units.map((unit) => shownName(data.names[unit])).join(", ");
    canvas.setAttribute("aria-label", `Spikes of ${words} around the start of each of ${grouped(found)} occurrences`);
    const other = now.kind === "edge" || found === now.picked.count ? "" : ` can be found in the spikes; ${grouped(now.picked.count)} were counted${whyCountsDiffer[now.kind] ?? ""}`;
    title.replaceChildren(...path(now.picked), `: ${grouped(found)} occurrences${other}`);
    if (!canvas.isConnected)
      element.replaceChildren(title, canvas, el("p", { class: "note" }, `A row of each band is an occurrence, the first at the top. Orange: its spikes.${shadedText ? ` Shaded: ${shadedText}.` : ""}`));
    draw();
  });
  window.addEventListener("resize", draw);
  return { element, redraw: draw };
}
