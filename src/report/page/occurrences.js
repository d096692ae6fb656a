// The occurrences of an episode: those of find_occurrences in the library, found in the same way.

function firstNode(train) {
  const own = Uint32Array.from(train.times, (_, i) => i);
  return { length: own.length, spikes: own, starts: own, previous: own };
}

// For each spike of a unit the latest survivor before it whose delay fits.
function nextNode(before, beforeTimes, times, [low, high]) {
  const spikes = new Uint32Array(times.length);
  const starts = new Uint32Array(times.length);
  const previous = new Uint32Array(times.length);
  let length = 0;
  let eligible = 0;
  for (let i = 0; i < times.length; ++i) {
    while (eligible < before.length && beforeTimes[before.spikes[eligible]] < times[i] - low) ++eligible;
    if (eligible === 0 || times[i] - beforeTimes[before.spikes[eligible - 1]] > high) continue;
    spikes[length] = i;
    starts[length] = before.starts[eligible - 1];
    previous[length++] = eligible - 1;
  }
  return { length, spikes, starts, previous };
}

function microseconds(intervals_ms) {
  return intervals_ms.map((ends) => ends.map((ms) => Math.round(1000 * ms)));
}

// The times of the spikes of each occurrence, one occurrence after another, in microseconds.
export function findOccurrences(trains, units, delays_ms, ties) {
  const delays = microseconds(delays_ms);
  const nodes = [firstNode(trains[units[0]])];
  for (let k = 1; k < units.length; ++k)
    nodes.push(nextNode(nodes[k - 1], trains[units[k - 1]].apart, trains[units[k]].apart, delays[k - 1]));
  const keys = (unit) => (ties === "order" ? trains[unit].positions : trains[unit].apart);
  const startKeys = keys(units[0]);
  const endKeys = keys(units[units.length - 1]);
  const last = nodes[nodes.length - 1];
  const found = [];
  let lastEnd = -Infinity;
  for (let i = 0; i < last.length; ++i) {
    if (startKeys[last.starts[i]] <= lastEnd) continue;
    lastEnd = endKeys[last.spikes[i]];
    const times = new Array(units.length);
    for (let k = units.length - 1, at = i; k >= 0; --k) {
      times[k] = trains[units[k]].times[nodes[k].spikes[at]];
      at = nodes[k].previous[at];
    }
    found.push(...times);
  }
  return Float64Array.from(found);
}
