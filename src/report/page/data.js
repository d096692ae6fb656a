// Reads the data of the page (docs/formats.md, "Data of pages").

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

// The spikes of each unit: `times` in microseconds, and `positions` among the spikes of all units.
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
  if (raw.format !== "spikeweave page" || raw.version !== 1)
    throw new Error("These data are of another version of spikeweave.");
  return raw;
}

// What the pages of all kinds of results have.
export function spikesOf(raw) {
  return {
    run: raw.run,
    names: raw.units,
    begin: raw.spikes.begin_us,
    end: Math.max(raw.spikes.end_us, raw.spikes.begin_us + 1),
    spikeCount: raw.spikes.number,
    trains: trainsOf(raw.spikes, raw.units.length),
  };
}
