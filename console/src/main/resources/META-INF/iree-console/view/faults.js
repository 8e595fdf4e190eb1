// @ts-check
// What goes wrong, by click or key, at the time that is shown; and whether the invariants hold all the same.
import { Invariants } from "../model/invariants.js";
import { fill, h, setText } from "./dom.js";
import { count, labelled, timeNamed } from "./format.js";

const KINDS = [
  { kind: "kill", key: "K", label: "Kill", title: "The machine is lost, with all its hardware at once" },
  { kind: "lose", key: "L", label: "Lose", title: "The hardware is lost: nothing on it ends well any more" },
  { kind: "slow", key: "S", label: "Slow", title: "What starts from now on takes three times as long" },
  { kind: "fail", key: "F", label: "Fail", title: "What runs now fails when it ends" },
  { kind: "exhaust", key: "M", label: "Out of memory", title: "What starts next finds no memory" },
];

export class Faults {
  /** @param {HTMLElement} box @param {{inject: (fault: string) => void, undo: (fault: string | null) => void}} actions */
  constructor(box, actions) {
    this.actions = actions;
    this.select = h("select", { "aria-label": "Hardware or machine", id: "fault-hardware" });
    this.buttons = KINDS.map(({ kind, key, label, title }) =>
      h("button.quiet.small", { title: `${title} (${key})`, "data-kind": kind, onclick: () => this.inject(kind) }, label),
    );
    this.active = h("ul.plain.faults");
    this.invariants = h("ul.plain.invariants", { "aria-label": "Invariants" });
    this.unchecked = h("p.muted", "No rule is checked: nothing that is known of this run could break it.");
    this.state = h("p.muted.progress");
    box.replaceChildren(
      h("div.fault-tools", h("label.field", "Where ", this.select), h("div.buttons", this.buttons)),
      this.active,
      this.invariants,
      this.unchecked,
      this.state,
    );
    this.at = 0;
  }

  /** @param {import("../model/schedule.js").Schedule} schedule @param {import("../model/faults.js").Fault[]} faults @param {boolean} possible */
  show(schedule, faults, possible) {
    this.schedule = schedule;
    const chosen = this.select.value;
    const machines = [...new Set(schedule.machineOf.values())].filter((each) => each !== "");
    const option = (each, text) => h("option", { value: each }, text);
    const hardware = schedule.hardware.map((each) => option(each, labelled(labelOf(each, schedule), each)));
    fill(
      this.select,
      machines.length === 0
        ? hardware
        : [
            h("optgroup", { label: "Hardware" }, hardware),
            h("optgroup", { label: "Machines" }, machines.map((each) => option(each, `${each} (${schedule.hardware.filter((its) => schedule.machineOf.get(its) === each).map((its) => labelOf(its, schedule)).join(", ")})`))),
          ],
    );
    if ([...this.select.options].some((each) => each.value === chosen)) this.select.value = chosen;
    [this.select, ...this.buttons].forEach((each) => (each.disabled = !possible));
    this.active.replaceChildren(
      ...faults.map((fault) =>
        h("li", h("span.chip.warning", { title: fault.text }, describeFault(fault, schedule)), " ", h("button.link", { "aria-label": `Undo ${describeFault(fault, schedule)}`, onclick: () => this.actions.undo(fault.text) }, "undo")),
      ),
    );
    this.checks = new Invariants(schedule, faults);
    this.items = this.checks.at(-1).map(({ name, rule }) => {
      const item = { mark: h("span.mark"), word: h("span.hidden"), checked: h("span.muted.number"), text: h("span.muted"), rule };
      return { ...item, row: h("li", item.mark, h("span", h("b", name), item.word, h("br"), item.checked, " ", item.text)) };
    });
    this.invariants.replaceChildren(...this.items.map(({ row }) => row));
    this.unchecked.hidden = this.items.length > 0;
    this.move(this.at);
  }

  /** The invariants as far as they could be checked until now. */
  move(at) {
    this.at = at;
    this.checks.at(at).forEach(({ checked, of, broken }, i) => {
      const { row, mark, word, checked: number, text, rule } = this.items[i];
      const holds = broken.length === 0;
      const known = !holds || checked > 0;
      row.className = !known ? "unchecked" : holds ? "holds" : "broken";
      setText(mark, !known ? "–" : holds ? "✓" : "✕");
      setText(word, !known ? " is not checked yet." : holds ? " holds." : " is broken.");
      setText(number, `${count(checked)} of ${count(of)} checked.`);
      setText(text, holds ? rule : `${rule} Not so: ${broken.slice(0, 5).join(", ")}${broken.length > 5 ? `, and ${count(broken.length - 5)} more` : ""}`);
    });
    const { operations, isRecording, isPolled } = this.schedule;
    const ended = operations.filter((op) => op.end >= 0 && op.end <= at);
    // Of a recording nothing is known of what follows its end.
    const open = isRecording ? operations.filter((op) => op.end < 0).length : 0;
    const running = operations.filter((op) => op.start >= 0 && op.start <= at && !(op.end >= 0 && op.end <= at) && !(isRecording && op.end < 0)).length;
    const failed = ended.filter((op) => op.failure !== "").length;
    const rest = open === 0 ? "" : `, ${count(open)} ${isPolled ? "listed as pending at the last answer" : "had not ended when the recording was taken"}`;
    setText(
      this.state,
      `${count(ended.length - failed)} ended well, ${count(failed)} failed, ${count(running)} running, ${count(operations.length - ended.length - running - open)} to come${rest}.`,
    );
  }

  pick(hardware) {
    this.select.value = hardware;
    this.buttons[0].focus();
  }

  next() {
    this.select.selectedIndex = (this.select.selectedIndex + 1) % Math.max(1, this.select.length);
    return this.select.value;
  }

  key(key) {
    const found = KINDS.find((each) => each.key === key.toUpperCase());
    if (found && !this.select.disabled) this.inject(found.kind);
    return found !== undefined;
  }

  inject(kind) {
    const { value } = this.select;
    if (value === "") return;
    const target = kind === "kill" ? this.schedule.machineOf.get(value) || value : value;
    this.actions.inject(`${kind}:${target}${kind === "slow" ? "*3" : ""}@${Math.floor(this.at)}`);
  }
}

/** The label of hardware or of an operation; machines have only their names. */
const labelOf = (target, schedule) => schedule.labelOf.get(target) ?? schedule.byId.get(target)?.label ?? target;

/** @param {import("../model/faults.js").Fault} fault @param {import("../model/schedule.js").Schedule} schedule */
export function describeFault({ text, kind, target, factor, tick }, schedule) {
  const done = { kill: "killed", lose: "lost", slow: `${factor} times slower`, fail: "fails", exhaust: "out of memory" }[kind];
  if (kind === "reject") return `${labelOf(target, schedule)} rejects its draft`;
  const what = kind === "kill" && schedule.machineOf.has(target) ? `machine of ${labelOf(target, schedule)}` : labelOf(target, schedule);
  return done ? `${what} ${done} at ${timeNamed(schedule.unit, tick)}` : text;
}
