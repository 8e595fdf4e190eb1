// @ts-check
// Operations over time, by track, each as a bar in the colours of its parts. Dragging measures a span.
import { PARTS, Trace } from "../model/trace.js";
import { h } from "./dom.js";
import { count, plural, time } from "./format.js";
import { Plot, widthOf } from "./plot.js";

const ROOM = 360; // height that all tracks share while their rows are not too low
const ROW = { least: 2, most: 18 };
const PADDING = 8; // of a track
const DISPATCH_ROW = 10; // the lowest row with room for dispatches in its bars
const LIT = 2; // the layer of what is lit
const CLICK = 4; // pixels that a click may move
const CLOSEST = 200; // nanoseconds that fill the width at the strongest zoom

export class TraceTracks extends Plot {
  /**
   * @param {HTMLElement} box
   * @param {{select: (op: any) => void, measured: (from: number, to: number) => void, moved: () => void}} actions
   */
  constructor(box, actions) {
    super(box, "Operations over time", "Tracks, scrollable", 24, 90);
    this.actions = actions;
    this.span = null; // measured
    this.path = new Set();
    this.sought = null;
    this.canvas.addEventListener("pointerdown", (event) => this.#press(event));
    this.canvas.addEventListener("pointermove", (event) => this.#move(event));
    this.canvas.addEventListener("pointerup", (event) => this.#release(event));
    this.canvas.addEventListener("pointercancel", () => (this.pressed = null));
  }

  /** @param {Trace} trace @param {"queue" | "thread" | "function"} by */
  show(trace, by) {
    if (trace !== this.trace) {
      this.from = trace.from;
      this.to = trace.to;
      this.path = new Set();
      this.call = null;
      this.span = null;
    }
    this.trace = trace;
    this.bounds = { first: trace.from, last: trace.to, closest: CLOSEST, origin: trace.from, unit: "ns" };
    const all = trace.tracks(by);
    const rows = all.reduce((sum, track) => sum + track.rows, 0);
    const row = Math.max(ROW.least, Math.min(ROW.most, (ROOM - PADDING * all.length) / Math.max(1, rows)));
    this.clear();
    for (const track of all) {
      const height = Math.max(22, Math.round(row * track.rows + PADDING));
      const top = this.addName(h("span.lane-name", { title: track.name }, track.name), height);
      this.places.push({ ...track, top, height, row });
    }
    this.names.closest("section")?.style.setProperty("--names", widthOf(all.map(({ name }) => name)));
    this.canvas.setAttribute("aria-label", `Operations over time: ${plural(trace.operations.length, "operation")} on ${plural(all.length, "track")}. The tables of functions and of the selected call list where the time went.`);
    this.draw();
  }

  /** Lights operations, and looks at their time. @param {any} call null for none @param {Set<any>} path */
  select(call, path) {
    this.call = call;
    this.path = path;
    if (call !== null) {
      const from = Math.max(this.trace.from, [...path].reduce((least, op) => Math.min(least, op.start), call.start));
      const end = call.isOpen ? this.trace.to : call.end;
      const room = (end - from) * 0.15 + 100;
      this.look(from - room, end - from + 2 * room);
      this.#scrollTo([...path].at(-1) ?? call.operations[0]);
    }
    this.draw();
  }

  /** Looks at one operation, as wide as now. */
  lookAt(op) {
    const width = this.to - this.from;
    this.look((op.start + Math.min(op.end, op.start + width) - width) / 2, width);
    this.#scrollTo(op);
  }

  #scrollTo(op) {
    const track = op && this.places.find(({ operations }) => operations.includes(op));
    if (!track) return;
    const top = track.top + op.row * track.row;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop + this.axis || top + track.row > scrollTop + clientHeight) this.scroller.scrollTop = top - clientHeight / 2;
  }

  /** @param {Set<any> | null} sought others are dim */
  search(sought) {
    this.sought = sought;
    this.draw();
  }

  get middle() {
    return (this.from + this.to) / 2;
  }

  look(from, width) {
    super.look(from, this.fitting(width));
    this.actions.moved();
  }

  pan(part) {
    if (this.trace) this.look(this.from + (this.to - this.from) * part, this.to - this.from);
  }

  /** @param {{from: number, to: number} | null} span */
  mark(span) {
    this.span = span;
    this.draw();
  }

  drawInside(sight) {
    const { scroll, x } = sight;
    for (const track of this.places) {
      if (!this.isSeen(track, sight)) continue;
      for (const op of this.#drawn(track, x)) this.#drawOperation(sight, op, track.top - scroll + 4 + op.row * track.row, track.row);
    }
  }

  /** The operations of a track in sight, one for each pixel of a row; above them what did not end well, and above all what is lit. */
  #drawn(track, x) {
    const layers = [[], [], []];
    const ends = layers.map(() => new Array(track.rows).fill(-1));
    for (let i = Trace.firstOf(track, this.from); i < track.operations.length && track.operations[i].start <= this.to; i++) {
      const op = track.operations[i];
      const right = x(op.end);
      const layer = this.path.has(op) || this.sought?.has(op) === true ? LIT : op.remark !== "" ? 1 : 0;
      if (right < 0 || (right <= ends[layer][op.row] + 0.5 && layer !== LIT)) continue; // within a pixel of the one before
      ends[layer][op.row] = Math.max(ends[layer][op.row], right);
      layers[layer].push(op);
    }
    return layers.flat();
  }

  #drawOperation(sight, op, top, row) {
    const { pen, x, width, colours } = sight;
    const left = x(op.start);
    const right = Math.max(left + 1, x(op.end));
    const height = row > 6 ? row - 3 : row;
    const isOfCall = this.call !== null && op.call === this.call.number;
    pen.globalAlpha = this.sought ? (this.sought.has(op) ? 1 : 0.15) : this.call === null || this.path.has(op) ? 1 : isOfCall ? 0.75 : 0.25;
    if (!op.hasEnded && !op.isOpen) {
      pen.fillStyle = colours["part-unknown"];
      pen.fillRect(left, top, right - left, height);
    } else if (op.isOpen) {
      pen.strokeStyle = colours.bad;
      pen.setLineDash([4, 3]);
      pen.lineWidth = 1.5;
      const seen = Math.max(-5, left);
      pen.strokeRect(seen + 0.5, top + 0.5, Math.min(right, width + 5) - seen - 1, height - 1);
      pen.setLineDash([]);
    } else {
      let at = op.start;
      op.parts.forEach((part, i) => {
        const from = Math.max(0, x(at));
        at += part;
        const to = Math.min(width, x(at));
        pen.fillStyle = colours[`part-${PARTS[i].key}`];
        if (to > from) pen.fillRect(from, top, Math.max(to - from, 1), height);
      });
      if (right - left < 1.5) {
        pen.fillStyle = colours[`part-${PARTS[op.parts.indexOf(Math.max(...op.parts))].key}`];
        pen.fillRect(left, top, 1, height);
      }
      if (isOfCall && row > DISPATCH_ROW) this.#drawDispatches(sight, op, top, height);
      if (op.remark !== "") {
        pen.fillStyle = colours.bad;
        pen.fillRect(left, top + height - 2, right - left, 2);
      }
    }
    if (this.path.has(op)) {
      pen.strokeStyle = colours.text;
      pen.lineWidth = 2;
      pen.strokeRect(Math.max(-2, left), top - 1, Math.min(right, width + 2) - Math.max(-2, left), height + 2);
    }
    pen.globalAlpha = 1;
  }

  /** The dispatches of an operation of the selected call, in two shades in turn, along the lower edge of the bar. */
  #drawDispatches({ pen, x, width, colours }, op, top, height) {
    const alpha = pen.globalAlpha;
    op.dispatches.forEach((each, i) => {
      const from = Math.max(0, x(each.begin));
      const to = Math.min(width, Math.max(from + 1, x(each.begin + each.duration)));
      if (!each.isTimed || to <= from) return;
      pen.globalAlpha = alpha * (i % 2 > 0 ? 0.35 : 0.7);
      pen.fillStyle = each.state === "" ? colours.text : colours.bad;
      pen.fillRect(from, top + height * 0.65, to - from, height * 0.35);
    });
    pen.globalAlpha = alpha;
  }

  drawAbove({ pen, x, height, colours }) {
    if (this.span === null) return;
    const left = x(this.span.from);
    const right = x(this.span.to);
    pen.fillStyle = colours.accent;
    pen.globalAlpha = 0.12;
    pen.fillRect(left, this.axis, right - left, height);
    pen.globalAlpha = 1;
    pen.fillRect(left - 0.5, this.axis - 8, 1, height);
    pen.fillRect(right - 0.5, this.axis - 8, 1, height);
  }

  /** The operation at the pointer; of several in one row what did not end well, else the last that began. */
  hit(event) {
    const found = this.placeAt(event);
    if (found === null) return null;
    const { operations } = found.place;
    const at = this.timeAt(event);
    const slack = 2 / (this.perUnit || 1);
    let hit = null;
    for (let i = Trace.firstOf(found.place, at - slack); i < operations.length && operations[i].start <= at + slack; i++) {
      const op = operations[i];
      if (op.row === found.row && op.end >= at - slack && (hit === null || hit.remark === "" || op.remark !== "")) hit = op;
    }
    return hit;
  }

  #press(event) {
    if (event.button !== 0 || !this.trace) return;
    this.pressed = { x: event.clientX, at: this.timeAt(event) };
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (!this.trace) return;
    const { pressed } = this;
    if (pressed && Math.abs(event.clientX - pressed.x) > CLICK) {
      const at = Math.max(this.trace.from, Math.min(this.trace.to, this.timeAt(event)));
      this.tip.hidden = true;
      this.actions.measured(Math.min(pressed.at, at), Math.max(pressed.at, at));
      return;
    }
    const op = this.hit(event);
    this.showTip(op === null ? "" : describe(op), event);
  }

  #release(event) {
    const { pressed } = this;
    this.pressed = null;
    if (pressed && Math.abs(event.clientX - pressed.x) <= CLICK) this.actions.select(this.hit(event));
  }
}

/** A dispatch in a line. */
export function dispatchText(dispatch) {
  const what = `${dispatch.export} of ${dispatch.workgroups}`;
  if (!dispatch.isTimed) return `${what}: ${dispatch.state}`;
  const share = dispatch.share === null ? "" : `, ${(dispatch.share * 100).toFixed(1)} % of the time running`;
  return `${time("ns", dispatch.duration)} ${what}${share}${dispatch.workers > 1 ? `, by ${dispatch.workers} workers` : ""}${dispatch.state === "" ? "" : `, ${dispatch.state}`}`;
}

/** An operation in a line. */
export function describe(op) {
  const parts = op.parts.map((part, i) => (part > 0 ? `${time("ns", part)} ${PARTS[i].label}` : "")).filter((text) => text !== "");
  const call = op.call === 0 ? "" : `, call ${op.call} of ${op.function}`;
  return `${op.name} #${count(op.number)} on ${op.queue}${call}: ${op.remark !== "" ? op.remark : parts.join(", ") || "no time"}`;
}
