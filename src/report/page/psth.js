// Spikes around the beginning of each epoch: a row for each epoch, and their rate (peri-stimulus time histogram), by the labels of the epochs.

import { barChart, stepChart } from "./chart.js";
import { el, grouped, nameElement, shownNumber, shownName, svg } from "./format.js";

const [psthBins, mostRows, mostTicks, mostConditions] = [50, 400, 20000, 6];

// The time of the event in an epoch, from its beginning, in microseconds: epochs around events begin before or after them.
function eventIn({ parameters }) {
  const found = /:(-?[\d.]+) ?(us|ms|s)\.\./.exec(parameters?.around ?? "");
  return found ? -Number(found[1]) * { us: 1, ms: 1e3, s: 1e6 }[found[2]] : 0;
}

// The epochs of each label, in natural order; those of the rarest labels together, if there are many.
function conditionsOf(spans, labels) {
  const all = new Map();
  (labels ?? []).forEach((label, epoch) => all.set(label, [...(all.get(label) ?? []), epoch]));
  if (all.size < 2) return [{ epochs: spans.map((_, epoch) => epoch) }];
  const byNumber = [...all].sort(([, a], [, b]) => b.length - a.length);
  const kept = byNumber.length > mostConditions ? byNumber.splice(0, mostConditions - 1) : byNumber.splice(0);
  const named = kept.map(([label, epochs]) => ({ name: label || "no label", epochs })).sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  if (byNumber.length > 0) named.push({ name: `${byNumber.length} other labels`, epochs: byNumber.flatMap(([, epochs]) => epochs).sort((a, b) => a - b) });
  return named.map((condition, i) => ({ ...condition, kind: `condition-${i}` }));
}

// A tick for each time in microseconds, one row above the other, a block of rows for each condition.
function ticks(conditions, low, high) {
  const most = Math.floor(mostRows / conditions.length);
  const blocks = conditions.map(({ rows }) => rows.slice(0, most));
  const count = blocks.reduce((sum, rows) => sum + rows.length, 0);
  const height = Math.max(1, Math.min(8, 240 / count));
  const x = (time) => 56 + (492 * (time - low)) / (high - low);  // as in the chart below
  let left = mostTicks;
  let y = 0;
  const paths = blocks.map((rows, i) => {
    const d = rows.map((times, row) => times.slice(0, Math.max(0, (left -= times.length) + times.length)).map((time) => `M${x(time).toFixed(1)},${y + row * height}v${height * 0.8}`).join("")).join("");
    y += height * rows.length + (i + 1 < blocks.length ? 4 : 0);
    return svg("path", { d, class: conditions[i].kind });
  });
  return svg("svg", { viewBox: `0 0 560 ${y}`, class: "ticks", role: "img", "aria-label": `Times in each of ${count} epochs; the chart below has their rate` }, paths);
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
  const conditions = conditionsOf(spans, data.labels);
  const element = el("div", { id: "psth-view" });
  const choice = el("select", { id: "psth-of", onchange: () => redraw() }, el("option", { value: -1 }, "occurrences of what is picked"), names.map((name, unit) => el("option", { value: unit }, `spikes of ${shownName(name)}`)));

  function redraw() {
    const unit = Number(choice.value);
    const { picked, occurrences } = state.now;
    const times = unit >= 0 ? trains[unit].times : picked ? occurrences.filter((_, i) => i % picked.units.length === 0).sort() : [];
    const rows = timesInEpochs(times, spans, event);
    const wide = (high - low) / psthBins;
    const shown = conditions.map((condition) => {
      const own = condition.epochs.map((epoch) => rows[epoch]);
      const counts = new Array(psthBins).fill(0);
      for (const row of own) for (const time of row) ++counts[Math.min(psthBins - 1, Math.floor((time - low) / wide))];
      // Epochs may differ in length: a bin is in those that last until its middle.
      const seconds = counts.map((_, i) => (wide / 1e6) * condition.epochs.filter((epoch) => spans[epoch][1] - spans[epoch][0] > (i + 0.5) * wide).length);
      return { ...condition, rows: own, counts, values: counts.map((count, i) => (seconds[i] > 0 ? count / seconds[i] : 0)) };
    });
    const axes = { label: "Rate around the beginning of the epochs", xLabel: event === 0 ? "time since the beginning of the epoch (ms)" : "time since the event (ms)", yLabel: unit >= 0 ? "spikes/s" : "occurrences/s",
      low: low / 1e3, high: high / 1e3 };
    const chart = shown.length > 1 ? stepChart({ ...axes, lines: shown }) : barChart({ ...axes, bars: shown[0].values }).element;
    chart.dataset.counts = shown.map(({ counts }) => counts.join(" ")).join(", ");
    const all = rows.reduce((sum, row) => sum + row.length, 0);
    chart.prepend(ticks(shown, low, high));
    const most = Math.floor(mostRows / shown.length);
    const first = shown.some((one) => one.rows.length > most) ? `, of which the first ${most}${shown.length > 1 ? " of each condition" : ""} have a row` : "";
    const legend = shown.length > 1 ? [el("p", { class: "note legend" }, "From the top: ", shown.flatMap(({ name, kind, epochs }, i) => [i > 0 ? ", " : "", el("span", { class: `key ${kind}` }, nameElement(name)), ` (${grouped(epochs.length)} epochs)`]), ".")] : [];
    element.replaceChildren(chart, ...legend, el("p", { class: "note" }, `${grouped(all)} in ${grouped(spans.length)} epochs, first epoch on top${first}; bins of ${shownNumber(wide / 1e3)} ms.`));
  }

  state.listen((what) => {
    if (what === "picked" && Number(choice.value) < 0) redraw();
  });
  return el("div", { class: "narrow" }, el("p", { class: "controls" }, el("label", { for: "psth-of" }, "show ", choice)), element);
}
