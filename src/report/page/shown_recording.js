// The recording of several that is shown.

import { makeState } from "./state.js";

// The raster shows one of the recordings, always the same part of each.
// `occurrencesIn(recording, row)` gives the times of the spikes of each occurrence there.
export function makeShown(data, occurrencesIn) {
  const shown = { ...data, ...data.recordings[0] };
  const state = makeState(shown, (row) => occurrencesIn(shown, row));
  const recording = { number: 0 };
  function showRecording(k) {
    if (k === recording.number) return;
    const [from, to] = [state.now.from - shown.begin, state.now.to - shown.begin];
    const isWhole = state.now.from === shown.begin && state.now.to === shown.end;
    recording.number = k;
    Object.assign(shown, data.recordings[k]);
    if (isWhole) state.show(shown.begin, shown.end);
    else state.show(shown.begin + from, shown.begin + to);
    state.tell("recording");
    if (state.now.picked) state.pick(state.now.kind, state.now.picked);
  }
  return { state, recording, showRecording };
}
