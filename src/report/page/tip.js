// Describes the place under the pointer, beside it.

import { el } from "./format.js";

const tip = el("div", { id: "tip", hidden: true });

// `textAt(event)` returns the words, or nothing.
export function tellUnderPointer(element, textAt) {
  const hide = () => { tip.hidden = true; };
  element.addEventListener("pointermove", (event) => {
    const text = textAt(event);
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    if (!tip.isConnected) document.querySelector("main").append(tip);
    tip.style.left = `${Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  });
  element.addEventListener("pointerleave", hide);
}
