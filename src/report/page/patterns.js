// The table of patterns, with its filters.

import { el, grouped, nameElement, sixDigits } from "./format.js";
import { makeTable } from "./table.js";

// Names with the times between them; spikes in one bin are joined by a plus.
export function patternElements(names, { units, lags_ms: lags }) {
  return units.flatMap((unit, k) => {
    if (k === 0) return [nameElement(names[unit])];
    const step = Number((lags[k] - lags[k - 1]).toFixed(3));
    return [el("span", { class: "delay" }, step > 0 ? ` →${step} ms→ ` : " + "), nameElement(names[unit])];
  });
}

const patternHelps = {
  count: "windows that hold the pattern", "duration ms": "from the first spike to the last", p: "share of surrogates that reach the pattern's signature",
  q: "p, corrected for all signatures tested", "stability intensional": "against the loss of occurrences", "stability extensional": "against the loss of spikes",
};

function columnsOfPatterns({ names, patterns }) {
  const more = Object.keys(patterns[0] ?? {}).filter((key) => !["pattern", "size", "units", "lags_ms", "number", "significant"].includes(key));
  const number = (key) => {
    const label = key.replaceAll("_", " ");
    return { label, help: patternHelps[label], value: (row) => row[key], cell: (row) => sixDigits(row[key]) };
  };
  const significant = { label: "significant", value: (row) => (row.significant ? 0 : 1), cell: (row) => (row.significant ? "yes" : "no") };
  return [
    { label: "pattern", value: (row) => row.number },
    { label: "size", value: (row) => row.units.length },
    { label: "units and lags", value: (row) => row.units.map((unit) => names[unit]).join(" "), cell: (row) => patternElements(names, row) },
    ...more.map(number), ...(patterns[0]?.significant === undefined ? [] : [significant]),
  ];
}

function signatureText({ size, count, duration_ms: duration }) {
  return `${size} spikes, ${grouped(count)} occurrences${duration === null || duration === undefined ? "" : `, ${duration} ms`}`;
}

// Returns the element, and a function that shows only the patterns of a signature.
export function makePatterns(state) {
  const { data } = state;
  const { names, patterns } = data;
  let signature = null;
  const table = makeTable({ caption: "Patterns", columns: columnsOfPatterns(data), rows: patterns, pick: (row) => state.pick("pattern", row) });
  const text = el("input", { type: "search", id: "unit-filter", autocomplete: "off", oninput: apply });
  const least = el("input", { type: "number", id: "size-filter", min: "1", value: "1", oninput: apply });
  const frequent = el("input", { type: "number", id: "count-filter", min: "1", value: "1", oninput: apply });
  const tested = patterns.some((row) => row.significant === false);
  const only = el("input", { type: "checkbox", id: "only-significant", onchange: apply });
  const drop = el("button", { type: "button", id: "drop-signature", hidden: true, onclick: () => choose(null) });

  const hasSignature = (row) => !signature || (row.units.length === signature.size && row.count === signature.count &&
    (typeof signature.duration_ms !== "number" || row.duration_ms === signature.duration_ms));

  // Each word has to be the name of a unit of the pattern, or the beginning of one.
  function apply() {
    const words = text.value.split(/\s+/).filter(Boolean);
    table.show(patterns.filter((row) =>
      row.units.length >= Number(least.value) && row.count >= Number(frequent.value) && (!only.checked || row.significant) && hasSignature(row) &&
      words.every((word) => row.units.some((unit) => names[unit].startsWith(word)))));
  }

  function choose(one) {
    signature = one;
    drop.hidden = !one;
    drop.textContent = one ? `× ${signatureText(one)}` : "";
    apply();
  }

  state.listen((what) => {
    if (what === "picked") table.mark(state.now.picked);
  });
  const left = data.patternTotal - patterns.length;
  const element = el("div", {},
    el("p", { class: "controls" }, el("label", { for: "unit-filter" }, "units ", text), el("label", { for: "size-filter" }, "size at least ", least),
      el("label", { for: "count-filter" }, "count at least ", frequent),
      tested ? el("label", { for: "only-significant" }, only, " significant") : [], drop),
    left > 0 ? el("p", { class: "note" }, `The first ${grouped(patterns.length)} of ${grouped(data.patternTotal)} patterns; patterns.tsv has all.`) : [],
    table.element);
  return { element, choose };
}
