// @ts-check
// What the scheduler decides about a wait, in the words of every view.

/** In the order of cost, by the names of the endpoint's counters. */
export const DECISIONS = [
  { counter: "reached", pattern: /^reached/, text: "already reached", dropped: true },
  { counter: "elidedByFifo", pattern: /^elided(by)?fifo/, text: "implied by the order of its queue", dropped: true },
  { counter: "elidedByFrontier", pattern: /^elided(by)?frontier/, text: "implied by the frontier", dropped: true },
  { counter: "covered", pattern: /^covered/, text: "implied by another wait", dropped: true },
  { counter: "deviceWaits", pattern: /^devicewait/, text: "left to the device", dropped: false },
  { counter: "deferred", pattern: /^deferred/, text: "deferred by the host", dropped: false },
];

/** A decision by its name in the endpoint, in the laboratory or in a recording: with or without case and underscores. */
export function decisionNamed(name) {
  const key = String(name).replaceAll("_", "").toLowerCase();
  return DECISIONS.find(({ pattern }) => pattern.test(key));
}
