// @ts-check
// Memory of a recording: who had how much when, and what became of a block.

/**
 * @typedef {{reservation: number, pool: string, slab: number, offset: number, length: number, consumer: string, function: string, reuse: string, start: number, end: number | null, death: Record<string, number>, releasedBehind?: Record<string, number>}} Reservation
 */

const POINTS = 400;

/** @param {Reservation} each @param {string} by */
const groupOf = (each, by) => (by === "pool" ? each.pool : each.consumer === "" ? "no program" : each.consumer);

/**
 * Bytes over time, by program or pool.
 *
 * @param {Reservation[]} memory
 * @param {number} end
 * @param {string} by consumer or pool
 */
export function bytesOverTime(memory, end, by) {
  const times = Array.from({ length: POINTS + 1 }, (_, i) => (i * end) / POINTS);
  const groups = new Map();
  const at = (time) => Math.min(POINTS, Math.ceil((time / end) * POINTS));
  for (const each of memory) {
    const group = groupOf(each, by);
    if (!groups.has(group)) groups.set(group, new Array(POINTS + 2).fill(0));
    const changes = groups.get(group);
    changes[at(each.start)] += each.length;
    if (each.end !== null) changes[Math.max(at(each.start) + 1, at(each.end))] -= each.length; // brief ones show too
  }
  const series = [...groups].map(([name, changes]) => {
    let sum = 0;
    return { name, values: times.map((_, i) => (sum += changes[i])) };
  });
  return { times, series };
}

/** Those that are held at a time, the largest first. */
export function heldAt(memory, time) {
  return memory.filter((each) => each.start <= time && (each.end === null || each.end > time)).sort((a, b) => b.length - a.length);
}

const overlaps = (a, b) => a.pool === b.pool && a.slab === b.slab && a.offset < b.offset + b.length && b.offset < a.offset + a.length;

/** Who had the same bytes just before and just after. */
export function neighboursInTime(memory, block) {
  const others = memory.filter((each) => each !== block && overlaps(each, block));
  const before = others.filter((each) => each.end !== null && each.end <= block.start).sort((a, b) => b.end - a.end)[0] ?? null;
  const after = block.end === null ? null : (others.filter((each) => each.start >= block.end).sort((a, b) => a.start - b.start)[0] ?? null);
  return { before, after };
}

export const REUSE = {
  UNUSED: "nothing used these bytes before",
  COMPLETED: "its last users had completed",
  KNOWN_BEFORE: "this one runs after its last users",
  AFTER_WAIT: "the device waits for its last users",
};
