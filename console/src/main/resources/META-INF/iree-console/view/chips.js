// @ts-check
import { h } from "./dom.js";

/** An axis and how far it got, in the colour of the axis. */
export function axisChip(name, epoch, index, title) {
  return h("span.chip", { axis: index, title }, h("span.dot", { "aria-hidden": "true" }), `${name}\u200a:\u200a${epoch}`);
}

/** The entries of a frontier. */
export function frontierChips(entries, indexOf, tainted = false) {
  if (entries.length === 0 && !tainted) return h("span.muted", {}, "empty");
  return h(
    "span.chips",
    {},
    entries.map(([name, epoch]) => axisChip(name, epoch, indexOf(name))),
    tainted && h("span.chip.warning", { title: "Entries are missing: what they said is treated as unknown." }, "tainted"),
  );
}
