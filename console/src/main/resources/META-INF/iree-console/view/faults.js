// @ts-check
// What goes wrong, by click or key, at the time that is shown; and whether the invariants hold all the same.
import { checkInvariants } from "../model/invariants.js";
import { h } from "./dom.js";

const KINDS = [
  { kind: "lose", key: "L", label: "Lose", title: "The hardware is lost: nothing on it ends well any more" },
  { kind: "slow", key: "S", label: "Slow", title: "What starts from now on takes three times as long" },
  { kind: "fail", key: "F", label: "Fail", title: "What runs now fails when it ends" },
  { kind: "exhaust", key: "M", label: "Out of memory", title: "What starts next finds no memory" },
];

export class Faults {
  /** @param {HTMLElement} box @param {{inject: (fault: string) => void, undo: (fault: string | null) => void}} actions */
  constructor(box, actions) {
    this.actions = actions;
    this.select = h("select", { "aria-label": "Hardware", id: "fault-hardware" });
    this.buttons = KINDS.map(({ kind, key, label, title }) =>
      h("button.quiet.small", { type: "button", title: `${title} (${key})`, "data-kind": kind, onclick: () => this.inject(kind) }, label),
    );
    this.active = h("ul.plain.faults");
    this.invariants = h("ul.plain.invariants", { "aria-label": "Invariants" });
    box.replaceChildren(
      h("div.fault-tools", {}, h("label.field", {}, "Hardware ", this.select), h("div.buttons", {}, this.buttons)),
      this.active,
      this.invariants,
    );
    this.at = 0;
  }

  /** @param {import("../model/schedule.js").Schedule} schedule @param {string[]} faults @param {boolean} possible */
  show(schedule, faults, possible) {
    const chosen = this.select.value;
    this.select.replaceChildren(...schedule.hardware.map((each) => h("option", { value: each }, each)));
    if (schedule.hardware.includes(chosen)) this.select.value = chosen;
    [this.select, ...this.buttons].forEach((each) => (each.disabled = !possible));
    this.active.replaceChildren(
      ...faults.map((fault) =>
        h("li", {}, h("span.chip.warning", {}, describe(fault)), " ", h("button.link", { type: "button", "aria-label": `Undo ${describe(fault)}`, onclick: () => this.actions.undo(fault) }, "undo")),
      ),
    );
    const failed = schedule.operations.filter((op) => op.failure !== "").length;
    this.invariants.replaceChildren(
      ...checkInvariants(schedule).map(({ name, rule, broken }) =>
        h(
          "li",
          { class: broken.length === 0 ? "holds" : "broken" },
          h("span.mark", {}, broken.length === 0 ? "✓" : "✕"),
          h("span", {}, h("b", {}, name), h("span.hidden", {}, broken.length === 0 ? " holds. " : " is broken. "), h("br"), h("span.muted", {}, broken.length === 0 ? rule : `${rule} Not so: ${broken.slice(0, 5).join(", ")}`)),
        ),
      ),
      failed > 0 ? h("li", {}, h("span.mark", {}, "·"), h("span", {}, `${failed} of ${schedule.operations.length} operations fail`, schedule.collateral.size > 0 && `, ${schedule.collateral.size} of them because their timeline does`)) : "",
    );
  }

  move(at) {
    this.at = at;
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
    if (this.select.value === "") return;
    this.actions.inject(`${kind}:${this.select.value}${kind === "slow" ? "*3" : ""}@${Math.floor(this.at)}`);
  }
}

export function describe(fault) {
  const [, kind, target, factor, tick] = /^(\w+):([^@*]+)(?:\*(\d+))?(?:@(\d+))?$/.exec(fault) ?? [];
  const done = { lose: "lost", slow: `${factor ?? 2} times slower`, fail: "fails", exhaust: "out of memory" }[kind ?? ""];
  return done ? `${target} ${done} at ${tick ?? 0}` : fault;
}
