// @ts-check
// Turns what was polled into a run in the laboratory's form, for a system without a recording: counters have no single
// operations, so that what completed between two answers is one bar, and only what waits is listed one by one.
import { namesOfMachines } from "./machines.js";

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
  live.timelines.operations.forEach((op, index) => {
    const wait = {};
    const frontier = {};
    for (const each of op.waits ?? []) {
      const timeline = each.producer ? each.producer : `timeline ${each.timeline}`;
      wait[timeline] = each.producer ? each.epoch : each.value;
    }
    ops.push({ id: `${op.operation} ${index + 1}`, hw: op.queue, lane: null, start: null, end: null, wait, signal: {}, frontier });
  });
  return {
    id: "snapshot",
    label: `Snapshot of ${live.time.slice(11, 19)} UTC`,
    description:
      "What the console polled: each bar is the operations that a queue completed between two answers; pending operations are in the graph and the table.",
    unit: "ns",
    isRecording: true,
    finalTick: Math.max(1, end),
    hardware: live.queues.map((queue) => ({ id: queue.name, lanes: 1, machine: machine(queue) })),
    ops,
    sems: Object.fromEntries(live.queues.map((queue) => [queue.name, { value: queue.retired, frontier: {} }])),
    annotations: [],
  };
}
