// The page of a result of replay.

import { makeAbout } from "./about.js";
import { axesOf, axisMarks } from "./chart.js";
import { makeCounts } from "./counts.js";
import { apartTimes, rowsOf, spikesOf } from "./data.js";
import { pathElements } from "./episodes_page.js";
import { withNumbers } from "./exports.js";
import { el, firstOf, grouped, noteOnFirst, shownName, shownNumber, svg } from "./format.js";
import { findOccurrences } from "./occurrences.js";
import { makeRaster } from "./raster.js";
import { makeState } from "./state.js";
import { boxFilter, figureColumn, flagColumn, inWords, makeList, numberColumn, unitsColumn } from "./table.js";

const replaySources = [
  "W. E. Skaggs, B. L. McNaughton, “Replay of neuronal firing sequences in rat hippocampus during sleep following spatial experience”, Science 271:1870 (1996)",
  "Z. Nádasdy, H. Hirase, A. Czurkó, J. Csicsvari, G. Buzsáki, “Replay and time compression of recurring spike sequences in the hippocampus”, J. Neurosci. 19:9497 (1999)",
  "A. K. Lee, M. A. Wilson, “Memory of sequential experience in the hippocampus during slow wave sleep”, Neuron 36:1183 (2002)",
];

// scaled_episode of the library.
function scaledDelays(delays_ms, scale) {
  return delays_ms.map((ends) => {
    const [low, high] = ends.map((ms) => Math.round(Math.round(1000 * ms) * scale));
    return [low / 1000, Math.max(low + 1, high) / 1000];
  });
}

// The chain that is searched for, at the scale of the test and in its direction.
function readTest(row) {
  const isReverse = row.direction === "reverse";
  const inOrder = (list) => (isReverse ? [...list].reverse() : list);
  return { ...row, isReverse, chainUnits: row.units, chainDelays: row.delays_ms, units: inOrder(row.units), delays_ms: scaledDelays(inOrder(row.delays_ms), row.scale) };
}

// The spikes in events only; nothing reaches from one event into another.
function trainsIn(trains, events) {
  return trains.map(({ times, positions }) => {
    const inside = [];
    let event = 0;
    times.forEach((time, i) => {
      while (event < events.length && events[event][1] <= time) ++event;
      if (event < events.length && events[event][0] <= time) inside.push(i);
    });
    const kept = Float64Array.from(inside, (i) => times[i]);
    return { times: kept, positions: Uint32Array.from(inside, (i) => positions[i]), apart: apartTimes(kept, events) };
  });
}

function readReplay(raw) {
  const data = spikesOf(raw);
  const { parameters = {}, replay } = raw.run;
  const spans = replay.events_s.map((ends) => ends.map((seconds) => Math.round(1e6 * seconds)));
  const searched = parameters.null === "surrogates" ? data.trains : trainsIn(data.trains, spans);
  return {
    ...data,
    eventSpans: spans,
    tests: rowsOf(raw.replay).map(readTest),
    testTotal: raw.replay.total,
    events: rowsOf(raw.events),
    eventTotal: raw.events.total,
    alpha: parameters.alpha,
    occurrencesOf: (row) => findOccurrences(searched, row.units, row.delays_ms, parameters.ties ?? "time"),
  };
}

const chainElements = (names, row) => pathElements(names, { units: row.chainUnits, delays_ms: row.chainDelays });

const replayHelps = {
  scale: "factor of all delays at which the count stands out most", count: "occurrences at this scale, without overlap", expected: "mean of the shuffles",
  z: "count above the expected one, in standard deviations of the shuffles", q: "p, corrected for all chains and both directions",
  "events q": "p of the number of events in order, corrected in the same way",
};

function columnsOfTests({ names }) {
  const figure = (key) => figureColumn(key, replayHelps[inWords(key)]);
  return [numberColumn("test"), ...["count", "q"].map(figure), { label: "direction", value: (row) => row.direction },
    unitsColumn(names, "delays", (row) => chainElements(names, row), ({ chainUnits }) => ({ units: chainUnits })),
    ...["chain", "scale", "expected", "z", "p"].map(figure), flagColumn("significant"),
    { label: "events in order", help: "of those in which at least three units of the chain fire", value: (row) => row.events_significant, cell: (row) => `${grouped(row.events_significant)} of ${grouped(row.events_scored)}` },
    ...["events_expected", "events_p", "events_q"].map(figure)];
}

// At which speed each chain stands out, and by how much.
const [scaleWidth, scaleHeight, scaleLeft, scaleRight, scaleTop, scaleBottom] = [760, 298, 56, 16, 14, 44];
const marksOfScales = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

// Triangles point to the right for chains that run forward, to the left in reverse; those that are significant are filled.
function triangle(x, y, isReverse) {
  const tip = isReverse ? -7 : 7;
  return `M${x + tip},${y}L${x - tip * 0.6},${y - 6}V${y + 6}Z`;
}

function bounds(values, room) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return [low - room, high + room];
}

// Returns the element, and a function that marks a row; `pick(row)` is called when one is picked.
function makeScaleChart({ tests, testTotal, names }, pick) {
  const [left, right] = bounds(tests.map((row) => Math.log(row.scale)), 0.5);  // there is a mark in any factor of 2.5
  const [low, high] = bounds([0, ...tests.map((row) => row.z)], 0.5);
  const x = (scale) => scaleLeft + ((scaleWidth - scaleLeft - scaleRight) * (Math.log(scale) - left)) / (right - left);
  const y = (z) => scaleHeight - scaleBottom - ((scaleHeight - scaleTop - scaleBottom) * (z - low)) / (high - low);
  const picture = svg("svg", { viewBox: `0 0 ${scaleWidth} ${scaleHeight}`, class: "scales", role: "img",
    "aria-label": `Score z against scale factor of ${firstOf(tests.length, testTotal)} tests, one for each chain and direction, of which ${tests.filter((row) => row.significant).length} are significant. The table has them.` });
  picture.append(svg("path", { class: "axis zero", d: `M${scaleLeft},${y(0)}H${scaleWidth - scaleRight}` }),
    ...axesOf({ left: scaleLeft, right: scaleWidth - scaleRight, top: scaleTop, bottom: scaleHeight - scaleBottom },
      { title: "scale factor of the delays: below 1 faster, above 1 slower", marks: marksOfScales.filter((one) => Math.log(one) >= left && Math.log(one) <= right), at: x },
      { title: "score z", marks: axisMarks(low, high, 5).marks, at: y }));
  const points = tests.map((row) => {
    const words = `${row.chainUnits.map((unit) => shownName(names[unit])).join("→")}, ${row.direction}: scale ${shownNumber(row.scale)}, z ${shownNumber(row.z)}, q ${shownNumber(row.q)}`;
    return svg("path", { class: `test ${row.direction}${row.significant ? " significant" : ""}`, d: triangle(x(row.scale), y(row.z), row.isReverse), "data-number": row.number,
      onclick: () => pick(row) }, svg("title", {}, words));
  });
  picture.append(...points);
  return { element: picture, mark: (row) => tests.forEach((one, i) => points[i].classList.toggle("picked", one === row)) };
}

function makeTests(state) {
  const { data } = state;
  const { element, table } = makeList(state, "test", { caption: "Scores", columns: columnsOfTests(data), rows: data.tests, notes: noteOnFirst(data.tests, data.testTotal, "tests; replay.tsv has all"),
    filters: [boxFilter("only-significant", "significant", (row) => row.significant)] });
  const chart = makeScaleChart(data, (row) => state.pick("test", row));
  withNumbers(chart.element, table.numbers);
  state.listen((what) => {
    if (what === "picked") chart.mark(state.now.picked);
  });
  const key = [...["forward", "reverse"].map((kind) => [el("span", { class: `key ${kind}` }, `${kind === "forward" ? "▸" : "◂"} ${kind}`), " "]).flat()];
  return [element, el("div", {}, el("div", { class: "frame" }, chart.element), el("p", { class: "note" }, key, "filled: q of the counts below alpha. Pick one to see where the chain occurs."))];
}

function makeEvents(state) {
  const { data, now } = state;
  const isInOrder = (row) => (now.picked?.isReverse ? row.p_reverse : row.p_forward) <= data.alpha;
  const filters = [boxFilter("only-chain", "of the picked chain", (row) => row.chain === now.picked?.chain),
    boxFilter("only-in-order", `in order, in the picked direction: p at most ${data.alpha}`, isInOrder)];
  const { element, table, list } = makeList(state, "event", { caption: "Events", rows: data.events, notes: noteOnFirst(data.events, data.eventTotal, "scores; events.tsv has all"), filters, marked: null,
    pick(row) {
      const [begin, end] = [1e6 * row.begin_s, 1e6 * row.end_s];
      const room = 0.2 * (end - begin);
      state.show(begin - room, end + room);
      table.mark(row);
    },
    columns: [figureColumn("event"), figureColumn("chain"),
      figureColumn("p_forward", "share of all orders that are as close to the chain's"), figureColumn("p_reverse", "the same for the reverse order"),
      figureColumn("tau", "Kendall's correlation with the chain's order, from −1 to 1"), figureColumn("active", "units of the chain that fire in the event"),
      figureColumn("begin_s"), figureColumn("end_s")] });
  state.listen((what) => {
    if (what === "picked" && filters.some(({ input }) => input.checked)) list();
  });
  return element;
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
    data, state,
    rows: { test: data.tests },
    linked: [["raster", "scores"]],
    found: `${grouped(chains)} chain${chains === 1 ? "" : "s"} in ${grouped(events)} event${events === 1 ? "" : "s"}, ${grouped(significant)} of ${firstOf(data.tests.length, data.testTotal)} tests significant`,
    views: [
      ["raster", "Raster", el("div", {}, raster.element, el("p", { class: "note" }, "Shaded: events. Orange: occurrences of what is picked, at its scale and in its direction."))],
      ["scores", "Scores", tests, "Scores of chains, forward and in reverse"],
      ["scales", "Scales", chart, "Score against scale factor"],
      ["events", "Events", makeEvents(state), "The order in each event"],
      ["counts", "Count over time", makeCounts(state, (row) => [...pathElements(data.names, row), ` at scale ${shownNumber(row.scale)}, ${row.direction}`], "Pick a test.")],
      ["about", "About", makeAbout(data, [["chains", chains], ["events", events]], replaySources), "About this result"],
    ],
    redraw: raster.redraw,
    start() {
      const best = data.tests.toSorted((a, b) => Math.min(a.q, a.events_q) - Math.min(b.q, b.events_q) || a.p - b.p)[0];
      if (best) state.pick("test", best);
      raster.showFirst();
    },
  };
}
