// The page of a result of replay.

import { makeAbout } from "./about.js";
import { makeCounts } from "./counts.js";
import { pathElements } from "./episodes.js";
import { el, firstOf, grouped, sixDigits } from "./format.js";
import { makeRaster } from "./raster.js";
import { readReplay } from "./replay_data.js";
import { makeScaleChart } from "./scale_chart.js";
import { makeState } from "./state.js";
import { makeTable } from "./table.js";

const replaySources = [
  "W. E. Skaggs, B. L. McNaughton, “Replay of neuronal firing sequences in rat hippocampus during sleep following spatial experience”, Science 271:1870 (1996)",
  "Z. Nádasdy, H. Hirase, A. Czurkó, J. Csicsvari, G. Buzsáki, “Replay and time compression of recurring spike sequences in the hippocampus”, J. Neurosci. 19:9497 (1999)",
  "A. K. Lee, M. A. Wilson, “Memory of sequential experience in the hippocampus during slow wave sleep”, Neuron 36:1183 (2002)",
];

const chainElements = (names, row) => pathElements(names, { units: row.chainUnits, delays_ms: row.chainDelays });

const replayHelps = {
  scale: "factor of all delays at which the count stands out most", count: "occurrences at this scale, without overlap", expected: "mean of the shuffles",
  z: "count above the expected one, in standard deviations of the shuffles", q: "p, corrected for all chains and both directions",
  "events q": "p of the number of events in order, corrected in the same way",
};

function columnsOfTests({ names }) {
  const number = (key) => {
    const label = key.replaceAll("_", " ");
    return { label, help: replayHelps[label], value: (row) => row[key], cell: (row) => sixDigits(row[key]) };
  };
  return [{ label: "test", value: (row) => row.number }, number("chain"),
    { label: "units and delays", value: (row) => row.chainUnits.map((unit) => names[unit]).join("→"), cell: (row) => chainElements(names, row) },
    { label: "direction", value: (row) => row.direction }, ...["scale", "count", "expected", "z", "p", "q"].map(number),
    { label: "significant", value: (row) => (row.significant ? 0 : 1), cell: (row) => (row.significant ? "yes" : "no") },
    { label: "events in order", help: "of those in which at least three units of the chain fire", value: (row) => row.events_significant, cell: (row) => `${grouped(row.events_significant)} of ${grouped(row.events_scored)}` },
    ...["events_expected", "events_p", "events_q"].map(number)];
}

const shownFirst = (rows, total, what, file) => (total > rows.length ? el("p", { class: "note" }, `The first ${grouped(rows.length)} of ${grouped(total)} ${what}; ${file} has all.`) : []);

function makeTests(state) {
  const { data } = state;
  const pick = (row) => state.pick("test", row);
  const table = makeTable({ caption: "Scores", columns: columnsOfTests(data), rows: data.tests, pick });
  const chart = makeScaleChart(data, pick);
  const only = el("input", { type: "checkbox", id: "only-significant", onchange: () => table.show(data.tests.filter((row) => !only.checked || row.significant)) });
  state.listen((what) => {
    if (what !== "picked") return;
    table.mark(state.now.picked);
    chart.mark(state.now.picked);
  });
  const key = [...["forward", "reverse"].map((kind) => [el("span", { class: `key ${kind}` }, `${kind === "forward" ? "▸" : "◂"} ${kind}`), " "]).flat()];
  return [el("div", {}, el("p", { class: "controls" }, el("label", { for: "only-significant" }, only, " significant")), shownFirst(data.tests, data.testTotal, "tests", "replay.tsv"), table.element),
    el("div", {}, el("div", { class: "frame" }, chart.element), el("p", { class: "note" }, key, "filled: q of the counts below alpha. Pick one to see where the chain occurs."))];
}

function makeEvents(state) {
  const { data } = state;
  const number = (key, help) => ({ label: key.replaceAll("_", " "), help, value: (row) => row[key], cell: (row) => sixDigits(row[key]) });
  const table = makeTable({ caption: "Events", rows: data.events, pick: go, columns: [number("event"), number("begin_s"), number("end_s"), number("chain"),
    number("active", "units of the chain that fire in the event"), number("tau", "Kendall's correlation with the chain's order, from −1 to 1"),
    number("p_forward", "share of all orders that are as close to the chain's"), number("p_reverse", "the same for the reverse order")] });
  const own = el("input", { type: "checkbox", id: "only-chain", onchange: list });
  const inOrder = el("input", { type: "checkbox", id: "only-in-order", onchange: list });

  function go(row) {
    const [begin, end] = [1e6 * row.begin_s, 1e6 * row.end_s];
    const room = 0.2 * (end - begin);
    state.show(begin - room, end + room);
    table.mark(row);
  }

  function list() {
    const { picked } = state.now;
    const p = (row) => (picked?.isReverse ? row.p_reverse : row.p_forward);
    table.show(data.events.filter((row) => (!own.checked || row.chain === picked?.chain) && (!inOrder.checked || p(row) <= data.alpha)));
  }

  state.listen((what) => {
    if (what === "picked" && (own.checked || inOrder.checked)) list();
  });
  return el("div", {}, el("p", { class: "controls" }, el("label", { for: "only-chain" }, own, " of the picked chain"),
    el("label", { for: "only-in-order" }, inOrder, ` in order, in the picked direction: p at most ${data.alpha}`)),
  shownFirst(data.events, data.eventTotal, "scores", "events.tsv"), table.element);
}

// A function for `makeRaster`: events are shaded.
function eventShades({ data, now }) {
  return (context, { left, width, height, colours }) => {
    const x = (us) => left + ((us - now.from) / (now.to - now.from)) * width;
    context.globalAlpha = 0.25;
    context.fillStyle = colours.blue;
    for (const [begin, end] of data.eventSpans)
      if (end >= now.from && begin <= now.to) context.fillRect(x(begin), 0, Math.max(1, x(end) - x(begin)), height);
    context.globalAlpha = 1;
  };
}

export function replayPage(raw) {
  const data = readReplay(raw);
  const state = makeState(data, data.occurrencesOf);
  const raster = makeRaster(state, eventShades(state));
  const [tests, chart] = makeTests(state);
  const { chains, events } = data.run.replay;
  const significant = data.tests.filter((row) => row.significant).length;
  return {
    data,
    found: `${grouped(chains)} chain${chains === 1 ? "" : "s"} in ${grouped(events)} event${events === 1 ? "" : "s"}, ${grouped(significant)} of ${firstOf(data.tests.length, data.testTotal)} tests significant`,
    views: [
      ["raster", "Raster", el("div", {}, raster.element, el("p", { class: "note" }, "Shaded: events. Orange: occurrences of what is picked, at its scale and in its direction."))],
      ["scores", "Scores", tests, "Scores of chains, forward and in reverse"],
      ["scales", "Scales", chart, "Score against scale factor"],
      ["events", "Events", makeEvents(state), "The order in each event"],
      ["counts", "Count over time", makeCounts(state, (row) => [...pathElements(data.names, row), ` at scale ${row.scale}, ${row.direction}`], "Pick a test.")],
      ["about", "About", makeAbout(data, [["chains", chains], ["events", events]], replaySources), "About this result"],
    ],
    redraw: raster.redraw,
    start() {
      const best = data.tests.toSorted((a, b) => Math.min(a.q, a.events_q) - Math.min(b.q, b.events_q) || a.p - b.p)[0];
      if (best) state.pick("test", best);
      raster.redraw();
    },
  };
}
