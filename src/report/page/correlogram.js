// The cross-correlogram of an edge, or of a pair that is tested for occurring less often than by chance.

import { barChart } from "./chart.js";
import { correlogram, poissonRange, smoothed } from "./correlate.js";
import { kindText } from "./fewer.js";
import { el, intervalText, nameElement, shortNumber, shownName, testFigure } from "./format.js";

const halfBins = 60;

// Lags up to three times the longest delay, in bins of which a whole number fits into a millisecond or more.
function binOf(edge) {
  const reach = Math.max(10, 3 * edge.delay_ms[1]);
  const width = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000, 10000].find((ms) => ms * halfBins >= reach) ?? reach / halfBins;
  return 1000 * width;
}

// What chance gives: with surrogates, the correlogram smoothed by what they moved spikes; otherwise constant rates.
function chanceOf(data, edge, counts, width) {
  const surrogates = data.run.surrogates;
  const [from, to] = edge.units.map((unit) => data.trains[unit].apart);
  if (surrogates?.dither_ms > 0) {
    const dither = 1000 * surrogates.dither_ms;
    const reach = Math.floor((2 * dither) / width);
    const wide = correlogram(from, to, -(halfBins + reach) * width, width, 2 * (halfBins + reach), edge.from === edge.to);
    return { mean: smoothed(wide, width, dither), text: `the correlogram smoothed by ±${surrogates.dither_ms} ms for both units, as surrogates move spikes` };
  }
  const mean = (from.length * to.length * width) / data.observed;
  return { mean: counts.map(() => mean), text: "units that fire independently at constant rates" };
}

function meanDelay(edge) {
  if (!edge.mean_delay_ms) return "no more pairs of spikes than beside the interval";
  const [mean, low, high] = edge.mean_delay_ms.map((ms) => shortNumber(ms, 4));
  return `${mean} ms, 95 % from ${low} to ${high}`;
}

const cutText = { no: "no", low: "at its lower end", high: "at its upper end", both: "at both ends" };

// What is known of edges only.
function timing(edge) {
  return [["best delay", intervalText(edge.best_delay_ms)], ["mean delay", meanDelay(edge)],
    ["cuts the peak", cutText[edge.cut]], ["asymmetry", shortNumber(edge.asymmetry, 2)],
    ["synchronous pairs", `${edge.synchronous}, ${shortNumber(edge.synchronous_expected, 3)} expected`]];
}

function figures(data, edge, isPair) {
  const numbers = ["count", "expected", "p", "q", isPair ? "ratio" : "strength"].map((name) => [name, testFigure(name, edge[name])]);
  const rows = [["delay", intervalText(edge.delay_ms)], ...(isPair ? [] : timing(edge)), ...numbers,
    ["kind", isPair ? kindText(edge) : edge.kind],
    ...(edge.via === undefined ? [] : [["explained by", nameElement(data.names[edge.via])]])];
  return el("dl", { id: "edge-figures" },
    rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export function makeCorrelogram(state) {
  const { data } = state;
  const hint = el("p", { class: "note" }, data.fewer ? "Pick an edge of the circuit, or a pair." : "Pick an edge of the circuit.");
  const element = el("div", { id: "correlogram-view" }, hint);

  function draw(edge, isPair) {
    const width = binOf(edge);
    const [from, to] = edge.units.map((unit) => data.trains[unit].apart);
    const counts = correlogram(from, to, -halfBins * width, width, 2 * halfBins, edge.from === edge.to);
    const chance = chanceOf(data, edge, counts, width);
    const ends = (halfBins * width) / 1000;
    const [first, second] = edge.units.map((unit) => shownName(data.names[unit]));
    const { element: chart } = barChart({
      label: `Cross-correlogram of ${first} and ${second}, lags from ${-ends} to ${ends} ms`, xLabel: `spikes of ${second} after those of ${first} (ms)`,
      yLabel: `pairs in ${width / 1000} ms`, low: -ends, high: ends, bars: counts, band: chance.mean.map(poissonRange), line: chance.mean, shade: edge.delay_ms });
    chart.dataset.counts = counts.join(" ");
    element.replaceChildren(
      el("h3", {}, nameElement(data.names[edge.from]), " → ", nameElement(data.names[edge.to])),
      el("div", { class: "two" }, el("div", {}, chart, el("p", { class: "note" }, `Shaded: the delay. Line and band: mean and 95 % of counts by chance, ${chance.text}.`)), figures(data, edge, isPair)));
  }

  state.listen((what) => {
    const { kind, picked } = state.now;
    if (what === "picked" && (kind === "edge" || kind === "pair")) draw(picked, kind === "pair");
  });
  return element;
}
