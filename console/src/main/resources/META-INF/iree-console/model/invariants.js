// @ts-check
// What must hold in every run, checked here from what the server reported: by waits and signals alone, not by frontiers.
// Each check belongs to a moment, so that the page can show what has been checked up to the time that it shows.
import { firstIndex } from "./search.js";

const ENTRIES = 2_000_000; // of frontiers that are computed here at most

/**
 * @typedef {{at: number, id: string}} Finding
 * @typedef {{name: string, rule: string, checks: number[], findings: Finding[]}} Rule
 */

export class Invariants {
  /**
   * @param {import("./schedule.js").Schedule} schedule
   * @param {import("./faults.js").Fault[]} faults those of the run
   */
  constructor(schedule, faults) {
    const { operations } = schedule;
    const started = operations.filter((op) => op.start >= 0);
    const ended = operations.filter((op) => op.end >= 0);
    const starts = (op) => op.start;
    const ends = (op) => op.end;
    const recorded = schedule.isRecording;
    /** @type {Rule[]} */
    this.rules = [
      check("Never optimistic", "No operation starts before all it waits for has ended.", started, starts, (op) => op.before.every((each) => each.end >= 0 && each.end <= op.start)),
      recorded
        ? check("Frontiers claim nothing too early", "What an operation’s frontier names has ended when the operation ends.", ended, ends, (op) => hasEnded(schedule, op))
        : exactFrontiers(schedule, started),
      // What a recording leaves in flight may have ended after it.
      check("Nothing hangs", "Every operation ends or fails.", recorded ? ended : operations, (op) => (op.end >= 0 ? op.end : schedule.finalTick), (op) => op.end >= 0 || op.failure !== ""),
      check("Failures where they belong", "An operation fails if a fault hits it, or one that it follows; otherwise it ends well.", ended, ends, (op) => belongs(schedule, op, faults)),
    ];
    if (schedule.violations.length > 0) {
      this.rules.push({ name: "Checks of the laboratory", rule: "What it checks on the scheduler itself.", checks: [0], findings: schedule.violations.map((id) => ({ at: 0, id })) });
    }
  }

  /** What is known at a time: for each rule how many checks were made, of how many, and what breaks it. */
  at(time) {
    return this.rules.map(({ name, rule, checks, findings }) => ({
      name,
      rule,
      checked: firstIndex(checks.length, (i) => checks[i] > time),
      of: checks.length,
      broken: findings.filter((each) => each.at <= time).map((each) => each.id),
    }));
  }
}

/** @returns {Rule} */
function check(name, rule, operations, when, holds) {
  return {
    name,
    rule,
    checks: operations.map(when).sort((a, b) => a - b),
    findings: operations.filter((op) => !holds(op)).map((op) => ({ at: when(op), id: op.id })),
  };
}

// Recorded frontiers leave out what had completed long before, and hold the order of queues besides that of waits. Memory
// that is reused adds what used it before, which no wait names.
function hasEnded(schedule, op) {
  return op.frontier.every(([name, value]) => {
    const producer = schedule.producerOf(name, value);
    return producer === null || producer === op || (producer.end >= 0 && producer.end <= op.end);
  });
}

/** @returns {Rule} */
function exactFrontiers(schedule, started) {
  const expected = expectedFrontiers(schedule);
  // Memory that is reused brings its last users into the past, which no wait names.
  const least = schedule.memory.length > 0;
  const checked = started.filter((op) => !op.tainted && op.hasFrontier && expected.has(op));
  return check(
    "Frontiers are exact",
    least
      ? "Each operation’s frontier has what it signals and what happens before it; reused memory may add to it."
      : "Each operation’s frontier is what it signals and what happens before it, no more and no less.",
    checked,
    (op) => op.start,
    (op) => {
      const own = new Map(op.frontier);
      const wanted = expected.get(op);
      return (least || own.size === wanted.size) && [...wanted].every(([name, value]) => (least ? (own.get(name) ?? 0) >= value : own.get(name) === value));
    },
  );
}

/** The values that happen before the end of each operation, predecessors first; without those in circles. */
function expectedFrontiers(schedule) {
  const expected = new Map();
  let left = ENTRIES;
  for (const op of inOrder(schedule.operations)) {
    const own = new Map();
    const raise = (name, value) => own.set(name, Math.max(value, own.get(name) ?? 0));
    for (const each of op.before) expected.get(each)?.forEach((value, name) => raise(name, value));
    op.signals.forEach(({ semaphore, value }) => raise(semaphore, value));
    left -= own.size;
    if (left < 0) break;
    expected.set(op, own);
  }
  return expected;
}

function inOrder(operations) {
  const missing = new Map(operations.map((op) => [op, op.before.length]));
  const ready = operations.filter((op) => op.before.length === 0);
  for (let i = 0; i < ready.length; i++) {
    for (const next of ready[i].after) {
      const left = missing.get(next) - 1;
      missing.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  return ready;
}

/** Whether an operation ended as it should: well, or because of a fault or of one that it follows. */
function belongs(schedule, op, faults) {
  const follows = op.before.some((each) => each.failure !== "");
  if (op.failure === "") return !follows && !op.hit && !faults.some((each) => each.mustHit(schedule, op));
  if (follows || schedule.collateral.has(op.id) || schedule.isRecording) return true;
  // Memory that nothing will free any more needs no fault.
  return op.hit && (op.failure.includes("RESOURCE_EXHAUSTED") || faults.some((each) => each.mayHit(schedule, op)));
}
