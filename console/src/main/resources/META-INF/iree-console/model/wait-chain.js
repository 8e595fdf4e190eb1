// @ts-check
// Who waits for whom in the running system, by what the endpoint lists.

/** @typedef {{key: string, kind: "operation" | "call", waits: any[], given: any}} Waiter an operation or a call */

/** What is listed as waiting. @param {any} live @returns {Waiter[]} */
export function waitersOf({ timelines }) {
  return [
    ...timelines.operations.map((given, i) => ({ key: `operation ${i}`, kind: "operation", waits: given.waits ?? [], given })),
    ...timelines.calls.map((given) => ({ key: `call ${given.id}`, kind: "call", waits: given.waits ?? [], given })),
  ];
}

/** Names that were given to timelines, by id; with the id where several have the same. @param {any} live @returns {Map<number, string>} */
export function namesOf({ timelines }) {
  const named = (timelines.timelines ?? []).filter(({ name }) => name !== "");
  const times = Map.groupBy(named, ({ name }) => name);
  return new Map(named.map(({ timeline, name }) => [timeline, times.get(name)?.length === 1 ? `“${name}”` : `“${name}” (timeline ${timeline})`]));
}

/** A timeline by its name, where it has one. @param {number} timeline @param {Map<number, string>} names */
export const timelineNamed = (timeline, names) => names.get(timeline) ?? `timeline ${timeline}`;

/**
 * The memory of a device that listed operations wait for, by pool; the pool is empty, and the bytes are 0, where a
 * request is not known.
 *
 * @param {any} live @param {string} device @returns {{pool: string, bytes: number, count: number}[]}
 */
export function awaitedMemory({ timelines }, device) {
  const waiting = timelines.operations.filter(({ queue, forMemory }) => forMemory && queue.slice(0, queue.lastIndexOf("/")) === device);
  return [...Map.groupBy(waiting, ({ pool }) => pool ?? "")].map(([pool, all]) => ({ pool, bytes: all.reduce((sum, each) => sum + (each.bytes ?? 0), 0), count: all.length }));
}

/** Whether nothing that is known will signal a point. */
export const isOrphan = (wait) => !wait.promised && !wait.signaller && wait.inFlight.length === 0;

/** Whether a listed operation is the one that the server says signals a point. */
export const isSignalledBy = ({ signaller, timeline, value }, { queue, operation, signals }) =>
  signaller?.queue === queue && signaller?.operation === operation && (signals ?? []).some((each) => each.timeline === timeline && each.value >= value);

const signals = ({ kind, given }, wait) => (kind === "call" ? wait.signaller?.call === given.id : isSignalledBy(wait, given));

/** A program's work and, transitively, the work that would signal what it waits for. @param {Waiter[]} all @param {string} program */
export function withCauses(all, program) {
  const shown = new Set(all.filter(({ given }) => given.program === program));
  for (const waiter of shown) {
    // What is added meanwhile is visited too.
    for (const each of all) if (waiter.waits.some((wait) => signals(each, wait))) shown.add(each);
  }
  return all.filter((each) => shown.has(each));
}
