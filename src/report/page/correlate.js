// Cross-correlograms and what chance gives them.

// Calls `take` with the lag of each pair of spikes with low < lag <= high.
function eachLag(from, to, low, high, sameUnit, take) {
  let first = 0;
  for (let i = 0; i < from.length; ++i) {
    while (first < to.length && to[first] - from[i] <= low) ++first;
    for (let j = first; j < to.length && to[j] - from[i] <= high; ++j)
      if (!sameUnit || i !== j) take(to[j] - from[i]);
  }
}

// Bin i counts lags in (low + i * width, low + (i + 1) * width].
export function correlogram(from, to, low, width, bins, sameUnit = false) {
  const counts = new Array(bins).fill(0);
  eachLag(from, to, low, low + bins * width, sameUnit, (lag) => { ++counts[Math.ceil((lag - low) / width) - 1]; });
  return counts;
}

// The correlogram expected if each spike of both units moves uniformly by up to `dither`: smoothed with a triangle.
export function smoothed(counts, width, dither) {
  const reach = Math.floor((2 * dither) / width);
  const weights = Array.from({ length: 2 * reach + 1 }, (_, k) => 1 - (Math.abs(k - reach) * width) / (2 * dither));
  const sum = weights.reduce((all, one) => all + one, 0);
  return counts.slice(reach, counts.length - reach).map((_, i) =>
    weights.reduce((all, weight, k) => all + weight * counts[i + k], 0) / sum);
}

// The counts below and above which a Poisson variable is with a probability of at most 2.5 % each.
export function poissonRange(mean) {
  if (mean > 200) return [mean - 1.96 * Math.sqrt(mean), mean + 1.96 * Math.sqrt(mean)];
  let probability = Math.exp(-mean);
  let below = probability;
  let low = -1;
  for (let count = 0; ; ++count) {
    if (low < 0 && below > 0.025) low = count;
    if (below >= 0.975) return [low, count];
    probability *= mean / (count + 1);
    below += probability;
  }
}
