// @ts-check
// Lanes over time, on a canvas. The table of operations has the same for readers of screens.
import { axisColour } from "../model/colours.js";
import { firstIndex } from "../model/search.js";
import { drawArrows } from "./arrows.js";
import { FrontierChips } from "./frontier-chips.js";
import { h, isDark } from "./dom.js";
import { labelled, plural, time } from "./format.js";
import { Plot, widthOf } from "./plot.js";

const ROOM = 390; // height that all lanes share while their rows are not too low
const ROW = { least: 1.5, usual: 26, packed: 20, tall: 42 }; // tall ones have room for frontiers
const PADDING = 8; // of a lane
const HEADING = 22; // height of the name of a machine

export class Lanes extends Plot {
  /**
   * @param {HTMLElement} box
   * @param {{select: (op: any) => void, seek: (time: number) => void, pickHardware?: (hardware: string) => void}} actions
   * @param {boolean} explains whether arrows and frontiers are drawn
   */
  constructor(box, actions, explains = false) {
    super(box, "Lanes over time", "Lanes, scrollable", 26, 70);
    this.actions = actions;
    this.explains = explains;
    this.chips = new FrontierChips();
    this.schedule = null;
    this.at = 0;
    /** Where the names of machines are. */
    this.headings = [];
    this.selected = null;
    this.past = new Set();
    this.marks = [];
    this.canvas.addEventListener("click", (event) => this.#click(event));
    this.canvas.addEventListener("pointermove", (event) => this.#hover(event));
  }

  show(schedule) {
    this.schedule = schedule;
    this.selected = null;
    this.past = new Set();
    this.from = 0;
    this.to = schedule.finalTick;
    this.bounds = { first: 0, last: schedule.finalTick, closest: schedule.finalTick / 5_000, unit: schedule.unit };
    this.topOf = new Map(); // by lane
    const rows = schedule.lanes.reduce((sum, lane) => sum + lane.rows, 0);
    const fair = (ROOM - PADDING * schedule.lanes.length) / Math.max(1, rows);
    this.hasChips = this.explains && !schedule.isFine && fair >= ROW.tall;
    this.chips.show(schedule);
    this.clear();
    this.headings = [];
    let machine = null;
    for (const lane of schedule.lanes) {
      if (schedule.machines.length > 1 && lane.machine !== machine) {
        machine = lane.machine;
        this.headings.push(this.addName(h("span.lane-machine", machine === "" ? "other hardware" : machine), HEADING));
      }
      const row = this.hasChips ? ROW.tall : lane.rows === 1 ? ROW.usual : Math.max(ROW.least, Math.min(ROW.packed, fair));
      const height = Math.max(20, Math.round(row * lane.rows + PADDING));
      const name = this.actions.pickHardware
        ? h("button.lane-name", { title: `${lane.id}: faults of ${lane.hardware}`, onclick: () => this.actions.pickHardware?.(lane.hardware) }, lane.label)
        : h("span.lane-name", { title: lane.id }, lane.label);
      const place = { lane, top: this.addName(name, height), height, row };
      this.places.push(place);
      this.topOf.set(lane.id, place);
    }
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
      this.look(at - width * 0.5, width);
    }
    this.draw();
  }

  select(op, past) {
    this.selected = op;
    this.past = past ?? new Set();
    const place = op && this.topOf?.get(op.lane);
    if (place) this.#reveal(op, place);
    this.draw();
  }

  /** Scrolls to an operation, by time and by lane, unless most of it is in sight. */
  #reveal(op, { top, height, row }) {
    const width = this.to - this.from;
    const end = this.schedule.endOf(op);
    const seen = Math.min(end, this.to) - Math.max(op.start, this.from);
    if (seen < Math.min(end - op.start, width) / 2 || seen < 0) this.look(end - op.start < width ? (op.start + end - width) / 2 : op.start, width);
    const { scrollTop, clientHeight } = this.scroller;
    const fits = height <= clientHeight - this.axis; // a lane of many rows does not
    const above = fits ? top : top + op.row * row;
    const below = fits ? top + height : above + row + PADDING;
    if (above < scrollTop + this.axis) this.scroller.scrollTop = above - this.axis;
    else if (below > scrollTop + clientHeight) this.scroller.scrollTop = below - clientHeight;
  }

  get middle() {
    return this.at;
  }

  drawInside(sight) {
    const { pen, width, scroll, x, colours } = sight;
    const dark = isDark();
    /** Where an operation is drawn; null for one that never ran. */
    const barOf = (op) => {
      const place = this.topOf.get(op.lane);
      if (!place || op.start < 0) return null;
      const left = x(op.start);
      return { left, right: left + Math.max(1, x(this.schedule.endOf(op)) - left - 1), top: place.top - scroll + 4 + op.row * place.row, height: place.row > 6 ? place.row - 2 : place.row - 0.5 };
    };
    pen.fillStyle = colours.line;
    for (const top of this.headings) pen.fillRect(0, top - scroll, width, HEADING);
    this.#drawFaults(sight);
    for (const place of this.places) {
      if (!this.isSeen(place, sight)) continue;
      const { operations, longest } = place.lane;
      const first = firstIndex(operations.length, (i) => operations[i].start > this.from - longest - 1);
      for (let i = first; i < operations.length && operations[i].start <= this.to; i++) {
        const bar = barOf(operations[i]);
        if (bar && bar.right >= -1) this.#drawOperation(pen, operations[i], bar, place.row, dark, colours);
      }
    }
    if (this.explains) this.#drawArrows(pen, barOf, dark, colours);
  }

  /** Arrows between operations, and the frontiers that pass along them. */
  #drawArrows(pen, barOf, dark, colours) {
    drawArrows(pen, this, barOf, dark);
    if (!this.hasChips) return;
    this.chips.drawFlights(pen, barOf, dark, colours.text);
    if (this.chips.land()) this.draw();
  }

  /** From when on a lane is lost or slow. */
  #drawFaults({ pen, x, width, scroll, colours }) {
    for (const { hardware, fault } of this.marks) {
      const left = Math.max(0, x(fault.tick));
      for (const { lane, top, height } of this.places) {
        if (lane.hardware !== hardware || left > width) continue;
        const slow = fault.kind === "slow";
        pen.fillStyle = slow ? colours["warn-soft"] : colours["bad-soft"];
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
    const begun = op.start >= 0 && op.start <= this.at;
    pen.fillStyle = colour(state === "running" ? 0.5 : begun ? 0.24 : 0.07);
    if (row < 10 || width < 6) {
      pen.fillStyle = state === "failed" ? colours.bad : colour(state === "running" ? 0.9 : begun ? 0.55 : state === "ready" ? 0.35 : 0.2);
      pen.fillRect(left, top, width, height);
    } else {
      pen.beginPath();
      pen.roundRect(left, top, width, height, 4);
      pen.fill();
      pen.strokeStyle = state === "failed" ? colours.bad : begun || state === "ready" ? colour(0.9) : colours["line-strong"];
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

  /** Marks where annotations are, and the time that is shown. */
  drawAbove({ pen, width, height, x, colours }) {
    pen.fillStyle = pen.strokeStyle = colours.accent;
    for (const { tick } of this.schedule.annotations) {
      pen.beginPath();
      pen.arc(x(tick), this.axis - 4, 3, 0, 7);
      pen.fill();
    }
    const at = x(this.at);
    if (at < -1 || at > width + 1) return;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(Math.min(width - 1, Math.max(1, at)), this.axis - 8);
    pen.lineTo(Math.min(width - 1, Math.max(1, at)), height);
    pen.stroke();
  }

  /** The operation at the pointer, if any. */
  hit(event) {
    const found = this.placeAt(event);
    const when = this.timeAt(event);
    const slack = 2 / (this.perUnit || 1);
    const op = found?.place.lane.operations.find((each) => each.row === found.row && each.start - slack <= when && this.schedule.endOf(each) + slack >= when);
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
    this.showTip(op === null ? "" : `${labelled(op.label, op.id)} · ${op.laneLabel} · ${time(unit, op.start)} to ${op.end < 0 ? "…" : time(unit, op.end)}${op.failure ? ` · ${op.failure}` : ""}`, event);
  }
}
