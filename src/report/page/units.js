// The table of units with their quality, and filters.

import { el, figureOrText } from "./format.js";
import { makeTable } from "./table.js";

const unitHelps = {
  rate_hz: "spikes a second", l_ratio: "0 is perfect", isolation_distance: "large is good", quality_features: "features used for the two measures of isolation",
  refractory_violations: "share of intervals shorter than the refractory period", contamination: "estimated share of spikes of other neurons",
  snr: "height of the mean waveform over the noise of its channel", unmasked_features: "mean over its spikes", peak_feature: "from 0",
  presence_ratio: "share of the equal parts of the recording in which it fires", firing_range: "95th less 5th percentile of its rates in 10 s, Hz",
  amplitude_median: "height of its spikes in µV", separation: "of the two groups into which its spikes divide best, in standard deviations", amplitude_cv: "standard deviation of its heights over their median", amplitude_cutoff: "estimated share of its spikes that were too small to be found", peak_channel: "from 0",
  label: "good: one neuron; mua: several, or a part of one; noise: none", reason: "why it has its label",
};

function columnOf(key) {
  return { label: key.replaceAll("_", " "), help: unitHelps[key], value: (row) => row[key], cell: (row) => figureOrText(row[key]) };
}

export function makeUnits(state) {
  const { units, columns } = state.data;
  const table = makeTable({ caption: "Units", columns: columns.map(columnOf), rows: units, pick: (row) => state.pick("unit", row) });
  const box = (id, value, step) => el("input", { type: "number", id, min: "0", step, value, oninput: apply });
  const [spikes, ratio, violations] = [box("spikes-filter", "0", "1"), box("snr-filter", "0", "any"), box("violations-filter", "1", "any")];
  const labels = ["all", ...new Set(units.map((row) => row.label).filter(Boolean))];
  const label = el("select", { id: "label-filter", onchange: apply }, labels.map((one) => el("option", { value: one }, one)));

  // Unknown values are kept.
  function apply() {
    table.show(units.filter((row) => row.spikes >= Number(spikes.value) && (row.snr ?? Infinity) >= Number(ratio.value) &&
      (row.refractory_violations ?? 0) <= Number(violations.value) && (label.value === "all" || row.label === label.value)));
  }

  state.listen((what) => {
    if (what === "picked") table.mark(state.now.picked);
  });
  return el("div", {},
    el("p", { class: "controls" }, el("label", { for: "spikes-filter" }, "spikes at least ", spikes), el("label", { for: "snr-filter" }, "snr at least ", ratio),
      el("label", { for: "violations-filter" }, "violations at most ", violations), labels.length > 1 ? el("label", { for: "label-filter" }, "label ", label) : []),
    table.element);
}


// What became of the clusters. A row that ends in a unit picks it.
export function makeMerges(state) {
  const { merges, units } = state.data;
  if (!merges) return el("p", { class: "note" }, "No clusters were split, merged or dropped: spikes were not found by templates.");
  const columns = Object.keys(merges[0] ?? {}).filter((key) => key !== "number").map((key) => ({ label: key.replaceAll("_", " "), value: (row) => row[key], cell: (row) => figureOrText(row[key]) }));
  const numbered = { label: "step", value: (row) => row.number };
  const table = makeTable({ caption: "Decisions", columns: [numbered, ...columns], rows: merges, pick: (row) => {
    const unit = row.decision === "kept" && units.find((one) => one.number === row.other);
    if (unit) state.pick("unit", unit);
  } });
  const number = (decision) => merges.filter((row) => row.decision === decision).length;
  return el("div", {}, el("p", { class: "note" }, `${["split", "merged", "dropped", "kept"].map((decision) => `${number(decision)} ${decision}`).join(", ")}. Pick a cluster that was kept to see its unit.`), table.element);
}
