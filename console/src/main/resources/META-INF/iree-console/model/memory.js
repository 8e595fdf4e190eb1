// @ts-check
// Memory of a run: who had how much when, what became of a block, and what a map of it looks like at a time.
import { mostOverTime } from "./most.js";
import { firstIndex } from "./search.js";

/**
 * @typedef {{reservation: number, pool: string, slab: number, offset: number, length: number, consumer: string, function: string, reuse: string, start: number, end: number | null, death: Record<string, number>, releasedBehind?: Record<string, number>}} Reservation
 */

const POINTS = 400;
const MOST_USES = 2_000_000; // of pieces of a slab; the earliest beyond that are left out

/** @param {Reservation} each @param {string} by */
const groupOf = (each, by) => (by === "pool" ? each.pool : each.consumer === "" ? "no program" : each.consumer);

/**
 * Bytes over time, by program or pool: of each interval the moment at which most bytes are held.
 *
 * @param {Reservation[]} memory
 * @param {number} end
 * @param {string} by consumer or pool
 */
export function bytesOverTime(memory, end, by) {
  const times = Array.from({ length: POINTS + 1 }, (_, i) => (i * end) / POINTS);
  const names = [...new Set(memory.map((each) => groupOf(each, by)))];
  const indices = new Map(names.map((name, i) => [name, i]));
  const spans = memory.map((each) => ({ start: each.start, end: each.end, group: indices.get(groupOf(each, by)) ?? 0, amount: each.length }));
  const sums = mostOverTime(spans, times, names.length);
  return { times, series: names.map((name, i) => ({ name, ...sums[i] })) };
}

/**
 * Allocations and releases of a run of the laboratory, in the form of those of a recording.
 *
 * @param {any[]} events
 * @param {(id: string) => string} labelOf operations
 * @returns {Reservation[]}
 */
export function labMemory(events, labelOf) {
  const held = new Map();
  const all = [];
  for (const { tick, hw, buffer, units, slab, offset, reuse, frontier, op } of events) {
    const key = `${hw}/${buffer}`;
    if (units > 0) {
      const block = { reservation: all.length + 1, pool: String(hw), slab, offset, length: units, consumer: String(buffer), function: labelOf(String(op)), reuse, start: tick, end: null, death: frontier ?? {} };
      held.set(key, block);
      all.push(block);
    } else if (held.has(key)) {
      Object.assign(held.get(key), { end: tick, releasedBehind: frontier ?? {} });
    }
  }
  return all;
}

/**
 * The blocks of all slabs at a time, as the runtime describes them: the last users of all bytes that were used so far.
 *
 * @param {import("./schedule.js").Schedule} schedule
 * @param {number} time
 */
export function mapAt(schedule, time) {
  return {
    omitted: 0,
    slabs: slabsOf(schedule).map(({ pool, number, size, pieces }) => ({ pool, number, size, blocks: blocksOf(schedule, pieces, time) })),
  };
}

const known = new WeakMap(); // slabs by schedule

/** All slabs, cut where a user begins or ends; of each piece its users, the latest first. */
function slabsOf(schedule) {
  if (known.has(schedule)) return known.get(schedule);
  const slabs = new Map();
  for (const each of schedule.memory) {
    const key = `${each.pool}/${each.slab}`;
    if (!slabs.has(key)) slabs.set(key, { pool: each.pool, number: each.slab, size: schedule.memoryOf.get(each.pool) ?? 0, users: [] });
    const slab = slabs.get(key);
    slab.size = Math.max(slab.size, each.offset + each.length);
    slab.users.push(each);
  }
  const all = [...slabs.values()].map(({ pool, number, size, users }) => ({ pool, number, size, pieces: piecesOf(users, size) }));
  known.set(schedule, all);
  return all;
}

function piecesOf(users, size) {
  const cuts = [...new Set([0, size, ...users.flatMap((each) => [each.offset, each.offset + each.length])])].sort((a, b) => a - b);
  const pieces = cuts.slice(1).map((to, i) => ({ from: cuts[i], to, users: [] }));
  let left = MOST_USES;
  for (const user of [...users].sort((a, b) => b.start - a.start || b.reservation - a.reservation)) {
    const end = user.offset + user.length;
    for (let i = firstIndex(pieces.length, (at) => pieces[at].from >= user.offset); i < pieces.length && pieces[i].from < end && left > 0; i++, left--) {
      pieces[i].users.push(user);
    }
  }
  return pieces;
}

/** Who used which bytes last. */
function blocksOf(schedule, pieces, time) {
  const blocks = [];
  for (const { from, to, users } of pieces) {
    const user = users[firstIndex(users.length, (i) => users[i].start <= time)] ?? null;
    const last = blocks[blocks.length - 1];
    if (last && last.user === user) last.length += to - from;
    else blocks.push(block(schedule, user, from, to, time));
  }
  return blocks;
}

function block(schedule, user, from, to, time) {
  if (user === null) return { offset: from, length: to - from, state: "FRESH", tainted: false, death: [], user };
  const reserved = user.end === null || user.end > time;
  const frontier = Object.entries(reserved ? user.death : (user.releasedBehind ?? {}));
  const death = frontier.map(([queue, epoch]) => ({ queue, epoch, completed: schedule.reachedAt(queue, time) ?? 0 }));
  const over = death.every(({ epoch, completed }) => completed >= epoch);
  return { offset: from, length: to - from, state: reserved ? "RESERVED" : over ? "REUSABLE" : "DYING", tainted: false, death, user };
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
  UNUSED: "no earlier use of these bytes is recorded",
  COMPLETED: "its last users had completed",
  KNOWN_BEFORE: "this one runs after its last users",
  AFTER_WAIT: "the device waits for its last users",
};
