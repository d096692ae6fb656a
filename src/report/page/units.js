// The table of units with their quality, and filters.

import { el } from "./format.js";
import { figureColumn, inputFilter, makeList, makeTable, numberColumn } from "./table.js";

const unitHelps = {
  rate_hz: "spikes a second", l_ratio: "0 is perfect", isolation_distance: "large is good", quality_features: "features used for the two measures of isolation",
  refractory_violations: "share of intervals shorter than the refractory period", contamination: "estimated share of spikes of other neurons",
  snr: "height of the mean waveform over the noise of its channel", unmasked_features: "mean over its spikes", peak_feature: "from 0",
  presence_ratio: "share of the equal parts of the recording in which it fires", firing_range: "95th less 5th percentile of its rates in 10 s, Hz",
  amplitude_median: "height of its spikes in µV", separation: "of the two groups into which its spikes divide best, in standard deviations", amplitude_cv: "standard deviation of its heights over their median", amplitude_cutoff: "estimated share of its spikes that were too small to be found", peak_channel: "from 0",
  label: "good: one neuron; mua: several, or a part of one; noise: none", reason: "why it has its label",
};

const columnOf = (key) => figureColumn(key, unitHelps[key]);

// Unknown values are kept.
export function makeUnits(state) {
  const { units, columns } = state.data;
  const box = (id, label, value, step, keeps) => inputFilter(id, label, { type: "number", min: "0", step, value }, keeps);
  const labels = ["all", ...new Set(units.map((row) => row.label).filter(Boolean))];
  const choice = el("select", { id: "label-filter" }, labels.map((one) => el("option", { value: one }, one)));
  const ofLabel = { input: choice, element: el("label", { for: "label-filter" }, "label ", choice), keeps: (row) => choice.value === "all" || row.label === choice.value };
  return makeList(state, "unit", { caption: "Units", columns: columns.map(columnOf), rows: units, filters: [
    box("spikes-filter", "spikes at least", "0", "1", (row, least) => row.spikes >= Number(least)), box("snr-filter", "snr at least", "0", "any", (row, least) => (row.snr ?? Infinity) >= Number(least)),
    box("violations-filter", "violations at most", "1", "any", (row, most) => (row.refractory_violations ?? 0) <= Number(most)), ...(labels.length > 1 ? [ofLabel] : [])] }).element;
}

// What became of the clusters. A row that ends in a unit picks it.
export function makeMerges(state) {
  const { merges, units } = state.data;
  if (!merges) return el("p", { class: "note" }, "No clusters were split, merged or dropped: spikes were not found by templates.");
  const columns = Object.keys(merges[0] ?? {}).filter((key) => key !== "number").map((key) => figureColumn(key));
  const table = makeTable({ caption: "Decisions", columns: [numberColumn("step"), ...columns], rows: merges, pick: (row) => {
    const unit = row.decision === "kept" && units.find((one) => one.number === row.other);
    if (unit) state.pick("unit", unit);
  } });
  const number = (decision) => merges.filter((row) => row.decision === decision).length;
  return el("div", {}, el("p", { class: "note" }, `${["split", "merged", "dropped", "kept"].map((decision) => `${number(decision)} ${decision}`).join(", ")}. Pick a cluster that was kept to see its unit.`), table.element);
}
