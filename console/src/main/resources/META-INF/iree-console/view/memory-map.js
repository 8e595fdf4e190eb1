// @ts-check
// The blocks of a device's memory: a bar for each slab, as long as it is large.
import { bytes, plural } from "./format.js";
import { coloursNow, fill, h, penOf, rest } from "./dom.js";
import { showTip } from "./plot.js";

const ROW = 16;
const GAP = 5;
const NAME = 128; // width of the names of slabs
const MOST = 50; // blocks that are listed as text

const STATES = {
  RESERVED: { label: "in use", style: "block-reserved" },
  DYING: { label: "free once its last use completes", style: "block-dying" },
  REUSABLE: { label: "free", style: "block-reusable" },
  FRESH: { label: "no use known", style: "block-fresh" },
};

export class MemoryMapView {
  /** @param {string} device @param {(block: any, slab: any) => void} pick called with the block that was chosen */
  constructor(device, pick) {
    this.pick = pick;
    this.canvas = h("canvas.memory-canvas", { role: "img" });
    this.tip = h("div.tip", { hidden: true, "aria-hidden": "true" });
    this.blocks = h("ul.plain.blocks");
    this.details = h("details", { ontoggle: () => this.#list() }, h("summary", "Blocks that were used"), this.blocks);
    this.picture = h("div.memory-map", this.canvas, this.tip);
    this.box = h("div", this.picture, this.details);
    this.device = device;
    this.places = [];
    this.canvas.addEventListener("pointermove", (event) => this.#hover(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("click", (event) => {
      const found = this.#find(event);
      if (found) this.pick(found.block, found.slab);
    });
  }

  /** @param {any} memory of the device @param {(size: number) => string} format of sizes */
  draw(memory, format = bytes) {
    this.memory = memory;
    this.format = format;
    this.#list();
    const width = this.picture.clientWidth;
    if (width === 0 || !memory) return;
    const slabs = memory.slabs.slice(0, 24);
    const largest = Math.max(1, ...slabs.map((each) => each.size));
    const pen = penOf(this.canvas, width, Math.max(ROW, slabs.length * (ROW + GAP)));
    this.places = [];
    const colours = coloursNow();
    const names = namesOf(slabs);
    slabs.forEach((slab, row) => {
      const top = row * (ROW + GAP);
      const length = Math.max(24, (slab.size / largest) * (width - NAME));
      pen.fillStyle = colours.muted;
      pen.fillText(`${names[row]} ${format(slab.size)}`, 0, top + ROW / 2 + 1, NAME - 8);
      // Small blocks in use are drawn over large free ones, and never vanish.
      for (const block of [...slab.blocks].sort((a, b) => b.length - a.length)) {
        const left = NAME + (block.offset / slab.size) * length;
        const right = NAME + ((block.offset + block.length) / slab.size) * length;
        pen.fillStyle = colours[STATES[block.state]?.style ?? "line"];
        pen.fillRect(left, top, Math.max(2, right - left - (right - left > 3 ? 1 : 0)), ROW);
        this.places.unshift({ left, right: Math.max(right, left + 2), top, block, slab });
      }
      pen.strokeStyle = colours.line;
      pen.strokeRect(NAME + 0.5, top + 0.5, length - 1, ROW - 1);
    });
    const of = (state) => memory.slabs.flatMap((each) => each.blocks).filter((each) => each.state === state);
    const sum = (list) => format(list.reduce((total, each) => total + each.length, 0));
    this.canvas.setAttribute(
      "aria-label",
      `Memory of ${this.device}: ${plural(memory.slabs.length, "slab")}; ${Object.entries(STATES)
        .map(([state, { label }]) => `${plural(of(state).length, "block")}, ${sum(of(state))}, ${label}`)
        .join("; ")}${memory.omitted > 0 ? `; ${memory.omitted} not listed` : ""}`,
    );
  }

  /** The same as text, for those without a pointer. */
  #list() {
    if (!this.details.open || !this.memory) return;
    const all = this.memory.slabs.flatMap((slab) => slab.blocks.filter((block) => block.state !== "FRESH").map((block) => ({ block, slab })));
    all.sort((a, b) => Number(b.block.death.length > 0) - Number(a.block.death.length > 0));
    const shown = all.slice(0, MOST).map(({ block, slab }) => h("li", h("button.link", { onclick: () => this.pick(block, slab) }, describeBlock(block, slab, this.format))));
    fill(this.blocks, all.length === 0 ? h("li.muted", "None now.") : shown, rest("li.muted", all.length - MOST));
  }

  #find(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    return this.places.find((each) => x >= each.left && x <= each.right && y >= each.top && y < each.top + ROW);
  }

  #hover(event) {
    const found = this.#find(event);
    showTip(this.tip, this.picture, found ? describeBlock(found.block, found.slab, this.format) : "", event);
  }
}

export const legendOfBlocks = () => h("p.legend", Object.values(STATES).map(({ label, style }) => h("span.key", h("span.swatch", { class: style }), label)));

function describeBlock(block, slab, format) {
  const death = block.death.map((each) => `${each.queue}:${each.epoch}${each.completed >= each.epoch ? " ✓" : ` (at ${each.completed})`}`).join(", ");
  const after = death === "" ? "" : block.state === "RESERVED" ? `; its user runs after ${death}` : `; reused after ${death}`;
  return `${slab.pool}: ${format(block.length)} at ${format(block.offset)}, ${STATES[block.state]?.label ?? block.state}${after}${block.tainted ? "; tainted" : ""}`;
}

/** The names of slabs: of several in a pool, with a number. */
export function namesOf(slabs) {
  const counts = new Map();
  return slabs.map(({ pool }) => {
    const number = (counts.get(pool) ?? 0) + 1;
    counts.set(pool, number);
    return slabs.filter((each) => each.pool === pool).length > 1 ? `${pool} ${number}:` : pool;
  });
}
