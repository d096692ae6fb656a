// Saves what is shown, as SVG, PNG and CSV.

import { el } from "./format.js";
import { graphSide } from "./graph.js";
import { isDrawing, pictureOf } from "./svg_context.js";

const drawnProperties = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "text-anchor"];
const coloursOfChanges = [["new", "--green"], ["stronger", "--blue"], ["weaker", "--violet"], ["gone", "--soft"]];
const [titleHeight, gap] = [34, 10];
const sharpness = 2;  // pixels of the PNG for each of the page

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
  const { width, height } = picture.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
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
async function drawScene(scene, canvas) {
  const { picture, raster, title } = scene();
  const image = await imageOf(picture);
  canvas.width = sharpness * (2 * graphSide + gap);
  canvas.height = sharpness * (titleHeight + graphSide);
  const context = canvas.getContext("2d");
  const style = getComputedStyle(picture);
  const colour = (name) => style.getPropertyValue(name).trim();
  context.setTransform(sharpness, 0, 0, sharpness, 0, 0);
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
}

function save(parts, type, name) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

const saveCanvas = (canvas, name) => canvas.toBlob((blob) => save([blob], "image/png", `${name}.png`));
const saveButton = (id, text, act) => el("button", { type: "button", id, onclick: act }, text);

// A picture that is in the page as the file that it was written to.
const fileInPage = "img[src^='data:image/svg+xml,']";
const textOfFile = ({ src }) => decodeURIComponent(src.slice(src.indexOf(",") + 1));

// A picture, or a canvas, on a canvas with the colour of the page, since theirs have none.
async function onPaper(shown) {
  const image = shown instanceof SVGElement ? await imageOf(shown) : shown;
  const times = shown instanceof HTMLCanvasElement ? 1 : sharpness;
  const copy = el("canvas", { width: times * image.width, height: times * image.height });
  const context = copy.getContext("2d");
  context.fillStyle = getComputedStyle(shown).getPropertyValue("--paper").trim();
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(image, 0, 0, copy.width, copy.height);
  return copy;
}

const numbersBehind = new WeakMap();

// `numbers()` returns the headings and the rows of what an element shows.
export function withNumbers(element, numbers) {
  numbersBehind.set(element, numbers);
  return element;
}

const quoted = (cell) => (/[",\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell ?? "");
const csvOf = ({ heads, rows }) => [heads, ...rows].map((row) => `${row.map(quoted).join(",")}\n`);

// Saves the first picture of a view, and the numbers of its first part that has any.
export function makeSaver(name, view) {
  const buttons = el("p", { class: "controls" });
  const button = (kind, act) => saveButton(`save-${name}-${kind.toLowerCase()}`, kind, act);
  function list() {
    const parts = [view, ...view.querySelectorAll("*")].filter((part) => part.checkVisibility());
    const shown = parts.find((part) => part.matches(`svg[role], canvas, ${fileInPage}`));
    const picture = parts.find((part) => part.matches(`svg[role], ${fileInPage}`) || isDrawing(part));
    const text = () => (picture.matches(fileInPage) ? textOfFile(picture) : isDrawing(picture) ? new XMLSerializer().serializeToString(pictureOf(picture)) : standalone(picture));
    const numbers = numbersBehind.get(parts.find((part) => numbersBehind.has(part)));
    const all = [picture && button("SVG", () => save([text()], "image/svg+xml", `${name}.svg`)),
      shown && button("PNG", async () => saveCanvas(await onPaper(shown), name)),
      numbers && button("CSV", () => save(csvOf(numbers()), "text/csv", `${name}.csv`))].filter(Boolean);
    buttons.replaceChildren(...(all.length > 0 ? all : ["There is nothing to save."]));
  }
  return el("details", { class: "save", id: `save-${name}`, ontoggle: list }, el("summary", { "aria-label": `Save ${name}` }, "Save"), buttons);
}

// `scene()` returns the picture, the canvas of the raster and the title.
export function makeExports(scene) {
  const canvas = el("canvas");

  async function saveImage() {
    await drawScene(scene, canvas);
    saveCanvas(canvas, "circuit");
  }

  return el("p", { class: "controls" },
    saveButton("save-svg", "Save SVG", () => save([standalone(scene().picture)], "image/svg+xml", "circuit.svg")),
    saveButton("save-png", "Save PNG", saveImage));
}
