// @ts-check
// Who released whom, and when: the waits of operations that started.

/**
 * @typedef {object} Release
 * @property {import("./schedule.js").Operation} from whose signal ended the wait
 * @property {import("./schedule.js").Operation} to
 * @property {string} semaphore
 * @property {boolean} isLast whether no other wait of the operation ended later; over a recording, whether the recorder says
 *     that no other condition was met later, be it a signal of the host, memory, or the operation before on the queue
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
  const isLast = (from) => (op.isRecorded ? op.waits.some((wait) => wait.producer === from && wait.isLast) : from.end === last);
  const releases = ended.map((from) => ({ from, to: op, semaphore: semaphores.get(from) ?? "", isLast: isLast(from) }));
  known.set(op, releases);
  return releases;
}
