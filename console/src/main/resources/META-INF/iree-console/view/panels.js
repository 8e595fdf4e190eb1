// @ts-check
// The panels beside lanes and graph: semaphores, the selected operation, the log, the table of operations.
import { isolated } from "../model/names.js";
import { releasesOf } from "../model/releases.js";
import { axisChip, frontierChips } from "./chips.js";
import { dot, fill, h, rest, restRow, setText, table } from "./dom.js";
import { labelled, plural, time, timeNamed } from "./format.js";

const LOGGED = 120; // entries of the log that are shown at once
const LISTED = 500; // rows of the table of operations

/** The id beside a label, unless they are the same. */
const idBeside = (label, id) => label !== isolated(id) && [" ", h("bdi.muted", id)];

/** Semaphores at a time. */
export class SemaphoreTable {
  constructor(box) {
    this.body = h("tbody");
    box.replaceChildren(table("Semaphores now: value and frontier", ["Semaphore", "Value", "Frontier"], this.body));
  }

  show(schedule) {
    this.schedule = schedule;
    const most = 200;
    this.rows = schedule.semaphores.slice(0, most).map((semaphore) => {
      const value = h("span.number");
      const bar = h("meter", { min: 0, max: Math.max(1, semaphore.final), value: 0, "aria-label": `${semaphore.label} of ${semaphore.final}` });
      const frontier = h("td");
      return { semaphore, value, bar, frontier, shown: -1, row: h("tr", { axis: semaphore.index }, h("th", { scope: "row" }, dot(), semaphore.label, idBeside(semaphore.label, semaphore.name)), h("td.value", value, bar), frontier) };
    });
    fill(this.body, this.rows.map(({ row }) => row), restRow(3, schedule.semaphores.length - most));
  }

  move(at) {
    for (const each of this.rows) {
      const { value, op } = this.schedule.valueAt(each.semaphore, at);
      if (each.shown === value) continue;
      each.shown = value;
      setText(each.value, `${value} / ${each.semaphore.final}`);
      each.bar.value = value;
      each.frontier.replaceChildren(frontierChips(op?.frontier ?? [], this.schedule.axis, op?.tainted));
    }
  }
}

/** The selected operation. */
export class OperationPanel {
  /** @param {HTMLElement} box @param {{select: (op: any) => void}} actions */
  constructor(box, actions) {
    this.box = box;
    this.actions = actions;
    this.state = h("span.state");
  }

  #link(op) {
    return h("button.link", { onclick: () => this.actions.select(op) }, op.label);
  }

  show(schedule, op, at) {
    this.schedule = schedule;
    this.op = op;
    if (op === null) {
      this.box.replaceChildren(h("p.muted", "Select an operation in the lanes, the graph or the table. N and P walk through them."));
      return;
    }
    const { unit } = schedule;
    const releases = new Map(releasesOf(op).map((each) => [each.from, each]));
    const past = schedule.pastOf(op);
    const future = schedule.futureOf(op);
    const beside = schedule.operations.filter((each) => each !== op && !past.has(each) && !future.has(each));
    const lane = op.lane === op.hardware ? "" : `${op.laneLabel}, `;
    const times =
      op.start < 0 ? "never started" : `${lane}${timeNamed(unit, op.start)} to ${op.end < 0 ? "…" : time(unit, op.end)}`;
    fill(
      this.box,
      h("p.operation-title", h("strong", op.label), idBeside(op.label, op.id), " ", this.state),
      h("p.muted", `${labelled(op.hardwareLabel, op.hardware)} · ${times}${op.note === "" ? "" : ` · ${op.note}`}`),
      op.failure !== "" && h("p.bad", op.failure),
      h(
        "dl",
        h("dt", "Waits for"),
        h("dd", op.waits.length === 0 ? h("span.muted", "nothing") : h("ul.plain", op.waits.map((wait) => this.#wait(op, wait, releases.get(wait.producer))))),
        op.moreWaits > 0 && h("dd.muted", `and ${plural(op.moreWaits, "point")} without a record: not known whether signalled`),
        h("dt", "Signals"),
        h("dd", frontierChips(op.signals.map(({ semaphore, value }) => [semaphore, value]), schedule.axis)),
        h("dt", "Frontier"),
        h("dd", h("ul.plain", op.frontier.length === 0 ? h("li.muted", "empty") : op.frontier.map((entry) => this.#entry(op, entry)))),
        op.axes.length > 0 && [h("dt", "Axes"), h("dd", h("ul.plain", op.axes.map((entry) => this.#axis(op, entry))))],
        op.decision !== "" && [h("dt", "Scheduler"), h("dd", op.decision)],
        h("dt", this.schedule.isRecording ? "No known order with" : "Unordered with"),
        h("dd", beside.length === 0 ? h("span.muted", "nothing") : [beside.slice(0, 6).map((each) => [this.#link(each), " "]), rest("span.muted", beside.length - 6)]),
      ),
    );
    this.move(at);
  }

  #wait(op, wait, release) {
    const { semaphore, value, producer, over, text } = wait;
    const isShown = over === "YES" && producer !== null && producer.end >= 0 && producer.failure === "";
    return h(
      "li",
      axisChip(this.schedule.axis(semaphore), value, " ≥ "),
      producer && [" by ", this.#link(producer), release && this.#when(op, release)],
      producer === null ? h("span.muted", ` ${this.#said(op, wait)}`) : text && !isShown && h("span.muted", ` (${text})`),
    );
  }

  /** What is known of a wait whose end the run does not show. */
  #said(op, { text }) {
    if (text) return text;
    if (this.schedule.isRecording) return "not known whether signalled, or by whom";
    return op.start >= 0 ? "signalled before, or from outside" : "nothing in this run signals it";
  }

  /** When a wait ended, and whether this let the operation start. */
  #when(op, release) {
    return h("span.muted", ` at ${timeNamed(this.schedule.unit, release.from.end)}${release.isLast && (op.isRecorded ? op.waits : op.before).length > 1 ? ", the last" : ""}`);
  }

  #entry(op, [name, epoch]) {
    const producer = this.schedule.producerOf(name, epoch);
    return h(
      "li",
      axisChip(this.schedule.axis(name), epoch),
      producer === op ? h("span.muted", " itself") : producer ? [" ", this.#link(producer), h("span.muted", " and what precedes it")] : null,
    );
  }

  /** An entry of the scheduler: a queue, how far it got, and the operation that this is. */
  #axis(op, [queue, epoch]) {
    const id = this.schedule.queues.get(queue)?.[epoch - 1];
    const its = this.schedule.byId.get(id);
    return h(
      "li",
      h("span.chip", h("span", h("bdi", queue), `\u200a:\u200a${epoch}`)),
      its === op ? h("span.muted", " itself") : its ? [" ", this.#link(its)] : h("span.muted", ` ${id ?? "an operation that was not listed"}`),
    );
  }

  move(at) {
    if (!this.op) return;
    const state = this.schedule.stateOf(this.op, at);
    if (this.state.dataset.state !== state) {
      this.state.dataset.state = state;
      setText(this.state, state);
    }
  }
}

/** What happened up to now, the latest first. */
export class EventLog {
  constructor(box) {
    this.list = h("ol.log", { reversed: true });
    box.replaceChildren(this.list);
    this.shown = -1;
  }

  show(schedule) {
    this.schedule = schedule;
    this.shown = -1;
  }

  move(at) {
    const until = this.schedule.eventsUntil(at);
    if (until === this.shown) return;
    const added = until - this.shown;
    const from = Math.max(0, until - LOGGED);
    if (this.shown >= 0 && added > 0 && added < LOGGED) {
      for (let i = this.shown; i < until; i++) this.list.prepend(this.#entry(this.schedule.events[i]));
      while (this.list.childElementCount > LOGGED) this.list.lastElementChild?.remove();
    } else {
      const entries = [];
      for (let i = until - 1; i >= from; i--) entries.push(this.#entry(this.schedule.events[i]));
      this.list.replaceChildren(...entries);
    }
    this.shown = until;
    if (until === 0) this.list.replaceChildren(h("li.muted", "Nothing has happened yet."));
    else if (until > 0 && this.list.lastElementChild?.className === "muted") this.list.lastElementChild.remove();
  }

  #entry({ time: at, kind, op }) {
    const { unit } = this.schedule;
    const text = {
      start: [h("b", op.label), ` starts on ${op.laneLabel}`],
      end: [h("b", op.label), " ends", op.signals.length > 0 && [", ", op.signals.map(({ semaphore, value }) => axisChip(this.schedule.axis(semaphore), value))]],
      fail: [h("b", op.label), h("span.bad", ` fails: ${op.failure}`)],
    }[kind];
    return h("li", h("span.when", time(unit, at)), h("span", text));
  }
}

/** All operations, as a table: the lanes for those who do not see them. */
export class OperationTable {
  /** @param {HTMLElement} box @param {{select: (op: any) => void}} actions */
  constructor(box, actions) {
    this.actions = actions;
    this.body = h("tbody");
    box.replaceChildren(table("Operations", ["Operation", "Hardware", "Lane", "Start", "End", "Waits", "Signals", "Frontier"], this.body));
  }

  show(schedule) {
    const pairs = (list, sign) => list.map(({ semaphore, value }) => `${schedule.axis(semaphore).label}${sign}${value}`).join(", ");
    const { unit } = schedule;
    fill(
      this.body,
      schedule.operations.slice(0, LISTED).map((op) =>
        h(
          "tr",
          h("th", { scope: "row" }, h("button.link", { onclick: () => this.actions.select(op) }, op.label), idBeside(op.label, op.id)),
          h("td", op.hardwareLabel),
          h("td", op.laneLabel),
          h("td.number", op.start < 0 ? "–" : time(unit, op.start)),
          h("td.number", op.end < 0 ? "–" : op.failure === "" ? time(unit, op.end) : `✕ ${time(unit, op.end)}`),
          h("td", pairs(op.waits, " ≥ ")),
          h("td", pairs(op.signals, " = ")),
          h("td", op.frontier.map(([name, epoch]) => `${schedule.axis(name).label}:${epoch}`).join(", ")),
        ),
      ),
      restRow(8, schedule.operations.length - LISTED, "operation"),
    );
  }
}
