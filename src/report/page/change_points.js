// When the circuit and the firing rates change: as text, and as marks on the strip of windows.

import { sixDigits, svg } from "./format.js";

const kindsOfChange = [
  { kind: "circuit", words: "the circuit changes", place: "green lines above", top: 0 },
  { kind: "firing_rates", words: "the firing rates change", place: "dashed lines below", top: 15 }];

const textOfPoint = ({ time_s: time, p }) => `at ${time} s (p ${sixDigits(p)})`;

export function changesText({ found, next_p: next }) {
  if (found.length > 0) return found.map(textOfPoint).join(", ");
  return next === null ? "none" : `none is significant (p ${sixDigits(next)})`;
}

// A line at the beginning of the first window after each change, on a wider one that sets it off.
export function makeChangeMarks({ raw, steps }) {
  const changes = raw.run.search?.change_points;
  const told = kindsOfChange.filter(({ kind }) => changes?.[kind].found.length > 0);
  const atStep = (time) => {
    const at = steps.findIndex(({ begin }) => begin >= Math.round(1e6 * time));
    return at >= 0 ? at : steps.length;
  };
  const mark = ({ kind, words, top }, point) => {
    const at = atStep(point.time_s);
    const d = `M${at},${top}v15`;
    return [svg("path", { class: "around", d }), svg("path", { class: `change ${kind}`, d, "data-step": at }, svg("title", {}, `${words} ${textOfPoint(point)}`))];
  };
  const textOf = ({ kind, words }) => `${words} ${changesText(changes[kind])}`;
  return {
    marks: told.flatMap((one) => changes[one.kind].found.flatMap((point) => mark(one, point))),
    words: told.map(textOf),
    legend: told.map((one) => `${one.place}: ${textOf(one)}`),
  };
}
