// Numbers and names as text, and elements of the page. Names come from files of strangers: they are only ever text.

const ghosts = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\uffff]/g;

// A name with what has no glyph of its own, or changes the direction of text, spelled out.
export function shownName(name) {
  return name.replace(ghosts, (letter) =>
    letter === "\ufffd" ? letter : `‹U+${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

const groups = new Intl.NumberFormat("en-US", { maximumFractionDigits: 20 });

export function grouped(value) {
  return groups.format(value);
}

const exponentDigits = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// A whole number as it is, any other with three significant digits: 12,345, 0.0123, 2.06·10⁻⁶⁷. Files have more digits.
export function shownNumber(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const rounded = Number.isInteger(value) && Math.abs(value) < 1e9 ? value : Number(value.toPrecision(digits));
  if (rounded === 0) return "0";
  if (Math.abs(rounded) >= 1e-3 && Math.abs(rounded) < 1e9) return grouped(rounded);
  const [mantissa, exponent] = rounded.toExponential().split("e");
  return `${mantissa}·10${exponent.replace("+", "").replace("-", "⁻").replace(/\d/g, (digit) => exponentDigits[digit])}`;
}

export function figureOrText(value) {
  return typeof value === "string" ? value : shownNumber(value);
}

// A figure of a test that counts cases by a formula: a p that hardly any number can hold is not 0.
export function testFigure(value, name = "p") {
  return typeof value === "number" && value < 1e-300 && /(^|_)[pq]$|^p_corrected$/.test(name) ? "< 10⁻³⁰⁰" : shownNumber(value);
}

// The number of rows. A page has only the first ones of a long table.
export function firstOf(shown, total) {
  return total > shown ? `the first ${grouped(shown)} of ${grouped(total)}` : grouped(total);
}

// A note on the rows that a page lacks; nothing if it has all. `what`: "episodes; episodes.tsv has all"
export function noteOnFirst(rows, total, what) {
  return total > rows.length ? [el("p", { class: "note" }, `The first ${grouped(rows.length)} of ${grouped(total)} ${what}.`)] : [];
}

// A delay as it is typed.
export function intervalText([low, high]) {
  return `${low}-${high}ms`;
}

// A time with as many decimals as steps of `step_us` need.
export function timeText(us, step_us) {
  const decimals = Math.min(6, Math.max(0, Math.ceil(6 - Math.log10(Math.max(1, step_us)))));
  return `${(us / 1e6).toFixed(decimals)} s`;
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat());
  return made;
}

// el("button", {onclick: f}, "Text", another): texts become text nodes, never markup.
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// A name stands apart from the text around it, whichever direction its letters have.
export function nameElement(name) {
  return el("bdi", {}, shownName(name));
}
