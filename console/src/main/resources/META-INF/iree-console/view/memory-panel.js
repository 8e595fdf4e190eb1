// @ts-check
// Memory of a run: over time, as a map at the time that is shown, and the life of a block from allocation to reuse.
import { axisColour } from "../model/colours.js";
import { bytesOverTime, heldAt, mapAt } from "../model/memory.js";
import { isolated } from "../model/names.js";
import { blockLife, titleOf } from "./block-life.js";
import { drawAreas } from "./chart.js";
import { fill, h, isDark, setText } from "./dom.js";
import { bytes, count, plural, timeNamed } from "./format.js";
import { MemoryMapView, legendOfBlocks } from "./memory-map.js";

const LISTED = 12;
const BEFORE = "held from before";

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
    box.replaceChildren(h("label.field", "By ", this.select), h("div.chart-box", this.canvas), this.legend, this.map.box, legendOfBlocks(), this.sentence, this.list, this.life);
    this.isEmpty = true;
    new ResizeObserver(() => this.draw()).observe(box);
  }

  show(schedule) {
    this.schedule = schedule;
    this.before = [...schedule.heldBefore.values()].reduce((sum, each) => sum + each, 0);
    this.isEmpty = schedule.memory.length === 0 && this.before === 0;
    this.format = schedule.isRecording ? bytes : (size) => plural(size, "unit");
    setText(this.program, schedule.isRecording ? "program" : "buffer");
    this.card.hidden = this.isEmpty;
    this.shown = "";
    this.life.replaceChildren();
    this.#group(this.by);
  }

  #group(by) {
    this.by = by;
    if (this.isEmpty) return;
    const { times, series } = bytesOverTime(this.schedule.memory, this.schedule.finalTick, by);
    if (this.before > 0) series.push({ name: BEFORE, values: times.map(() => this.before), most: this.before });
    this.chart = { times, series };
    fill(this.legend, series.map(({ name }, i) => h("span.key", { axis: i + 3 }, h("span.swatch.axis"), name)));
    this.draw();
  }

  /** Draws once before the next frame, however often it is asked. */
  draw() {
    this.frame ??= requestAnimationFrame(() => this.#drawNow());
  }

  #drawNow() {
    this.frame = undefined;
    if (this.isEmpty) return;
    const { times, series } = this.chart;
    const end = this.schedule.finalTick;
    drawAreas(
      this.canvas,
      { from: 0, to: end },
      times,
      series.map(({ values }, i) => ({ colour: axisColour(i + 3, isDark())(0.6), values })),
      { height: 90, format: this.format, mark: this.at, most: this.schedule.isRecording ? "recorded: at most" : "at most" },
    );
    this.canvas.setAttribute("aria-label", `Memory in use over time by ${this.by}${this.schedule.isRecording ? ", as far as recorded" : ""}: ${series.map(({ name, most }) => `${name} at most ${this.format(most)}`).join(", ")}`);
    if (this.at !== undefined) this.map.draw(mapAt(this.schedule, this.at), this.format);
  }

  move(at) {
    this.at = at;
    if (this.isEmpty) return;
    this.draw();
    const held = heldAt(this.schedule.memory, at);
    setText(this.sentence, `${this.format(held.reduce((sum, each) => sum + each.length, 0))} in ${plural(held.length, "block")} at ${timeNamed(this.schedule.unit, at)}${this.#beforeInWords()}`);
    const shown = held.slice(0, LISTED);
    const key = shown.map((each) => each.reservation).join();
    if (key === this.shown) return;
    this.shown = key;
    fill(this.list, shown.map((each) => h("li", this.#link(each))), held.length > LISTED && h("li.muted", `and ${count(held.length - LISTED)} smaller ones`));
  }

  #beforeInWords() {
    const pools = [...this.schedule.heldBefore].map(([pool, length]) => `${this.format(length)} of pool “${isolated(pool)}”`);
    return pools.length === 0 ? "" : `, and held from before, at least: ${pools.join(", ")}`;
  }

  #link(block) {
    return h("button.link", { onclick: () => this.#live(block) }, titleOf(block, this.format));
  }

  /** The life of a block. */
  #live(block) {
    fill(this.life, blockLife(this.schedule, block, this.format, (each) => this.#live(each)));
  }
}
