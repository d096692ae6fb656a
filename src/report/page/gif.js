// Moving pictures in the format GIF 89a, of frames that differ little.

const colourCount = 256;
const unchanged = colourCount - 1;  // the colour that lets the frame before show
const codeSize = 8;

// Shades from paper to each colour: what drawing makes of them at the edges of shapes.
export function palette(paper, colours) {
  const shades = Math.floor((unchanged - 1) / colours.length);
  const mixed = colours.flatMap((colour) => Array.from({ length: shades }, (_, i) =>
    colour.map((value, part) => Math.round(paper[part] + ((value - paper[part]) * (i + 1)) / shades))));
  return [paper, ...mixed];
}

function nearest(table, r, g, b) {
  let best = 0;
  let least = Infinity;
  table.forEach((colour, i) => {
    const distance = (colour[0] - r) ** 2 + (colour[1] - g) ** 2 + (colour[2] - b) ** 2;
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}

// The codes of LZW, packed from the lowest bit on. `next` has the code of each code followed by a colour.
function compressed(pixels) {
  const [clear, end] = [1 << codeSize, (1 << codeSize) + 1];
  const next = new Uint16Array(4096 * colourCount);
  const bytes = [];
  let [held, bits, size, free] = [0, 0, codeSize + 1, end + 1];
  const put = (code) => {
    held |= code << bits;
    for (bits += size; bits >= 8; bits -= 8, held >>>= 8) bytes.push(held & 255);
  };
  put(clear);
  let code = pixels[0];
  for (let i = 1; i < pixels.length; ++i) {
    const place = code * colourCount + pixels[i];
    if (next[place]) {
      code = next[place];
      continue;
    }
    put(code);
    code = pixels[i];
    if (free < 4096) {
      next[place] = free++;
      if (free > 1 << size && size < 12) ++size;
    } else {
      put(clear);
      next.fill(0);
      [size, free] = [codeSize + 1, end + 1];
    }
  }
  put(code);
  put(end);
  if (bits > 0) bytes.push(held & 255);
  return bytes;
}

const two = (value) => [value & 255, value >> 8];

// Frames are added with `add(rgba, hundredths)`, the pixels and how long they are shown; `bytes()` is the file.
export function makeGif(width, height, table) {
  const parts = [Uint8Array.from([...new TextEncoder().encode("GIF89a"), ...two(width), ...two(height), 0xf7, 0, 0,
    ...Array.from({ length: colourCount }, (_, i) => table[i] ?? [0, 0, 0]).flat(),
    0x21, 0xff, 11, ...new TextEncoder().encode("NETSCAPE2.0"), 3, 1, 0, 0, 0])];
  const known = new Map();
  let before = null;

  function indices(rgba) {
    const words = new Uint32Array(rgba.buffer);
    return Uint8Array.from(words, (word) => {
      let index = known.get(word);
      if (index === undefined) known.set(word, index = nearest(table, word & 255, (word >> 8) & 255, (word >> 16) & 255));
      return index;
    });
  }

  // The smallest rectangle that has all pixels that changed.
  function changedPart(frame) {
    if (!before) return [0, 0, width, height];
    let [left, top, right, bottom] = [width, height, 0, 0];
    for (let y = 0, i = 0; y < height; ++y)
      for (let x = 0; x < width; ++x, ++i)
        if (frame[i] !== before[i]) [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x + 1), y + 1];
    return right === 0 ? [0, 0, 1, 1] : [left, top, right - left, bottom - top];
  }

  return {
    add(rgba, hundredths) {
      const frame = indices(rgba);
      const [left, top, w, h] = changedPart(frame);
      const part = new Uint8Array(w * h);
      for (let y = 0, i = 0; y < h; ++y)
        for (let x = 0; x < w; ++x, ++i) {
          const at = (top + y) * width + left + x;
          part[i] = before && before[at] === frame[at] ? unchanged : frame[at];
        }
      before = frame;
      const data = compressed(part);
      const blocks = [];
      for (let i = 0; i < data.length; i += 255) blocks.push(Math.min(255, data.length - i), ...data.slice(i, i + 255));
      parts.push(Uint8Array.from([0x21, 0xf9, 4, 0x05, ...two(hundredths), unchanged, 0,
        0x2c, ...two(left), ...two(top), ...two(w), ...two(h), 0, codeSize, ...blocks, 0]));
    },
    bytes: () => [...parts, Uint8Array.of(0x3b)],
  };
}
