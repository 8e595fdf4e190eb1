// @ts-check
// What is said about calls: by function, and of the selected one.
import { PARTS, duration } from "../model/trace.js";
import { fill, h, numberHead, rest, table } from "./dom.js";
import { count, plural, time } from "./format.js";
import { describe, dispatchText } from "./trace-tracks.js";

const SLOWEST = 5;
const MOST_FUNCTIONS = 50;
const MOST_OPERATIONS = 40;
const MOST_DISPATCHES = 40;

/** The parts of a time, side by side; a dash for no time, as of calls that have not ended. */
function partsBar(parts) {
  const total = parts.reduce((sum, part) => sum + part, 0);
  if (total === 0) return "–";
  const shown = PARTS.map((part, i) => ({ ...part, nanos: parts[i] ?? 0 })).filter(({ nanos }) => nanos > 0);
  const text = shown.map(({ label, nanos }) => `${time("ns", nanos)} ${label}`).join(", ");
  const bar = h("span.parts", { role: "img", "aria-label": text, title: text });
  for (const { key, nanos } of shown) {
    const part = h("span.part", { "data-part": key });
    part.style.flexGrow = String(nanos / total);
    bar.append(part);
  }
  return bar;
}

/** Functions with their calls: how long, with what, and the slowest. */
export class TableOfFunctions {
  /** @param {HTMLElement} box @param {{select: (call: any) => void}} actions */
  constructor(box, actions) {
    this.box = box;
    this.actions = actions;
  }

  show(trace) {
    const all = trace.functions;
    const rows = all.slice(0, MOST_FUNCTIONS).map((each) =>
      h(
        "tr",
        h("th", { scope: "row" }, each.name || "unnamed", each.open > 0 && h("span.muted", ` ${each.open} not known to have ended`), each.before > 0 && h("span.muted", ` ${each.before} begun before the recording`)),
        h("td.number", count(each.count)),
        h("td.number", each.p50 === null ? "–" : time("ns", each.p50)),
        h("td.number", each.p99 !== null ? time("ns", each.p99) : each.slowest.length === 0 ? "–" : h("span.muted", `slowest ${time("ns", duration(each.slowest[0]))}`)),
        h("td", partsBar(each.parts)),
        h("td", h("span.chips", each.slowest.slice(0, SLOWEST).map((call) => h("button.quiet.small", { title: `call ${call.number}`, onclick: () => this.actions.select(call) }, time("ns", duration(call)))))),
      ),
    );
    const heads = ["Function", ...["Calls", "p50", "p99"].map(numberHead), "Time of all", "Slowest"];
    fill(
      this.box,
      all.length === 0 && h("p.muted", "The recording has no operations of calls."),
      all.length > 0 && table("Functions", heads, h("tbody", rows)),
      rest("p.muted", all.length - MOST_FUNCTIONS, "function"),
    );
  }
}

/** The dispatches of a sampled operation, in their order; of many those that did not end well, and those with the most time. */
function dispatchList(op) {
  if (op.dispatches.length === 0) return false;
  const longest = new Set(op.dispatches.toSorted((a, b) => Number(b.state !== "") - Number(a.state !== "") || b.duration - a.duration).slice(0, MOST_DISPATCHES));
  return h(
    "ul.plain.dispatches",
    { "aria-label": `Dispatches of ${op.name} #${op.number}` },
    op.dispatches.filter((each) => longest.has(each)).map((each) => h("li", dispatchText(each))),
    rest("li.muted", op.dispatches.length - longest.size, "dispatch", "more dispatches"),
  );
}

/** The selected call: its parts, its critical path, its operations. */
export class CallPanel {
  /** @param {HTMLElement} box @param {{lookAt: (op: any) => void, lookAtProblem: (problem: any) => void}} actions */
  constructor(box, actions) {
    this.box = box;
    this.actions = actions;
  }

  /** @param {any} call null for none @param {any[]} path @param {number} from where the trace begins @param {import("../model/problems.js").Problem[]} problems that hold the call up */
  show(call, path, from, problems) {
    if (call === null) {
      fill(this.box, h("p.muted", "Select a bar, or one of the slowest calls."));
      return;
    }
    const button = (op, ...text) => h("button.quiet.small", { onclick: () => this.actions.lookAt(op) }, text);
    const own = call.operations.slice(0, MOST_OPERATIONS);
    fill(
      this.box,
      h("p.operation-title", h("strong", `call ${count(call.number)}`), ` of ${call.function}`),
      h("p", `${call.beganBefore ? `began before the recording; at least ${time("ns", duration(call))}` : `${time("ns", duration(call))} from ${time("ns", Math.max(0, call.start - from))} on`}${call.hasEnded ? "" : call.isOpen ? ", not ended" : ", not known to have ended"}`),
      partsBar(call.parts),
      h("ul.plain.part-list", PARTS.map(({ key, label }, i) => call.parts[i] > 0 && h("li", h("span.swatch", { "data-part": key }), ` ${time("ns", call.parts[i])} ${label}`))),
      problems.map((problem) => h("p.bad", `Held up: ${problem.kind.replaceAll("-", " ")} `, h("button.quiet.small", { onclick: () => this.actions.lookAtProblem(problem) }, "Show the problem"))),
      path.length > 0 && h("h3", "Critical path"),
      path.length > 0 && h("ol.plain.path", path[0].unseen && h("li.muted", path[0].unseen), path.map((op) => h("li", button(op, `${op.name} #${count(op.number)}`), ` ${time("ns", op.end - op.ready)} on ${op.queue}`, op.call === call.number ? "" : op.call === 0 ? ", of no call" : `, of call ${count(op.call)}`, op.reason && h("span.muted", `, began ${op.reason}`)))),
      h("h3", plural(call.operations.length, "operation")),
      h("ul.plain.path", own.map((op) => h("li", button(op, `#${count(op.number)}`), ` ${describe(op).replace(/^\S+ #\S+ /, `${op.name} `).replace(`, call ${op.call} of ${op.function}`, "")}`, dispatchList(op)))),
      rest("p.muted", call.operations.length - own.length),
    );
  }
}
