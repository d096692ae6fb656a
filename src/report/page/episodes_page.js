// The page of a result of episodes.

import { makeAbout } from "./about.js";
import { makeCircuit } from "./circuit.js";
import { makeCorrelogram } from "./correlogram.js";
import { makeCounts } from "./counts.js";
import { rowsOf, spikesOf } from "./data.js";
import { el, grouped, intervalText, nameElement, noteOnFirst, testFigure } from "./format.js";
import { findOccurrences } from "./occurrences.js";
import { makePsth } from "./psth.js";
import { makeRaster } from "./raster.js";
import { makeState } from "./state.js";
import { boxFilter, figureColumn, flagColumn, leastFilter, makeList, numberColumn, unitFilter, unitsColumn } from "./table.js";

// Names with the delays between them.
export function pathElements(names, { units, delays_ms }) {
  return units.flatMap((unit, k) =>
    k === 0 ? [nameElement(names[unit])] : [el("span", { class: "delay" }, ` →${intervalText(delays_ms[k - 1])}→ `), nameElement(names[unit])]);
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
  return makeList(state, "episode", { caption: "Episodes", rows: episodes, notes: noteOnFirst(episodes, episodeTotal, "episodes; episodes.tsv has all"),
    columns: [numberColumn("episode"), { label: "size", value: (row) => row.units.length }, unitsColumn(names, "delays", (row) => pathElements(names, row)),
      ...["count", "expected", "p", "q", "strength"].map(figure), ...flags.map((key) => flagColumn(key)), ...extra.map(figure)],
    filters: [unitFilter(names), leastFilter("size-filter", "size at least", (row) => row.units.length), ...flags.map((key) => boxFilter(`only-${key}`, key, (row) => row[key]))] }).element;
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
    edges: rowsOf(raw.circuit).map(readEdge),
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

export function episodesPage(raw) {
  const data = readEpisodes(raw);
  const state = makeState(data, (row) => findOccurrences(data.trains, row.units, row.delays_ms, data.ties));
  const raster = makeRaster(state);
  const psth = makePsth(state);
  return {
    data,
    found: `${grouped(data.episodeTotal)} frequent episodes, ${grouped(data.edges.length)} edges`,
    views: [
      ["raster", "Raster", raster.element],
      ["episodes", "Episodes", makeEpisodes(state)],
      ["circuit", "Circuit", makeCircuit(state)],
      ["correlogram", "Correlogram", makeCorrelogram(state), "Cross-correlogram of an edge"],
      ["counts", "Count over time", makeCounts(state, (row) => pathElements(data.names, row), "Pick an episode or an edge.")],
      ...(psth ? [["psth", "Around epochs", psth, "Raster and rate around the epochs"]] : []),
      ["about", "About", makeAbout(data, ranEpisodes(data.run), episodeSources), "About this result"],
    ],
    redraw: raster.redraw,
    start() {
      const strongest = data.edges.filter((edge) => edge.kind === "direct").sort((a, b) => Math.abs(b.transmission[0]) - Math.abs(a.transmission[0]))[0] ?? data.edges[0];
      if (strongest) state.pick("edge", strongest);
      const chain = data.episodes.find((row) => row.chain) ?? data.episodes[0];
      if (chain) state.pick("episode", chain);
      raster.redraw();
    },
  };
}
