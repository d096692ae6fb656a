// The occurrences of the picked pattern under each other, each at its start.

import { axisMarks } from "./chart.js";
import { savePng } from "./exports.js";
import { el, grouped, shortNumber, shownName } from "./format.js";
import { patternElements } from "./patterns.js";
import { coloursOf, drawMarks, drawNames, sizedContext } from "./raster.js";
import { firstAtOrAfter } from "./raster_image.js";

const [alignedLeft, alignedRight, alignedBottom, bandGap] = [110, 14, 40, 8];

// Calls `take` with the lag of each spike of a train in [low, high) of each start, and the number of the occurrence.
function eachSpikeAround(times, starts, low, high, take) {
  let first = 0;
  starts.forEach((start, row) => {
    first = firstAtOrAfter(times, start + low, first);
    for (let i = first; i < times.length && times[i] < start + high; ++i) take(times[i] - start, row, i);
  });
}

function drawLags(context, [low, high], { left, width, top }, colours) {
  const { marks } = axisMarks(low, high, Math.max(3, width / 90));
  drawMarks(context, marks, [low, high], { left, width, top }, (mark) => shortNumber(mark / 1000, 6), colours);
  context.fillText("time from the start of the window (ms)", left + width / 2, top + 24);
}

// One band for each unit of the pattern, in the order of their first spikes. In a band each occurrence has a row.
function bandsOf({ units, lags_ms: lags }) {
  return [...new Set(units)].map((unit) => ({ unit, lags: lags.filter((_, k) => units[k] === unit).map((ms) => 1000 * ms) }));
}

export function makeAligned(state) {
  const { data, now } = state;
  const canvas = el("canvas", { role: "img" });
  const title = el("h3");
  const count = el("p", { id: "occurrence-count" });
  const element = el("div", { id: "aligned-view" }, el("p", { class: "note" }, "Pick a pattern."));
  const { bin_us: bin, length } = data.windows;
  const range = [-0.5 * length * bin, 1.5 * length * bin];

  function drawBand(context, { unit, lags }, starts, place, colours) {
    const x = (lag) => place.left + ((lag - range[0]) / (range[1] - range[0])) * place.width;
    context.fillStyle = colours.shade;
    for (const lag of lags) context.fillRect(x(lag), place.top, x(lag + bin) - x(lag), place.height);
    const rowHeight = place.height / Math.max(1, starts.length);
    const thick = Math.max(1, rowHeight - (rowHeight > 4 ? 1 : 0));
    const isOfPattern = (lag) => lags.some((first) => lag >= first && lag < first + bin);
    let drawn = 0;
    for (const marked of [false, true]) {
      context.fillStyle = marked ? colours.mark : colours.text;
      eachSpikeAround(data.trains[unit].times, starts, range[0], range[1], (lag, row) => {
        if (isOfPattern(lag) !== marked) return;
        context.fillRect(x(lag) - 1, place.top + row * rowHeight, 2, thick);
        ++drawn;
      });
    }
    context.strokeStyle = colours.rule;
    context.strokeRect(place.left + 0.5, place.top + 0.5, place.width - 1, place.height - 1);
    return drawn;
  }

  function draw() {
    const { picked } = now;
    if (!picked || !canvas.isConnected) return;
    const { starts } = picked.found;
    const bands = bandsOf(picked);
    const bandHeight = Math.max(24, Math.min(110, 4 * starts.length, 560 / bands.length));
    const top = bands.length * (bandHeight + bandGap);
    const width = element.clientWidth;
    const context = sizedContext(canvas, width, top + alignedBottom);
    const colours = coloursOf(canvas);
    const area = { left: alignedLeft, width: Math.max(50, width - alignedLeft - alignedRight) };
    const drawn = bands.map((band, i) => drawBand(context, band, starts, { ...area, top: i * (bandHeight + bandGap), height: bandHeight }, colours));
    drawNames(context, bands.map(({ unit }) => shownName(data.names[unit])), bandHeight + bandGap, alignedLeft, colours, -bandGap / 2);
    drawLags(context, range, { ...area, top }, colours);
    canvas.dataset.drawn = drawn.join(" ");
  }

  state.listen((what) => {
    if (what !== "picked") return;
    const { starts } = now.picked.found;
    const words = now.picked.units.map((unit) => shownName(data.names[unit])).join(", ");
    canvas.setAttribute("aria-label", `Spikes of ${words} around the start of each of ${starts.length} occurrences`);
    title.replaceChildren(...patternElements(data.names, now.picked));
    const other = starts.length === now.picked.count ? "" : ` can be found in the spikes; ${grouped(now.picked.count)} were counted`;
    count.textContent = `${grouped(starts.length)} occurrences${other}`;
    if (!canvas.isConnected)
      element.replaceChildren(title, count, canvas, el("p", { class: "note" }, "A row of each band is an occurrence, the first at the top. Orange: the spikes of the pattern, in the shaded bins of their lags."),
        savePng("occurrences", canvas));
    draw();
  });
  window.addEventListener("resize", draw);
  return { element, redraw: draw };
}
