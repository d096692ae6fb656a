// Spikes around the beginning of each epoch: a row for each epoch, and their rate (peri-stimulus time histogram).

import { barChart } from "./chart.js";
import { el, grouped, shownNumber, shownName, svg } from "./format.js";

const [psthBins, mostRows, mostTicks] = [50, 400, 20000];

// The time of the event in an epoch, from its beginning, in microseconds: epochs around events begin before or after them.
function eventIn({ parameters }) {
  const found = /:(-?[\d.]+) ?(us|ms|s)\.\./.exec(parameters?.around ?? "");
  return found ? -Number(found[1]) * { us: 1, ms: 1e3, s: 1e6 }[found[2]] : 0;
}

// A tick for each time in microseconds, one row above the other.
function ticks(rows, low, high) {
  const shown = rows.slice(0, mostRows);
  const height = Math.max(1, Math.min(8, 240 / shown.length));
  const x = (time) => 56 + (492 * (time - low)) / (high - low);  // as in the chart below
  let left = mostTicks;
  const path = shown.map((times, row) => times.slice(0, Math.max(0, (left -= times.length) + times.length)).map((time) => `M${x(time).toFixed(1)},${row * height}v${height * 0.8}`).join("")).join("");
  return svg("svg", { viewBox: `0 0 560 ${height * shown.length}`, class: "ticks", role: "img", "aria-label": `Times in each of ${shown.length} epochs; the chart below has their rate` }, svg("path", { d: path }));
}

// A row of each epoch; times are since its event.
function timesInEpochs(times, spans, event) {
  let at = 0;
  return spans.map(([from, to]) => {
    const row = [];
    while (at < times.length && times[at] < from) ++at;
    for (; at < times.length && times[at] < to; ++at) row.push(times[at] - from - event);
    return row;
  });
}

// Null unless there are several epochs.
export function makePsth(state) {
  const { data } = state;
  const { spans, names, trains } = data;
  if (!spans || spans.length < 2) return null;
  const event = eventIn(data.run);
  const [low, high] = [-event, spans.reduce((most, [from, to]) => Math.max(most, to - from), 0) - event];
  const element = el("div", { id: "psth-view" });
  const choice = el("select", { id: "psth-of", onchange: () => redraw() }, el("option", { value: -1 }, "occurrences of what is picked"), names.map((name, unit) => el("option", { value: unit }, `spikes of ${shownName(name)}`)));

  function redraw() {
    const unit = Number(choice.value);
    const { picked, occurrences } = state.now;
    const times = unit >= 0 ? trains[unit].times : picked ? occurrences.filter((_, i) => i % picked.units.length === 0).sort() : [];
    const rows = timesInEpochs(times, spans, event);
    const wide = (high - low) / psthBins;
    const counts = new Array(psthBins).fill(0);
    for (const row of rows) for (const time of row) ++counts[Math.min(psthBins - 1, Math.floor((time - low) / wide))];
    // Epochs may differ in length: a bin is in those that last until its middle.
    const seconds = counts.map((_, i) => (wide / 1e6) * spans.filter(([from, to]) => to - from > (i + 0.5) * wide).length);
    const chart = barChart({ label: "Rate around the beginning of the epochs", xLabel: event === 0 ? "time since the beginning of the epoch (ms)" : "time since the event (ms)", yLabel: unit >= 0 ? "spikes/s" : "occurrences/s",
      low: low / 1e3, high: high / 1e3, bars: counts.map((count, i) => (seconds[i] > 0 ? count / seconds[i] : 0)) }).element;
    chart.dataset.counts = counts.join(" ");
    const all = rows.reduce((sum, row) => sum + row.length, 0);
    chart.prepend(ticks(rows, low, high));
    element.replaceChildren(chart, el("p", { class: "note" }, `${grouped(all)} in ${grouped(spans.length)} epochs, first epoch on top${spans.length > mostRows ? `, of which the first ${mostRows} have a row` : ""}; bins of ${shownNumber(wide / 1e3)} ms.`));
  }

  state.listen((what) => {
    if (what === "picked" && Number(choice.value) < 0) redraw();
  });
  return el("div", { class: "narrow" }, el("p", { class: "controls" }, el("label", { for: "psth-of" }, "show ", choice)), element);
}
