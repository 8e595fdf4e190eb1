// @ts-check
// The frontier that each operation should have, by waits and signals alone: computed as far as it is asked for.

const ENTRIES = 2_000_000; // that are kept at most

export class ExpectedFrontiers {
  #names = new Int32Array(1024); // indices of semaphores, of one operation after the other
  #values = new Float64Array(1024);
  #used = 0;
  #next = 0; // in the order
  /** @type {Int32Array} by index of the operation; -1 as long as it is not known */
  #from;
  /** @type {Int32Array} */
  #to;
  /** @type {Int32Array} */
  #rank;

  /** @param {import("./schedule.js").Schedule} schedule */
  constructor(schedule) {
    this.schedule = schedule;
    const count = schedule.operations.length;
    this.order = inOrder(schedule.operations);
    this.#rank = new Int32Array(count).fill(-1);
    this.order.forEach((op, i) => (this.#rank[op.index] = i));
    this.#from = new Int32Array(count).fill(-1);
    this.#to = new Int32Array(count);
    this.latest = new Float64Array(schedule.semaphores.length); // of the operation at hand
    this.owner = new Int32Array(schedule.semaphores.length); // whose the latest value is, as a number for each turn
    this.turn = 0;
  }

  /** Whether there can be one: what waits for itself has none. */
  has(op) {
    return this.#rank[op.index] >= 0;
  }

  /**
   * Compares the frontier that was reported with the expected one.
   *
   * @param {import("./schedule.js").Operation} op
   * @param {boolean} least whether it may have more
   * @returns {boolean | null} null when there are too many entries to know
   */
  holds(op, least) {
    while (this.#next <= this.#rank[op.index]) {
      if (this.#used > ENTRIES) return null;
      this.#compute(this.order[this.#next++]);
    }
    const { semaphoreByName } = this.schedule;
    const from = this.#from[op.index];
    const to = this.#to[op.index];
    this.turn++;
    for (let i = from; i < to; i++) {
      this.owner[this.#names[i]] = this.turn;
      this.latest[this.#names[i]] = this.#values[i];
    }
    let met = 0;
    let others = 0;
    op.eachOfFrontier((name, value) => {
      const index = semaphoreByName.get(name)?.index ?? -1;
      if (index >= 0 && this.owner[index] === this.turn && (least ? value >= this.latest[index] : value === this.latest[index])) met++;
      else others++;
    });
    return met === to - from && (least || others === 0);
  }

  #compute(op) {
    const from = this.#used;
    this.turn++;
    for (const each of op.before) {
      for (let i = this.#from[each.index]; i < this.#to[each.index]; i++) this.#raise(this.#names[i], this.#values[i]);
    }
    for (const { semaphore, value } of op.signals) this.#raise(this.schedule.semaphoreByName.get(semaphore)?.index ?? 0, value);
    for (let i = from; i < this.#used; i++) this.#values[i] = this.latest[this.#names[i]];
    this.#from[op.index] = from;
    this.#to[op.index] = this.#used;
  }

  #raise(name, value) {
    if (this.owner[name] === this.turn) {
      if (value > this.latest[name]) this.latest[name] = value;
      return;
    }
    this.owner[name] = this.turn;
    this.latest[name] = value;
    if (this.#used === this.#names.length) {
      this.#names = grown(this.#names, new Int32Array(2 * this.#used));
      this.#values = grown(this.#values, new Float64Array(2 * this.#used));
    }
    this.#names[this.#used++] = name;
  }
}

function grown(old, larger) {
  larger.set(old);
  return larger;
}

/** Predecessors first, without those in circles. */
function inOrder(operations) {
  const missing = Int32Array.from(operations, (op) => op.before.length);
  const ready = operations.filter((op) => op.before.length === 0);
  for (let i = 0; i < ready.length; i++) {
    for (const next of ready[i].after) if (--missing[next.index] === 0) ready.push(next);
  }
  return ready;
}
