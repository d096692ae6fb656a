// The counts of the picked item over the recording.

import { barChart } from "./chart.js";
import { el, grouped } from "./format.js";

const binCount = 60;

// `path` gives what is picked as elements, `hint` says what can be picked, and `left` what of it the page lacks.
export function makeCounts(state, path, hint, left = () => "") {
  const { data, now } = state;
  const element = el("div", { id: "counts-view" }, el("p", { class: "note" }, hint));

  let moveMarker = () => {};
  const mark = () => moveMarker((now.from + now.to) / 2e6);

  function draw() {
    const { picked, occurrences } = now;
    const size = picked.units.length;
    const bars = new Array(binCount).fill(0);
    for (let at = 0; at < occurrences.length; at += size)
      ++bars[Math.min(binCount - 1, Math.floor((binCount * (occurrences[at] - data.begin)) / (data.end - data.begin)))];
    const seconds = (data.end - data.begin) / 1e6;
    const chart = barChart({ label: "Occurrences over time", xLabel: "time (s)", yLabel: `occurrences in ${Number((seconds / binCount).toPrecision(3))} s`,
      low: data.begin / 1e6, high: data.end / 1e6, bars, marker: true });
    moveMarker = chart.moveMarker;
    mark();
    chart.element.dataset.counts = bars.join(" ");
    element.replaceChildren(el("h3", {}, path(picked)),
      el("p", { id: "occurrence-count" }, `${grouped(state.occurrenceCount())} occurrences${left(picked)}`), chart.element);
  }

  state.listen((what) => {
    if (what === "picked") draw();
    else mark();
  });
  return element;
}
