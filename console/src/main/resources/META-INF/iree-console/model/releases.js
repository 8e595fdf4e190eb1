// @ts-check
// Who released whom, and when: the waits of operations that started.

/**
 * @typedef {object} Release
 * @property {import("./schedule.js").Operation} from whose signal ended the wait
 * @property {import("./schedule.js").Operation} to
 * @property {string} semaphore
 * @property {boolean} isLast whether no other wait of the operation ended later
 */

/** @type {WeakMap<import("./schedule.js").Operation, Release[]>} */
const known = new WeakMap();

/**
 * @param {import("./schedule.js").Operation} op
 * @returns {Release[]} one for each predecessor that ended well before the operation started; several signals of one
 *     predecessor are one release
 */
export function releasesOf(op) {
  const found = known.get(op);
  if (found) return found;
  const ended = op.before.filter((each) => op.start >= 0 && each.end >= 0 && each.end <= op.start && each.failure === "");
  const last = ended.reduce((most, each) => Math.max(most, each.end), 0);
  const semaphores = new Map(op.waits.map((wait) => [wait.producer, wait.semaphore]));
  const releases = ended.map((from) => ({ from, to: op, semaphore: semaphores.get(from) ?? "", isLast: from.end === last }));
  known.set(op, releases);
  return releases;
}
