// @ts-check
// Turns what was polled into a run in the laboratory's form, for a system without a recording: counters have no single
// operations, so that what completed between two answers is one bar, and only what waits is listed one by one.
import { namesOfMachines } from "./machines.js";
import { isSignalledBy, namesOf, timelineNamed } from "./wait-chain.js";

/** @param {any} live the latest answer @param {import("./history.js").History} history */
export function snapshotRun(live, history) {
  const { samples } = history;
  const start = samples[0]?.at ?? 0;
  const nanos = (at) => Math.round((at - start) * 1e9);
  const ops = [];
  for (let i = 1; i < samples.length; i++) {
    for (const [name, now] of samples[i].queues) {
      const before = samples[i - 1].queues.get(name);
      const done = before ? now.retired - before.retired : 0;
      if (done > 0) {
        ops.push({
          id: `${name}: ${done} (${i})`,
          hw: name,
          lane: name,
          start: nanos(samples[i - 1].at),
          end: nanos(samples[i].at),
          wait: before.retired > 0 ? { [name]: before.retired } : {},
          signal: { [name]: now.retired },
          frontier: { [name]: now.retired },
        });
      }
    }
  }
  const machine = namesOfMachines(live.queues);
  const end = nanos(samples[samples.length - 1]?.at ?? start);
  const names = namesOf(live);
  const timelines = new Map(live.queues.map(({ name }) => [name, { label: name }]));
  const named = (timeline) => {
    const name = `timeline ${timeline}`;
    timelines.set(name, { label: timelineNamed(timeline, names) });
    return name;
  };
  const pending = live.timelines.operations.map((op, index) => ({ ...op, id: `${op.operation} ${index + 1}` }));
  for (const op of pending) {
    ops.push({
      id: op.id,
      hw: op.queue,
      lane: null,
      start: null,
      end: null,
      knownWaits: (op.waits ?? []).map((wait) => ({ timeline: named(wait.timeline), value: wait.value, over: "NO", by: signallerOf(wait, pending)?.id, text: whoSignals(wait) })),
      signal: Object.fromEntries((op.signals ?? []).map(({ timeline, value }) => [named(timeline), value])),
      frontier: {},
      forMemory: op.forMemory ? "YES" : "NO",
      note: op.forMemory ? "waits for memory" : "",
    });
  }
  return {
    id: "snapshot",
    label: `Snapshot of ${live.time.slice(11, 19)} UTC`,
    description:
      "What the console polled: each bar is the operations that a queue completed between two answers; pending operations, the oldest of each queue, are in the graph and the table.",
    unit: "ns",
    isRecording: true,
    isPolled: true,
    finalTick: Math.max(1, end),
    hardware: live.queues.map((queue) => ({ id: queue.name, lanes: 1, machine: machine(queue) })),
    ops,
    sems: Object.fromEntries(timelines),
    annotations: [],
  };
}

/** The listed operation that the server says signals a point; undefined when the list does not have it. */
const signallerOf = (wait, pending) => pending.find((op) => isSignalledBy(wait, op));

function whoSignals({ promised, producer, epoch, signaller, inFlight }) {
  if (promised) return producer ? `operation ${epoch} of ${producer} signals it` : "promised from outside";
  if (signaller?.call) return `call ${signaller.call} of ${signaller.program} ${signaller.function} will signal it, and is not done`;
  if (signaller) return `${signaller.operation} of ${signaller.queue} will signal it, and waits too`;
  return inFlight.length > 0 ? `an operation in flight of ${inFlight.join(", ")} may signal it` : "no submitted operation that can run signals it";
}
