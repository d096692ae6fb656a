// Amplitude and depth of spikes over time, with the motion of the tissue.

import { coloursOf, sizedContext } from "./canvas.js";
import { axisMarks } from "./chart.js";
import { withNumbers } from "./exports.js";
import { el, grouped, shownNumber } from "./format.js";
import { drawnInTurn } from "./in_turn.js";
import { withDrawing } from "./svg_context.js";

const [plotHeight, plotLeft, plotRight, plotTop, plotBottom] = [300, 66, 14, 8, 44];

// Draws points and lines into a canvas. `series`: {times, values, colour, size}; `lines`: {times, values}; `range`: of values.
function drawScatter(canvas, { from, to, range: [low, high], series, lines, yLabel }, colours) {
  const width = canvas.parentElement.clientWidth;
  const context = sizedContext(canvas, width, plotHeight);
  const [right, bottom] = [width - plotRight, plotHeight - plotBottom];
  const x = (time) => plotLeft + ((right - plotLeft) * (time - from)) / (to - from);
  const y = (value) => bottom - ((bottom - plotTop) * (value - low)) / (high - low);
  context.save();
  context.beginPath();
  context.rect(plotLeft, plotTop, right - plotLeft, bottom - plotTop);
  context.clip();
  for (const { times, values, colour, size } of series) {
    context.fillStyle = colour;
    for (let i = 0; i < times.length; ++i) context.fillRect(x(times[i]) - size / 2, y(values[i]) - size / 2, size, size);
  }
  context.strokeStyle = colours.text;
  context.lineWidth = 1.5;
  for (const { times, values } of lines) {
    context.beginPath();
    times.forEach((time, i) => (i === 0 ? context.moveTo(x(time), y(values[i])) : context.lineTo(x(time), y(values[i]))));
    context.stroke();
  }
  context.restore();
  context.fillStyle = context.strokeStyle = colours.text;
  context.lineWidth = 1;
  context.font = `11px ${colours.font}`;
  context.beginPath();
  context.moveTo(plotLeft + 0.5, plotTop);
  context.lineTo(plotLeft + 0.5, bottom + 0.5);
  context.lineTo(right, bottom + 0.5);
  context.stroke();
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const mark of axisMarks(from, to, Math.max(2, width / 110)).marks) context.fillText(shownNumber(mark, 6), x(mark), bottom + 6);
  context.fillText("time (s)", (plotLeft + right) / 2, bottom + 24);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const mark of axisMarks(low, high, 6).marks) context.fillText(shownNumber(mark, 6), plotLeft - 6, y(mark));
  context.translate(14, (plotTop + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(yLabel, 0, 0);
}

function rangeOf(lists, least) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of lists)
    for (const value of values) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (low > high) return [0, 1];
  const room = Math.max(0.05 * (high - low), least);
  return [low - room, high + room];
}

// The motion of the tissue over time at a depth, linear between the windows where it was estimated.
function motionAt(motion, depth) {
  const above = motion.findIndex((one) => one.depth >= depth);
  const [low, high] = above <= 0 ? [motion.at(above), motion.at(above)] : [motion[above - 1], motion[above]];
  const share = high.depth > low.depth ? (depth - low.depth) / (high.depth - low.depth) : 0;
  return { times: low.times, values: low.displacements.map((moved, i) => depth + (1 - share) * moved + share * high.displacements[i]) };
}

// `key`: "amplitudes" or "depths"; `motion`: what is drawn over them.
function makeOverTime(state, { key, id, label, yLabel, motion, near }) {
  const { data } = state;
  const { points } = data;
  const canvas = el("canvas", { role: "img" });
  const box = el("input", { type: "checkbox", id, checked: true, onchange: () => redraw() });
  const drawn = el("p", { class: "note", "data-drawn": "" });
  const lines = motion.map(({ depth, times, displacements }) => ({ times, values: displacements.map((moved) => depth + moved) }));

  function draw() {
    const unit = state.now.picked;
    if (!unit) return;
    const colours = coloursOf(canvas);
    const own = points.of(unit.number);
    const others = near && box.checked ? [] : data.units.filter((one) => one !== unit).map((one) => points.of(one.number));
    const second = state.other.isChosen ? points.of(state.other.unit.number) : null;
    const series = [...others.map((one) => ({ times: one.times, values: one[key], colour: colours.band, size: 1.2 })), ...(second ? [{ times: second.times, values: second[key], colour: colours.violet, size: 2 }] : []), { times: own.times, values: own[key], colour: colours.mark, size: 2.5 }];
    const middle = own[key].toSorted()[own[key].length >> 1] ?? 0;
    const reach = rangeOf([own[key]], 1);
    const ownMotion = motion.length > 0 ? [motionAt(motion, middle)] : [];
    const range = key === "amplitudes" ? [0, rangeOf(series.map((one) => one.values), 1)[1]]
      : box.checked ? [Math.min(reach[0], middle - 60), Math.max(reach[1], middle + 60)] : rangeOf(series.map((one) => one.values), 10);
    drawScatter(canvas, { from: data.begin / 1e6, to: data.end / 1e6, range, series, lines: box.checked ? ownMotion : lines, yLabel }, colours);
    canvas.setAttribute("aria-label", `${label} of unit ${unit.number} over time`);
    drawn.textContent = `Orange: ${grouped(own.times.length)} of the ${grouped(unit.spikes)} spikes of unit ${unit.number}${own.times.length < unit.spikes ? ", evenly spread" : ""}. Grey: other units, at most ${grouped(points.most)} spikes of each.` +
      (second ? ` Violet: unit ${state.other.unit.number}.` : "") + (motion.length > 0 ? (box.checked ? " Line: the estimated motion of the tissue at the unit's depth." : " Lines: the estimated motion of the tissue, at the depths where it was estimated.") : "");
    drawn.dataset.drawn = `${own.times.length} ${others.reduce((sum, one) => sum + one.times.length, 0)}`;
  }
  const redraw = drawnInTurn(canvas, draw);
  withDrawing(canvas, draw);
  withNumbers(canvas, () => {
    const { times, [key]: values } = points.of(state.now.picked.number);
    return { heads: ["time_s", key], rows: Array.from(times, (time, i) => [time, values[i]]) };
  });

  state.listen((what) => {
    if (what === "picked" || what === "other") redraw();
  });
  window.addEventListener("resize", redraw);
  return { element: el("div", {}, el("p", { class: "controls" }, el("label", { for: id }, box, near ? " only the picked unit" : " only around the picked unit")), el("div", {}, canvas), drawn), redraw };
}

export function makeAmplitudes(state) {
  const { points } = state.data;
  if (!points) return { element: el("p", { class: "note" }, "Amplitudes over time are not known."), redraw() {} };
  return makeOverTime(state, { key: "amplitudes", id: "only-unit", label: "Amplitudes", yLabel: `amplitude (${points.amplitudeUnit})`, motion: [], near: true });
}

export function makeDepths(state) {
  const { points, channels, motion } = state.data;
  if (!points || channels.length === 0) return { element: el("p", { class: "note" }, "Depths over time are not known."), redraw() {} };
  return makeOverTime(state, { key: "depths", id: "near-unit", label: "Depths", yLabel: "depth, y (µm)", motion, near: false });
}
