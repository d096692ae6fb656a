// Plays a series of recordings, or of windows of one: a position among them that moves.

import { el, shownName } from "./format.js";

const speeds = [0.01, 0.1, 0.25, 0.5, 1, 2, 5, 10, 100];

// `show(position)` is called with each new position, from 0 to the number of the last one. `secondsFrom(k)` is how long
// the way from one to the next takes at speed 1.
export function makePlayer(names, show, what = "recording", secondsFrom = () => 1) {
  const last = names.length - 1;
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  let position = 0;
  let before = null;  // the time of the frame before, while it plays

  const button = (id, text, label, act) => el("button", { type: "button", id, "aria-label": label, onclick: act }, text);
  const playButton = button("play", "Play", "Play", () => (before === null ? play() : pause()));
  const slider = el("input", { type: "range", id: "position", min: 0, max: last, step: "any", value: 0, "aria-label": `Number of the ${what}`, oninput: () => seek(Number(slider.value)) });
  const speed = el("select", { id: "speed" }, speeds.map((factor) => el("option", { value: factor, selected: factor === 1 }, `${factor}×`)));
  const where = el("output", { id: "recording", class: "where" });
  const keys = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
  slider.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    step(keys[event.key]);
  });

  function seek(to) {
    position = Math.max(0, Math.min(to, last));
    slider.value = position;
    const k = Math.round(position);
    where.textContent = `${shownName(names[k])} (${k + 1} of ${names.length})`;
    where.dataset.position = position;
    slider.setAttribute("aria-valuetext", where.textContent);
    show(still.matches ? k : position);
  }

  function pause() {
    before = null;
    playButton.textContent = "Play";
    playButton.setAttribute("aria-label", "Play");
  }

  function play() {
    if (position >= last) seek(0);
    playButton.textContent = "Pause";
    playButton.setAttribute("aria-label", "Pause");
    before = performance.now();
    requestAnimationFrame(move);
  }

  function move(now) {
    if (before === null) return;
    let seconds = (Math.max(0, now - before) / 1000) * Number(speed.value);
    let to = position;
    while (seconds > 0 && to < last) {
      const k = Math.floor(to);
      const left = (k + 1 - to) * secondsFrom(k);
      to = seconds < left ? to + seconds / secondsFrom(k) : k + 1;
      seconds -= left;
    }
    seek(to);
    before = Math.max(now, before);
    if (position >= last) pause();
    else requestAnimationFrame(move);
  }

  function step(by) {
    pause();
    seek(by > 0 ? Math.floor(position + 1e-9) + 1 : Math.ceil(position - 1e-9) - 1);
  }

  const element = el("p", { class: "controls" }, playButton, button("step-back", "◂", `The ${what} before`, () => step(-1)), slider,
    button("step-on", "▸", `The next ${what}`, () => step(1)), el("label", { for: "speed" }, "speed ", speed), where);
  return { element, seek, pause, position: () => position };
}
