// The marks of a session in pictures: detections, losses and the window in the raster, and the whole session in a strip.

import { drawOccurrences } from "./canvas.js";
import { el, shownNumber, svg } from "./format.js";
import { firstAtOrAfter } from "./raster_image.js";
import { stepAt } from "./session_data.js";

// The times of detections, one after another, of each epoch by what was armed and whether they were triggers.
function groupsOf(data) {
  const groups = new Map();
  for (const { epoch, armed, times_us, suppressed } of data.detections) {
    const units = data.armed[armed].units.slice(0, times_us.length);
    const key = `${epoch} ${armed} ${units.length} ${suppressed ? "suppressed" : "trigger"}`;
    if (!groups.has(key)) groups.set(key, { epoch, units, isTrigger: !suppressed, times: [] });
    groups.get(key).times.push(...times_us);
  }
  return [...groups.values()].map((group) => ({ ...group, occurrences: Float64Array.from(group.times) }));
}

// `shown()` gives the step that is shown and the time that has been reached. A function for `makeRaster`.
export function makeMarks(state, shown) {
  const { data, now } = state;
  const groups = groupsOf(data);

  return (context, { rowOf, rowHeight, left, width, height, colours }) => {
    const { step, time } = shown();
    const x = (us) => left + ((us - now.from) / (now.to - now.from)) * width;
    context.globalAlpha = 0.3;
    context.fillStyle = colours.lost;
    for (const { epoch, begin_us, end_us } of data.losses)
      if (epoch === step.epoch && end_us >= now.from && begin_us <= now.to) context.fillRect(x(begin_us) - 1, 0, Math.max(3, x(end_us) - x(begin_us) + 2), height);
    context.globalAlpha = 1;
    for (const { epoch, units, isTrigger, occurrences } of groups) {
      if (epoch !== step.epoch || !units.every((unit) => rowOf.has(unit))) continue;
      const view = { occurrences, picked: { units }, from: now.from, to: now.to };
      drawOccurrences(context, view, rowOf, rowHeight, left, width, { ...colours, mark: isTrigger ? colours.blue : colours.soft });
    }
    context.fillStyle = colours.blue;
    context.fillRect(x(step.begin), 0, x(step.end) - x(step.begin), 4);
    context.fillStyle = colours.text;
    context.fillRect(Math.round(x(time)) - 1, 0, 1, height);
  };
}

// When the circuit and the firing rates change.
const kindsOfChange = [
  { kind: "circuit", words: "the circuit changes", place: "green lines above", top: 0 },
  { kind: "firing_rates", words: "the firing rates change", place: "dashed lines below", top: 15 }];

const textOfPoint = ({ time_s: time, p }) => `at ${time} s (p ${shownNumber(p)})`;

export function changesText({ found, next_p: next }) {
  if (found.length > 0) return found.map(textOfPoint).join(", ");
  return next === null ? "none" : `none is significant (p ${shownNumber(next)})`;
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

// The number of detections that end in each step.
function detectionsIn({ detections, epochs, steps }) {
  const ends = epochs.map((_, epoch) => detections.filter((one) => one.epoch === epoch).map((one) => one.end).sort((a, b) => a - b));
  return steps.map(({ epoch, begin, end }) => firstAtOrAfter(ends[epoch], end) - firstAtOrAfter(ends[epoch], begin));
}

// A bar for each step, as high as its detections or its significant edges; red where a window may lack spikes or was
// skipped, or something was lost. Lines are where the result has changes.
export function makeOverview(data, seek) {
  const { steps } = data;
  const values = data.armed.length > 0 ? detectionsIn(data) : steps.map(({ window }) => window?.edges ?? 0);
  const lost = steps.map(({ window }) => window !== null && (window.has_gap || window.complete_to_size === 0));
  if (data.raw.windows.length === 0) for (const { epoch, end_us } of data.losses) lost[stepAt(steps, epoch, end_us)] = true;
  const most = Math.max(1, ...values);
  const bars = values.map((value, k) => (value > 0 ? `M${k},30v${(-28 * value) / most}h1V30z` : "")).join("");
  const red = lost.map((is, k) => (is ? `M${k},0h1v30h-1z` : "")).join("");
  const here = svg("path", { class: "here" });
  const words = data.armed.length > 0 ? "detections" : "significant edges";
  const changes = makeChangeMarks(data);
  const said = [`${words} over the windows, up to ${most}`, `${lost.filter(Boolean).length} windows with losses`, ...changes.words];
  const picture = svg("svg", { id: "overview", viewBox: `0 0 ${Math.max(1, steps.length)} 30`, preserveAspectRatio: "none", role: "img",
    "aria-label": said.join("; "),
    "data-counts": values.join(" "), "data-lost": lost.map(Number).join(" "),
    onclick: (event) => seek(Math.min(steps.length - 1, Math.floor((event.offsetX / picture.clientWidth) * steps.length))) },
  svg("path", { class: "lost", d: red }), svg("path", { class: "bars", d: bars }), ...changes.marks, here);
  const legend = changes.legend.length > 0 ? el("span", { id: "changes-note" }, `On it, ${changes.legend.join("; ")}. `) : [];
  return { picture, words, legend, show: (position) => here.setAttribute("d", `M${position + 0.5},0V30`) };
}
