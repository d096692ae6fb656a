// A context that makes an SVG picture of what is drawn, with what the views use of a canvas.

import { svg } from "./format.js";

const anchors = { left: "start", center: "middle", right: "end" };
const shifts = { top: "0.8em", middle: "0.35em" };
let clips = 0;

function svgContext(width, height) {
  const picture = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height });
  const groups = [picture];
  let line = "";
  let turn = "";
  let filled = null;  // the rectangles with one look that are drawn now
  const paths = [];
  const number = (value) => Number(value.toFixed(2));
  const add = (part) => {
    filled = null;
    groups.at(-1).append(part);
  };
  const rectangle = (x, y, w, h) => `M${number(x)},${number(y)}h${number(w)}v${number(h)}h${number(-w)}z`;
  const fillRect = (x, y, w, h) => {
    const look = { fill: context.fillStyle, opacity: context.globalAlpha };
    if (filled?.look.fill !== look.fill || filled.look.opacity !== look.opacity) {
      const path = svg("path", look);
      add(path);
      filled = { look, path, d: [] };
      paths.push(filled);
    }
    filled.d.push(rectangle(x, y, w, h));
  };
  const stroke = (d) => add(svg("path", { d, fill: "none", stroke: context.strokeStyle, "stroke-width": context.lineWidth, opacity: context.globalAlpha }));
  const context = {
    fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, globalAlpha: 1, font: "11px sans-serif", textAlign: "left", textBaseline: "alphabetic",
    isSvg: true,
    fillRect,
    strokeRect: (...box) => stroke(rectangle(...box)),
    beginPath() { line = ""; },
    moveTo(x, y) { line += `M${number(x)},${number(y)}`; },
    lineTo(x, y) { line += `L${number(x)},${number(y)}`; },
    rect(...box) { line += rectangle(...box); },
    stroke: () => line && stroke(line),
    fillText(text, x, y) {
      const part = svg("text", { x: number(x), y: number(y), dy: shifts[context.textBaseline], "text-anchor": anchors[context.textAlign], fill: context.fillStyle, ...(turn && { transform: turn }) }, text);
      part.style.font = context.font;
      add(part);
    },
    save() {
      const group = svg("g");
      add(group);
      groups.push(group);
    },
    clip() {
      const id = `clip-${++clips}`;
      groups.at(-1).append(svg("clipPath", { id }, svg("path", { d: line })));
      groups.at(-1).setAttribute("clip-path", `url(#${id})`);
    },
    restore() {
      filled = null;
      groups.pop();
    },
    setTransform() {},
    clearRect() {},
    translate(x, y) { turn += `translate(${number(x)} ${number(y)})`; },
    rotate(angle) { turn += `rotate(${number((180 * angle) / Math.PI)})`; },
    picture() {
      for (const { path, d } of paths) path.setAttribute("d", d.join(""));
      return picture;
    },
  };
  return context;
}

const drawings = new WeakMap();
let wanted = null;

// `draw()` draws the canvas again, with the context of `contextOf`.
export function withDrawing(canvas, draw) {
  drawings.set(canvas, draw);
  return canvas;
}

// In place of the context of a canvas one of a picture, while that is made.
export function contextOf(canvas, width, height) {
  if (wanted?.canvas !== canvas) return null;
  wanted.context = svgContext(width, height);
  return wanted.context;
}

export const isDrawing = (canvas) => drawings.has(canvas);

// A picture of the content of a canvas.
export function pictureOf(canvas) {
  wanted = { canvas };
  drawings.get(canvas)();
  const { context } = wanted;
  wanted = null;
  const picture = context.picture();
  picture.style.background = getComputedStyle(canvas).getPropertyValue("--paper").trim();
  return picture;
}
