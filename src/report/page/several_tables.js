// The tables of compared results: what each says of an episode, and what changed.

import { el, grouped, shortNumber, shownName, testFigure } from "./format.js";
import { makeTable } from "./table.js";

const oneOf = (data) => data.one ?? "recording";
const pathColumn = (data, rowOf) => ({ label: `units and ${data.note.steps}`, value: (one) => rowOf(one).units.map((unit) => data.names[unit]).join("→"),
  cell: (one) => data.path(rowOf(one)) });

export function makeComparedTable(state) {
  const { data } = state;
  const columns = [{ label: "episode", value: (row) => row.number }, pathColumn(data, (row) => row),
    ...data.recordings.flatMap(({ name }, k) => [
      { label: `${shownName(name)}: count`, help: "occurrences without overlap", value: (row) => row.count[k] },
      { label: "per second", help: "count, by the length of the recording", value: (row) => row.rate[k], cell: (row) => shortNumber(row.rate[k], 4) },
      { label: "q", help: "p by chance, corrected; a dash: no edge there, or not frequent", value: (row) => row.q[k], cell: (row) => testFigure("q", row.q[k]) },
      { label: "significant", value: (row) => (row.significant[k] ? 0 : 1), cell: (row) => (row.significant[k] ? "yes" : "no") },
    ])];
  const table = makeTable({ caption: "Episodes of all recordings", columns, rows: data.rows, pick: (row) => state.pick("episode", row) });
  state.listen((what) => {
    if (what === "picked") table.mark(state.now.picked);
  });
  return table.element;
}

const orderOfChanges = { new: 1, stronger: 2, weaker: 3, gone: 4, "": 5 };

function changeColumns(data) {
  const name = (k) => shownName(data.recordings[k].name);
  const ratio = ({ row, from, to }) => row.rate[to] / row.rate[from];
  return [{ label: `${oneOf(data)}s`, value: (one) => one.to, cell: (one) => `${name(one.from)} → ${name(one.to)}` },
    pathColumn(data, (one) => one.row),
    { label: "change", value: (one) => orderOfChanges[one.change], cell: (one) => one.change || "–" },
    { label: "count before", value: (one) => one.row.count[one.from] }, { label: "count", value: (one) => one.row.count[one.to] },
    { label: "ratio of rates", value: ratio, cell: (one) => (one.row.rate[one.from] > 0 ? shortNumber(ratio(one)) : "–") },
    { label: "p", help: "probability of counts at least as different if rates were equal", value: (one) => one.p, cell: (one) => testFigure("p", one.p) },
    { label: "q", help: `p, corrected for all ${data.note.what}`, value: (one) => one.q, cell: (one) => testFigure("q", one.q) }];
}

function testNote({ alpha, rows, note }) {
  return `New and gone: ${note.found}. All four: the rates differ, with q of at most ${alpha} (Benjamini and Hochberg, for ` +
    `${grouped(rows.length)} ${note.what}). p is twice the smaller tail of the binomial distribution that one count has, given their sum, if ` +
    `both are Poisson counts of one rate. ${note.caveat}`;
}

// `pick(change)` is called when a change is picked. `shown()`, if there is one, gives the recording that is shown.
export function makeChanges(state, pick, { shown, note = testNote(state.data) } = {}) {
  const { data } = state;
  const all = data.changes.flat().map((one, i) => ({ ...one, number: i + 1 }));
  const box = (id) => el("input", { type: "checkbox", id, checked: true, onchange: list });
  const [here, changed] = [box("only-shown"), box("only-changed")];
  const table = makeTable({ caption: "Changes", columns: changeColumns(data), rows: [], pick });

  function list() {
    table.show(all.filter((one) => (!shown || !here.checked || one.to === shown()) && (!changed.checked || one.change)));
  }

  state.listen((what) => {
    if (what === "recording") list();
    if (what === "picked") table.mark(all.find((one) => one.row === state.now.picked && (!shown || one.to === shown())) ?? null);
  });
  list();
  return el("div", {},
    el("p", { class: "controls" }, shown ? el("label", { for: "only-shown" }, here, ` only those to the ${oneOf(data)} that is shown`) : [],
      el("label", { for: "only-changed" }, changed, " only new, stronger, weaker and gone")),
    table.element, el("p", { class: "note", id: "test-note" }, note));
}
