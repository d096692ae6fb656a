// Auto- and cross-correlograms, and the intervals between spikes of a unit.

import { barChart } from "./chart.js";
import { correlogram } from "./correlogram.js";
import { el, grouped, shownNumber } from "./format.js";
import { drawnInTurn } from "./in_turn.js";

const [halfReach, lagBin] = [50, 1];  // ms
const [longestInterval, intervalBin] = [50, 0.5];

function drawCorrelogram({ trains, refractory, spikeCount, begin, end }, first, second) {
  const [from, to] = [first, second].map((unit) => trains[unit - 1].times);
  const same = first === second;
  const counts = spikeCount > 0 ? correlogram(from, to, -1000 * halfReach, 1000 * lagBin, (2 * halfReach) / lagBin, same) : [];
  const chance = (from.length * to.length * 1000 * lagBin) / (end - begin);
  const chart = barChart({ label: same ? `Autocorrelogram of unit ${first}` : `Cross-correlogram of units ${first} and ${second}`,
    xLabel: same ? `time to other spikes of unit ${first} (ms)` : `spikes of unit ${second} after those of unit ${first} (ms)`, yLabel: `pairs in ${lagBin} ms`,
    low: -halfReach, high: halfReach, bars: counts, line: counts.map(() => chance), shade: refractory ? [-refractory, refractory] : undefined }).element;
  chart.dataset.counts = counts.join(" ");
  chart.dataset.pair = `${first} ${second}`;
  return chart;
}

function drawIntervals({ trains, refractory }, unit) {
  const { times } = trains[unit - 1];
  const bars = new Array(longestInterval / intervalBin).fill(0);
  let short = 0;
  for (let i = 1; i < times.length; ++i) {
    const interval = (times[i] - times[i - 1]) / 1000;
    if (interval < refractory) ++short;
    if (interval < longestInterval) ++bars[Math.floor(interval / intervalBin)];
  }
  const chart = barChart({ label: `Intervals between spikes of unit ${unit}`, xLabel: `interval between spikes of unit ${unit} (ms)`, yLabel: `intervals in ${intervalBin} ms`,
    low: 0, high: longestInterval, bars, shade: refractory ? [0, refractory] : undefined }).element;
  chart.dataset.counts = bars.join(" ");
  const all = Math.max(0, times.length - 1);
  const text = refractory === null ? "" : `${grouped(short)} of ${grouped(all)} intervals of unit ${unit} (${shownNumber(all > 0 ? (100 * short) / all : 0)} %) are shorter than the refractory period of ${refractory} ms.`;
  return { chart, text };
}

export function makeUnitCorrelograms(state) {
  const { data } = state;
  if (data.spikeCount === 0) return el("p", { class: "note" }, "The times of the spikes are not known.");
  const choice = el("select", { id: "other-unit", onchange: () => state.choose(data.units.find(({ number }) => number === Number(choice.value))) },
    data.units.map((unit) => el("option", { value: unit.number }, String(unit.number))));
  const charts = el("div", { class: "two" });
  const violations = el("span", { id: "violations" });

  const redraw = drawnInTurn(charts, () => {
    const [picked, other] = [state.now.picked.number, state.other.unit.number];
    const { chart, text } = drawIntervals(data, picked);
    violations.textContent = text;
    charts.replaceChildren(
      el("div", {}, el("h3", {}, `unit ${picked}`), drawCorrelogram(data, picked, picked)), el("div", {}, el("h3", {}, `intervals of unit ${picked}`), chart),
      ...(other === picked ? [] : [el("div", {}, el("h3", {}, `unit ${picked} → unit ${other}`), drawCorrelogram(data, picked, other)), el("div", {}, el("h3", {}, `unit ${other}`), drawCorrelogram(data, other, other))]));
  });

  state.listen((what) => {
    if (what !== "picked" && what !== "other") return;
    choice.value = state.other.unit.number;
    redraw();
  });
  return el("div", {}, el("p", { class: "controls" }, el("label", { for: "other-unit" }, "with unit ", choice)), charts,
    el("p", { class: "note" }, violations, " Shaded: the refractory period. Dashed: independent units at constant rates."));
}
