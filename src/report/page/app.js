// Starts the page: the views of the kind of result that the data are of.

import { keepAddress } from "./address.js";
import { assembliesPage } from "./assemblies_page.js";
import { burstsPage } from "./bursts_page.js";
import { comparePage } from "./compare_page.js";
import { readDocument } from "./data.js";
import { episodesPage } from "./episodes_page.js";
import { makeSaver } from "./exports.js";
import { el, grouped, shownName, shownNumber } from "./format.js";
import { drawAll } from "./in_turn.js";
import { replayPage } from "./replay_page.js";
import { runPage } from "./run_page.js";
import { sessionPage, windowsPage } from "./session_page.js";
import { sideBySidePage, seriesPage } from "./several_pages.js";
import { severalBurstsPage } from "./several_bursts_page.js";
import { severalSortPage } from "./several_sort_page.js";
import { severalSpadePage } from "./several_spade_page.js";
import { sortPage } from "./sort_page.js";
import { spadePage } from "./spade_page.js";
import { makeThemeButton } from "./theme.js";
import { trackPage } from "./track_page.js";

const pages = { episodes: episodesPage, spade: spadePage, sort: sortPage, comparison: sideBySidePage, series: seriesPage,
  "spade-comparison": severalSpadePage, "sort-comparison": severalSortPage, "bursts-comparison": severalBurstsPage, session: sessionPage, windows: windowsPage,
  replay: replayPage, assemblies: assembliesPage, bursts: burstsPage, track: trackPage, compare: comparePage, run: runPage };

// In the frame of a notebook, addresses are those of the notebook: links have to scroll by themselves.
function linkTo(id, name) {
  return el("a", { href: `#${id}`, onclick: (event) => {
    if (location.protocol !== "about:") return;
    event.preventDefault();
    document.getElementById(id).scrollIntoView();
  } }, name);
}

// The result in a sentence, and its warnings.
function showVerdict({ summary, input }) {
  const warnings = (input?.warnings ?? []).map((text) => el("li", {}, shownName(text)));
  document.querySelector("main").prepend(el("p", { id: "verdict" }, shownName(summary)), ...(warnings.length > 0 ? [el("ul", { id: "warnings" }, warnings)] : []));
}

const sectionOf = ([id, name, view, title]) =>
  el("section", { id }, el("div", { class: "head" }, el("h2", {}, title ?? name), id === "about" ? [] : makeSaver(id, view)), view);

// Views in the order of the menu; those that answer each other are beside each other where there is room.
function show(views, linked) {
  const sections = new Map(views.map((view) => [view[0], sectionOf(view)]));
  const columns = linked.map((ids) => el("div", {}, ids.map((id) => sections.get(id))));
  const others = views.map(([id]) => id).filter((id) => !linked.flat().includes(id));
  document.querySelector("main").append(...(columns.length > 0 ? [el("div", { class: "linked" }, columns)] : []), ...others.map((id) => sections.get(id)));
}

// Pictures in columns that end below the window take a smaller share of their usual heights, `--fit`, until all are on one
// screen, but not to what is opened below them. A step is small enough that no column gets lower than it has to be.
const leastFit = 0.3;
function keepOnScreen(linked, redraw) {
  const columns = [...linked.children];
  const fit = (column) => Number(column.style.getPropertyValue("--fit") || 1);
  const step = () => {
    if (getComputedStyle(linked).display !== "grid") return;
    const excess = (column) => linked.offsetTop + column.offsetHeight - window.innerHeight;
    const low = columns.filter((column) => excess(column) > 0 && fit(column) > leastFit && !column.querySelector("details[open]"));
    const shares = low.map((column) => Math.max(leastFit, fit(column) - Math.max(0.005, (1.2 * excess(column)) / window.innerHeight)));
    low.forEach((column, k) => column.style.setProperty("--fit", shares[k]));
    if (low.length === 0) return;
    redraw();
    requestAnimationFrame(step);
  };
  const watch = new ResizeObserver(() => requestAnimationFrame(step));
  columns.forEach((column) => watch.observe(column));
  window.addEventListener("resize", () => columns.forEach((column) => column.style.removeProperty("--fit")), true);
}

function start() {
  const raw = readDocument(document.getElementById("data").textContent);
  if (!Object.hasOwn(pages, raw.kind)) throw new Error("These data are of another version of spikeweave.");
  const { data, found, views, linked = [], redraw, state, rows, steps, start: pickFirst } = pages[raw.kind](raw);
  const file = shownName(String(data.run.input?.path ?? "").split("/").pop());
  const kind = raw.kind.replace("-", " ");
  document.title = file ? `${file}: ${kind}` : `spikeweave ${kind}`;
  document.querySelector("h1").textContent = `spikeweave ${kind}`;
  const spikes = data.spikeCount > 0 ? `${grouped(data.spikeCount)} spikes of ${grouped(data.names.length)} units in ${shownNumber((data.end - data.begin) / 1e6, 4)} s, ` : "";
  document.getElementById("summary").append(el("bdi", {}, file), `${file ? ": " : ""}${spikes}${found}`);
  if (raw.run?.summary) showVerdict(raw.run);
  document.querySelector("nav").append(...views.flatMap(([id, name]) => [linkTo(id, name), " "]));
  show(views, linked);
  if (linked.length > 0) keepOnScreen(document.querySelector(".linked"), redraw);
  makeThemeButton(redraw);
  window.addEventListener("beforeprint", () => {
    redraw();
    drawAll();
  });
  pickFirst();
  if (rows) keepAddress(state, rows, steps);
  redraw();
}

try {
  start();
} catch (error) {
  document.getElementById("summary").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
}
