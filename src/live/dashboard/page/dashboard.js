// Starts the dashboard: what a running session does, from its frames.

import { barChart } from "./chart.js";
import { makeDensity, noSpikes } from "./density.js";
import { el, grouped, nameElement, shownNumber, timeText } from "./format.js";
import { connect } from "./live_connection.js";
import { makeHistory } from "./live_frames.js";
import { lineChart, motionChart } from "./live_lines.js";
import { makeWindowView } from "./live_window.js";
import { makeThemeButton } from "./theme.js";

const slowPeriod = 250;  // of what is text or a chart, in milliseconds
const [ratesShown, detectionsShown] = [20, 30];

const history = makeHistory();
let described = { units: [], armed: [], column_us: 10000, latency_bounds_s: [] };
let pausedAt = null;  // the last column that is shown; null: the newest
let drawn = 0;
let isWaiting = false;

const nameOf = (unit) => described.units[unit] ?? `#${unit}`;
const armedText = (armed) => (described.armed[armed]?.units ?? []).flatMap((unit, i) => [i ? " → " : "", nameElement(nameOf(unit))]);
const armedName = (armed) => (described.armed[armed]?.units ?? []).map(nameOf).join(" → ");

const density = makeDensity(history);
const windowView = makeWindowView(nameOf);
const places = Object.fromEntries(["population", "rates", "armed", "detections", "tracked", "latency", "motion"].map((id) => [id, el("div", { id })]));
const length = el("select", { "aria-label": "Time shown", onchange: () => redraw() }, [2, 10, 30, 60].map((seconds) => el("option", { value: seconds, selected: seconds === 10 }, `${seconds} s`)));
const slider = el("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": "Time", oninput: () => pause(Number(slider.value)) });
const live = el("button", { type: "button", id: "live", "aria-pressed": "true", onclick: () => pause(pausedAt === null ? history.end() : null) }, "Pause");

function pause(column) {
  pausedAt = column;
  live.textContent = column === null ? "Pause" : "Live";
  live.setAttribute("aria-pressed", String(column === null));
  redraw();
}

function view() {
  const to = pausedAt ?? history.end();
  return { from: to - (Number(length.value) * 1e6) / described.column_us, to, units: history.last?.units ?? 0, spikes: history.last?.counts.spikes ?? 0, names: described.units, armed: described.armed, column_us: described.column_us };
}

function drawLosses({ counts, samples }) {
  const lost = counts.missing - counts.belated;
  const bar = document.getElementById("losses");
  bar.classList.toggle("lost", lost > 0 || samples?.behind_s > 1 || counts.unreadable > 0 || counts.late > 0 || counts.skipped > 0);
  const texts = { lost, unreadable: counts.unreadable, late: counts.late, skipped: counts.skipped, incomplete: counts.incomplete };
  const labels = { lost: "messages lost", unreadable: "unreadable", late: "spikes late", skipped: "windows skipped", incomplete: "windows incomplete" };
  bar.replaceChildren(...Object.entries(texts).flatMap(([key, value]) => [el("b", { "data-count": key }, grouped(value)), ` ${labels[key]} · `]),
    `${grouped(history.missed)} frames not shown`, ...(samples?.most_behind_s > 1 ? [` · samples up to ${durationText(samples.most_behind_s)} behind`] : []));
}

function drawRates({ from, to, units, spikes: total, column_us: step }) {
  if (total === 0) return places.population.replaceChildren(el("p", { class: "note" }, noSpikes));
  const bins = 100;
  const width = (to - from) / bins;
  const bars = new Array(bins).fill(0);
  const spikes = new Array(units).fill(0);
  const lastSecond = to - 1e6 / step;
  history.visit(Math.floor(from), to, (column, unit, count) => {
    bars[Math.min(bins - 1, Math.max(0, Math.floor((column - from) / width)))] += count;
    if (column >= lastSecond) spikes[unit] += count;
  });
  const seconds = (width * step) / 1e6;
  places.population.replaceChildren(barChart({ label: "Rate of all units together", xLabel: "time in s", yLabel: "spikes/s",
    low: (from * step) / 1e6, high: (to * step) / 1e6, bars: bars.map((count) => count / seconds) }).element);
  const busiest = spikes.map((count, unit) => ({ count, unit })).sort((a, b) => b.count - a.count || a.unit - b.unit).slice(0, ratesShown);
  places.rates.replaceChildren(rowsTable(["unit", "spikes in the last second"], busiest.map(({ count, unit }) => [nameElement(nameOf(unit)), grouped(count)])));
}

// Numbers begin with a digit or sign; names are elements.
const cellClass = (cell) => ({ class: Array.isArray(cell) ? "long" : typeof cell === "string" && /^[\d≤>–]/.test(cell) && "number" });

function rowsTable(names, rows) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": names.join(", ") }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, names.map((name, i) => el("th", { scope: "col", ...cellClass(rows[0]?.[i]) }, name)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell) => el("td", cellClass(cell), cell)))))));
}

function drawDetections() {
  if (history.detections.length === 0) return places.detections.replaceChildren(el("p", { class: "note" }, "Nothing has been detected yet."));
  const newest = history.detections.slice(-detectionsShown).reverse();
  places.detections.replaceChildren(rowsTable(["detection", "begin", "end", "what", "suppressed"], newest.map(({ number, armed, begin, end, suppressed }) =>
    [grouped(number + 1), timeText(begin, 1), timeText(end, 1), armedText(armed), suppressed])));
}

function drawSummary({ counts, units }) {
  document.getElementById("counts").replaceChildren(...["spikes", "detections", "triggers", "windows", "epochs"].flatMap((key) =>
    [el("b", { "data-count": key }, grouped(counts[key])), ` ${key} · `]), el("b", { "data-count": "units" }, grouped(units)), " units");
}

// The monitored episodes: their detections, triggers and the number expected by chance.
function drawArmed({ tallies }) {
  const rows = tallies.map(([detections, triggers, perMinute], armed) => [armedText(armed), grouped(detections), grouped(triggers), perMinute === null ? "–" : `${shownNumber(perMinute)} a minute`]);
  places.armed.replaceChildren(rows.length === 0 ? el("p", { class: "note" }, "Nothing is monitored.") : rowsTable(["monitored", "detections", "triggers", "expected by chance"], rows));
}

function durationText(seconds) {
  const [scale, unit] = seconds < 1e-3 ? [1e6, "µs"] : seconds < 1 ? [1e3, "ms"] : [1, "s"];
  return `${shownNumber(seconds * scale)} ${unit}`;
}

// The bound of the class in which this share of the blocks ends.
function latencyWithin(latency, share) {
  const all = latency.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  const k = latency.findIndex((count) => (seen += count) >= share * all);
  return k < described.latency_bounds_s.length ? `≤ ${durationText(described.latency_bounds_s[k])}` : `> ${durationText(described.latency_bounds_s.at(-1))}`;
}

const stageTexts = { sorting: "samples to spike", detection: "spike to detection", trigger: "detection to destinations", whole: "samples or spike to destinations" };

function drawnStages(stages) {
  if (stages.length === 0) return [];
  const rows = stages.map(([name, count, ...within]) => [stageTexts[name], grouped(count), ...within.map(durationText)]);
  return [el("div", { id: "stages" }, rowsTable(["stage", "number", "median", "99 %", "99.9 %"], rows))];
}

// Each class of latencies is about as wide as the others on a logarithmic scale.
function drawLatency({ latency, stages, samples }) {
  const bounds = described.latency_bounds_s.map(Math.log10);
  if (bounds.length < 2 || latency.every((count) => count === 0)) return places.latency.replaceChildren(el("p", { class: "note" }, "No spikes have been processed yet."));
  const [first, last] = [bounds[0], bounds.at(-1)];
  const wide = (last - first) / (bounds.length - 1);
  const shares = [["median", 0.5], ["99 %", 0.99], ["99.9 %", 0.999]].map(([name, share]) => `${name} ${latencyWithin(latency, share)}`);
  places.latency.replaceChildren(el("p", { id: "latencies" }, shares.join(", ")), barChart({ label: "Latency of blocks", xLabel: "time that a block took", yLabel: "blocks",
    low: first - wide, high: last + wide, bars: latency, xText: (mark) => durationText(10 ** mark) }).element, ...drawnStages(stages), ...(samples?.warnings ?? []).map((text) => el("p", { class: "note" }, text)));
}

function drawSlow(now) {
  drawSummary(now);
  drawLosses(now);
  drawRates(view());
  drawArmed(now);
  drawDetections();
  drawLatency(now);
  document.getElementById("moved").hidden = !now.samples?.motion_um.length;
  if (now.samples) places.motion.replaceChildren(motionChart(history.motion, now.samples.motion_um.map(([depth]) => depth), described.column_us));
  places.tracked.replaceChildren(lineChart(history.counted, armedName));
  windowView.draw(history.windows, described.units);
}

let slowAt = -Infinity;
let frames = 0;
function draw(time) {
  isWaiting = false;
  if (!history.last) return;
  slider.min = history.begin();
  slider.max = history.end();
  slider.value = pausedAt ?? history.end();
  density.draw(view());
  density.element.dataset.frames = String(++frames);
  if (time - slowAt < slowPeriod && !history.last.has_ended && drawn > 0) return;
  slowAt = time;
  ++drawn;
  drawSlow(history.last);
}

function redraw() {
  if (isWaiting) return;
  isWaiting = true;
  requestAnimationFrame(draw);
}

function section(id, title, ...content) {
  return el("section", { id }, el("h2", {}, title), ...content);
}

function start() {
  window.history.replaceState(null, "", "/");  // the token is in no address that is shown or kept
  document.querySelector("main").append(
    el("p", { id: "counts" }),
    section("spikes", "Spikes", el("p", { class: "controls" }, live, slider, length), density.element),
    section("firing", "Rates", el("div", { class: "two" }, places.population, places.rates)),
    section("monitored", "Monitored", places.armed),
    section("found", "Detections", places.detections),
    section("followed", "Tracked episodes", places.tracked),
    section("moved", "Motion of the tissue", places.motion),
    section("circuit", "Last window", windowView.element),
    section("speed", "Latency", places.latency));
  window.addEventListener("resize", redraw);
  makeThemeButton(redraw);
  connect({
    onFrame: (frame) => {
      history.add(frame);
      redraw();
    },
    onDescription: (description) => {
      described = description;
      redraw();
    },
    onState: (text) => {
      const summary = document.getElementById("summary");
      if (summary.textContent !== text) summary.textContent = text;  // a repeated text would be read out twice
    },
  });
}

start();
