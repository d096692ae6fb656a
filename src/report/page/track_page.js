// The page of neurons in several sessions.

import { askedSection, citeSection, listOf, repeatSection } from "./about.js";
import { axesOf, axisMarks } from "./chart.js";
import { rowsOf } from "./data.js";
import { withNumbers } from "./exports.js";
import { el, figureOrText, grouped, nameElement, noteOnFirst, shownName, shownNumber, svg } from "./format.js";
import { placeOfUnit, scaleOf } from "./probe.js";
import { readChannels, readWaveforms } from "./sorting_data.js";
import { makeState } from "./state.js";
import { boxFilter, figureColumn, flagColumn, leastFilter, makeList, numberColumn, plainTable } from "./table.js";
import { drawWaveforms } from "./waveforms.js";

const trackSources = [
  "E. H. van Beest, C. Bimbard, J. M. J. Fabre et al., “Tracking neurons across days with high-density probes”, Nature Methods 22:778 (2025)",
];

// Folders by their last names, unless two have the same one.
function shortNames(paths) {
  const names = paths.map((path) => path.replace(/\/+$/, "").split("/").pop());
  return new Set(names).size === names.length ? names : paths;
}

// `at` has for each session the unit of the neuron, if there is one: a row of neurons.tsv with `before`, the match with the
// unit in the session before that has the neuron.
function readTracking(raw) {
  const sessions = rowsOf(raw.sessions);
  const numbers = new Map(sessions.map(({ session }, k) => [session, k]));
  const units = rowsOf(raw.neurons).map((row) => ({ ...row, k: numbers.get(row.session) }));
  const key = (session, unit) => `${session}\n${unit}`;
  const unitOf = new Map(units.map((row) => [key(row.session, row.unit), row]));
  const matches = rowsOf(raw.matches).map((row) => ({ ...row, units: [unitOf.get(key(row.session, row.unit)), unitOf.get(key(row.other_session, row.other_unit))] }));
  const matchOf = new Map(matches.map((row) => [row.units.map((unit) => unit?.number).join(), row]));
  const neurons = new Map();
  for (const unit of units) {
    if (!neurons.has(unit.neuron)) neurons.set(unit.neuron, { number: unit.neuron, probability: unit.probability, at: new Array(sessions.length).fill(null), units: [] });
    const neuron = neurons.get(unit.neuron);
    const last = neuron.units.at(-1);
    unit.before = last ? matchOf.get(`${last.number},${unit.number}`) : undefined;
    neuron.at[unit.k] = unit;
    neuron.units.push(unit);
  }
  return { run: raw.run, names: [], spikeCount: 0, begin: 0, end: 0, sessions, names_of: shortNames(sessions.map(({ session }) => session)), matches, matchTotal: raw.matches.total,
    relations: rowsOf(raw.relations), neurons: [...neurons.values()], channels: readChannels(raw.channels), waveforms: readWaveforms(raw.waveforms) };
}

const probabilityText = (unit) => (unit.before ? ` (${shownNumber(unit.before.probability)})` : "");

function makeTrackedNeurons(state) {
  const { sessions, names_of, neurons } = state.data;
  const session = (k) => ({ label: shownName(names_of[k]), help: "its unit, with the probability that this is the neuron of the session before that has it",
    value: ({ at }) => (at[k] ? at[k].unit : "\uffff"), cell: ({ at }) => (at[k] ? [nameElement(at[k].unit), probabilityText(at[k])] : "–") });
  const { element } = makeList(state, "neuron", { caption: "Neurons", rows: neurons,
    filters: [leastFilter("sessions-filter", "sessions at least", (row) => row.units.length)],
    columns: [numberColumn("neuron"), { label: "sessions", help: "number of sessions that have it", value: (row) => row.units.length, isNumber: true },
      figureColumn("probability", "the least one of two of its units being one neuron; 1 if it is in one session"), ...sessions.map((_, k) => session(k))] });
  element.append(el("p", { class: "note" }, "Of each session the unit, with the probability that it is the neuron of the last session that has it; –: the session lacks the neuron."));
  return element;
}

// The waveforms of the neuron or of the match that is picked, each with the one before it.
function makeTrackedWaveforms(state) {
  const { data } = state;
  const element = el("div", { id: "waveforms-view" }, el("p", { class: "note" }, "Pick a neuron or a match."));
  const nameOf = (unit) => `unit ${shownName(unit.unit)} of ${shownName(data.names_of[unit.k])}`;
  state.listen((what) => {
    if (what !== "picked") return;
    const { picked, kind } = state.now;
    const units = picked.units.filter(Boolean);
    const named = new Map(units.map((unit) => [unit.number, nameOf(unit)]));
    const figures = units.map((unit, i) => el("figure", { class: "frame" }, el("figcaption", {}, `${nameOf(unit)}, ${grouped(unit.spikes)} spikes${kind === "neuron" ? probabilityText(unit) : ""}`),
      drawWaveforms(data, unit.number, i > 0 ? units[i - 1].number : null, (number) => named.get(number))));
    element.replaceChildren(el("h3", {}, kind === "neuron" ? `Neuron ${picked.number}` : `Match with a probability of ${shownNumber(picked.probability)}`), el("div", { class: "beside" }, figures),
      el("p", { class: "note" }, "Mean waveforms on the channels around the peak, by their positions; numbers are channels, from 0. ", el("span", { class: "key reverse" }, "Second line"),
        ": the waveform before it. Motion between sessions is not undone."));
  });
  return element;
}

const [trackedWidth, trackedHeight, trackedLeft, trackedRight, trackedTop, trackedBottom] = [600, 420, 64, 16, 14, 44];

// The depth of each neuron in each session that has it.
function makeTrackedDepths(state) {
  const { data } = state;
  const { sessions, neurons, names_of } = data;
  const depths = new Map(neurons.flatMap(({ units }) => units).map((unit) => [unit, placeOfUnit(data, unit.number)?.y]).filter(([, y]) => y !== undefined));
  const y = scaleOf([...depths.values()], trackedHeight - trackedBottom, trackedTop, 40);
  const x = (k) => trackedLeft + ((trackedWidth - trackedLeft - trackedRight) * (k + 0.5)) / sessions.length;
  const lines = new Map(neurons.map((neuron) => {
    const points = neuron.units.filter((unit) => depths.has(unit)).map((unit) => [x(unit.k), y.at(depths.get(unit))]);
    return [neuron, svg("g", { class: "neuron", "data-number": neuron.number, onclick: () => state.pick("neuron", neuron) }, svg("title", {}, `neuron ${neuron.number}`),
      svg("polyline", { points: points.map((point) => point.map((value) => value.toFixed(1)).join(",")).join(" ") }), points.map(([cx, cy]) => svg("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 3 })))];
  }));
  const every = Math.ceil(sessions.length / 8);
  const picture = svg("svg", { viewBox: `0 0 ${trackedWidth} ${trackedHeight}`, class: "depths", role: "img", "aria-label": "Depth of each neuron in the sessions. The table has the same neurons." },
    axesOf({ left: trackedLeft, right: trackedWidth - trackedRight, top: trackedTop, bottom: trackedHeight - trackedBottom },
      { title: "session", marks: sessions.map((_, k) => k).filter((k) => k % every === 0), at: x, text: (k) => shownName(names_of[k]) }, { title: "depth, y (µm)", marks: axisMarks(y.first, y.last, 8).marks, at: y.at }), [...lines.values()]);
  state.listen((what) => {
    if (what !== "picked") return;
    for (const [neuron, line] of lines) line.classList.toggle("picked", state.now.kind === "neuron" && neuron === state.now.picked);
    lines.get(state.now.picked)?.parentNode.append(lines.get(state.now.picked));
  });
  return el("div", { class: "frame" }, withNumbers(picture, () => ({ heads: ["neuron", "session", "unit", "depth_um"],
    rows: neurons.flatMap(({ number, units }) => units.map((unit) => [number, unit.session, unit.unit, depths.get(unit)])) })));
}

const makeTrackedMatches = (state) => makeList(state, "match", { caption: "Matches", rows: state.data.matches, notes: noteOnFirst(state.data.matches, state.data.matchTotal, "matches; matches.tsv has all"),
  filters: [boxFilter("only-doubtful", "only those with a probability from 0.1 to 0.9", (row) => row.probability >= 0.1 && row.probability <= 0.9)],
  columns: [numberColumn("match"), ...[["session", "unit"], ["other_session", "other_unit"]].map(([session, unit]) => ({ label: session.replace("_", " "), isLong: true, value: (row) => `${row[session]} ${row[unit]}`,
    cell: (row) => [nameElement(shortOf(state.data, row[session])), " unit ", nameElement(row[unit])] })), figureColumn("probability", "that both are one neuron"), figureColumn("similarity", "correlation of the waveforms, after motion was undone"),
  figureColumn("distance_um", "of their places, after motion was undone"), figureColumn("amplitude_ratio", "of the second one to the first one"), figureColumn("autocorrelogram_overlap", "1 if both are equal"),
  flagColumn("accepted", (row) => row.accepted, "whether both are one neuron")] }).element;

const shortOf = ({ sessions, names_of }, path) => names_of[sessions.findIndex(({ session }) => session === path)] ?? path;

function makeTrackedSessions({ sessions, relations, names_of, ...data }) {
  const short = (path) => nameElement(shortOf({ sessions, names_of, ...data }, path));
  return el("div", {},
    plainTable("Sessions", ["session", "units", "kept", "new", "lost", "found in the other half"], sessions.map((row, k) => [short(row.session), ...[row.units, row.kept, row.new, k === 0 ? 0 : sessions[k - 1].units - row.kept].map(grouped),
      `${row.checked - row.missed - row.wrong} of ${row.checked}`])),
    el("p", { class: "note" }, "Kept: units whose neuron the session before has; lost: units of the session before whose neuron this one lacks. The last column looks for units in the other half of the same session, where the truth is known."),
    plainTable("Two sessions", ["session", "other session", "moved (µm)", "neurons in both", "expected false"], relations.map((row) => [short(row.session), short(row.other_session), figureOrText(row.moved_um), grouped(row.matched), shownNumber(row.expected_false)])));
}

function makeTrackAbout({ run, neurons, sessions }) {
  const files = run.input.files.map(({ path, digest }) => [shownName(path), shownName(digest ?? "–")]);
  return el("div", { class: "about" }, repeatSection(shownName(run.command ?? "")), el("section", {}, el("h3", {}, "Files of waveforms"), plainTable("Files of waveforms", ["file", "digest"], files)),
    el("section", {}, el("h3", {}, "What ran"), listOf([["sessions", sessions.length], ["neurons", neurons.length], ["time taken", `${shownNumber(run.seconds)} s`]])),
    askedSection(run), citeSection(run.spikeweave, trackSources));
}

export function trackPage(raw) {
  const data = readTracking(raw);
  const state = makeState(data, () => new Float64Array(0));
  const several = data.neurons.filter(({ units }) => units.length > 1);
  return {
    data, state,
    rows: { neuron: data.neurons, match: data.matches },
    found: `${grouped(data.neurons.length)} neurons in ${grouped(data.sessions.length)} sessions`,
    views: [
      ["neurons", "Neurons", makeTrackedNeurons(state), "Neurons and sessions"],
      ["waveforms", "Waveforms", makeTrackedWaveforms(state)],
      ["depths", "Depth", makeTrackedDepths(state), "Depth over sessions"],
      ["matches", "Matches", makeTrackedMatches(state)],
      ["sessions", "Sessions", makeTrackedSessions(data)],
      ["about", "About", makeTrackAbout(data), "About this result"],
    ],
    redraw() {},
    start() {
      const [best] = several.toSorted((a, b) => b.units.length - a.units.length || b.probability - a.probability || a.number - b.number);
      if (best ?? data.neurons[0]) state.pick("neuron", best ?? data.neurons[0]);
    },
  };
}
