// The tables of a session: the episodes of the window that is shown, detections, what was armed, and losses.

import { pathElements } from "./episodes_page.js";
import { el, firstOf, noteOnFirst, shownName, shownNumber, testFigure, timeText } from "./format.js";
import { patternElements } from "./patterns.js";
import { boxFilter, flagColumn, makeList, makeTable, numberColumn, unitsColumn } from "./table.js";

const secondsOf = (us) => timeText(us, 1);

// An episode or a pattern with its delays.
const armedColumn = (names, of) => unitsColumn(names, "delays", (one) => (of(one).isPattern ? patternElements : pathElements)(names, of(one)), of);

// `shown()` gives the number of the window that is shown.
export function makeWindowTable(state, shown) {
  const { names, rows } = state.data;
  const figure = (label, of, text, help) => ({ label, help, isNumber: true, value: (row) => of(row)[shown()], cell: (row) => text(of(row)[shown()]) });
  const columns = [numberColumn("episode"), figure("count", (row) => row.count, shownNumber, "occurrences without overlap"),
    figure("q", (row) => row.q, testFigure, "p by chance, corrected for the pairs or the candidates of the window; a dash: no edge, not frequent, or not tested"),
    unitsColumn(names, "delays", (row) => pathElements(names, row)), figure("per second", (row) => row.rate, shownNumber),
    flagColumn("significant", (row) => row.significant[shown()]),
    { label: "kind", value: (row) => row.kind[shown()] ?? "", cell: (row) => row.kind[shown()] ?? "–" }];
  const { table, list } = makeList(state, "episode", { caption: "Episodes of the window that is shown", columns, rows });
  state.listen((what) => {
    if (what === "recording") list();
  });
  return table.element;
}

// `go(epoch, time)` shows a time. `step()` gives the step that is shown.
export function makeDetections(state, go, step) {
  const { names, armed, detections, raw } = state.data;
  const columns = [numberColumn("detection"),
    { label: "epoch", isNumber: true, value: (one) => one.epoch },
    { label: "at", help: "the spike with which it was detected", isNumber: true, value: (one) => one.end, cell: (one) => secondsOf(one.end) },
    { label: "trigger", value: (one) => one.suppressed, cell: (one) => (one.suppressed ? `no: ${one.suppressed}` : "yes") },
    { label: "armed", isNumber: true, value: (one) => one.armed },
    armedColumn(names, (one) => armed[one.armed]),
    { label: "lasts", isNumber: true, value: (one) => one.end - one.begin, cell: (one) => `${shownNumber((one.end - one.begin) / 1000)} ms` }];
  const inWindow = boxFilter("only-in-window", "only those in the window that is shown", (one) => one.epoch === step().epoch && one.end >= step().begin && one.end < step().end);
  const { element, table, list } = makeList(state, "detection", { caption: "Detections", columns, rows: detections, filters: [inWindow], marked: null,
    notes: noteOnFirst(detections, raw.detections?.total ?? 0, "detections are shown"), pick: (one) => {
      table.mark(one);
      go(one.epoch, one.end);
    } });
  state.listen((what) => {
    if (what === "recording" && inWindow.input.checked) list();
  });
  return element;
}

const reasons = { armed: "armed", disarmed: "disarmed", "max-false-alarms": "not armed: expected by chance too often", "max-armed": "not armed: too many are armed" };

export function makeArming(state, go) {
  const { names, arming, armed, detections, epochs, raw } = state.data;
  const triggers = armed.map(() => [0, 0]);
  for (const one of detections) ++triggers[one.armed][one.suppressed ? 1 : 0];
  const list = makeTable({ caption: "What was armed", rows: armed.map((one) => ({ ...one, number: one.number + 1 })), pick: () => {}, columns: [
    { label: "armed", isNumber: true, value: (one) => one.number - 1 },
    { label: "triggers", isNumber: true, value: (one) => triggers[one.number - 1][0] },
    { label: "suppressed", isNumber: true, value: (one) => triggers[one.number - 1][1] },
    armedColumn(names, (one) => one),
    { label: "by", value: (one) => (one.is_automatic ? "its significance" : "the user") }] });
  const fromOf = (one) => one.from_us ?? epochs[one.epoch].begin;
  const changes = makeTable({ caption: "Changes of what is armed", rows: arming, pick: (one) => go(one.epoch, fromOf(one)), columns: [
    numberColumn("change"),
    { label: "epoch", isNumber: true, value: (one) => one.epoch },
    { label: "from", help: "spikes from here on count", isNumber: true, value: fromOf, cell: (one) => secondsOf(fromOf(one)) },
    { label: "what", value: (one) => one.change, cell: (one) => `${reasons[one.change] ?? shownName(one.change)}${one.is_late ? ", later than by the rule" : ""}` },
    { label: "armed", isNumber: true, value: (one) => one.armed, cell: (one) => shownNumber(one.armed) },
    armedColumn(names, (one) => one.what),
    { label: "expected by chance per minute", isNumber: true, value: (one) => one.per_minute, cell: (one) => shownNumber(one.per_minute) },
    { label: "decided by window", isNumber: true, value: (one) => one.window }] });
  const detected = raw.detections?.total ?? 0;
  const counted = detected > detections.length ? el("p", { class: "note" }, `Triggers and suppressed ones are those among ${firstOf(detections.length, detected)} detections.`) : [];
  const left = noteOnFirst(arming, raw.arming?.total ?? 0, "changes are shown");
  return el("div", {}, counted, list.element, arming.length > 0 ? [left, changes.element] : el("p", { class: "note" }, "Nothing was armed or disarmed while the session ran."));
}

export function makeLosses(state, go) {
  const { losses, raw } = state.data;
  if (losses.length === 0) return el("p", {}, "Nothing that was sent is known to be lost.");
  const column = (key, label, help) => ({ label, help, isNumber: true, value: (one) => one[key] });
  const table = makeTable({ caption: "Losses", rows: losses, pick: (one) => go(one.epoch, one.end_us), columns: [
    numberColumn("loss"),
    { label: "epoch", isNumber: true, value: (one) => one.epoch },
    { label: "after", isNumber: true, value: (one) => one.begin_us, cell: (one) => secondsOf(one.begin_us) },
    { label: "until", isNumber: true, value: (one) => one.end_us, cell: (one) => secondsOf(one.end_us) },
    column("missing", "messages that never came"), column("unreadable", "not readable", "messages, or spikes of unknown units"),
    column("late", "late spikes", "they came too late and were left out"), column("unrecorded", "not recorded", "blocks and results that are not in the file, because the disk was too slow")] });
  return el("div", {}, noteOnFirst(losses, raw.losses.total, "losses are shown"), table.element);
}
