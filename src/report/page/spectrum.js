// The p-value spectrum: sizes downwards, occurrences to the right, with the signatures that were found.

import { axisMarks } from "./chart.js";
import { saveSvg } from "./exports.js";
import { el, grouped, shortNumber, sixDigits, svg } from "./format.js";
import { makeTable } from "./table.js";

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
    svg("title", {}, `${row.size} spikes, ${grouped(row.count)} occurrences, p ${shortNumber(row.p)}: ${row.significant ? "significant" : "not significant"}`)));
  picture.append(svg("path", { class: "axis", d: `M${mapLeft},${mapTop}V${bottom}H${mapWidth - mapRight}` }));
  for (let size = smallest; size <= largest; ++size)
    picture.append(svg("text", { x: mapLeft - 8, y: y(size) + sizeHeight / 2 + 4, "text-anchor": "end" }, String(size)));
  for (const mark of axisMarks(low, Math.max(high, low + 1), 10).marks.filter(Number.isInteger))
    picture.append(svg("text", { x: x(mark) + across / 2, y: bottom + 16, "text-anchor": "middle" }, String(mark)));
  picture.append(svg("text", { class: "title", x: (mapLeft + mapWidth - mapRight) / 2, y: bottom + 36, "text-anchor": "middle" }, "occurrences"));
  picture.append(svg("text", { class: "title", transform: `translate(16 ${(mapTop + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, "size"));
  return picture;
}

function keyOfMap() {
  const sample = (shape, text) => el("span", { class: "sample" }, svg("svg", { viewBox: "0 0 12 12", class: "spectrum", "aria-hidden": "true" }, shape), ` ${text}`);
  return el("p", { class: "controls note" }, "surrogates that reach it:",
    steps.map(([, text], i) => sample(svg("rect", { class: `p${i}`, width: 12, height: 12 }), text)),
    sample(svg("circle", { class: "found", cx: 6, cy: 6, r: 4 }), "found"), sample(svg("circle", { class: "kept", cx: 6, cy: 6, r: 5 }), "significant"));
}

function columnsOfSignatures(signatures) {
  const has = (key) => signatures.some((row) => row[key] !== null);
  const number = (key) => ({ label: key.replaceAll("_", " "), value: (row) => row[key], cell: (row) => sixDigits(row[key]) });
  const flag = (key) => ({ label: key, value: (row) => (row[key] ? 0 : 1), cell: (row) => (row[key] === null ? "–" : row[key] ? "yes" : "no") });
  return [{ label: "size", value: (row) => row.size }, number("count"), ...(has("duration_ms") ? [number("duration_ms")] : []), number("patterns"),
    number("reached"), number("p"), flag("tested"), number("q"), flag("significant"), { label: "reason", value: (row) => row.reason ?? "" }];
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
  const map = spectrum ? el("div", {}, el("div", { class: "frame" }, picture), keyOfMap(), saveSvg("spectrum", picture),
    spectrum.fields.length === 0 ? el("p", { class: "note" }, "No surrogate has a pattern of these sizes that occurs this often.") : [])
    : el("p", { class: "note" }, "Patterns were not tested: there are no surrogates.");
  const left = signatureTotal - signatures.length;
  return el("div", {}, map, el("p", { class: "note" }, "Pick a signature to list its patterns only.",
    left > 0 ? ` These are ${grouped(signatures.length)} of ${grouped(signatureTotal)} signatures, the significant ones among them; signatures.tsv has all.` : ""), table.element);
}
