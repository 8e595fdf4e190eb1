// @ts-check
// Memory over time of a recording, and the life of a block from allocation to reuse.
import { axisClass, axisColour } from "../model/colours.js";
import { REUSE, bytesOverTime, heldAt, neighboursInTime } from "../model/memory.js";
import { drawAreas } from "./chart.js";
import { frontierChips } from "./chips.js";
import { fill, h, isDark, setText } from "./dom.js";
import { bytes, count, timeNamed } from "./format.js";

const LISTED = 12;

export class MemoryPanel {
  /** @param {HTMLElement} card @param {HTMLElement} box */
  constructor(card, box) {
    this.card = card;
    this.by = "consumer";
    this.select = h("select", { onchange: (event) => this.#group(event.target.value) }, h("option", { value: "consumer" }, "program"), h("option", { value: "pool" }, "pool"));
    this.canvas = h("canvas.chart", { role: "img" });
    this.legend = h("p.legend");
    this.sentence = h("p");
    this.list = h("ul.plain.blocks");
    this.life = h("div.life", { "aria-live": "polite" });
    box.replaceChildren(h("label.field", {}, "By ", this.select), h("div.chart-box", {}, this.canvas), this.legend, this.sentence, this.list, this.life);
    this.memory = [];
    new ResizeObserver(() => this.draw()).observe(box);
  }

  show(schedule) {
    this.schedule = schedule;
    this.memory = schedule.memory;
    this.card.hidden = this.memory.length === 0;
    this.block = null;
    this.shown = "";
    this.life.replaceChildren();
    this.#group(this.by);
  }

  #group(by) {
    this.by = by;
    if (this.memory.length === 0) return;
    this.chart = bytesOverTime(this.memory, this.schedule.finalTick, by);
    fill(this.legend, this.chart.series.map(({ name }, i) => h("span.key", { class: axisClass(i + 3) }, h("span.swatch.axis"), name)));
    this.draw();
  }

  draw() {
    if (this.memory.length === 0) return;
    const { times, series } = this.chart;
    const end = this.schedule.finalTick;
    drawAreas(
      this.canvas,
      { from: 0, to: end },
      times,
      series.map(({ values }, i) => ({ colour: axisColour(i + 3, isDark())(0.6), values })),
      { height: 90, format: bytes, mark: this.at },
    );
    this.canvas.setAttribute("aria-label", `Memory in use over time by ${this.by}: ${series.map(({ name, values }) => `${name} at most ${bytes(Math.max(...values))}`).join(", ")}`);
  }

  move(at) {
    this.at = at;
    if (this.memory.length === 0) return;
    this.draw();
    const held = heldAt(this.memory, at);
    setText(this.sentence, `${bytes(held.reduce((sum, each) => sum + each.length, 0))} in ${count(held.length)} blocks at ${timeNamed(this.schedule.unit, at)}`);
    const shown = held.slice(0, LISTED);
    const key = shown.map((each) => each.reservation).join();
    if (key === this.shown) return;
    this.shown = key;
    fill(this.list, shown.map((each) => h("li", {}, h("button.link", { type: "button", onclick: () => this.#live(each) }, title(each)))), held.length > LISTED && h("li.muted", {}, `and ${held.length - LISTED} smaller ones`));
  }

  /** The life of a block. */
  #live(block) {
    const { unit } = this.schedule;
    const indexOf = (name) => this.schedule.semaphoreByName.get(name)?.index ?? 0;
    const { before, after } = neighboursInTime(this.memory, block);
    const link = (each) => h("button.link", { type: "button", onclick: () => this.#live(each) }, title(each));
    fill(
      this.life,
      h("h3", {}, title(block)),
      h("p.muted", {}, `${block.pool}, slab ${block.slab}, at ${bytes(block.offset)}`),
      h(
        "dl",
        {},
        h("dt", {}, `Allocated at ${timeNamed(unit, block.start)}`),
        h("dd", {}, REUSE[block.reuse] ?? block.reuse, Object.keys(block.death).length > 0 && [": ", frontierChips(Object.entries(block.death), indexOf)]),
        h("dt", {}, "Before that"),
        h("dd", {}, before ? link(before) : h("span.muted", {}, "nothing that was recorded")),
        h("dt", {}, block.end === null ? "Released" : `Released at ${timeNamed(unit, block.end)}`),
        h("dd", {}, block.end === null ? h("span.muted", {}, "not yet") : ["to be reused after ", frontierChips(Object.entries(block.releasedBehind ?? {}), indexOf)]),
        h("dt", {}, "After that"),
        h("dd", {}, after ? [link(after), `, since ${REUSE[after.reuse] ?? after.reuse}`] : h("span.muted", {}, "not reused so far")),
      ),
    );
  }
}

const title = (each) => `${bytes(each.length)} of ${each.function === "" ? (each.consumer === "" ? "no program" : each.consumer) : each.function} (#${each.reservation})`;
