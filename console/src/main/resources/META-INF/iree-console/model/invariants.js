// @ts-check
// What must hold in every run, checked here from what the server reported: by waits and signals alone, not by frontiers.

/** @param {import("./schedule.js").Schedule} schedule */
export function checkInvariants(schedule) {
  return [
    {
      name: "Never optimistic",
      rule: "No operation starts before all it waits for has ended.",
      broken: schedule.operations
        .filter((op) => op.start >= 0 && op.before.some((each) => each.end < 0 || each.end > op.start))
        .map((op) => op.id),
    },
    schedule.unit === "ns" || schedule.memory.length > 0
      ? {
          name: "Frontiers claim nothing too early",
          rule: "What an operation's frontier names has ended when the operation ends.",
          broken: schedule.operations.filter((op) => op.end >= 0 && !hasEnded(schedule, op)).map((op) => op.id),
        }
      : {
          name: "Frontiers are exact",
          rule: "Each operation's frontier is what it signals and what happens before it, no more and no less.",
          broken: schedule.operations.filter((op) => op.start >= 0 && !op.tainted && !hasExactFrontier(schedule, op)).map((op) => op.id),
        },
    {
      name: "Nothing hangs",
      rule: "Every operation has ended or failed.",
      broken: schedule.operations.filter((op) => op.end < 0 && op.failure === "").map((op) => op.id),
    },
    {
      name: "Failures where they belong",
      rule: "What follows a failed operation fails too.",
      broken: schedule.operations
        .filter((op) => op.failure === "" && op.before.some((each) => each.failure !== ""))
        .map((op) => op.id),
    },
    ...(schedule.violations.length > 0
      ? [{ name: "Checks of the laboratory", rule: "What it checks on the scheduler itself.", broken: schedule.violations }]
      : []),
  ];
}

// Recorded frontiers leave out what had completed long before, and hold the order of queues besides that of waits. Memory
// that is reused adds what used it before, which no wait names.
function hasEnded(schedule, op) {
  return op.frontier.every(([name, value]) => {
    const producer = schedule.producerOf(name, value);
    return producer === null || producer === op || (producer.end >= 0 && producer.end <= op.end);
  });
}

function hasExactFrontier(schedule, op) {
  const expected = new Map();
  const raise = ({ semaphore, value }) => expected.set(semaphore, Math.max(value, expected.get(semaphore) ?? 0));
  schedule.pastOf(op).forEach((each) => each.signals.forEach(raise));
  op.signals.forEach(raise);
  return expected.size === op.frontier.length && op.frontier.every(([name, value]) => expected.get(name) === value);
}
