// Views that take long to draw: one that is on the screen is drawn before the next frame, and the others when the browser
// has nothing else to do, so that a page opens with what is seen first.

const due = new Set();
const whenIdle = window.requestIdleCallback ?? ((act) => setTimeout(act, 50));

// Returns a function that asks for `draw`, which fills the element. What is asked for again before it is drawn is drawn once.
export function drawnInTurn(element, draw) {
  let isSeen = false;
  const now = () => {
    if (due.delete(now)) draw();
  };
  new IntersectionObserver((changes) => {
    isSeen = changes.at(-1).isIntersecting;
    if (isSeen) now();
  }).observe(element);
  return () => {
    due.add(now);
    if (isSeen) requestAnimationFrame(now);
    else whenIdle(now);
  };
}

// Draws what is due, such as before the page is printed.
export function drawAll() {
  for (const draw of [...due]) draw();
}
