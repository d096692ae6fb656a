// The state that all views share: the shown time and the picked row.

// The row with the least q, of those the one with the most units and the largest count; nothing if there are no rows.
export const leastQ = (rows) => [...rows].sort((a, b) => a.q - b.q || b.units.length - a.units.length || b.count - a.count)[0];

// `occurrencesOf` gives the times of the spikes of each occurrence of a row, in microseconds, one occurrence after another.
export function makeState(data, occurrencesOf) {
  const listeners = [];
  const state = { from: data.begin, to: data.end, picked: null, kind: null, occurrences: new Float64Array(0) };

  function tell(what) {
    for (const listener of listeners) listener(what);
  }

  return {
    data,
    now: state,
    listen(listener) { listeners.push(listener); },
    tell,

    // Shows [from, to), moved and cut to the recording, but at least a millisecond.
    show(from, to) {
      const length = Math.min(Math.max(to - from, 1000), Math.max(1000, data.end - data.begin));
      state.from = Math.max(data.begin, Math.min(from, data.end - length));
      state.to = state.from + length;
      tell("view");
    },

    // kind: what the row is, such as "episode", "edge" or "pair"
    pick(kind, row) {
      state.kind = kind;
      state.picked = row;
      state.occurrences = occurrencesOf(row);
      tell("picked");
    },

    occurrenceCount() {
      return state.picked ? state.occurrences.length / state.picked.units.length : 0;
    },
  };
}
