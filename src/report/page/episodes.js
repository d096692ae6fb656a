// The table of episodes, with its filters.

import { el, grouped, intervalText, nameElement, testFigure } from "./format.js";
import { makeTable } from "./table.js";

// Names with the delays between them.
export function pathElements(names, { units, delays_ms }) {
  return units.flatMap((unit, k) =>
    k === 0 ? [nameElement(names[unit])] : [el("span", { class: "delay" }, ` →${intervalText(delays_ms[k - 1])}→ `), nameElement(names[unit])]);
}

const helps = {
  count: "occurrences without overlap", expected: "mean count by chance", p: "probability of the count by chance",
  q: "p, corrected for all candidates of the size", strength: "probability of each step that would give the count",
};

function columnsOf(data) {
  const number = (key) => ({ label: key.replaceAll("_", " "), help: helps[key], value: (row) => row[key], cell: (row) => testFigure(key, row[key]) });
  const flag = (key) => ({ label: key, value: (row) => (row[key] ? 0 : 1), cell: (row) => (row[key] ? "yes" : "no") });
  const extra = Object.keys(data.episodes[0] ?? {}).filter((key) => /^(independent|surrogate|search)_/.test(key));
  return [
    { label: "episode", value: (row) => row.number },
    { label: "size", value: (row) => row.units.length },
    { label: "units and delays", value: (row) => row.units.map((unit) => data.names[unit]).join("→"), cell: (row) => pathElements(data.names, row) },
    ...["count", "expected", "p", "q", "strength"].map(number), flag("significant"), flag("maximal"), flag("chain"), ...extra.map(number),
  ];
}

export function makeEpisodes(state) {
  const { data } = state;
  const table = makeTable({ caption: "Episodes", columns: columnsOf(data), rows: data.episodes, pick: (row) => state.pick("episode", row) });
  const text = el("input", { type: "search", id: "unit-filter", autocomplete: "off", oninput: apply });
  const least = el("input", { type: "number", id: "size-filter", min: "1", value: "1", oninput: apply });
  const flags = ["significant", "maximal", "chain"].map((key) => [key, el("input", { type: "checkbox", id: `only-${key}`, onchange: apply })]);

  // Each word has to be the name of a unit of the episode, or the beginning of one.
  function apply() {
    const words = text.value.split(/\s+/).filter(Boolean);
    table.show(data.episodes.filter((row) =>
      row.units.length >= Number(least.value) && flags.every(([key, box]) => !box.checked || row[key]) &&
      words.every((word) => row.units.some((unit) => data.names[unit].startsWith(word)))));
  }

  state.listen((what) => {
    if (what === "picked") table.mark(state.now.kind === "episode" ? state.now.picked : null);
  });
  const left = data.episodeTotal - data.episodes.length;
  return el("div", {},
    el("p", { class: "controls" }, el("label", { for: "unit-filter" }, "units ", text), el("label", { for: "size-filter" }, "size at least ", least),
      flags.map(([key, box]) => el("label", { for: `only-${key}` }, box, ` ${key}`))),
    left > 0 ? el("p", { class: "note" }, `The first ${grouped(data.episodes.length)} of ${grouped(data.episodeTotal)} episodes; episodes.tsv has all.`) : [],
    table.element);
}
