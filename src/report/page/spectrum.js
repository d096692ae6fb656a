// The p-value spectrum: sizes downwards, occurrences to the right, with the signatures that were found.

import { axesOf, axisMarks } from "./chart.js";
import { el, grouped, shownNumber, svg } from "./format.js";
import { figureColumn, flagColumn, makeTable, plainTable } from "./table.js";

const steps = [[0.001, "p ≤ 0.001"], [0.01, "≤ 0.01"], [0.05, "≤ 0.05"], [0.2, "≤ 0.2"], [0.9999, "< 1"], [1, "1"]];
const [mapWidth, mapLeft, mapRight, mapTop, sizeHeight] = [760, 62, 14, 10, 22];
const mostSizes = 24;

// One mark for each field of the map, a significant signature if there is one.
function marksOf(signatures, column) {
  const marks = new Map();
  for (const row of signatures) {
    const key = `${row.size} ${column(row.count)}`;
    if (!marks.has(key) || (row.significant && !marks.get(key).significant)) marks.set(key, row);
  }
  return [...marks.values()].sort((a, b) => Number(a.significant) - Number(b.significant));
}

// A field of the map stands for a size and one or more counts.
function makeMap({ fields, low, high, counts_of_a_field: width }, signatures, choose) {
  const sizes = [...fields, ...signatures].map((row) => row.size);
  const smallest = sizes.reduce((a, b) => Math.min(a, b));
  const largest = Math.min(sizes.reduce((a, b) => Math.max(a, b)), smallest + mostSizes - 1);
  const column = (count) => Math.floor((count - low) / width);
  const across = (mapWidth - mapLeft - mapRight) / (column(high) + 1);
  const x = (count) => mapLeft + across * column(count);
  const y = (size) => mapTop + sizeHeight * (size - smallest);
  const bottom = y(largest + 1);
  const isShown = (row) => row.size <= largest;
  const picture = svg("svg", { viewBox: `0 0 ${mapWidth} ${bottom + 44}`, class: "spectrum", role: "img",
    "aria-label": "p-value spectrum: for each size and number of occurrences, the share of surrogates that reach it. The table has the signatures that were found." });
  picture.append(svg("rect", { class: "unreached", x: mapLeft, y: mapTop, width: mapWidth - mapLeft - mapRight, height: bottom - mapTop }));
  for (const row of fields.filter(isShown))
    picture.append(svg("rect", { class: `p${steps.findIndex(([most]) => row.p <= most)}`, x: x(row.count), y: y(row.size), width: across + 0.05, height: sizeHeight - 1 }));
  for (const row of marksOf(signatures.filter(isShown), column))
    picture.append(svg("circle", { class: row.significant ? "kept" : "found", "data-number": row.number, cx: x(row.count) + across / 2, cy: y(row.size) + sizeHeight / 2 - 0.5,
      r: Math.max(2, Math.min(row.significant ? 5 : 4, across / 2 - 0.5)), onclick: () => choose(row) },
    svg("title", {}, `${row.size} spikes, ${grouped(row.count)} occurrences, p ${shownNumber(row.p)}: ${row.significant ? "significant" : "not significant"}`)));
  picture.append(...axesOf({ left: mapLeft, right: mapWidth - mapRight, top: mapTop, bottom },
    { title: "occurrences", marks: axisMarks(low, Math.max(high, low + 1), 10).marks.filter(Number.isInteger), at: (count) => x(count) + across / 2 },
    { title: "size", marks: Array.from({ length: largest - smallest + 1 }, (_, i) => smallest + i), at: (size) => y(size) + sizeHeight / 2 }, String));
  return picture;
}

function keyOfMap() {
  const sample = (shape, text) => el("span", { class: "sample" }, svg("svg", { viewBox: "0 0 12 12", class: "spectrum", "aria-hidden": "true" }, shape), ` ${text}`);
  return el("p", { class: "controls note" }, "surrogates that reach it:",
    steps.map(([, text], i) => sample(svg("rect", { class: `p${i}`, width: 12, height: 12 }), text)),
    sample(svg("circle", { class: "found", cx: 6, cy: 6, r: 4 }), "found"), sample(svg("circle", { class: "kept", cx: 6, cy: 6, r: 5 }), "significant"));
}

function columnsOfSignatures(signatures) {
  const duration = signatures.some((row) => row.duration_ms !== null) ? ["duration_ms"] : [];
  return [...["size", "count", ...duration, "q"].map((key) => figureColumn(key)), flagColumn("significant"), ...["p", "patterns", "reached"].map((key) => figureColumn(key)), flagColumn("tested"),
    { label: "reason", value: (row) => row.reason ?? "" }];
}

// `choose` is called with the signature that is picked.
export function makeSpectrum({ spectrum, signatures, signatureTotal }, choose) {
  if (signatures.length === 0 && !spectrum?.fields.length) return el("p", { class: "note" }, "Nothing was found, in the data or in a surrogate.");
  const table = makeTable({ caption: "Signatures", columns: columnsOfSignatures(signatures), rows: signatures, pick });

  function pick(row) {
    table.mark(row);
    choose(row);
  }

  const picture = spectrum && makeMap(spectrum, signatures, pick);
  const map = spectrum ? el("div", {}, el("div", { class: "frame" }, picture), keyOfMap(),
    spectrum.fields.length === 0 ? el("p", { class: "note" }, "No surrogate has a pattern of these sizes that occurs this often.") : [])
    : el("p", { class: "note" }, "Patterns were not tested: there are no surrogates.");
  const left = signatureTotal - signatures.length;
  return el("div", {}, map, el("p", { class: "note" }, "Pick a signature to list its patterns only.",
    left > 0 ? ` These are ${grouped(signatures.length)} of ${grouped(signatureTotal)} signatures, the significant ones among them; signatures.tsv has all.` : ""), table.element);
}

// The patterns that each step removed.
export function makeFunnel({ funnel }) {
  const most = Math.log10(1 + Math.max(1, ...funnel.map((row) => row.before)));
  const bar = (count) => {
    const full = el("div", { class: "full" });
    full.style.width = `${(100 * Math.log10(1 + count)) / most}%`;
    return el("div", { class: "amount" }, full);
  };
  return plainTable("Patterns removed by each step", ["step", "before", "removed", "left", "left, on a logarithmic scale", "why"], funnel.map((row) =>
    [row.step, grouped(row.before), grouped(row.removed), grouped(row.left), bar(row.left), el("div", { class: "why" }, row.why ?? "")]));
}
