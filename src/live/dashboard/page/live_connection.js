// The WebSocket to the session, and the description that its frames refer to.

import { decodeFrame } from "./live_frames.js";

const pauseBeforeAgain = 2000;

// `onFrame(frame)`, `onDescription(description)`, `onState(text)`. After the end of the session nothing is asked any more.
export function connect({ onFrame, onDescription, onState }) {
  let known = { units: [], armed: [] };
  let isAsking = false;
  let hasEnded = false;

  async function describe() {
    if (isAsking) return;
    isAsking = true;
    try {
      const answer = await fetch("/session.json", { cache: "no-store" });
      if (answer.ok) {
        known = await answer.json();
        onDescription(known);
      }
    } catch {
      // The session has ended meanwhile; units without a name are shown by their numbers.
    } finally {
      isAsking = false;
    }
  }

  function open() {
    const socket = new WebSocket(`ws://${window.location.host}/frames`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => {
      const frame = decodeFrame(data);
      hasEnded = frame.has_ended;
      if (frame.units !== known.units.length || frame.armed !== known.armed.length || !known.version) describe();
      onFrame(frame);
      onState(hasEnded ? "The session has ended" : "The session is running");
    });
    socket.addEventListener("close", () => {
      if (hasEnded) return;
      onState("The connection to the session was lost");
      setTimeout(open, pauseBeforeAgain);
    });
  }

  open();
}
