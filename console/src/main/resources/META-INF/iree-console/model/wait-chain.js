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

/** Whether nothing that is known will signal a point. */
export const isOrphan = (wait) => !wait.promised && !wait.signaller && wait.inFlight.length === 0;

const signals = ({ kind, given }, wait) => kind === "operation" && wait.signaller?.queue === given.queue && wait.signaller?.operation === given.operation && (given.signals ?? []).some((each) => each.startsWith(`timeline ${wait.timeline} `));

/** A program's work and, transitively, the operations that would signal what it waits for. @param {Waiter[]} all @param {string} program */
export function withCauses(all, program) {
  const shown = new Set(all.filter(({ given }) => given.program === program));
  for (const waiter of shown) {
    // What is added meanwhile is visited too.
    for (const each of all) if (waiter.waits.some((wait) => signals(each, wait))) shown.add(each);
  }
  return all.filter((each) => shown.has(each));
}

/** Whether no operation here will signal a point, though somebody outside may have promised to. */
const isFromOutside = (wait) => isOrphan(wait) || (wait.promised && !wait.producer);

const MOST_LINKS = 5;
const MOST_IN_CYCLE = 10;

/**
 * How work hangs on a timeline that nothing signals.
 *
 * @param {Waiter[]} all
 * @param {number} timeline
 * @returns {{waiter: Waiter, wait: any}[]} from what waits last to what waits for the timeline itself; empty when
 *     nothing that is listed does
 */
export function chainTo(all, timeline) {
  const chain = [];
  let open = all.flatMap((waiter) => waiter.waits.filter((wait) => wait.timeline === timeline && isFromOutside(wait)).map((wait) => ({ waiter, wait })));
  while (open.length > 0 && chain.length < MOST_LINKS) {
    // An operation with others behind it tells more than one without; among equals the first in the list.
    const behind = ({ waiter }) => all.flatMap((each) => (chain.some((link) => link.waiter === each) ? [] : each.waits.filter((wait) => signals(waiter, wait)).map((wait) => ({ waiter: each, wait }))));
    const next = open.find((each) => behind(each).length > 0) ?? open[0];
    chain.unshift(next);
    open = behind(next);
  }
  return chain;
}

/**
 * Once round the operations that wait for each other.
 *
 * @param {Waiter[]} all
 * @param {number} timeline that one of the operations signals
 * @returns {{waiter: Waiter, wait: any}[]} each waits for a signal of the next; empty when nothing that is listed does
 */
export function cycleOf(all, timeline) {
  const operations = all.filter(({ kind }) => kind === "operation");
  const signallerOf = (wait) => operations.find((each) => signals(each, wait));
  const starts = new Set(all.flatMap(({ waits }) => waits.filter((wait) => wait.timeline === timeline).map(signallerOf)));
  return [...starts].map((start) => (start === undefined ? [] : wayRound(start, signallerOf))).find(({ length }) => length > 0) ?? [];
}

/** The shortest way from an operation over the signallers of its waits back to it; empty for none. */
function wayRound(start, signallerOf) {
  const ways = new Map([[start, /** @type {any[]} */ ([])]]);
  // What is added meanwhile is visited too.
  for (const [waiter, way] of ways) {
    for (const wait of waiter.waits) {
      const next = signallerOf(wait);
      const on = [...way, { waiter, wait }];
      if (next === start) return on;
      if (next !== undefined && !ways.has(next) && on.length < MOST_IN_CYCLE) ways.set(next, on);
    }
  }
  return [];
}
