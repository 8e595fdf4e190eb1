// @ts-check
// Turns the pages of a flight recording into a run in the laboratory's form. Frontiers of a running system name queues
// and epochs, so each operation also counts as the signal of its own epoch on its queue.
import { namesOfMachines } from "./machines.js";

/** Times of what did not happen are missing in a run. */
const when = (time) => (time === undefined ? null : time);

/** @param {any[]} pages in the order of their cursors */
export function recordingRun(pages) {
  const first = pages[0];
  const last = pages[pages.length - 1];
  const queueNames = new Map(last.queues.map((queue) => [queue.axis, queue.name]));
  const streams = new Set(last.queues.filter((queue) => queue.stream).map((queue) => queue.name));
  const name = (axis) => queueNames.get(axis) ?? axis;
  const frontier = (entries) => Object.fromEntries(Object.entries(entries ?? {}).filter(([axis]) => axis !== "tainted").map(([axis, epoch]) => [name(axis), epoch]));
  const operations = new Map();
  const reservations = new Map();
  // Some of the older records are missing, so that the others tell half of an operation or a reservation.
  const events = pages.flatMap((page) => page.events).filter((each) => each.number >= last.completeFrom).concat((last.open ?? []).map(({ submitted, values }) => ({ number: last.cursor, time: submitted, kind: "open", values })));
  const open = new Set((last.open ?? []).map(({ values }) => values.operation));
  const begin = events[0]?.time ?? 0;
  let end = 1;
  for (const { time: recorded, kind, values } of events) {
    const time = Math.max(0, recorded - begin); // what hangs may have been submitted long before
    end = Math.max(end, time);
    const op = operations.get(values.operation);
    if (kind === "submitted") operations.set(values.operation, { ...values, queue: name(values.queue), submittedAt: time, frontier: {} });
    else if (kind === "open" && !op) operations.set(values.operation, { ...values, queue: name(values.queue), submittedAt: time, frontier: {}, age: begin - recorded });
    else if (kind === "reserved") reservations.set(values.reservation, { ...values, start: time, end: null, death: frontier(values.death) });
    else if (kind === "released") {
      const reservation = reservations.get(values.reservation);
      if (reservation) Object.assign(reservation, { end: time, releasedBehind: frontier(values.death) });
    } else if (op) note(op, kind, time, values, frontier);
  }
  const machine = namesOfMachines(last.queues);
  const label = labelsOf(last.timelines ?? []);
  // The recorder says which operations had not ended. Of others without an end nothing is known.
  const isKnown = (op) => op.completedAt !== undefined || op.overAt !== undefined || open.has(op.operation);
  const all = [...operations.values()].filter(isKnown);
  orderStreams(all, streams);
  boundEnds(all);
  return {
    id: "recording",
    label: `Recording of ${String(first.start).slice(0, 19).replace("T", " ")} UTC`,
    description: describe(all.length, operations.size - all.length, events[0]?.number ?? 0, last.calls ?? [], label),
    unit: "ns",
    isRecording: true,
    records: { recorder: String(first.start), since: events[0]?.number ?? 0, until: last.cursor },
    finalTick: end,
    hardware: last.queues.map((queue) => ({ id: queue.name, lanes: 1, machine: machine(queue) })),
    ops: all.map((op) => operation(op, label)),
    sems: {},
    annotations: [],
    memory: [...reservations.values()].map((each) => ({ ...each, pool: poolName(last.pools, each.pool) })),
  };
}

const poolName = (pools, index) => {
  const pool = pools[index];
  return pool === undefined ? `pool ${index}` : String(pool.name ?? pool);
};

function note(op, kind, time, values, frontier) {
  if (kind === "issued") Object.assign(op, { issuedAt: time, reservation: values.reservation });
  if (kind === "began") op.beganAt = time;
  if (kind === "completed") op.completedAt = time;
  if (kind === "decided") op.decisions = values.decisions;
  if (kind === "over") {
    op.overAt = time;
    if (values.status !== "OK") op.failure = values.message === "" ? values.status : values.message;
  }
  if (values.frontier && Object.keys(values.frontier).length > 0) {
    op.frontier = frontier(values.frontier);
    op.tainted = values.frontier.tainted === true;
  }
}

/**
 * A device may hold an operation long before it begins it, and rarely says when that was: not before its predecessor on
 * the stream and those it waits for had ended.
 */
function orderStreams(all, streams) {
  const signalled = signalsOf(all);
  const free = new Map();
  const ended = (op) => op.completedAt ?? op.overAt ?? op.beganAt ?? 0;
  for (const op of all.filter((each) => streams.has(each.queue) && each.issuedAt !== undefined).sort((a, b) => a.issuedAt - b.issuedAt)) {
    const producers = op.waits.map(({ timeline, value }) => signalled.get(`${timeline}:${value}`)).filter((each) => each !== undefined && each !== op);
    op.beganAt ??= Math.max(op.issuedAt, free.get(op.queue) ?? 0, ...producers.map(ended));
    free.set(op.queue, ended(op));
  }
}

/** The host may learn of an end after what waited for it has begun: then that bounds the end. */
function boundEnds(all) {
  const signalled = signalsOf(all);
  for (const op of all) {
    const start = op.beganAt ?? op.issuedAt;
    if (start === undefined) continue;
    for (const { timeline, value } of op.waits) {
      const producer = signalled.get(`${timeline}:${value}`);
      const end = producer?.completedAt ?? producer?.overAt;
      if (end > start && (producer.beganAt ?? producer.issuedAt ?? 0) <= start) producer.completedAt = start;
    }
  }
}

function signalsOf(all) {
  const signalled = new Map();
  for (const op of all) for (const { timeline, value } of op.signals) signalled.set(`${timeline}:${value}`, op);
  return signalled;
}

/** The label of a timeline: its name, unless several have that name or none. */
function labelsOf(timelines) {
  const names = new Map(timelines.map(({ timeline, name }) => [timeline, name]));
  const shared = (name) => timelines.filter((each) => each.name === name).length > 1;
  return (timeline) => {
    const name = names.get(timeline);
    return name === undefined ? `timeline ${timeline}` : shared(name) ? `${name} (${timeline})` : name;
  };
}

function operation(op, label) {
  const points = (list) => Object.fromEntries(list.map(({ timeline, value }) => [label(timeline), value]));
  const epoch = op.frontier[op.queue];
  const decisions = {};
  for (const { decision } of op.decisions ?? []) decisions[decision] = (decisions[decision] ?? 0) + 1;
  const start = op.beganAt ?? op.issuedAt;
  const end = op.completedAt ?? op.overAt;
  return {
    id: `${op.name} #${op.operation}`,
    hw: op.queue,
    lane: start === undefined ? null : op.queue,
    start: when(start),
    end: end === undefined ? null : Math.max(end, start ?? end),
    issued: when(op.issuedAt),
    wait: points(op.waits),
    signal: { ...(epoch === undefined ? {} : { [op.queue]: epoch }), ...points(op.signals) },
    frontier: op.frontier,
    tainted: op.tainted === true,
    failure: op.failure,
    decisions,
    note: [op.call ? `call ${op.call} of ${op.function}` : "", op.age > 0 ? `submitted ${(op.age / 1e9).toFixed(1)} s before` : ""].filter((text) => text !== "").join(", "),
  };
}

function describe(operations, unknown, first, calls, label) {
  const older = first > 0 ? ` What is older than record ${first} is left out.` : "";
  const more = unknown > 0 ? ` Left out: ${unknown} of which the recorder does not know the end.` : "";
  return `What the flight recorder has: ${operations} operation${operations === 1 ? "" : "s"}, with waits, frontiers and memory.${older}${more}${describeCalls(calls, label)}`;
}

/** Names the calls that were in progress, the oldest in full. */
function describeCalls(calls, label) {
  if (calls.length === 0) return "";
  const oldest = calls.reduce((found, each) => (each.age > found.age ? each : found));
  const waits = oldest.waits.map(({ timeline, value }) => `${label(timeline)} ≥ ${value}`).join(", ");
  const state = oldest.state.toLowerCase().replaceAll("_", " ");
  return ` ${calls.length} call${calls.length === 1 ? " was" : "s were"} in progress, the oldest for ${(oldest.age / 1e9).toFixed(1)} s: ${oldest.function} of ${oldest.program}, ${state}${waits === "" ? "" : `, waits for ${waits}`}.`;
}
