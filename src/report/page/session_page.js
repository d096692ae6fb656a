// The page of a recording in windows, which a player moves through.

import { askedSection, listOf, makeAbout } from "./about.js";
import { episodeSources } from "./episodes_page.js";
import { makeExports } from "./exports.js";
import { el, firstOf, grouped, shownName, shownNumber } from "./format.js";
import { findOccurrences } from "./occurrences.js";
import { makePlayer } from "./player.js";
import { makeRaster } from "./raster.js";
import { readSession, stepAt } from "./session_data.js";
import { changesText, makeMarks, makeOverview } from "./session_marks.js";
import { makeArming, makeDetections, makeLosses, makeWindowTable } from "./session_tables.js";
import { changeLegend, directBox, makeComparedCircuit, noEdges } from "./several_circuit.js";
import { bestIn, sourcesOfSeveral } from "./several_data.js";
import { makeChanges } from "./several_tables.js";
import { makeState } from "./state.js";

// The time that a position has reached: the end of a step, or between those of two.
function timeAt(steps, position) {
  const k = Math.floor(position);
  const [step, next] = [steps[k], steps[Math.min(k + 1, steps.length - 1)]];
  const share = position - k;
  if (step.epoch === next.epoch) return step.end + share * (next.end - step.end);
  return share < 0.5 ? step.end : next.end;
}

// Follows the position: the spikes are those of its epoch, and what is shown of them moves with the time.
function followWindows(data) {
  const shown = { ...data };
  const state = makeState(shown, (row) => findOccurrences(shown.trains, row.units, row.delays_ms, data.raw.ties));
  const at = { number: 0, step: data.steps[0], time: data.steps[0].end };

  function enter(epoch) {
    const { begin, end, trains } = data.epochs[epoch];
    const length = state.now.to - state.now.from;
    Object.assign(shown, { begin, end, trains });
    state.show(begin, begin + length);
    if (state.now.picked) state.pick(state.now.kind, state.now.picked);
  }

  function move(position) {
    const before = at.time;
    const number = Math.round(position);
    const isOther = number !== at.number;
    const epoch = data.steps[number].epoch;
    const hasEntered = epoch !== at.step.epoch;
    Object.assign(at, { number, step: data.steps[number], time: timeAt(data.steps, position) });
    if (hasEntered) enter(epoch);
    const length = state.now.to - state.now.from;
    const isWhole = length >= shown.end - shown.begin;
    const from = state.now.from + (hasEntered ? 0 : at.time - before);
    const isSeen = at.time >= from && at.time <= from + length;
    if (!isWhole) state.show(isSeen ? from : at.time - length, isSeen ? from + length : at.time);
    else state.tell("view");
    if (isOther) state.tell("recording");
  }
  return { state, at, move };
}

function noteOfTest({ raw, rows }) {
  const { test, correction, alpha } = raw.tests;
  return `A window is compared with the last one that shares no spike with it, if neither was skipped nor may lack spikes. An edge is significant in a window if it is one of its circuit, a chain by the test ` +
    `${test} (${correction}, alpha ${alpha}), corrected for what was tested in this window only. New and gone: significant in one of the two only. New, gone, stronger and weaker only if the rates really differ, with q of at most ` +
    `${raw.alpha} (Benjamini and Hochberg, for all ${grouped(raw.comparisons)} comparisons of the ${grouped(rows.length)} edges and chains). p is twice the smaller tail of the binomial ` +
    "distribution that one count has, given their sum, if both are Poisson counts of one rate. Windows that overlap share spikes, so the same change appears in several of them, " +
    "which confirms nothing. Counts in bursts vary more than Poisson counts do, so p is too small there: look at the ratio of the rates first. " +
    "Edges are listed because they were significant in some window, so their counts there are high by selection.";
}

// The state of the step that is shown, in a sentence.
function makeStatus(data, at) {
  const status = el("p", { class: "note", id: "window-status" });
  function show() {
    const { window } = at.step;
    status.classList.toggle("lost-text", window !== null && (window.has_gap || window.complete_to_size === 0));
    if (window === null) status.textContent = "No windows were mined, so there is no circuit.";
    else if (window.complete_to_size === 0) status.textContent = `Window ${window.number} was skipped: there was no time to mine it.`;
    else {
      const early = window.complete_to_size === null ? "" : ` Its search ended early: it has all episodes of up to ${window.complete_to_size} units.`;
      const gap = window.has_gap ? " It may lack spikes, because messages were lost." : "";
      const since = window.since === null ? "" : ` Compared with ${shownName(data.recordings[window.since].name)}.`;
      status.textContent = `Window ${window.number}: ${grouped(window.spikes)} spikes, ${grouped(window.edges)} significant edges, threshold ${grouped(window.threshold)}.${since}${gap}${early}`;
    }
  }
  return { status, show };
}

function shownOf({ raw, steps, rows }) {
  const notes = [];
  if (raw.every > 1) notes.push(`Of ${grouped(raw.window_total)} windows ${grouped(steps.length)} are shown: one of ${raw.every}.`);
  if (raw.episodes_in_circuits > rows.length) notes.push(`Of ${grouped(raw.episodes_in_circuits)} edges and chains those are followed that are in most circuits: ${grouped(rows.length)}.`);
  return notes.map((text) => el("p", { class: "note" }, text));
}

function parts(data, { state, at, move }) {
  const { steps, recordings } = data;
  const raster = makeRaster(state, makeMarks(state, () => at));
  const edges = data.rows.filter((row) => row.isEdge);
  const changesOf = (k) => Object.fromEntries(data.changes[k].map((one) => [one.row.number - 1, one]));
  const circuit = makeComparedCircuit(state, edges, "Circuit: units, and edges to pick", changesOf);
  const { status, show } = makeStatus(data, at);
  const secondsFrom = (k) => Math.max(1e-3, steps[k].epoch === steps[k + 1].epoch ? (steps[k + 1].end - steps[k].end) / 1e6 : 1);
  const player = makePlayer(recordings.map(({ name }) => name), (position) => {
    move(position);
    circuit.show(position);
    overview.show(position);
    show();
  }, "window", secondsFrom);
  const seek = (k) => {
    player.pause();
    player.seek(k);
  };
  const overview = makeOverview(data, seek);
  const go = (epoch, time) => {
    seek(stepAt(steps, epoch, time));
    const reach = Math.min(state.now.to - state.now.from, 2e5) / 2;
    state.show(time - reach, time + reach);
  };
  const scene = () => ({ picture: circuit.picture, raster: raster.element.querySelector("canvas"), title: shownName(recordings[at.number].name) });
  const graph = el("div", {}, el("p", { class: "controls" }, directBox([circuit])), el("div", { class: "frame" }, circuit.picture), changeLegend());
  const key = (kind, words) => [el("span", { class: `key ${kind}` }, words), " "];
  const legend = el("p", { class: "note" }, `Bars on top: ${overview.words} in each window. `, overview.legend, "Raster: ",
    data.raw.kind === "session" ? [...key("stronger", "triggers"), ...key("same", "suppressed detections"), ...key("lost", "losses")] : [], "blue edge above: the window; black line: the time; orange: what is picked.");
  return { raster, player, overview, go, seek, scene, status, legend, circuitView: edges.length === 0 ? noEdges("windows") : graph };
}

// The views of every recording in windows: the player with its pictures, changes, and the numbers of a window.
function recordingInWindows(data, title) {
  const shown = followWindows(data);
  const { state, at } = shown;
  const { raster, player, overview, go, seek, scene, status, legend, circuitView } = parts(data, shown);
  const pictures = el("div", { class: "two" }, el("div", {}, circuitView), el("div", { id: "raster" }, raster.element));
  return {
    state, at, go,
    redraw: raster.redraw,
    linked: [[title.toLowerCase()]],
    rows: { episode: data.rows },
    steps: { name: "window", count: data.steps.length, shown: () => at.number, go: seek },
    playerView: [title.toLowerCase(), title, el("div", {}, shownOf(data), overview.picture, player.element, status, pictures, legend,
      makeExports(scene))],
    changesView: ["changes", "Changes", makeChanges(state, ({ row, to }) => {
      seek(to);
      state.pick("episode", row);
    }, { shown: () => at.number, note: noteOfTest(data) }), "What changed"],
    episodesView: ["episodes", "Episodes", makeWindowTable(state, () => at.number), "Edges and chains in the window that is shown"],
    start() {
      state.show(at.step.begin, at.step.end);
      player.seek(0);
      const best = bestIn(data.rows, 0);
      if (best) state.pick("episode", best);
      raster.showFirst();
    },
  };
}

const section = (title, ...content) => el("section", {}, el("h3", {}, title), ...content);

// The losses as [words, number]; empty if there are none.
function lostOf({ raw, steps }) {
  const windows = steps.filter(({ window }) => window !== null).map(({ window }) => window);
  const all = [["messages that never came", raw.losses?.missing], ["messages and spikes that could not be read", raw.losses?.unreadable],
    ["spikes that came too late", raw.losses?.late], ["records that are not in the file", raw.losses?.unrecorded],
    ["windows that were skipped", windows.filter((one) => one.complete_to_size === 0).length],
    ["windows that may lack spikes", windows.filter((one) => one.has_gap).length],
    ["windows whose search ended early", windows.filter((one) => one.complete_to_size > 0).length]];
  return all.filter(([, number]) => number > 0);
}

function makeSessionAbout(data, sources) {
  const { raw, run } = data;
  const lost = lostOf(data);
  const triggers = data.detections.filter((one) => !one.suppressed).length;
  return el("div", { class: "about" },
    section("What ran", listOf([["file", run.input?.path], ["digest", run.input?.digest], ["program", run.spikeweave],
      ["state", raw.has_ended ? "ended" : "not ended"], ["spikes that were analysed", grouped(data.spikeCount + data.leftOut)], ["epochs", String(data.epochs.length)],
      ["windows", grouped(raw.window_total)], ["detections", grouped(raw.detections.total)], ["triggers", `${grouped(triggers)} of ${firstOf(data.detections.length, raw.detections.total)} detections`]])),
    section("What was lost", lost.length === 0 ? el("p", {}, "Nothing is known to be lost.") : el("ul", { id: "lost", class: "lost-text" }, lost.map(([words, number]) => el("li", {}, `${words}: ${grouped(number)}`))),
      listOf([["second spikes of a unit at a time, left out", grouped(raw.duplicates)], ["messages that came twice, left out", grouped(raw.repeated)]])),
    askedSection(run),
    section("How to check", el("pre", { id: "command", tabindex: "0" }, `spikeweave live ${shownName(run.input?.path ?? "")} --verify`)),
    section("How to cite", el("ul", {}, sources.map((text) => el("li", {}, text)))));
}

const sourcesOfWindows = [...sourcesOfSeveral, ...episodeSources];

export function sessionPage(raw) {
  const data = readSession(raw);
  const about = ["about", "About", makeSessionAbout(data, sourcesOfWindows), "About this session"];
  const found = `${grouped(raw.window_total)} windows, ${grouped(raw.detections.total)} detections`;
  if (data.steps.length === 0)
    return { data, found, redraw() {}, start() {}, views: [["empty", "Session", el("p", {}, "No spike of this session was analysed.")], about] };
  const { at, go, playerView, changesView, episodesView, ...page } = recordingInWindows(data, "Session");
  const { state } = page;
  return { ...page, data, found, views: [
    playerView,
    ["detections", "Detections", makeDetections(state, go, () => at.step)],
    changesView, episodesView,
    ["arming", "Arming", makeArming(state, go), "What was armed"],
    ["losses", "Losses", makeLosses(state, go)],
    about,
  ] };
}

export function windowsPage(raw) {
  const data = readSession(raw);
  const { playerView, changesView, episodesView, ...page } = recordingInWindows(data, "Windows");
  const { tests, run } = raw;
  const { windows, mean_stability: stability, change_points: changes } = run.search ?? {};
  const figures = [["test", tests.test], ["correction", tests.correction], ["alpha", tests.alpha], ["windows", windows],
    ["mean stability of the circuit (0: as by chance, 1: the same)", stability === undefined || stability === null ? undefined : shownNumber(stability)],
    ["changes of the circuit", changes && changesText(changes.circuit)], ["changes of the firing rates", changes && changesText(changes.firing_rates)]];
  return { ...page, data, found: `${grouped(raw.window_total)} windows, ${data.rows.length < raw.episodes_in_circuits ? `${grouped(data.rows.length)} of ` : ""}${grouped(raw.episodes_in_circuits)} edges and chains`,
    views: [playerView, changesView, episodesView, ["about", "About", makeAbout(data, figures, sourcesOfWindows), "About this result"]] };
}
