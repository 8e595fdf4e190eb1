// @ts-check
// Where the time of calls went, as the flight recorder explains it: operations with the parts of their times, calls,
// and the problems. Nothing is computed here that the recorder can say.
import { mostOverTime } from "./most.js";
import { problemsOf } from "./problems.js";
import { firstIndex } from "./search.js";

/** What an operation does, in this order; a call is also on the host, while none of its operations is under way. */
export const PARTS = [
  { key: "waiting", label: "waiting" },
  { key: "memory", label: "for memory" },
  { key: "queued", label: "in its queue" },
  { key: "running", label: "running" },
  { key: "host", label: "on the host" },
  { key: "unknown", label: "not known" },
];

const FORMAT = "iree4j trace 1";
const FEW = 100; // of fewer calls there is no 99th percentile
const MOST = { operations: 100_000, names: 100_000, text: 10_000, remark: 300, tracks: 200, rows: 64 };
const ENDED = 0;
const MISSING = -1; // for the number of an operation without records
const OPEN = 1; // otherwise the end is not known: the records are missing
/** What is known of a dispatch; the first three have times. */
const STATES = ["", "failed", "stopped before its end", "not run", "not ended", "the device does not report its time", "not known: records are missing"];
const TIMED = 3;
const DISPATCHES = ["operation", "export", "x", "y", "z", "begin", "duration", "workers", "state"];
const REASONS = ["when it was submitted", "after a signal", "behind another in its queue", "when there was memory"];

/** Whether a parsed text is a trace. */
export const isTrace = (given) => given?.format === FORMAT;

/** @typedef {{number: number, name: string, queue: string, thread: number, call: number, function: string, start: number, parts: number[], end: number, hasEnded: boolean, isOpen: boolean, after: Operation | null, unseen: string, ready: number, reason: string, remark: string, row: number, dispatches: Dispatch[]}} Operation */
/** @typedef {{export: string, workgroups: string, begin: number, duration: number, share: number | null, workers: number, isTimed: boolean, state: string}} Dispatch */
/** @typedef {{number: number, function: string, start: number, end: number, parts: number[], hasEnded: boolean, isOpen: boolean, beganBefore: boolean, operations: Operation[]}} Call */

export class Trace {
  /**
   * @param {any} given as the recorder writes it
   * @throws {Error} naming what is wrong with it
   */
  constructor(given) {
    const names = texts(given.names, "names");
    const named = (index) => names[index] ?? "";
    const ops = columns(given.operations, "operations", ["number", "name", "queue", "thread", "call", "function", "submitted", "waiting", "memory", "queued", "running", "ended", "known", "after", "ready", "reason"]);
    const calls = columns(given.calls, "calls", ["number", "function", "begin", "end", "waiting", "memory", "queued", "running", "host", "unknown", "ended"]);
    this.start = String(given.start ?? "");
    this.caveat = String(given.caveat ?? "");
    this.leftOut = Number(given.leftOut ?? 0);
    this.openLeftOut = Number(given.openLeftOut ?? 0); // of these
    this.problems = problemsOf(given.problems);
    const until = Number(given.until ?? 0); // when the recording was taken
    const remarks = given.remarks ?? {};
    /** @type {Operation[]} in the order of submission */
    this.operations = ops.number.map((number, i) => {
      const parts = [ops.waiting[i], ops.memory[i], ops.queued[i], ops.running[i]];
      const hasEnded = ops.ended[i] === ENDED;
      const isOpen = ops.ended[i] === OPEN;
      const start = ops.submitted[i];
      const end = hasEnded ? start + sum(parts) : isOpen ? until : ops.known[i];
      return {
        number, name: named(ops.name[i]), queue: named(ops.queue[i]), thread: ops.thread[i], call: ops.call[i], function: named(ops.function[i]),
        start, parts, end: Math.max(start, end), hasEnded, isOpen, after: null, unseen: "", ready: ops.ready[i],
        reason: REASONS[ops.reason[i]] ?? "", remark: String(remarks[number] ?? "").slice(0, MOST.remark), row: 0, dispatches: [],
      };
    });
    this.byNumber = new Map(this.operations.map((op) => [op.number, op]));
    ops.after.forEach((number, i) => {
      const op = this.operations[i];
      op.after = this.byNumber.get(number) ?? null;
      op.unseen = op.after !== null || number === 0 ? "" : number === MISSING ? "an operation whose records are missing" : `operation #${number}, left out`;
    });
    if (given.dispatches) this.#readDispatches(columns(given.dispatches, "dispatches", DISPATCHES), named);
    const ofCalls = Map.groupBy(this.operations, (op) => op.call);
    /** @type {Call[]} */
    this.calls = calls.number.map((number, i) => ({
      number, function: named(calls.function[i]), start: calls.begin[i], end: calls.end[i],
      parts: PARTS.map(({ key }) => calls[key][i]), hasEnded: calls.ended[i] === ENDED, isOpen: calls.ended[i] === OPEN, beganBefore: given.calls.before?.[i] === ENDED, operations: ofCalls.get(number) ?? [],
    }));
    this.callByNumber = new Map(this.calls.map((call) => [call.number, call]));
    // What hangs may have been submitted long before; it is drawn from the beginning.
    const ended = this.operations.filter((op) => op.hasEnded);
    this.from = this.operations.length === 0 ? 0 : least(ended.length > 0 ? ended : this.operations, (op) => op.start);
    this.to = Math.max(this.from + 1, until, most(this.operations, (op) => op.end));
  }

  /** Gives the sampled operations their dispatches. */
  #readDispatches(all, named) {
    all.operation.forEach((number, i) => {
      const op = this.byNumber.get(number);
      const isTimed = all.state[i] < TIMED;
      const running = op?.parts[3] ?? 0;
      op?.dispatches.push({
        export: named(all.export[i]), workgroups: all.x[i] < 0 ? "counts in a buffer" : `${all.x[i]}×${all.y[i]}×${all.z[i]}`, begin: all.begin[i], duration: all.duration[i],
        share: isTimed && running > 0 ? all.duration[i] / running : null, workers: all.workers[i], isTimed, state: STATES[all.state[i]] ?? STATES[STATES.length - 1],
      });
    });
  }

  /**
   * The functions, those with the most time first, with the nearest ranks of the durations of their ended calls. The
   * duration of a call begun before the recording is not known.
   */
  get functions() {
    return [...Map.groupBy(this.calls, (call) => call.function)]
      .map(([name, all]) => {
        const sorted = all.filter((call) => call.hasEnded && !call.beganBefore).sort((a, b) => duration(a) - duration(b));
        const rank = (percent) => (sorted.length === 0 ? null : duration(sorted[Math.floor((sorted.length * percent + 99) / 100) - 1]));
        return { name, count: all.length, open: all.filter((call) => !call.hasEnded).length, before: all.filter((call) => call.beganBefore).length, p50: rank(50), p99: sorted.length < FEW ? null : rank(99), slowest: sorted.reverse(), parts: PARTS.map((_, i) => sorted.reduce((total, call) => total + call.parts[i], 0)) };
      })
      .sort((a, b) => sum(b.parts) - sum(a.parts));
  }

  /**
   * Operations by queue, thread or function; operations of a track that overlap are in rows below one another.
   *
   * @param {"queue" | "thread" | "function"} by
   */
  tracks(by) {
    const label = { queue: (op) => op.queue, thread: (op) => (op.thread === 0 ? "unknown thread" : `thread ${op.thread}`), function: (op) => op.function || "no call" }[by];
    const all = [...Map.groupBy(this.operations, label)].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
    const others = all.splice(MOST.tracks).flatMap(([, operations]) => operations);
    if (others.length > 0) all.push(["others", others]);
    return all
      .map(([name, all]) => {
        const operations = all.toSorted((a, b) => a.start - b.start || a.number - b.number);
        const ends = [];
        for (const op of operations) {
          let row = ends.findIndex((end) => end <= op.start);
          if (row < 0) row = ends.length < MOST.rows ? ends.length : ends.indexOf(Math.min(...ends));
          ends[row] = Math.max(op.end, op.start + 1);
          op.row = row;
        }
        return { name, operations, rows: Math.max(1, ends.length), longest: most(operations, (op) => op.end - op.start) };
      });
  }

  /**
   * The critical path of a call: operations of the call, each of which began after the one before, and as its first the
   * operation from outside the call after which the call's part of the path began.
   *
   * @param {Call} call
   * @returns {Operation[]}
   */
  pathOf(call) {
    const ended = call.operations.filter((op) => op.hasEnded && op.reason !== "");
    const path = new Set();
    let op = ended.reduce((last, each) => (last === null || each.end > last.end ? each : last), /** @type {Operation | null} */ (null));
    while (op !== null && !path.has(op)) {
      path.add(op);
      op = op.call === call.number ? op.after : null;
    }
    return [...path].reverse();
  }

  /** Whether a text, in small letters, is in a name of an operation; a number is the number of an operation or of its call. */
  static matches(op, text) {
    if (/^#?\d+$/.test(text)) return op.number === Number(text.replace("#", "")) || (!text.startsWith("#") && op.call === Number(text));
    return [op.name, op.function, op.queue, op.remark].some((each) => each.toLowerCase().includes(text));
  }

  /** What happened within a span: the operations under way, and how long they did what, all together. */
  measure(from, to) {
    const parts = [0, 0, 0, 0];
    let operations = 0;
    for (const op of this.operations) {
      if (op.start >= to || op.end <= from) continue;
      operations++;
      let at = op.start;
      op.parts.forEach((part, i) => {
        parts[i] += Math.max(0, Math.min(to, at + part) - Math.max(from, at));
        at += part;
      });
    }
    return { duration: to - from, operations, parts };
  }

  /** The most operations that run at once, in each of so many slices of the whole. */
  running(slices) {
    const times = Array.from({ length: slices }, (_, i) => this.from + ((i + 1) * (this.to - this.from)) / slices);
    const running = this.operations.filter((op) => op.parts[3] > 0 && op.end > this.from);
    const spans = running.map((op) => ({ start: Math.max(this.from, op.end - op.parts[3]), end: op.end, group: 0, amount: 1 }));
    return mostOverTime(spans, times, 1)[0].values;
  }

  /** The first operation of a track that may be in sight from a time on. */
  static firstOf(track, from) {
    return firstIndex(track.operations.length, (i) => track.operations[i].start >= from - track.longest);
  }
}

/** @param {{start: number, end: number}} call */
export const duration = (call) => call.end - call.start;

const sum = (all) => all.reduce((total, each) => total + each, 0);

const most = (all, of) => all.reduce((found, each) => Math.max(found, of(each)), -Infinity);

const least = (all, of) => all.reduce((found, each) => Math.min(found, of(each)), Infinity);

function texts(given, what) {
  if (!Array.isArray(given) || given.length > MOST.names) throw new Error(`'${what}' is not a list of at most ${MOST.names} texts`);
  given.forEach((each, i) => {
    if (typeof each !== "string" || each.length > MOST.text) throw new Error(`element ${i + 1} of '${what}' is not a text of at most ${MOST.text} characters`);
  });
  return given;
}

/** Columns of whole numbers, all of one length. */
function columns(given, what, keys) {
  if (typeof given !== "object" || given === null) throw new Error(`'${what}' is not an object`);
  const rows = given[keys[0]]?.length;
  if (!(rows <= MOST.operations)) throw new Error(`'${what}' has ${rows} rows, and at most ${MOST.operations} are shown`);
  for (const key of keys) {
    const column = given[key];
    if (!Array.isArray(column) || column.length !== rows) throw new Error(`column '${key}' of '${what}' does not have ${rows} elements`);
    const wrong = column.findIndex((each) => !Number.isSafeInteger(each));
    if (wrong >= 0) throw new Error(`element ${wrong + 1} of column '${key}' of '${what}' is ${String(column[wrong]).slice(0, 60)}, not a whole number`);
  }
  return given;
}
