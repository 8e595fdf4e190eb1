// @ts-check
// What a scenario did: operations, their order, and the state of everything at any time. Computed once, then looked up.
import { decisionNamed } from "./decisions.js";
import { labMemory } from "./memory.js";
import { isolated } from "./names.js";
import { problemsOf } from "./problems.js";
import { firstIndex } from "./search.js";
import { eachValue, pairsOf } from "./values.js";

/**
 * A wait. What a recorder or a server says of it is `over` and `text`, as of the end of the run, `by`, an id, and `isLast`,
 * whether it was the last condition of all; without a word of them, the run itself is all there is to know.
 *
 * @typedef {{semaphore: string, value: number, producer: Operation | null, over?: string, by?: string, isLast?: boolean, text?: string}} Wait
 * @typedef {{semaphore: string, value: number}} Signal
 */

/** An operation of a run. What only the selected one shows is read when it is asked for. */
export class Operation {
  /** @param {any} op in the form of the laboratory @param {number} index @param {boolean} isRecorded */
  constructor(op, index, isRecorded = false) {
    this.given = op;
    this.isRecorded = isRecorded;
    this.index = index;
    this.id = String(op.id);
    /** For people; the id where none is given, as of everything with a label. */
    this.label = isolated(String(op.label ?? op.id));
    this.hardware = String(op.hw ?? "");
    this.hardwareLabel = isolated(this.hardware);
    /** Empty when it never ran. */
    this.lane = op.lane ? String(op.lane) : "";
    this.laneLabel = isolated(this.lane);
    /** -1 when it never ran. */
    this.start = Number(op.start ?? -1);
    /** -1 when it never ended. */
    this.end = Number(op.end ?? -1);
    /** @type {Wait[]} */
    this.waits = [];
    eachValue(op.wait, (semaphore, value) => this.waits.push({ semaphore, value, producer: null }));
    for (const { timeline, value, over, by, last, text } of op.knownWaits ?? []) {
      this.waits.push({ semaphore: String(timeline), value: Number(value), producer: null, over: String(over), by: String(by ?? ""), isLast: last === true, text: isolated(String(text ?? "")) });
    }
    /** Waits that are known to have been, and nothing else. */
    this.moreWaits = Number(op.moreWaits ?? 0);
    /** Whether memory held it back at the end of the run: YES, NO or UNKNOWN. */
    this.forMemory = String(op.forMemory ?? "NO");
    /** @type {Signal[]} */
    this.signals = [];
    eachValue(op.signal, (semaphore, value) => this.signals.push({ semaphore, value }));
    /** False when a large run has left it out. */
    this.hasFrontier = op.frontier !== null && op.frontier !== undefined;
    /** Whether a fault hit it. */
    this.hit = op.hit === true;
    this.tainted = Boolean(op.tainted);
    /** Empty when it ended well. */
    this.failure = op.failed === true ? "failed" : isolated(String(op.failure ?? op.failed ?? ""));
    /** Who submitted it. */
    this.note = String(op.note ?? "");
    /** @type {Operation[]} direct predecessors */
    this.before = [];
    /** @type {Operation[]} direct successors */
    this.after = [];
    /** Within its lane, for operations of one lane that overlap. */
    this.row = 0;
  }

  /** Values of timelines; of queues in a recording. */
  get frontier() {
    return pairsOf(this.given.frontier);
  }

  /** @param {(name: string, value: number) => void} visit takes each entry of the frontier */
  eachOfFrontier(visit) {
    eachValue(this.given.frontier, visit);
  }

  /** Epochs of queues. */
  get axes() {
    return pairsOf(this.given.entries);
  }

  get decision() {
    return describeDecision(this.given.decisions ?? this.given.decision);
  }
}

const MOST_STEPS = 2_000;

export class Schedule {
  /** @param {any} scenario in the form of the laboratory */
  constructor(scenario) {
    this.id = String(scenario.id ?? "scenario");
    this.label = isolated(String(scenario.label ?? this.id));
    this.description = String(scenario.description ?? "");
    this.unit = scenario.unit === "ns" ? "ns" : "tick";
    this.finalTick = Math.max(1, Number(scenario.finalTick ?? 1));
    /** Whether steps are events: a step for each of many ticks would lead nowhere. */
    this.isFine = this.unit === "ns" || this.finalTick > MOST_STEPS;
    this.annotations = (scenario.annotations ?? []).map((each) => ({ tick: Number(each.tick), text: String(each.text) }));
    this.violations = (scenario.violations ?? []).map(String);
    this.problems = problemsOf(scenario.problems);
    /** Whether it was recorded from a running system, or polled from one. */
    this.isRecording = scenario.isRecording === true;
    /** Whether it was polled: counters, and no times of single operations. */
    this.isPolled = scenario.isPolled === true;
    /** The machine that each class of hardware is on; empty for the one without a name. */
    this.machineOf = new Map((scenario.hardware ?? []).map((each) => [String(each.id), String(each.machine ?? "")]));
    this.labelOf = new Map((scenario.hardware ?? []).map((each) => [String(each.id), isolated(String(each.label ?? each.id))]));
    this.memoryOf = new Map((scenario.hardware ?? []).map((each) => [String(each.id), Number(each.memory ?? 0)]));
    this.queues = new Map((scenario.queues ?? []).map((each) => [String(each.id), each.ops ?? []]));
    this.collateral = new Set((scenario.collateral ?? []).map(String));
    /** @type {Operation[]} */
    this.operations = (scenario.ops ?? []).map((op, index) => new Operation(op, index, this.isRecording));
    this.byId = new Map(this.operations.map((op) => [op.id, op]));
    this.memory = this.isRecording ? (scenario.memory ?? []) : labMemory(scenario.memory ?? [], (id) => this.byId.get(id)?.label ?? id);
    /** Bytes of each pool that were reserved before what is recorded, and held throughout; there may have been more. */
    this.heldBefore = new Map(Object.entries(scenario.heldBefore ?? {}).map(([pool, length]) => [pool, Number(length)]));
    this.#connect(scenario);
    this.#placeInLanes(scenario);
    this.#sortEvents();
    this.pasts = new Map();
  }

  /** Semaphores, and who signals which value. */
  #connect(scenario) {
    const names = new Set(Object.keys(scenario.sems ?? {}));
    const signals = new Map();
    for (const op of this.operations) {
      for (const { semaphore, value } of op.signals) {
        names.add(semaphore);
        if (!signals.has(semaphore)) signals.set(semaphore, []);
        signals.get(semaphore).push({ value, op });
      }
      op.waits.forEach((wait) => names.add(wait.semaphore));
    }
    this.semaphores = [...names].map((name, index) => {
      const sorted = (signals.get(name) ?? []).sort((a, b) => a.value - b.value);
      const reached = sorted
        .filter(({ op }) => op.end >= 0 && op.failure === "")
        .sort((a, b) => a.op.end - b.op.end || a.value - b.value);
      let highest = 0;
      const steps = reached.filter(({ value }) => value > highest && (highest = value));
      const label = isolated(String(scenario.sems?.[name]?.label ?? name));
      return { name, label, index, signals: sorted, steps, final: sorted.length > 0 ? sorted[sorted.length - 1].value : 0 };
    });
    this.semaphoreByName = new Map(this.semaphores.map((each) => [each.name, each]));
    for (const op of this.operations) {
      const known = new Set();
      for (const wait of op.waits) {
        const producer = wait.by === undefined ? this.#signaller(wait) : this.byId.get(wait.by);
        wait.producer = producer === op ? null : (producer ?? null);
        if (wait.producer && !known.has(wait.producer)) {
          known.add(wait.producer);
          op.before.push(wait.producer);
          wait.producer.after.push(op);
        }
      }
    }
  }

  /** A wait inherits what the signal of its own value knew, not what later ones did. */
  #signaller({ semaphore, value }) {
    const all = this.semaphoreByName.get(semaphore)?.signals ?? [];
    return all[firstIndex(all.length, (i) => all[i].value >= value)]?.op;
  }

  /** Lanes, and rows in them for operations that overlap. */
  #placeInLanes(scenario) {
    const lanes = new Map();
    const lane = (id, hardware, label = isolated(id)) => {
      if (!lanes.has(id)) lanes.set(id, { id, label, hardware, operations: [], rows: 1, index: lanes.size });
      return lanes.get(id);
    };
    for (const hardware of scenario.hardware ?? []) {
      const count = Number(hardware.lanes ?? 1);
      const { id, label } = hardware;
      for (let i = 0; i < count; i++) {
        if (count > 1) lane(`${id}_${i}`, String(id), label == null ? undefined : isolated(`${label} ${i}`));
        else lane(String(id), String(id), this.labelOf.get(String(id)));
      }
    }
    for (const op of this.operations) {
      op.hardwareLabel = this.labelOf.get(op.hardware) ?? isolated(op.hardware);
      if (op.lane === "" || op.start < 0) continue;
      const its = lane(op.lane, op.hardware);
      op.laneLabel = its.label;
      its.operations.push(op);
    }
    this.lanes = this.#byMachine([...lanes.values()]);
    this.hardware = [...new Set(this.lanes.map((each) => each.hardware))];
    for (const each of this.lanes) {
      each.operations.sort((a, b) => a.start - b.start || a.index - b.index);
      const ends = [];
      for (const op of each.operations) {
        let row = ends.findIndex((end) => end <= op.start);
        if (row < 0) row = ends.length;
        ends[row] = op.end < 0 ? Infinity : Math.max(op.end, op.start);
        op.row = row;
      }
      each.rows = Math.max(1, ends.length);
      // Operations that began earlier may still be drawn: how far back to look.
      each.longest = each.operations.reduce((most, op) => Math.max(most, this.endOf(op) - op.start), 0);
    }
  }

  /** Lanes of one machine follow one another, machines as they first occur. */
  #byMachine(lanes) {
    for (const lane of lanes) lane.machine = this.machineOf.get(lane.hardware) ?? "";
    /** Those that lanes are on, in this order. */
    this.machines = [...new Set(lanes.map((each) => each.machine))];
    const sorted = this.machines.flatMap((machine) => lanes.filter((each) => each.machine === machine));
    sorted.forEach((lane, index) => (lane.index = index));
    return sorted;
  }

  #sortEvents() {
    this.events = [];
    for (const op of this.operations) {
      if (op.start >= 0) this.events.push({ time: op.start, order: 1, kind: "start", op });
      if (op.end >= 0) this.events.push({ time: op.end, order: 0, kind: op.failure === "" ? "end" : "fail", op });
    }
    this.events.sort((a, b) => a.time - b.time || a.order - b.order || a.op.index - b.op.index);
  }

  /** When an operation is drawn to. */
  endOf(op) {
    return op.end >= 0 ? op.end : this.finalTick;
  }

  /** What an operation does at a time. */
  stateOf(op, time) {
    if (op.failure !== "" && op.end >= 0 && op.end <= time) return "failed";
    if (op.end >= 0 && op.end <= time) return "done";
    if (op.start >= 0 && op.start <= time) return "running";
    const atEnd = time >= this.finalTick;
    const ended = [...op.waits.map((wait) => this.#hasEnded(wait, op, time)), op.moreWaits > 0 ? null : true];
    if (op.start < 0) ended.push(op.forMemory === "NO" || (atEnd && op.forMemory === "YES" ? false : null));
    return ended.includes(false) ? "waiting" : ended.includes(null) ? "waiting or ready" : "ready";
  }

  /** Whether a wait of an operation that has not started had ended at a time; null when that is not known. */
  #hasEnded({ producer, over }, op, time) {
    if (producer !== null && producer.end >= 0 && producer.end <= time && producer.failure === "") return true;
    if (over === "NO") return false;
    if (over === "YES") return time >= this.finalTick ? true : producer !== null && producer.end >= 0 ? false : null; // until the signal, where a promise ended the wait
    if (over === "UNKNOWN" || (this.isRecording && producer === null)) return null;
    return producer === null && op.start >= 0; // else of a run of the laboratory, which is complete: nothing signals it
  }

  /** The value of a semaphore at a time, and the operation that signalled it. */
  valueAt(semaphore, time) {
    const { steps } = semaphore;
    const after = firstIndex(steps.length, (i) => steps[i].op.end > time);
    return after === 0 ? { value: 0, op: null } : steps[after - 1];
  }

  /** Number of events up to a time. */
  eventsUntil(time) {
    return firstIndex(this.events.length, (i) => this.events[i].time > time);
  }

  /** Time of the next event after, or the last before, a time. */
  nextEvent(time) {
    const at = this.eventsUntil(time);
    return at < this.events.length ? this.events[at].time : this.finalTick;
  }

  previousEvent(time) {
    const at = firstIndex(this.events.length, (i) => this.events[i].time >= time);
    return at > 0 ? this.events[at - 1].time : 0;
  }

  /** All operations that happen before one, by its waits. */
  pastOf(op) {
    if (this.pasts.size > 64) this.pasts.clear();
    if (!this.pasts.has(op)) this.pasts.set(op, reached(op, (each) => each.before));
    return this.pasts.get(op);
  }

  /** All operations that happen after one. */
  futureOf(op) {
    return reached(op, (each) => each.after);
  }

  /** The operation that brought a semaphore to a value. */
  producerOf(name, value) {
    const signals = this.semaphoreByName.get(name)?.signals ?? [];
    const at = firstIndex(signals.length, (i) => signals[i].value >= value);
    return signals[at]?.value === value ? signals[at].op : null;
  }

  /** What is known of a timeline or queue: at least its name, a label and the number of its colour. */
  axis = (name) => this.semaphoreByName.get(name) ?? { name, label: isolated(name), index: 0 };

  /** How far a queue or timeline got at a time; null when nothing is known of it. */
  reachedAt(name, time) {
    const semaphore = this.semaphoreByName.get(name);
    return semaphore === undefined ? null : this.valueAt(semaphore, time).value;
  }
}

/** What is next to an operation, next to that, and so on. */
function reached(op, next) {
  const found = new Set(next(op));
  for (const each of found) next(each).forEach((one) => found.add(one)); // what is added meanwhile is visited too
  return found;
}

function describeDecision(decision) {
  if (decision == null) return "";
  if (typeof decision === "string") return decision;
  return Object.entries(decision)
    .filter(([, count]) => Number(count) > 0)
    .map(([name, count]) => `${count} ${count === 1 ? "wait" : "waits"} ${decisionNamed(name)?.text ?? name}`)
    .join(", ");
}
