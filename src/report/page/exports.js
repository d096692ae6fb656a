// Saves what is shown: as SVG, as PNG, and a series as a GIF that moves.

import { el } from "./format.js";
import { makeGif, palette } from "./gif.js";
import { graphSide } from "./graph.js";

const drawnProperties = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "text-anchor"];
const coloursOfChanges = [["new", "--green"], ["stronger", "--blue"], ["weaker", "--violet"], ["gone", "--soft"]];
const [titleHeight, gap] = [34, 10];
// Frames from one recording to the next, and at most in all; hundredths of a second.
const [stepsBetween, mostSteps, stepTime, restTime] = [10, 300, 8, 150];

// A picture of the page as a file of its own, which has the styles of the page in it.
function standalone(picture) {
  const copy = picture.cloneNode(true);
  const style = getComputedStyle(picture);
  const originals = picture.querySelectorAll("*");
  const hidden = [];
  copy.querySelectorAll("*").forEach((part, i) => {
    const shown = getComputedStyle(originals[i]);
    if (shown.display === "none" || part.classList.contains("target")) hidden.push(part);
    for (const name of drawnProperties) part.style.setProperty(name, shown.getPropertyValue(name));
    for (const name of ["tabindex", "role", "aria-label", "aria-pressed", "class"]) part.removeAttribute(name);
  });
  hidden.forEach((part) => part.remove());
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", graphSide);
  copy.setAttribute("height", graphSide);
  copy.style.setProperty("background", style.getPropertyValue("--paper").trim());
  return new XMLSerializer().serializeToString(copy);
}

async function imageOf(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(picture))}`;
  await image.decode();
  return image;
}

// The title with what the colours mean, the circuit, and the raster beside it, on a canvas of their own.
async function drawn(scene, canvas, ratio) {
  const { picture, raster, title } = scene();
  const image = await imageOf(picture);
  canvas.width = ratio * (2 * graphSide + gap);
  canvas.height = ratio * (titleHeight + graphSide);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const style = getComputedStyle(picture);
  const colour = (name) => style.getPropertyValue(name).trim();
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colour("--paper");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colour("--text");
  context.font = `600 17px ${style.fontFamily}`;
  context.fillText(title, gap, 23, graphSide / 2);
  context.font = `13px ${style.fontFamily}`;
  let x = graphSide;
  for (const [kind, name] of coloursOfChanges.toReversed()) {
    x -= context.measureText(kind).width + gap;
    context.fillStyle = colour(name);
    context.fillText(kind, x, 22);
  }
  context.drawImage(image, 0, titleHeight, graphSide, graphSide);
  const scale = graphSide / Math.max(raster.width, raster.height);
  context.drawImage(raster, graphSide + gap, titleHeight, scale * raster.width, scale * raster.height);
  return context;
}

const twoFrames = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });

function coloursOfPage(element) {
  const style = getComputedStyle(element);
  const rgb = (name) => [1, 3, 5].map((at) => parseInt(style.getPropertyValue(name).trim().slice(at, at + 2), 16));
  return palette(rgb("--paper"), ["--text", "--mark", "--blue", "--green", "--violet", "--soft", "--shade", "--panel"].map(rgb));
}

function save(parts, type, name) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// `scene()` gives the picture, the canvas of the raster and the title; `player` shows other recordings of `count`.
export function makeExports(scene, player, count) {
  const canvas = el("canvas");
  const button = (id, text, act) => el("button", { type: "button", id, onclick: act }, text);
  const status = el("span", { class: "status", role: "status" });

  async function saveImage() {
    await drawn(scene, canvas, 2);
    canvas.toBlob((blob) => save([blob], "image/png", "circuit.png"));
  }

  async function saveMovie() {
    player.pause();
    const at = player.position();
    const steps = Math.min(stepsBetween * (count - 1), mostSteps);
    let gif = null;
    movie.disabled = true;
    for (let step = 0; step <= steps; ++step) {
      status.textContent = `drawing ${step + 1} of ${steps + 1} pictures`;
      player.seek(steps > 0 ? (step * (count - 1)) / steps : 0);
      await twoFrames();
      const context = await drawn(scene, canvas, 1);
      gif ??= makeGif(canvas.width, canvas.height, coloursOfPage(scene().picture));
      const rests = steps < mostSteps && step % stepsBetween === 0;
      gif.add(context.getImageData(0, 0, canvas.width, canvas.height).data, rests ? restTime : stepTime);
    }
    save(gif.bytes(), "image/gif", "series.gif");
    player.seek(at);
    status.textContent = "";
    movie.disabled = false;
  }

  const movie = button("save-gif", "Save GIF", saveMovie);
  return el("p", { class: "controls" },
    button("save-svg", "Save SVG", () => save([standalone(scene().picture)], "image/svg+xml", "circuit.svg")),
    button("save-png", "Save PNG", saveImage), movie, status);
}
