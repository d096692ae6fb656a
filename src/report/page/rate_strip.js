// The rate of all units together over the whole recording, and the part of it that is shown.

import { coloursOf, sizedContext } from "./canvas.js";
import { withNumbers } from "./exports.js";
import { el, shownNumber, timeText } from "./format.js";
import { countColumns } from "./raster_image.js";
import { tellUnderPointer } from "./tip.js";

const [stripHeight, rateBins] = [44, 600];

export function makeRateStrip(state) {
  const { data, now } = state;
  const canvas = el("canvas", { role: "img" });
  const note = el("p", { class: "note" });
  let [counted, length, most, rates] = [null, 1, 1, []];

  // Of the spikes that are shown.
  function count() {
    counted = data.trains;
    const total = new Uint32Array(rateBins);
    const counts = new Uint32Array(rateBins);
    for (const { times } of data.trains) {
      countColumns(times, data.begin, data.end + 1, counts);
      counts.forEach((number, i) => { total[i] += number; });
    }
    length = (data.end - data.begin) / rateBins;
    rates = Array.from(total, (number) => (1e6 * number) / length);
    most = Math.max(1, ...rates);
    const words = `Spikes of ${data.trains.length === 2 ? "both" : "all"} units per second over the whole recording, at most ${shownNumber(most)} in ${shownNumber(length / 1e6)} s`;
    canvas.setAttribute("aria-label", words);
    canvas.dataset.counts = total.join(" ");
    note.textContent = `${words}.`;
  }

  function draw() {
    if (!canvas.isConnected) return;
    if (data.trains !== counted) count();
    const width = canvas.parentElement.clientWidth;
    const context = sizedContext(canvas, width, stripHeight);
    const colours = coloursOf(canvas);
    const x = (time) => (width * (time - data.begin)) / (data.end - data.begin);
    context.fillStyle = colours.soft;
    rates.forEach((rate, i) => context.fillRect((width * i) / rateBins, stripHeight - ((stripHeight - 4) * rate) / most, width / rateBins, stripHeight));
    if (now.from <= data.begin && now.to >= data.end) return;
    context.fillStyle = colours.blue;
    context.globalAlpha = 0.3;
    context.fillRect(x(now.from) - 1, 0, Math.max(3, x(now.to) - x(now.from)), stripHeight);
    context.globalAlpha = 1;
    context.fillRect(x(now.from) - 1, 0, Math.max(3, x(now.to) - x(now.from)), 3);
  }

  const timeAt = (event) => data.begin + (event.offsetX / canvas.clientWidth) * (data.end - data.begin);
  canvas.addEventListener("click", (event) => {
    const reach = (now.to - now.from) / 2;
    state.show(timeAt(event) - reach, timeAt(event) + reach);
  });
  tellUnderPointer(canvas, (event) => {
    const bin = Math.max(0, Math.min(rateBins - 1, Math.floor((event.offsetX / canvas.clientWidth) * rateBins)));
    return `${timeText(timeAt(event), length)}: ${shownNumber(rates[bin])} spikes/s`;
  });
  withNumbers(canvas, () => ({ heads: ["from_s", "rate_hz"], rows: rates.map((rate, i) => [(data.begin + i * length) / 1e6, rate]) }));
  return { element: el("div", { class: "strip" }, canvas, note), draw };
}
