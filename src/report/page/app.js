// Starts the page: the views of the kind of result that the data are of.

import { assembliesPage } from "./assemblies_page.js";
import { comparePage } from "./compare_page.js";
import { readDocument } from "./data.js";
import { episodesPage } from "./episodes_page.js";
import { makeSaver } from "./exports.js";
import { el, grouped, shownName, shownNumber } from "./format.js";
import { drawAll } from "./in_turn.js";
import { replayPage } from "./replay_page.js";
import { sessionPage, windowsPage } from "./session_page.js";
import { sideBySidePage, seriesPage } from "./several_pages.js";
import { severalSortPage } from "./several_sort_page.js";
import { severalSpadePage } from "./several_spade_page.js";
import { sortPage } from "./sort_page.js";
import { spadePage } from "./spade_page.js";

const pages = { episodes: episodesPage, spade: spadePage, sort: sortPage, comparison: sideBySidePage, series: seriesPage,
  "spade-comparison": severalSpadePage, "sort-comparison": severalSortPage, session: sessionPage, windows: windowsPage,
  replay: replayPage, assemblies: assembliesPage, compare: comparePage };

// The picked row and the shown time are in the address of the page, so that a view can be sent:
// #episode=12&from=1.25&to=1.45
const pauseOfAddress = 200;  // milliseconds; browsers limit how often an address changes

// Follows what is picked among the rows of each kind. Returns a function that shows what the address says, if anything.
function keepAddress(state, rowsOfKinds) {
  const { now, data } = state;
  let waiting = null;

  function write() {
    waiting = null;
    const said = new URLSearchParams();
    if (now.picked && rowsOfKinds[now.kind]) said.set(now.kind, now.picked.number);
    if (now.from > data.begin || now.to < data.end) for (const end of ["from", "to"]) said.set(end, now[end] / 1e6);
    history.replaceState(null, "", `#${said}`);
  }

  function restore() {
    const said = new URLSearchParams(location.hash.slice(1));
    const [kind, row] = Object.entries(rowsOfKinds).map(([name, rows]) => [name, rows.find((one) => String(one.number) === said.get(name))]).find(([, one]) => one) ?? [];
    const [from, to] = ["from", "to"].map((end) => 1e6 * Number(said.get(end) ?? NaN));
    if (row) state.pick(kind, row);
    if (from < to) state.show(from, to);
    return Boolean(row) || from < to;
  }

  window.addEventListener("hashchange", restore);
  // In the frame of a notebook, the address is that of the notebook.
  if (location.protocol !== "about:") state.listen(() => { waiting ??= setTimeout(write, pauseOfAddress); });
  return restore;
}

// The theme is that of the system until the button is pressed.
function makeThemeButton(redraw) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const button = document.getElementById("theme");
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    name();
    redraw();
  });
  dark.addEventListener("change", () => {
    name();
    redraw();
  });
  name();
}

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

function start() {
  const raw = readDocument(document.getElementById("data").textContent);
  if (!Object.hasOwn(pages, raw.kind)) throw new Error("These data are of another version of spikeweave.");
  const { data, found, views, linked = [], redraw, state, rows, start: pickFirst } = pages[raw.kind](raw);
  const file = shownName(String(data.run.input?.path ?? "").split("/").pop());
  const kind = raw.kind.replace("-", " ");
  document.title = file ? `${file}: ${kind}` : `spikeweave ${kind}`;
  document.querySelector("h1").textContent = `spikeweave ${kind}`;
  const spikes = data.spikeCount > 0 ? `${grouped(data.spikeCount)} spikes of ${grouped(data.names.length)} units in ${shownNumber((data.end - data.begin) / 1e6, 4)} s, ` : "";
  document.getElementById("summary").append(el("bdi", {}, file), `${file ? ": " : ""}${spikes}${found}`);
  if (raw.run?.summary) showVerdict(raw.run);
  document.querySelector("nav").append(...views.flatMap(([id, name]) => [linkTo(id, name), " "]));
  show(views, linked);
  makeThemeButton(redraw);
  window.addEventListener("beforeprint", () => {
    redraw();
    drawAll();
  });
  if (!rows || !keepAddress(state, rows)()) pickFirst();
  redraw();
}

try {
  start();
} catch (error) {
  document.getElementById("summary").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
}
