// @ts-check
// Operations over time, by track, each as a bar in the colours of its parts. Dragging measures a span.
import { PARTS, Trace } from "../model/trace.js";
import { h, penOf, styleOf } from "./dom.js";
import { count, plural, time } from "./format.js";
import { addName, drawScale, plotIn, showTip, widthOf } from "./plot.js";

const AXIS = 24; // height of the scale
const ROOM = 360; // height that all tracks share while their rows are not too low
const ROW = { least: 2, most: 18 };
const PADDING = 8; // of a track
const DISPATCH_ROW = 10; // the lowest row with room for dispatches in its bars
const CLICK = 4; // pixels that a click may move
const CLOSEST = 200; // nanoseconds that fill the width at the strongest zoom

export class TraceTracks {
  /**
   * @param {HTMLElement} box
   * @param {{select: (op: any) => void, measured: (from: number, to: number) => void, moved: () => void}} actions
   */
  constructor(box, actions) {
    this.actions = actions;
    Object.assign(this, plotIn(box, "Operations over time", "Tracks, scrollable"));
    this.tracks = [];
    this.from = 0;
    this.to = 1;
    this.span = null; // measured
    this.path = new Set();
    this.sought = null;
    this.frame = 0;
    this.scroller.addEventListener("scroll", () => this.draw());
    this.canvas.addEventListener("pointerdown", (event) => this.#press(event));
    this.canvas.addEventListener("pointermove", (event) => this.#move(event));
    this.canvas.addEventListener("pointerup", (event) => this.#release(event));
    this.canvas.addEventListener("pointercancel", () => (this.pressed = null));
    this.canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    new ResizeObserver(() => this.draw()).observe(box);
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
    this.tracks = [];
    const all = trace.tracks(by);
    const rows = all.reduce((sum, track) => sum + track.rows, 0);
    const row = Math.max(ROW.least, Math.min(ROW.most, (ROOM - PADDING * all.length) / Math.max(1, rows)));
    let top = AXIS;
    this.names.replaceChildren();
    for (const track of all) {
      const height = Math.max(22, Math.round(row * track.rows + PADDING));
      this.tracks.push({ ...track, top, height, row });
      addName(this.names, h("span.lane-name", { title: track.name }, track.name), top, height);
      top += height;
    }
    this.height = top + 6;
    this.body.style.height = `${this.height}px`;
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
    const track = op && this.tracks.find(({ operations }) => operations.includes(op));
    if (!track) return;
    const top = track.top + op.row * track.row;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop + AXIS || top + track.row > scrollTop + clientHeight) this.scroller.scrollTop = top - clientHeight / 2;
  }

  /** @param {Set<any> | null} sought others are dim */
  search(sought) {
    this.sought = sought;
    this.draw();
  }

  look(from, width) {
    const { trace } = this;
    const whole = trace.to - trace.from;
    const fitting = Math.max(Math.min(CLOSEST, whole), Math.min(whole, width));
    this.from = Math.max(trace.from, Math.min(trace.to - fitting, from));
    this.to = this.from + fitting;
    this.actions.moved();
    this.draw();
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    if (!this.trace) return;
    const width = (this.to - this.from) * factor;
    this.look(around - ((around - this.from) / (this.to - this.from)) * width, width);
  }

  pan(part) {
    if (this.trace) this.look(this.from + (this.to - this.from) * part, this.to - this.from);
  }

  /** @param {{from: number, to: number} | null} span */
  mark(span) {
    this.span = span;
    this.draw();
  }

  draw() {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.frame = 0;
    if (!this.trace) return;
    const width = this.canvas.parentElement?.clientWidth ?? 0;
    const height = Math.min(this.height, this.scroller.clientHeight);
    if (width === 0 || height === 0) return;
    const pen = penOf(this.canvas, width, height);
    const scroll = this.scroller.scrollTop;
    const parts = PARTS.slice(0, 4).map(({ key }) => styleOf(`--part-${key}`));
    const colours = { parts, text: styleOf("--text"), bad: styleOf("--bad"), line: styleOf("--line"), muted: styleOf("--muted"), accent: styleOf("--accent"), stripe: styleOf("--stripe"), unknown: styleOf("--part-unknown") };
    this.perNano = width / (this.to - this.from);
    const x = (at) => (at - this.from) * this.perNano;
    pen.font = styleOf("--canvas-font") || "12px sans-serif";
    pen.textBaseline = "middle";
    this.tracks.forEach(({ top, height: own }, i) => {
      if (i % 2 > 0) return;
      pen.fillStyle = colours.stripe;
      pen.fillRect(0, top - scroll, width, own);
    });
    drawScale(pen, { from: this.from, to: this.to, origin: this.trace.from, unit: "ns" }, { width, height, axis: AXIS, apart: 90 }, x, colours);
    pen.save();
    pen.beginPath();
    pen.rect(0, AXIS, width, height);
    pen.clip();
    for (const track of this.tracks) {
      if (track.top + track.height < scroll + AXIS || track.top > scroll + height) continue;
      const drawn = new Array(track.rows).fill(-1);
      for (let i = Trace.firstOf(track, this.from); i < track.operations.length && track.operations[i].start <= this.to; i++) {
        const op = track.operations[i];
        const right = x(op.end);
        if (right < 0) continue;
        const isLit = this.path.has(op) || this.sought?.has(op) === true;
        if (right <= drawn[op.row] + 0.5 && !isLit) continue; // within a pixel of the one before
        drawn[op.row] = Math.max(drawn[op.row], right);
        this.#drawOperation(pen, op, x, track.top - scroll + 4 + op.row * track.row, track.row, width, colours);
      }
    }
    pen.restore();
    this.#drawSpan(pen, x, height, colours);
  }

  #drawOperation(pen, op, x, top, row, width, colours) {
    const left = x(op.start);
    const right = Math.max(left + 1, x(op.end));
    const height = row > 6 ? row - 3 : row;
    const isOfCall = this.call !== null && op.call === this.call.number;
    pen.globalAlpha = this.sought ? (this.sought.has(op) ? 1 : 0.15) : this.call === null || this.path.has(op) ? 1 : isOfCall ? 0.75 : 0.25;
    if (!op.hasEnded && !op.isOpen) {
      pen.fillStyle = colours.unknown;
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
        pen.fillStyle = colours.parts[i];
        if (to > from) pen.fillRect(from, top, Math.max(to - from, 1), height);
      });
      if (right - left < 1.5) {
        pen.fillStyle = colours.parts[op.parts.indexOf(Math.max(...op.parts))];
        pen.fillRect(left, top, 1, height);
      }
      if (isOfCall && row > DISPATCH_ROW) this.#drawDispatches(pen, op, x, top, height, width, colours);
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
  #drawDispatches(pen, op, x, top, height, width, colours) {
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

  #drawSpan(pen, x, height, colours) {
    if (this.span === null) return;
    const left = x(this.span.from);
    const right = x(this.span.to);
    pen.fillStyle = colours.accent;
    pen.globalAlpha = 0.12;
    pen.fillRect(left, AXIS, right - left, height);
    pen.globalAlpha = 1;
    pen.fillRect(left - 0.5, AXIS - 8, 1, height);
    pen.fillRect(right - 0.5, AXIS - 8, 1, height);
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    return this.from + (event.clientX - box.left) / (this.perNano || 1);
  }

  /** The operation at a place of the canvas; of several in one row the last that began. */
  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const y = event.clientY - box.top;
    if (y < AXIS) return null;
    const inside = y + this.scroller.scrollTop;
    const track = this.tracks.find(({ top, height }) => inside >= top && inside < top + height);
    if (!track) return null;
    const row = Math.floor((inside - track.top - 4) / track.row);
    const at = this.#at(event);
    const slack = 2 / (this.perNano || 1);
    let found = null;
    for (let i = Trace.firstOf(track, at - slack); i < track.operations.length && track.operations[i].start <= at + slack; i++) {
      const op = track.operations[i];
      if (op.row === row && op.end >= at - slack) found = op;
    }
    return found;
  }

  #press(event) {
    if (event.button !== 0 || !this.trace) return;
    this.pressed = { x: event.clientX, at: this.#at(event) };
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (!this.trace) return;
    const { pressed } = this;
    if (pressed && Math.abs(event.clientX - pressed.x) > CLICK) {
      const at = Math.max(this.trace.from, Math.min(this.trace.to, this.#at(event)));
      this.tip.hidden = true;
      this.actions.measured(Math.min(pressed.at, at), Math.max(pressed.at, at));
      return;
    }
    const op = this.hit(event);
    showTip(this, op === null ? "" : describe(op), event);
  }

  #release(event) {
    const { pressed } = this;
    this.pressed = null;
    if (pressed && Math.abs(event.clientX - pressed.x) <= CLICK) this.actions.select(this.hit(event));
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.#at(event));
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
