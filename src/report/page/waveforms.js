// The mean waveform of a unit with its spread, on the channels around its peak, where these lie.

import { axisMarks } from "./chart.js";
import { withNumbers } from "./exports.js";
import { el, grouped, shownNumber, svg } from "./format.js";

const [wavesWidth, cellHeight, cellGap, waveMargin, waveFoot] = [600, 74, 10, 12, 44];

const inOrder = (values) => [...new Set(values)].sort((a, b) => a - b);

// The column and the row of each channel: by position, deep ones at the bottom; without positions one under another.
function cellsOf(channels, shown) {
  if (channels.length === 0) return shown.map((_, i) => ({ column: 0, row: i }));
  const columns = inOrder(shown.map(({ channel }) => channels[channel].x));
  const rows = inOrder(shown.map(({ channel }) => -channels[channel].y));
  return shown.map(({ channel }) => ({ column: columns.indexOf(channels[channel].x), row: rows.indexOf(-channels[channel].y) }));
}

function scaleBar(perMicrovolt, perMs, most, span, x, y) {
  const volts = axisMarks(0, most, 3).step;
  const ms = axisMarks(0, span, 4).step;
  return svg("g", { class: "bar-of-scale" }, svg("path", { class: "axis", d: `M${x},${y - volts * perMicrovolt}V${y}H${x + ms * perMs}` }),
    svg("text", { x: x + 6, y: y - volts * perMicrovolt + 9 }, `${shownNumber(volts)} µV`), svg("text", { x: x + ms * perMs + 5, y: y + 4 }, `${shownNumber(ms)} ms`));
}

// `other`: a second unit, whose means are drawn as well, on the channels around both peaks. `nameOf` names both.
export function drawWaveforms({ channels, waveforms }, unit, other = null, nameOf = (number) => `unit ${number}`) {
  const own = waveforms.of(unit);
  const others = other ? waveforms.of(other) : [];
  const flat = new Float32Array(waveforms.frames);
  const shown = [...own, ...others.filter(({ channel }) => own.every((one) => one.channel !== channel)).map(({ channel }) => ({ channel, mean: flat, deviation: flat }))];
  const cells = cellsOf(channels, shown);
  const ends = (sign) => [...shown, ...others].reduce((all, { mean, deviation }) => mean.reduce((best, value, i) => Math.max(best, sign * value + deviation[i]), all), 1);
  const [up, down] = [ends(1), ends(-1)];
  const peak = shown.map(({ mean }) => mean.reduce((a, b) => Math.max(a, Math.abs(b)), 0));
  const largest = peak.indexOf(Math.max(...peak));
  const columns = Math.max(2, 1 + Math.max(...cells.map((cell) => cell.column)));
  const cellWidth = (wavesWidth - 2 * waveMargin) / columns - cellGap;
  const body = (1 + Math.max(...cells.map((cell) => cell.row))) * (cellHeight + cellGap);
  const x = (cell, frame) => waveMargin + cell.column * (cellWidth + cellGap) + (cellWidth * frame) / (waveforms.frames - 1);
  const y = (cell, value) => waveMargin + cell.row * (cellHeight + cellGap) + (cellHeight * (up - value)) / (up + down);
  const picture = svg("svg", { viewBox: `0 0 ${wavesWidth} ${body + 2 * waveMargin + waveFoot}`, class: "waveforms", role: "img",
    "aria-label": `Mean waveforms of ${nameOf(unit)}${other ? ` and of ${nameOf(other)}` : ""}${waveforms.hasDeviation ? " with one standard deviation" : ""}, on ${shown.length} channels` });
  shown.forEach(({ channel, mean, deviation }, k) => {
    const cell = cells[k];
    const edge = (sign) => Array.from(mean, (value, i) => `${x(cell, i).toFixed(1)},${y(cell, value + sign * deviation[i]).toFixed(1)}`);
    const lineOf = (values) => Array.from(values, (value, i) => `${x(cell, i).toFixed(1)},${y(cell, value).toFixed(1)}`).join(" ");
    const second = others.find((one) => one.channel === channel);
    picture.append(svg("g", { class: k === largest ? "wave peak" : "wave", "data-channel": channel }, svg("polygon", { class: "band", points: [...edge(1), ...edge(-1).reverse()].join(" ") }),
      svg("polyline", { class: "line", points: lineOf(mean) }), second ? svg("polyline", { class: "line second", points: lineOf(second.mean) }) : [], svg("text", { x: x(cell, 0), y: y(cell, 0) - 9 }, String(channel))));
  });
  const perMs = cellWidth / (waveforms.end - waveforms.begin);
  picture.append(scaleBar(cellHeight / (up + down), perMs, (up + down) / 2, waveforms.end - waveforms.begin, waveMargin, body + waveMargin + waveFoot));
  const ms = (frame) => waveforms.begin + (frame * (waveforms.end - waveforms.begin)) / (waveforms.frames - 1);
  return withNumbers(picture, () => ({ heads: ["channel", "time_ms", "mean_uv", "deviation_uv"],
    rows: own.flatMap(({ channel, mean, deviation }) => Array.from(mean, (value, frame) => [channel, ms(frame), value, deviation[frame]])) }));
}

export function makeWaveforms(state) {
  const { data } = state;
  if (!data.waveforms) return el("p", { class: "note" }, "There are no waveforms: features were sorted, not a recording.");
  const element = el("div", { id: "waveforms-view" });
  state.listen((what) => {
    if (what !== "picked" && what !== "other") return;
    const { number } = state.now.picked;
    const other = state.other.isChosen ? state.other.unit.number : null;
    element.replaceChildren(el("h3", {}, `unit ${number}`, other ? [" and ", el("span", { class: "key reverse" }, `unit ${other}`)] : []), el("div", { class: "frame narrow" }, drawWaveforms(data, number, other)),
      el("p", { class: "note" }, `Mean and one standard deviation of ${grouped(data.waveforms.averaged(number))} spikes${other ? `, and the mean of unit ${other}` : ""}; numbers are channels, from 0.`));
  });
  return element;
}
