// The units that are most like the one that is picked, and a second unit beside it.

import { el } from "./format.js";
import { figureColumn, makeTable } from "./table.js";

// The cosine of the angle between two mean waveforms, on the channels around both peaks.
function similarity(one, others) {
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const square = (waves) => waves.reduce((sum, { mean }) => sum + dot(mean, mean), 0);
  const shared = one.reduce((sum, { channel, mean }) => sum + dot(mean, others.find((other) => other.channel === channel)?.mean ?? mean.map(() => 0)), 0);
  return shared / Math.sqrt(square(one) * square(others) || 1);
}

// Beside the unit that is picked there is another one: the one that was picked before, unless it is chosen.
export function followOther(state) {
  const { units } = state.data;
  let before = null;
  state.other = { unit: null, isChosen: false };
  state.choose = (unit) => {
    state.other = { unit, isChosen: true };
    state.tell("other");
  };
  state.listen((what) => {
    const { picked } = state.now;
    if (what !== "picked" || picked === before) return;
    state.other = { unit: before ?? units.find((unit) => unit !== picked) ?? picked, isChosen: false };
    before = picked;
  });
}

export function makeSimilar(state) {
  const { units, waveforms } = state.data;
  if (!waveforms || units.length < 2) return el("p", { class: "note" }, "There are no mean waveforms of other units to compare with.");
  const isIn = (list, { number }) => (list ?? "").split(", ").includes(String(number));
  const doubt = (row) => {
    const { possibly_one_neuron_with: same, cross_talk_with: left } = state.now.picked;
    return isIn(same, row) ? "may be one neuron" : isIn(left, row) ? "may share cross-talk" : "–";
  };
  const table = makeTable({ caption: "Similar units", rows: [], pick: (row) => state.choose(units.find((unit) => unit.number === row.number)), columns: [
    { label: "unit", value: (row) => -row.similarity, cell: (row) => String(row.number), help: "the most similar first" },
    figureColumn("similarity", "cosine of the angle between the mean waveforms"), { label: "doubt", value: doubt }, { label: "label", value: (row) => row.label ?? "–" },
    figureColumn("spikes"), { ...figureColumn("amplitude"), label: "amplitude (µV)" }] });
  let rows = [];
  state.listen((what) => {
    if (what === "picked") {
      const own = waveforms.of(state.now.picked.number);
      rows = units.filter((unit) => unit !== state.now.picked).map((unit) => ({ ...unit, similarity: similarity(own, waveforms.of(unit.number)) }));
      table.show(rows);
    }
    if (what === "picked" || what === "other") table.mark(state.other.isChosen ? rows.find(({ number }) => number === state.other.unit.number) : null);
  });
  return el("div", {}, table.element, el("p", { class: "note" }, "Pick one to see its waveform, amplitudes and correlograms with those of the unit that is picked above."));
}
