// Cross-correlograms and what chance gives them: that of an edge.

import { barChart } from "./chart.js";
import { el, grouped, intervalText, nameElement, shownName, shownNumber, testFigure } from "./format.js";
import { isInhibitory } from "./graph.js";

// Calls `take` with the lag of each pair of spikes with low < lag <= high.
function eachLag(from, to, low, high, sameUnit, take) {
  let first = 0;
  for (let i = 0; i < from.length; ++i) {
    while (first < to.length && to[first] - from[i] <= low) ++first;
    for (let j = first; j < to.length && to[j] - from[i] <= high; ++j)
      if (!sameUnit || i !== j) take(to[j] - from[i]);
  }
}

// Bin i counts lags in (low + i * width, low + (i + 1) * width].
export function correlogram(from, to, low, width, bins, sameUnit = false) {
  const counts = new Array(bins).fill(0);
  eachLag(from, to, low, low + bins * width, sameUnit, (lag) => { ++counts[Math.ceil((lag - low) / width) - 1]; });
  return counts;
}

// The correlogram expected if each spike of both units moves uniformly by up to `dither`: smoothed with a triangle.
function smoothed(counts, width, dither) {
  const reach = Math.floor((2 * dither) / width);
  const weights = Array.from({ length: 2 * reach + 1 }, (_, k) => 1 - (Math.abs(k - reach) * width) / (2 * dither));
  const sum = weights.reduce((all, one) => all + one, 0);
  return counts.slice(reach, counts.length - reach).map((_, i) =>
    weights.reduce((all, weight, k) => all + weight * counts[i + k], 0) / sum);
}

// The counts below and above which a Poisson variable is with a probability of at most 2.5 % each.
function poissonRange(mean) {
  if (mean > 200) return [mean - 1.96 * Math.sqrt(mean), mean + 1.96 * Math.sqrt(mean)];
  let probability = Math.exp(-mean);
  let below = probability;
  let low = -1;
  for (let count = 0; ; ++count) {
    if (low < 0 && below > 0.025) low = count;
    if (below >= 0.975) return [low, count];
    probability *= mean / (count + 1);
    below += probability;
  }
}

const halfBins = 60;

// Lags up to three times the longest delay, in bins of which a whole number fits into a millisecond or more.
function binOf(edge) {
  const reach = Math.max(10, 3 * edge.delay_ms[1]);
  const width = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000, 10000].find((ms) => ms * halfBins >= reach) ?? reach / halfBins;
  return 1000 * width;
}

// The counts expected by chance, with which the test of the edge compares: by the library, from the lags beside the delay; with
// surrogates, the correlogram smoothed by what they moved spikes; otherwise by constant rates.
function chanceOf(data, edge, counts, width) {
  const surrogates = data.run.surrogates;
  if (edge.null) return { mean: edge.null, text: "what the test of the edge expects in each bin from the lags beside it" };
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

// A figure with its 95 % confidence interval.
function withInterval(estimate, unit = "") {
  const [value, low, high] = estimate.map((one) => shownNumber(one));
  return `${value}${unit}, 95 % from ${low} to ${high}`;
}

function meanDelay(edge) {
  if (!edge.mean_delay_ms) return "no more pairs of spikes than beside the interval";
  return withInterval(edge.mean_delay_ms, " ms");
}

const cutText = { no: "no", low: "at its lower end", high: "at its upper end", both: "at both ends" };

function timing(edge) {
  return [["best delay", intervalText(edge.best_delay_ms)], ["mean delay", meanDelay(edge)],
    [`cuts the ${isInhibitory(edge.sign) ? "trough" : "peak"}`, cutText[edge.cut]], ["asymmetry", shownNumber(edge.asymmetry)],
    ["synchronous pairs", `${grouped(edge.synchronous)}, ${shownNumber(edge.synchronous_expected)} expected`]];
}

function figures(data, edge) {
  const numbers = (...names) => names.map((name) => [name, testFigure(edge[name], name)]);
  const rows = [["sign", edge.sign], ["delay", intervalText(edge.delay_ms)], ...timing(edge), ...numbers("count", "expected"),
    ["gain", withInterval(edge.gain)], ["transmission", withInterval(edge.transmission)], ...numbers("p", "q"), ["kind", edge.kind],
    ...(edge.via === undefined ? [] : [["explained by", nameElement(data.names[edge.via])]])];
  return el("dl", { id: "edge-figures" },
    rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export function makeCorrelogram(state) {
  const { data } = state;
  const hint = el("p", { class: "note" }, "Pick an edge of the circuit.");
  const element = el("div", { id: "correlogram-view" }, hint);

  function draw(edge) {
    const width = binOf(edge);
    const [from, to] = edge.units.map((unit) => data.trains[unit].apart);
    const counts = correlogram(from, to, -halfBins * width, width, 2 * halfBins, edge.from === edge.to);
    const chance = chanceOf(data, edge, counts, width);
    const ends = (halfBins * width) / 1000;
    const [first, second] = edge.units.map((unit) => shownName(data.names[unit]));
    const { element: chart } = barChart({
      label: `Cross-correlogram of ${first} and ${second}, lags from ${-ends} to ${ends} ms`, xLabel: `spikes of ${second} after those of ${first} (ms)`,
      yLabel: `pairs in ${width / 1000} ms`, low: -ends, high: ends, bars: counts, band: chance.mean.map(poissonRange), line: chance.mean, shade: edge.best_delay_ms });
    chart.dataset.counts = counts.join(" ");
    chart.dataset.null = chance.mean.join(" ");
    const [count, q, gain] = [grouped(edge.count), testFigure(edge.q, "q"), shownNumber(edge.gain[0])];
    element.replaceChildren(
      el("h3", {}, nameElement(data.names[edge.from]), isInhibitory(edge.sign) ? " ⊣ " : " → ", nameElement(data.names[edge.to]), `: ${edge.kind}`),
      el("p", {}, `${intervalText(edge.best_delay_ms)}: ${count} pairs, ${shownNumber(edge.expected)} expected (gain ${gain}, q ${q}).`),
      chart, el("p", { class: "note" }, `Shaded: the delay that was tested. Line and band: mean and 95 % of counts by chance, ${chance.text}.`),
      el("details", {}, el("summary", {}, "All figures"), figures(data, edge)));
  }

  // Of an episode, the first step that is an edge.
  const edgeOf = ({ units }) => data.edges.find(({ from, to }) => units.some((unit, k) => unit === from && units[k + 1] === to));

  state.listen((what) => {
    if (what !== "picked") return;
    const { kind, picked } = state.now;
    const edge = kind === "edge" ? picked : edgeOf(picked);
    if (edge) draw(edge);
    else element.replaceChildren(el("p", { class: "note" }, "No step of the picked episode is an edge of the circuit."));
  });
  return element;
}
