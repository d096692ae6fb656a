// The table of units with their quality, and filters.

import { el } from "./format.js";
import { figureColumn, inputFilter, makeList, makeTable, numberColumn } from "./table.js";

// The columns in the order in which units are assessed: their key, name and explanation.
const unitColumns = [
  ["unit", "unit"], ["label", "label", "good: one neuron; mua: several, or a part of one; noise: none"],
  ["spikes", "spikes"], ["rate_hz", "rate (Hz)"], ["amplitude", "amplitude (µV)", "median height of its spikes, or the height of its mean waveform"], ["snr", "SNR", "height of the mean waveform over the noise of its channel"],
  ["refractory_violations", "ISI violations", "share of intervals shorter than the refractory period"], ["contamination", "contamination", "estimated share of spikes of other neurons"],
  ["reason", "reason", "the limit that decided the label"],
  ["presence_ratio", "presence ratio", "share of the equal parts of the recording in which it fires"], ["amplitude_cutoff", "amplitude cutoff", "estimated share of its spikes that were too small to be found"],
  ["amplitude_cv", "amplitude CV", "standard deviation of the heights of its spikes over their median"], ["firing_range", "firing range (Hz)", "95th less 5th percentile of its rates in 10 s"],
  ["l_ratio", "L-ratio", "0 is perfect"], ["isolation_distance", "isolation distance", "large is good"], ["quality_features", "features of L-ratio", "compare both measures of isolation only for the same number"],
  ["separation", "separation (SD)", "of the two groups into which its spikes divide best"], ["peak_channel", "channel", "where it is largest, from 0"],
  ["possibly_one_neuron_with", "may be one neuron with"], ["cross_talk_with", "may share cross-talk with"], ["origin", "origin", "a unit of the known templates, or a new one"]];

export const nameOfColumn = (key) => unitColumns.find(([one]) => one === key)?.[1];

const texts = new Set(["label", "reason", "possibly_one_neuron_with", "cross_talk_with", "origin"]);
// Columns that only some sortings have.
const isKnown = { amplitude: (row) => row.amplitude !== null, origin: (row) => Boolean(row.origin) };

// Unknown values are kept.
export function makeUnits(state) {
  const { units, columns } = state.data;
  const known = unitColumns.filter(([key]) => (isKnown[key] ? units.some(isKnown[key]) : columns.includes(key)));
  const box = (id, label, value, step, keeps) => inputFilter(id, label, { type: "number", min: "0", step, value }, keeps);
  const labels = ["all", ...new Set(units.map((row) => row.label).filter(Boolean))];
  const choice = el("select", { id: "label-filter" }, labels.map((one) => el("option", { value: one }, one)));
  const ofLabel = { input: choice, element: el("label", { for: "label-filter" }, "label ", choice), keeps: (row) => choice.value === "all" || row.label === choice.value };
  return makeList(state, "unit", { caption: "Units", columns: known.map(([key, label, help]) => ({ ...figureColumn(key, help), label, isNumber: !texts.has(key) })), rows: units, filters: [
    box("spikes-filter", "spikes at least", "0", "1", (row, least) => row.spikes >= Number(least)), box("snr-filter", "SNR at least", "0", "any", (row, least) => (row.snr ?? Infinity) >= Number(least)),
    box("violations-filter", "violations at most", "1", "any", (row, most) => (row.refractory_violations ?? 0) <= Number(most)), ...(labels.length > 1 ? [ofLabel] : [])] }).element;
}

// The decisions about clusters. A row that ends in a unit picks it.
export function makeMerges(state) {
  const { merges, units } = state.data;
  if (!merges) return el("p", { class: "note" }, "No clusters were split, merged or dropped: spikes were not found by templates.");
  const columns = Object.keys(merges[0] ?? {}).filter((key) => key !== "number").map((key) => ({ ...figureColumn(key), isNumber: merges.every((row) => typeof row[key] !== "string") }));
  const table = makeTable({ caption: "Decisions", columns: [numberColumn("step"), ...columns], rows: merges, pick: (row) => {
    const unit = row.decision === "kept" && units.find((one) => one.number === row.other);
    if (unit) state.pick("unit", unit);
  } });
  const number = (decision) => merges.filter((row) => row.decision === decision).length;
  return el("div", {}, el("p", { class: "note" }, `${["split", "merged", "dropped", "kept"].map((decision) => `${number(decision)} ${decision}`).join(", ")}. Pick a cluster that was kept to see its unit.`), table.element);
}
