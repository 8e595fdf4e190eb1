// @ts-check
// Sums over time for charts: of each interval the moment with the largest sum, so that spans one after the other are
// never added up.

/** @typedef {{start: number, end: number | null, group: number, amount: number}} Span from a time to another, or for good */

/**
 * The sums of all groups at the moment of each interval at which the sum over the groups is largest.
 *
 * @param {Span[]} spans
 * @param {number[]} times the ends of the intervals, the earliest first; the first interval has all before it
 * @param {number} groups how many there are
 * @returns {{values: number[], most: number}[]} by group: a value for each interval, and the largest sum of the group
 */
export function mostOverTime(spans, times, groups) {
  const sums = Array.from({ length: groups }, () => ({ values: new Array(times.length).fill(0), most: 0 }));
  const now = new Array(groups).fill(0);
  let total = 0;
  const changes = changesOf(spans);
  let next = 0;
  times.forEach((time, i) => {
    let held = [...now];
    let most = total;
    for (; next < changes.length && changes[next].time <= time; next++) {
      const { group, amount } = changes[next];
      now[group] += amount;
      total += amount;
      sums[group].most = Math.max(sums[group].most, now[group]);
      if (total > most) [most, held] = [total, [...now]];
    }
    sums.forEach((each, group) => (each.values[i] = held[group]));
  });
  return sums;
}

/** Begins and ends in order; at the same time ends come first, but for what ends as it begins. */
function changesOf(spans) {
  const changes = [];
  for (const { start, end, group, amount } of spans) {
    changes.push({ time: start, order: 1, group, amount });
    if (end !== null) changes.push({ time: end, order: end > start ? 0 : 2, group, amount: -amount });
  }
  return changes.sort((a, b) => a.time - b.time || a.order - b.order);
}
