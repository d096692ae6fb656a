// What each step removed.

import { el, grouped } from "./format.js";

export function makeFunnel({ funnel }) {
  const most = Math.log10(1 + Math.max(1, ...funnel.map((row) => row.before)));
  const bar = (count) => {
    const full = el("div", { class: "full" });
    full.style.width = `${(100 * Math.log10(1 + count)) / most}%`;
    return el("div", { class: "amount" }, full);
  };
  const rows = funnel.map((row) => el("tr", {}, el("th", { scope: "row" }, row.step), el("td", {}, grouped(row.before)), el("td", {}, grouped(row.removed)), el("td", {}, grouped(row.left)),
    el("td", {}, bar(row.left)), el("td", { class: "why" }, row.why ?? "")));
  const headings = ["step", "before", "removed", "left", "left, on a logarithmic scale", "why"];
  const table = el("table", { class: "plain" }, el("caption", { class: "hidden" }, "Patterns removed by each step"),
    el("thead", {}, el("tr", {}, headings.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, rows));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Funnel" }, table);
}
