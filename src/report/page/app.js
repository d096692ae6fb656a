// Starts the page: the views of the kind of result that the data are of.

import { keepAddress } from "./address.js";
import { assembliesPage } from "./assemblies_page.js";
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
import { severalSortPage } from "./several_sort_page.js";
import { severalSpadePage } from "./several_spade_page.js";
import { sortPage } from "./sort_page.js";
import { spadePage } from "./spade_page.js";
import { makeThemeButton } from "./theme.js";

const pages = { episodes: episodesPage, spade: spadePage, sort: sortPage, comparison: sideBySidePage, series: seriesPage,
  "spade-comparison": severalSpadePage, "sort-comparison": severalSortPage, session: sessionPage, windows: windowsPage,
  replay: replayPage, assemblies: assembliesPage, compare: comparePage, run: runPage };

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

// Where there are views one below the other, their pictures yield to what is above them and take a share of their usual
// heights, so that all are on one screen. For each column: pixels of its headings, controls and notes, and the share of the
// window that its pictures usually have.
const columnsOfPictures = [[370, 0.47], [290, 0.53]];
function fitPictures() {
  const linked = document.querySelector(".linked");
  columnsOfPictures.forEach(([around, usual], k) => {
    const room = window.innerHeight - linked.offsetTop - around;
    linked.children[k].style.setProperty("--fit", Math.min(1, Math.max(0.5, room / (usual * window.innerHeight))));
  });
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
  if (linked.some((ids) => ids.length > 1)) {
    fitPictures();
    window.addEventListener("resize", fitPictures, true);  // before the pictures are drawn again
  }
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
