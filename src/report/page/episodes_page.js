// The page of a result of episodes.

import { listOf, makeAbout } from "./about.js";
import { makeAligned } from "./aligned.js";
import { makeCircuit } from "./circuit.js";
import { makeCorrelogram } from "./correlogram.js";
import { makeCounts } from "./counts.js";
import { rowsOf, spikesOf } from "./data.js";
import { el, grouped, intervalText, nameElement, noteOnFirst, testFigure } from "./format.js";
import { findOccurrences } from "./occurrences.js";
import { makePsth } from "./psth.js";
import { makeRaster } from "./raster.js";
import { leastQ, makeState } from "./state.js";
import { boxFilter, figureColumn, flagColumn, inWords, leastFilter, makeList, numberColumn, sizeColumn, unitFilter, unitsColumn } from "./table.js";

// Names with the delays between them.
export function pathElements(names, { units, delays_ms }) {
  return units.flatMap((unit, k) =>
    k === 0 ? [nameElement(names[unit])] : [" ", el("span", { class: "delay" }, `→${intervalText(delays_ms[k - 1])}→`), " ", nameElement(names[unit])]);
}

const helps = {
  count: "occurrences without overlap", expected: "mean count by chance", p: "probability of the count by chance",
  q: "p, corrected for all candidates of the size", strength: "probability of each step that would give the count",
};

function makeEpisodes(state) {
  const { names, episodes, episodeTotal } = state.data;
  const figure = (key) => figureColumn(key, helps[key], testFigure);
  const extra = Object.keys(episodes[0] ?? {}).filter((key) => /^(independent|surrogate|search)_/.test(key));
  const flags = ["significant", "maximal", "chain"];
  const list = makeList(state, "episode", { caption: "Episodes", rows: episodes, notes: noteOnFirst(episodes, episodeTotal, "episodes; episodes.tsv has all"),
    columns: [numberColumn("episode"), sizeColumn, ...["count", "q"].map(figure), unitsColumn(names, "delays", (row) => pathElements(names, row)),
      ...["expected", "p", "strength"].map(figure), ...flags.map((key) => flagColumn(key))],
    filters: [unitFilter(names), leastFilter("size-filter", "size at least", (row) => row.units.length), ...flags.map((key) => boxFilter(`only-${key}`, key, (row) => row[key], key !== "chain"))] }).element;
  const further = el("div", { id: "further" });
  if (extra.length > 0) state.listen((what) => {
    const { kind, picked } = state.now;
    if (what === "picked" && kind === "episode") further.replaceChildren(el("h3", {}, `Further tests of episode ${picked.number}`), listOf(extra.map((key) => [inWords(key), testFigure(picked[key], key)])));
  });
  return el("div", {}, list, further);
}

// An estimate of the edge with the ends of its interval.
const estimateOf = (edge, name, unit = "") => ["", "_low", "_high"].map((end) => edge[name + end + unit]);

function readEdge(edge) {
  return { ...edge, units: [edge.from, edge.to], delays_ms: [edge.best_delay_ms], via: edge.via[0],
    gain: estimateOf(edge, "gain"), transmission: estimateOf(edge, "transmission"),
    mean_delay_ms: edge.mean_delay_ms === null ? undefined : estimateOf(edge, "mean_delay", "_ms") };
}

function readEpisodes(raw) {
  const isChain = new Set(raw.run.circuit?.chains ?? []);
  return {
    ...spikesOf(raw),
    places: raw.places,
    episodes: rowsOf(raw.episodes).map((row) => ({ ...row, chain: isChain.has(row.number) })),
    episodeTotal: raw.episodes.total,
    edges: rowsOf(raw.circuit).map((edge, i) => readEdge({ ...edge, null: raw.lags?.expected[i] })),
    ties: raw.run.search?.ties ?? "time",
  };
}

export const episodeSources = [
  "Y. Cao, D. Patnaik, S. Ponce, J. Archuleta, P. Butler, W. Feng, N. Ramakrishnan, “Parallel Mining of Neuronal Spike Streams on Graphics Processing Units”, Int. J. Parallel Programming 40 (2012)",
  "K. P. Unnikrishnan, P. S. Sastry et al., “Statistical significance of sequential firing patterns in multi-neuronal spike trains”, arXiv:0808.3511",
  "A. Amarasingham, M. T. Harrison, N. G. Hatsopoulos, S. Geman, “Conditional modeling and the jitter method of spike resampling”, J. Neurophysiol. 107 (2012)",
  "R. E. Tarone, “A modified Bonferroni method for discrete data”, Biometrics 46 (1990)",
  "Y. Benjamini, Y. Hochberg, “Controlling the false discovery rate”, J. R. Statist. Soc. B 57 (1995)",
];

// The share of the findings of a search in other spikes that is confirmed here.
function replicatedIn({ hold_out: heldOut, confirm }) {
  const searched = heldOut ?? confirm;
  if (!searched) return [];
  const replicated = `${grouped(searched.replicated)} of ${grouped(searched.significant)} significant episodes of the search in ${searched.searched_s} s`;
  if (heldOut) return [["replicated where it was held out", replicated]];
  return [["replicated in this recording", replicated], ["searched", confirm.searched?.path], ["searched units that are missing here", confirm.missing_units.length],
    ["episodes not tested for want of them", `${grouped(confirm.untested)}, of which ${grouped(confirm.untested_significant)} are significant in the search`]];
}

// The number of pairs of units that could have become significant, and the units in none.
function testedPairs(pairs) {
  if (!pairs) return [];
  const untested = pairs.untested_units.length > 0 ? pairs.untested_units.join(", ") : undefined;
  return [["pairs of units tested", `${grouped(pairs.tested)} of ${grouped(pairs.possible)}`], ["units in no tested pair", untested]];
}

function ranEpisodes(run) {
  const levels = (run.search?.levels ?? []).map((level) => [`size ${level.size}`, `${grouped(level.candidates)} candidates, ${grouped(level.frequent)} frequent`]);
  return [...replicatedIn(run), ["strategy", run.search?.strategy], ["threshold", run.search?.threshold], ["test", run.significance?.test], ["alpha", run.significance?.alpha],
    ...testedPairs(run.circuit?.pairs), ["surrogates", run.surrogates?.number], ["surrogate method", run.surrogates?.method], ...levels];
}

// The page opens on the significant chain, edge or episode with the least q, if there is any.
function bestFinding({ episodes, edges }) {
  const significant = episodes.filter((row) => row.significant && row.units.length > 1);
  const chain = leastQ(significant.filter((row) => row.chain));
  if (chain) return ["episode", chain];
  const edge = leastQ(edges.filter(({ kind }) => kind === "direct")) ?? leastQ(edges);
  return edge ? ["edge", edge] : ["episode", leastQ(significant)];
}

// Where the spikes of an episode can be after its first one, and as much before it.
function lookOfEpisode({ picked, occurrences }) {
  const shaded = [[0, 0]];
  for (const [low, high] of picked.delays_ms) shaded.push([shaded.at(-1)[0] + 1000 * low, shaded.at(-1)[1] + 1000 * high]);
  const reach = Math.max(10000, shaded.at(-1)[1]);
  return { starts: occurrences.filter((_, i) => i % picked.units.length === 0), shaded, range: [-0.75 * reach, 1.75 * reach], axis: "time after the first spike (ms)" };
}

export function episodesPage(raw) {
  const data = readEpisodes(raw);
  const state = makeState(data, (row) => findOccurrences(data.trains, row.units, row.delays_ms, data.ties));
  const path = (row) => pathElements(data.names, row);
  const hint = "Pick an episode or an edge.";
  const raster = makeRaster(state);
  const psth = makePsth(state);
  const aligned = makeAligned(state, { hint, path, shadedText: "the times that its delays allow", look: () => lookOfEpisode(state.now) });
  const circuit = makeCircuit(state);
  const redraw = () => {
    for (const one of [raster, aligned]) one.redraw();
  };
  return {
    data, state, redraw,
    rows: { episode: data.episodes, edge: data.edges },
    linked: [["raster", "aligned"], ["circuit", "correlogram"]],
    found: `${grouped(data.episodeTotal)} frequent episodes, ${grouped(data.edges.length)} edges`,
    views: [
      ["raster", "Raster", raster.element],
      ["aligned", "Occurrences", aligned.element, "Occurrences, aligned"],
      ["circuit", "Circuit", circuit.picture],
      ["correlogram", "Correlogram", makeCorrelogram(state), "Cross-correlogram of an edge"],
      ["episodes", "Episodes", makeEpisodes(state)],
      ["edges", "Edges", circuit.list],
      ["counts", "Count over time", makeCounts(state, path, hint)],
      ...(psth ? [["psth", "Around epochs", psth, "Raster and rate around the epochs"]] : []),
      ["about", "About", makeAbout(data, ranEpisodes(data.run), episodeSources), "About this result"],
    ],
    start() {
      const [kind, row] = bestFinding(data);
      if (row) state.pick(kind, row);
      raster.showFirst();
    },
  };
}
