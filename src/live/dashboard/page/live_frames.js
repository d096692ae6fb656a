// The frames of a running session (docs/formats.md), and what has come of it so far.

export function decodeFrame(buffer) {
  const bytes = new Uint8Array(buffer);
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== "SWD1") throw new Error("These frames are of another version of spikeweave.");
  const size = new DataView(buffer).getUint32(4, true);
  const frame = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)));
  return { ...frame, density: bytes.subarray(8 + size) };
}

const mostBytes = 64e6;
const mostDetections = 10000;
const mostPoints = 2000;

// Keeps the columns of the last minutes, whatever the page shows; frames that did not come leave gaps.
export function makeHistory() {
  let parts = [];
  let bytes = 0;
  const history = { epoch: 0, detections: [], counted: [], motion: [], windows: [], missed: 0, last: null };

  // The first frame of a connection has the last minute, of which some may be known.
  function addDensity({ first_column: first, columns, units, density }) {
    const known = parts.length ? Math.max(0, history.end() - first) : 0;
    if (columns <= known) return;
    const added = density.subarray(known * units);
    parts.push({ first: first + known, columns: columns - known, units, density: added });
    bytes += added.length;
    while (bytes > mostBytes) bytes -= parts.shift().density.length;
  }

  function addDetections(all) {
    const next = history.detections.length ? history.detections.at(-1).number + 1 : 0;
    for (const [number, armed, begin, end, suppressed, times] of all)
      if (number >= next) history.detections.push({ number, armed, begin, end, suppressed, times, epoch: history.epoch });
    if (history.detections.length > mostDetections) history.detections.splice(0, history.detections.length - mostDetections);
  }

  // Each step is a line, from its begin to the last frame.
  function addMotion({ first_column: first, columns, samples }) {
    const values = samples?.motion_um.map(([, displacement]) => displacement) ?? [];
    if (!values.length) return;
    const point = { column: first + columns, values };
    const [last, before] = [history.motion.at(-1), history.motion.at(-2)];
    if (last && !values.every((value, i) => value === last.values[i])) history.motion.push({ column: point.column, values: last.values });
    else if (last && before?.values === last.values) history.motion.pop();
    history.motion.push(last && values.every((value, i) => value === last.values[i]) ? { column: point.column, values: last.values } : point);
    if (history.motion.length > mostPoints) history.motion.splice(0, history.motion.length - mostPoints);
  }

  return Object.assign(history, {
    add(frame) {
      if (history.last) history.missed += frame.frame - history.last.frame - 1;
      if (frame.epoch !== history.epoch) {
        parts = [];
        bytes = 0;
        history.counted = [];
        history.motion = [];
      }
      history.epoch = frame.epoch;
      addDensity(frame);
      addDetections(frame.detections);
      const { counted, window } = frame;
      const lastCounted = history.counted.at(-1)?.t_us[1] ?? -Infinity;
      const points = counted.filter((one) => one.t_us[1] > lastCounted).map((one) => ({ ...one, threshold: window?.threshold ?? null }));
      if (points.length) history.counted = [...history.counted, ...points].slice(-mostPoints);
      addMotion(frame);
      const before = history.windows.at(-1);
      if (window && !window.is_skipped && (window.window !== before?.window || window.epoch !== before.epoch))
        history.windows = [...history.windows.slice(-1), window];
      history.last = frame;
    },
    begin: () => parts[0]?.first ?? 0,
    end: () => (parts.length ? parts.at(-1).first + parts.at(-1).columns : 0),
    // Calls use(column, unit, count) for each unit that fired in a column of [from, to).
    visit(from, to, use) {
      for (const { first, columns, units, density } of parts) {
        if (first >= to || first + columns <= from) continue;
        for (let column = Math.max(from, first); column < Math.min(to, first + columns); ++column) {
          const at = (column - first) * units;
          for (let unit = 0; unit < units; ++unit) if (density[at + unit]) use(column, unit, density[at + unit]);
        }
      }
    },
  });
}
