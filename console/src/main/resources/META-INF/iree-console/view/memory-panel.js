// @ts-check
// Memory of a run: over time, as a map at the time that is shown, and the life of a block from allocation to reuse.
import { axisColour } from "../model/colours.js";
import { bytesOverTime, heldAt, mapAt } from "../model/memory.js";
import { blockLife, titleOf } from "./block-life.js";
import { drawAreas } from "./chart.js";
import { fill, h, isDark, setText } from "./dom.js";
import { bytes, count, plural, timeNamed } from "./format.js";
import { MemoryMapView, legendOfBlocks } from "./memory-map.js";

const LISTED = 12;

export class MemoryPanel {
  /** @param {HTMLElement} card @param {HTMLElement} box */
  constructor(card, box) {
    this.card = card;
    this.by = "consumer";
    this.program = h("option", { value: "consumer" }, "program");
    this.select = h("select", { onchange: (event) => this.#group(event.target.value) }, this.program, h("option", { value: "pool" }, "pool"));
    this.canvas = h("canvas.chart", { role: "img" });
    this.legend = h("p.legend");
    this.map = new MemoryMapView("this run", (block) => block.user && this.#live(block.user));
    this.sentence = h("p");
    this.list = h("ul.plain.blocks");
    this.life = h("div.life", { "aria-live": "polite" });
    box.replaceChildren(h("label.field", {}, "By ", this.select), h("div.chart-box", {}, this.canvas), this.legend, this.map.box, legendOfBlocks(), this.sentence, this.list, this.life);
    this.memory = [];
    new ResizeObserver(() => this.draw()).observe(box);
  }

  show(schedule) {
    this.schedule = schedule;
    this.memory = schedule.memory;
    this.format = schedule.isRecording ? bytes : (size) => plural(size, "unit");
    setText(this.program, schedule.isRecording ? "program" : "buffer");
    this.card.hidden = this.memory.length === 0;
    this.shown = "";
    this.life.replaceChildren();
    this.#group(this.by);
  }

  #group(by) {
    this.by = by;
    if (this.memory.length === 0) return;
    this.chart = bytesOverTime(this.memory, this.schedule.finalTick, by);
    fill(this.legend, this.chart.series.map(({ name }, i) => h("span.key", { axis: i + 3 }, h("span.swatch.axis"), name)));
    this.draw();
  }

  /** Draws once before the next frame, however often it is asked. */
  draw() {
    this.frame ??= requestAnimationFrame(() => this.#drawNow());
  }

  #drawNow() {
    this.frame = undefined;
    if (this.memory.length === 0) return;
    const { times, series } = this.chart;
    const end = this.schedule.finalTick;
    drawAreas(
      this.canvas,
      { from: 0, to: end },
      times,
      series.map(({ values }, i) => ({ colour: axisColour(i + 3, isDark())(0.6), values })),
      { height: 90, format: this.format, mark: this.at },
    );
    this.canvas.setAttribute("aria-label", `Memory in use over time by ${this.by}: ${series.map(({ name, most }) => `${name} at most ${this.format(most)}`).join(", ")}`);
    if (this.at !== undefined) this.map.draw(mapAt(this.schedule, this.at), this.format);
  }

  move(at) {
    this.at = at;
    if (this.memory.length === 0) return;
    this.draw();
    const held = heldAt(this.memory, at);
    setText(this.sentence, `${this.format(held.reduce((sum, each) => sum + each.length, 0))} in ${plural(held.length, "block")} at ${timeNamed(this.schedule.unit, at)}`);
    const shown = held.slice(0, LISTED);
    const key = shown.map((each) => each.reservation).join();
    if (key === this.shown) return;
    this.shown = key;
    fill(this.list, shown.map((each) => h("li", {}, this.#link(each))), held.length > LISTED && h("li.muted", {}, `and ${count(held.length - LISTED)} smaller ones`));
  }

  #link(block) {
    return h("button.link", { type: "button", onclick: () => this.#live(block) }, titleOf(block, this.format));
  }

  /** The life of a block. */
  #live(block) {
    fill(this.life, blockLife(this.schedule, block, this.format, (each) => this.#live(each)));
  }
}
