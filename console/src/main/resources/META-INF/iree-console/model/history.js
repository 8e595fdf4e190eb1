// @ts-check
// What the last minutes were like: one sample for each answer of the server, at most so many.

const MOST = 240;

export class History {
  constructor() {
    this.samples = [];
  }

  /** @param {any} live an answer of the server */
  add(live) {
    const at = Date.parse(live.time) / 1000;
    const last = this.samples[this.samples.length - 1];
    if (last && at <= last.at) this.samples = []; // the clock was set, or it is another server
    const queues = new Map();
    const peaks = new Map(live.peaks.queues.map((each) => [each.name, each]));
    for (const queue of live.queues) {
      const before = last?.queues.get(queue.name);
      const elapsed = last ? at - last.at : 0;
      const rate = before && elapsed > 0 ? Math.max(0, queue.retired - before.retired) / elapsed : 0;
      const peak = peaks.get(queue.name) ?? queue;
      // Of a chart's span, what was at once is what counts: an answer shows an instant.
      queues.set(queue.name, { inFlight: Math.max(queue.inFlight, peak.inFlight), pending: Math.max(queue.pending, peak.pending), retired: queue.retired, failed: queue.failed, rate });
    }
    const memory = new Map();
    const others = new Map(); // bytes of a device at once, beyond what its programs have now
    const mostOf = new Map(live.peaks.memory.map((each) => [each.device, each.live]));
    for (const pool of live.pools) {
      memory.set(pool.device, new Map(pool.consumers.map((each) => [each.name === "" ? "no program" : each.name, each.live])));
      const now = pool.consumers.reduce((sum, each) => sum + each.live, 0);
      others.set(pool.device, Math.max(0, pool.live - now, (mostOf.get(pool.device) ?? 0) - now));
    }
    this.samples.push({ at, queues, memory, others });
    if (this.samples.length > MOST) this.samples.shift();
  }

  get latest() {
    return this.samples[this.samples.length - 1] ?? null;
  }

  /** What is known of a queue from the beginning of what is kept: some minutes ago. */
  oldest(queue) {
    return this.samples.find((each) => each.queues.has(queue))?.queues.get(queue) ?? null;
  }

  /** The times that a chart covers: what there is, up to a fixed span that then moves steadily. */
  range(seconds) {
    const end = this.latest?.at ?? 0;
    const known = end - (this.samples[0]?.at ?? end);
    return { from: end - Math.min(seconds, Math.max(10, known)), to: end };
  }
}
