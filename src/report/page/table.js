// A table that is sorted by its headings and shown a page at a time.

import { el, grouped } from "./format.js";

const rowsShown = 50;

function compare(a, b) {
  if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
  return (a ?? Infinity) - (b ?? Infinity);
}

// `columns`: {label, value(row), cell(row), help}; `pick(row)` is called when a row is picked, if rows can be. Returns
// the element, and functions to show other rows and to mark one.
export function makeTable({ caption, columns, rows, pick }) {
  let shown = rows;
  let page = 0;
  let sortedBy = 0;
  let ascending = true;
  let marked = null;

  const body = el("tbody");
  const status = el("span", { class: "status", role: "status" });
  const button = (text, label, act) => el("button", { type: "button", "aria-label": label, onclick: act }, text);
  const before = button("‹", `${caption}: page before`, () => turn(-1));
  const after = button("›", `${caption}: next page`, () => turn(1));
  const headings = columns.map((column, i) =>
    el("th", { scope: "col" }, el("button", { type: "button", title: column.help, onclick: () => sortBy(i) }, column.label)));
  const table = el("table", {}, el("caption", { class: "hidden" }, caption), el("thead", {}, el("tr", {}, headings)), body);
  const element = el("div", {}, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table),
    el("p", { class: "pages" }, before, status, after));

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
      const content = column.cell ? column.cell(row) : String(column.value(row));
      return i > 0 || !pick ? el("td", {}, content)
        : el("td", {}, el("button", { type: "button", "aria-pressed": String(row === marked) }, content));
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
    status.textContent = shown.length === 0 ? "none" : `${first + 1} to ${Math.min(first + rowsShown, shown.length)} of ${grouped(shown.length)}`;
    before.disabled = page === 0;
    after.disabled = page === pages - 1;
  }

  order();
  return {
    element,
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
    },
  };
}
