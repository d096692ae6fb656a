// The picture of the spikes. A row in which several spikes share a column of pixels is darker there; in a crowded row
// they are counted by search at the columns' ends, so that the time to draw does not grow with the recording.

export function firstAtOrAfter(times, value, begin = 0) {
  let low = begin;
  let step = 1;
  for (; low + step < times.length && times[low + step] < value; step *= 2) low += step;
  let high = Math.min(times.length, low + step + 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const crowded = 12;  // spikes for each column

// Counts the spikes of a unit in each column of the time that is shown; returns how many there are.
export function countColumns(times, from, to, columns) {
  columns.fill(0);
  const begin = firstAtOrAfter(times, from);
  const end = firstAtOrAfter(times, to, begin);
  const scale = columns.length / (to - from);
  if (end - begin <= crowded * columns.length) {
    for (let i = begin; i < end; ++i) ++columns[Math.min(columns.length - 1, ((times[i] - from) * scale) | 0)];
  } else {
    let at = begin;
    for (let x = 0; x < columns.length; ++x) {
      const next = x + 1 === columns.length ? end : firstAtOrAfter(times, from + (x + 1) / scale, at);
      columns[x] = next - at;
      at = next;
    }
  }
  return end - begin;
}

// `ink` and `paper` are [red, green, blue]. One spike is easily seen, many are a full row of ink.
function shades(ink, paper) {
  const table = new Uint32Array(9);
  for (let count = 0; count < table.length; ++count) {
    const share = count === 0 ? 0 : 0.45 + 0.55 * (Math.log2(count) / Math.log2(table.length - 1));
    const [r, g, b] = ink.map((value, i) => Math.round(share * value + (1 - share) * paper[i]));
    table[count] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
  return table;
}

// Draws the trains in rows of equal height into the whole image. Few spikes are drawn wide, so that they can be seen.
export function drawSpikes(image, trains, from, to, ink, paper, pixelRatio) {
  const pixels = new Uint32Array(image.data.buffer);
  const table = shades(ink, paper);
  pixels.fill(table[0]);
  const columns = new Uint32Array(image.width);
  const rowHeight = image.height / Math.max(1, trains.length);
  let total = 0;
  trains.forEach((train, row) => {
    const count = countColumns(train.times, from, to, columns);
    total += count;
    if (count === 0) return;
    const top = Math.round(row * rowHeight + 0.12 * rowHeight);
    const bottom = Math.max(top + 1, Math.round((row + 1) * rowHeight - 0.12 * rowHeight));
    const thick = count < image.width / 20 ? Math.max(2, Math.round(1.5 * pixelRatio)) : 1;
    const begin = top * image.width;
    for (let x = 0; x < columns.length; ++x) {
      if (columns[x] === 0) continue;
      const shade = table[Math.min(columns[x], table.length - 1)];
      for (let i = x; i < Math.min(image.width, x + thick); ++i) pixels[begin + i] = shade;
    }
    for (let y = top + 1; y < Math.min(bottom, image.height); ++y) pixels.copyWithin(y * image.width, top * image.width, (top + 1) * image.width);
  });
  return total;
}
