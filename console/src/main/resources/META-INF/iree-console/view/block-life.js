// @ts-check
// The life of a block of memory: who had its bytes before, why they could be used again, and who had them next.
import { REUSE, neighboursInTime } from "../model/memory.js";
import { frontierChips } from "./chips.js";
import { h } from "./dom.js";
import { timeNamed } from "./format.js";

export const titleOf = (block, format) =>
  `${format(block.length)} of ${block.function === "" ? (block.consumer === "" ? "no program" : block.consumer) : block.function} (#${block.reservation})`;

/** Why a block could be used. A pool forgets users that have completed. */
const reuseOf = (block, before) => REUSE[block.reuse === "UNUSED" && before ? "COMPLETED" : block.reuse] ?? block.reuse;

/**
 * @param {import("../model/schedule.js").Schedule} schedule
 * @param {any} block
 * @param {(size: number) => string} format of sizes
 * @param {(block: any) => void} pick called with the block of a neighbour that was chosen
 */
export function blockLife(schedule, block, format, pick) {
  const { unit } = schedule;
  const { before, after } = neighboursInTime(schedule.memory, block);
  const link = (each) => h("button.link", { onclick: () => pick(each) }, titleOf(each, format));
  const chips = (frontier) => frontierChips(Object.entries(frontier), schedule.axis);
  return [
    h("h3", titleOf(block, format)),
    h("p.muted", `${block.pool}, slab ${block.slab}, at ${format(block.offset)}`),
    h(
      "dl",
      h("dt", `Allocated at ${timeNamed(unit, block.start)}`),
      h("dd", reuseOf(block, before), Object.keys(block.death).length > 0 && [": ", chips(block.death)]),
      h("dt", "Before that"),
      h("dd", before ? link(before) : h("span.muted", "nothing that was recorded")),
      h("dt", block.end === null ? "Released" : `Released at ${timeNamed(unit, block.end)}`),
      h("dd", block.end === null ? h("span.muted", "not yet") : Object.keys(block.releasedBehind ?? {}).length > 0 ? ["to be used again after ", chips(block.releasedBehind)] : "to be used again at once"),
      h("dt", "After that"),
      h("dd", after ? [link(after), `, since ${reuseOf(after, block)}`] : h("span.muted", "not used again so far")),
    ),
  ];
}
