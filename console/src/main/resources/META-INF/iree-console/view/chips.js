// @ts-check
import { dot, h } from "./dom.js";
import { labelled } from "./format.js";

/** @typedef {{name: string, label: string, index: number}} Axis with the number of its colour */

/** An axis and how far it got, in the colour of the axis. @param {Axis} axis */
export function axisChip({ name, label, index }, epoch, sign = "\u200a:\u200a") {
  return h("span.chip", { axis: index, title: label === name ? null : labelled(label, name) }, dot(), h("span", h("bdi", label), `${sign}${epoch}`));
}

/** The entries of a frontier. @param {(name: string) => Axis} axisOf */
export function frontierChips(entries, axisOf, tainted = false) {
  if (entries.length === 0 && !tainted) return h("span.muted", "empty");
  return h(
    "span.chips",
    entries.map(([name, epoch]) => axisChip(axisOf(name), epoch)),
    tainted && h("span.chip.warning", { title: "Entries are missing: what they said is treated as unknown." }, "tainted"),
  );
}
