// The contacts of the probe, and the units where their peaks are.

import { axesOf, axisMarks } from "./chart.js";
import { el, svg } from "./format.js";

const [probeWidth, probeHeight, probeLeft, probeRight, probeTop, probeBottom] = [300, 520, 84, 14, 12, 44];

function peakToPeak(mean) {
  return mean.reduce((a, b) => Math.max(a, b)) - mean.reduce((a, b) => Math.min(a, b));
}

// Where a unit is: the mean position of the channels around its peak, weighted by the squares of its heights there.
export function placeOfUnit({ channels, waveforms }, unit) {
  let [x, y, all] = [0, 0, 0];
  for (const { channel, mean } of waveforms.of(unit)) {
    const weight = peakToPeak(mean) ** 2;
    x += weight * channels[channel].x;
    y += weight * channels[channel].y;
    all += weight;
  }
  return all > 0 ? { x: x / all, y: y / all } : null;
}

export function scaleOf(values, from, to, least) {
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const room = Math.max(0.06 * (high - low), (least - (high - low)) / 2, 1);
  const [first, last] = [low - room, high + room];
  return { first, last, at: (value) => from + ((to - from) * (value - first)) / (last - first) };
}

export function makeProbe(state) {
  const { data } = state;
  const { channels, waveforms, units } = data;
  if (channels.length === 0) return el("p", { class: "note" }, "The positions of the channels are not known.");
  const x = scaleOf(channels.map((one) => one.x), probeLeft, probeWidth - probeRight, 40);
  const y = scaleOf(channels.map((one) => one.y), probeHeight - probeBottom, probeTop, 40);
  const side = Math.max(3, Math.min(10, 300 / Math.sqrt(channels.length) / 4));
  const contacts = channels.map((one) => svg("rect", { class: "contact", x: x.at(one.x) - side / 2, y: y.at(one.y) - side / 2, width: side, height: side },
    svg("title", {}, `channel ${one.number} at (${one.x}, ${one.y}) µm, shank ${one.shank}`)));
  const places = waveforms ? units.map((unit) => [unit, placeOfUnit(data, unit.number)]).filter(([, place]) => place) : [];
  const marks = new Map(places.map(([unit, place]) => [unit, svg("circle", { class: "unit", "data-number": unit.number, cx: x.at(place.x), cy: y.at(place.y), r: units.length > 60 ? 4 : 6, onclick: () => state.pick("unit", unit) },
    svg("title", {}, `unit ${unit.number}`))]));
  const name = svg("text", { class: "title name", "text-anchor": "start" });
  const picture = svg("svg", { viewBox: `0 0 ${probeWidth} ${probeHeight}`, class: "probe", role: "img", "aria-label": "Probe: contacts, and units where their peaks are. The table has the same units." },
    contacts, axesOf({ left: probeLeft, right: probeWidth - probeRight, top: probeTop, bottom: probeHeight - probeBottom },
      { title: "x (µm)", marks: axisMarks(x.first, x.last, 4).marks, at: x.at }, { title: "depth, y (µm)", marks: axisMarks(y.first, y.last, 8).marks, at: y.at }), [...marks.values()], name);

  state.listen((what) => {
    if (what !== "picked") return;
    const unit = state.now.picked;
    const around = new Set(waveforms ? waveforms.of(unit.number).map((one) => one.channel) : []);
    contacts.forEach((contact, i) => contact.classList.toggle("around", around.has(i)));
    for (const [one, mark] of marks) mark.classList.toggle("picked", one === unit);
    const mark = marks.get(unit);
    name.textContent = mark ? `unit ${unit.number}` : "";
    if (!mark) return;
    mark.parentNode.append(mark, name);
    const isRight = Number(mark.getAttribute("cx")) > 0.6 * probeWidth;
    name.setAttribute("x", Number(mark.getAttribute("cx")) + (isRight ? -10 : 10));
    name.setAttribute("y", Number(mark.getAttribute("cy")) + 4);
    name.setAttribute("text-anchor", isRight ? "end" : "start");
  });
  return el("div", { class: "frame" }, picture);
}
