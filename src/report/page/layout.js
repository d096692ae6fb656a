// Places of the units in the picture of the circuit: by springs from a circle, without chance, so that a page always
// looks the same.

const mostForSprings = 200;
const gravity = 2;

function onCircle(count) {
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    return { x: Math.cos(angle), y: Math.sin(angle) };
  });
}

// Units in the order in which edges lead to them, so that chains go round the circle.
function inOrderOfEdges(units, edges) {
  const next = new Map(units.map((unit) => [unit, []]));
  for (const { units: [from, to] } of edges) next.get(from).push(to);
  const reached = new Set(edges.map(({ units: [, to] }) => to));
  const ordered = new Set();
  const follow = (unit) => {
    const waiting = [unit];
    while (waiting.length) {
      const at = waiting.pop();
      if (ordered.has(at)) continue;
      ordered.add(at);
      waiting.push(...next.get(at));
    }
  };
  units.filter((unit) => !reached.has(unit)).forEach(follow);
  units.forEach(follow);
  return [...ordered];
}

// Units push each other away, edges pull, and all are drawn to the middle, so that parts without an edge stay close.
function relax(places, links, steps) {
  const ideal = 1.6 / Math.sqrt(places.length);
  for (let step = 0; step < steps; ++step) {
    const moves = places.map(({ x, y }) => ({ x: -gravity * x, y: -gravity * y }));
    const push = (i, j, force, dx, dy) => {
      moves[i].x += force * dx;
      moves[i].y += force * dy;
      moves[j].x -= force * dx;
      moves[j].y -= force * dy;
    };
    for (let i = 0; i < places.length; ++i)
      for (let j = 0; j < i; ++j) {
        const dx = places[i].x - places[j].x;
        const dy = places[i].y - places[j].y;
        push(i, j, (ideal * ideal) / (dx * dx + dy * dy + 1e-6), dx, dy);
      }
    for (const [i, j] of links) {
      const dx = places[i].x - places[j].x;
      const dy = places[i].y - places[j].y;
      push(i, j, -Math.hypot(dx, dy) / ideal, dx, dy);
    }
    const most = 0.1 * (1 - step / steps);
    places.forEach((place, i) => {
      const length = Math.hypot(moves[i].x, moves[i].y) || 1;
      place.x += (moves[i].x / length) * Math.min(length, most);
      place.y += (moves[i].y / length) * Math.min(length, most);
    });
  }
}

// Moves places that are closer than `least` apart, and back into the picture.
function separate(places, least) {
  const inside = (value) => Math.min(1, Math.max(0, value));
  for (let round = 0; round < 60; ++round)
    for (let i = 0; i < places.length; ++i)
      for (let j = 0; j < i; ++j) {
        const [a, b] = [places[i], places[j]];
        const distance = Math.hypot(a.x - b.x, a.y - b.y);
        if (distance >= least) continue;
        const away = (least - distance) / 2;
        const [dx, dy] = distance > 0 ? [(a.x - b.x) / distance, (a.y - b.y) / distance] : [1, 0];
        Object.assign(a, { x: inside(a.x + away * dx), y: inside(a.y + away * dy) });
        Object.assign(b, { x: inside(b.x - away * dx), y: inside(b.y - away * dy) });
      }
}

const unitsOf = (edges) => [...new Set(edges.flatMap((edge) => edge.units))].sort((a, b) => a - b);

// A function that maps values to 0 to 1; equal ones are in the middle.
function fractionIn(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return (value) => (high > low ? (value - low) / (high - low) : 0.5);
}

// The places of units on the probe, with deep ones at the bottom; `least` is the least distance between two. Null unless
// `places`, of all units in micrometres, has all that have an edge.
export function placesOnProbe(edges, places, least) {
  const units = unitsOf(edges);
  const [own, depths] = [places?.x_um, places?.y_um].map((column) => units.map((unit) => column?.[unit] ?? null));
  if (units.length === 0 || own.includes(null) || depths.includes(null)) return null;
  const [x, y] = [fractionIn(own), fractionIn(depths)];
  const found = units.map((_, i) => ({ x: x(own[i]), y: 1 - y(depths[i]) }));
  separate(found, least);
  return new Map(units.map((unit, i) => [unit, found[i]]));
}

// A map from unit to {x, y}, both from 0 to 1.
export function placesOf(edges) {
  const units = inOrderOfEdges(unitsOf(edges), edges);
  const places = onCircle(units.length);
  const index = new Map(units.map((unit, i) => [unit, i]));
  const links = edges.filter(({ units: [from, to] }) => from !== to).map((edge) => edge.units.map((unit) => index.get(unit)));
  if (units.length > 2 && units.length <= mostForSprings) relax(places, links, 150);
  // A few units are close together in the middle, not at the borders.
  const extent = Math.min(1, 0.25 + 0.06 * units.length);
  const range = (key) => {
    const values = places.map((place) => place[key]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return (value) => (high > low ? 0.5 + extent * ((value - low) / (high - low) - 0.5) : 0.5);
  };
  const [x, y] = [range("x"), range("y")];
  return new Map(units.map((unit, i) => [unit, { x: x(places[i].x), y: y(places[i].y) }]));
}
