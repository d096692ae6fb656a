// The tables of compared results: what each says of an episode, and what changed.

import { el, grouped, shownName, shownNumber, testFigure } from "./format.js";
import { boxFilter, flagColumn, makeList, numberColumn, unitsColumn } from "./table.js";

const oneOf = (data) => data.one ?? "recording";
const pathColumn = (data, rowOf) => unitsColumn(data.names, data.note.steps, (one) => data.path(rowOf(one)), rowOf);

export function makeComparedTable(state) {
  const { data } = state;
  const columns = [numberColumn("episode"), pathColumn(data, (row) => row),
    ...data.recordings.flatMap(({ name }, k) => [
      { label: `${shownName(name)}: count`, help: "occurrences without overlap", isNumber: true, value: (row) => row.count[k] },
      { label: "per second", help: "count, by the length of the recording", isNumber: true, value: (row) => row.rate[k], cell: (row) => shownNumber(row.rate[k], 4) },
      { label: "q", help: "p by chance, corrected; a dash: no edge there, or not frequent", isNumber: true, value: (row) => row.q[k], cell: (row) => testFigure(row.q[k]) },
      flagColumn("significant", (row) => row.significant[k]),
    ])];
  return makeList(state, "episode", { caption: "Episodes of all recordings", columns, rows: data.rows }).table;
}

const orderOfChanges = { new: 1, stronger: 2, weaker: 3, gone: 4, "": 5 };

function changeColumns(data) {
  const name = (k) => shownName(data.recordings[k].name);
  const ratio = ({ row, from, to }) => row.rate[to] / row.rate[from];
  return [{ label: `${oneOf(data)}s`, isLong: true, value: (one) => one.to, cell: (one) => `${name(one.from)} → ${name(one.to)}` },
    { label: "change", value: (one) => orderOfChanges[one.change], cell: (one) => one.change || "–" },
    { label: "q", isNumber: true, help: `p, corrected for all ${data.note.what}`, value: (one) => one.q, cell: (one) => testFigure(one.q) },
    pathColumn(data, (one) => one.row),
    { label: "count before", isNumber: true, value: (one) => one.row.count[one.from] }, { label: "count", isNumber: true, value: (one) => one.row.count[one.to] },
    { label: "ratio of rates", isNumber: true, value: ratio, cell: (one) => (one.row.rate[one.from] > 0 ? shownNumber(ratio(one)) : "–") },
    { label: "p", isNumber: true, help: "probability of counts at least as different if rates were equal", value: (one) => one.p, cell: (one) => testFigure(one.p) }];
}

function testNote({ alpha, rows, note }) {
  return `New and gone: ${note.found}. New, gone, stronger and weaker only if the rates really differ, with q of at most ${alpha}; the rest is grey (Benjamini and Hochberg, for ` +
    `${grouped(rows.length)} ${note.what}). p is twice the smaller tail of the binomial distribution that one count has, given their sum, if ` +
    `both are Poisson counts of one rate. ${note.caveat}`;
}

// `pick(change)` is called when a change is picked. `shown()`, if there is one, gives the recording that is shown.
export function makeChanges(state, pick, { shown, note = testNote(state.data) } = {}) {
  const { data } = state;
  const all = data.changes.flat().map((one, i) => ({ ...one, number: i + 1 }));
  const isShown = (one) => !shown || one.to === shown();
  const { element, list } = makeList(state, "change", { caption: "Changes", columns: changeColumns(data), rows: all, pick,
    filters: [...(shown ? [boxFilter("only-shown", `only those to the ${oneOf(data)} that is shown`, isShown, true)] : []), boxFilter("only-changed", "only new, stronger, weaker and gone", (one) => one.change, true)],
    marked: () => all.find((one) => one.row === state.now.picked && isShown(one)) ?? null });
  state.listen((what) => {
    if (what === "recording") list();
  });
  list();
  element.append(el("p", { class: "note", id: "test-note" }, note));
  return element;
}
