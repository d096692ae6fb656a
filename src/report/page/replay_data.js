// The chains that are looked for at other speeds and in reverse, and where they occur.

import { apartTimes, rowsOf, spikesOf } from "./data.js";
import { findOccurrences } from "./occurrences.js";

// scaled_episode of the library.
function scaledDelays(delays_ms, scale) {
  return delays_ms.map((ends) => {
    const [low, high] = ends.map((ms) => Math.round(Math.round(1000 * ms) * scale));
    return [low / 1000, Math.max(low + 1, high) / 1000];
  });
}

// What is looked for: the chain at the scale of the test, in its direction.
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

export function readReplay(raw) {
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
