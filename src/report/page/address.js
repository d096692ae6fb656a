// The picked item and the shown time in the address of the page, so that a view can be sent:
// #episode=12&from=1.25&to=1.45, of several recordings #recording=3&episode=12, of two units #unit=3&with=5

const pauseOfAddress = 200;  // milliseconds; browsers limit how often an address changes

// Follows what is picked among the rows of each kind, and the step that is shown, if there are `steps`: their name, how
// many there are, the number of the one shown, and how to go to another. Shows what the address says, if anything.
export function keepAddress(state, rowsOfKinds, steps) {
  const { now, data } = state;
  let waiting = null;

  function write() {
    waiting = null;
    const said = new URLSearchParams();
    if (steps) said.set(steps.name, steps.shown() + 1);
    if (now.picked && rowsOfKinds[now.kind]) said.set(now.kind, now.picked.number);
    if (state.other?.isChosen) said.set("with", state.other.unit.number);
    if (now.from > data.begin || now.to < data.end) for (const end of ["from", "to"]) said.set(end, now[end] / 1e6);
    history.replaceState(null, "", `#${said}`);
  }

  function restore() {
    const said = new URLSearchParams(location.hash.slice(1));
    const [kind, row] = Object.entries(rowsOfKinds).map(([name, rows]) => [name, rows.find((one) => String(one.number) === said.get(name))]).find(([, one]) => one) ?? [];
    const [from, to] = ["from", "to"].map((end) => 1e6 * Number(said.get(end) ?? NaN));
    const step = steps && Number(said.get(steps.name)) - 1;
    if (step >= 0 && step < steps.count) steps.go(Math.floor(step));
    if (row) state.pick(kind, row);
    const second = state.choose && rowsOfKinds.unit.find((one) => String(one.number) === said.get("with"));
    if (second) state.choose(second);
    if (from < to) state.show(from, to);
    else if (row) state.show(data.begin, data.end);
  }

  window.addEventListener("hashchange", restore);
  // In the frame of a notebook, the address is that of the notebook.
  if (location.protocol !== "about:") state.listen(() => { waiting ??= setTimeout(write, pauseOfAddress); });
  restore();
}
