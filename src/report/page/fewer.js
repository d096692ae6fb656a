// Pairs of units that occur less often than by chance, which may be inhibition.

import { el, firstOf, grouped, intervalText, nameElement, testFigure } from "./format.js";
import { rowsOf } from "./data.js";
import { makeTable } from "./table.js";

const inhibition = "putative-inhibition";
const noInhibition = [["shared-spikes", "of units that share spikes"], ["dead-time", "that lack synchronous spikes, too"], ["beside-excess", "beside an excess"]];

export const kindText = ({ kind }) => kind?.replaceAll("-", " ") ?? "not significant";

// Null if these pairs were not tested.
export function readFewer(raw) {
  if (!raw.fewer_than_chance) return null;
  const rows = rowsOf(raw.fewer_than_chance).map((row) => ({ ...row, units: [row.from, row.to], delays_ms: [row.delay_ms] }));
  return { rows, total: raw.fewer_than_chance.total, found: rows.filter((row) => row.kind === inhibition) };
}

function columnsOfPairs({ names }) {
  const unit = (key) => ({ label: key, value: (row) => names[row[key]], cell: (row) => nameElement(names[row[key]]) });
  const number = (key, help) => ({ label: key, help, value: (row) => row[key], cell: (row) => testFigure(key, row[key]) });
  return [{ label: "pair", value: (row) => row.number }, unit("from"), unit("to"),
    { label: "delay", value: (row) => row.delay_ms[0], cell: (row) => intervalText(row.delay_ms) },
    number("count", "occurrences in the cells of the test"), number("expected", "mean count by chance"), number("ratio", "count divided by expected"),
    number("p", "probability of this count or a lower one by chance"), number("q", "p, corrected for all pairs that could be significant"),
    { label: "kind", value: (row) => row.kind ?? "", cell: kindText }];
}

export function makeFewer(state) {
  const { rows, total, found } = state.data.fewer;
  const table = makeTable({ caption: "Fewer than chance", columns: columnsOfPairs(state.data), rows: found, pick: (row) => state.pick("pair", row) });
  const box = el("input", { type: "checkbox", id: "only-inhibition", checked: true, onchange: () => table.show(box.checked ? found : rows) });
  const others = noInhibition.map(([kind, words]) => [rows.filter((row) => row.kind === kind).length, words]).filter(([number]) => number > 0);
  const left = total > rows.length ? ` Only these are shown; fewer_than_chance.tsv has all.` : "";

  state.listen((what) => {
    if (what === "picked") table.mark(state.now.kind === "pair" ? state.now.picked : null);
  });
  return el("div", {},
    el("p", { class: "note", id: "fewer-note" }, `Putative inhibition: ${grouped(found.length)} of ${firstOf(rows.length, total)} pairs that could be significant.`,
      others.length > 0 ? ` No inhibition: ${others.map(([number, words]) => `${grouped(number)} ${words}`).join(", ")}.` : "", left),
    el("p", { class: "controls" }, el("label", { for: "only-inhibition" }, box, " only putative inhibition")), table.element);
}
