// A table that is sorted by its headings and shown a page at a time. Arrow keys pick the next row.

import { withNumbers } from "./exports.js";
import { el, figureOrText, grouped } from "./format.js";

const rowsShown = 50;

function compare(a, b) {
  if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
  return (a ?? Infinity) - (b ?? Infinity);
}

// A heading is wide enough for two lines.
function twoLines(heading, text) {
  heading.style.minWidth = `${Math.ceil(text.length / 2) + 3}ch`;
  return heading;
}

const contentOf = (column, row) => (column.cell ? column.cell(row) : figureOrText(column.value(row)));

// `columns`: {label, value(row), cell(row), help, isNumber, isLong, axis}; cells that are long break into lines on a narrow screen.
// `sorted` is the one that sorts them at first. `pick(row)` is called when a row is picked, if rows can be. Returns
// the element, and functions to show other rows and to mark one.
export function makeTable({ caption, columns, rows, pick, sorted = 0 }) {
  let shown = rows;
  let page = 0;
  let sortedBy = sorted;
  let ascending = true;
  let marked = null;

  const body = el("tbody");
  const status = el("span", { class: "status", role: "status" });
  const button = (text, label, act) => el("button", { type: "button", "aria-label": label, onclick: act }, text);
  const before = button("‹", `${caption}: page before`, () => turn(-1));
  const after = button("›", `${caption}: next page`, () => turn(1));
  const headings = columns.map((column, i) => {
    const heading = twoLines(el("button", { type: "button", title: column.help, onclick: () => sortBy(i) }, column.label), column.label);
    return el("th", { scope: "col", class: column.isNumber && "number" }, heading, column.axis ?? []);
  });
  const table = el("table", {}, el("caption", { class: "hidden" }, caption), el("thead", {}, el("tr", {}, headings)), body);
  const element = el("div", {}, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table),
    el("p", { class: "pages" }, before, status, after));

  // The page stays where it is.
  function bringIntoFrame(row) {
    const frame = element.firstChild;
    const isIn = !row || (row.offsetTop - table.tHead.offsetHeight >= frame.scrollTop && row.offsetTop + row.offsetHeight <= frame.scrollTop + frame.clientHeight);
    if (!isIn) frame.scrollTop = row.offsetTop - frame.clientHeight / 2;
  }

  function turn(by) {
    page += by;
    draw();
  }

  function sortBy(i) {
    ascending = sortedBy === i ? !ascending : true;
    sortedBy = i;
    page = 0;
    order();
  }

  function order() {
    const value = columns[sortedBy].value;
    shown = [...shown].sort((a, b) => (ascending ? 1 : -1) * compare(value(a), value(b)) || a.number - b.number);
    draw();
  }

  function rowElement(row) {
    const cells = columns.map((column, i) => {
      const content = contentOf(column, row);
      const kind = { class: column.isNumber ? "number" : column.isLong && "long" };
      return i > 0 || !pick ? el("td", kind, content)
        : el("td", kind, el("button", { type: "button", "aria-pressed": String(row === marked) }, content));
    });
    return el("tr", { class: !pick ? "still" : row === marked ? "picked" : "", "data-number": row.number, ...(pick && { onclick: () => pick(row) }) }, cells);
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(shown.length / rowsShown));
    page = Math.max(0, Math.min(page, pages - 1));
    const first = page * rowsShown;
    const focused = body.contains(document.activeElement) ? document.activeElement.closest("tr").dataset.number : null;
    body.replaceChildren(...shown.slice(first, first + rowsShown).map(rowElement));
    if (focused) body.querySelector(`tr[data-number="${focused}"] button`)?.focus();
    headings.forEach((heading, i) => heading.setAttribute("aria-sort", i !== sortedBy ? "none" : ascending ? "ascending" : "descending"));
    const hidden = shown.length < rows.length ? ` (${grouped(rows.length)} without the filters)` : "";
    status.textContent = (shown.length === 0 ? "none" : `${first + 1} to ${Math.min(first + rowsShown, shown.length)} of ${grouped(shown.length)}`) + hidden;
    before.disabled = page === 0;
    after.disabled = page === pages - 1;
  }

  // The row above or below is picked.
  function step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = by && shown[shown.findIndex((row) => String(row.number) === event.target.closest("tr").dataset.number) + by];
    if (!next) return;
    event.preventDefault();
    page = Math.floor(shown.indexOf(next) / rowsShown);
    pick(next);
    draw();
    body.querySelector(`tr[data-number="${next.number}"] button`).focus();
  }

  if (pick) body.addEventListener("keydown", step);
  // Figures in full, all else as it is shown.
  const textOf = (column, row) => (column.isNumber ? column.value(row) : el("p", {}, contentOf(column, row)).textContent);
  const numbers = () => ({ heads: columns.map(({ label }) => label), rows: shown.map((row) => columns.map((column) => textOf(column, row))) });
  withNumbers(element, numbers);
  order();
  return {
    element, numbers,
    show(some) {
      shown = some;
      page = 0;
      order();
    },
    mark(row) {
      marked = row;
      const place = shown.indexOf(row);
      if (place >= 0) page = Math.floor(place / rowsShown);
      draw();
      bringIntoFrame(body.querySelector("tr.picked"));
    },
  };
}

// Columns of a table: the number of a row, a figure, a flag, and units with what is between them.
export const inWords = (key) => key.replace(/_(m?s)$/, " ($1)").replaceAll("_", " ");
export const numberColumn = (label) => ({ label, value: (row) => row.number, cell: (row) => grouped(row.number), isNumber: true });
export const sizeColumn = { label: "size", value: (row) => row.units.length, isNumber: true };
export const figureColumn = (key, help, figure = figureOrText) => ({ label: inWords(key), help, isNumber: true, value: (row) => row[key], cell: (row) => figure(row[key], key) });
export const flagColumn = (label, of = (row) => row[label], help = undefined) => ({ label, help, value: (row) => (of(row) ? 0 : 1), cell: (row) => (of(row) === null ? "–" : of(row) ? "yes" : "no") });
export const unitsColumn = (names, between, cell, of = (row) => row) => ({ label: `units and ${between}`, isLong: true, value: (row) => of(row).units.map((unit) => names[unit]).join("→"), cell });

// Filters of a table: what is typed or chosen, and whether a row is kept then.
export function inputFilter(id, label, attributes, keeps) {
  const input = el("input", { id, ...attributes });
  return { input, element: el("label", { for: id }, `${label} `, input), keeps: (row) => keeps(row, input.value) };
}
export const leastFilter = (id, label, of) => inputFilter(id, label, { type: "number", min: "1", value: "1" }, (row, least) => of(row) >= Number(least));
// Each word has to be the name of a unit of the row, or the beginning of one.
export const unitFilter = (names) => inputFilter("unit-filter", "units", { type: "search", autocomplete: "off" }, (row, text) =>
  text.split(/\s+/).filter(Boolean).every((word) => row.units.some((unit) => names[unit].startsWith(word))));
export function boxFilter(id, label, keeps, checked = false) {
  const input = el("input", { type: "checkbox", id, checked });
  return { input, element: el("label", { for: id }, input, ` ${label}`), keeps: (row) => !input.checked || keeps(row) };
}

// A table below its filters; a row that is picked is marked. `pick` and `marked()` are for rows that stand for others; null:
// what is picked marks none.
export function makeList(state, kind, { caption, columns, rows, sorted, filters = [], notes = [], pick = (row) => state.pick(kind, row), marked = () => (state.now.kind === kind ? state.now.picked : null) }) {
  const table = makeTable({ caption, columns, rows, sorted, pick });
  const list = () => table.show(rows.filter((row) => filters.every((one) => one.keeps(row))));
  list();
  for (const { input } of filters) input.addEventListener(input.matches("[type=checkbox], select") ? "change" : "input", list);
  state.listen((what) => {
    if (what === "picked" && marked) table.mark(marked());
  });
  const controls = filters.length > 0 ? el("p", { class: "controls" }, filters.map(({ element }) => element)) : [];
  return { element: el("div", {}, controls, notes, table.element), table, list };
}

const isFigure = (text) => typeof text === "string" && /^(< )?[-−]?\d[\d,.·⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*$/.test(text);

// A table of a few rows of text or elements, the first of which names its row.
export function plainTable(caption, heads, rows) {
  const kind = (is, text = "") => ({ class: is ? "number" : text.length > 24 && "long" });
  const areFigures = heads.map((_, k) => rows.some((row) => isFigure(row[k])) && rows.every((row) => !row[k] || row[k] === "–" || isFigure(row[k])));
  const table = el("table", { class: "plain" }, el("caption", { class: "hidden" }, caption),
    el("thead", {}, el("tr", {}, heads.map((head, k) => twoLines(el("th", { scope: "col", ...kind(areFigures[k]) }, head), head)))),
    el("tbody", {}, rows.map(([first, ...others]) => el("tr", {}, el("th", { scope: "row" }, first), others.map((text, k) => el("td", kind(areFigures[k + 1] || isFigure(text), text), text))))));
  withNumbers(table, () => ({ heads, rows: rows.map((row) => row.map((cell) => (cell instanceof Element ? cell.textContent : cell))) }));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}
