// Reads the document of a result (docs/formats.md, "Document of a result").

export function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// The numbers of a list in base64 of LEB128. They may have more than 32 bits.
export function numbersOf(base64, count) {
  const bytes = bytesOf(base64);
  const numbers = new Float64Array(count);
  for (let i = 0, at = 0; at < bytes.length; ++i) {
    let byte = bytes[at++];
    let value = byte & 127;
    for (let unit = 128; byte >= 128; unit *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * unit;
    }
    numbers[i] = value;
  }
  return numbers;
}

// Nothing reaches from one epoch into another, so delays are measured where epochs are further apart than any delay.
export function apartTimes(times, epochs) {
  const gap = 1e10;
  let at = 0;
  return times.map((time) => {
    while (at + 1 < epochs.length && epochs[at + 1][0] <= time) ++at;
    return time + at * gap;
  });
}

// The spikes of each unit: `times` in microseconds, `apart` by which delays are measured, and `positions` among the
// spikes of all units.
function trainsOf(spikes, unitCount) {
  const times = numbersOf(spikes.steps_us, spikes.number);
  const units = numbersOf(spikes.units, spikes.number);
  const counts = new Uint32Array(unitCount);
  for (let i = 0, at = spikes.begin_us; i < times.length; ++i) {
    times[i] = at += times[i];
    ++counts[units[i]];
  }
  const trains = Array.from(counts, (count) => ({ times: new Float64Array(count), positions: new Uint32Array(count) }));
  counts.fill(0);
  for (let i = 0; i < times.length; ++i) {
    const train = trains[units[i]];
    const place = counts[units[i]]++;
    train.times[place] = times[i];
    train.positions[place] = i;
  }
  for (const train of trains) train.apart = spikes.epochs_us ? apartTimes(train.times, spikes.epochs_us) : train.times;
  return trains;
}

// The rows of a table that is given as columns, numbered from 1 unless a column has their numbers.
export function rowsOf(table, numbers) {
  const columns = Object.keys(table).filter((name) => Array.isArray(table[name]));
  return (table[columns[0]] ?? []).map((_, i) => {
    const row = {};
    for (const name of columns) row[name] = table[name][i];
    row.number = numbers ? table[numbers][i] : i + 1;
    return row;
  });
}

export function readDocument(text) {
  const raw = JSON.parse(text);
  if (raw.format !== "spikeweave result" || raw.version !== 2)
    throw new Error("These data are of another version of spikeweave.");
  return raw;
}

// The data of the pages of all kinds of results.
export function spikesOf(raw) {
  const { begin_us: begin, end_us: end, epochs_us: epochs, epoch_labels: labels } = raw.spikes;
  return {
    run: raw.run,
    names: raw.unit_names,
    begin,
    end: Math.max(end, begin + 1),
    spans: epochs,
    labels,
    // The observed time, in microseconds.
    observed: epochs ? epochs.reduce((sum, [from, to]) => sum + to - from, 0) : Math.max(end - begin, 1),
    spikeCount: raw.spikes.number,
    trains: trainsOf(raw.spikes, raw.unit_names.length),
  };
}
