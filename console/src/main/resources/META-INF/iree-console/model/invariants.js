// @ts-check
// What must hold in every run, checked here from what the server reported: by waits and signals alone, not by frontiers.
// A rule that could not fail says nothing: there is none of a run that was polled, and of a recording only what the recorder
// did not itself conclude from the rule.
// Each check belongs to a moment, and is made when the page first shows that moment or a later one.
import { ExpectedFrontiers } from "./expected.js";
import { firstIndex } from "./search.js";

/** @typedef {{at: number, id: string}} Finding */

/** A rule, with the operations that it is checked of, by the time at which it can be. */
class Rule {
  /** @type {Finding[]} of what was checked, the earliest first */
  findings = [];
  #checked = 0;

  /**
   * @param {string} name
   * @param {string} rule
   * @param {import("./schedule.js").Operation[]} operations
   * @param {(op: import("./schedule.js").Operation) => number} when
   * @param {(op: import("./schedule.js").Operation) => boolean | null} holds null when it cannot be known of this and all later ones
   */
  constructor(name, rule, operations, when, holds) {
    this.name = name;
    this.rule = rule;
    this.operations = operations.sort((a, b) => when(a) - when(b));
    this.times = Float64Array.from(this.operations, when);
    this.holds = holds;
  }

  /** What is known at a time. */
  at(time) {
    const until = firstIndex(this.times.length, (i) => this.times[i] > time);
    while (this.#checked < Math.min(until, this.times.length)) {
      const op = this.operations[this.#checked];
      const holds = this.holds(op);
      if (holds === null) this.times = this.times.slice(0, this.#checked);
      else if (!holds) this.findings.push({ at: this.times[this.#checked], id: op.id });
      if (holds !== null) this.#checked++;
    }
    return {
      name: this.name,
      rule: this.rule,
      checked: Math.min(until, this.times.length),
      of: this.times.length,
      broken: this.findings.slice(0, firstIndex(this.findings.length, (i) => this.findings[i].at > time)).map((each) => each.id),
    };
  }
}

export class Invariants {
  /**
   * @param {import("./schedule.js").Schedule} schedule
   * @param {import("./faults.js").Fault[]} faults those of the run
   */
  constructor(schedule, faults) {
    const { operations, events } = schedule;
    const started = events.filter((each) => each.kind === "start").map((each) => each.op);
    const ended = events.filter((each) => each.kind !== "start").map((each) => each.op);
    const starts = (op) => op.start;
    const ends = (op) => op.end;
    this.rules = schedule.isPolled ? [] : schedule.isRecording ? recordedRules(ended) : [
      new Rule("Never optimistic", "No operation starts before all it waits for has ended.", started, starts, (op) => op.before.every((each) => each.end >= 0 && each.end <= op.start)),
      exactFrontiers(schedule, started),
      new Rule("Nothing hangs", "Every operation ends or fails.", [...ended, ...operations.filter((op) => op.end < 0)], (op) => (op.end >= 0 ? op.end : schedule.finalTick), (op) => op.end >= 0 || op.failure !== ""),
      new Rule("Failures where they belong", "An operation fails if a fault hits it, or one that it follows; otherwise it ends well.", ended, ends, (op) => belongs(schedule, op, faults)),
    ];
    /** What the laboratory checked on the scheduler itself. */
    this.violations = schedule.violations;
  }

  /** What is known at a time: for each rule how many checks were made, of how many, and what breaks it. */
  at(time) {
    const known = this.rules.map((each) => each.at(time));
    if (this.violations.length > 0) {
      known.push({ name: "Checks of the laboratory", rule: "What it checks on the scheduler itself.", checked: 1, of: 1, broken: this.violations });
    }
    return known;
  }
}

/**
 * The rule that a recording can break. The recorder takes an operation to have begun when all it waits for had ended, and
 * to have ended before what follows it: so nothing starts early, and a frontier names no signaller of a wait that ends later.
 * What is in flight at the end may end after it, and why an operation failed is not recorded.
 */
function recordedRules(ended) {
  const followed = ended.filter((op) => op.failure === "" && op.before.length > 0);
  if (followed.length === 0) return [];
  return [new Rule("Failures are passed on", "An operation that ended well follows none that failed.", followed, (op) => op.end, (op) => op.before.every((each) => each.failure === ""))];
}

function exactFrontiers(schedule, started) {
  const expected = new ExpectedFrontiers(schedule);
  // Memory that is reused brings its last users into the past, which no wait names.
  const least = schedule.memory.length > 0;
  return new Rule(
    "Frontiers are exact",
    least
      ? "Each operation’s frontier has what it signals and what happens before it; reused memory may add to it."
      : "Each operation’s frontier is what it signals and what happens before it, no more and no less.",
    started.filter((op) => !op.tainted && op.hasFrontier && expected.has(op)),
    (op) => op.start,
    (op) => expected.holds(op, least),
  );
}

/** Whether an operation ended as it should: well, or because of a fault or of one that it follows. */
function belongs(schedule, op, faults) {
  const follows = op.before.some((each) => each.failure !== "");
  if (op.failure === "") return !follows && !op.hit && !faults.some((each) => each.mustHit(schedule, op));
  if (follows || schedule.collateral.has(op.id)) return true;
  // Memory that nothing will free any more needs no fault.
  return op.hit && (op.failure.includes("RESOURCE_EXHAUSTED") || faults.some((each) => each.mayHit(schedule, op)));
}
