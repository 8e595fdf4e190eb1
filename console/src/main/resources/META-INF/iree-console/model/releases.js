// @ts-check
// Who released whom, and when: the waits of operations that started.

/**
 * @typedef {object} Release
 * @property {import("./schedule.js").Operation} from whose signal ended the wait
 * @property {import("./schedule.js").Operation} to
 * @property {string} semaphore
 * @property {boolean} isLast whether no other wait of the operation ended later
 */

/**
 * @param {import("./schedule.js").Operation} op
 * @returns {Release[]} one for each predecessor that ended well before the operation started; several signals of one
 *     predecessor are one release
 */
export function releasesOf(op) {
  if (op.start < 0) return [];
  const ended = op.before.filter((each) => each.end >= 0 && each.end <= op.start && each.failure === "");
  const last = Math.max(...ended.map((each) => each.end));
  return ended.map((from) => ({ from, to: op, semaphore: op.waits.find((wait) => wait.producer === from)?.semaphore ?? "", isLast: from.end === last }));
}
