// Reads the data of the page (docs/formats.md, "Data of pages").

export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Calls `take` with each number of a list in base64 of LEB128. Numbers may have more than 32 bits.
export function eachNumber(base64, take) {
  const bytes = bytesOf(base64);
  let value = 0;
  let unit = 1;
  let number = 0;
  for (const byte of bytes) {
    value += (byte & 127) * unit;
    unit *= 128;
    if (byte < 128) {
      take(value, number++);
      value = 0;
      unit = 1;
    }
  }
}

// The spikes of each unit: `times` in microseconds, and `positions` among the spikes of all units.
function trainsOf(spikes, unitCount) {
  const times = new Float64Array(spikes.number);
  const units = new Uint32Array(spikes.number);
  let at = spikes.begin_us;
  eachNumber(spikes.steps_us, (step, i) => { times[i] = at += step; });
  const counts = new Uint32Array(unitCount);
  eachNumber(spikes.units, (unit, i) => { ++counts[units[i] = unit]; });
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
