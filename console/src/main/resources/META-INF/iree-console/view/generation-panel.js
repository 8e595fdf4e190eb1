// @ts-check
// Text generation: sequences as lanes, and the pages of the cache as a map.
import { axisColour } from "../model/colours.js";
import { lanesOf, pagesOf } from "../model/generation.js";
import { coloursNow, fill, h, isDark, penOf, rest, roomOf, setText } from "./dom.js";
import { count, plural, seconds, span } from "./format.js";
import { showTip } from "./plot.js";

const LANES = 24;
const SLOW = 5;
const MOST_PAGES = 16_384;
const FILLS = { kept: "block-reusable", free: "block-fresh" };

export class GenerationPanel {
  constructor(box) {
    this.box = box;
    this.models = new Map();
  }

  /** @param {any} answer of the endpoint @param {string} program the only one to show; empty for all */
  show(answer, program) {
    const shown = answer.models.filter((each) => program === "" || each.model === program);
    for (const each of shown) {
      if (!this.models.has(each.model)) this.models.set(each.model, new ModelView(each.model));
      this.models.get(each.model).show(each);
    }
    this.views = shown.map((each) => this.models.get(each.model));
    fill(this.box, this.views.length === 0 ? h("p.muted", "No generator is open: a generator opens with its program.") : this.views.map((each) => each.box));
    this.draw();
  }

  draw() {
    this.views?.forEach((each) => each.draw());
  }
}

class ModelView {
  constructor(model) {
    this.sentence = h("p.sentence");
    this.unknown = h("p.muted");
    this.lanes = h("ul.plain.sequences");
    this.slow = h("ol.slow-tokens");
    this.slowest = h("div", { hidden: true }, h("h4", "Slowest tokens of late"), this.slow);
    this.canvas = h("canvas.memory-canvas", { role: "img" });
    this.tip = h("div.tip", { hidden: true, "aria-hidden": "true" });
    this.map = h("div.memory-map", this.canvas, this.tip);
    this.places = (_) => undefined;
    this.canvas.addEventListener("pointermove", (event) => showTip(this.tip, this.map, pageText(this.places(event)), event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    const keys = [["block-reusable", "kept for later prompts"], ["block-fresh", "free"]];
    this.box = h("div", h("h3", h("bdi", model)), this.sentence, this.unknown, this.lanes, this.map, h("p.legend", h("span", "used: the colour of the sequence; shared: with a dot"), keys.map(([style, text]) => h("span.key", h("span.swatch", { class: style }), text))), this.slowest);
  }

  show({ statistics, state, slowTokens = [] }) {
    const of = (part, whole) => (whole === 0 ? "–" : `${Math.round((100 * part) / whole)} %`);
    const { running, waiting, generatedTokens, promptTokens, sharedTokens, decodeSteps, proposedTokens, acceptedTokens, pausedSteps, preemptions } = statistics;
    setText(this.sentence, `${plural(running, "sequence")} with pages, ${count(waiting)} waiting; ${plural(generatedTokens, "token")} generated so far, ${of(sharedTokens, promptTokens)} of the prompts’ tokens found in the cache, ${plural(preemptions, "preemption")}${proposedTokens > 0 ? `, ${of(acceptedTokens, proposedTokens)} of the proposals accepted, no search for proposals in ${of(pausedSteps, decodeSteps)} of the decode steps` : ""}`);
    this.slowest.hidden = slowTokens.length === 0;
    fill(this.slow, slowTokens.slice(0, SLOW).map(slowOf));
    this.state = state ?? this.state; // null while a step is long
    setText(this.unknown, state ? "" : this.state ? "The step in progress is long: sequences and pages are as they were before." : "The step in progress is long: sequences and pages are not known yet.");
    if (!this.state) return;
    const lanes = lanesOf(this.state);
    fill(this.lanes, lanes.length === 0 && h("li.muted", "No sequences now."), lanes.slice(0, LANES).map(laneOf), rest("li.muted", lanes.length - LANES, "sequence"));
  }

  draw() {
    const width = roomOf(this.canvas);
    if (width === 0 || !this.state) return;
    const pages = pagesOf(this.state);
    const drawn = pages.slice(0, MOST_PAGES);
    const cell = pages.length <= 512 ? 13 : pages.length <= 4_096 ? 8 : 5;
    const columns = Math.max(1, Math.floor(width / cell));
    const pen = penOf(this.canvas, width, Math.max(1, Math.ceil(drawn.length / columns)) * cell);
    const colours = coloursNow();
    drawn.forEach(({ use, users }, i) => {
      const [left, top, side] = [(i % columns) * cell, Math.floor(i / columns) * cell, cell - (cell > 5 ? 2 : 1)];
      pen.fillStyle = colours[FILLS[use]] ?? axisColour(users[0], isDark())(1);
      pen.fillRect(left, top, side, side);
      pen.strokeStyle = colours["line-strong"];
      if (use === "free" && cell > 5) pen.strokeRect(left + 0.5, top + 0.5, side - 1, side - 1);
      pen.fillStyle = colours.text;
      if (use === "shared") pen.fillRect(left + side / 2 - 1, top + side / 2 - 1, 2, 2);
    });
    this.places = ({ offsetX, offsetY }) => (offsetX < columns * cell ? drawn[Math.floor(offsetY / cell) * columns + Math.floor(offsetX / cell)] : undefined);
    const number = (use) => pages.filter((each) => each.use === use).length;
    this.canvas.setAttribute("aria-label", `Pages of the cache, ${plural(this.state.pageTokens, "token")} each: ${number("used")} used, ${number("shared")} shared, ${number("kept")} kept, ${number("free")} free${pages.length > drawn.length ? `; the first ${drawn.length} are drawn` : ""}`);
  }
}

/** @param {ReturnType<typeof lanesOf>[number]} lane */
function laneOf({ number, tenant, waits, promptTokens, generatedTokens, maximumTokens, computedTokens, sharedPages, pages, ...shares }) {
  const part = (name, share) => {
    const element = h("span", { class: name });
    element.style.width = `${100 * share}%`;
    return element;
  };
  return h(
    "li.sequence",
    { class: waits && "waits", axis: number },
    h("div", h("b", `${number}`), tenant !== "" && [" ", h("bdi", tenant)], h("span.muted", ` prompt ${count(promptTokens)}, generated ${count(generatedTokens)} of at most ${count(maximumTokens)}; `, waits ? "waits for pages or a row" : `${count(computedTokens)} computed, ${plural(pages.length, "page")}${sharedPages > 0 ? `, ${count(sharedPages)} shared` : ""}`)),
    h("div.tokens", { "aria-hidden": "true" }, part("prompt", shares.prompt), part("generated", shares.generated), part("left", shares.left)),
    h("div.computed", { "aria-hidden": "true" }, part("done", shares.computed)),
  );
}

/** Why a token came late: the parts of its time that are there. */
function slowOf({ number, tenant, promptTokens, delay }) {
  const parts = [
    ["own steps", delay.own],
    ["waiting for pages or its turn", delay.waiting],
    ["prompts of others", delay.prefills],
    ["tokens of others", delay.decodes],
  ].map(([name, time]) => ({ name, time: seconds(time) }));
  const left = seconds(delay.time) - parts.reduce((sum, each) => sum + each.time, 0);
  const shown = [...parts, { name: "between steps", time: left }].filter((each) => each.time >= 5e-5).map((each) => `${span(each.time)} ${each.name}`);
  return h(
    "li",
    h("b", span(seconds(delay.time))),
    ` until ${delay.index === 0 ? "the first token" : `token ${count(delay.index + 1)}`} of request ${number}`,
    tenant !== "" && [" of ", h("bdi", tenant)],
    h("span.muted", `, ${plural(promptTokens, "token")} of prompt: ${shown.join(", ")}${delay.preemptions > 0 ? `; ${plural(delay.preemptions, "preemption")}` : ""}`),
  );
}

const pageText = (page) => (page ? `page ${page.page}: ${page.use}${page.users.length > 0 ? ` by ${page.users.slice(0, 8).join(", ")}` : ""}` : "");
