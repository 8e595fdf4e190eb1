// @ts-check
// What a frontier is, shown on a run: three operations of it, and what each one adds.

/**
 * @typedef {object} Step
 * @property {string} title
 * @property {string} text
 * @property {import("./schedule.js").Operation} op whose frontier follows the text
 * @property {number} at the time to show
 */

const quoted = (op) => `“${op.label}”`;

/** The values as people say them: “Main at 1 and Line A at 1”. */
const values = (schedule, list) => list.map(({ semaphore, value }) => `${schedule.axis(semaphore).label} at ${value}`).join(" and ");

/**
 * @param {import("./schedule.js").Schedule} schedule
 * @returns {Step[]} three; none of a run without an operation that follows two others, one of which follows a third
 */
export function lessonOf(schedule) {
  if (schedule.isFine) return [];
  const ended = (op) => op.end >= 0 && op.failure === "" && op.hasFrontier && op.signals.length > 0;
  // The order of a queue, or memory, may have put something before it all the same.
  const isFirst = (op) => ended(op) && op.before.length === 0 && op.frontier.length === op.signals.length;
  const follows = (op) => ended(op) && op.before.length === 1 && isFirst(op.before[0]);
  const merge = schedule.operations.find((op) => ended(op) && op.before.length > 1 && op.before.every(ended) && op.before.some(follows));
  const branch = merge?.before.find(follows);
  if (!merge || !branch) return [];
  const [first] = branch.before;
  return [
    {
      title: "A signal carries its past",
      text: `${quoted(first)} ends and signals ${values(schedule, first.signals)}. A frontier goes with the signal: for each timeline, the value that had been reached before. Nothing comes before ${quoted(first)}, so its frontier has its own signal alone.`,
      op: first,
      at: first.end,
    },
    {
      title: "A wait takes the past over",
      text: `${quoted(branch)} waits for ${values(schedule, branch.waits)}. When ${quoted(branch)} starts, it takes over the frontier that came with this value; when it ends, its own signal joins that frontier.`,
      op: branch,
      at: branch.end,
    },
    {
      title: "Frontiers merge",
      text: `${quoted(merge)} waits for ${values(schedule, merge.waits)}, and keeps the greatest value of each timeline. Who waits for ${values(schedule, merge.signals)} knows all of it and needs no other wait: by this the scheduler drops waits and reuses memory.`,
      op: merge,
      at: merge.end,
    },
  ];
}
