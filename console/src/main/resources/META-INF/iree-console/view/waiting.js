// @ts-check
// Why nothing moves: what waits, for what, and who would signal it.
import { isOrphan, namesOf, timelineNamed, waitersOf, withCauses } from "../model/wait-chain.js";
import { dot, h, setText } from "./dom.js";
import { plural, readable, seconds, span } from "./format.js";

const STATES = {
  BEFORE_INPUTS: "waits for its inputs",
  FOR_ADMISSION: "waits to be admitted: its need of memory is not known",
  FOR_MEMORY: "waits for memory",
  IN_LINE: "waits for its turn",
  RUNNING: "runs",
  SUSPENDED: "is suspended",
  BEFORE_RESULTS: "waits for its results",
};

export class Waiting {
  constructor(box) {
    this.sentence = h("p.sentence");
    this.list = h("ul.plain.waiting");
    box.replaceChildren(this.sentence, this.list);
  }

  /** @param {any} live @param {(queue: string) => number} indexOf @param {string} program */
  show(live, indexOf, program) {
    const all = waitersOf(live);
    const shown = program === "" ? all : withCauses(all, program);
    const names = namesOf(live);
    const of = (kind) => shown.filter((each) => each.kind === kind).map(({ given }) => given);
    setText(this.sentence, explain(live, of("operation"), of("call"), names, program));
    const items = shown
      .map(({ kind, given, waits }) => ({ since: seconds(given.since), waits, texts: given.waitsFor, what: kind === "call" ? callText(given) : operationText(given, indexOf) }))
      .sort((a, b) => b.since - a.since);
    this.list.replaceChildren(
      ...items.slice(0, 100).map(({ since, waits, texts, what }) =>
        h("li", h("span.age", span(since)), h("div", h("div", what), h("ul.plain.points", waits.length > 0 ? waits.map((wait) => point(wait, indexOf, names)) : texts.map((text) => h("li.muted", readable(text)))))),
      ),
    );
  }
}

export const queueChip = (queue, indexOf) => h("span.chip", { axis: indexOf(queue) }, dot(), queue);

const callText = ({ program, function: name, state }) => [h("b", program), ` ${name} ${STATES[state] ?? state}`];

const operationText = ({ queue, operation, program, function: name }, indexOf) => [queueChip(queue, indexOf), " ", h("b", operation), program ? ` of ${program} ${name}` : ""];

function point(wait, indexOf, names) {
  const progress = h("span.number", `${wait.reached} → ${wait.value}`);
  return h("li", { title: names.has(wait.timeline) && `timeline ${wait.timeline}` }, `${timelineNamed(wait.timeline, names)} `, progress, ": ", whoSignals(wait, indexOf));
}

function whoSignals({ promised, producer, epoch, signaller, inFlight }, indexOf) {
  if (promised) return producer ? [`operation ${epoch} of `, queueChip(producer, indexOf), " signals it"] : "promised from outside";
  if (signaller?.call) return [`call ${signaller.call} of `, h("b", signaller.program), ` ${signaller.function} will signal it, and is not done`];
  if (signaller) return [h("b", signaller.operation), " of ", queueChip(signaller.queue, indexOf), " will signal it, and waits too"];
  // Queues without order promise nothing.
  if (inFlight.length > 0) return ["an operation in flight of ", inFlight.map((queue) => [queueChip(queue, indexOf), " "]), "may signal it"];
  return h("span.bad", "no submitted operation that can run signals it");
}

function explain(live, operations, calls, names, program) {
  const waiting = [...operations, ...calls.filter((each) => each.state !== "RUNNING")];
  if (waiting.length === 0) {
    return live.activeCalls > 0 ? `Nothing waits; ${plural(live.activeCalls, "call")} in flight.` : "Nothing waits, and nothing runs.";
  }
  const memory = waiting.filter((each) => each.forMemory || each.state === "FOR_MEMORY").length;
  const unknown = waiting.filter((each) => each.state === "FOR_ADMISSION").length;
  const orphans = new Set(waiting.flatMap((each) => (each.waits ?? []).filter(isOrphan).map((wait) => wait.timeline)));
  // The counters are read apart from the list.
  const count = program === "" ? Math.max(live.timelines.waiting, operations.length) : operations.length;
  const parts = [`${plural(count, "operation")} and ${plural(calls.filter((each) => each.state !== "RUNNING").length, "call")} wait`];
  if (memory > 0) parts.push(`${memory} of them for memory`);
  if (unknown > 0) parts.push(`${unknown} of them to be admitted, since their need of memory is not known`);
  if (orphans.size > 0) parts.push(`${[...orphans].slice(0, 4).map((each) => timelineNamed(each, names)).join(", ")} is signalled by nothing that was submitted`);
  return `${parts.join("; ")}.`;
}
