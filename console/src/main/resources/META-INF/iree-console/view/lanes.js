// @ts-check
// Lanes over time, on a canvas: only what is in sight is drawn, so that ten thousand operations cost no more than
// those that fit. The table of operations has the same for readers of screens.
import { axisColour } from "../model/colours.js";
import { firstIndex } from "../model/search.js";
import { drawArrows } from "./arrows.js";
import { FrontierChips } from "./frontier-chips.js";
import { h, isDark, penOf, styleOf } from "./dom.js";
import { labelled, plural, time } from "./format.js";
import { addName, drawScale, plotIn, showTip, widthOf } from "./plot.js";

const AXIS = 26; // height of the scale
const ROOM = 390; // height that all lanes share while their rows are not too low
const ROW = { least: 1.5, usual: 26, packed: 20, tall: 42 }; // tall ones have room for frontiers
const PADDING = 8; // of a lane
const HEADING = 22; // height of the name of a machine

export class Lanes {
  /**
   * @param {HTMLElement} box
   * @param {{select: (op: any) => void, seek: (time: number) => void, pickHardware?: (hardware: string) => void}} actions
   * @param {boolean} explains whether arrows and frontiers are drawn
   */
  constructor(box, actions, explains = false) {
    this.actions = actions;
    this.explains = explains;
    this.chips = new FrontierChips();
    Object.assign(this, plotIn(box, "Lanes over time", "Lanes, scrollable"));
    this.schedule = null;
    this.at = 0;
    this.from = 0;
    this.to = 1;
    /** Where the names of machines are. */
    this.headings = [];
    this.selected = null;
    this.frame = 0;
    this.frames = 0;
    this.past = new Set();
    this.marks = [];
    this.scroller.addEventListener("scroll", () => this.draw());
    this.canvas.addEventListener("click", (event) => this.#click(event));
    this.canvas.addEventListener("pointermove", (event) => this.#hover(event));
    this.canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  show(schedule) {
    this.schedule = schedule;
    this.selected = null;
    this.past = new Set();
    this.from = 0;
    this.to = schedule.finalTick;
    this.tops = [];
    /** Where each lane is. */
    this.topOf = new Map();
    let top = AXIS;
    const rows = schedule.lanes.reduce((sum, lane) => sum + lane.rows, 0);
    const fair = (ROOM - PADDING * schedule.lanes.length) / Math.max(1, rows);
    this.hasChips = this.explains && !schedule.isFine && fair >= ROW.tall;
    this.chips.show(schedule);
    this.names.replaceChildren();
    this.headings = [];
    let machine = null;
    for (const lane of schedule.lanes) {
      if (schedule.machines.length > 1 && lane.machine !== machine) {
        machine = lane.machine;
        const heading = h("span.lane-machine", {}, machine === "" ? "other hardware" : machine);
        addName(this.names, heading, top, HEADING);
        this.headings.push(top);
        top += HEADING;
      }
      const row = this.hasChips ? ROW.tall : lane.rows === 1 ? ROW.usual : Math.max(ROW.least, Math.min(ROW.packed, fair));
      const height = Math.max(20, Math.round(row * lane.rows + PADDING));
      this.tops.push({ lane, top, height, row });
      this.topOf.set(lane.id, { top, row });
      const name = this.actions.pickHardware
        ? h("button.lane-name", { type: "button", title: `${lane.id}: faults of ${lane.hardware}`, onclick: () => this.actions.pickHardware?.(lane.hardware) }, lane.label)
        : h("span.lane-name", { title: lane.id }, lane.label);
      addName(this.names, name, top, height);
      top += height;
    }
    this.height = top + 6;
    this.body.style.height = `${this.height}px`;
    this.names.style.setProperty("--names", widthOf(schedule.lanes.map((lane) => lane.label)));
    this.canvas.setAttribute(
      "aria-label",
      `Lanes over time: ${plural(schedule.operations.length, "operation")} on ${plural(schedule.lanes.length, "lane")}${schedule.machines.length > 1 ? ` of ${schedule.machines.length} machines` : ""} until ${time(schedule.unit, schedule.finalTick)}. The table of operations lists them.`,
    );
    this.draw();
  }

  /** @param {{hardware: string, fault: import("../model/faults.js").Fault}[]} marks where faults are */
  mark(marks) {
    this.marks = marks;
    this.draw();
  }

  /** @param {number} at the time to show */
  move(at) {
    this.at = at;
    if (this.hasChips) this.chips.move(at);
    const width = this.to - this.from;
    if (this.schedule && width < this.schedule.finalTick && (at > this.to - width * 0.1 || at < this.from)) {
      this.#look(at - width * 0.5, width);
    }
    this.draw();
  }

  select(op, past) {
    this.selected = op;
    this.past = past ?? new Set();
    const place = op && this.tops?.find(({ lane }) => lane.id === op.lane);
    if (place) this.#reveal(op, place);
    this.draw();
  }

  /** Scrolls to an operation, by time and by lane, unless most of it is in sight. */
  #reveal(op, { top, height, row }) {
    const width = this.to - this.from;
    const end = this.schedule.endOf(op);
    const seen = Math.min(end, this.to) - Math.max(op.start, this.from);
    if (seen < Math.min(end - op.start, width) / 2 || seen < 0) this.#look(end - op.start < width ? (op.start + end - width) / 2 : op.start, width);
    const { scrollTop, clientHeight } = this.scroller;
    const fits = height <= clientHeight - AXIS; // a lane of many rows does not
    const above = fits ? top : top + op.row * row;
    const below = fits ? top + height : above + row + PADDING;
    if (above < scrollTop + AXIS) this.scroller.scrollTop = above - AXIS;
    else if (below > scrollTop + clientHeight) this.scroller.scrollTop = below - clientHeight;
  }

  zoom(factor, around = this.at) {
    if (!this.schedule) return;
    const width = Math.min(this.schedule.finalTick, Math.max(this.schedule.finalTick / 5_000, (this.to - this.from) * factor));
    const part = (around - this.from) / (this.to - this.from);
    this.#look(around - width * part, width);
    this.draw();
  }

  #look(from, width) {
    this.from = Math.max(0, Math.min(this.schedule.finalTick - width, from));
    this.to = this.from + width;
  }

  /** Draws once before the next frame, however often it is asked. */
  draw() {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.frame = 0;
    this.frames++;
    const { schedule } = this;
    if (!schedule) return;
    const width = this.canvas.parentElement?.clientWidth ?? 0;
    const height = Math.min(this.height, this.scroller.clientHeight);
    if (width === 0 || height === 0) return;
    const pen = penOf(this.canvas, width, height);
    const scroll = this.scroller.scrollTop;
    const dark = isDark();
    const colours = {
      line: styleOf("--line"),
      text: styleOf("--text"),
      muted: styleOf("--muted"),
      bad: styleOf("--bad"),
      badSoft: styleOf("--bad-soft"),
      warn: styleOf("--warn"),
      warnSoft: styleOf("--warn-soft"),
      accent: styleOf("--accent"),
      card: styleOf("--card"),
      stripe: styleOf("--stripe"),
      waiting: styleOf("--line-strong"),
    };
    this.perTick = width / (this.to - this.from);
    const x = (at) => (at - this.from) * this.perTick;
    /** Where an operation is drawn; null for one that never ran. */
    const barOf = (op) => {
      const place = this.topOf.get(op.lane);
      if (!place || op.start < 0) return null;
      const left = x(op.start);
      return { left, right: left + Math.max(1, x(schedule.endOf(op)) - left - 1), top: place.top - scroll + 4 + op.row * place.row, height: place.row > 6 ? place.row - 2 : place.row - 0.5 };
    };
    pen.font = styleOf("--canvas-font") || "12px sans-serif";
    pen.textBaseline = "middle";

    this.tops.forEach(({ top, height: own }, index) => {
      if (index % 2 === 0) {
        pen.fillStyle = colours.stripe;
        pen.fillRect(0, top - scroll, width, own);
      }
    });
    pen.fillStyle = colours.line;
    for (const top of this.headings) pen.fillRect(0, top - scroll, width, HEADING);
    this.#drawScale(pen, width, height, x, colours);
    pen.save();
    pen.beginPath();
    pen.rect(0, AXIS, width, height);
    pen.clip();
    this.#drawFaults(pen, x, width, scroll, colours);
    for (const { lane, top, height: own, row } of this.tops) {
      if (top + own < scroll + AXIS || top > scroll + height) continue;
      const { operations } = lane;
      const first = firstIndex(operations.length, (i) => operations[i].start > this.from - lane.longest - 1);
      for (let i = first; i < operations.length && operations[i].start <= this.to; i++) {
        const bar = barOf(operations[i]);
        if (bar && bar.right >= -1) this.#drawOperation(pen, operations[i], bar, row, dark, colours);
      }
    }
    if (this.explains) this.#drawArrows(pen, barOf, dark, colours);
    pen.restore();
    this.#drawPlayhead(pen, x(this.at), width, height, colours);
  }

  /** Arrows between operations, and the frontiers that pass along them. */
  #drawArrows(pen, barOf, dark, colours) {
    drawArrows(pen, this, barOf, dark);
    if (!this.hasChips) return;
    this.chips.drawFlights(pen, barOf, dark, colours.text);
    if (this.chips.land()) this.draw();
  }

  #drawScale(pen, width, height, x, colours) {
    const { schedule } = this;
    drawScale(pen, { from: this.from, to: this.to, unit: schedule.unit }, { width, height, axis: AXIS, apart: 70 }, x, colours);
    pen.fillStyle = colours.accent;
    for (const { tick } of schedule.annotations) {
      pen.beginPath();
      pen.arc(x(tick), AXIS - 4, 3, 0, 7);
      pen.fill();
    }
  }

  /** From when on a lane is lost or slow. */
  #drawFaults(pen, x, width, scroll, colours) {
    for (const { hardware, fault } of this.marks) {
      const left = Math.max(0, x(fault.tick));
      for (const { lane, top, height } of this.tops) {
        if (lane.hardware !== hardware || left > width) continue;
        const slow = fault.kind === "slow";
        pen.fillStyle = slow ? colours.warnSoft : colours.badSoft;
        pen.fillRect(left, top - scroll, width - left, height);
        pen.fillStyle = slow ? colours.warn : colours.bad;
        pen.fillRect(left, top - scroll, 2, height);
        pen.textAlign = "right";
        pen.fillText(slow ? `${fault.factor}× slower` : fault.kind === "kill" ? "killed" : "lost", width - 6, top - scroll + height / 2);
      }
    }
  }

  #drawOperation(pen, op, bar, row, dark, colours) {
    const { left, right, top, height } = bar;
    const state = this.schedule.stateOf(op, this.at);
    const colour = axisColour(this.schedule.semaphoreByName.get(op.signals[0]?.semaphore)?.index ?? op.index, dark);
    const width = right - left;
    const dim = this.selected !== null && op !== this.selected && !this.past.has(op);
    pen.globalAlpha = dim ? 0.45 : 1;
    const begun = state !== "waiting" && state !== "ready";
    pen.fillStyle = colour(state === "running" ? 0.5 : begun ? 0.24 : 0.07);
    if (row < 10 || width < 6) {
      pen.fillStyle = state === "failed" ? colours.bad : colour(state === "running" ? 0.9 : begun ? 0.55 : state === "ready" ? 0.35 : 0.2);
      pen.fillRect(left, top, width, height);
    } else {
      pen.beginPath();
      pen.roundRect(left, top, width, height, 4);
      pen.fill();
      pen.strokeStyle = state === "failed" ? colours.bad : state === "waiting" ? colours.waiting : colour(0.9);
      pen.lineWidth = op === this.selected ? 2.5 : 1;
      pen.setLineDash(begun ? [] : [3, 3]);
      pen.stroke();
      pen.setLineDash([]);
      if (state === "running") {
        // How far it is.
        pen.fillStyle = colour(0.95);
        pen.fillRect(left, top + height - 3, (width * (this.at - op.start)) / Math.max(1e-9, this.schedule.endOf(op) - op.start), 3);
      }
      this.#label(pen, op, state === "failed" ? "✕ " : "", Math.max(left, 0), Math.min(right, this.canvas.clientWidth), top + (this.hasChips ? 11 : height / 2) + 0.5, begun ? colours.text : colours.muted);
      if (this.hasChips) this.chips.drawIn(pen, op, bar, dark, colours.text);
    }
    if (op === this.selected) {
      pen.strokeStyle = colours.text;
      pen.lineWidth = 2;
      pen.strokeRect(left - 1, top - 1, width + 2, height + 2);
    }
    pen.globalAlpha = 1;
  }

  /** The label, or the id where only the id has room; where neither has, the beginning of the label. */
  #label(pen, { id, label }, mark, left, right, middle, colour) {
    const room = right - left - 12;
    if (room < 14) return;
    pen.fillStyle = colour;
    pen.textAlign = "left";
    const fits = (text) => pen.measureText(text).width <= room;
    let shown = mark + label;
    if (label !== id && !fits(shown) && fits(mark + id)) shown = mark + id;
    if (!fits(shown)) {
      const letters = Math.floor((shown.length * room) / pen.measureText(shown).width) - 1;
      if (letters < 2) return;
      shown = `${shown.slice(0, letters)}…`;
    }
    pen.fillText(shown, left + 6, middle);
  }

  #drawPlayhead(pen, at, width, height, colours) {
    if (at < -1 || at > width + 1) return;
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(Math.min(width - 1, Math.max(1, at)), AXIS - 8);
    pen.lineTo(Math.min(width - 1, Math.max(1, at)), height);
    pen.stroke();
  }

  /** The operation at a place of the canvas, if any. */
  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const y = event.clientY - box.top + this.scroller.scrollTop;
    const when = this.from + (event.clientX - box.left) / (this.perTick || 1);
    const place = event.clientY - box.top < AXIS ? undefined : this.tops?.find(({ top, height }) => y >= top && y < top + height);
    if (!place) return { when, op: null };
    const row = Math.floor((y - place.top - 4) / place.row);
    const slack = 2 / (this.perTick || 1);
    const op = place.lane.operations.find(
      (each) => each.row === row && each.start - slack <= when && this.schedule.endOf(each) + slack >= when,
    );
    return { when, op: op ?? null };
  }

  #click(event) {
    const { when, op } = this.hit(event);
    if (op) this.actions.select(op);
    else this.actions.seek(when);
  }

  #hover(event) {
    const { op } = this.hit(event);
    const { unit } = this.schedule;
    showTip(this, op === null ? "" : `${labelled(op.label, op.id)} · ${op.laneLabel} · ${time(unit, op.start)} to ${op.end < 0 ? "…" : time(unit, op.end)}${op.failure ? ` · ${op.failure}` : ""}`, event);
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.from + (event.clientX - box.left) / (this.perTick || 1));
  }
}
